"""The team's runs: all of them, one with its state, problems and values, and the PI's certification (P-24)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy.orm import Session

from basanite.campaign.actions import appeals, plans
from basanite.campaign.intake import acceptance, standings
from basanite.campaign.intake.open_uploads import LeftUpload, OpenUpload, left_uploads, open_uploads
from basanite.campaign.intake.standings import MissingPrimary, missing_primaries
from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.programs.view import Part, SeenProgram, compute_left
from basanite.campaign.results import visibility
from basanite.campaign.results.own_report import own_report
from basanite.campaign.results.views import SeenSubmission
from basanite.campaign.store.tables import Submission
from basanite.campaign.work.panels import answers
from basanite.reports.report import RECORD_COLUMNS
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages import templates
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_results import Kind, as_file
from basanite.server.pages.templates import Paged
from basanite.server.pages.values import Values, values_of
from basanite.server.roles import Caller, allow
from basanite.work.result_files import spreadsheet

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class SubmissionsPage:
    """One page of the list."""

    template = "runs/submissions.html"
    title: str
    found: Paged[SeenSubmission]
    windows: tuple[tuple[str, str], ...]
    """Id and title of each window, to choose from."""
    window: str
    all_teams: bool
    can_submit: bool
    without_primary: tuple[MissingPrimary, ...] = ()
    """Open windows in which the team has no primary run yet (C46)."""
    uploads: tuple[OpenUpload, ...] = ()
    left: tuple[LeftUpload, ...] = ()


@ROUTER.get("/campaigns/{slug}/submissions")
def show_submissions(
    request: Request,
    caller: Annotated[Caller, allow("member", "evaluation")],
    window: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = visibility.submissions(
            session,
            caller.office,
            caller.viewer,
            row.id,
            visibility.SubmissionFilter(window=window or None, before=read_page_key(after), limit=templates.ROWS + 1),
        )
        team = caller.viewer.team
        lacking = missing_primaries(session, row.id, team, caller.now) if team else ()
        held = open_uploads(session, caller.office, team) if team else ()
        left = left_uploads(session, caller.office, row.id, team) if team else ()
    path = f"/campaigns/{row.slug}/submissions"
    page = SubmissionsPage(
        say("Submissions"),
        templates.page_of(found, key=page_key, path=path, after=after, window=window),
        tuple((one.id, one.title) for one in campaign.windows),
        window,
        caller.viewer.staff,
        caller.viewer.team is not None,
        lacking,
        held,
        left,
    )
    return show(request, caller, page)


def page_key(one: SeenSubmission) -> str:
    """Where a page of the list ended."""
    return f"{one.received.isoformat()}~{one.id}"


def read_page_key(after: str | None) -> tuple[datetime, str] | None:
    """What `key_of` said, read back from an address."""
    if not after:
        return None
    moment, _, last = after.partition("~")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        raise missing("page") from None
    if at.tzinfo is None:
        raise missing("page")
    return at, last


RUN_ADDRESS = "/campaigns/{slug}/submissions/{run}"
Looker = Annotated[Caller, allow("member", "evaluation")]
Member = Annotated[Caller, allow("member")]
StepState = Literal["done", "now", "bad", ""]
LISTED = 200
STEPS = (sentence("Received"), sentence("Validated"), sentence("Scored"))
BLIND_STEPS = (sentence("Received"), sentence("Validated"), sentence("Accepted"))
RUN_STEP = sentence("Run")
REACHED = {"received": 1, "running": 1, "validating": 1, "scoring": 2, "scored": 3, "accepted": 3}


@dataclass(frozen=True)
class Step:
    """One step on the way of a submission."""

    text: str
    state: StepState


@dataclass(frozen=True)
class SubmissionPage:
    """Everything about one submission that its reader may see."""

    template = "runs/submission.html"
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
    logs: tuple[tuple[str, str], ...] = ()
    """What its program printed, each with a title."""
    compute: tuple[int, int] | None = None
    """Minutes of computing time that the team has used in the window, and how many it has."""
    interim: bool = False
    """Whether its window is open, so that this is one of several looks at the same data (S-33)."""
    transcripts: bool = False
    """Whether it holds transcripts that its reader may see (L-4)."""


@ROUTER.get(RUN_ADDRESS)
def show_submission(request: Request, caller: Looker, run: str) -> Response:
    """The page."""
    return show(request, caller, _submission_page(caller, run))


@ROUTER.get(f"{RUN_ADDRESS}/state")
def show_state(caller: Looker, run: str) -> Response:
    """The state alone, for the page to look whether it has changed."""
    with caller.office.reading() as session:
        one = _find_submission(session, caller, run)
        # only while its own state says that it waits, so that time tells no score (M68)
        row = session.get_one(Submission, one.id)
        place = None if one.final else acceptance.place(session, caller.office, row)
    ahead = place.ahead if place else None
    return JSONResponse({"state": one.state, "final": one.final, "ahead": ahead, "result": one.result is not None})


@ROUTER.get(f"{RUN_ADDRESS}/problems.csv")
def problems_table(caller: Looker, run: str) -> Response:
    """All that validation found, for a spreadsheet (D-7)."""
    with caller.office.reading() as session:
        one = _find_submission(session, caller, run)
        found = visibility.every_problem(session, caller.office, caller.viewer, run)
    rows = [["" if one[name] is None else one[name] for name in RECORD_COLUMNS] for one in found["problems"]]
    name = f'attachment; filename="problems-{one.number}.csv"'
    return Response(spreadsheet(RECORD_COLUMNS, rows), media_type="text/csv", headers={"Content-Disposition": name})


@ROUTER.get(f"{RUN_ADDRESS}/result.{{kind}}")
def download_result(caller: Looker, run: str, kind: Kind) -> Response:
    """The own result as a file, with what its feedback level shows and no more (P-41)."""
    plan = plans.Plan(*caller.here, caller.plan_version)
    with caller.office.reading() as session:
        _find_submission(session, caller, run)
        view = visibility.run_view(session, caller.office, caller.viewer, run, plan)
    one = view.submission
    if one.result is None:
        raise missing("result")
    made = own_report(one, one.result, plan.campaign.title, view.figures)
    return as_file(made, f"result-{one.number}.{kind}")


@ROUTER.post(f"{RUN_ADDRESS}/withdraw")
def withdraw_submission(request: Request, caller: Member, form: PostedForm, run: str) -> Response:
    """Take a submission out of all comparisons."""

    def act(session: Session) -> None:
        standings.withdraw(session, caller.office, caller.actor, run, reason=form.text("reason"))

    return _change_run(request, caller, run, act, say_plain("The submission is withdrawn."))


@ROUTER.post(f"{RUN_ADDRESS}/primary")
def make_primary(request: Request, caller: Member, form: PostedForm, run: str) -> Response:
    """Make it the team's primary run while its window is open (C46)."""

    def act(session: Session) -> None:
        standings.choose_primary(session, caller.office, caller.actor, run)

    return _change_run(request, caller, run, act, say_plain("This is now your team's primary run."))


