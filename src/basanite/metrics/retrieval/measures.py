"""Measures of one ranked query, at any cut-off: average precision, nDCG, recall, RBP, ERR, alpha-nDCG … (T-13).

Each is a function of the grades of a ranking from the top down, and of all grades that there are to be found. The rules
are trec_eval's where it has the measure: gains are linear unless something else is asked for, grades below 0 say that
nobody judged, and a query without relevant documents counts 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import ANY, NOT_NEGATIVE, SHARE, Direction, Ends
from basanite.metrics.retrieval.ranking import (
    ABSENT,
    EPSILON,
    KEKALAINEN,
    VOORHEES,
    Gain,
    Integers,
    Reals,
    linear_gain,
)

ERR_GRADE: Final = 4
"""The highest grade of ERR unless one is named, as in gdeval."""
NO_PARTS: Final[tuple[frozenset[str], ...]] = ()


@dataclass(frozen=True)
class Ranked:
    """One query: the grades of its documents from the top down (`ABSENT`: not judged), and all grades of the query."""

    grades: Integers
    pool: Integers
    least: int = 1
    gain: Gain = linear_gain
    parts: Sequence[frozenset[str]] = NO_PARTS
    """The parts of the query (subtopics) that each document of the ranking is of."""
    pool_parts: Sequence[frozenset[str]] = NO_PARTS
    """The parts of each judged document, in the order of their names."""

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """Whether each document is relevant."""
        return self.grades >= self.least

    @cached_property
    def other(self) -> NDArray[np.bool_]:
        """Whether each document was judged and is not relevant."""
        return (self.grades >= 0) & ~self.relevant

    @cached_property
    def total(self) -> int:
        """How many documents are relevant, found or not."""
        return int(np.count_nonzero(self.pool >= self.least))

    @cached_property
    def precision(self) -> Reals:
        """The precision at every rank."""
        return np.asarray(np.cumsum(self.relevant) / np.arange(1, len(self.grades) + 1))

    def hits(self, cut: int | None = None) -> int:
        """How many of the first documents are relevant."""
        return int(np.count_nonzero(self.relevant[:cut]))


def share(top: float, bottom: float) -> float:
    """A ratio that is 0 where there is nothing to divide by, as trec_eval has them.

    >>> share(1, 4), share(0, 0)
    (0.25, 0.0)
    """
    return top / bottom if bottom else 0.0


def average_precision(query: Ranked, cut: int | None = None) -> float:
    """Precision at each relevant document among the first, missed ones as 0."""
    return share(float(query.precision[:cut][query.relevant[:cut]].sum()), query.total)


def reciprocal_rank(query: Ranked, cut: int | None = None) -> float:
    """One over the rank of the first relevant document."""
    found = np.flatnonzero(query.relevant[:cut])
    return 1 / (int(found[0]) + 1) if len(found) else 0.0


def gain_ratio(query: Ranked, cut: int | None = None, dcg: str = "log2") -> float:
    """nDCG: discounted gain over that of the best ranking of all judged documents."""
    ideal = np.sort(_gains(query, query.pool, dcg))[::-1]
    return share(_discounted_gain(_gains(query, query.grades, dcg), cut), _discounted_gain(ideal, cut))


def _gains(query: Ranked, grades: Integers, dcg: str) -> Reals:
    found, positive = np.zeros(len(grades)), grades > 0
    found[positive] = (exponential_gain if dcg == "exp-log2" else query.gain)(grades[positive])
    return found


def _discounted_gain(gains: Reals, cut: int | None) -> float:
    kept = gains[:cut]
    return float((kept / np.log2(np.arange(2, len(kept) + 2))).sum())


def r_precision(query: Ranked) -> float:
    """Precision at the rank that is the number of relevant documents."""
    return share(query.hits(query.total), query.total)


def rank_biased(query: Ranked, cut: int | None = None, p: float = 0.8) -> float:
    """What a reader finds who goes on to the next document with probability p."""
    found = np.flatnonzero(query.relevant[:cut])
    return float((1 - p) * (p**found).sum())


def expected_reciprocal_rank(query: Ranked, cut: int | None = None, max_rel: int = ERR_GRADE) -> float:
    """One over the rank at which a reader is expected to stop, satisfied by higher grades sooner."""
    grades = np.clip(query.grades[:cut], 0, None)
    satisfied = (np.exp2(grades) - 1) / 2.0**max_rel
    reach = np.cumprod(np.concatenate([[1.0], 1 - satisfied[:-1]])) if len(grades) else np.empty(0)
    return float((satisfied * reach / np.arange(1, len(grades) + 1)).sum())


def preference(query: Ranked) -> float:
    """bpref: how seldom a judged non-relevant document stands above a relevant one."""
    above = np.cumsum(query.other)[query.relevant]
    known = int(np.count_nonzero((query.pool >= 0) & (query.pool < query.least)))
    worse = np.minimum(above, query.total) / max(min(query.total, known), 1)
    return share(float((1 - worse).sum()), query.total)


def inferred_precision(query: Ranked) -> float:
    """Inferred AP: expected precision at each relevant document, from a sample of judgements above it."""
    place = np.flatnonzero(query.relevant)
    relevant, other = np.arange(len(place)), np.cumsum(query.other)[place]
    pooled = np.cumsum((query.grades < 0) & (query.grades != ABSENT))[place]
    in_pool = (relevant + other + pooled) / np.maximum(place, 1)
    sampled = (relevant + EPSILON) / (relevant + other + 2 * EPSILON)
    return share(float(((1 + place * in_pool * sampled) / (place + 1)).sum()), query.total)


def interpolated_precision(query: Ranked, level: float) -> float:
    """The best precision from a recall on; its number of documents is cut off from level x relevant + 0.9."""
    needed = int(level * query.total + 0.9)
    found = np.flatnonzero(query.relevant)
    if len(found) < needed or not len(found):
        return 0.0
    return float(query.precision[found[max(needed, 1) - 1 :]].max())


def eleven_point_precision(query: Ranked) -> float:
    """The mean of interpolated precision at recalls of 0, 0.1 … 1, by trec_eval's rule."""
    return math.fsum(interpolated_precision(query, level / 10) for level in range(11)) / 11


