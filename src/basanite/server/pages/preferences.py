"""What a reader likes: colours, and the zone of times; and the files that all pages share."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import missing
from basanite.server.pages.foundation import cookies
from basanite.server.pages.foundation.environment import MEDIA, assets
from basanite.server.pages.foundation.forms import Filled, target
from basanite.server.pages.foundation.frame import go
from basanite.server.pages.foundation.times import zone
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@ROUTER.get("/static/{name:path}")
def static_file(name: str, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """A style, a script or a picture; its address changes with its content."""
    if name not in assets():
        raise missing("file")
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(assets()[name], media_type=MEDIA[name.rpartition(".")[2]], headers=kept)


@ROUTER.get("/favicon.ico")
def favicon(caller: Annotated[Caller, allow("visitor")]) -> Response:
    """Our mark, for browsers that ask for it here."""
    return static_file("mark.svg", caller)


@ROUTER.post("/preferences/theme")
def choose_theme(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """Light, dark, or as the system says."""
    response = go(caller, target(request, form.text("then")))
    chosen = form.text("theme")
    if chosen in ("light", "dark"):
        cookies.put(response, caller.office, cookies.THEME, chosen, seconds=cookies.YEAR)
    else:
        cookies.drop(response, caller.office, cookies.THEME)
    return response


@ROUTER.post("/preferences/zone")
def choose_zone(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """The zone of a reader who is not signed in, as the browser says."""
    response, chosen = go(caller, target(request, form.text("then"))), form.text("zone")
    if len(chosen) <= 64 and str(zone(chosen)) == chosen:
        cookies.put(response, caller.office, cookies.ZONE, chosen, seconds=cookies.YEAR)
    return response