@ROUTER.post(f"{RUN_ADDRESS}/describe")
def describe_submission(request: Request, caller: Member, form: PostedForm, run: str) -> Response:
    """Say what the system is, in the fields that its track asks for (M77, P-31)."""

    def act(session: Session) -> None:
        words = {name: text for name, text in form.beginning("description-").items() if text}
        acceptance.describe(session, caller.office, caller.actor, run, words)

    return _change_run(request, caller, run, act, say_plain("The description is saved."))


def _change_run(request: Request, caller: Caller, run: str, act: Callable[[Session], None], words: str) -> Response:
    """Change a submission of this campaign, and go back to its page; or show the page with what was wrong."""
    try:
        with caller.office.writing() as session:
            _find_submission(session, caller, run)
            act(session)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _submission_page(caller, run), error)
    return go(caller, RUN_ADDRESS.format(slug=caller.here[0].slug, run=run), words)


def _submission_page(caller: Caller, run: str) -> SubmissionPage:
    plan = plans.Plan(*caller.here, caller.plan_version)
    with caller.office.reading() as session:
        view = visibility.run_view(session, caller.office, caller.viewer, run, plan)
        one = view.submission
        row = session.get_one(Submission, one.id)
        readable = answers.can_read(caller.viewer, plan, row) and answers.holds_transcripts(caller.office, row)
        logs = program_logs(session, caller, one)
        mine = caller.viewer.team if one.own and one.program else None
        used = compute_left(session, plan.row.id, view.window, mine) if mine else None
    found = one.problems or {}
    listed = tuple(found.get("problems", ()))[:LISTED]
    runs_own = one.own and not caller.viewer.staff
    return SubmissionPage(
        say("Submission {number}", number=one.number),
        one,
        view.window.title,
        view.sender,
        steps(one.state, blind=one.state == "accepted", program=one.program),
        view.place.ahead if view.place else None,
        view.place.within if view.place else None,
        listed,
        int(found.get("total", 0)),
        found.get("counts", {}),
        dict(Counter(found.get("counts", {})) - Counter(one["rule"] for one in listed)),
        values_of(one.result.data, view.figures) if one.result else None,
        view.superseded,
        one.result is not None and one.result.level in ("full", "top"),
        runs_own and one.standing in ("on time", "late"),
        runs_own,
        {name: str(one.description.get(name, "")) for name in ("text", *one.missing, *one.description)},
        view.can_choose,
        logs,
        used,
        view.interim,
        readable,
    )


def program_logs(session: Session, caller: Caller, one: SeenSubmission) -> tuple[tuple[str, str], ...]:
    """What the program of a submission printed, as far as its reader may see it."""
    if one.program is None:
        return ()
    parts: tuple[tuple[Part, bool, str], ...] = (
        ("smoke", one.program.smoke_log, say("Output on public items")),
        ("run", one.program.log, say("Output on sealed items")),
    )
    who = (session, caller.office, caller.viewer, one.id)
    return tuple((title, visibility.program_log(*who, part)) for part, there, title in parts if there)


