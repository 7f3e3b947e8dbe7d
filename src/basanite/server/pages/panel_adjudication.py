"""Adjudicators' pages: panels with disagreements, the queue of one, and one case at a time, by keys or mouse (M88).

An adjudicator sees what judges saw and what they said, distinguished by letters; no system, and nobody by name (X-4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.people.persons import personal
from basanite.campaign.work.panels import adjudication, monitor
from basanite.campaign.work.panels.adjudication import NONE_OF_THESE, Case, Decided
from basanite.campaign.work.panels.lookup import panel_named
from basanite.campaign.work.panels.sources import shown_image
from basanite.reports.wording import percent
from basanite.server.catalogue import plural, say, say_plain, sentence
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.judge import BOXED
from basanite.server.pages.judge_questions import QuestionField, ShownBlock, answers_of, question_fields, shown_blocks
from basanite.server.pages.organiser_frame import panel_with_scheme
from basanite.server.roles import Caller, allow
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

BASE = "/campaigns/{slug}/adjudicate"
PANEL = f"{BASE}/{{panel}}"
Adjudicator = Annotated[Caller, allow("adjudicator", "evaluation")]
OTHER = "other"
CODES = (
    ("overlooked", sentence("a judge overlooked something"), "q"),
    ("guidelines", sentence("the instructions say so"), "w"),
    ("borderline", sentence("borderline"), "e"),
    (OTHER, sentence("other reason"), "r"),
)
"""Why a case is decided as it is: the code that is kept, its words and its key."""
LISTED = 200


def at(caller: Caller, part: str = "") -> str:
    """The address of an adjudicator's page of this campaign."""
    return BASE.format(slug=caller.here[0].slug) + part


REASONS = ("text",)
"""Widgets whose answers are reasons in a judge's own words."""


def words_of(question: Question, value: Any) -> str:
    """An answer in words."""
    if value is None:
        return "–"
    if question.widget == "choice":
        return next((one.title for one in question.options if one.value == value), str(value))
    if question.widget == "spans":
        return _spans(question, value)
    if question.widget == "stars":
        return plural(int(value), "{count} star", "{count} stars").striptags()
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _spans(question: Question, value: Any) -> str:
    names = {one.value: one.title for one in question.categories}
    names |= {one.value: one.title for one in question.severities}
    if not value:
        return say_plain("no words are marked")
    marks = (
        " ".join(filter(None, (names.get(one.get("category", "")), names.get(one.get("severity", "")), _place(one))))
        for one in value
    )
    return ", ".join(marks)


def _place(one: Mapping[str, Any]) -> str:
    return f"{one['start']}–{one['end']}"


