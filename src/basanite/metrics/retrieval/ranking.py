"""Ranking metrics with trec_eval's rules: average precision, nDCG, P@10, reciprocal rank, bpref, inferred AP.

Every one of them is a sum over the documents of a query that have a grade above 0, so a query is kept as the places
of those (`Found`) and nothing else; run files and dense score matrices both end there. Documents without a grade are
unjudged, which is not the same as non-relevant: bpref leaves them out, inferred AP estimates with them, judged@10
counts them. A grade below 0 says "in the pool, not judged yet".

Ranking metrics of dense score matrices, queries x documents: no run file, no dictionary, no full sort of documents.

The rank of a document is the number of scores above its own, so sorting the bare scores and bisecting for the few
documents that have a grade is enough. Only where such a document is tied, or some documents are not judged, is the
row ranked as a whole. Scores stay float64 (T-11): 1.0 and 1.0 + 1e-9 are two ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError
from basanite.kernel import SHARE, Metric, Rows, ratio
from basanite.metrics.retrieval.average_precision import eleven_points

Integers: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]
WithoutRelevant = Literal["zero", "leave_out"]

ABSENT = np.iinfo(np.int64).min
"""Stands for the grade of a document that the judgements do not name."""
DEPTH = 10
EPSILON = 1e-5
"""What trec_eval adds to the counts of inferred AP, so that no judged document above is not a division by 0."""

COLUMNS = (
    *("ap", "ndcg", "ndcg_10", "p_10", "rr", "bpref", "infap", "ap11", "judged_10"),
    *("queries", "with_relevant", "with_results"),
)
"""What each query contributes; a value that is not defined for it is 0 with 0 in its count column."""


class Found(NamedTuple):
    """One query after ranking: its documents of a grade above 0 that were retrieved, from the top down."""

    rank: Integers
    """Counted from 1."""
    grade: Integers
    other: Integers
    """How many judged non-relevant documents stand above each."""
    pooled: Integers
    """How many documents that are in the pool but not judged stand above each."""
    first: int
    """How many of the first ten are judged."""
    retrieved: int


Gain: TypeAlias = Callable[[Integers], Reals]
"""The gain of each of some grades above 0."""


def linear_gain(grades: Integers) -> Reals:
    """Each grade as its own gain, as trec_eval has it unless told otherwise."""
    return grades.astype(np.float64)


@dataclass(frozen=True)
class RankedQueries:
    """Queries with their rankings: what was found of each, and all grades that there are to be found."""

    units: Sequence[str]
    found: Sequence[Found]
    grades: Sequence[Integers]
    """All grades of each query's judgements, in any order; what they do not list is not judged."""
    least: int = 1
    """The lowest grade that counts as relevant; gains of nDCG start at grade 1 all the same, as in trec_eval."""
    gain: Gain = linear_gain

    @cached_property
    def relevant(self) -> Reals:
        """How many relevant documents each query has, found or not."""
        return np.array([np.count_nonzero(grades >= self.least) for grades in self.grades], dtype=np.float64)

    @cached_property
    def other(self) -> Reals:
        """How many documents of each query were judged non-relevant."""
        judged = [np.count_nonzero((grades >= 0) & (grades < self.least)) for grades in self.grades]
        return np.array(judged, dtype=np.float64)

    @cached_property
    def hits(self) -> Hits:
        """The relevant documents found, of all queries one after the other."""
        return Hits.of(self)


@dataclass(frozen=True)
class Hits:
    """Relevant documents that were found: of which query, at which rank, as which one of it, and below what."""

    query: Integers
    rank: Reals
    number: Reals
    """The rank of each relevant document among the relevant ones of its query, from 1."""
    other: Reals
    pooled: Reals

    @classmethod
    def of(cls, block: RankedQueries) -> Hits:
        """The relevant documents of every query, from the top down."""
        kept = [found.grade >= block.least for found in block.found]
        sizes = [int(np.count_nonzero(mask)) for mask in kept]
        parts = [
            (found.rank[mask], np.arange(1, size + 1), found.other[mask], found.pooled[mask])
            for found, mask, size in zip(block.found, kept, sizes, strict=True)
        ]
        query = np.repeat(np.arange(len(parts)), sizes)
        return cls(query, *(_concatenate([part[at] for part in parts]) for at in range(4)))

    def sum_by_query(self, weights: Reals, queries: int) -> Reals:
        """The sum of something over the hits of each query."""
        return np.bincount(self.query, weights=weights, minlength=queries).astype(np.float64)


