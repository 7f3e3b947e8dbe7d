"""Pictures for crowd workers, who have no account: under addresses that nobody guesses, while a batch is out (X-9)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response

from basanite.campaign.panels.preparing import batches
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/crowd")
Anybody = Annotated[Caller, allow("visitor")]
Id = Annotated[str, Path(max_length=64)]
BOXED = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "no-store",
}
PICTURE: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}}, "description": "The picture."}}


@ROUTER.get("/{batch}/{image}", response_class=Response, responses=PICTURE)
def picture(caller: Anybody, batch: Id, image: Id) -> Response:
    """A picture of a batch that is out; there are no others."""
    with caller.office.reading() as session:
        content, media = batches.crowd_image(session, caller.office, batch, image)
    return Response(content, media_type=media, headers=BOXED)
