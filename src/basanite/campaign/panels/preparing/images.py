"""Pictures that judges see: encoded anew in the child, and kept under random ids that tell nothing (X-9)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.found import may_decide
from basanite.campaign.store.tables import Panel, PanelImage

PNG = "image/png"
SOURCES = "panel-images"
"""The key under which a team's bytes are told apart: a digest of them would name the run to whoever has it."""


@dataclass(frozen=True)
class Picture:
    """A picture as it was encoded anew."""

    content: bytes
    width: int
    height: int
    source: str
    """sha256 of the bytes that the team sent."""


@dataclass(frozen=True)
class Image:
    """A picture that may be shown now."""

    content: bytes
    media: str
    width: int
    height: int


def keep_image(session: Session, office: Office, panel: Panel, picture: Picture) -> PanelImage:
    """Keep a picture under a random id; the same bytes of two systems are one picture."""
    source = office.vault.hmac("digest", SOURCES, f"{panel.id}:{picture.source}".encode())
    known = session.scalar(select(PanelImage).where(PanelImage.panel_id == panel.id, PanelImage.source == source))
    if known is not None:
        return known
    row = PanelImage(panel_id=panel.id, source=source, digest=office.files.put(picture.content).digest, media=PNG)
    row.width, row.height, row.added = picture.width, picture.height, office.clock()
    session.add(row)
    session.flush()
    return row


def shown_image(session: Session, office: Office, actor: Actor, panel_id: str, image_id: str) -> Image:
    """A picture for adjudicators and organisers; judges see those on their own desk alone (X-4)."""
    row = session.get(PanelImage, image_id)
    if row is None or row.panel_id != panel_id:
        raise missing("picture")
    if not may_decide(session, actor, session.get_one(Panel, panel_id).campaign_id):
        raise missing("picture")
    return Image(office.files.read(row.digest), row.media, row.width, row.height)