def _concatenate(parts: Sequence[NDArray[np.int64]]) -> Reals:
    return np.concatenate([*parts, np.empty(0)]).astype(np.float64)


def found_in(grades: Integers, *, least: int = 1) -> Found:
    """One query from the grades of its documents in the order of the ranking (`ABSENT` = not in the judgements).

    >>> found_in(np.array([0, 2, -1, 1])).rank.tolist()
    [2, 4]
    """
    place = np.flatnonzero(grades > 0)
    other = np.cumsum((grades >= 0) & (grades < least), dtype=np.int64)[place]
    pooled = np.cumsum((grades < 0) & (grades != ABSENT), dtype=np.int64)[place]
    first = int(np.count_nonzero(grades[:DEPTH] >= 0))
    return Found(place + 1, grades[place].astype(np.int64), other, pooled, first, len(grades))


def ranked_queries(
    qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]], *, least: int = 1
) -> RankedQueries:
    """The queries of the judgements with the ranking of each; a query without one has found nothing."""
    units = sorted(qrels)
    found = [found_in(ranked_grades(rankings.get(query, ()), qrels[query]), least=least) for query in units]
    known = [np.fromiter(qrels[query].values(), np.int64, len(qrels[query])) for query in units]
    return RankedQueries(units, found, known, least)


def ranked_grades(ranking: Sequence[str], judged: Mapping[str, int]) -> Integers:
    """The grades of a ranking from the top down; `ABSENT` for a document that the judgements do not name."""
    return np.fromiter((judged.get(document, ABSENT) for document in ranking), np.int64, len(ranking))


def rows(block: RankedQueries) -> Rows:
    """The contribution of each query: one row of `COLUMNS`."""
    queries, has = len(block.units), (block.relevant > 0).astype(np.float64)
    retrieved = np.array([found.retrieved for found in block.found], dtype=np.float64)
    first = np.array([found.first for found in block.found], dtype=np.float64)
    hits = block.hits
    values = (
        hits.sum_by_query(hits.number / hits.rank, queries) / np.maximum(block.relevant, 1),
        *(_gain(block, None), _gain(block, DEPTH), _precision(block)),
        hits.sum_by_query((hits.number == 1) / hits.rank, queries),
        *(
            _preference(block),
            _inferred_precision(block),
            _interpolated_precision(block),
            first / np.clip(retrieved, 1, DEPTH),
        ),
    )
    return np.column_stack([*values, np.ones(queries), has, retrieved > 0]).astype(np.float64)


def _gain(block: RankedQueries, depth: int | None) -> Reals:
    """nDCG with linear gains, negative grades as 0; 0 where there is nothing to gain, as in trec_eval."""
    pairs = zip(block.found, block.grades, strict=True)
    return np.array([_query_gain(found, grades, depth, block.gain) for found, grades in pairs], dtype=np.float64)


def _query_gain(found: Found, grades: Integers, depth: int | None, gain: Gain) -> float:
    ideal = np.sort(gain(grades[grades > 0]))[::-1][:depth]
    if not ideal.any():
        return 0.0
    kept = slice(None) if depth is None else found.rank <= depth
    gained = (gain(found.grade[kept]) / np.log2(found.rank[kept] + 1)).sum()
    return float(gained / (ideal / np.log2(np.arange(2, len(ideal) + 2))).sum())


def _precision(block: RankedQueries) -> Reals:
    """P@10: divided by ten even where fewer were retrieved."""
    return block.hits.sum_by_query((block.hits.rank <= DEPTH).astype(np.float64), len(block.units)) / DEPTH


def _preference(block: RankedQueries) -> Reals:
    """bpref: how seldom a judged non-relevant document stands above a relevant one."""
    hits, relevant = block.hits, block.relevant[block.hits.query]
    most = np.minimum(relevant, block.other[hits.query])
    worse = np.divide(np.minimum(hits.other, relevant), most, out=np.zeros(len(most)), where=hits.other > 0)
    return hits.sum_by_query(1 - worse, len(block.units)) / np.maximum(block.relevant, 1)