def novelty_ratio(query: Ranked, cut: int | None = None, alpha: float = 0.5) -> float:
    """alpha-nDCG: gain of parts of the query, each time less, over that of a ranking that takes the best next."""
    return share(_novelty(query.parts[:cut], alpha), _novelty(_best_next(query.pool_parts, cut, alpha), alpha))


def _novelty(documents: Sequence[frozenset[str]], alpha: float) -> float:
    seen: dict[str, int] = {}
    total = 0.0
    for rank, parts in enumerate(documents, start=1):
        total += sum((1 - alpha) ** seen.get(part, 0) for part in sorted(parts)) / math.log2(rank + 1)
        seen |= {part: seen.get(part, 0) + 1 for part in parts}
    return total


def _best_next(pool: Sequence[frozenset[str]], cut: int | None, alpha: float) -> list[frozenset[str]]:
    """The judged documents, each time the one of the greatest gain that is left; the first by name of equal ones."""
    left, seen, chosen = [parts for parts in pool if parts], dict[str, int](), list[frozenset[str]]()
    while left and (cut is None or len(chosen) < cut):
        gains = [sum((1 - alpha) ** seen.get(part, 0) for part in sorted(parts)) for parts in left]
        chosen.append(left.pop(int(np.argmax(gains))))
        seen |= {part: seen.get(part, 0) + 1 for part in chosen[-1]}
    return chosen


def part_recall(query: Ranked, cut: int | None = None) -> float:
    """The share of the parts of a query that the first documents are of."""
    there = frozenset[str]().union(*query.pool_parts)
    return share(len(frozenset[str]().union(*query.parts[:cut])), len(there))


def set_f(query: Ranked, beta: float = 1.0) -> float:
    """F of all retrieved documents, in which trec_eval weighs recall by beta and not by its square."""
    precision, recall = share(query.hits(), len(query.grades)), share(query.hits(), query.total)
    return share((beta + 1) * precision * recall, recall + beta * precision)


def judged_part(query: Ranked) -> Ranked:
    """The query with a ranking of judged documents alone (trec_eval -J)."""
    kept = query.grades >= 0
    parts = [part for part, stays in zip(query.parts, kept, strict=True) if stays] if query.parts else NO_PARTS
    return replace(query, grades=query.grades[kept], parts=parts)


