"""What programs may call, under /api/v1: the calendar, packs, uploads, submissions, results, receipts and tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request

from basanite.server.api import (
    actions,
    adjudication,
    annotation,
    campaigns,
    judging,
    organizing,
    packs,
    panels,
    reading,
    reading_effort,
    reading_people,
    reading_services,
    reading_short,
    results,
    submissions,
    tokens,
    uploads,
)
from basanite.server.api.schema import FAILURES
from basanite.server.roles import Caller, allow

PREFIX = "/api/v1"
READING = APIRouter(prefix="/campaigns/{slug}/reading", tags=["reading"])
for router in (reading.ROUTER, reading_effort.ROUTER, reading_people.ROUTER, reading_services.ROUTER):
    READING.include_router(router)
ROUTER = APIRouter(prefix=PREFIX, responses=FAILURES)
for router in (
    campaigns.CAMPAIGNS,
    campaigns.CALENDAR,
    packs.TERMS,
    packs.RESOURCES,
    packs.PACKS,
    submissions.ROUTER,
    results.RESULTS,
    uploads.ROUTER,
    READING,
    reading_short.ROUTER,
    judging.ROUTER,
    panels.ORGANISERS,
    panels.CROWD,
    adjudication.ROUTER,
    annotation.ROUTER,
    results.KEYS,
    tokens.ROUTER,
    organizing.ROUTER,
    actions.ROUTER,
):
    ROUTER.include_router(router)


@ROUTER.get("/openapi.json", include_in_schema=False)
def openapi(caller: Annotated[Caller, allow("visitor")], request: Request) -> dict[str, Any]:
    """This API, described for programs."""
    document: dict[str, Any] = request.app.openapi()
    return document
