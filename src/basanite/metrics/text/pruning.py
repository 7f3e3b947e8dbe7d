"""Trees made comparable by the rules of evalb: what is deleted, what counts as equal, and whether two trees fit.

All trees of a file are pruned at once, in columns of numbers. Words with a deleted tag go with their tag and the
others are numbered again; brackets with a deleted label, or without any word left, go; labels end before the first `-`
or `=`; what is declared equal becomes the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

DELETED = ("TOP", "ROOT", "S1", "-NONE-", ",", ":", "``", "''", ".", "?", "!")
"""What evalb's usual parameter files delete, and ROOT; a bracket without any label is deleted too."""

Bracket = tuple[int, int, str]
"""A label over the words from this one up to that one, without it."""


class Names(Protocol):
    """Words, tags and labels as numbers, and back."""

    def code(self, name: bytes) -> int:
        """The number of a name."""

    def name(self, code: int) -> bytes:
        """The name of a number."""


class Trees(Protocol):
    """Trees in columns: words and tags by number, brackets (outer before inner) over stretches of a tree's words.

    Words of tree `i` are those from `first_word[i]` up to `first_word[i + 1]`, brackets alike. Trees that are compared
    share their `names`.
    """

    @property
    def names(self) -> Names:
        """What the numbers stand for."""

    @property
    def words(self) -> Numbers:
        """The words of all trees."""

    @property
    def tags(self) -> Numbers:
        """The tag of each word."""

    @property
    def first_word(self) -> Numbers:
        """Where the words of each tree begin, and where the last ones end."""

    @property
    def labels(self) -> Numbers:
        """The label of each bracket."""

    @property
    def starts(self) -> Numbers:
        """The first word of each bracket, counted in its tree."""

    @property
    def ends(self) -> Numbers:
        """The word after the last one of each bracket."""

    @property
    def first_bracket(self) -> Numbers:
        """Where the brackets of each tree begin, and where the last ones end."""


def equivalence(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """By name the one it is taken for, where pairs of names are equal, and so is what is equal to both.

    >>> equivalence([("PRT", "ADVP"), ("PRT", "PART")])
    {'PART': 'ADVP', 'PRT': 'ADVP'}
    """
    groups: list[set[str]] = []
    for pair in pairs:
        touched = [group for group in groups if not group.isdisjoint(pair)]
        groups = [*(group for group in groups if group not in touched), set(pair).union(*touched)]
    return {name: min(group) for group in groups for name in sorted(group) if name != min(group)}


@dataclass(frozen=True)
class Rules:
    """How trees are made comparable: evalb's parameters, with the values of its usual files."""

    deleted: frozenset[str] = frozenset(DELETED)
    equal_labels: Mapping[str, str] = field(default_factory=lambda: {"PRT": "ADVP"})
    """By label or tag, the one it is taken for; see `equivalence`."""
    equal_words: Mapping[str, str] = field(default_factory=dict)
    cut: str = "-="
    """A label ends before the first of these signs."""
    not_in_length: frozenset[str] = frozenset({"-NONE-"})
    """Tags of words that do not count for the length of a sentence."""
    quotes: frozenset[str] = frozenset()
    """Tags that a quotation mark may have (QUOTE_LABEL of evalb); see `kept_with_quotes`."""

    def label(self, written: str) -> str:
        """A label as it is compared; "" if it is deleted.

        >>> Rules().label("NP-SBJ=2"), Rules().label("PRT"), Rules().label("TOP")
        ('NP', 'ADVP', '')
        """
        cut = written
        for sign in self.cut:
            cut = cut.partition(sign)[0]
        same = self.equal_labels
        gone = {same.get(name, name) for name in self.deleted}
        return "" if same.get(cut, cut) in gone else same.get(cut, cut)


@dataclass(frozen=True)
class Pruned:
    """What is left of trees when the rules have been applied, in the same columns."""

    names: Names
    words: Numbers
    tags: Numbers
    first_word: Numbers
    labels: Numbers
    starts: Numbers
    ends: Numbers
    first_bracket: Numbers

    @property
    def lengths(self) -> Numbers:
        """How many words each tree has left."""
        return np.diff(self.first_word)

    @property
    def trees(self) -> Numbers:
        """The number of the tree of each bracket."""
        return owners(self.first_bracket)

    def sentence(self, tree: int) -> list[str]:
        """The words of one tree."""
        return [self._text(code) for code in self.words[self.first_word[tree] : self.first_word[tree + 1]]]

    def brackets(self, tree: int) -> list[Bracket]:
        """The brackets of one tree."""
        part = slice(self.first_bracket[tree], self.first_bracket[tree + 1])
        columns = zip(self.starts[part].tolist(), self.ends[part].tolist(), self.labels[part], strict=True)
        return [(start, end, self._text(code)) for start, end, code in columns]

    def _text(self, code: np.int64) -> str:
        return self.names.name(int(code)).decode("utf-8", "replace")


def owners(firsts: Numbers) -> Numbers:
    """The number of the tree that each word or bracket belongs to, from where those of each tree begin."""
    return np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))


def kept_words(trees: Trees, rules: Rules) -> Flags:
    """For each word whether its tag lets it stay."""
    return ~np.isin(trees.tags, _codes(trees.names, rules.deleted))


