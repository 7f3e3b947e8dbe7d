"""A read-only SPARQL endpoint over what the caller may see: each call has a store of its own (R-23, X-3)."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request, Response

from basanite.campaign.answering import services
from basanite.campaign.answering.services import Found
from basanite.campaign.model.refusals import refused
from basanite.server.api.reading.calls import (
    GRAPHS,
    RESULTS,
    Package,
    Reader,
    binary,
    body_of,
    count,
    media_of,
    not_acceptable,
    wanted,
    with_body,
)
from basanite.server.roles import Caller

ROUTER = APIRouter()
FORM, PLAIN = "application/x-www-form-urlencoded", "application/sparql-query"
MEDIA = {
    "json": "application/sparql-results+json",
    "xml": "application/sparql-results+xml",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    **{name: media for media, name in GRAPHS.items()},
}
ANSWERS: dict[int | str, dict[str, Any]] = binary(*RESULTS, *GRAPHS)
OTHERS = ("default-graph-uri", "named-graph-uri", "using-graph-uri", "using-named-graph-uri", "update")
"""Parameters of the protocol that choose another data set or change one."""


@ROUTER.get("/sparql", response_class=Response, responses=ANSWERS)
def ask_sparql(
    caller: Reader, request: Request, query: Annotated[str, Query(max_length=100_000)], package: Package = ""
) -> Response:
    """Ask a query; SERVICE, FROM, LOAD and updates are refused."""
    count(request, caller)
    _check(request.query_params.keys())
    return _answered(request, _asked(request, caller, package, query))


@ROUTER.post("/sparql", response_class=Response, responses=ANSWERS, openapi_extra=body_of(PLAIN, FORM))
async def post_sparql(caller: Reader, request: Request, package: Package = "") -> Response:
    """Ask a query that is sent as the body, or as a form's field `query`."""
    media = media_of(request, {PLAIN: PLAIN, FORM: FORM})
    _check(request.query_params.keys())

    def work(body: bytes) -> Found:
        query, named = _query(body, media)
        return _asked(request, caller, package or named, query)

    return _answered(request, await with_body(request, caller, work))


def _query(body: bytes, media: str) -> tuple[str, str]:
    """The query, and the package where a form names it."""
    text = body.decode("utf-8", "replace")
    if media == PLAIN:
        return text, ""
    fields = parse_qs(text, keep_blank_values=True, max_num_fields=50)
    _check(fields.keys())
    return fields.get("query", [""])[0], fields.get("package", [""])[0][:100]


def _check(names: Any) -> None:
    for name in OTHERS:
        if name in names:
            fix = "leave it out: the store holds what you may see, and nobody changes it"
            raise refused("X-3", f"{name} is not allowed", fix, status=400)


def _asked(request: Request, caller: Caller, package: str, query: str) -> Found:
    if "accept" in request.headers and not wanted(request, RESULTS, "") and not wanted(request, GRAPHS, ""):
        raise not_acceptable({**RESULTS, **GRAPHS})
    forms = {"results": wanted(request, RESULTS, "json"), "graphs": wanted(request, GRAPHS, "turtle")}
    return services.sparql(caller.office, caller.viewer, caller.here[0].id, package, query, **forms)


def _answered(request: Request, found: Found) -> Response:
    return Response(found.content, media_type=MEDIA[found.format], headers={"Vary": "Accept"})
