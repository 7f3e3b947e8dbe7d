"""The logo of a campaign: a real picture by its content, decoded and encoded again, so that nothing else is in it."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Final

from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.formats.bounded import read_bounded

LARGEST: Final = 2 * 2**20
MOST_PIXELS: Final = 25_000_000
SIDE: Final = 640
"""The longer side of a logo as it is kept: twice of what a page shows."""
KINDS: Final = ("PNG", "JPEG", "WEBP")
FIX: Final = "choose a PNG, JPEG or WebP picture of at most 2 MiB and 25 megapixels"


def set_logo(session: Session, office: Office, actor: Actor, campaign: str, path: Path | None) -> None:
    """Keep a picture as the logo of a campaign; None removes it."""
    plan = plans.lock_plan(session, campaign)
    require_organiser(session, actor, plan.row.id)
    digest = None
    if path is not None:
        digest = office.files.put([read_logo(read_bounded(path, LARGEST))]).digest
    plan.row.logo, plan.row.logo_kind = digest, "image/png" if digest else ""
    session.flush()
    here, data = plan.row.id, {"logo": digest or ""}
    events.record(
        session, "campaign.logo", at=office.clock(), actor=actor.id, subject=here, campaign_id=here, data=data
    )


def read_logo(content: bytes) -> bytes:
    """The picture as a PNG of bounded size; whatever else the file holds is gone. Anything else is refused."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Image.open(io.BytesIO(content), formats=KINDS) as picture:
                if picture.width * picture.height > MOST_PIXELS:
                    raise refused("P-36", "the picture has too many pixels", FIX, status=422)
                picture.load()
                small = picture.convert("RGBA")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError):
        raise refused("P-36", "this file is no picture, or a broken one", FIX, status=422) from None
    small.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    small.save(out, "PNG", optimize=True)
    return out.getvalue()
