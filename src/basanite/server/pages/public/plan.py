"""The plan as it stands: its calendar, its file, and every deviation from what was frozen (P-28)."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.keeping.publishing.gathering import Departure, Gathered
from basanite.server.catalogue import say
from basanite.server.pages.campaign import slots
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.public.results import Anybody, gathered

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/plan"
SHOWN = 300


@dataclass(frozen=True)
class PlanPage:
    """Calendar, deviations, file."""

    title: str
    rows: tuple[slots.Row, ...]
    departures: tuple[Departure, ...]
    version: int
    digest: str
    text: str


@ROUTER.get(ADDRESS)
def plan(request: Request, caller: Anybody) -> Response:
    """The page."""
    found = gathered(caller)
    return show(request, caller, page_of(found, slots.rows(found.campaign, caller.now)))


@ROUTER.get(f"{ADDRESS}/campaign.toml")
def file(caller: Anybody) -> Response:
    """The campaign's file, as it was given."""
    name = f'attachment; filename="{caller.here[0].slug}.toml"'
    return Response(gathered(caller).plan_text, media_type="application/toml", headers={"Content-Disposition": name})


def page_of(found: Gathered, rows: tuple[slots.Row, ...]) -> PlanPage:
    """The page of a plan."""
    gone = found.departures[::-1][:SHOWN]
    return PlanPage(say("Plan and deviations"), rows, gone, found.versions, found.plan_digest, found.plan_text)
