"""Submissions: sent in one piece, listed page by page, looked at, described, withdrawn (M65, M79, P-23)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from anyio import CancelScope
from fastapi import APIRouter, BackgroundTasks, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.intake import acceptance as intake
from basanite.campaign.intake import standings, uploads
from basanite.campaign.intake.acceptance import describe
from basanite.campaign.intake.open_uploads import BROKEN, INTERRUPTED, Hold
from basanite.campaign.intake.recovery import recover
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.programs.view import Part
from basanite.campaign.results import visibility
from basanite.campaign.results.visibility import SeenResult, SeenSubmission
from basanite.campaign.store.tables import Submission
from basanite.campaign.work.panels import answers
from basanite.models.transcript_page import CallSearch
from basanite.server.guard import receive_body
from basanite.server.roles import Caller, allow

WORDS = ("task", "label", "type", "language", "queryset", "dataset", "domains", "track", "condition", "description")
LONGEST_HEADER = 64 * 1024


def parse_declared(said: Mapping[str, str]) -> Declared:
    """The choices that a submission comes with; data sets are joined by +, domains by -."""
    return Declared(
        task=said.get("task", ""),
        label=said.get("label", ""),
        type=said.get("type") or "contrastive",
        language=said.get("language", ""),
        queryset=said.get("queryset", ""),
        dataset=_split(said.get("dataset", ""), "+"),
        domains=_split(said.get("domains", ""), "-"),
        track=said.get("track", ""),
        condition=said.get("condition") or "unconstrained",
        description=parse_description(said.get("description", "")),
        name=said.get("filename", ""),
    )


def _split(text: str, sign: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(sign) if part)


def parse_description(text: str) -> dict[str, Any]:
    """A system's description: plain words, or a JSON object with the fields that a track asks for (P-31).

    >>> parse_description("a small system"), parse_description('{"text": "small", "gpu": "none"}')["gpu"]
    ({'text': 'a small system'}, 'none')
    """
    if not text.lstrip().startswith("{"):
        return {"text": text} if text else {}
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {"text": text}
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise refused(
            "M77", "the description contains something other than text", "write one text per field", status=422
        )
    return fields


def upload_words(header: str) -> dict[str, str]:
    """The words that `Upload-Metadata` carries, each in base64.

    >>> upload_words("task Q0xJUg==,label YQ==")
    {'task': 'CLIR', 'label': 'a'}
    """
    if len(header) > LONGEST_HEADER:
        raise _unreadable()
    pairs = (pair.strip().partition(" ") for pair in header.split(",") if pair.strip())
    return {name: _plain(value) for name, _, value in pairs}


def _plain(value: str) -> str:
    try:
        plain = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        raise _unreadable() from None
    if "\0" in plain:  # one of our databases keeps none
        raise _unreadable()
    return plain


def _unreadable() -> Exception:
    fix = "write `name base64, name base64 …` in UTF-8"
    return refused("M60", "Upload-Metadata cannot be read", fix, status=400)


ROUTER = APIRouter(prefix="/campaigns/{slug}/submissions", tags=["submissions"])
Member = Annotated[Caller, allow("member", scope="submit")]
Reader = Annotated[Caller, allow("member", "evaluation", scope="read")]
Organiser = Annotated[Caller, allow("evaluation", scope="organise")]
Id = Annotated[str, Path(max_length=64)]
Text = Annotated[str, Query(max_length=200)]
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ResultShown(BaseModel):
    """A result as the caller may see it."""

    level: str
    superseded: bool
    data: dict[str, Any]
    provenance: dict[str, Any]


class ProgramShown(BaseModel):
    """How the program of a submission ran, as far as the caller may see it (G-2)."""

    mode: str
    runner: str
    stage: str
    smoke: bool | None
    minutes: int | None
    megabytes: int | None
    same: bool | None
    smoke_log: bool
    log: bool
    resources: dict[str, Any]
    exact: dict[str, Any]


class SubmissionShown(BaseModel):
    """A submission as the caller may see it."""

    id: str
    url: str
    number: int
    team: str
    own: bool
    window: str
    task: str
    language: str
    dataset: str
    queryset: str
    type: str
    track: str
    label: str
    name: str
    size: int
    sha256: str
    description: dict[str, Any]
    door: str
    started: datetime
    received: datetime
    standing: str
    standing_reason: str
    state: str
    final: bool
    ahead: int | None
    """How many stand before it in the queue, while it waits."""
    fault: str
    problems: dict[str, Any] | None
    result: ResultShown | None
    program: ProgramShown | None


class PageShown(BaseModel):
    """Some submissions, newest first."""

    submissions: list[SubmissionShown]
    following: str | None
    """To be given as `after` for the next page; null at the end."""


class Reason(BaseModel):
    """Why something is done; it is kept, and the team sees it."""

    reason: str = Field(min_length=1, max_length=2000)


class Description(BaseModel):
    """What a system is, in the fields that its track asks for."""

    description: dict[str, str] = Field(max_length=100)


class Said(BaseModel):
    """What is submitted, in the address of the call."""

    task: str = Field(max_length=100)
    label: str = Field(max_length=200)
    sha256: str = Field(pattern="^[0-9a-fA-F]{64}$")
    type: str = Field(default="contrastive", max_length=100)
    language: str = Field(default="", max_length=100)
    dataset: str = Field(default="", max_length=200)
    queryset: str = Field(default="", max_length=200)
    domains: str = Field(default="", max_length=200)
    track: str = Field(default="", max_length=100)
    condition: str = Field(default="unconstrained", max_length=100)
    description: str = Field(default="", max_length=4000)
    filename: str = Field(default="", max_length=255)


@ROUTER.post("", status_code=201, openapi_extra=BODY)
async def send_submission(
    caller: Member, request: Request, response: Response, said: Annotated[Said, Query()], later: BackgroundTasks
) -> SubmissionShown:
    """Send a whole file as the body of one call; length and SHA-256 are said before its first byte (X-2).

    The same call again takes over what a dead server left of the first, and gives its submission if there is one.
    """
    size = _length(request)
    upload, hold = await run_in_threadpool(_begin, caller, said.model_dump(), size)
    if hold is None:
        later.add_task(uploads.tell, caller.office, upload)
    else:
        await _write_body(caller, request, hold, size)
        later.add_task(uploads.release, caller.office, hold)
    shown = await run_in_threadpool(_submission_of_upload, caller, upload)
    response.headers["Location"] = shown.url
    return shown


def _length(request: Request) -> int:
    given = request.headers.get("content-length", "")
    if not given.isascii() or not given.isdecimal() or len(given) > 19:
        raise refused(
            "X-2", "the length is not given before the content", "send Content-Length, or use tus", status=411
        )
    return int(given)


def _begin(caller: Caller, said: dict[str, str], size: int) -> tuple[str, Hold | None]:
    wanted, digest = parse_declared(said), said["sha256"].lower()
    recover(caller.office, caller.team)
    begun = uploads.receive(caller.office, caller.actor, caller.team, wanted, size=size, sha256=digest)
    caller.note_address()
    return begun


async def _write_body(caller: Caller, request: Request, hold: Hold, size: int) -> None:
    """Write what comes; a body that breaks off is given up, for a call in one piece cannot go on."""
    upload = (caller.office, caller.actor, hold.upload_id)
    try:
        at = await receive_body(request, lambda pieces: uploads.append(*upload, 0, pieces, hold))
        if at != size:
            raise refused("X-2", f"{at} of {size} bytes arrived", "send the whole file again", status=400)
        await run_in_threadpool(uploads.finish, *upload, hold)
    except BaseException as error:  # whatever ends the upload, the team gets its attempt back
        cause = BROKEN if isinstance(error, RefusedError) else INTERRUPTED
        with CancelScope(shield=True):  # a server that is stopped still frees the attempt
            await run_in_threadpool(uploads.give_up, caller.office, hold, cause)
        raise


def _submission_of_upload(caller: Caller, upload: str) -> SubmissionShown:
    with caller.office.reading() as session:
        made = uploads.find(session, caller.actor, upload).submission_id
    return _show(caller, str(made))


@ROUTER.get("")
def list_submissions(
    caller: Reader,
    window: Text = "",
    task: Text = "",
    after: Text = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> PageShown:
    """The own team's submissions, or for the evaluation team all, newest first."""
    row, _ = caller.here
    wanted: dict[str, Any] = {
        "window": window or None,
        "task": task or None,
        "before": _place(after),
        "limit": limit + 1,
    }
    with caller.office.reading() as session:
        found = visibility.submissions(
            session, caller.office, caller.viewer, row.id, visibility.SubmissionFilter(**wanted)
        )
        shown = [_submission_entry(session, caller, one) for one in found[:limit]]
    last = found[limit - 1] if len(found) > limit else None
    return PageShown(submissions=shown, following=f"{last.received.isoformat()}~{last.id}" if last else None)