def exponential_gain(grades: Integers) -> Reals:
    """2 to the grade, less 1: gains as of web search.

    >>> exponential_gain(np.array([1, 2, 3])).tolist()
    [1.0, 3.0, 7.0]
    """
    return np.asarray(np.exp2(grades) - 1)


def stated_gain(grades: Integers, stated: tuple[tuple[int, float], ...]) -> Reals:
    """The gains that are stated, and each other grade as its own, as in trec_eval.

    >>> stated_gain(np.array([1, 2, 3]), ((2, 9.0),)).tolist()
    [1.0, 9.0, 3.0]
    """
    gains = dict(stated)
    return np.array([gains.get(grade, float(grade)) for grade in grades.tolist()], dtype=np.float64)


CUT, MAY_CUT, NO_CUT, LEVEL = "must be cut", "may be cut", "no cut-off", "recall level"
MEAN, SUM, GEOMETRIC = "mean", "sum", "geometric mean"
BUCKLEY = "Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR (2004)"
MANNING = "Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), chapter 8"
CLARKE = "Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR (2008)"


Value = Callable[..., float]


@dataclass(frozen=True)
class Family:
    """Measures that differ in a cut-off and parameters alone; the first name is the one they are described by."""

    names: tuple[str, ...]
    summary: str
    citation: str
    value: Value
    cut: str = NO_CUT
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trec_eval: str = ""
    """What trec_eval calls it, where it has it: the cut-off follows after an underscore."""
    over: str = MEAN
    best: Direction = "high"
    range: Ends = SHARE
    answered: bool = False
    """Whether only queries with results count, and those without relevant documents too."""
    by_part: bool = False
    """Whether judgements by subtopic are needed."""


def _count(query: Ranked, of: str) -> float:
    counts = {
        "q": 1,
        "ret": len(query.grades),
        "rel": query.total,
        "rel_ret": query.hits(),
        "nonrel_judged_ret": int(np.count_nonzero(query.other)),
    }
    return float(counts[of])


def _number(names: tuple[str, ...], of: str, summary: str) -> Family:
    value = partial(_count, of=of)
    trec = names[0]
    return Family(names, summary, VOORHEES, value, trec_eval=trec, over=SUM, best="none", range=NOT_NEGATIVE)


