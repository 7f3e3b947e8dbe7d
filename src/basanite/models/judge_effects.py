"""Whether a judge is led by what should not matter: the side of a text, its length, or who wrote it (L-5).

Some items are asked again changed in one thing alone. In pairs the sides are swapped; a text is padded with words that
say nothing new; and where the judge's own system is among those judged, its texts are compared with what people say of
them, over both orders of each pair. Every effect is a mean over items with its interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from basanite.errors import SettingError
from basanite.kernel import SIGNED_SHARE
from basanite.metrics.judgement.estimate import FEWEST_ITEMS, Estimate, Reals
from basanite.models.calibration import mean_estimate
from basanite.models.judge_run import JudgeRun
from basanite.models.judge_tables import Key, Said, as_number
from basanite.work.assignments import seeded_order
from basanite.work.items import Item, digest_of
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

PADDING: Final = (
    "To put it in other words, what has been said above is what there is to say here. "
    "That is the whole of it, as stated before, and nothing further is added by this remark."
)
"""Words without content."""
AS_IS, SWAPPED, PADDED, PADDED_RIGHT = "as it is", "swapped", "padded", "right side padded"
LEFT_IS: Final = {"left": 1.0, "tie": 0.5, "right": 0.0}
"""What an answer to a pair is worth for the text on the left."""


@dataclass(frozen=True)
class Effect:
    """One thing that should not matter, and how much it does."""

    name: str
    meaning: str
    found: Estimate
    items: int

    always: bool = False
    """Whether every item shows it alike, so that there is no interval."""

    @property
    def is_shown(self) -> bool:
        """Whether its interval excludes 0, or every item shows the same."""
        low, high = self.found.low, self.found.high
        return self.always or (low is not None and high is not None and (low > 0 or high < 0))


def variants(scheme: Scheme, items: Sequence[Item]) -> tuple[Item, ...]:
    """Every item as it is and in each changed form; names say which."""
    made = []
    for item in items:
        made.append(_variant(item, AS_IS, lambda texts: texts))
        if scheme.pairwise:
            made.append(_variant(item, SWAPPED, lambda texts: texts[::-1]))
            made.append(_variant(item, PADDED, lambda texts: [pad_text(texts[0]), *texts[1:]]))
            made.append(_variant(item, PADDED_RIGHT, lambda texts: [*texts[:-1], pad_text(texts[-1])]))
        else:
            made.append(_variant(item, PADDED, lambda texts: [*texts[:-1], *map(pad_text, texts[-1:])]))
    return tuple(made)


def pad_text(text: str) -> str:
    """The text with words after it that say nothing new, half as long again as it was at least."""
    times = max(1, math.ceil(len(text) / 2 / len(PADDING)))
    return " ".join([text, *[PADDING] * times])


def _variant(item: Item, kind: str, change: Callable[[list[str]], list[str]]) -> Item:
    texts = iter(change([block.value for block in item.blocks if block.kind == "text"]))
    blocks = tuple(replace(block, value=next(texts)) if block.kind == "text" else block for block in item.blocks)
    return replace(item, id=f"{item.id} {kind}", blocks=blocks, digest=digest_of(blocks))


def chosen_items(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """The items that are asked in every form, drawn at random."""
    with_text = [item for item in items if any(block.kind == "text" for block in item.blocks)]
    if not with_text:
        raise SettingError("No item has a text that could be padded or swapped.")
    return seeded_order(with_text, lambda item: item.id, seed, "effects")[:count]


def effects_of(
    scheme: Scheme, question: Question, items: Sequence[Item], run: JudgeRun, value: str = ""
) -> Iterator[Effect]:
    """The effects that forms of the same item show."""
    said = _Forms(question, run, value, pairwise=scheme.pairwise)
    names = [item.id for item in items]
    if scheme.pairwise:
        both = said.table(names, AS_IS, SWAPPED)  # the first text is on the left, then on the right
        yield _effect("position", "preference for the left side over both orders", both.sum(axis=1) / 2 - 0.5)
        yield _effect("order", "verdicts that change with the sides", (both[:, 0] != 1 - both[:, 1]).astype(float))
        padded = said.table(names, PADDED, PADDED_RIGHT)
        yield _effect("length", "preference for the padded side over both sides", (padded[:, 0] - padded[:, 1]) / 2)
        return
    both = said.table(names, AS_IS, PADDED)
    yield _effect("length", "how much higher a padded text is judged, from -1 to 1", both[:, 1] - both[:, 0])


@dataclass(frozen=True)
class _Forms:
    """Answers to items in their forms, as numbers."""

    question: Question
    run: JudgeRun
    value: str
    pairwise: bool

    def table(self, names: Sequence[str], *forms: str) -> Reals:
        """A row for each item whose forms all have a valid answer."""
        rows = [[self._number(f"{name} {form}") for form in forms] for name in names]
        return np.array([row for row in rows if not any(map(math.isnan, row))]).reshape(-1, len(forms))

    def _number(self, name: str) -> float:
        reply = self.run.replies.get(name)
        answer = None if reply is None or reply.reason else reply.answers.get(self.question.id)
        if answer is None:
            return math.nan
        return LEFT_IS.get(str(answer), math.nan) if self.pairwise else as_number(self.question, answer, self.value)


def _effect(name: str, meaning: str, values: Reals) -> Effect:
    if len(values) < FEWEST_ITEMS:
        mean = float(values.mean()) if len(values) else math.nan
        reason = f"no interval: {len(values)} items with valid answers; {FEWEST_ITEMS} are needed"
        return Effect(name, meaning, Estimate(mean, reason), len(values))
    found = mean_estimate(values, float(values.mean()), np.arange(len(values)), SIGNED_SHARE)
    return Effect(name, meaning, found, len(values), always=bool(values[0] and np.all(values == values[0])))


def own_effect(
    scheme: Scheme, question: Question, items: Sequence[Item], run: JudgeRun, people: Mapping[Key, Said], own: str
) -> Effect:
    """How far the judge is above people for its own system: in pairs over both orders, else beside other systems."""
    said = _Forms(question, run, "", pairwise=scheme.pairwise)
    if scheme.pairwise:
        gaps = [gap for item in items if (gap := _own_gap(said, item, people, own)) is not None]
        return _effect("self-preference", f"how much more often {own} wins than with people", np.array(gaps))
    bias: dict[bool, list[float]] = {True: [], False: []}
    for item in items:
        system = item.facts.get("system", "")
        given, as_is = people.get((system, item.facts["id"])), said.table([item.id], AS_IS)
        if given is not None and len(as_is):
            bias[system == own].append(float(as_is[0, 0]) - given.mean)
    return _gap(own, np.array(bias[True]), np.array(bias[False]))


def _own_gap(said: _Forms, item: Item, people: Mapping[Key, Said], own: str) -> float | None:
    """How much more a judge prefers its own side of a pair than people do; None for pairs that do not say."""
    sides = (item.facts.get("left", ""), item.facts.get("right", ""))
    given, both = people.get(("", item.facts["id"])), said.table([item.id], AS_IS, SWAPPED)
    if own not in sides or given is None or not len(both):
        return None
    left = float(both[0, 0] + 1 - both[0, 1]) / 2
    human = sum(LEFT_IS.get(word, 0.5) for word in given.words) / len(given.words)
    return left - human if sides[0] == own else human - left


def _gap(own: str, mine: Reals, others: Reals) -> Effect:
    """The difference of two means of different items, by Welch's interval on the kernel's studentized ends."""
    meaning = f"how much further above people the judge is for {own} than for other systems"
    items = len(mine) + len(others)
    if min(len(mine), len(others)) < FEWEST_ITEMS:
        reason = (
            f"no interval: {len(mine)} items of {own} and {len(others)} of others; {FEWEST_ITEMS} of each are needed"
        )
        return Effect("self-preference", meaning, Estimate(math.nan, reason), items)
    value = float(mine.mean() - others.mean())
    pulls = [items / len(mine) * (mine - mine.mean()), -items / len(others) * (others - others.mean())]
    whole: Any = value + np.concatenate(pulls)
    return Effect("self-preference", meaning, mean_estimate(whole, value, np.arange(items), SIGNED_SHARE), items)
