"""One submission as organisers see it, and what they may do to it; each act is confirmed, with a reason (P-23)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.intake import quotas, standings
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.organising import approvals, seconding
from basanite.campaign.results import seeing
from basanite.campaign.results.seen import SeenSubmission
from basanite.campaign.store.tables import Submission
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.confirm import ConfirmPage
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.pages.runs.values import Values, values_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/submissions/{{run}}"


@dataclass(frozen=True)
class Deed:
    """Something that can be done to a submission, in words."""

    title: str
    words: str
    button: str
    done: str
    safe: bool = False


DEEDS = {
    "withdraw": Deed(
        sentence("Withdraw it"),
        sentence("It leaves all comparisons. Its attempt stays spent, and nothing is deleted."),
        sentence("Withdraw"),
        sentence("The submission is withdrawn."),
    ),
    "void": Deed(
        sentence("Disqualify it"),
        sentence("It leaves all comparisons and is counted as disqualified. The team sees the reason."),
        sentence("Disqualify"),
        sentence("The submission is disqualified."),
    ),
    "admit": Deed(
        sentence("Admit it although late"),
        sentence("It enters ranks, groups and tests like one that was on time. The reason is kept."),
        sentence("Admit"),
        sentence("The submission is admitted."),
        safe=True,
    ),
    "primary": Deed(
        sentence("Make it the primary run"),
        sentence("After the window closed without one, this run stands for the team on the board."),
        sentence("Make it primary"),
        sentence("It is the primary run of its team now."),
        safe=True,
    ),
    "baseline": Deed(
        sentence("Show it as a baseline"),
        sentence("It stands on boards outside of ranks."),
        sentence("Make it a baseline"),
        sentence("It is a baseline now."),
    ),
    "refund": Deed(
        sentence("Give its attempt back"),
        sentence("The team may submit once more in the same period."),
        sentence("Give it back"),
        sentence("The attempt is given back."),
        safe=True,
    ),
}
ACTS: dict[str, Callable[..., object]] = {
    "withdraw": standings.withdraw,
    "admit": standings.admit_late,
    "primary": standings.designate_primary,
    "baseline": standings.mark_baseline,
}


@dataclass(frozen=True)
class RunPage:
    """One submission with all that may be done to it."""

    title: str
    one: SeenSubmission
    window: str
    by: str
    deeds: tuple[tuple[str, str], ...]
    """Name and title of what may be done now."""
    values: Values | None
    like: str
    """A near-identical submission of another team, if there is one (X-7)."""


@ROUTER.get(ADDRESS)
def run(request: Request, caller: Organiser, run: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        one = _seen(session, caller, run)
        page = RunPage(
            say("{team}, submission {number}", team=one.team, number=one.number),
            one,
            caller.here[1].window(one.window).title,
            name_of(session, caller, one.person_id),
            tuple((name, str(say(DEEDS[name].title))) for name in possible(one)),
            values_of(one.result.data) if one.result else None,
            one.similar_to or "",
        )
    return show(request, caller, page)


@ROUTER.get(f"{ADDRESS}/{{deed}}")
def ask(request: Request, caller: Organiser, run: str, deed: str) -> Response:
    """Before it is done."""
    return show(request, caller, _confirming(caller, run, deed))


@ROUTER.post(f"{ADDRESS}/{{deed}}")
def act(request: Request, caller: Organiser, form: Filled, run: str, deed: str) -> Response:
    """Do it, with its reason; voiding asks a second organiser where the campaign says so."""
    reason = form.text("reason")

    def doing(session: Session) -> object:
        _seen(session, caller, run)
        return _do(session, caller, run, deed, reason)

    again = lambda: _confirming(caller, run, deed, reason)  # noqa: E731
    words = said(DEEDS[deed].done) if deed in DEEDS else ""
    return done(request, caller, doing, again, at(caller, f"/submissions/{run}"), words)


def possible(one: SeenSubmission) -> Iterator[str]:
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


def _do(session: Session, caller: Caller, run: str, deed: str, reason: str) -> object:
    row, campaign = caller.here
    who = (session, caller.office, caller.actor)
    if deed not in DEEDS:
        raise missing("act")
    if not reason:
        raise refused("P-23", said("no reason is given"), said("say why; it is kept and shown to the team"), status=422)
    if deed == "refund":
        return quotas.refund(
            session, caller.office, session.get_one(Submission, run), reason=reason, actor=caller.actor
        )
    if deed != "void":
        return ACTS[deed](*who, run, reason=reason)
    if approvals.needs_two(campaign, "void"):
        return seconding.ask_to_void(*who, row.id, run, reason=reason)
    return standings.disqualify(*who, run, reason=reason)


def _seen(session: Session, caller: Caller, run: str) -> SeenSubmission:
    """A submission of this campaign; one of another is not here, whoever asks."""
    one = seeing.submission(session, caller.office, caller.viewer, run)
    if one.campaign != caller.here[0].slug:
        raise missing("submission")
    return one


def _confirming(caller: Caller, run: str, deed: str, given: str = "") -> ConfirmPage:
    if deed not in DEEDS:
        raise missing("act")
    with caller.office.reading() as session:
        one = _seen(session, caller, run)
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
        two=deed == "void" and approvals.needs_two(caller.here[1], "void"),
        safe=what.safe,
    )
