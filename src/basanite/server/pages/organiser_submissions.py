"""Submissions of all teams with what may be done to them (P-23), and re-scorings, each previewed first (P-7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.actions import references, rescoring, two_people
from basanite.campaign.actions.moves import Move, moves
from basanite.campaign.actions.overview import team_names
from basanite.campaign.actions.registry import every_action
from basanite.campaign.intake import standings
from basanite.campaign.model.refusals import missing
from basanite.campaign.results import visibility
from basanite.campaign.results.views import SeenSubmission
from basanite.campaign.store.tables import Batch, Reference
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages import templates
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_data import words_of
from basanite.server.pages.organiser_frame import BASE, ConfirmPage, Organiser, at, name_of, perform
from basanite.server.pages.submissions import page_key, program_logs, read_page_key
from basanite.server.pages.templates import Paged
from basanite.server.pages.values import Values, values_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
Given = Annotated[str, Query(max_length=200)]
STATES = {
    "received": sentence("received"),
    "running": sentence("running"),
    "validating": sentence("being validated"),
    "scoring": sentence("being scored"),
    "scored": sentence("scored"),
    "invalid": sentence("not valid"),
    "failed": sentence("failed (our fault)"),
}
STANDINGS = {
    "on time": sentence("on time"),
    "late": sentence("late"),
    "withdrawn": sentence("withdrawn"),
    "disqualified": sentence("disqualified"),
    "baseline": sentence("baseline"),
}


@dataclass(frozen=True)
class Wanted:
    """What the list is narrowed to."""

    window: str = ""
    team: str = ""
    state: str = ""
    standing: str = ""


@dataclass(frozen=True)
class SubmissionsPage:
    """One page of the list."""

    template = "organiser/submissions.html"
    title: str
    found: Paged[SeenSubmission]
    wanted: Wanted
    windows: tuple[tuple[str, str], ...]
    teams: tuple[tuple[str, str], ...]
    states: tuple[tuple[str, str], ...]
    standings: tuple[tuple[str, str], ...]

    @property
    def is_filtered(self) -> bool:
        """Whether the list is narrowed to something."""
        return self.wanted != Wanted()


@ROUTER.get(f"{BASE}/submissions")
def list_submissions(
    request: Request,
    caller: Organiser,
    window: Given = "",
    team: Given = "",
    state: Given = "",
    standing: Given = "",
    after: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """The page."""
    # Seven parameters: FastAPI reads each part of the call from one of its own.
    row, campaign = caller.here
    wanted = Wanted(window, team, state if state in STATES else "", standing if standing in STANDINGS else "")
    chosen = {"window": window, "team_id": team, "state": wanted.state, "standing": wanted.standing}
    with caller.office.reading() as session:
        found = visibility.submissions(
            session,
            caller.office,
            caller.viewer,
            row.id,
            visibility.SubmissionFilter(
                **{name: value or None for name, value in chosen.items()},
                before=read_page_key(after),
                limit=templates.ROWS + 1,
            ),
        )
        known = team_names(session, row.id)
    page = SubmissionsPage(
        say("Submissions of all teams"),
        templates.page_of(
            found,
            key=page_key,
            path=at(caller, "/submissions"),
            after=after,
            window=window,
            team=team,
            state=wanted.state,
            standing=wanted.standing,
        ),
        wanted,
        tuple((one.id, one.title) for one in campaign.windows),
        tuple(known.items()),
        tuple((name, str(say(word))) for name, word in STATES.items()),
        tuple((name, str(say(word))) for name, word in STANDINGS.items()),
    )
    return show(request, caller, page)


RUN_ADDRESS = f"{BASE}/submissions/{{run}}"


DEEDS = {
    name.partition(" ")[2]: one.confirm
    for name, one in every_action().items()
    if name.startswith("submission ") and one.confirm is not None
}
"""What can be done to a submission, in words."""


@dataclass(frozen=True)
class RunPage:
    """One submission with all that may be done to it."""

    template = "organiser/run.html"
    title: str
    one: SeenSubmission
    window: str
    by: str
    deeds: tuple[tuple[str, str], ...]
    """Name and title of what may be done now."""
    values: Values | None
    like: str
    """A near-identical submission of another team, if there is one (X-7)."""
    logs: tuple[tuple[str, str], ...] = ()
    """What its program printed, each with a title."""


@ROUTER.get(RUN_ADDRESS)
def show_run(request: Request, caller: Organiser, run: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        one = _submission_here(session, caller, run)
        page = RunPage(
            say("{team}, submission {number}", team=one.team, number=one.number),
            one,
            caller.here[1].window(one.window).title,
            name_of(session, caller, one.person_id),
            tuple((name, str(say(DEEDS[name].title))) for name in possible_deeds(one)),
            values_of(one.result.data) if one.result else None,
            one.similar_to or "",
            program_logs(session, caller, one),
        )
    return show(request, caller, page)


@ROUTER.get(f"{RUN_ADDRESS}/{{deed}}")
def ask_about_run(request: Request, caller: Organiser, run: str, deed: str) -> Response:
    """Before it is done."""
    return show(request, caller, _deed_page(caller, run, deed))


@ROUTER.post(f"{RUN_ADDRESS}/{{deed}}")
def act_on_run(request: Request, caller: Organiser, form: PostedForm, run: str, deed: str) -> Response:
    """Do it, with its reason; voiding asks a second organiser where the campaign says so."""
    if deed not in DEEDS:
        raise missing("act")
    given = {"run": run, "reason": form.text("reason")}
    again, then = partial(_deed_page, caller, run, deed, given["reason"]), f"/submissions/{run}"
    words = say_plain(DEEDS[deed].done)
    return perform(request, caller, f"submission {deed}", given, again=again, then=then, words=words)


def possible_deeds(one: SeenSubmission) -> Iterator[str]:
    """What may be done to a submission, by its standing and state."""
    if one.standing in standings.COUNTING:
        yield from ("withdraw", "void")
        if one.standing == "late" and one.admitted is None:
            yield "admit"
        if one.type != "primary" and one.state in ("scored", "scoring"):
            yield "primary"
        if one.standing != "baseline":
            yield "baseline"
    yield "refund"


def _submission_here(session: Session, caller: Caller, run: str) -> SeenSubmission:
    """A submission of this campaign; one of another is not here, no matter who asks."""
    one = visibility.submission(session, caller.office, caller.viewer, run)
    if one.campaign != caller.here[0].slug:
        raise missing("submission")
    return one


def _deed_page(caller: Caller, run: str, deed: str, given: str = "") -> ConfirmPage:
    if deed not in DEEDS:
        raise missing("act")
    with caller.office.reading() as session:
        one = _submission_here(session, caller, run)
    what = DEEDS[deed]
    return ConfirmPage(
        say(what.title),
        (say(what.words),),
        at(caller, f"/submissions/{run}/{deed}"),
        say(what.button),
        at(caller, f"/submissions/{run}"),
        facts=(
            (str(say("Team")), one.team),
            (str(say("Submission {number}", number=one.number)), one.label),
            (str(say("Window")), caller.here[1].window(one.window).title),
        ),
        given=given,
        two=deed == "void" and two_people.needs_two(caller.here[1], "void"),
        safe=what.safe,
    )


RESCORING_ADDRESS = f"{BASE}/rescoring"
MOST_BATCHES = 200


@dataclass(frozen=True)
class BatchLine:
    """One re-scoring."""

    id: str
    place: str
    version: int
    state: str
    reason: str
    by: str
    made: datetime


@dataclass(frozen=True)
class RescoringPage:
    """All re-scorings, the newest first, and a form for another."""

    template = "organiser/rescoring.html"
    title: str
    batches: tuple[BatchLine, ...]
    references: tuple[tuple[str, str], ...]
    chosen: str = ""
    reason: str = ""


@ROUTER.get(RESCORING_ADDRESS)
def list_rescorings(request: Request, caller: Organiser, reference: str = "") -> Response:
    """The page."""
    return show(request, caller, _rescoring_page(caller, reference[:100]))


@ROUTER.post(RESCORING_ADDRESS)
def preview_rescoring(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Begin a re-scoring: everything is computed, and nothing changes."""
    given = {"reference": form.text("reference"), "reason": form.text("reason")}
    words, again = (
        say_plain("The results are being computed. Nothing changes until you apply them."),
        partial(_rescoring_page, caller),
    )
    again = partial(_rescoring_page, caller, given["reference"], given["reason"])
    return perform(request, caller, "rescore preview", given, again=again, then="/rescoring", words=words)


