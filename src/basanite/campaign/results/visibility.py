"""The single way in which submissions, results and boards reach anybody: facts are loaded, then the policy decides.

No page, answer, mail, receipt or export reads the JSON of a result by itself. There is no view of single documents
at all (M72): what the policy lets through are values, intervals and breakdowns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select, tuple_
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.intake import acceptance, standings
from basanite.campaign.model import refusals
from basanite.campaign.model.plan import Window
from basanite.campaign.model.policy import Sight, Viewer, visible_figures, visible_result
from basanite.campaign.model.refusals import missing
from basanite.campaign.office import Office
from basanite.campaign.people.persons import personal
from basanite.campaign.programs import view
from basanite.campaign.programs.view import Part, program_of
from basanite.campaign.results import boards, ladder
from basanite.campaign.results.facts import Desk, adopted_results, content, desk, history, missing_fields, teams
from basanite.campaign.results.views import (
    BoardRow,
    Provenance,
    SeenBoard,
    SeenResult,
    SeenSubmission,
    provenance,
    without_seed,
)
from basanite.campaign.store.tables import Result, Submission, Team
from basanite.figures import Drawable, read_figures

__all__ = [
    "BoardRow",
    "Provenance",
    "RunView",
    "SeenBoard",
    "SeenResult",
    "SeenSubmission",
    "board",
    "figures",
    "result",
    "results",
    "run_view",
    "submission",
    "submissions",
]

MOST = 200


def submission(session: Session, office: Office, viewer: Viewer, submission_id: str) -> SeenSubmission:
    """One submission, for its team and the evaluation team; to anybody else it does not exist (404)."""
    row = _own(session, viewer, submission_id)
    return _visible_submissions(session, _desk(session, office, viewer, row.campaign_id), [row])[0]


@dataclass(frozen=True)
class RunView:
    """Everything that the page of one submission shows."""

    submission: SeenSubmission
    window: Window
    sender: str
    """The name of the person who sent it."""
    place: acceptance.Place | None
    """Where it waits; None once its own state says that it has ended, so that time tells no score (M68)."""
    superseded: int
    """How many older results there are."""
    figures: tuple[Drawable, ...]
    can_choose: bool
    """Whether the team may make it its primary run now (C46)."""
    interim: bool
    """Whether its window is open, so that this is one of several looks at the same data (S-33)."""


def run_view(
    session: Session, office: Office, viewer: Viewer, submission_id: str, plan: plans.Plan | None = None
) -> RunView:
    """The page of a submission, with plan and policy asked once for all of it.

    Who knows the plan already hands it in; a submission of another campaign is not there, then.
    """
    row = _own(session, viewer, submission_id)
    if plan is not None and plan.row.id != row.campaign_id:
        raise missing("submission")
    at = desk(session, office, viewer, plan or plans.current(session, row.campaign_id))
    sight, window, held = at.sight(row), at.window(row), history(session, row.id)
    newest = held[-1] if held else None
    one = _one(session, at, row, teams(session, [row.team_id])[row.team_id], newest, sight)
    return RunView(
        one,
        window,
        personal(session, office, row.person_id).name,
        None if one.final else acceptance.place(session, office, row),
        len(held[:-1]) if sight.level != "none" else 0,
        _figures(at, newest, sight),
        one.own and not viewer.staff and standings.can_choose(session, at.plan, row, at.now),
        at.now < window.closes.utc,
    )


@dataclass(frozen=True, slots=True)
class SubmissionFilter:
    """Which submissions are listed; `before` is where the last page ended."""

    window: str | None = None
    task: str | None = None
    team_id: str | None = None
    state: str | None = None
    standing: str | None = None
    before: tuple[datetime, str] | None = None
    limit: int = 50


ALL_SUBMISSIONS = SubmissionFilter()


def submissions(
    session: Session, office: Office, viewer: Viewer, campaign_id: str, wanted: SubmissionFilter = ALL_SUBMISSIONS
) -> tuple[SeenSubmission, ...]:
    """The newest submissions that somebody may see, the own team's or all.

    Only the evaluation team may choose by state: for teams that would tell what a blind window hides (M68).
    """
    team = wanted.team_id if viewer.staff else viewer.team
    if not viewer.staff and (team is None or wanted.team_id not in (None, viewer.team)):
        return ()
    chosen = {"team_id": team, "window": wanted.window, "task": wanted.task, "standing": wanted.standing}
    chosen |= {"state": wanted.state} if viewer.staff else {}
    question = _submission_query(campaign_id, chosen, wanted.before).limit(min(wanted.limit, MOST))
    return _visible_submissions(session, _desk(session, office, viewer, campaign_id), session.scalars(question).all())


def result(session: Session, office: Office, viewer: Viewer, submission_id: str) -> SeenResult | None:
    """The result that holds for a submission, as far as this viewer may see it; None if nothing may be seen yet."""
    row = session.get(Submission, submission_id)
    if row is None:
        raise missing("submission")
    at = _desk(session, office, viewer, row.campaign_id)
    if not at.sight(row).exists:
        raise missing("submission")
    held = adopted_results(session, [row.id]).get(row.id)
    return None if held is None else _result(session, at, row, held, at.sight(row))


def results(session: Session, office: Office, viewer: Viewer, submission_id: str) -> tuple[SeenResult, ...]:
    """Every result that ever held for a submission, oldest first, as far as this viewer may see them."""
    row = _own(session, viewer, submission_id)
    at = _desk(session, office, viewer, row.campaign_id)
    held, sight = history(session, row.id), at.sight(row)
    shown_ones = [_result(session, at, row, one, sight, superseded=one is not held[-1]) for one in held]
    return tuple(one for one in shown_ones if one is not None)


def every_problem(session: Session, office: Office, viewer: Viewer, submission_id: str) -> Mapping[str, Any]:
    """All that validation found and kept, as `validate --all --json` prints it (D-7)."""
    row = _own(session, viewer, submission_id)
    sight = _desk(session, office, viewer, row.campaign_id).sight(row)
    if row.problems_digest is None or not sight.problems:
        raise missing("list of problems")
    found = refusals.all_problems(office.files.read(row.problems_digest))
    return counts_alone(found) if hides_answers(row, sight) else found


def figures(session: Session, office: Office, viewer: Viewer, submission_id: str) -> tuple[Drawable, ...]:
    """The charts behind the result that holds for a submission, as far as its team or the evaluation team may see."""
    row = _own(session, viewer, submission_id)
    at = _desk(session, office, viewer, row.campaign_id)
    return _figures(at, adopted_results(session, [row.id]).get(row.id), at.sight(row))


def _figures(at: Desk, held: Result | None, sight: Sight) -> tuple[Drawable, ...]:
    if held is None or held.figures is None or not sight.curves:
        return ()
    data = json.loads(at.office.files.read(held.figures))
    return read_figures({**data, "figures": visible_figures(data["figures"], sight)})


def board(
    session: Session,
    office: Office,
    viewer: Viewer,
    campaign_id: str,
    subject: boards.Subject,
    look: boards.Look | None = None,
) -> SeenBoard:
    """One run of each team for one task, language and track of a window, side by side, as far as they may be seen."""
    at = _desk(session, office, viewer, campaign_id)
    return boards.visible_board(session, at, subject, look)


def _desk(session: Session, office: Office, viewer: Viewer, campaign_id: str) -> Desk:
    return desk(session, office, viewer, plans.current(session, campaign_id))


def _own(session: Session, viewer: Viewer, submission_id: str) -> Submission:
    row = session.get(Submission, submission_id)
    mine = row is not None and (viewer.staff or (viewer.team is not None and viewer.team == row.team_id))
    if row is None or not mine or not viewer.at_home(row.campaign_id):
        raise missing("submission")
    return row


def _submission_query(
    campaign_id: str, wanted: Mapping[str, str | None], before: tuple[datetime, str] | None
) -> Select[Submission]:
    question = select(Submission).where(Submission.campaign_id == campaign_id)
    for name, value in wanted.items():
        question = question if value is None else question.where(getattr(Submission, name) == value)
    if before is not None:
        question = question.where(tuple_(Submission.received, Submission.id) < before)
    return question.order_by(Submission.received.desc(), Submission.id.desc())


def _visible_submissions(session: Session, at: Desk, rows: Sequence[Submission]) -> tuple[SeenSubmission, ...]:
    held = adopted_results(session, [row.id for row in rows])
    known = teams(session, [row.team_id for row in rows])
    return tuple(_one(session, at, row, known[row.team_id], held.get(row.id), at.sight(row)) for row in rows)


def _one(session: Session, at: Desk, row: Submission, team: Team, held: Result | None, sight: Sight) -> SeenSubmission:
    return SeenSubmission(
        id=row.id,
        campaign=at.campaign.slug,
        window=row.window,
        team_id=row.team_id,
        team=at.name_of(sight, team),
        own=sight.own,
        number=row.number,
        task=row.task,
        language=row.language,
        dataset=row.dataset,
        queryset=row.queryset,
        type=row.type,
        track=row.track,
        label=row.label,
        name=row.name,
        size=row.size,
        sha256=row.sha256,
        description=row.description,
        door=row.door,
        person_id=row.person_id,
        started=row.started,
        received=row.received,
        standing=row.standing,
        standing_reason=row.standing_reason,
        admitted=row.admitted,
        state=sight.state,
        final=sight.final,
        problems=_problems(at, row, sight),
        fault=row.fault if sight.state == "failed" else "",
        result=None if held is None else _result(session, at, row, held, sight),
        similar_to=row.similar_to if sight.staff else None,
        missing=missing_fields(at.campaign, row.track, row.description),
        program=program_of(session, row, at.window(row), sight),
    )


def _problems(at: Desk, row: Submission, sight: Sight) -> Mapping[str, Any] | None:
    """What validation found: it depends on the submission and the lists of the pack, never on what is relevant."""
    if row.problems_digest is None or not sight.problems:
        return None
    found = refusals.listed_problems(at.office.files.read(row.problems_digest))
    return counts_alone(found) if hides_answers(row, sight) else found


def hides_answers(row: Submission, sight: Sight) -> bool:
    """Whether what a program answered is hidden from its team: it may hold the sealed items themselves (G-2)."""
    return row.answers is not None and sight.sealed and not sight.staff and sight.level not in ("full", "top")


def counts_alone(found: Mapping[str, Any]) -> dict[str, Any]:
    """Problems by rule and number; their places and what they quote would show what was answered."""
    return {**found, "problems": [], "listed": 0}


def program_log(session: Session, office: Office, viewer: Viewer, submission_id: str, part: Part) -> str:
    """What the program of a submission printed, as far as this viewer may read it (G-2)."""
    row = _own(session, viewer, submission_id)
    at = _desk(session, office, viewer, row.campaign_id)
    return view.program_log(session, office, row, at.window(row), at.sight(row), part)


def _result(
    session: Session, at: Desk, row: Submission, held: Result, sight: Sight, *, superseded: bool = False
) -> SeenResult | None:
    if sight.level == "none":
        return None
    rung = ladder.rung(session, at, row) if sight.level == "ladder" else None
    data = visible_result(content(at.office, held), sight, rung)
    if hides_answers(row, sight):  # a program can choose its answers until their digest says what it likes
        data["digests"] = {name: one for name, one in data.get("digests", {}).items() if name != "submission"}
    plain_level = sight.level in ("full", "top")
    return SeenResult(
        key=held.key if plain_level else "",
        level=sight.level,
        data=data if at.viewer.staff or not at.campaign.sealed else without_seed(data),
        provenance=provenance(session, at.plan, held),
        at=held.at if plain_level else None,
        superseded=superseded,
    )
