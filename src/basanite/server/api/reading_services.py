"""The reasoner, and read-only SPARQL over what the caller may see: each call has a store of its own (R-23, X-3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request, Response

from basanite.campaign.model.refusals import refused
from basanite.campaign.work.reading import services
from basanite.campaign.work.reading.services import Found
from basanite.server.api.reading import (
    GRAPHS,
    LINES,
    RESULTS,
    Package,
    Reader,
    accepted_form,
    binary,
    body_of,
    count,
    media_of,
    not_acceptable,
    with_body,
)
from basanite.server.roles import Caller

ROUTER = APIRouter()
REASONER_FORMS = {"application/json": "json", **LINES, **GRAPHS}
Triples = Annotated[str, Query(max_length=10_000)]
Service = Literal["check", "infer", "explain", "query", "contexts", "combinations"]


@ROUTER.post("/dsrs/{service}", openapi_extra=body_of(*REASONER_FORMS))
async def ask_reasoner(
    service: Service,
    caller: Reader,
    request: Request,
    package: Package = "",
    query: Triples = "",
    statement: Triples = "",
) -> dict[str, Any]:
    """Reason about statements that you send, with the rules and the ontology of a package, within limits (X-13)."""
    media = media_of(request, REASONER_FORMS, "json")

    def work(body: bytes) -> dict[str, Any]:
        who = (caller.office, caller.viewer, caller.here[0].id)
        call = services.ReasonerCall(service, body, media, query, statement)
        found: dict[str, Any] = services.reason(*who, package, call)
        return found

    return await with_body(request, caller, work)


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
    return _query_response(request, _run_query(request, caller, package, query))


@ROUTER.post("/sparql", response_class=Response, responses=ANSWERS, openapi_extra=body_of(PLAIN, FORM))
async def post_sparql(caller: Reader, request: Request, package: Package = "") -> Response:
    """Ask a query that is sent as the body, or as a form's field `query`."""
    media = media_of(request, {PLAIN: PLAIN, FORM: FORM})
    _check(request.query_params.keys())

    def work(body: bytes) -> Found:
        query, named = _query(body, media)
        return _run_query(request, caller, package or named, query)

    return _query_response(request, await with_body(request, caller, work))


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
            fix = "omit it: the store holds what you may see, and is read-only"
            raise refused("X-3", f"{name} is not allowed", fix, status=400)


def _run_query(request: Request, caller: Caller, package: str, query: str) -> Found:
    if (
        "accept" in request.headers
        and not accepted_form(request, RESULTS, "")
        and not accepted_form(request, GRAPHS, "")
    ):
        raise not_acceptable({**RESULTS, **GRAPHS})
    forms = (accepted_form(request, RESULTS, "json"), accepted_form(request, GRAPHS, "turtle"))
    wanted = services.SparqlQuery(query, *forms)
    return services.sparql(caller.office, caller.viewer, caller.here[0].id, package, wanted)


def _query_response(request: Request, found: Found) -> Response:
    return Response(found.content, media_type=MEDIA[found.format], headers={"Vary": "Accept"})