def _rescoring_page(caller: Caller, chosen: str = "", reason: str = "") -> RescoringPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = [_batch_line(session, caller, one) for one in rescoring.batches(session, row.id)[::-1][:MOST_BATCHES]]
        versions = [one for one in references.versions(session, row.id)[::-1] if one.state in ("proposed", "active")]
    choices = tuple(
        (one.id, say_plain("{place}, version {version}", place=words_of(one), version=one.version))
        for one in sorted(versions, key=lambda one: one.state != "proposed")
    )
    return RescoringPage(say("Re-scoring"), tuple(found), choices, chosen, reason)


def _batch_line(session: Session, caller: Caller, one: Batch) -> BatchLine:
    truth = session.get(Reference, one.reference_id)
    place, version = ("", 0) if truth is None else (words_of(truth), truth.version)
    return BatchLine(one.id, place, version, one.state, one.reason, name_of(session, caller, one.by), one.made)


BATCH_ADDRESS = f"{BASE}/rescoring/{{batch}}"
MOST_MOVES = 200
Deed = Literal["apply", "cancel"]


@dataclass(frozen=True)
class BatchPage:
    """What a re-scoring would change."""

    template = "organiser/rescoring_batch.html"
    title: str
    id: str
    place: str
    version: int
    state: str
    reason: str
    by: str
    made: datetime
    ended: datetime | None
    waiting: int
    failed: int
    changed: int
    moved: int
    total: int
    late: int
    """Submissions that were scored since it began."""
    rows: tuple[Move, ...]
    more: str = ""
    """The address of the next rows, if there are any."""


