"""After an item of the training: what was said beside what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from basanite.campaign.panels.attending import working
from basanite.judging.controls import passed
from basanite.judging.items import Item
from basanite.judging.scheme import Question
from basanite.server.catalogue import plural, say
from basanite.server.pages.judging.place import At, at_of, base_of
from basanite.server.pages.judging.shown import Shown, shown_blocks
from basanite.server.roles import Caller


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

    title: str
    at: At
    blocks: tuple[Shown, ...]
    compared: tuple[Compared, ...]
    keys: tuple[tuple[str, str], ...] = ()


def feedback_page(caller: Caller, found: working.Desk, told: working.Feedback) -> FeedbackPage:
    """The page between two items of the training."""
    title = say("As expected") if told.right else say("Not as expected")
    blocks = shown_blocks(found.scheme, found.blocks, base_of(caller, found.name))
    return FeedbackPage(title, at_of(caller, found), blocks, tuple(_compared(found, told)), (("Enter", say("go on")),))


def _compared(found: working.Desk, told: working.Feedback) -> Iterator[Compared]:
    for question in found.scheme.questions:
        if question.id in told.expected:
            wanted, given = told.expected[question.id], told.given.get(question.id)
            right = passed(Item("", (), expected={question.id: wanted}), told.given)
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
        return str(say("an error is marked"))
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
