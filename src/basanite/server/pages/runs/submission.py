"""One submission: its state as it changes, what is wrong with it line by line, its values, its receipts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy.orm import Session

from basanite.campaign.intake import describing, standings
from basanite.campaign.intake import submissions as held
from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.people.persons import personal
from basanite.campaign.results import seeing
from basanite.campaign.results.seen import SeenSubmission
from basanite.campaign.store.tables import Submission
from basanite.judging.combining.files import spreadsheet
from basanite.reports.kinds.validating import RECORD_COLUMNS
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.runs.values import Values, values_of
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/submissions/{run}"
Looker = Annotated[Caller, allow("member", "evaluation")]
StepState = Literal["done", "now", "bad", ""]
LISTED = 200
STEPS = (sentence("Received"), sentence("Checked"), sentence("Scored"))
BLIND_STEPS = (sentence("Received"), sentence("Checked"), sentence("Accepted"))
REACHED = {"received": 1, "validating": 1, "scoring": 2, "scored": 3, "accepted": 3}


@dataclass(frozen=True)
class Step:
    """One step on the way of a submission."""

    text: str
    state: StepState


@dataclass(frozen=True)
class SubmissionPage:
    """Everything about one submission that its reader may see."""

    title: str
    one: SeenSubmission
    window: str
    by: str
    steps: tuple[Step, ...]
    ahead: int | None
    """How many wait before it; None once it is through."""
    bound: timedelta | None
    problems: tuple[Mapping[str, Any], ...]
    problem_total: int
    counts: Mapping[str, int]
    unlisted: Mapping[str, int]
    """By rule, how many problems are not listed on the page."""
    values: Values | None
    superseded: int
    """How many older results there are."""
    score_receipt: bool
    """Whether the score is released, so that there is a receipt of it (X-6)."""
    can_withdraw: bool
    can_describe: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)
    """The fields of the description, those that the track asks for included."""
    can_choose: bool = False
    """Whether the team may make it its primary run now (C46)."""
    interim: bool = False
    """Whether its window is open, so that this is one of several looks at the same data (S-33)."""


@ROUTER.get(ADDRESS)
def submission(request: Request, caller: Looker, run: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, run))


@ROUTER.get(f"{ADDRESS}/state")
def state(caller: Looker, run: str) -> Response:
    """The state alone, for the page to look whether it has changed."""
    with caller.office.reading() as session:
        one = _seen(session, caller, run)
        place = _place(session, caller, one)
    return JSONResponse({"state": one.state, "final": one.final, "ahead": place[0], "result": one.result is not None})


@ROUTER.get(f"{ADDRESS}/problems.csv")
def problems_table(caller: Looker, run: str) -> Response:
    """All that validation found, for a spreadsheet (D-7)."""
    with caller.office.reading() as session:
        one = _seen(session, caller, run)
        found = seeing.every_problem(session, caller.office, caller.viewer, run)
    rows = [["" if one[name] is None else one[name] for name in RECORD_COLUMNS] for one in found["problems"]]
    name = f'attachment; filename="problems-{one.number}.csv"'
    return Response(spreadsheet(RECORD_COLUMNS, rows), media_type="text/csv", headers={"Content-Disposition": name})


@ROUTER.post(f"{ADDRESS}/withdraw")
def withdraw(request: Request, caller: Annotated[Caller, allow("member")], form: Filled, run: str) -> Response:
    """Take a submission out of all comparisons."""
    try:
        with caller.office.writing() as session:
            _seen(session, caller, run)
            standings.withdraw(session, caller.office, caller.actor, run, reason=form.text("reason"))
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller, run), error)
    return go(caller, ADDRESS.format(slug=caller.here[0].slug, run=run), said("The submission is withdrawn."))


@ROUTER.post(f"{ADDRESS}/primary")
def make_primary(request: Request, caller: Annotated[Caller, allow("member")], form: Filled, run: str) -> Response:
    """Make it the team's primary run while its window is open (C46)."""
    try:
        with caller.office.writing() as session:
            _seen(session, caller, run)
            standings.choose_primary(session, caller.office, caller.actor, run)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller, run), error)
    return go(caller, ADDRESS.format(slug=caller.here[0].slug, run=run), said("This is your team's primary run now."))


@ROUTER.post(f"{ADDRESS}/describe")
def describe(request: Request, caller: Annotated[Caller, allow("member")], form: Filled, run: str) -> Response:
    """Say what the system is, in the fields that its track asks for (M77, P-31)."""
    try:
        with caller.office.writing() as session:
            _seen(session, caller, run)
            words = {name: text for name, text in form.beginning("description-").items() if text}
            describing.describe(session, caller.office, caller.actor, run, words)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller, run), error)
    return go(caller, ADDRESS.format(slug=caller.here[0].slug, run=run), said("The description is kept."))


def _asked(caller: Caller, run: str) -> SubmissionPage:
    _, campaign = caller.here
    with caller.office.reading() as session:
        one = _seen(session, caller, run)
        ahead, bound = _place(session, caller, one)
        older = seeing.results(session, caller.office, caller.viewer, run)
        found = one.problems or {}
        listed = tuple(found.get("problems", ()))[:LISTED]
        figures = seeing.figures(session, caller.office, caller.viewer, run)
        return SubmissionPage(
            say("Submission {number}", number=one.number),
            one,
            campaign.window(one.window).title,
            personal(session, caller.office, one.person_id).name,
            steps(one.state, blind=one.state == "accepted"),
            ahead,
            bound,
            listed,
            int(found.get("total", 0)),
            found.get("counts", {}),
            dict(Counter(found.get("counts", {})) - Counter(one["rule"] for one in listed)),
            values_of(one.result.data, figures) if one.result else None,
            sum(result.superseded for result in older),
            one.result is not None and one.result.level in ("full", "top"),
            one.own and not caller.viewer.staff and one.standing in ("on time", "late"),
            one.own and not caller.viewer.staff,
            {name: str(one.description.get(name, "")) for name in ("text", *one.missing, *one.description)},
            one.own and not caller.viewer.staff and standings.can_choose(session, caller.office, run),
            caller.now < campaign.window(one.window).closes.utc,
        )


def _seen(session: Session, caller: Caller, run: str) -> SeenSubmission:
    """A submission of this campaign; one of another is not here, whoever asks."""
    one = seeing.submission(session, caller.office, caller.viewer, run)
    if one.campaign != caller.here[0].slug:
        raise missing("submission")
    return one


def steps(state: str, *, blind: bool = False) -> tuple[Step, ...]:
    """The way of a submission with what is done.

    >>> [step.state for step in steps("scoring")]
    ['done', 'done', 'now']
    """
    words = BLIND_STEPS if blind else STEPS
    if state in ("invalid", "failed"):
        bad = 1 if state == "invalid" else 2
        marks: list[StepState] = ["done" if at < bad else "bad" if at == bad else "" for at in range(len(words))]
        return tuple(Step(say(text), mark) for text, mark in zip(words, marks, strict=True))
    done = REACHED.get(state, 1)
    marks = ["done" if at < done else "now" if at == done else "" for at in range(len(words))]
    return tuple(Step(say(text), mark) for text, mark in zip(words, marks, strict=True))


def _place(session: Session, caller: Caller, one: SeenSubmission) -> tuple[int | None, timedelta | None]:
    """Where it stands in the queue; only while its own state says that it waits, so that time tells no score (M68)."""
    if one.final:
        return None, None
    place = held.place(session, caller.office, session.get_one(Submission, one.id))
    return (place.ahead, place.within) if place else (None, None)
