"""Questions of a scheme's file: each with the answers it allows, and the keys that give them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, cast, get_args

from basanite.formats.toml.entries import NAME
from basanite.judging.items import KINDS
from basanite.judging.schemes.entries import SchemeEntries
from basanite.judging.schemes.model import Category, Option, Question, Severity, Widget

KEYS: Final = (
    "id", "widget", "title", "help", "required", "options", "lo", "hi", "step", "labels", "categories", "severities",
    "most", "on", "longest",
)  # fmt: skip
USED: Final = {
    "stars": ("lo", "hi", "step", "labels"),
    "scale": ("lo", "hi", "step", "labels"),
    "slider": ("lo", "hi", "step", "labels"),
    "choice": ("options",),
    "spans": ("categories", "severities", "most", "on"),
    "text": ("longest",),
}
SPECIAL: Final = {key for keys in USED.values() for key in keys}
OPTION_KEYS: Final = ("value", "title", "key", "help")
PAGE_KEYS: Final = {"c": "comments", "s": "goes to the slider", "u": "goes back", "p": "pauses"}
"""Keys that mean the same on every page of a judge."""
MOST_STEPS: Final = 11
"""Of stars and scales: more cannot be told apart, and have no key of their own; a slider has any number."""
MOST_SLIDER_STEPS: Final = 10_000


def questions_of(top: SchemeEntries) -> tuple[Question, ...]:
    """All questions; what is wrong with one is reported at its line."""
    found = [_question(entry) for entry in top.several("questions")]
    names = [question.id for question in found]
    for at, name in enumerate(names):
        if name and name in names[:at]:
            top.add(f"two questions are called {name!r}", "give each an id of its own", key="questions", found=name)
    return tuple(found)


def _question(entry: SchemeEntries) -> Question:
    entry.known(KEYS)
    widget = cast(Widget, entry.one_of("widget", get_args(Widget), "choice")) if "widget" in entry.values else None
    if widget is None:
        entry.add(f"{entry.place} does not say how it is asked", f"write widget = one of {', '.join(USED)}")
        widget = "choice"
    _misplaced(entry, widget)
    lo, hi, step = _range(entry, widget)
    return Question(
        id=entry.name("id"),
        widget=widget,
        title=entry.words("title"),
        help=entry.words("help"),
        required=entry.flag("required", widget not in ("spans", "text")),
        options=options_of(entry, "options") if widget == "choice" else (),
        lo=lo,
        hi=hi,
        step=step,
        labels=_labels(entry, lo, hi, step) if widget in ("stars", "scale", "slider") else (),
        categories=_categories(entry) if widget == "spans" else (),
        severities=_severities(entry) if widget == "spans" else (),
        most=entry.size("most", 0, 0, 10_000),
        on=entry.one_of("on", KINDS, "text"),
        longest=entry.size("longest", 1000, 1, 100_000),
    )


def _misplaced(entry: SchemeEntries, widget: str) -> None:
    """Report what another widget would use: it would silently do nothing."""
    for key in entry.values:
        if key in SPECIAL and key not in USED[widget]:
            meant = ", ".join(name for name, keys in USED.items() if key in keys)
            entry.add(f"`{key}` means nothing to {widget}", f"leave it out, or use {meant}", key=key, found=key)


def _range(entry: SchemeEntries, widget: str) -> tuple[float, float, float]:
    lo, hi = (
        entry.amount("lo", 0.0 if widget == "slider" else 1.0, -1e6, 1e6),
        entry.amount("hi", 100.0 if widget == "slider" else 5.0, -1e6, 1e6),
    )
    step = entry.amount("step", 1.0, 1e-6, 1e6)
    most = MOST_SLIDER_STEPS if widget == "slider" else MOST_STEPS
    count = (hi - lo) / step + 1
    if hi <= lo:
        entry.add(f"`hi` of {entry.place} is not above `lo`", "write lo = 1 and hi = 5", key="hi", found=hi)
    elif abs(count - round(count)) > 1e-9:
        entry.add(f"steps of {step:g} from {lo:g} do not end at {hi:g}", "choose another step", key="step", found=step)
    elif count > most:
        fix = f"use at most {most} steps" + ("" if widget == "slider" else ", or a slider")
        entry.add(f"{entry.place} has {count:.0f} steps", fix, key="hi", found=hi)
    else:
        return lo, hi, step
    return 1.0, 5.0, 1.0


def _labels(entry: SchemeEntries, lo: float, hi: float, step: float) -> tuple[str, ...]:
    labels = entry.texts("labels")
    steps = round((hi - lo) / step) + 1
    if labels and len(labels) not in (2, steps):
        fix = f"write two, for the ends, or {steps}, one for each step"
        entry.add(f"{entry.place} has {len(labels)} labels", fix, key="labels", found=list(labels))
        return ()
    return labels


def options_of(entry: SchemeEntries, key: str, *, fewest: int = 2) -> tuple[Option, ...]:
    """The answers of a choice, each once."""
    found = [Option(*_named(each), help=each.words("help")) for each in _each(entry, key, OPTION_KEYS)]
    if len(found) < fewest:
        fix = f'write {key} = [{{value = "yes", title = "Yes"}}, …]'
        entry.add(f"{entry.place} has {len(found)} {key}; at least {fewest} are needed", fix, key=key)
    return tuple(found)


def _each(entry: SchemeEntries, key: str, known: Sequence[str]) -> list[SchemeEntries]:
    found = entry.several(key)
    values = [each.values.get("value") for each in found]
    for each in found:
        each.known(known)
        value = each.values.get("value")
        if isinstance(value, str) and values.count(value) > 1:
            each.add(f"{value!r} stands in {key} twice", "give each a value of its own", key="value", found=value)
    return found


def _named(entry: SchemeEntries) -> tuple[str, str, str]:
    value = entry.text("value")
    if value and not NAME.fullmatch(value):
        fix = "use letters, digits, `_`, `-` and `.`: it is what files say; the title is what judges read"
        entry.add(f"the value {value!r} cannot stand in a file", fix, key="value", found=value)
    key = entry.words("key")
    if key and (len(key) != 1 or not key.isprintable() or key.isspace()):
        entry.add(f"the key {key!r} is no single character", 'write key = "r"', key="key", found=key)
        key = ""
    return value, entry.words("title", value) or value, key


def _categories(entry: SchemeEntries) -> tuple[Category, ...]:
    found = _each(entry, "categories", OPTION_KEYS)
    return tuple(Category(*_named(each), help=each.words("help")) for each in found)


def _severities(entry: SchemeEntries) -> tuple[Severity, ...]:
    found = _each(entry, "severities", ("value", "title", "key", "weight"))
    if not found:
        fix = 'write severities = [{value = "minor", title = "Minor", weight = 1}, …]'
        entry.add(f"{entry.place} has no severities", fix, key="severities")
    return tuple(Severity(*_named(each), weight=each.amount("weight", 1.0, 0.0, 1000.0)) for each in found)


def with_keys(questions: Sequence[Question], top: SchemeEntries) -> tuple[Question, ...]:
    """The same with keys for all who have none; two that share a key, or take one of the page's own, are reported."""
    digits = [f"{step:g}" for question in questions if question.widget in ("stars", "scale") for step in question.steps]
    named = [entry.key.lower() for question in questions for entry in _keyed(question) if entry.key]
    taken = [*named, *dict.fromkeys(digits)]
    for key in sorted({key for key in named if taken.count(key) > 1}):
        top.add(f"the key {key!r} gives two answers", "give each answer a key of its own", key="questions", found=key)
    for key in sorted(set(named) & set(PAGE_KEYS)):
        fix = f"choose another: {', '.join(f'{key} {does}' for key, does in PAGE_KEYS.items())}"
        top.add(f"the key {key!r} has a meaning of its own on the page", fix, key="questions", found=key)
    letters = "abcdefghijklmnopqrstuvwxyz" if digits else "1234567890abcdefghijklmnopqrstuvwxyz"
    free = iter([key for key in letters if key not in taken and key not in PAGE_KEYS])
    return tuple(_filled(question, free) for question in questions)


def _keyed(question: Question) -> tuple[Option | Category | Severity, ...]:
    return (*question.options, *question.categories, *question.severities)


def _filled(question: Question, free: Iterator[str]) -> Question:
    def fill(entries: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(each if each.key else replace(each, key=next(free, "")) for each in entries)

    return replace(
        question,
        options=fill(question.options),
        severities=fill(question.severities),
        categories=fill(question.categories),
    )
