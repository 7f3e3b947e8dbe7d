"""Annotations of a text side by side, in the words of the form: what each annotator says, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase

from basanite.annotation.config import Category, Config, Field
from basanite.annotation.events import Mention, Object, State
from basanite.annotation.places import called
from basanite.campaign.annotating.cases import Case, Table
from basanite.server.catalogue import said
from basanite.server.pages.annotating.wire import field_title

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
        title=called(config, table.states[first], held) if held else "",
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
        yield SideLine(said("Inferred"), said("Yes") if one.inferred else said("No"), "inferred" in differs)
    if one.note:
        yield SideLine(said("Note"), one.note, "note" in differs)


def _value(config: Config, state: State, field: Field, one: Object, text: str) -> str:
    if field.kind == "span":
        return " · ".join(words_of(mention, text) for mention in one.mentions.get(field.name, ()))
    value = one.fields.get(field.name, "")
    if field.kind == "object":
        return called(config, state, state.objects[value]) if value in state.objects else value
    if field.kind == "yes-no":
        return {"true": said("Yes"), "false": said("No")}.get(value, value)
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
        choices = (("true", said("Yes")), ("false", said("No")))
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
