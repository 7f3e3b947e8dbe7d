"""Results, boards and receipts: only what the policy lets through (M68-M72, P-12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel
from sqlalchemy import select

from basanite.campaign.model.refusals import missing
from basanite.campaign.receipts import keyring
from basanite.campaign.results import boards, visibility
from basanite.campaign.score_receipts import score_receipt
from basanite.campaign.store.tables import Receipt
from basanite.server.api.submissions import ResultShown, shown_result
from basanite.server.roles import Caller, allow

RESULTS = APIRouter(prefix="/campaigns/{slug}", tags=["results"])
Reader = Annotated[Caller, allow("member", "evaluation", scope="read")]
Anybody = Annotated[Caller, allow("visitor", scope="read")]
Id = Annotated[str, Path(max_length=64)]
Text = Annotated[str, Query(max_length=200)]
RECEIPT: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}


class ResultListed(BaseModel):
    """A result with the submission that it belongs to."""

    submission: str
    number: int
    window: str
    task: str
    label: str
    type: str
    standing: str
    result: ResultShown


class RowShown(BaseModel):
    """One system on a board."""

    name: str
    own: bool
    baseline: bool
    value: float | None
    low: float | None
    high: float | None
    ranks: tuple[int, int] | None
    group: int | None
    looks: int
    note: str
    system: str
    """The label of the run, where the caller may know whose it is."""
    received: datetime | None
    values: dict[str, tuple[float | None, float | None, float | None]]
    """Value and interval of each metric."""
    against: int | None
    """Against the row named by `against`: 1 significantly better, -1 worse, 0 neither."""


class BoardShown(BaseModel):
    """Primary submissions side by side."""

    window: str
    task: str
    language: str
    track: str
    metric: str
    level: str
    naming: str
    pending: bool
    interim: bool
    """Whether the window is open, so that values may still change."""
    detectable: tuple[float, float] | None
    """From which to which difference pairs of systems would show in 80 % of cases."""
    metrics: list[str]
    fill: str
    """Which run of a team stands here: `primary`, `best`, `latest`."""
    tested: str
    """The only metric whose pairs were tested, where the board is looked at by another one."""
    notes: list[str]
    left_out: dict[str, int]
    rows: list[RowShown]


@RESULTS.get("/results")
def list_results(caller: Reader, window: Text = "", task: Text = "") -> list[ResultListed]:
    """The newest results that the caller may see; in blind windows there are none before release."""
    row, _ = caller.here
    wanted: dict[str, Any] = {"window": window or None, "task": task or None, "limit": 200}
    with caller.office.reading() as session:
        found = visibility.submissions(
            session, caller.office, caller.viewer, row.id, visibility.SubmissionFilter(**wanted)
        )
    return [_result_entry(one) for one in found if one.result is not None]


@RESULTS.get("/submissions/{submission_id}/results")
def show_history(submission_id: Id, caller: Reader) -> list[ResultShown]:
    """Every result that ever held for a submission, oldest first."""
    _check(caller, submission_id)
    with caller.office.reading() as session:
        found = visibility.results(session, caller.office, caller.viewer, submission_id)
    return [shown for one in found if (shown := shown_result(one)) is not None]


@RESULTS.get("/leaderboard")
def show_board(
    caller: Anybody,
    window: Text,
    task: Text,
    language: Text = "",
    track: Text = "",
    by: Text = "",
    at: datetime | None = None,
    against: Text = "",
) -> BoardShown:
    """A board with groups of systems without significant differences; empty before a release to the caller.

    `by` is another metric to rank by, `at` a moment whose board is shown, and `against` the name of a row
    that all others are compared with.
    """
    # Eight arguments: the parameters of the address.
    row, _ = caller.here
    subject = boards.Subject(window, task, language=language, track=track)
    until = at if at is None or at.tzinfo else at.replace(tzinfo=UTC)
    with caller.office.reading() as session:
        look = boards.Look(by, until, against)
        board = visibility.board(session, caller.office, caller.viewer, row.id, subject, look)
    facts = {name: getattr(board, name) for name in BoardShown.model_fields if name != "rows"}
    rows = [RowShown(**{name: getattr(one, name) for name in RowShown.model_fields}) for one in board.rows]
    return BoardShown(**facts | {"rows": rows, "notes": list(board.notes), "metrics": list(board.metrics)})


@RESULTS.get("/submissions/{submission_id}/receipts/intake", response_class=Response, responses=RECEIPT)
def show_intake_receipt(submission_id: Id, caller: Reader) -> Response:
    """The signed receipt that a submission was taken in."""
    _check(caller, submission_id)
    with caller.office.reading() as session:
        query = select(Receipt.content).where(Receipt.submission_id == submission_id, Receipt.kind == "intake")
        content = session.scalars(query.order_by(Receipt.at.desc())).first()
    if content is None:
        raise missing("receipt")
    return Response(content, media_type="application/json")


@RESULTS.get("/submissions/{submission_id}/receipts/score", response_class=Response, responses=RECEIPT)
def show_score_receipt(submission_id: Id, caller: Reader) -> Response:
    """The signed receipt of a score; it exists only once the score is released (X-6)."""
    _check(caller, submission_id)
    with caller.office.writing() as session:
        receipt = score_receipt(session, caller.office, submission_id)
        return Response(receipt.content, media_type="application/json")


def _check(caller: Caller, submission_id: str) -> None:
    """Others' submissions, and those of another campaign, do not exist."""
    row, _ = caller.here
    with caller.office.reading() as session:
        seen = visibility.submission(session, caller.office, caller.viewer, submission_id)
    if seen.campaign != row.slug:
        raise missing("submission")


def _only(facts: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in model.model_fields}


def _result_entry(one: visibility.SeenSubmission) -> ResultListed:
    result = shown_result(one.result)
    if result is None:
        raise LookupError("a result without content")
    return ResultListed(**_only(asdict(one), ResultListed) | {"submission": one.id, "result": result})


KEYS = APIRouter(prefix="/keys", tags=["receipts"])


@KEYS.get("", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def show_keys(caller: Annotated[Caller, allow("visitor", scope="read")]) -> Response:
    """All keys of this server with hand-overs and revocations: pin them once, and check receipts with them."""
    with caller.office.reading() as session:
        return Response(keyring(session).as_bytes(), media_type="application/json")
