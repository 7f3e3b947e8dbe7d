"""The reading services of a campaign: packages, tasks fetched as graphs, runs and their scores (R-23)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from limits import parse
from pydantic import BaseModel, Field

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.store.tables import ReadingPackage, ReadingRun, ReadingTaskRow, ReadingUpload
from basanite.campaign.work.reading import runs, scoring, services, tasks
from basanite.campaign.work.reading.packages import corpus, packages
from basanite.campaign.work.reading.tasks import Wanted
from basanite.server.api.schema import ProblemShown
from basanite.server.guard import receive_body
from basanite.server.roles import Caller, allow

SERVED: Final = frozenset({"member", "evaluation"})
"""Who may use the reading services of a campaign."""
Reader = Annotated[Caller, allow(*SERVED, scope="read")]
Maker = Annotated[Caller, allow(*SERVED, scope="submit")]
Id = Annotated[str, Path(max_length=64)]
Package = Annotated[str, Query(max_length=100, description="The ID or the name of a reading package.")]
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
    return await receive_body(request, lambda pieces: work(_whole(pieces, most)))


def _whole(pieces: Iterator[bytes], most: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > most:
            fix = f"send at most {most} bytes per call; answers can be sent in parts"
            raise refused("X-13", "the body is too long", fix, status=413)
    return bytes(body)


def media_of(request: Request, known: Mapping[str, str], otherwise: str = "") -> str:
    """The form of what is sent, by its Content-Type."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not given and otherwise:
        return otherwise
    if given not in known:
        raise refused(
            "R-23", "this format is not supported", f"send one of {', '.join(known)}", status=415, found=given
        )
    return known[given]


def accepted_form(request: Request, known: Mapping[str, str], otherwise: str | None = None) -> str:
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
    return refused("R-23", "none of the formats that you accept is available", f"accept {', '.join(known)}", status=406)


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


ROUTER = APIRouter()


class PartShown(BaseModel):
    """A part of the corpus; of a sealed one teams learn nothing but its name."""

    name: str
    sealed: bool
    documents: int | None


class QueryShown(BaseModel):
    """A query that the package asks."""

    id: str
    type: str
    question: str
    variables: list[str]
    find: list[str]


class PackageShown(BaseModel):
    """A reading package."""

    id: str
    name: str
    version: str
    title: str
    window: str
    """The row of the calendar for formal tasks; "": practice alone."""
    parts: list[PartShown]
    queries: list[QueryShown]


@ROUTER.get("/packages")
def list_reading_packages(caller: Reader) -> list[PackageShown]:
    """All packages in use, with their parts and queries."""
    row, _ = caller.here
    with caller.office.reading() as session:
        return [_package_entry(caller, one) for one in packages(session, row.id)]


def _package_entry(caller: Caller, package: ReadingPackage) -> PackageShown:
    texts, staff = corpus(caller.office, package), caller.viewer.staff
    parts = [
        PartShown(
            name=part["name"],
            sealed=part["sealed"],
            documents=part["documents"] if staff or not part["sealed"] else None,
        )
        for part in package.parts
    ]
    asked = [one for one in texts.queries.values() if not one.generated and (staff or one.part not in texts.sealed)]
    queries = [
        QueryShown(id=one.id, type=one.type, question=one.question, variables=list(one.variables), find=list(one.lines))
        for one in asked
    ]
    return PackageShown(
        id=package.id,
        name=package.name,
        version=package.version,
        title=package.title,
        window=package.window,
        parts=parts,
        queries=queries,
    )


GRAPH_MEDIA = {name: media for media, name in GRAPHS.items()}
FETCHED: dict[int | str, dict[str, Any]] = {**binary(*GRAPHS), 304: {"description": "Not modified."}}