FAMILIES: Final = (
    Family(("AP", "MAP", "map_cut"), "Average precision", VOORHEES, average_precision, MAY_CUT, trec_eval="map"),
    Family(
        ("nDCG", "ndcg_cut"),
        "Normalised discounted cumulative gain",
        KEKALAINEN,
        gain_ratio,
        MAY_CUT,
        {"dcg": "log2"},
        "ndcg",
    ),
    Family(
        ("P", "Precision"),
        "Share of relevant documents among the first, where empty ranks count as not relevant",
        VOORHEES,
        lambda query, cut: query.hits(cut) / cut,
        CUT,
        trec_eval="P",
    ),
    Family(
        ("R", "Recall"),
        "Share of the relevant documents that are among the first",
        VOORHEES,
        lambda query, cut: share(query.hits(cut), query.total),
        CUT,
        trec_eval="recall",
    ),
    Family(
        ("RR", "MRR", "recip_rank"),
        "Reciprocal rank of the first relevant document",
        "Voorhees, The TREC-8 question answering track report, TREC-8 (1999)",
        reciprocal_rank,
        MAY_CUT,
        trec_eval="recip_rank",
    ),
    Family(
        ("Success",),
        "Whether a relevant document is among the first",
        VOORHEES,
        lambda query, cut: float(query.hits(cut) > 0),
        CUT,
        trec_eval="success",
    ),
    Family(
        ("Rprec",), "Precision at the number of relevant documents", VOORHEES, r_precision, NO_CUT, trec_eval="Rprec"
    ),
    Family(
        ("RBP",),
        "Rank-biased precision: the expected gain of a reader who continues with probability p",
        "Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27 (2008)",
        rank_biased,
        MAY_CUT,
        {"p": 0.8},
    ),
    Family(
        ("ERR",),
        "Expected reciprocal rank, by grades up to max_rel",
        "Chapelle et al., Expected reciprocal rank for graded relevance, CIKM (2009)",
        expected_reciprocal_rank,
        MAY_CUT,
        {"max_rel": ERR_GRADE},
    ),
    Family(
        ("bpref",),
        "How rarely judged non-relevant documents rank above relevant ones",
        BUCKLEY,
        preference,
        trec_eval="bpref",
    ),
    Family(
        ("infAP",),
        "Average precision as estimated from judgments of a random sample of the pool",
        "Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM (2006)",
        inferred_precision,
        trec_eval="infAP",
    ),
    Family(
        ("gm_map",),
        "Geometric mean of average precision, of at least 0.00001",
        "Robertson, On GMAP: and other transformations, CIKM (2006)",
        average_precision,
        trec_eval="gm_map",
        over=GEOMETRIC,
    ),
    Family(
        ("gm_bpref",),
        "Geometric mean of bpref, of at least 0.00001",
        BUCKLEY,
        preference,
        trec_eval="gm_bpref",
        over=GEOMETRIC,
    ),
    Family(
        ("IPrec", "iprec_at_recall"),
        "Highest precision at this recall or above",
        MANNING,
        interpolated_precision,
        LEVEL,
        trec_eval="iprec_at_recall",
    ),
    Family(
        ("11pt_avg",),
        "Mean interpolated precision at 11 recalls, by trec_eval's rule",
        MANNING,
        eleven_point_precision,
        trec_eval="11pt_avg",
    ),
    Family(
        ("Judged",),
        "Share of the first documents that were judged at all, over the queries with results",
        "Lu, Moffat and Culpepper, The effect of pooling and evaluation depth on IR metrics, IRJ 19 (2016)",
        lambda query, cut: share(int(np.count_nonzero(query.grades[:cut] >= 0)), min(cut, len(query.grades))),
        CUT,
        answered=True,
    ),
    Family(
        ("set_P", "SetP"),
        "Share of relevant documents among all retrieved",
        MANNING,
        lambda query: share(query.hits(), len(query.grades)),
        trec_eval="set_P",
    ),
    Family(
        ("set_recall", "SetR"),
        "Share of the relevant documents that were retrieved",
        MANNING,
        lambda query: share(query.hits(), query.total),
        trec_eval="set_recall",
    ),
    Family(
        ("set_F", "SetF"),
        "Harmonic mean of precision and recall of all retrieved",
        MANNING,
        set_f,
        parameters={"beta": 1.0},
        trec_eval="set_F",
    ),
    Family(
        ("set_map", "SetAP"),
        "Precision times recall of all retrieved",
        VOORHEES,
        lambda query: share(query.hits() ** 2, len(query.grades) * query.total),
        trec_eval="set_map",
    ),
    Family(
        ("set_relative_P", "SetRelP"),
        "Relevant documents retrieved, over the most there could be in a set of this size",
        VOORHEES,
        lambda query: share(query.hits(), min(len(query.grades), query.total)),
        trec_eval="set_relative_P",
    ),
    Family(
        ("relative_P",),
        "Relevant documents among the first, over the most there could be",
        VOORHEES,
        lambda query, cut: share(query.hits(cut), min(cut, query.total)),
        CUT,
        trec_eval="relative_P",
    ),
    Family(
        ("utility",),
        "Relevant documents retrieved, minus all others retrieved",
        "Hull and Robertson, The TREC-8 filtering track final report, TREC-8 (1999)",
        lambda query: float(2 * query.hits() - len(query.grades)),
        trec_eval="utility",
        range=ANY,
    ),
    _number(("num_q", "NumQ"), "q", "Number of queries"),
    _number(("num_ret", "NumRet"), "ret", "Number of documents retrieved"),
    _number(("num_rel", "NumRel"), "rel", "Number of relevant documents"),
    _number(("num_rel_ret", "NumRelRet"), "rel_ret", "Number of relevant documents retrieved"),
    _number(
        ("num_nonrel_judged_ret",), "nonrel_judged_ret", "Number of retrieved documents that were judged non-relevant"
    ),
    Family(
        ("alpha_nDCG", "alpha-nDCG", "α_nDCG", "α-nDCG"),
        "nDCG over subtopics, whose gain falls by alpha each time they are found",
        CLARKE,
        novelty_ratio,
        MAY_CUT,
        {"alpha": 0.5},
        by_part=True,
    ),
    Family(
        ("StRecall", "strec"),
        "Share of the subtopics that are found",
        "Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR (2003)",
        part_recall,
        MAY_CUT,
        by_part=True,
    ),
)
"""All families, those people ask for most first."""
