"""All routers of the API in one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request

from basanite.server.api import (
    annotation,
    calendar,
    campaigns,
    keys,
    packs,
    panels,
    reading,
    resources,
    results,
    submissions,
    terms,
    tokens,
    uploads,
)
from basanite.server.api.schema import FAILURES
from basanite.server.roles import Caller, allow

PREFIX = "/api/v1"
ROUTER = APIRouter(prefix=PREFIX, responses=FAILURES)
for module in (
    campaigns,
    calendar,
    terms,
    resources,
    packs,
    submissions,
    results,
    uploads,
    reading,
    panels,
    annotation,
    keys,
    tokens,
):
    ROUTER.include_router(module.ROUTER)


@ROUTER.get("/openapi.json", include_in_schema=False)
def openapi(caller: Annotated[Caller, allow("visitor")], request: Request) -> dict[str, Any]:
    """This API, described for programs."""
    document: dict[str, Any] = request.app.openapi()
    return document
