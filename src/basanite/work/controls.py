"""Hidden checks: items with a known answer, or copies of an item made worse, that tell whether a judge reads (R-29).

A check looks like any other item. What an item expects of an answer is a value, a range, to lie below the answer to
another item by the same judge, or to mark a certain place. Failing checks rejects nobody: it is shown to the
organiser (P-22).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from basanite.work.answers import Judgement
from basanite.work.assignments import die
from basanite.work.items import CONTROL_OF, Block, Item, digest_of
from basanite.work.scheme import Scheme

_WORD: Final = re.compile(r"\S+")
REPLACED: Final = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))
"""Words replaced in a text of up to so many; in longer ones a quarter (Graham and others, 2013)."""


@dataclass(frozen=True)
class CheckFigures:
    """How one judge did on hidden checks."""

    right: int
    of: int

    @property
    def share(self) -> float | None:
        """The share of right answers; None where there was no check yet."""
        return self.right / self.of if self.of else None


def check_figures(
    items: Mapping[str, Item], judgements: Iterable[Judgement], roles: Sequence[str] = ("check",)
) -> dict[str, CheckFigures]:
    """For each judge, how many checks were answered right; those that cannot be known yet are not counted."""
    answers: dict[str, dict[str, Mapping[str, Any]]] = {}
    for each in judgements:
        answers.setdefault(each.judge, {})[each.item] = each.answers
    return {judge: _figures(items, mine, roles) for judge, mine in sorted(answers.items())}


def _figures(items: Mapping[str, Item], mine: Mapping[str, Mapping[str, Any]], roles: Sequence[str]) -> CheckFigures:
    told = [meets_expectation(items[name], given, mine) for name, given in mine.items() if items[name].role in roles]
    known = [one for one in told if one is not None]
    return CheckFigures(sum(known), len(known))


def failing(scheme: Scheme, figures: Mapping[str, CheckFigures]) -> tuple[str, ...]:
    """The judges whose share of right answers is below what the scheme asks for: to be looked at by a person."""
    return tuple(
        judge for judge, each in figures.items() if each.share is not None and each.share < scheme.checks.right
    )


def meets_expectation(
    item: Item, answers: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]] | None = None
) -> bool | None:
    """Whether answers are as the item expects; None if it expects nothing, or the other item is not judged yet.

    >>> check = Item("a", (), expected={"score": {"max": 40}}, role="check")
    >>> meets_expectation(check, {"score": 30}), meets_expectation(check, {"score": 70})
    (True, False)
    """
    if not item.expected:
        return None
    told = [_as_expected(wanted, answers.get(name), name, others or {}) for name, wanted in item.expected.items()]
    return False if False in told else None if None in told else True


def _as_expected(wanted: Any, given: Any, name: str, others: Mapping[str, Mapping[str, Any]]) -> bool | None:
    if not isinstance(wanted, Mapping):
        return bool(given == wanted)
    if "overlaps" in wanted:
        start, end = wanted["overlaps"]
        return any(span["start"] < end and start < span["end"] for span in given or ())
    if not isinstance(given, int | float):
        return False
    if "below" in wanted:
        other = others.get(str(wanted["below"]), {}).get(name)
        return bool(given < other) if isinstance(other, int | float) else None
    return bool(wanted.get("min", given) <= given <= wanted.get("max", given))


def degraded_copy(
    item: Item, donors: Sequence[Item], scheme: Scheme, *, seed: int, new_id: Callable[[], str]
) -> Item | None:
    """A copy of an item whose text has some words of another one: a reader scores it lower, or marks the place.

    None where there is no text to make worse, or none to take words from.
    """
    own = next((block for block in item.blocks if block.kind == "text"), None)
    giver = [donor for donor in donors if donor.id != item.id and _words(donor)]
    if own is None or not giver or not own.value.strip():
        return None
    donor = _words(giver[die(seed, "donor", item.id) % len(giver)])
    worse, start, end = _replace_run(own.value, donor, die(seed, "place", item.id))
    blocks = tuple(replace(block, value=worse) if block is own else block for block in item.blocks)
    expected = _expectation(scheme, item, start, end)
    facts = {**item.facts, CONTROL_OF: item.id}
    return Item(new_id(), blocks, facts, digest_of(blocks), expected, "check")


def _words(item: Item) -> list[str]:
    text: Block | None = next((block for block in item.blocks if block.kind == "text"), None)
    return _WORD.findall(text.value) if text else []


def _replace_run(text: str, donor: Sequence[str], dice: int) -> tuple[str, int, int]:
    """The text with a run of its words replaced, and where that run stands now."""
    words = list(_WORD.finditer(text))
    count = min(next((some for limit, some in REPLACED if len(words) <= limit), len(words) // 4), len(words))
    at = dice % (len(words) - count + 1)
    start, stop = words[at].start(), words[at + count - 1].end()
    first = dice // 7919 % max(len(donor) - count + 1, 1)
    run = " ".join(donor[first : first + count])
    return text[:start] + run + text[stop:], start, start + len(run)


def _expectation(scheme: Scheme, item: Item, start: int, end: int) -> dict[str, Any]:
    """That a score is lower than that of the item itself, or that the place is marked."""
    scores = [question for question in scheme.questions if question.numeric]
    if scores:
        return {scores[0].id: {"below": item.id}}
    return {question.id: {"overlaps": [start, end]} for question in scheme.questions if question.widget == "spans"}
