"""A tagger that learns labels of words from texts that are annotated already, to suggest them in others (R-41).

An averaged perceptron over words, their shapes, their ends and their neighbors, decoded from left to right (Collins,
EMNLP 2002). It needs nothing but the annotations, is the same again from the same texts, and is quick enough to be
trained whenever somebody asks.
"""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from basanite.work.annotation.events import Part
from basanite.work.annotation.suggestions import Suggested

OUTSIDE: Final = "O"
ROUNDS: Final = 5
MOST_TOKENS: Final = 60_000
"""Words that are learned from; further texts are left out."""
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_END: Final = frozenset(".!?")
Spans = Sequence[tuple[str, Part]]


@dataclass(frozen=True)
class Word:
    """A word of a text and where it stands."""

    text: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """The words and signs of a text."""
    return [Word(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]


class Tagger:
    """Weights of features for tags; `learn` makes it, `suggest` uses it."""

    def __init__(self) -> None:
        self.weights: dict[str, dict[str, float]] = {}
        self.tags: tuple[str, ...] = (OUTSIDE,)
        self.texts = 0

    def suggest(self, text: str) -> tuple[Suggested, ...]:
        """The labels that it sees in a text."""
        words = words_of(text)
        return tuple(_spans(words, self._best_tags(words)))

    def uncertainty(self, text: str) -> float:
        """From 0 (sure) to 1: the mean over words of how near the second best label comes to the best."""
        words, before, total = words_of(text), OUTSIDE, 0.0
        for at in range(len(words)):
            scores = self._scores(_features(words, at, before), before)
            ordered = sorted(scores.values(), reverse=True)
            total += math.exp(ordered[1] - ordered[0]) if len(ordered) > 1 else 0.0
            before = max(scores, key=lambda tag: (scores[tag], tag))
        return total / len(words) if words else 0.0

    def _best_tags(self, words: Sequence[Word]) -> list[str]:
        tags: list[str] = []
        for at in range(len(words)):
            before = tags[-1] if tags else OUTSIDE
            tags.append(self._best(_features(words, at, before), before))
        return tags

    def _best(self, features: Sequence[str], before: str) -> str:
        scores = self._scores(features, before)
        return max(scores, key=lambda tag: (scores[tag], tag))

    def _scores(self, features: Sequence[str], before: str) -> dict[str, float]:
        """The score of each label that may follow the one before."""
        scores = dict.fromkeys(self.tags, 0.0)
        for feature in features:
            for tag, weight in self.weights.get(feature, {}).items():
                scores[tag] += weight
        return {tag: score for tag, score in scores.items() if _may_follow(before, tag)}


def learn(texts: Iterable[tuple[str, Spans]], *, seed: int = 0) -> Tagger:
    """A tagger from texts with their labels: of labels that overlap, the longer one is learned.

    >>> named = ("Anna met Kofi.", [("Person", (0, 4)), ("Person", (9, 13))])
    >>> made = learn([named, ("Then she left.", [])] * 3)
    >>> [one.parts for one in made.suggest("Then Kofi ran.")]
    [((5, 9),)]
    """
    examples, count = [], 0
    for text, spans in texts:
        words = words_of(text)
        if count + len(words) > MOST_TOKENS:
            continue
        count += len(words)
        examples.append((words, _tags(words, spans)))
    made = Tagger()
    made.texts = len(examples)
    made.tags = (OUTSIDE, *sorted({tag for _, tags in examples for tag in tags} - {OUTSIDE}))
    made.weights = _learn_weights(made, examples, random.Random(seed))
    return made


def _learn_weights(
    made: Tagger, examples: list[tuple[list[Word], list[str]]], dice: random.Random
) -> dict[str, dict[str, float]]:
    """The weights after all rounds, each the mean over all steps."""
    totals: dict[tuple[str, str], float] = defaultdict(float)
    changed: dict[tuple[str, str], int] = defaultdict(int)
    step = 0

    def add(feature: str, tag: str, by: float) -> None:
        mine = made.weights.setdefault(feature, {})
        totals[feature, tag] += (step - changed[feature, tag]) * mine.get(tag, 0.0)
        changed[feature, tag] = step
        mine[tag] = mine.get(tag, 0.0) + by

    for _ in range(ROUNDS):
        dice.shuffle(examples)
        for words, tags in examples:
            before = OUTSIDE
            for at, wanted in enumerate(tags):
                step += 1
                features = _features(words, at, before)
                guess = made._best(features, before)
                if guess != wanted:
                    for feature in features:
                        add(feature, wanted, 1.0)
                        add(feature, guess, -1.0)
                before = wanted
    for feature, mine in made.weights.items():
        for tag in mine:
            add(feature, tag, 0.0)
    found: dict[str, dict[str, float]] = {}
    for (feature, tag), total in totals.items():
        if total and step:
            found.setdefault(feature, {})[tag] = total / step
    return found


def _features(words: Sequence[Word], at: int, before: str) -> list[str]:
    word, lower = words[at].text, words[at].text.lower()
    left = words[at - 1].text if at else "<"
    right = words[at + 1].text if at + 1 < len(words) else ">"
    begins = at == 0 or left in _END
    return [
        "bias",
        f"t={before}",
        f"w={lower}",
        f"w={lower}|t={before}",
        f"s={_shape(word)}|{begins}",
        f"p={lower[:3]}",
        f"e={lower[-3:]}",
        f"l={left.lower()}",
        f"r={right.lower()}",
        f"ls={_shape(left)}",
        f"rs={_shape(right)}",
        f"l2={words[at - 2].text.lower() if at > 1 else '<'}",
    ]


def _shape(word: str) -> str:
    kinds = (
        "X" if char.isupper() else "x" if char.islower() else "9" if char.isdigit() else char for char in word[:20]
    )
    return re.sub(r"(.)\1+", r"\1", "".join(kinds))


def _tags(words: Sequence[Word], spans: Spans) -> list[str]:
    """B and I tags of the words that lie in labels."""
    tags = [OUTSIDE] * len(words)
    for label, (start, end) in sorted(spans, key=lambda one: one[1][0] - one[1][1]):
        inside = [at for at, word in enumerate(words) if word.start >= start and word.end <= end]
        if inside and all(tags[at] == OUTSIDE for at in inside):
            for number, at in enumerate(inside):
                tags[at] = f"{'I' if number else 'B'}-{label}"
    return tags


def _may_follow(before: str, tag: str) -> bool:
    return not tag.startswith("I-") or before in (f"B-{tag[2:]}", tag)


def _spans(words: Sequence[Word], tags: Sequence[str]) -> Iterator[Suggested]:
    start = 0
    for at, tag in enumerate(tags):
        if tag.startswith("B-"):
            start = at
        following = tags[at + 1] if at + 1 < len(tags) else OUTSIDE
        if tag != OUTSIDE and following != f"I-{tag[2:]}":
            yield Suggested(tag[2:], ((words[start].start, words[at].end),))