def _inferred_precision(block: RankedQueries) -> Reals:
    """Inferred AP: expected precision at each relevant document, from a sample of judgements above it."""
    hits = block.hits
    above, relevant = hits.rank - 1, hits.number - 1
    in_pool = (relevant + hits.other + hits.pooled) / np.maximum(above, 1)
    share = (relevant + EPSILON) / (relevant + hits.other + 2 * EPSILON)
    expected = (1 + above * in_pool * share) / hits.rank
    return hits.sum_by_query(expected, len(block.units)) / np.maximum(block.relevant, 1)


def _interpolated_precision(block: RankedQueries) -> Reals:
    """Exact 11-point average precision of each query; relevant documents that were not found stay in the count."""
    hits, bounds = block.hits, np.searchsorted(block.hits.query, np.arange(len(block.units) + 1))
    precision = hits.number / hits.rank
    return np.array(
        [
            eleven_points(hits.number[start:end], precision[start:end], total) if total else 0.0
            for start, end, total in zip(bounds[:-1], bounds[1:], block.relevant, strict=True)
        ],
        dtype=np.float64,
    )


def _mean(sums: Rows, place: int, *, without_relevant: WithoutRelevant = "zero") -> Reals:
    counted = COLUMNS.index("queries" if without_relevant == "zero" else "with_relevant")
    return ratio(sums[..., place], sums[..., counted])


def _over(sums: Rows, place: int, count: int) -> Reals:
    return ratio(sums[..., place], sums[..., count])


VOORHEES = "Voorhees and Harman, TREC: Experiment and Evaluation in Information Retrieval (2005), chapter 3"

MAP = Metric(
    name="map",
    title="MAP",
    summary="Mean average precision: precision at each relevant document, missed ones as 0, mean over queries",
    citation=VOORHEES,
    family="ranking",
    statistics=rows,
    reduce=partial(_mean, place=COLUMNS.index("ap")),
    range=SHARE,
    columns=COLUMNS,
    parameters=("without_relevant",),
    unit="query",
    linear=True,
)


def _metric(name: str, title: str, summary: str, citation: str) -> Metric:
    """The mean over queries of the column that has the metric's name."""
    reduce = partial(_mean, place=COLUMNS.index(name))
    return replace(MAP, name=name, title=title, summary=summary, citation=citation, reduce=reduce)


KEKALAINEN = "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20 (2002)"
NDCG = _metric("ndcg", "nDCG", "Normalised discounted cumulative gain of the whole ranking, linear gain", KEKALAINEN)
NDCG_10 = _metric("ndcg_10", "nDCG@10", "Normalised discounted cumulative gain of the first ten documents", KEKALAINEN)
P_10 = _metric(
    "p_10", "P@10", "Share of relevant documents among the first ten, where empty ranks count as not relevant", VOORHEES
)
RR = _metric(
    "rr",
    "RR",
    "Reciprocal rank of the first relevant document, mean over queries",
    "Voorhees, The TREC-8 question answering track report, TREC-8 (1999)",
)
BPREF = _metric(
    "bpref",
    "bpref",
    "How rarely judged non-relevant documents rank above relevant ones; unjudged ones do not matter",
    "Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR (2004)",
)
INFAP = _metric(
    "infap",
    "infAP",
    "Average precision as estimated from judgments of a random sample of the pool",
    "Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM (2006)",
)
MAP11 = replace(
    MAP,
    name="map11",
    title="MAP (11-point)",
    summary="Mean 11-point interpolated average precision, exact, over the queries that have a relevant document",
    citation="Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8.4",
    reduce=partial(_over, place=COLUMNS.index("ap11"), count=COLUMNS.index("with_relevant")),
    parameters=(),
    carrier="with_relevant",
)
JUDGED_10 = replace(
    MAP,
    name="judged_10",
    title="Judged@10",
    summary="Share of the first ten documents that were judged at all, over the queries with results",
    citation="Lu, Moffat and Culpepper, The effect of pooling and evaluation depth on IR metrics, IRJ 19 (2016)",
    reduce=partial(_over, place=COLUMNS.index("judged_10"), count=COLUMNS.index("with_results")),
    parameters=(),
    linear=False,  # systems may have results for different queries, so their counts differ (S-12)
    carrier="with_results",
)
METRICS = (MAP, NDCG, NDCG_10, P_10, RR, BPREF, MAP11, INFAP, JUDGED_10)


