"""Questions of a scheme of judging: how each is asked, which answers there are, and the keys that give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from basanite.formats.config_file import NAME, Like, Name, Needed, OneOf, Section, Texts, WrongError
from basanite.formats.toml_file import Table
from basanite.work.items import KINDS

Widget = Literal["stars", "choice", "scale", "slider", "spans", "text"]
LONGEST_TEXT: Final = 20_000
USED: Final = {
    "stars": ("lo", "hi", "step", "labels"),
    "scale": ("lo", "hi", "step", "labels"),
    "slider": ("lo", "hi", "step", "labels"),
    "choice": ("options",),
    "spans": ("categories", "severities", "most", "on"),
    "text": ("longest",),
}
"""The entries that questions of each widget have and others do not."""
PAGE_KEYS: Final = {"c": "comments", "s": "goes to the slider", "u": "goes back", "p": "pauses"}
"""Keys that mean the same on every page of a judge."""
MOST_STEPS: Final = 11
"""Of stars and scales: more cannot be distinguished, and have no key of their own; a slider has any number."""
MOST_SLIDER_STEPS: Final = 10_000


class SchemeTable(Table):
    """One table of a scheme."""

    rule: ClassVar[str] = "R-2"
    whole_file: ClassVar[str] = "the scheme"
    first_line: ClassVar[int | None] = 1
    most_tables: ClassVar[int | None] = 200

    @property
    def place(self) -> str:
        """The table in words: a question by its id, since that is how its writer knows it."""
        name = self.values.get("id")
        if len(self.path) == 2 and isinstance(name, str) and name:
            return f"{str(self.path[0]).removesuffix('s')} {name!r}"
        return super().place


def _bounded_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        message = f"`{{key}}` of {{place}} has {len(text)} characters"
        raise WrongError(message, f"at most {LONGEST_TEXT} fit", instead=text[:LONGEST_TEXT])
    return text


def _value_for_files(text: str) -> str:
    if text and not NAME.fullmatch(text):
        fix = "use letters, digits, `_`, `-` and `.`: it is what files say; the title is what judges read"
        raise WrongError(f"the value {text!r} cannot be used in a file", fix, instead=text)
    return text


def _single_key(text: str) -> str:
    if text and (len(text) != 1 or not text.isprintable() or text.isspace()):
        raise WrongError(f"the key {text!r} is not a single character", 'write key = "r"')
    return text


def _as_list(value: Any) -> Any:
    """One text alone as a list of it."""
    return ((value,) if value else ()) if isinstance(value, str) else value


Words: TypeAlias = Annotated[str, AfterValidator(_bounded_text)]
Value: TypeAlias = Annotated[str, AfterValidator(_value_for_files)]
KeyOnPage: TypeAlias = Annotated[Words, AfterValidator(_single_key)]
OneOrMore: TypeAlias = Annotated[Texts, BeforeValidator(_as_list)]


@dataclass(frozen=True)
class Option(Section):
    """One answer of a choice, with the key that gives it."""

    value: Value
    """What files say."""
    title: Annotated[Words, Like("value", empty=True)]
    """What judges read."""
    key: KeyOnPage = ""
    """The key on the keyboard that gives it; the page chooses one unless it is written."""
    help: Words = ""
    """A line below the title."""


@dataclass(frozen=True)
class Category(Section):
    """A kind of error that a span can have."""

    value: Value
    """What files say."""
    title: Annotated[Words, Like("value", empty=True)]
    """What judges read."""
    key: KeyOnPage = ""
    """The key on the keyboard that gives it; the page chooses one unless it is written."""
    help: Words = ""
    """A line below the title."""


@dataclass(frozen=True)
class Severity(Section):
    """How bad an error is, and what it costs."""

    value: Value
    """What files say."""
    title: Annotated[Words, Like("value", empty=True)]
    """What judges read."""
    key: KeyOnPage = ""
    """The key on the keyboard that gives it; the page chooses one unless it is written."""
    weight: Annotated[float, Field(ge=0, le=1000)] = 1.0
    """What it costs."""


@dataclass(frozen=True)
class Question(Section):
    """One question about an item: how it is asked, and which answers there are."""

    id: Name
    """Its name in files."""
    widget: Annotated[
        Widget,
        Needed("{place} does not say how it is asked", f"write widget = one of {', '.join(USED)}", stand_in="choice"),
    ]
    """How it is asked."""
    title: Words = ""
    """What judges read."""
    help: Words = ""
    """A line below the title."""
    required: bool = True
    """Whether an item needs an answer; false unless written for spans and texts."""
    options: tuple[Option, ...] = ()
    """Of a choice: the answers, at least two."""
    lo: Annotated[float, Field(ge=-1e6, le=1e6)] = 1.0
    """Of stars, scales and sliders: the lowest answer; 0 for a slider."""
    hi: Annotated[float, Field(ge=-1e6, le=1e6)] = 5.0
    """Of stars, scales and sliders: the highest answer; 100 for a slider."""
    step: Annotated[float, Field(ge=1e-6, le=1e6)] = 1.0
    """Of stars, scales and sliders: the distance of one answer from the next."""
    labels: OneOrMore = ()
    """Words for the steps of a scale, from the lowest: one for each, or one for each end."""
    categories: tuple[Category, ...] = ()
    """Of spans: the kinds of errors."""
    severities: tuple[Severity, ...] = ()
    """Of spans: how bad an error can be; at least one."""
    most: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Of spans: how many may be marked; 0 is any number."""
    on: Annotated[str, OneOf(KINDS)] = "text"
    """Of spans: the kind of block whose text is marked."""
    longest: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """Of a text: how many characters."""

    @classmethod
    def prepare(cls, table: Table) -> Table:
        """The table with the usual range of its widget; what another widget would use is reported and left out."""
        found = table.values.get("widget")
        widget = found if isinstance(found, str) and found in USED else "choice"
        others = {key for keys in USED.values() for key in keys if key not in USED[widget]}
        for key in table.values:
            if key in others:
                meant = ", ".join(name for name, keys in USED.items() if key in keys)
                table.add(f"`{key}` means nothing to {widget}", f"leave it out, or use {meant}", key=key, found=key)
        usual: dict[str, Any] = {"required": widget not in ("spans", "text")}
        usual |= {"lo": 0.0, "hi": 100.0} if widget == "slider" else {}
        return replace(table, values=usual | {key: value for key, value in table.values.items() if key not in others})

    def check(self, table: Table) -> Question:
        """The question, with the usual range where its own makes no sense."""
        for key in ("options", "categories", "severities"):
            _check_values(key, table)
        if self.widget == "choice" and len(self.options) < 2:
            fix = 'write options = [{value = "yes", title = "Yes"}, …]'
            table.add(f"{table.place} has {len(self.options)} options; at least 2 are needed", fix, key="options")
        if self.widget == "spans" and not self.severities:
            fix = 'write severities = [{value = "minor", title = "Minor", weight = 1}, …]'
            table.add(f"{table.place} has no severities", fix, key="severities")
        return self._with_range(table) if self.numeric else self

    def _with_range(self, table: Table) -> Question:
        lo, hi, step = self.lo, self.hi, self.step
        count, most = (hi - lo) / step + 1, MOST_SLIDER_STEPS if self.widget == "slider" else MOST_STEPS
        usual = replace(self, lo=1.0, hi=5.0, step=1.0, labels=())
        if hi <= lo:
            table.add(f"`hi` of {table.place} is not above `lo`", "write lo = 1 and hi = 5", key="hi", found=hi)
        elif abs(count - round(count)) > 1e-9:
            message = f"steps of {step:g} from {lo:g} do not end at {hi:g}"
            table.add(message, "choose another step", key="step", found=step)
        elif count > most:
            fix = f"use at most {most} steps" + ("" if self.widget == "slider" else ", or a slider")
            table.add(f"{table.place} has {count:.0f} steps", fix, key="hi", found=hi)
        elif self.labels and len(self.labels) not in (2, round(count)):
            fix = f"write two, for the ends, or {round(count)}, one for each step"
            message = f"{table.place} has {len(self.labels)} labels"
            table.add(message, fix, key="labels", found=list(self.labels))
            return replace(self, labels=())
        else:
            return self
        return usual

    @property
    def numeric(self) -> bool:
        """Whether answers are numbers."""
        return self.widget in ("stars", "scale", "slider")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest answer as numbers; a choice of two is 0 or 1, others have no mean."""
        if self.widget == "choice" and len(self.options) == 2:
            return 0.0, 1.0
        return (self.lo, self.hi) if self.numeric else None

    @property
    def steps(self) -> tuple[float, ...]:
        """All answers of stars or a scale, from the lowest.

        >>> Question("rating", "stars", "How readable?").steps
        (1.0, 2.0, 3.0, 4.0, 5.0)
        """
        return tuple(self.lo + at * self.step for at in range(round((self.hi - self.lo) / self.step) + 1))


def _check_values(key: str, table: Table) -> None:
    """Report answers of a question that files could not tell apart."""
    found = table.tables(key)
    counts = Counter(value for each in found if isinstance(value := each.values.get("value"), str))
    for each in found:
        value = each.values.get("value")
        if isinstance(value, str) and counts[value] > 1:
            each.add(f"{value!r} stands in {key} twice", "give each a value of its own", key="value", found=value)


def _with_keys(questions: Sequence[Question], table: Table) -> tuple[Question, ...]:
    """The same with keys for all who have none; two that share a key, or take one of the page's own, are reported."""
    answers: list[Option | Category | Severity] = []
    for one in questions:
        answers += [*one.options, *one.categories, *one.severities]
    digits = [f"{step:g}" for question in questions if question.widget in ("stars", "scale") for step in question.steps]
    named = [each.key.lower() for each in answers if each.key]
    taken = [*named, *dict.fromkeys(digits)]
    for key in sorted({key for key in named if taken.count(key) > 1}):
        table.add(f"the key {key!r} gives two answers", "give each answer a key of its own", key="questions", found=key)
    for key in sorted(set(named) & set(PAGE_KEYS)):
        fix = f"choose another: {', '.join(f'{key} {does}' for key, does in PAGE_KEYS.items())}"
        table.add(f"the key {key!r} has a meaning of its own on the page", fix, key="questions", found=key)
    letters = "abcdefghijklmnopqrstuvwxyz" if digits else "1234567890abcdefghijklmnopqrstuvwxyz"
    free = iter([key for key in letters if key not in taken and key not in PAGE_KEYS])
    return tuple(_with_free_keys(question, free) for question in questions)


def _with_free_keys(question: Question, free: Iterator[str]) -> Question:
    def fill(answers: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(each if each.key else replace(each, key=next(free, "")) for each in answers)

    options, severities = fill(question.options), fill(question.severities)
    return replace(question, options=options, severities=severities, categories=fill(question.categories))