class TaskWanted(BaseModel):
    """What a task should hold."""

    package: str = Field(default="", max_length=100)
    """Its id or name; the only one needs none."""
    part: str = Field(default="train", max_length=100)
    mode: Literal["practice", "formal"] = "practice"
    types: list[str] = Field(default_factory=list, max_length=50)
    """Query types; none: all."""
    classes: list[str] = Field(default_factory=list, max_length=100)
    """Only queries about these classes; none: all."""
    sample: int | None = Field(default=None, ge=1, le=100_000)
    seed: int = Field(default=0, ge=0, le=2**31)
    phase: str = Field(default="", max_length=100)
    source: Literal["all", "package", "generated"] = "package"
    """Queries of the package, those that its ontology makes possible, or both."""
    unanswered: bool = False
    """Also queries without an answer in the annotations."""
    texts: bool = True


class ReadingTaskShown(BaseModel):
    """A reading task."""

    id: str
    url: str
    package: str
    mode: str
    part: str
    content: str
    """The hash of everything in it: its name in the graph."""
    queries: list[str]
    documents: int
    made: datetime


@ROUTER.post("/tasks", status_code=201)
def make_reading_task(asked: TaskWanted, caller: Maker, request: Request, response: Response) -> ReadingTaskShown:
    """Make a reading task: to practise on, or, for the evaluation team, a formal one."""
    count(request, caller)
    chosen = Wanted(
        asked.part,
        asked.mode,
        tuple(asked.types),
        tuple(asked.classes),
        asked.sample,
        asked.seed,
        asked.phase,
        asked.source,
        asked.unanswered,
        asked.texts,
    )
    row = tasks.make(caller.office, caller.actor, caller.viewer, caller.here[0].id, asked.package, chosen)
    shown = _task_entry(caller, row)
    response.headers["Location"] = shown.url
    return shown


@ROUTER.get("/tasks")
def list_reading_tasks(caller: Reader) -> list[ReadingTaskShown]:
    """The tasks that the caller may fetch, newest first."""
    with caller.office.reading() as session:
        found = tasks.tasks(session, caller.office, caller.viewer, caller.here[0].id)
    return [_task_entry(caller, row) for row in found]


@ROUTER.get("/tasks/{task_id}", response_class=StreamingResponse, responses=FETCHED)
def fetch_reading_task(task_id: Id, caller: Reader, request: Request) -> Response:
    """The graph of a task; with `If-None-Match`, only if it is another than the one you have."""
    with caller.office.reading() as session:
        row = tasks.task(session, caller.office, caller.viewer, caller.here[0].id, task_id)
    form = accepted_form(request, GRAPHS)
    digest = str(row.files[form])
    headers = {"ETag": f'"{digest}"', "Vary": "Accept, Authorization, Cookie", "Cache-Control": "private, no-cache"}
    if _matches(request.headers.get("if-none-match", ""), digest):
        return Response(status_code=304, headers=headers)
    store = caller.office.sealed if row.sealed else caller.office.files
    headers["Content-Length"] = str(store.size(digest))
    return StreamingResponse(store.pieces(digest), media_type=GRAPH_MEDIA[form], headers=headers)


def _matches(given: str, digest: str) -> bool:
    """Whether a caller has this content already; weak marks compare the same here (RFC 9110)."""
    marks = {mark.strip().removeprefix("W/") for mark in given.split(",")[:50]}
    return f'"{digest}"' in marks or "*" in marks


def _task_entry(caller: Caller, row: ReadingTaskRow) -> ReadingTaskShown:
    return ReadingTaskShown(
        id=row.id,
        url=f"/api/v1/campaigns/{caller.here[0].slug}/reading/tasks/{row.id}",
        package=row.reading_package_id,
        mode=row.mode,
        part=row.part,
        content=row.content,
        queries=list(row.queries),
        documents=row.documents,
        made=row.made,
    )


Key = Annotated[str, Query(max_length=100, description="Names this call: sent twice, it counts once.")]
HeaderKey = Annotated[str, Header(alias="Idempotency-Key", max_length=100)]