def values(
    scores: ArrayLike,
    grades: ArrayLike,
    *,
    documents: Sequence[str] | None = None,
    least: int = 1,
    without_relevant: WithoutRelevant = "zero",
) -> dict[str, float]:
    """All ranking values of a matrix of scores and one of grades; a grade below 0 says that nobody judged.

    Ties go to the document whose name comes last (trec_eval's rule), without names to the last column.

    >>> values([[0.9, 0.8, 0.7]], [[0, 1, 1]])["map"]
    0.5833333333333333
    """
    table = dense_rows(scores, grades, documents=documents, least=least)
    return {metric.name: metric.bind(without_relevant=without_relevant).of(table) for metric in METRICS}


def dense_rows(scores: ArrayLike, grades: ArrayLike, *, documents: Sequence[str] | None = None, least: int = 1) -> Rows:
    """The contribution of each query (a row of `ranking.COLUMNS`) from matrices of scores and grades."""
    return rows(dense_queries(scores, grades, documents=documents, least=least))


def dense_queries(
    scores: ArrayLike, grades: ArrayLike, *, documents: Sequence[str] | None = None, least: int = 1
) -> RankedQueries:
    """The queries of two matrices, each ranked."""
    score, grade = np.atleast_2d(np.asarray(scores)), np.atleast_2d(np.asarray(grades))
    if score.shape != grade.shape or score.ndim != 2:
        raise SettingError(
            f"scores of shape {score.shape} and grades of shape {grade.shape}: give one of each per pair."
        )
    by_name = None if documents is None else _by_name(documents, score.shape[1])
    pairs = list(_rank_queries(score, grade, by_name, least))
    units = [str(at) for at in range(len(score))]
    return RankedQueries(units, [found for found, _ in pairs], [kept for _, kept in pairs], least)


def _by_name(documents: Sequence[str], width: int) -> NDArray[np.intp]:
    if len(set(documents)) != width or len(documents) != width:
        raise SettingError(f"{len(documents)} names for {width} documents: give each document a name of its own.")
    return np.array(sorted(range(width), key=documents.__getitem__), dtype=np.intp)


def _rank_queries(
    scores: NDArray[Any], grades: NDArray[Any], by_name: NDArray[np.intp] | None, least: int
) -> Iterator[tuple[Found, Integers]]:
    """Each query's found documents, and its grades in short: non-relevant ones only as far as they are counted."""
    for number, (raw, grade) in enumerate(zip(scores, grades, strict=True)):
        score = raw.astype(np.float64, copy=False)
        if not np.isfinite(score).all():
            raise SettingError(f"the scores of query {number} are not all finite numbers: replace nan and infinity.")
        found = _bisect_query(score, grade, least) if grade.min(initial=0) >= 0 else None
        yield found or _sort_query(score, grade, by_name, least), grade


def _bisect_query(score: NDArray[np.float64], grade: NDArray[Any], least: int) -> Found | None:
    """A query of which everything is judged, unless one of its documents with a grade is tied."""
    place = np.flatnonzero(grade > 0)
    rising, sought = np.sort(score), score[place]
    after = np.searchsorted(rising, sought, side="right")
    if (after - np.searchsorted(rising, sought) > 1).any():
        return None
    order = np.argsort(-after)
    rank, kept = (len(score) + 1 - after)[order], grade[place][order].astype(np.int64)
    relevant = kept >= least
    above = rank - 1 - (np.cumsum(relevant) - relevant)
    return Found(rank, kept, above, np.zeros_like(rank), min(DEPTH, len(score)), len(score))


def _sort_query(score: NDArray[np.float64], grade: NDArray[Any], by_name: NDArray[np.intp] | None, least: int) -> Found:
    """A query ranked as a whole; a stable sort read backwards puts the last name first among equals."""
    if by_name is not None:
        score, grade = score[by_name], grade[by_name]
    order = np.argsort(score, kind="stable")[::-1]
    return found_in(grade[order].astype(np.int64), least=least)