def _place(after: str) -> tuple[datetime, str] | None:
    if not after:
        return None
    text, _, last = after.partition("~")
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC), last
    except (ValueError, OverflowError):
        fix = "send the value of `following` unchanged"
        raise refused("P-6", "no page starts there", fix, status=422) from None


@ROUTER.get("/{submission_id}")
def show_submission(submission_id: Id, caller: Reader) -> SubmissionShown:
    """One submission; those of other teams do not exist."""
    return _show(caller, submission_id)


class TranscriptsShown(BaseModel):
    """Calls of a language model that a search found."""

    system: str
    total: int
    found: int
    calls: list[dict[str, Any]]


@ROUTER.get("/{submission_id}/transcripts")
def show_transcripts(
    submission_id: Id,
    caller: Reader,
    words: Annotated[str, Query(max_length=500)] = "",
    state: Literal["", "answered", "refused", "failed", "empty"] = "",
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> TranscriptsShown:
    """What a language model was asked and answered; where items are sealed, for the evaluation team alone (L-4)."""
    wanted = CallSearch(words, state, (), after, limit)
    found = answers.shown_calls(caller.office, caller.viewer, caller.actor, submission_id, wanted)
    plain = {name: getattr(found, name) for name in ("system", "total", "found")}
    return TranscriptsShown(**plain, calls=[dict(call) for call in found.calls])


@ROUTER.get("/{submission_id}/problems")
def show_problems(submission_id: Id, caller: Reader, every: bool = False) -> dict[str, Any]:
    """What validation found, as `validate --json` prints it; with `every` also what that does not list."""
    problems = _show(caller, submission_id).problems
    if problems is not None and every:
        with caller.office.reading() as session:
            return dict(visibility.every_problem(session, caller.office, caller.viewer, submission_id))
    if problems is None:
        raise missing("list of problems")
    return problems


@ROUTER.get("/{submission_id}/program/{part}")
def show_program_log(submission_id: Id, part: Part, caller: Reader) -> PlainTextResponse:
    """What the program printed: `smoke` on public items; `run` on sealed items, as far as the plan allows (G-2)."""
    _show(caller, submission_id)
    with caller.office.reading() as session:
        text = visibility.program_log(session, caller.office, caller.viewer, submission_id, part)
    return PlainTextResponse(text)


@ROUTER.put("/{submission_id}/description")
def change_description(submission_id: Id, wanted: Description, caller: Member) -> SubmissionShown:
    """Say what this system is (M77); its own team may, until its results are public."""
    with caller.office.writing() as session:
        own = _own(session, caller, submission_id)
        describe(session, caller.office, caller.actor, own.id, wanted.description)
    return _show(caller, submission_id)


@ROUTER.post("/{submission_id}/withdrawal")
def withdraw(submission_id: Id, why: Reason, caller: Member) -> SubmissionShown:
    """Take a submission out of all comparisons; its attempt stays spent."""
    with caller.office.writing() as session:
        own = _own(session, caller, submission_id)
        standings.withdraw(session, caller.office, caller.actor, own.id, reason=why.reason)
    return _show(caller, submission_id)


@ROUTER.post("/{submission_id}/primary")
def designate_primary(submission_id: Id, why: Reason, caller: Organiser) -> SubmissionShown:
    """Make it its team's primary one after a window closed without any (C46)."""
    with caller.office.writing() as session:
        standings.designate_primary(session, caller.office, caller.actor, submission_id, reason=why.reason)
    return _show(caller, submission_id)


@ROUTER.put("/{submission_id}/primary")
def choose_primary(submission_id: Id, caller: Member) -> SubmissionShown:
    """Make it the primary run of your team while its window is open; a team has one (C46, M66)."""
    with caller.office.writing() as session:
        own = _own(session, caller, submission_id)
        standings.choose_primary(session, caller.office, caller.actor, own.id)
    return _show(caller, submission_id)


def _own(session: Session, caller: Caller, submission_id: str) -> Submission:
    row = intake.get(session, caller.actor, submission_id)
    if row.team_id != caller.team:
        raise missing("submission")
    return row


def _show(caller: Caller, submission_id: str) -> SubmissionShown:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = visibility.submission(session, caller.office, caller.viewer, submission_id)
        if found.campaign != row.slug:
            raise missing("submission")
        return _submission_entry(session, caller, found)


def _submission_entry(session: Session, caller: Caller, found: SeenSubmission) -> SubmissionShown:
    row = session.get_one(Submission, found.id)
    waits = None if found.final else intake.place(session, caller.office, row)
    facts = {name: value for name, value in asdict(found).items() if name in SubmissionShown.model_fields}
    own = {"problems": found.problems, "result": shown_result(found.result), "ahead": waits.ahead if waits else None}
    url = f"/api/v1/campaigns/{found.campaign}/submissions/{found.id}"
    return SubmissionShown(**facts | own | {"url": url})


def shown_result(found: SeenResult | None) -> ResultShown | None:
    """A result that the policy let through; nothing is added to it here."""
    if found is None:
        return None
    plain = asdict(found)
    return ResultShown(
        level=found.level, superseded=found.superseded, data=plain["data"], provenance=plain["provenance"]
    )
