"""What the reading services share: who may call, how often, how long a body may be, and which form is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, TypeVar

from fastapi import Path, Query, Request
from limits import parse

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.server.receiving import received
from basanite.server.roles import Caller, allow

SERVED: Final = frozenset({"member", "evaluation"})
"""Who may use the reading services of a campaign."""
Reader = Annotated[Caller, allow(*SERVED, scope="read")]
Maker = Annotated[Caller, allow(*SERVED, scope="submit")]
Id = Annotated[str, Path(max_length=64)]
Package = Annotated[str, Query(max_length=100, description="The id or the name of a reading package.")]
Result = TypeVar("Result")

GRAPHS: Final = {
    "application/n-triples": "ntriples",
    "text/turtle": "turtle",
    "application/rdf+xml": "rdfxml",
    "application/ld+json": "jsonld",
}
"""Media types of RDF, the preferred first."""
RESULTS: Final = {
    "application/sparql-results+json": "json",
    "application/json": "json",
    "application/sparql-results+xml": "xml",
    "application/xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
}
LINES: Final = {"application/x-ndjson": "ndjson", "application/jsonl": "ndjson", "application/ndjson": "ndjson"}
SENT: Final = {**LINES, **GRAPHS}
"""Forms in which answers can be sent."""


def count(request: Request, caller: Caller) -> None:
    """Count a call of this person, and refuse one too many (X-13)."""
    limit = parse(caller.office.settings.reading.calls)
    request.app.state.throttle.count(limit, "reading", str(caller.viewer.person))


async def with_body(request: Request, caller: Caller, work: Callable[[bytes], Result]) -> Result:
    """Do some work in a thread on the whole body of a call, which is bounded and handed to a child unread (X-8)."""
    count(request, caller)
    most = caller.office.settings.reading.body
    return await received(request, lambda pieces: work(_whole(pieces, most)))


def _whole(pieces: Iterator[bytes], most: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > most:
            fix = f"send at most {most} bytes with one call; answers can be sent in pieces"
            raise refused("X-13", "the body is too long", fix, status=413)
    return bytes(body)


def media_of(request: Request, known: Mapping[str, str], otherwise: str = "") -> str:
    """The form of what is sent, by its Content-Type."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not given and otherwise:
        return otherwise
    if given not in known:
        raise refused("R-23", "this form cannot be read", f"send one of {', '.join(known)}", status=415, found=given)
    return known[given]


def wanted(request: Request, known: Mapping[str, str], otherwise: str | None = None) -> str:
    """The form that the caller takes, by its Accept; `otherwise` where it takes none of these."""
    accept = request.headers.get("accept", "") or "*/*"
    best, rank = "", (0.0, 0)
    for number, media in enumerate(known):
        quality = _quality(accept, media)
        if (quality, -number) > rank and quality > 0:
            best, rank = known[media], (quality, -number)
    if best:
        return best
    if otherwise is not None:
        return otherwise
    raise not_acceptable(known)


def not_acceptable(known: Mapping[str, str]) -> RefusedError:
    """Nothing that the caller takes can be given."""
    return refused("R-23", "none of the forms that you take can be given", f"take {', '.join(known)}", status=406)


def _quality(accept: str, media: str) -> float:
    """How gladly a caller takes a media type: the most special entry counts (RFC 9110)."""
    special, quality = -1, 0.0
    for entry in accept.split(",")[:50]:
        name, *parameters = [part.strip().lower() for part in entry.split(";")]
        rank = {media: 2, f"{media.partition('/')[0]}/*": 1, "*/*": 0}.get(name, -1)
        if rank > special:
            special, quality = rank, _q(parameters)
    return quality


def _q(parameters: list[str]) -> float:
    text = next((part[2:] for part in parameters if part.startswith("q=")), "1")
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0


def binary(*media: str) -> dict[int | str, dict[str, Any]]:
    """The document of an answer that is no JSON of ours."""
    return {200: {"content": {one: {"schema": {"type": "string", "format": "binary"}} for one in media}}}


def body_of(*media: str) -> dict[str, Any]:
    """The document of a body in one of several forms."""
    content = {one: {"schema": {"type": "string", "format": "binary"}} for one in media}
    return {"requestBody": {"required": True, "content": content}}
