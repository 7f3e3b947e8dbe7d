"""Adjudication of texts: the queue, and what annotators say side by side with a key for every decision (R-15).

Who the annotators are is not shown. Whatever all of them say alike is taken at once; a reading that none of them has,
and `none of these`, are decisions like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from string import ascii_uppercase
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.store.tables import AnnotationDocument
from basanite.campaign.work.annotation import adjudication
from basanite.campaign.work.annotation.adjudication import CODES, NONE_OF_THESE, Choice, Edit, Queued, Side
from basanite.campaign.work.annotation.annotator_work import task_snapshot
from basanite.campaign.work.annotation.cases import Case, Table
from basanite.campaign.work.annotation.lookup import projects
from basanite.campaign.work.annotation.packages import text_of
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.annotation_data import config_data, field_title
from basanite.server.pages.annotation_workbench import BASE
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.roles import Caller, allow
from basanite.work.annotation.config import Category, Config, Field
from basanite.work.annotation.events import Mention, Object, State
from basanite.work.annotation.things import object_title

ROUTER = APIRouter(include_in_schema=False)
DECIDE = f"{BASE}/decide"
Looker = Annotated[Caller, allow("adjudicator", "evaluation")]
"""Who may see all annotations of a text side by side; annotators of it never are among them."""
MOST_TEXTS = 500


@dataclass(frozen=True)
class DisagreementsProject:
    """The texts of one project."""

    title: str
    lines: tuple[Queued, ...]
    hidden: int = 0


@dataclass(frozen=True)
class DisagreementsPage:
    """All texts of a campaign that are or will be adjudicated."""

    template = "annotation/disagreements.html"
    title: str
    projects: tuple[DisagreementsProject, ...]
    base: str


@ROUTER.get(DECIDE)
def disagreements(request: Request, caller: Looker) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        listed = [
            (one, adjudication.queue(session, caller.office, caller.actor, one.id)) for one in projects(session, row.id)
        ]
    made = tuple(
        DisagreementsProject(one.title or one.name, lines[:MOST_TEXTS], max(len(lines) - MOST_TEXTS, 0))
        for one, lines in listed
    )
    return show(
        request, caller, DisagreementsPage(say("Disagreements"), made, f"/campaigns/{row.slug}/annotate/decide")
    )


MARK = tuple[str, str]


@dataclass(frozen=True)
class SideLine:
    """One thing that an annotator says: what it is called, what it is, and whether others say something else."""

    title: str
    value: str
    differs: bool = False


@dataclass(frozen=True)
class SideView:
    """What one annotator has; who it is, nobody is told."""

    letter: str
    task: str
    there: bool
    lines: tuple[SideLine, ...] = ()
    marks: str = ""
    """The names of its marks in the text, for the script that shows them."""


@dataclass(frozen=True)
class Reading:
    """One field of another reading, which an adjudicator may write instead."""

    name: str
    title: str
    value: str = ""
    choices: tuple[MARK, ...] = ()
    words: tuple[tuple[str, str, bool], ...] = ()
    """Words that some annotator marked: their place, the words, and whether they are ticked."""
    spans: bool = False


@dataclass(frozen=True)
class CaseView:
    """One thing to decide."""

    key: str
    title: str
    category: str
    sides: tuple[SideView, ...]
    readings: tuple[Reading, ...] = ()
    inferred: bool | None = None
    """Whether it is ticked as inferred; None where it has no such box."""
    unanimous: bool = False
    hidden: bool = False
    rejected: bool = False
    verdict: str = ""
    chosen: str = ""
    """The letter of the side that was taken."""
    code: str = ""
    note: str = ""

    @property
    def open(self) -> bool:
        """Whether it waits for a decision."""
        return not self.verdict and not self.rejected


def case_view(table: Table, case: Case, text: str) -> CaseView:
    """A case as the page shows it."""
    config, aligned, decided = table.config, case.aligned, case.decision
    category = config.categories[aligned.category]
    first = next(at for at, one in enumerate(aligned.sides) if one is not None)
    held = aligned.sides[first]
    letters = {task.id: ascii_uppercase[at] for at, task in enumerate(table.tasks)}
    return CaseView(
        key=aligned.key,
        title=object_title(config, table.states[first], held) if held else "",
        category=category.title or category.name,
        sides=tuple(_side(table, case, at, text) for at in range(len(aligned.sides))),
        readings=tuple(_reading(config, category, one, case, text) for one in category.fields if one.kind != "object"),
        inferred=(held.inferred if held else False) if category.inferred else None,
        unanimous=aligned.unanimous,
        hidden=case.hidden,
        rejected=case.rejected,
        verdict=decided.verdict if decided else "",
        chosen=letters.get(decided.chosen, "") if decided else "",
        code=decided.code if decided else "",
        note=decided.note if decided else "",
    )


def _side(table: Table, case: Case, at: int, text: str) -> SideView:
    one, task, letter = case.aligned.sides[at], table.tasks[at].id, ascii_uppercase[at]
    if one is None:
        return SideView(letter, task, False)
    category = table.config.categories[case.aligned.category]
    lines = tuple(_lines(table.config, table.states[at], category, one, case.aligned.differs, text))
    marks = " ".join(f"{letter}-{mention.id}" for several in one.mentions.values() for mention in several)
    return SideView(letter, task, True, lines, marks)


def _lines(
    config: Config, state: State, category: Category, one: Object, differs: tuple[str, ...], text: str
) -> Iterator[SideLine]:
    for each in category.fields:
        value = _value(config, state, each, one, text)
        if value or each.name in differs:
            yield SideLine(field_title(each, category), value or "–", each.name in differs)
    if category.inferred and (one.inferred or "inferred" in differs):
        yield SideLine(
            say_plain("Inferred"), say_plain("Yes") if one.inferred else say_plain("No"), "inferred" in differs
        )
    if one.note:
        yield SideLine(say_plain("Note"), one.note, "note" in differs)


def _value(config: Config, state: State, field: Field, one: Object, text: str) -> str:
    if field.kind == "span":
        return " · ".join(words_of(mention, text) for mention in one.mentions.get(field.name, ()))
    value = one.fields.get(field.name, "")
    if field.kind == "object":
        return object_title(config, state, state.objects[value]) if value in state.objects else value
    if field.kind == "yes-no":
        return {"true": say_plain("Yes"), "false": say_plain("No")}.get(value, value)
    choice = field.choice(value)
    return choice.title if choice and choice.title else value


def words_of(mention: Mention, text: str) -> str:
    """The words of a mark in one line, pieces apart by an ellipsis."""
    return " … ".join(" ".join(text[start:end].split()) for start, end in mention.parts)


def _reading(config: Config, category: Category, field: Field, case: Case, text: str) -> Reading:
    sides = [one for one in case.aligned.sides if one is not None]
    title = field_title(field, category)
    if field.kind == "span":
        found = {place_of(mention): mention for one in sides for mention in one.mentions.get(field.name, ())}
        ticked = {place_of(mention) for mention in sides[0].mentions.get(field.name, ())}
        words = tuple((place, words_of(mention, text), place in ticked) for place, mention in found.items())
        return Reading(field.name, title, words=words, spans=True)
    value = next((one.fields[field.name] for one in sides if field.name in one.fields), "")
    choices = tuple((one.value, one.title or one.value) for one in field.choices)
    if field.kind == "yes-no":
        choices = (("true", say_plain("Yes")), ("false", say_plain("No")))
    return Reading(field.name, title, value, choices)


def place_of(mention: Mention) -> str:
    """Where a mark lies, as a form carries it.

    >>> place_of(Mention("e1", ((0, 3), (9, 13))))
    '0-3,9-13'
    """
    return ",".join(f"{start}-{end}" for start, end in mention.parts)


def parts_of(place: str) -> tuple[tuple[int, int], ...]:
    """The pieces of a place that a form carried; anything else has none.

    >>> parts_of("0-3,9-13"), parts_of("x")
    (((0, 3), (9, 13)), ())
    """
    pairs = [piece.split("-") for piece in place.split(",")[:100]]
    if not all(
        len(pair) == 2 and all(one.isascii() and one.isdigit() and len(one) < 10 for one in pair) for pair in pairs
    ):
        return ()
    return tuple((int(start), int(end)) for start, end in pairs)


TEXT = f"{DECIDE}/{{document}}"
Adjudicator = Annotated[Caller, allow("adjudicator")]
SHOWN = 100
"""Cases of a kind that one page lists; what is decided makes room for the next."""


@dataclass(frozen=True)
class DecisionLine:
    """A decision that was made."""

    at: datetime
    verdict: str
    code: str
    note: str


@dataclass(frozen=True)
class DecidePage:
    """A text and all that is to be decided about it."""

    template = "annotation/decide.html"
    title: str
    text: str
    given: dict[str, Any]
    apart: tuple[CaseView, ...]
    """Open cases on which annotators differ."""
    alike: int
    """Open cases on which all agree; those that lie in something undecided come when it is decided."""
    waiting: int
    """Open cases in something that is not decided yet."""
    decided: tuple[CaseView, ...]
    total: int
    left: int
    letters: tuple[str, ...]
    base: str
    back: str
    codes: tuple[tuple[str, str], ...]
    done: bool = False
    clashes: tuple[str, ...] = ()
    """Contradictions in what was decided, to be confirmed before the text is finished."""
    history: tuple[DecisionLine, ...] = field(default=())


@ROUTER.get(TEXT)
def look(request: Request, caller: Looker, document: str) -> Response:
    """The page."""
    return show(request, caller, _decide_page(caller, document))


@ROUTER.post(f"{TEXT}/case")
def decide(request: Request, caller: Adjudicator, document: str, form: PostedForm) -> Response:
    """Decide one case: a side, another reading, or none of these."""

    def act(session: Session) -> object:
        given = adjudication.Ruling(_choice(form), form.text("code"), form.text("note"), form.text("key")[:64])
        return adjudication.decide(session, caller.office, caller.actor, document, form.text("case"), given)

    return _act_on_text(request, caller, document, act)


@ROUTER.post(f"{TEXT}/unanimous")
def accept(request: Request, caller: Adjudicator, document: str, form: PostedForm) -> Response:
    """Take everything that all annotators say alike."""
    who = caller.office, caller.actor
    return _act_on_text(request, caller, document, lambda s: adjudication.accept_unanimous(s, *who, document))


@ROUTER.post(f"{TEXT}/again")
def again(request: Request, caller: Adjudicator, document: str, form: PostedForm) -> Response:
    """Take one decision back."""
    case, note, who = form.text("case"), form.text("note"), (caller.office, caller.actor)
    return _act_on_text(
        request, caller, document, lambda s: adjudication.reopen_case(s, *who, document, case, note=note)
    )


@ROUTER.post(f"{TEXT}/finish")
def finish(request: Request, caller: Adjudicator, document: str, form: PostedForm) -> Response:
    """Everything is decided; contradictions that stay were shown and confirmed."""
    seen = form.text("contradictions")[:9]
    back = f"/campaigns/{caller.here[0].slug}/annotate/decide"
    return _act_on_text(
        request,
        caller,
        document,
        lambda session: adjudication.finish(
            session,
            caller.office,
            caller.actor,
            document,
            contradictions=min(int(seen), 10**6) if seen.isdecimal() else 0,
        ),
        (back, say_plain("The text is adjudicated. Its answers are included in the next gold version.")),
    )


@ROUTER.post(f"{TEXT}/reopen")
def reopen(request: Request, caller: Adjudicator, document: str, form: PostedForm) -> Response:
    """Go on with a text that was finished, no matter who finished it."""
    reason = form.text("reason")
    return _act_on_text(
        request,
        caller,
        document,
        lambda session: adjudication.reopen(session, caller.office, caller.actor, document, reason=reason),
    )


def _choice(form: Form) -> Choice:
    chosen = form.text("choice")
    if chosen == "none":
        return NONE_OF_THESE
    if chosen == "edit":
        words = {slot.removeprefix("words-"): form.all(slot) for slot in form.fields if slot.startswith("words-")}
        places = {slot: [parts_of(one) for one in several] for slot, several in words.items()}
        fields = {name: value for name, value in form.beginning("field-").items() if value}
        return Edit(fields, places, form.text("inferred") == "yes", "")
    if not chosen:
        fix = say_plain("choose one side, another reading, or none")
        raise refused("R-15", say_plain("nothing was chosen"), fix, status=422)
    return Side(chosen)


def _act_on_text(
    request: Request,
    caller: Caller,
    document: str,
    act: Callable[[Session], object],
    then: tuple[str, str] | None = None,
) -> Response:
    """Do it and go on with the next case; or show the page again with what was wrong."""
    try:
        _find(caller, document)
        with caller.office.writing() as session:
            act(session)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _decide_page(caller, document), error)
    here = f"/campaigns/{caller.here[0].slug}/annotate/decide/{document}"
    return go(caller, *(then or (here, "")))


def _find(caller: Caller, document: str) -> None:
    """A text of this campaign; those of others are not there."""
    with caller.office.reading() as session:
        row = session.get(AnnotationDocument, document)
        if row is None or row.campaign_id != caller.here[0].id:
            raise missing("text")


def _decide_page(caller: Caller, document: str) -> DecidePage:
    _find(caller, document)
    office, base = caller.office, f"/campaigns/{caller.here[0].slug}/annotate/decide"
    with office.reading() as session:
        table = adjudication.disagreements(session, office, caller.actor, document)
        text = text_of(office, table.document).text
        past = adjudication.history(session, caller.actor, document)
        views = [case_view(table, one, text) for one in table.cases]
        ending = table.record is not None and table.record.state != "done" and not table.open_cases
        found = task_snapshot(session, office, table.record).review.contradictions if ending and table.record else ()
    waiting = [one for one in views if one.open and one.hidden]
    ready = [one for one in views if one.open and not one.hidden]
    apart = tuple(one for one in ready if not one.unanimous)
    return DecidePage(
        title=table.document.name,
        text=text,
        given={"text": text, "config": config_data(table.config), "marks": marks_of(table)},
        apart=apart[:SHOWN],
        alike=sum(one.unanimous for one in ready),
        waiting=len(waiting),
        decided=tuple(one for one in views if one.verdict)[:SHOWN],
        total=len(views),
        left=len(table.open_cases),
        letters=tuple(ascii_uppercase[: len(table.tasks)]),
        base=f"{base}/{document}",
        back=base,
        codes=tuple((code, say_plain(words)) for code, words in CODES.items()),
        done=table.record is not None and table.record.state == "done",
        clashes=tuple(one.message for one in found),
        history=tuple(DecisionLine(one.at, one.verdict, one.code, one.note) for one in past[::-1][:SHOWN]),
    )


def marks_of(table: Table) -> list[dict[str, Any]]:
    """All marks of all annotators, each named after its annotator's letter."""
    return [
        {
            "id": f"{ascii_uppercase[at]}-{mention.id}",
            "category": one.category,
            "label": f"{ascii_uppercase[at]} {_title(table.config, one.category)}",
            "parts": [list(part) for part in mention.parts],
        }
        for at, state in enumerate(table.states)
        for one in state.objects.values()
        for several in one.mentions.values()
        for mention in several
    ]


def _title(config: Config, name: str) -> str:
    return config.categories[name].title or name
