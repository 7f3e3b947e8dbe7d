"""A made-up treebank: sentences from a small grammar of English, their trees, and a parser that makes mistakes.

The same seed gives the same trees on every machine. Words follow a Zipf law, as words do; the parser attaches phrases
one level too high, forgets brackets, and takes labels and tags for others, each about as often as it is told to.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Node: TypeAlias = tuple[str, "list[Node] | str"]
"""A label with its children, or a tag with its word."""

GRAMMAR: Mapping[str, Sequence[tuple[float, tuple[str, ...]]]] = {
    "TOP": [(1.0, ("S",))],
    "S": [(0.4, ("NP-SBJ", "VP", ".")), (0.2, ("PP", ",", "NP-SBJ", "VP", ".")), (0.4, ("S-IN", "CC", "S"))],
    "S-IN": [(1.0, ("NP-SBJ", "VP"))],
    "NP-SBJ": [(0.3, ("PRP",)), (0.5, ("DT", "NN")), (0.2, ("NP", "PP"))],
    "NP": [
        (0.4, ("DT", "NN")),
        (0.2, ("DT", "JJ", "NN")),
        (0.15, ("NNS",)),
        (0.2, ("NP", "PP")),
        (0.05, ("NP", "SBAR")),
    ],
    "VP": [
        *((0.4, ("VBD", "NP")), (0.3, ("VBD", "NP", "PP")), (0.1, ("VBD", "ADVP"))),
        *((0.1, ("VBD", "PRT", "NP")), (0.1, ("VBD", "SBAR"))),
    ],
    "PP": [(1.0, ("IN", "NP"))],
    "SBAR": [(0.7, ("WDT", "VP")), (0.3, ("-NONE-", "S-IN"))],
    "ADVP": [(1.0, ("RB",))],
    "PRT": [(1.0, ("RP",))],
}
SHORTEST: Mapping[str, tuple[str, ...]] = {
    "NP": ("NNS",),
    "NP-SBJ": ("PRP",),
    "VP": ("VBD", "ADVP"),
    "S": ("NP-SBJ", "VP", "."),
}
"""What a phrase becomes where a sentence is deep enough."""
DEEPEST = 12

WORDS: Mapping[str, Sequence[str]] = {
    "DT": ["the", "a", "this", "every", "no"],
    "NN": [
        "stone",
        "reader",
        "judge",
        "model",
        "parser",
        "tank",
        "river",
        "bank",
        "letter",
        "test",
        "answer",
        "window",
    ],
    "NNS": ["people", "fish", "trees", "words", "scores", "lines"],
    "JJ": ["black", "old", "small", "honest", "quick"],
    "PRP": ["it", "she", "he", "they", "we"],
    "VBD": ["saw", "read", "found", "moved", "asked", "kept", "drove"],
    "IN": ["in", "of", "with", "near", "from", "by"],
    "RB": ["slowly", "again", "there", "well"],
    "CC": ["and", "but"],
    "RP": ["up", "down", "out"],
    "WDT": ["that", "which"],
    "-NONE-": ["0"],
    ".": ["."],
    ",": [","],
}
CLOSED = frozenset({".", ",", "-NONE-", "DT", "PRP", "WDT", "CC", "RP"})
"""Tags of words of which a language has but few."""
RAISED = frozenset({"PP", "SBAR"})
TAKEN_FOR: Mapping[str, str] = {"NP": "ADJP", "PP": "ADVP", "ADVP": "PRT", "PRT": "ADVP", "SBAR": "S", "VP": "S"}
MISTAGGED: Mapping[str, str] = {"NN": "NNS", "NNS": "NN", "JJ": "NN", "VBD": "VBN", "RB": "JJ", "RP": "IN", "IN": "RB"}


@dataclass(frozen=True)
class Parser:
    """How often a parser makes each mistake, for each bracket or word where it could."""

    raised: float = 0.1
    forgotten: float = 0.03
    mislabelled: float = 0.03
    mistagged: float = 0.03
    strayed: float = 0.03
    """How often the first part of a phrase goes to the phrase before it, which makes brackets cross."""


@dataclass
class Treebank:
    """Trees to order; `words` is about how many different ones there are beyond the small list."""

    seed: int
    words: int = 0
    traces: bool = True
    dice: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)

    def trees(self, number: int) -> Iterator[Node]:
        """So many trees."""
        for _ in range(number):
            yield self._grow("TOP", 0)

    def parse(self, node: Node, parser: Parser) -> Node:
        """What the parser makes of a tree; traces are none of its words."""
        label, content = node
        if isinstance(content, str):
            wrong = self.dice.random() < parser.mistagged
            return MISTAGGED.get(label, label) if wrong else label, content
        label = label.partition("-")[0]
        if self.dice.random() < parser.mislabelled:
            label = TAKEN_FOR.get(label, label)
        children = [self.parse(child, parser) for child in content if child[0] != "-NONE-"]
        return label, list(self._attach(self._stray(children, parser), parser))

    def _grow(self, label: str, depth: int) -> Node:
        if label in WORDS:
            return label, self._word(label)
        parts = SHORTEST.get(label) if depth > DEEPEST else None
        parts = parts or self._choose(GRAMMAR[label])
        kept = (part for part in parts if self.traces or part != "-NONE-")
        return label.removesuffix("-IN"), [self._grow(part, depth + 1) for part in kept]

    def _choose(self, rules: Sequence[tuple[float, tuple[str, ...]]]) -> tuple[str, ...]:
        left = self.dice.random()
        for share, parts in rules:
            left -= share
            if left < 0:
                return parts
        return rules[-1][1]

    def _word(self, tag: str) -> str:
        plain = self.dice.choice(WORDS[tag])
        if not self.words or tag in CLOSED:
            return plain
        rank = int(self.words ** self.dice.random())  # log-uniform ranks are Zipf's law
        return plain if rank == 1 else f"{plain}{rank}"

    def _stray(self, children: list[Node], parser: Parser) -> list[Node]:
        """The children, with the first part of some hung to the end of the one before."""
        for place in range(1, len(children)):
            (label, before), (following, after) = children[place - 1], children[place]
            if isinstance(before, str) or isinstance(after, str) or len(after) < 2:
                continue
            if self.dice.random() < parser.strayed:
                children[place - 1], children[place] = (label, [*before, after[0]]), (following, after[1:])
        return children

    def _attach(self, children: Sequence[Node], parser: Parser) -> Iterator[Node]:
        """The children, with some brackets forgotten and some last phrases hung one level higher."""
        for label, content in children:
            if isinstance(content, str) or len(content) < 2:
                yield label, content
            elif self.dice.random() < parser.forgotten:
                yield from content
            elif content[-1][0] in RAISED and self.dice.random() < parser.raised:
                yield label, content[:-1]
                yield content[-1]
            else:
                yield label, content


def tree_text(node: Node) -> str:
    """A tree on one line.

    >>> tree_text(("NP", [("DT", "the"), ("NN", "stone")]))
    '(NP (DT the) (NN stone))'
    """
    label, content = node
    inside = content if isinstance(content, str) else " ".join(tree_text(child) for child in content)
    return f"({label} {inside})"


def sentences(
    seed: int, number: int, *, words: int = 0, traces: bool = True, parser: Parser | None = None
) -> tuple[list[str], list[str]]:
    """The trees of a made-up reference and of a made-up parser, one per line.

    >>> [lines[0] for lines in sentences(1, 1)]  # doctest: +ELLIPSIS
    ['(TOP (S ...', '(TOP (S ...']
    """
    bank, used = Treebank(seed, words, traces), parser or Parser()
    gold = list(bank.trees(number))
    return [tree_text(tree) for tree in gold], [tree_text(bank.parse(tree, used)) for tree in gold]