def prune_trees(trees: Trees, rules: Rules, kept: Flags | None = None) -> Pruned:
    """The trees by the rules; `kept` says which words stay, if the trees' own tags are not to decide."""
    kept = kept_words(trees, rules) if kept is None else kept
    place = _running_counts(kept)
    first = trees.first_word[:-1][owners(trees.first_bracket)]
    starts, ends = (place[first + edge] - place[first] for edge in (trees.starts, trees.ends))
    labels = _compared_labels(trees, rules)
    stay = (labels != trees.names.code(b"")) & (starts < ends)
    return Pruned(
        trees.names,
        _equal_codes(trees.words[kept], rules.equal_words, trees.names),
        _equal_codes(trees.tags[kept], rules.equal_labels, trees.names),
        place[trees.first_word],
        labels[stay],
        starts[stay],
        ends[stay],
        _running_counts(stay)[trees.first_bracket],
    )


def kept_by_reference(gold: Trees, answers: Trees, rules: Rules) -> Flags:
    """For each word of the answers whether it stays, as the reference's tag says where both have as many words."""
    own, theirs = kept_words(answers, rules), kept_words(gold, rules)
    alike = np.diff(gold.first_word) == np.diff(answers.first_word)
    own[alike[owners(answers.first_word)]] = theirs[alike[owners(gold.first_word)]]
    return own


QUOTES = (b"'", b'"', b"/")
"""The words that evalb takes for quotation marks."""


@dataclass
class _Quote:
    """A word that may be a quotation mark: where it is, and how many words before it are kept."""

    at: int
    before: int
    tag: int
    kept: bool


def kept_with_quotes(gold: Trees, answers: Trees, rules: Rules) -> tuple[Flags, Flags]:
    """For each word of both sides whether it stays, where a quotation mark that one side keeps stays on the other too.

    As `fix_quote` of evalb: looked at only where the numbers of words differ; marks are paired by the number of words
    before them, and each one that comes back moves those after it.
    """
    ours, theirs = kept_words(gold, rules), kept_words(answers, rules)
    if rules.quotes:
        sides = (gold, ours), (answers, theirs)
        counts = [np.diff(_running_counts(kept)[side.first_word]) for side, kept in sides]
        marks = [_quotation_marks(side, rules) for side, _ in sides]
        for tree in np.flatnonzero(counts[0] != counts[1]).tolist():
            first, second = (_quotes_of(*side, tree, flags) for side, flags in zip(sides, marks, strict=True))
            _keep_both(first, second, ours, theirs)
    return ours, theirs


def _quotation_marks(trees: Trees, rules: Rules) -> Flags:
    words = np.isin(trees.words, [trees.names.code(word) for word in QUOTES])
    return np.asarray(words & np.isin(trees.tags, _codes(trees.names, rules.quotes)), dtype=bool)


def _quotes_of(trees: Trees, kept: Flags, tree: int, marks: Flags) -> list[_Quote]:
    start, end = int(trees.first_word[tree]), int(trees.first_word[tree + 1])
    before: Numbers = np.cumsum(kept[start:end]) - kept[start:end]
    places = (np.flatnonzero(marks[start:end]) + start).tolist()
    return [_Quote(at, int(before[at - start]), int(trees.tags[at]), bool(kept[at])) for at in places]


def _keep_both(gold: Sequence[_Quote], answers: Sequence[_Quote], ours: Flags, theirs: Flags) -> None:
    for number, answer in enumerate(answers):
        place = answer.before
        for other, one in enumerate(gold):
            if one.before != place or one.tag == answer.tag or one.kept == answer.kept:
                continue
            lost, flags, at = (one, ours, other) if answer.kept else (answer, theirs, number)
            lost.kept = flags[lost.at] = True
            for later in (gold if answer is not lost else answers)[at:]:
                later.before += 1


def lengths(trees: Trees, rules: Rules) -> Numbers:
    """How many words each sentence has, those aside that do not count for its length."""
    counts = _running_counts(~np.isin(trees.tags, _codes(trees.names, rules.not_in_length)))
    return np.diff(counts[trees.first_word])


def fitting(gold: Pruned, answers: Pruned) -> Flags:
    """For each tree whether it has the words of the reference."""
    fits = np.asarray(gold.lengths == answers.lengths, dtype=bool)
    ours, theirs = fits[owners(gold.first_word)], fits[owners(answers.first_word)]
    differ = gold.words[ours] != answers.words[theirs]
    fits[np.unique(owners(gold.first_word)[ours][differ])] = False
    return fits


def misfit(gold: Pruned, answers: Pruned, tree: int) -> str:
    """Why a tree is none of its sentence; "" if it is one."""
    wanted, found = gold.sentence(tree), answers.sentence(tree)
    if len(wanted) != len(found):
        return f"{len(found)} words are left after deletion, {len(wanted)} in the reference"
    for place, (one, other) in enumerate(zip(wanted, found, strict=True), start=1):
        if one != other:
            return f"word {place} after deletion is {other[:40]!r}, in the reference {one[:40]!r}"
    return ""


def _codes(names: Names, texts: Iterable[str]) -> Numbers:
    return np.array([names.code(text.encode()) for text in sorted(texts)], dtype=np.int64)


def _running_counts(flags: Flags) -> Numbers:
    """How many flags are up before each place, and in all."""
    return np.concatenate([[0], np.cumsum(flags)]).astype(np.int64)


def _compared_labels(trees: Trees, rules: Rules) -> Numbers:
    """The labels as they are compared; each different one is looked at once."""
    written, which = np.unique(trees.labels, return_inverse=True)
    texts = [trees.names.name(int(code)).decode("utf-8", "replace") for code in written]
    return np.array([trees.names.code(rules.label(text).encode()) for text in texts], dtype=np.int64)[which]


def _equal_codes(codes: Numbers, equal: Mapping[str, str], names: Names) -> Numbers:
    for one, other in sorted(equal.items()):
        codes = np.where(codes == names.code(one.encode()), names.code(other.encode()), codes)
    return codes
