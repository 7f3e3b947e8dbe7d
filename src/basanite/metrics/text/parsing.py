"""PARSEVAL: how many brackets of a tree are right, counted as the program evalb counts them.

What the rules of evalb leave of two trees (see `pruning`) is compared as two bags of brackets: one that appears twice
counts twice. Values are ratios of sums over all sentences. A tree with other words than its sentence counts as one
without brackets, unless it is asked to be left out, as evalb does; it is never passed over in silence (T-2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import NOT_NEGATIVE, SHARE, Metric, Rows, column_ratio, ratio
from basanite.metrics.text.pruning import Bracket, Flags, Numbers, Pruned, Rules, Trees, fitting, prune_trees

PARSEVAL = (
    "Black et al., A procedure for quantitatively comparing the syntactic coverage of English grammars, Speech and "
    "Natural Language workshop (1991); rules of evalb (Sekine and Collins, 1997)"
)
COLUMNS = (
    *("matched", "gold", "answered", "matched_spans", "exact", "sentences"),
    *("crossing", "fitting", "right_tags", "words"),
)
"""What each sentence contributes."""

MATCHED, GOLD, ANSWERED, SPANS, EXACT_TREES, SENTENCES, CROSSING_COUNT, FITTING, TAGS, WORDS = range(len(COLUMNS))


@dataclass(frozen=True)
class Parses:
    """Sentences with their trees in the reference and in the answers, and which answers fit."""

    units: Sequence[str]
    gold: Pruned
    answers: Pruned
    fits: Flags
    leave_out: bool = False
    """Whether a sentence whose answer does not fit is left out, as evalb does, or counts as one without brackets."""


def statistics(block: Parses) -> Rows:
    """One row of `COLUMNS` for each sentence."""
    gold, answers, fits = block.gold, block.answers, block.fits
    rows = np.zeros((len(fits), len(COLUMNS)))
    counted = np.full(len(fits), True) if not block.leave_out else fits
    spans, brackets = _match_brackets(gold, answers, fits)
    rows[:, MATCHED], rows[:, SPANS] = brackets, spans
    rows[:, GOLD] = np.diff(gold.first_bracket) * counted
    rows[:, ANSWERED] = np.diff(answers.first_bracket) * fits
    rows[:, EXACT_TREES] = fits & (rows[:, GOLD] == rows[:, ANSWERED]) & (rows[:, GOLD] == brackets)
    rows[:, SENTENCES], rows[:, FITTING] = counted, fits
    rows[:, CROSSING_COUNT] = _crossing(gold, answers, fits & (spans < rows[:, ANSWERED]))
    rows[:, TAGS] = _right_tags(gold, answers, fits)
    rows[:, WORDS] = gold.lengths * counted
    return rows


def _match_brackets(gold: Pruned, answers: Pruned, fits: Flags) -> tuple[Numbers, Numbers]:
    """The number of matching brackets of each fitting tree: by words only, and by words and label."""
    sides = [(side, fits[side.trees]) for side in (gold, answers)]
    first = gold.first_word[:-1]  # a fitting answer has as many words, so both can be numbered through alike
    longest = int(gold.lengths.max(initial=0)) + 1
    trees = np.concatenate([side.trees[here] for side, here in sides])
    starts, ends, labels = (
        np.concatenate([getattr(side, name)[here] for side, here in sides]) for name in ("starts", "ends", "labels")
    )
    size = int(np.count_nonzero(sides[0][1]))
    spans = _number_keys((first[trees] + starts) * longest + ends - starts)
    brackets = _number_keys(spans * (len(labels) + 1) + _number_keys(labels))
    return _count_shared(spans, size, trees, len(fits)), _count_shared(brackets, size, trees, len(fits))


def _number_keys(keys: Numbers) -> Numbers:
    """Keys as small numbers, the same for the same key."""
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _count_shared(keys: Numbers, size: int, trees: Numbers, number: int) -> Numbers:
    """How many things two bags share in each tree; the first `size` keys are those of the first bag."""
    most = int(keys.max(initial=-1)) + 1
    both = np.minimum(np.bincount(keys[:size], minlength=most), np.bincount(keys[size:], minlength=most))
    tree = np.zeros(most, dtype=np.int64)
    tree[keys] = trees
    return np.bincount(tree, weights=both, minlength=number).astype(np.int64)


def _right_tags(gold: Pruned, answers: Pruned, fits: Flags) -> Numbers:
    tree = np.repeat(np.arange(len(fits)), gold.lengths)
    right = gold.tags[fits[tree]] == answers.tags[np.repeat(fits, answers.lengths)]
    return np.bincount(tree[fits[tree]], weights=right, minlength=len(fits)).astype(np.int64)


def _crossing(gold: Pruned, answers: Pruned, asked: Flags) -> Numbers:
    """How many brackets of each answer cross some bracket of the reference; 0 where all spans match anyway."""
    found = np.zeros(len(asked), dtype=np.int64)
    sides = [(side.first_bracket.tolist(), side.starts.tolist(), side.ends.tolist()) for side in (gold, answers)]
    words = gold.lengths.tolist()
    for tree in np.flatnonzero(asked).tolist():
        ours, theirs = (
            list(zip(starts[first[tree] : first[tree + 1]], ends[first[tree] : first[tree + 1]], strict=True))
            for first, starts, ends in sides
        )
        known = set(ours)  # a bracket of the reference crosses none of its own
        found[tree] = crossing_spans(ours, [span for span in theirs if span not in known], words[tree])
    return found


Span = tuple[int, int]


def crossing_spans(tree: Sequence[Span], spans: Sequence[Span], words: int) -> int:
    """How many spans overlap some bracket of a tree (outer ones first) without one holding the other.

    Brackets of a tree around one gap between words are nested, so it is enough to look at the innermost one around the
    gap where a span begins and the one where it ends: the time grows with the length, not with its square.

    >>> crossing_spans([(0, 4), (0, 2), (2, 4)], [(0, 4), (1, 3), (2, 4)], words=4)
    1
    """
    inner = _innermost(tree, words)
    return sum(inner[start][1] < end or inner[end][0] > start for start, end in spans)


def _innermost(tree: Sequence[Span], words: int) -> list[Span]:
    """For each gap between words the innermost bracket with words on both sides of it; without one, all there is."""
    around: list[Span] = [(-1, words + 1)]
    inner: list[Span] = []
    coming = iter(tree)
    following = next(coming, None)
    for gap in range(words + 1):
        while around[-1][1] <= gap:
            around.pop()
        inner.append(around[-1])
        while following is not None and following[0] == gap:
            around.append(following)
            following = next(coming, None)
    return inner


class Differences(NamedTuple):
    """The brackets that only one of two trees has, each as often as it is missing from the other."""

    only_first: tuple[Bracket, ...]
    only_second: tuple[Bracket, ...]


def bracket_differences(first: Sequence[Bracket], second: Sequence[Bracket]) -> Differences:
    """The brackets in which two trees of one sentence differ (reference and answer, or two answers), in their order.

    >>> bracket_differences([(0, 2, "S"), (0, 1, "NP")], [(0, 2, "S"), (0, 1, "VP"), (1, 2, "NP")])
    Differences(only_first=((0, 1, 'NP'),), only_second=((0, 1, 'VP'), (1, 2, 'NP')))
    """
    return Differences(tuple(_missing(first, second)), tuple(_missing(second, first)))


def _missing(first: Sequence[Bracket], second: Sequence[Bracket]) -> Iterator[Bracket]:
    there = Counter(second)
    for bracket in first:
        if there[bracket]:
            there[bracket] -= 1
        else:
            yield bracket


def _f1(sums: Rows, top: int) -> NDArray[np.float64]:
    """The harmonic mean of precision and recall; undefined where one of them is."""
    both = (sums[..., GOLD] > 0) & (sums[..., ANSWERED] > 0)
    return np.where(both, ratio(2 * sums[..., top], sums[..., GOLD] + sums[..., ANSWERED]), np.nan)


LABELLED_F1 = Metric(
    name="labelled_f1",
    title="Labeled F1",
    summary="Labeled bracket F1: harmonic mean of labeled precision and recall over all sentences",
    citation=PARSEVAL,
    family="parsing",
    statistics=statistics,
    reduce=partial(_f1, top=MATCHED),
    range=SHARE,
    columns=COLUMNS,
    unit="sentence",
)
LABELLED_PRECISION = replace(
    LABELLED_F1,
    name="labelled_precision",
    title="Labeled precision",
    summary="Share of the answer's brackets that the reference has with the same words and label",
    reduce=partial(column_ratio, top=MATCHED, bottom=ANSWERED),
)
LABELLED_RECALL = replace(
    LABELLED_F1,
    name="labelled_recall",
    title="Labeled recall",
    summary="Share of the reference's brackets that the answer has with the same words and label",
    reduce=partial(column_ratio, top=MATCHED, bottom=GOLD),
)
UNLABELLED_F1 = replace(
    LABELLED_F1,
    name="unlabelled_f1",
    title="Unlabeled F1",
    summary="Unlabelled bracket F1: harmonic mean of unlabeled precision and recall over all sentences",
    reduce=partial(_f1, top=SPANS),
)
UNLABELLED_PRECISION = replace(
    LABELLED_PRECISION,
    name="unlabelled_precision",
    title="Unlabeled precision",
    summary="Share of the answer's brackets that the reference has with the same words, whatever the label",
    reduce=partial(column_ratio, top=SPANS, bottom=ANSWERED),
)
UNLABELLED_RECALL = replace(
    LABELLED_RECALL,
    name="unlabelled_recall",
    title="Unlabeled recall",
    summary="Share of the reference's brackets that the answer has with the same words, whatever the label",
    reduce=partial(column_ratio, top=SPANS, bottom=GOLD),
)
EXACT = replace(
    LABELLED_F1,
    name="exact",
    title="Exact match",
    summary="Share of sentences whose labeled brackets are exactly those of the reference",
    reduce=partial(column_ratio, top=EXACT_TREES, bottom=SENTENCES),
    linear=True,
    proportion=True,
    interval="wilson",
    carrier="sentences",
)
CROSSING = replace(
    LABELLED_F1,
    name="crossing",
    title="Crossing brackets",
    summary="Mean number of brackets per tree that cross a bracket of the reference",
    reduce=partial(column_ratio, top=CROSSING_COUNT, bottom=FITTING),
    range=NOT_NEGATIVE,
    best="low",
    linear=True,
)
TAGGING = replace(
    LABELLED_F1,
    name="tagging",
    title="Tagging accuracy",
    summary="Share of words, after deletions, with the tag of the reference",
    reduce=partial(column_ratio, top=TAGS, bottom=WORDS),
)
METRICS = (
    *(LABELLED_F1, LABELLED_PRECISION, LABELLED_RECALL, UNLABELLED_F1, UNLABELLED_PRECISION, UNLABELLED_RECALL),
    *(EXACT, CROSSING, TAGGING),
)


def values(gold: Trees, answers: Trees, *, rules: Rules | None = None, leave_out: bool = False) -> dict[str, float]:
    """All values of some trees against those of a reference; both share their names."""
    used = rules or Rules()
    ours, theirs = prune_trees(gold, used), prune_trees(answers, used)
    names = [str(number) for number in range(len(ours.lengths))]
    rows = statistics(Parses(names, ours, theirs, fitting(ours, theirs), leave_out))
    return {metric.name: metric.of(rows) for metric in METRICS}