class RunWanted(BaseModel):
    """A system that is to answer a task."""

    task: str = Field(max_length=64)
    label: str = Field(min_length=1, max_length=100)
    """What the system is called; its own contributions to the gold are known by it (S-21)."""
    key: str = Field(min_length=1, max_length=100)
    """Asked for twice with the same key, there is one run."""


class RunShown(BaseModel):
    """A run."""

    id: str
    url: str
    task: str
    label: str
    made: datetime
    answers: int


class TakenShown(BaseModel):
    """What came of one call with answers."""

    id: str
    taken: int
    problems: list[ProblemShown]
    """What is wrong, line by line; lines without a problem were taken."""
    counted: int
    """How many problems there were, listed or not."""


class ScoreShown(BaseModel):
    """The score of a run as far as the caller may see it."""

    run: str
    level: str
    """`full`, `limited`, `top`, or `none` as long as nothing may be seen."""
    gold: str
    answers: int
    result: dict[str, Any] | None


@ROUTER.post("/runs", status_code=201)
def begin_run(asked: RunWanted, caller: Maker, request: Request, response: Response) -> RunShown:
    """Begin a run of a system on a task."""
    count(request, caller)
    with caller.office.writing() as session:
        wanted = runs.RunRequest(asked.task, asked.label, asked.key)
        row = runs.start(session, caller.office, caller.actor, caller.viewer, caller.here[0].id, wanted)
        shown = _run_entry(caller, row, len(runs.answers(session, row)))
    response.headers["Location"] = shown.url
    return shown


@ROUTER.get("/runs")
def list_runs(caller: Reader) -> list[RunShown]:
    """The runs of the own team, newest first."""
    with caller.office.reading() as session:
        found = runs.runs(session, caller.viewer, caller.here[0].id)
        return [_run_entry(caller, row, len(runs.answers(session, row))) for row in found]


@ROUTER.get("/runs/{run_id}")
def show_run(run_id: Id, caller: Reader) -> RunShown:
    """One run."""
    with caller.office.reading() as session:
        row = runs.run(session, caller.viewer, caller.here[0].id, run_id)
        return _run_entry(caller, row, len(runs.answers(session, row)))


@ROUTER.post("/runs/{run_id}/answers", openapi_extra=body_of(*SENT))
async def send_answers(
    run_id: Id, caller: Maker, request: Request, key: Key = "", header: HeaderKey = ""
) -> TakenShown:
    """Send answers, all or some: NDJSON as in a submission, or RDF; what cannot be read is told line by line."""
    media, name = media_of(request, SENT), key or header
    if not name:
        fix = "add ?key=… or the header Idempotency-Key"
        raise refused("R-23", "the call has no key, so it could count twice", fix, status=422)

    def work(body: bytes) -> ReadingUpload:
        who = (caller.office, caller.actor, caller.viewer, caller.here[0].id)
        return services.take_answers(*who, run_id, services.AnswerFile(body, media, name))

    made = await with_body(request, caller, work)
    problems = [ProblemShown(**one) for one in made.problems]
    return TakenShown(id=made.id, taken=made.taken, problems=problems, counted=made.counted)


@ROUTER.get("/runs/{run_id}/score")
def show_score(
    run_id: Id, caller: Reader, request: Request, gold: Annotated[str, Query(max_length=20)] = ""
) -> ScoreShown:
    """The score of a run against a version of the gold, the newest if none is named."""
    count(request, caller)
    with caller.office.reading() as session:
        row = runs.run(session, caller.viewer, caller.here[0].id, run_id)
    found = scoring.see(caller.office, caller.actor, caller.viewer, row, gold)
    result = None if found.result is None else dict(found.result)
    return ScoreShown(run=found.run, level=found.level, gold=found.gold, answers=found.answers, result=result)


def _run_entry(caller: Caller, row: ReadingRun, count_: int) -> RunShown:
    return RunShown(
        id=row.id,
        url=f"/api/v1/campaigns/{caller.here[0].slug}/reading/runs/{row.id}",
        task=row.reading_task_id,
        label=row.label,
        made=row.made,
        answers=count_,
    )