def answers_in_words(scheme: Scheme, answers: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Answers with their questions, reasons left out."""
    asked = (one for one in scheme.questions if one.widget not in REASONS)
    return tuple((one.title, words_of(one, answers.get(one.id))) for one in asked)


def in_one_line(scheme: Scheme, answers: Mapping[str, Any]) -> str:
    """Answers in one line; a single one without its question."""
    words = answers_in_words(scheme, answers)
    return words[0][1] if len(words) == 1 else "; ".join(f"{question}: {answer}" for question, answer in words)


ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class QueueCard:
    """A panel with its cases in numbers."""

    name: str
    title: str
    state: str
    open: int
    decided: int


@dataclass(frozen=True)
class QueuesPage:
    """All panels that have cases, those with open ones first."""

    template = "adjudication/queues.html"
    title: str
    address: str
    panels: tuple[QueueCard, ...]


@ROUTER.get(BASE)
def queues(request: Request, caller: Adjudicator) -> Response:
    """The page."""
    with caller.office.reading() as session:
        found = [
            _card(session, one)
            for one in monitor.overview(session, caller.here[0].id)
            if one.state in ("open", "closed")
        ]
        cards = tuple(sorted((one for one in found if one.open or one.decided), key=lambda one: -one.open)[:LISTED])
    return show(request, caller, QueuesPage(say("Adjudication"), at(caller), cards))


def _card(session: Session, one: monitor.PanelLine) -> QueueCard:
    cases = adjudication.queue(session, one.id, everything=True)
    waits = sum(each.state == "open" for each in cases)
    return QueueCard(one.name, one.title, one.state, waits, len(cases) - waits)


@dataclass(frozen=True)
class CaseLine:
    """One case in the queue."""

    id: str
    number: int
    state: str
    disagreement: float
    judgements: int


@dataclass(frozen=True)
class QueuePage:
    """The queue, and what all judges agree on."""

    template = "adjudication/queue.html"
    title: str
    address: str
    back: str
    first: str
    open: int
    decided: int
    unanimous: int
    """Items that all judges answered alike and nobody accepted yet."""
    cases: tuple[CaseLine, ...]
    more: int = 0

    @property
    def is_graded(self) -> bool:
        """Whether cases differ in how far judges are apart: two judges and a plain choice can only differ wholly."""
        return any(0 < one.disagreement < 1 for one in self.cases)


@ROUTER.get(PANEL)
def queue(request: Request, caller: Adjudicator, panel: str) -> Response:
    """The page."""
    return show(request, caller, _queue_page(caller, panel))


@ROUTER.post(f"{PANEL}/accept")
def accept(request: Request, caller: Adjudicator, panel: str, form: PostedForm) -> Response:
    """Let hold what all judges said of an item, for all such items at once."""
    try:
        with caller.office.writing() as session:
            row = panel_named(session, caller.here[0].id, panel)
            count = adjudication.accept_unanimous(session, caller.office, caller.actor, row.id)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _queue_page(caller, panel), error)
    words = plural(count, "{count} unanimous item is accepted.", "{count} unanimous items are accepted.")
    return go(caller, at(caller, f"/{panel}"), words.striptags())


def _queue_page(caller: Caller, name: str) -> QueuePage:
    with caller.office.reading() as session:
        panel, scheme = panel_with_scheme(session, caller, name)
        cases = adjudication.queue(session, panel.id, everything=True)
        alike = len(adjudication.unanimous(session, panel.id))
    ordered = sorted(cases, key=lambda one: one.state != "open")
    waits = sum(one.state == "open" for one in ordered)
    lines = tuple(
        CaseLine(one.id, number, one.state, one.disagreement, one.judgements)
        for number, one in enumerate(ordered[:LISTED], 1)
    )
    address = at(caller, f"/{name}")
    first = f"{address}/{ordered[0].id}" if waits else ""
    given = (waits, len(ordered) - waits, alike, lines, max(len(ordered) - LISTED, 0))
    return QueuePage(scheme.title, address, at(caller), first, *given)


@ROUTER.get(f"{PANEL}/images/{{image}}")
def picture(caller: Adjudicator, panel: str, image: str) -> Response:
    """A picture of this panel."""
    with caller.office.reading() as session:
        owner, _ = panel_with_scheme(session, caller, panel)
        held = shown_image(session, caller.office, caller.actor, owner.id, image)
    return Response(held.content, media_type=held.media, headers=BOXED)


CASE = f"{PANEL}/{{case}}"
MOST_KEYS = 8
"""Judgements that have a key of their own; 9 and 0 mean something else."""
KINDS = {
    "decided": sentence("decided"),
    "none": sentence("none of these"),
    "reopened": sentence("reopened"),
}


@dataclass(frozen=True)
class VoiceCard:
    """What one judge said."""

    who: str
    answers: tuple[tuple[str, str], ...]
    reasons: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """An answer that one or several judges gave."""

    value: str
    words: str
    who: str
    key: str = ""


@dataclass(frozen=True)
class Step:
    """One line of a case's history."""

    what: str
    words: str
    why: str
    who: str
    at: datetime


@dataclass(frozen=True)
class CasePage:
    """Everything that a decision needs, and nothing that tells the system."""

    template = "adjudication/case.html"
    title: str
    panel: str
    queue: str
    action: str
    left: int
    state: str
    """`open` or `decided`."""
    disagreement: str
    blocks: tuple[ShownBlock, ...]
    sides: bool
    voices: tuple[VoiceCard, ...]
    options: tuple[Option, ...]
    questions: tuple[QuestionField, ...]
    """For an answer that no judge gave."""
    codes: tuple[tuple[str, str, str], ...]
    history: tuple[Step, ...]
    skip: str = ""
    outcome: str = ""
    own: bool = False
    """Whether the reader judged the item: then it is for somebody else."""
    filled: Mapping[str, str] = field(default_factory=dict)


@ROUTER.get(CASE)
def case(request: Request, caller: Adjudicator, panel: str, case: str) -> Response:
    """The page."""
    return show(request, caller, _case_page(caller, panel, case))


@ROUTER.post(CASE)
def decide(request: Request, caller: Adjudicator, panel: str, case: str, form: PostedForm) -> Response:
    """Decide, and go on to the next case."""
    try:
        with caller.office.writing() as session:
            scheme, one = _case_of_panel(session, caller, panel, case)
            answers = _chosen_answers(scheme, one, form)
            adjudication.decide(session, caller.office, caller.actor, case, answers, _reason(form))
    except RefusedError as error:
        return _again(request, caller, panel, case, form, error)
    with caller.office.reading() as session:
        following = _next(session, caller, panel, case)
    words = (
        say_plain("Decision saved. This is the next case.")
        if following
        else say_plain("Decision saved. There are no other open cases.")
    )
    return go(caller, following or at(caller, f"/{panel}"), words)


@ROUTER.post(f"{CASE}/reopen")
def reopen(request: Request, caller: Adjudicator, panel: str, case: str, form: PostedForm) -> Response:
    """Open a decided case again; what was decided stays in its history."""
    try:
        with caller.office.writing() as session:
            _case_of_panel(session, caller, panel, case)
            adjudication.reopen(session, caller.office, caller.actor, case, form.text("reason"))
    except RefusedError as error:
        return _again(request, caller, panel, case, form, error)
    return go(caller, at(caller, f"/{panel}/{case}"), say_plain("The case is reopened."))


def _again(request: Request, caller: Caller, panel: str, case: str, form: Form, error: RefusedError) -> Response:
    if error.status == 404:
        raise error
    return refuse(request, caller, _case_page(caller, panel, case, form), error)


def _case_of_panel(session: Session, caller: Caller, name: str, case_id: str) -> tuple[Scheme, Case]:
    """The case, if it is one of this panel, and the panel one of this campaign."""
    panel, scheme = panel_with_scheme(session, caller, name)
    one = adjudication.case(session, caller.office, case_id, viewer=caller.actor.id)
    if one.panel_id != panel.id:
        raise missing("case")
    return scheme, one


def _chosen_answers(scheme: Scheme, one: Case, form: Form) -> Any:
    """What the form decides for: answers of a judge, other ones, or none of these."""
    chosen = form.text("take")
    if chosen == "none":
        return NONE_OF_THESE
    if chosen == "own":
        return answers_of(scheme, one.blocks, form)
    given = {voice.letter: voice.answers for voice in one.voices}
    if chosen not in given:
        raise refused("M88", say_plain("nothing was chosen"), say_plain("choose the correct answer"), status=422)
    return given[chosen]


def _reason(form: Form) -> str:
    code, words = form.text("code"), form.text("reason")
    if code not in {one for one, _, _ in CODES}:
        raise refused("M88", say_plain("no reason was chosen"), say_plain("give a reason"), status=422)
    if code == OTHER and not words:
        raise refused(
            "M88", say_plain("“Other reason” needs an explanation"), say_plain("enter the reason"), status=422
        )
    return f"{code}: {words}" if words else code


def _next(session: Session, caller: Caller, panel: str, case_id: str) -> str:
    """The open case after this one, from the widest disagreement on; the first one after the last."""
    row, _ = panel_with_scheme(session, caller, panel)
    waits = [one.id for one in adjudication.queue(session, row.id)]
    others = [one for one in waits if one != case_id]
    if not others:
        return ""
    where = waits.index(case_id) if case_id in waits else 0
    return at(caller, f"/{panel}/{others[where % len(others)]}")


def _case_page(caller: Caller, name: str, case_id: str, form: Form | None = None) -> CasePage:
    with caller.office.reading() as session:
        scheme, one = _case_of_panel(session, caller, name, case_id)
        left = adjudication.open_cases(session, one.panel_id)
        history = tuple(_step(session, caller, scheme, each) for each in one.history[::-1])
        skip = _next(session, caller, name, case_id)
    address = at(caller, f"/{name}")
    last = one.history[-1] if one.history and one.state != "open" else None
    return CasePage(
        say_plain("Case"),
        scheme.title,
        address,
        f"{address}/{case_id}",
        left,
        "open" if one.state == "open" else "decided",
        percent(round(one.disagreement, 2)) if 0 < one.disagreement < 1 else "",
        shown_blocks(scheme, one.blocks, address),
        scheme.pairwise,
        tuple(_voice(scheme, each) for each in one.voices),
        _options(scheme, one),
        question_fields(
            scheme,
            {} if form is None else {question.id: form.text(f"q-{question.id}") for question in scheme.questions},
            one.blocks,
        ),
        tuple((code, str(say(words)), key) for code, words, key in CODES),
        history,
        skip,
        _outcome(scheme, last) if last else "",
        one.own,
        {} if form is None else {name: form.text(name) for name in ("take", "code", "reason")},
    )


def _voice(scheme: Scheme, one: adjudication.Voice) -> VoiceCard:
    names = {flag.value: flag.title for flag in scheme.flags}
    flags = tuple(names.get(flag, flag) for flag in one.flags)
    who = say_plain("Judge {letter}", letter=one.letter)
    found = (one.answers.get(question.id) for question in scheme.questions if question.widget in REASONS)
    return VoiceCard(who, answers_in_words(scheme, one.answers), tuple(str(text) for text in found if text), flags)


def _options(scheme: Scheme, one: Case) -> tuple[Option, ...]:
    """What judges answered, each answer once, with who gave it."""
    voices: dict[str, list[str]] = {}
    for voice in one.voices:
        voices.setdefault(in_one_line(scheme, voice.answers), []).append(voice.letter)
    keys = [*map(str, range(1, MOST_KEYS + 1)), *([""] * len(voices))]
    return tuple(
        Option(letters[0], words, say_plain("Judge {letter}", letter=", ".join(letters)), key)
        for key, (words, letters) in zip(keys, voices.items(), strict=False)
    )


def _outcome(scheme: Scheme, last: Decided) -> str:
    return say_plain("none of these") if last.kind == "none" else in_one_line(scheme, last.answers)


def _step(session: Session, caller: Caller, scheme: Scheme, one: Decided) -> Step:
    words = in_one_line(scheme, one.answers) if one.kind == "decided" else ""
    who = personal(session, caller.office, one.by).name
    return Step(str(say(KINDS[one.kind])), words, reason_in_words(one.reason), who, one.at)


def reason_in_words(reason: str) -> str:
    """A reason as people read it: its code in words, and what was written."""
    code, _, text = reason.partition(": ")
    known = {one: words for one, words, _ in CODES}
    if code not in known:
        return reason
    return say_plain("{why}: {text}", why=say_plain(known[code]), text=text) if text else say_plain(known[code])
