"""Pictures that judges see: encoded anew, under a random id, in a box in which nothing runs (X-9)."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.panels.attending import working
from basanite.campaign.store.tables import PanelImage
from basanite.judging.items import Block
from basanite.server.pages.judging.place import BASE, Judge, panel_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
BOXED = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Disposition": "inline",
    "Cache-Control": "no-store",
}
"""Opened by itself the picture is a page of no origin, in which nothing runs and nothing is fetched."""


@ROUTER.get(f"{BASE}/images/{{image}}")
def picture(caller: Judge, panel: str, image: str) -> Response:
    """A picture that is on the caller's desk at this moment; there are no others."""
    with caller.office.reading() as session:
        panel_id = panel_of(session, caller, panel)
        row = session.get(PanelImage, image)
        if row is None or row.panel_id != panel_id or image not in set(_on_the_desk(session, caller, panel_id)):
            raise missing("image")
        return Response(caller.office.files.read(row.digest), media_type=row.media, headers=BOXED)


def _on_the_desk(session: Session, caller: Caller, panel_id: str) -> Iterator[str]:
    for look in (working.desk, working.look_again):
        found = look(session, caller.office, panel_id, caller.actor.id)
        yield from _images(found.blocks)
        yield from (image for one in found.placed for image in _images(one.blocks))


def _images(blocks: tuple[Block, ...]) -> Iterator[str]:
    return (block.value for block in blocks if block.kind == "image")