@ROUTER.get(BATCH_ADDRESS)
def show_batch(
    request: Request, caller: Organiser, batch: str, start: Annotated[int, Query(ge=0, le=10**7)] = 0
) -> Response:
    """The page."""
    return show(request, caller, _batch_page(caller, batch, start))


@ROUTER.post(f"{BATCH_ADDRESS}/renew")
def renew_batch(request: Request, caller: Organiser, form: PostedForm, batch: str) -> Response:
    """Take in what was scored since the re-scoring began."""
    words, again = say_plain("New submissions are being scored, too."), partial(_batch_page, caller, batch)
    then = f"/rescoring/{batch}"
    return perform(request, caller, "rescore renew", {"batch": batch}, again=again, then=then, words=words)


@ROUTER.get(f"{BATCH_ADDRESS}/{{deed}}")
def ask_about_batch(request: Request, caller: Organiser, batch: str, deed: Deed) -> Response:
    """Before it is applied or cancelled."""
    return show(request, caller, _batch_confirm_page(caller, batch, deed))


@ROUTER.post(f"{BATCH_ADDRESS}/{{deed}}")
def decide_batch(request: Request, caller: Organiser, form: PostedForm, batch: str, deed: Deed) -> Response:
    """Apply it, with a second organiser where the campaign says so, or cancel it."""
    applied = say_plain("Applied. The new results are now active, and teams are notified.")
    words = applied if deed == "apply" else say_plain("Canceled. Nothing has changed.")
    again, then = partial(_batch_confirm_page, caller, batch, deed), f"/rescoring/{batch}"
    return perform(request, caller, f"rescore {deed}", {"batch": batch}, again=again, then=then, words=words)


def _batch_here(session: Session, caller: Caller, batch: str) -> Batch:
    """A re-scoring of this campaign; one of another is not here, no matter who asks."""
    row = session.get(Batch, batch)
    if row is None or row.campaign_id != caller.here[0].id:
        raise missing("re-scoring")
    return row


def _batch_page(caller: Caller, batch: str, start: int = 0) -> BatchPage:
    with caller.office.reading() as session:
        row = _batch_here(session, caller, batch)
        truth = session.get_one(Reference, row.reference_id)
        found = moves(session, row)
        late = rescoring.newcomers(session, row, truth) if row.state in ("running", "ready") else ()
        by = name_of(session, caller, row.by)
    part = Part(start, at(caller, f"/rescoring/{batch}"))
    return batch_page(row, truth, found, part, by=by, late=len(late))


@dataclass(frozen=True, slots=True)
class Part:
    """From where on a long table is shown, and the address of its page."""

    start: int
    path: str


def batch_page(row: Batch, truth: Reference, found: tuple[Move, ...], part: Part, *, by: str, late: int) -> BatchPage:
    """What is to be said about a re-scoring: what changes stands first."""
    ordered = sorted(found, key=lambda one: (not one.moves, not one.changes))
    after = part.start + MOST_MOVES
    shown = tuple(ordered[part.start : after])
    return BatchPage(
        say("Re-scoring with version {version}", version=truth.version),
        row.id,
        words_of(truth),
        truth.version,
        row.state,
        row.reason,
        by,
        row.made,
        row.ended,
        sum(one.state == "waiting" for one in found),
        sum(one.state == "failed" for one in found),
        sum(one.changes for one in found),
        sum(one.moves for one in found),
        len(found),
        late,
        shown,
        f"{part.path}?start={after}" if after < len(ordered) else "",
    )


def _batch_confirm_page(caller: Caller, batch: str, deed: Deed) -> ConfirmPage:
    page = _batch_page(caller, batch)
    with caller.office.reading() as session:
        two = deed == "apply" and rescoring.takes_two(session, _batch_here(session, caller, batch))
    facts = (
        (str(say("Reference")), page.place),
        (str(say("Version")), str(page.version)),
        (str(say("Values that change")), f"{page.changed:,}"),
        (str(say("Runs that change rank")), f"{page.moved:,}"),
        (str(say("Reason")), page.reason),
    )
    apply = deed == "apply"
    return ConfirmPage(
        say("Activate new results") if apply else say("Cancel re-scoring"),
        (
            say("The new version and its results become active everywhere. Old results are kept as history.")
            if apply
            else say("Nothing changes. A version that was only proposed is rejected."),
        ),
        at(caller, f"/rescoring/{batch}/{deed}"),
        say("Apply") if apply else say("Cancel re-scoring"),
        at(caller, f"/rescoring/{batch}"),
        facts=facts,
        reason=False,
        two=two,
    )
