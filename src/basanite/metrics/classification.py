"""Classification: precision, recall and F of every class, and their macro, micro and weighted means.

Each item contributes to the class it belongs to and to the class it was given. A ratio of nothing over nothing is
undefined, never 0: a class that was never answered has no precision. Means are then over the classes that have the
value (as scikit-learn's `zero_division=nan`), which is said beside them; `undefined` can be set to 0 or 1 instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import SHARE, SIGNED_SHARE, Metric, Rows, column_ratio, ratio

RIJSBERGEN = "van Rijsbergen, Information Retrieval, 2nd edition (1979), chapter 7"
AVERAGES = (
    "Sokolova and Lapalme, A systematic analysis of performance measures for classification tasks, Information "
    "Processing & Management 45(4) (2009)"
)
MATTHEWS = "Gorodkin, Comparing two K-category assignments by a K-category correlation coefficient (2004)"
COHEN = "Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1) (1960)"
BRODERSEN = "Brodersen, Ong, Stephan and Buhmann, The balanced accuracy and its posterior distribution, ICPR (2010)"
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

CLASS_COLUMNS = ("hits", "answered", "true")
"""What an item contributes to one class: right and there, given to it, belonging to it."""
HITS, ANSWERED, TRUE = range(len(CLASS_COLUMNS))
WHOLE = ("items", "correct")
"""What an item contributes to all classes together; the columns of each class follow."""


@dataclass(frozen=True)
class Labels:
    """Items with the class they belong to and the class they were given, by number; -1 is a class left out."""

    units: Sequence[str]
    truth: Numbers
    answers: Numbers
    classes: int
    correct: NDArray[np.bool_] | None = None
    """Whether each answer is right, where classes are left out that also count for accuracy."""


def statistics(block: Labels) -> Rows:
    """One row for each item: `WHOLE`, then `CLASS_COLUMNS` of each class.

    >>> statistics(Labels(["a"], np.array([0]), np.array([1]), 2)).tolist()
    [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]]
    """
    rows = np.zeros((len(block.truth), len(WHOLE) + len(CLASS_COLUMNS) * block.classes))
    correct = block.truth == block.answers if block.correct is None else block.correct
    rows[:, 0], rows[:, 1] = 1, correct
    places = ((HITS, block.truth, correct), (ANSWERED, block.answers, True), (TRUE, block.truth, True))
    for column, label, counts in places:
        items = np.flatnonzero((label >= 0) & counts)
        rows[items, len(WHOLE) + len(CLASS_COLUMNS) * label[items] + column] = 1
    return rows


def class_rows(block: Labels, label: int) -> tuple[Numbers, Rows]:
    """The items that belong to a class or were given it, and the `CLASS_COLUMNS` of each."""
    true, given = block.truth == label, block.answers == label
    items = np.flatnonzero(true | given)
    return items, np.column_stack([true & given, given, true])[items].astype(np.float64)


def counts_of(block: Labels) -> Rows:
    """`CLASS_COLUMNS` of each item over the one class it belongs to and the one it was given, together."""
    known, given = block.truth >= 0, block.answers >= 0
    return np.column_stack([known & (block.truth == block.answers), given, known]).astype(np.float64)


Value = Callable[..., Floats]


def precision_of(counts: Rows) -> Floats:
    """Hits over all that were given the class."""
    return ratio(counts[..., HITS], counts[..., ANSWERED])


def recall_of(counts: Rows) -> Floats:
    """Hits over all that belong to the class."""
    return ratio(counts[..., HITS], counts[..., TRUE])


def f_of(counts: Rows, beta: float = 1.0) -> Floats:
    """F: the harmonic mean of precision and recall in which recall weighs beta times as much.

    >>> f_of(np.array([1.0, 2.0, 4.0])).tolist(), f_of(np.array([1.0, 2.0, 4.0]), beta=2.0).tolist()
    (0.3333333333333333, 0.2777777777777778)
    """
    square = beta * beta
    return ratio((1 + square) * counts[..., HITS], counts[..., ANSWERED] + square * counts[..., TRUE])


def _classes(sums: Rows) -> Rows:
    """The counts of each class, `[..., classes, 3]`."""
    part = sums[..., len(WHOLE) :]
    return part.reshape(*part.shape[:-1], -1, len(CLASS_COLUMNS))


def _filled_in(values: Floats, counts: Rows, undefined: float) -> Floats:
    """The values of classes that occur; what is undefined for one of them is what it was set to be."""
    occurs = (counts[..., ANSWERED] + counts[..., TRUE]) > 0
    return np.where(occurs & np.isnan(values), undefined, values)


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    """The mean of the values that are there; nan where none is, or none weighs anything."""
    there = ~np.isnan(values)
    weights = weights * there
    return ratio((np.where(there, values, 0) * weights).sum(axis=-1), weights.sum(axis=-1))


def _macro(sums: Rows, value: Value, undefined: float = np.nan, **more: float) -> Floats:
    counts = _classes(sums)
    values = _filled_in(value(counts, **more), counts, undefined)
    return _weighted_mean(values, np.ones_like(values))


def _class_size_mean(sums: Rows, value: Value, undefined: float = np.nan, **more: float) -> Floats:
    counts = _classes(sums)
    return _weighted_mean(_filled_in(value(counts, **more), counts, undefined), counts[..., TRUE])


def _micro(sums: Rows, value: Value, undefined: float = np.nan, **more: float) -> Floats:
    counts = _classes(sums).sum(axis=-2)
    return _filled_in(value(counts, **more), counts, undefined)


def _single(sums: Rows, value: Value, undefined: float = np.nan, **more: float) -> Floats:
    return _filled_in(value(sums, **more), sums, undefined)


def matthews_correlation(sums: Rows) -> Floats:
    """The correlation of true and given classes, of any number; nan where either side has one class alone.

    >>> block = Labels(["a", "b", "c"], np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    >>> float(matthews_correlation(statistics(block).sum(axis=0)))
    0.5
    """
    items, correct, given, true = _marginals(sums)
    spread = (items**2 - (given**2).sum(axis=-1)) * (items**2 - (true**2).sum(axis=-1))
    return ratio(correct * items - (given * true).sum(axis=-1), np.sqrt(np.maximum(spread, 0)))


def cohen_kappa(sums: Rows) -> Floats:
    """Agreement of true and given classes beyond what their frequencies would give by chance.

    >>> block = Labels(["a", "b", "c"], np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    >>> round(float(cohen_kappa(statistics(block).sum(axis=0))), 4)
    0.4
    """
    items, correct, given, true = _marginals(sums)
    chance = (given * true).sum(axis=-1)
    return ratio(correct * items - chance, items**2 - chance)


def _marginals(sums: Rows) -> tuple[Floats, Floats, Floats, Floats]:
    """How many items there are and how many are right, and by class how many were given it and belong to it."""
    counts = _classes(sums)
    return sums[..., 0], sums[..., 1], counts[..., ANSWERED], counts[..., TRUE]


MEANS = {
    "macro": (_macro, "unweighted mean over the classes that have it"),
    "micro": (_micro, "from the pooled counts of all classes"),
    "weighted": (_class_size_mean, "mean over the classes that have it, weighted by the number of items"),
}

TITLES = {"precision": "Precision", "recall": "Recall", "f1": "F1", "f_beta": "F-beta"}


def _mean(name: str, value: Value, words: str, kind: str, citation: str, *parameters: str) -> Metric:
    reduce, how = MEANS[kind]
    return Metric(
        name=f"{name}_{kind}",
        title=f"{TITLES[name]} ({kind})",
        summary=f"{words}: {how}",
        citation=citation,
        family="classification",
        statistics=statistics,
        reduce=partial(reduce, value=value),
        range=SHARE,
        parameters=("undefined", *parameters),
        unit="item",
        interval="wilson",
    )


def _of_class(name: str, value: Value, words: str, *parameters: str) -> Metric:
    return Metric(
        name=name,
        title=TITLES[name],
        summary=f"{words} of one class",
        citation=RIJSBERGEN,
        family="classes",
        statistics=counts_of,
        reduce=partial(_single, value=value),
        range=SHARE,
        columns=CLASS_COLUMNS,
        parameters=("undefined", *parameters),
        unit="item",
        overall=False,
        interval="wilson",
        shared_name=True,
    )


PRECISION_MACRO, PRECISION_MICRO, PRECISION_WEIGHTED = (
    _mean("precision", precision_of, "Share of predictions that are correct", kind, AVERAGES) for kind in MEANS
)
RECALL_MACRO, RECALL_MICRO, RECALL_WEIGHTED = (
    _mean("recall", recall_of, "Share of the items of a class that are predicted as it", kind, AVERAGES)
    for kind in MEANS
)
F1_MACRO, F1_MICRO, F1_WEIGHTED = (
    _mean("f1", f_of, "Harmonic mean of precision and recall", kind, AVERAGES) for kind in MEANS
)
F_BETA_MACRO, F_BETA_MICRO, F_BETA_WEIGHTED = (
    _mean("f_beta", f_of, "F with recall weighing beta times as much", kind, RIJSBERGEN, "beta") for kind in MEANS
)
ACCURACY = Metric(
    name="accuracy",
    title="Accuracy",
    summary="Share of items whose class is predicted correctly",
    citation=AVERAGES,
    family="classification",
    statistics=statistics,
    reduce=partial(column_ratio, top=1, bottom=0),
    range=SHARE,
    unit="item",
    linear=True,
    proportion=True,
    interval="wilson",
)
MCC = Metric(
    name="mcc",
    title="MCC",
    summary="Matthews correlation coefficient of true and predicted classes, for two or more classes",
    citation=MATTHEWS,
    family="classification",
    statistics=statistics,
    reduce=matthews_correlation,
    range=SIGNED_SHARE,
    unit="item",
    interval="wilson",
)
KAPPA = replace(
    MCC,
    name="cohen_kappa",
    title="Cohen's kappa",
    summary="Agreement beyond chance, as a share of the maximum possible",
    citation=COHEN,
    reduce=cohen_kappa,
)
BALANCED_ACCURACY = replace(
    MCC,
    name="balanced_accuracy",
    title="Balanced accuracy",
    summary="Mean recall over the classes of the reference",
    citation=BRODERSEN,
    reduce=partial(_macro, value=recall_of),
    range=SHARE,
)
PRECISION = _of_class("precision", precision_of, "Share of predictions that are correct")
RECALL = _of_class("recall", recall_of, "Share of items that were found")
F1 = _of_class("f1", f_of, "Harmonic mean of precision and recall")
F_BETA = _of_class("f_beta", f_of, "F with recall weighing beta times as much", "beta")

OVERALL = (
    *(F1_MACRO, F1_MICRO, F1_WEIGHTED, PRECISION_MACRO, PRECISION_MICRO, PRECISION_WEIGHTED),
    *(RECALL_MACRO, RECALL_MICRO, RECALL_WEIGHTED, ACCURACY, BALANCED_ACCURACY, MCC, KAPPA),
)
OF_ALL_CLASSES = (MCC, KAPPA)
"""What has no meaning for some of the classes alone."""
BY_CLASS = (F1, PRECISION, RECALL)
WITH_BETA = (F_BETA_MACRO, F_BETA_MICRO, F_BETA_WEIGHTED)
METRICS = (*OVERALL, *WITH_BETA, *BY_CLASS, F_BETA)


def confusion(block: Labels) -> Numbers:
    """How many items of each class (rows) were given each class (columns).

    >>> confusion(Labels(["a", "b"], np.array([0, 1]), np.array([1, 1]), 2)).tolist()
    [[0, 1], [0, 1]]
    """
    known = (block.truth >= 0) & (block.answers >= 0)
    pairs = block.truth[known] * block.classes + block.answers[known]
    return np.bincount(pairs, minlength=block.classes**2).reshape(block.classes, block.classes)


def number_classes(truth: Sequence[str], answers: Sequence[str]) -> tuple[list[str], Labels]:
    """The classes that occur, sorted, and the items by number."""
    classes, which = np.unique(np.array([*truth, *answers], dtype=object).astype(str), return_inverse=True)
    units = [str(number) for number in range(len(truth))]
    return classes.tolist(), Labels(units, which[: len(truth)], which[len(truth) :], len(classes))


def values(
    truth: Sequence[str], answers: Sequence[str], *, beta: float = 1.0, undefined: float = np.nan
) -> dict[str, float]:
    """All values of a whole set of items.

    >>> round(values(["a", "a", "b"], ["a", "b", "b"])["f1_macro"], 4)
    0.6667
    """
    rows = statistics(number_classes(truth, answers)[1])
    bound = [metric.bind(beta=beta, undefined=undefined) for metric in (*OVERALL, *WITH_BETA)]
    return {metric.name: metric.of(rows) for metric in bound}
