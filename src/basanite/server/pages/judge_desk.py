"""The judge's desk: consent, declaration, breaks, feedback and the end, and the page that fits the step (P-22)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.teams import teams_to_join
from basanite.campaign.work.panels import enrolment, judge_work
from basanite.campaign.work.panels.desk import Desk, Feedback
from basanite.server.catalogue import plural, say, sentence
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import Page, go, refuse, show
from basanite.server.pages.judge import (
    BASE,
    At,
    Judge,
    Lines,
    act_on_desk,
    at_of,
    base_of,
    desk_of,
    own_statement,
    panel_of,
    pay_words,
)
from basanite.server.pages.judge_items import criteria_page, item_page, rank_page
from basanite.server.pages.judge_questions import ShownBlock, flowing, shown_blocks
from basanite.server.roles import Caller
from basanite.work.controls import meets_expectation
from basanite.work.items import Item
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ConsentPage:
    """What a judge agrees to."""

    template = "judging/consent.html"
    title: str
    at: At
    version: str
    text: str
    facts: tuple[tuple[str, str], ...] = ()


def consent_page(caller: Caller, found: Desk) -> ConsentPage:
    """The page with the text that holds now."""
    text = found.scheme.consent
    return ConsentPage(
        say("Your consent"), at_of(caller, found), text.version, flowing(text.text), tuple(_facts(found.scheme))
    )


def _facts(scheme: Scheme) -> Iterator[tuple[str, str]]:
    if scheme.pay.is_paid:
        yield say("Pay"), pay_words(scheme.pay)
    yield say("What is timed"), say("The time that an item is visible, without pauses.")
    yield say("Who sees your answers"), say("The organizers, who can see who gave an answer; never another judge.")
    yield say("Stopping"), say("At any time, without giving a reason. Completed work is paid.")


@ROUTER.post(f"{BASE}/consent")
def consent(caller: Judge, form: PostedForm, panel: str) -> Response:
    """Accept the version that was shown."""
    version = form.text("version")
    return act_on_desk(
        caller, panel, lambda session, at: enrolment.consent(session, caller.office, caller.actor, at, version)
    )


@dataclass(frozen=True)
class TeamLine:
    """A team that a judge may be close to."""

    id: str
    name: str
    chosen: bool = False


@dataclass(frozen=True)
class DeclarePage:
    """What a judge says before the first item."""

    template = "judging/declare.html"
    title: str
    at: At
    known: tuple[tuple[str, bool], ...]
    """Languages of the panel, and whether they are ticked."""
    languages: str
    teams: tuple[TeamLine, ...]


def declare_page(session: Session, caller: Caller, found: Desk, filled: Form | None = None) -> DeclarePage:
    """The page, empty or with what was filled in."""
    row, _ = caller.here
    before = enrolment.declared_by(session, caller.office, found.panel_id, caller.actor.id)
    held = (before.languages, before.conflicts) if before else ((), ())
    languages, conflicts = held if filled is None else (languages_of(filled), filled.all("conflict"))
    known = tuple((code, code in languages) for code in found.scheme.languages)
    others = ", ".join(code for code in languages if code not in found.scheme.languages)
    teams = tuple(TeamLine(team, name, team in conflicts) for team, name in teams_to_join(session, row.id))
    return DeclarePage(say("Languages and conflicts of interest"), at_of(caller, found), known, others, teams)


def languages_of(form: Form) -> Sequence[str]:
    """Ticked and written languages.

    >>> languages_of(Form({"language": ("1A",), "languages": ("sw, French",)}))
    ('1A', 'sw', 'French')
    """
    written = filter(None, map(str.strip, re.split(r"[,;\n]", form.text("languages"))))
    return (*form.all("language"), *written)


@ROUTER.get(f"{BASE}/declare")
def show_declaration(request: Request, caller: Judge, panel: str) -> Response:
    """The page once more, with what was declared."""
    with caller.office.reading() as session:
        page = declare_page(session, caller, desk_of(session, caller, panel))
    return show(request, caller, page)


@ROUTER.post(f"{BASE}/declare")
def declare(request: Request, caller: Judge, form: PostedForm, panel: str) -> Response:
    """Keep what was declared."""
    try:
        with caller.office.writing() as session:
            said = {"languages": languages_of(form), "conflicts": form.all("conflict")}
            enrolment.declare(session, caller.office, caller.actor, panel_of(session, caller, panel), **said)
    except RefusedError as error:
        with caller.office.reading() as session:
            page = declare_page(session, caller, desk_of(session, caller, panel), form)
        return refuse(request, caller, page, error)
    return go(caller, base_of(caller, panel))


@dataclass(frozen=True)
class RestPage:
    """Time to do something else."""

    template = "judging/rest.html"
    title: str
    at: At
    words: str
    button: str
    back: bool = False
    """Whether the last answer can still be corrected."""


def rest_page(caller: Caller, found: Desk) -> RestPage:
    """The page of a pause, or of the break after a round."""
    at = at_of(caller, found)
    if found.stage == "paused":
        words = say("Your answers are saved, and the clock is stopped. Continue today or another day.")
        return RestPage(say("Paused"), at, words, say("Continue"))
    back = bool(found.last)
    words = say("Time for a break. You can start the next round now or on another day.")
    return RestPage(say("Round {round} complete", round=found.round), at, words, say("Next round"), back)


@ROUTER.post(f"{BASE}/go-on")
def go_on(caller: Judge, form: PostedForm, panel: str) -> Response:
    """After a pause, a break, or the feedback of a training item."""
    return act_on_desk(caller, panel, lambda session, at: judge_work.go_on(session, caller.office, caller.actor, at))


@ROUTER.post(f"{BASE}/pause")
def pause(caller: Judge, form: PostedForm, panel: str) -> Response:
    """Stop for now."""
    return act_on_desk(caller, panel, lambda session, at: judge_work.pause(session, caller.office, caller.actor, at))


@dataclass(frozen=True)
class Compared:
    """One answer beside the expected one."""

    title: str
    said: str
    expected: str
    right: bool | None = None


@dataclass(frozen=True)
class FeedbackPage:
    """What the training item should have got."""

    template = "judging/feedback.html"
    title: str
    at: At
    blocks: tuple[ShownBlock, ...]
    compared: tuple[Compared, ...]
    keys: tuple[tuple[str, str], ...] = ()


def feedback_page(caller: Caller, found: Desk, told: Feedback) -> FeedbackPage:
    """The page between two items of the training."""
    title = say("As expected") if told.right else say("Not as expected")
    blocks = shown_blocks(found.scheme, found.blocks, base_of(caller, found.name))
    return FeedbackPage(
        title,
        at_of(caller, found),
        blocks,
        tuple(_compared_answers(found, told)),
        ((str(say("Enter")), say("continue")),),
    )


def _compared_answers(found: Desk, told: Feedback) -> Iterator[Compared]:
    for question in found.scheme.questions:
        if question.id in told.expected:
            wanted, given = told.expected[question.id], told.given.get(question.id)
            right = meets_expectation(Item("", (), expected={question.id: wanted}), told.given)
            yield Compared(
                question.title or question.id, in_words(question, given), expected_words(question, wanted), right
            )


def expected_words(question: Question, wanted: Any) -> str:
    """What was expected: an answer, a range, or errors at a place.

    >>> expected_words(Question("rating", "stars", "How readable?"), {"min": 4})
    '4 to 5'
    """
    if not isinstance(wanted, Mapping):
        return in_words(question, wanted)
    if "overlaps" in wanted:
        return str(say("Error marked"))
    low, high = wanted.get("min", question.lo), wanted.get("max", question.hi)
    return str(say("{low} to {high}", low=f"{low:g}", high=f"{high:g}"))


def in_words(question: Question, value: Any) -> str:
    """An answer as people say it.

    >>> in_words(Question("rating", "stars", "How readable?"), 4.0)
    '4'
    """
    if value is None or value == "":
        return str(say("nothing"))
    if question.widget == "spans":
        return str(plural(len(value), "{count} error", "{count} errors"))
    titles = {option.value: option.title for option in question.options}
    return titles.get(value, value) if isinstance(value, str) else f"{value:g}"


ENDED = {
    "closed": (sentence("The panel is closed"), sentence("Thank you for your work. Your answers are saved.")),
    "cancelled": (
        sentence("The panel was canceled"),
        sentence("This panel will not be used. Your answers are saved, and your work is paid."),
    ),
    "withdrawn": (sentence("You have stopped"), sentence("Thank you for your work. There is nothing else to do.")),
    "removed": (
        sentence("Your part has ended"),
        sentence("An organizer has canceled this panel. Your answers are saved, and your work is paid."),
    ),
    "precise": (
        sentence("No more judgments needed"),
        sentence("The planned precision is reached, so no new items are assigned. Your work is saved."),
    ),
    "draft": (sentence("Not yet"), sentence("You are ready. You will get an email when judging starts.")),
}


@dataclass(frozen=True)
class EndPage:
    """Nothing to judge here, and why."""

    template = "judging/end.html"
    title: str
    at: At
    words: str
    pay: Lines = ()
    back: bool = False
    """Whether the last answer can still be corrected."""


def end_page(session: Session, caller: Caller, found: Desk) -> EndPage:
    """The page of a desk with nothing on it."""
    pay = own_statement(session, caller, found.panel_id, found.scheme.pay)
    if found.stage == "done" and not found.of:
        return EndPage(
            say("Nothing for you yet"), at_of(caller, found), say("You will get an email when there is."), pay
        )
    if found.stage == "done":
        words = plural(found.done, "You judged {count} item.", "You judged all {count} items.")
        return EndPage(say("You have finished"), at_of(caller, found), words, pay, bool(found.last))
    heading, sentences = ENDED[found.why]
    return EndPage(say(heading), at_of(caller, found), say(sentences), pay)


@ROUTER.get(BASE)
def desk(request: Request, caller: Judge, panel: str, again: str = "") -> Response:
    """What the judge has to do now; with `again` the last answer, to correct it."""
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel, again=bool(again))
        page = page_of(session, caller, found)
    if found.assignment and not found.seen:
        with caller.office.writing() as session:  # only then: anyone who writes waits for all others who do
            judge_work.mark_shown(session, caller.office, caller.actor, found.panel_id, found.assignment)
    return show(request, caller, page)


def page_of(session: Session, caller: Caller, found: Desk) -> Page:
    """The page of a desk."""
    if found.feedback is not None:
        return feedback_page(caller, found, found.feedback)
    if found.stage in PLAIN:
        return PLAIN[found.stage](caller, found)
    return (declare_page if found.stage == "declare" else end_page)(session, caller, found)


PLAIN: Mapping[str, Callable[[Caller, Desk], Page]] = {
    "consent": consent_page,
    "training": item_page,
    "item": item_page,
    "rank": rank_page,
    "criteria": criteria_page,
    "break": rest_page,
    "paused": rest_page,
}