def _find_submission(session: Session, caller: Caller, run: str) -> SeenSubmission:
    """A submission of this campaign; one of another is not here, no matter who asks."""
    one = visibility.submission(session, caller.office, caller.viewer, run)
    if one.campaign != caller.here[0].slug:
        raise missing("submission")
    return one


def steps(state: str, *, blind: bool = False, program: SeenProgram | None = None) -> tuple[Step, ...]:
    """The way of a submission with what is done.

    >>> [step.state for step in steps("scoring")]
    ['done', 'done', 'now']
    """
    words: tuple[str, ...]
    words, done = BLIND_STEPS if blind else STEPS, REACHED.get(state, 1)
    bad = {"invalid": 1, "failed": 2}.get(state)
    if program is not None:
        words = (words[0], RUN_STEP, *words[1:])
        done += state not in ("received", "running")
        if bad is not None and program.stage == "passed":
            bad += 1
        elif bad is not None:
            bad = 1
    if bad is not None:
        marks: list[StepState] = ["done" if at < bad else "bad" if at == bad else "" for at in range(len(words))]
    else:
        marks = ["done" if at < done else "now" if at == done else "" for at in range(len(words))]
    return tuple(Step(say(text), mark) for text, mark in zip(words, marks, strict=True))


CERTIFICATION_ADDRESS = "/campaigns/{slug}/certification/{window}"
MOST_RUNS = 200


@dataclass(frozen=True)
class AppealLine:
    """An appeal of the own team."""

    id: str
    number: int
    text: str
    state: str
    at: datetime
    deadline: datetime
    decision: str


@dataclass(frozen=True)
class CertificationPage:
    """The own results of a window, and what the PI may do about them."""

    template = "runs/certification.html"
    title: str
    window: str
    window_title: str
    ends: datetime | None
    running: bool
    certified: datetime | None
    runs: tuple[SeenSubmission, ...]
    appeals: tuple[AppealLine, ...]
    pi: bool
    text: str = ""


@ROUTER.get(CERTIFICATION_ADDRESS)
def show_certification(request: Request, caller: Annotated[Caller, allow("member")], window: str) -> Response:
    """The page."""
    return show(request, caller, _certification_page(caller, window))


@ROUTER.post(CERTIFICATION_ADDRESS)
def certify(request: Request, caller: Annotated[Caller, allow("pi")], form: PostedForm, window: str) -> Response:
    """Confirm the own results."""
    row, _ = caller.here
    try:
        with caller.office.writing() as session:
            appeals.certify(session, caller.office, caller.actor, row.id, window)
    except RefusedError as error:
        return refuse(request, caller, _certification_page(caller, window), error)
    return go(caller, _certification_address(caller, window), say_plain("Thank you. Your results are certified."))


@ROUTER.post(f"{CERTIFICATION_ADDRESS}/appeals")
def open_appeal(request: Request, caller: Annotated[Caller, allow("pi")], form: PostedForm, window: str) -> Response:
    """Contest a result."""
    row, _ = caller.here
    text, submission = form.text("text"), form.text("submission") or None
    try:
        with caller.office.writing() as session:
            made = appeals.open_appeal(
                session, caller.office, caller.actor, row.id, appeals.Objection(window, text, submission_id=submission)
            )
            number = made.number
    except RefusedError as error:
        return refuse(request, caller, _certification_page(caller, window, text), error)
    return go(
        caller,
        _certification_address(caller, window),
        say_plain("This is appeal {number}. The organizers decide.", number=number),
    )


@ROUTER.post(f"{CERTIFICATION_ADDRESS}/appeals/{{appeal}}/withdraw")
def withdraw_appeal(
    request: Request, caller: Annotated[Caller, allow("pi")], form: PostedForm, window: str, appeal: str
) -> Response:
    """Take an appeal back."""
    with caller.office.writing() as session:
        appeals.withdraw(session, caller.office, caller.actor, appeal)
    return go(caller, _certification_address(caller, window), say_plain("The appeal is withdrawn."))


def _certification_address(caller: Caller, window: str) -> str:
    return CERTIFICATION_ADDRESS.format(slug=caller.here[0].slug, window=window)


def _certification_page(caller: Caller, window: str, text: str = "") -> CertificationPage:
    row, campaign = caller.here
    plan, team = plans.find_window(campaign, window), caller.team
    with caller.office.reading() as session:
        ends = appeals.certification_ends(session, row.id, window)
        runs = visibility.submissions(
            session, caller.office, caller.viewer, row.id, visibility.SubmissionFilter(window=window, limit=MOST_RUNS)
        )
        mine = [one for one in appeals.appeals(session, row.id, team_id=team) if one.window == window]
        return CertificationPage(
            say("Certification"),
            window,
            plan.title,
            ends,
            ends is not None and caller.now < ends,
            appeals.certification_times(session, row.id, window).get(team),
            runs,
            tuple(
                AppealLine(one.id, one.number, one.text, one.state, one.at, one.deadline, one.decision) for one in mine
            ),
            caller.viewer.pi,
            text,
        )
