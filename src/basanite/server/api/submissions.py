"""Submissions: sent in one piece, listed page by page, looked at, described, withdrawn (M65, M79, P-23)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.intake import standings, uploads
from basanite.campaign.intake import submissions as intake
from basanite.campaign.intake.describing import describe
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.results import seeing
from basanite.campaign.results.seeing import SeenResult, SeenSubmission
from basanite.campaign.store.tables import Submission
from basanite.server.api.said import declared
from basanite.server.receiving import received
from basanite.server.roles import Caller, allow

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
    caller: Member, request: Request, response: Response, said: Annotated[Said, Query()]
) -> SubmissionShown:
    """Send a whole file as the body of one call; length and SHA-256 are said before its first byte (X-2)."""
    size = _length(request)
    upload = await run_in_threadpool(_begin, caller, said.model_dump(), size)
    made = await _arrived(caller, request, upload, size)
    shown = await run_in_threadpool(_show, caller, made.id)
    response.headers["Location"] = shown.url
    return shown


def _length(request: Request) -> int:
    given = request.headers.get("content-length", "")
    if not given.isascii() or not given.isdecimal() or len(given) > 19:
        raise refused("X-2", "the length is not said before the content", "send Content-Length, or use tus", status=411)
    return int(given)


def _begin(caller: Caller, said: dict[str, str], size: int) -> str:
    with caller.office.writing() as session:
        wanted, digest = declared(said), said["sha256"].lower()
        row = uploads.begin(session, caller.office, caller.actor, caller.team, wanted, size=size, sha256=digest)
    caller.note_address()
    return row.id


async def _arrived(caller: Caller, request: Request, upload: str, size: int) -> Submission:
    """Write what comes; a body that breaks off is given up, for a call in one piece cannot go on."""
    try:
        at = await received(request, lambda pieces: uploads.append(caller.office, caller.actor, upload, 0, pieces))
        if at != size:
            raise refused("X-2", f"{at} of {size} bytes came", "send the whole file again", status=400)
        return await run_in_threadpool(uploads.finish, caller.office, caller.actor, upload)
    except RefusedError:
        await run_in_threadpool(_give_up, caller, upload)
        raise


def _give_up(caller: Caller, upload: str) -> None:
    with caller.office.writing() as session:
        uploads.cancel(session, caller.office, caller.actor, upload)
    uploads.part(caller.office, upload).unlink(missing_ok=True)


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
        found = seeing.submissions(session, caller.office, caller.viewer, row.id, **wanted)
        shown = [_shown(session, caller, one) for one in found[:limit]]
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
        fix = "give what `following` said, as it was"
        raise refused("P-6", "no page begins there", fix, status=422) from None


@ROUTER.get("/{submission_id}")
def show_submission(submission_id: Id, caller: Reader) -> SubmissionShown:
    """One submission; those of other teams do not exist."""
    return _show(caller, submission_id)


@ROUTER.get("/{submission_id}/problems")
def show_problems(submission_id: Id, caller: Reader, every: bool = False) -> dict[str, Any]:
    """What validation found, as `validate --json` prints it; with `every` also what that does not list."""
    problems = _show(caller, submission_id).problems
    if problems is not None and every:
        with caller.office.reading() as session:
            return dict(seeing.every_problem(session, caller.office, caller.viewer, submission_id))
    if problems is None:
        raise missing("list of problems")
    return problems


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
        found = seeing.submission(session, caller.office, caller.viewer, submission_id)
        if found.campaign != row.slug:
            raise missing("submission")
        return _shown(session, caller, found)


def _shown(session: Session, caller: Caller, found: SeenSubmission) -> SubmissionShown:
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
