"""The reasoner as a service: is it consistent, what follows, and why; what answers a query; contexts and worlds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request

from basanite.campaign.answering import services
from basanite.server.api.reading.calls import GRAPHS, LINES, Package, Reader, body_of, media_of, with_body

ROUTER = APIRouter()
SENT = {"application/json": "json", **LINES, **GRAPHS}
Triples = Annotated[str, Query(max_length=10_000)]
Service = Literal["check", "infer", "explain", "query", "contexts", "combinations"]


@ROUTER.post("/dsrs/{service}", openapi_extra=body_of(*SENT))
async def ask_reasoner(
    service: Service,
    caller: Reader,
    request: Request,
    package: Package = "",
    query: Triples = "",
    statement: Triples = "",
) -> dict[str, Any]:
    """Reason about statements that you send, with the rules and the ontology of a package, within limits (X-13)."""
    media = media_of(request, SENT, "json")

    def work(body: bytes) -> dict[str, Any]:
        who = (caller.office, caller.viewer, caller.here[0].id)
        found: dict[str, Any] = services.reason(
            *who, package, service, body, media=media, query=query, statement=statement
        )
        return found

    return await with_body(request, caller, work)
