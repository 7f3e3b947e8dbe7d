"""Ranking metrics of dense score matrices, queries x documents: no run file, no dictionary, no full sort of documents.

The rank of a document is the number of scores above its own, so sorting the bare scores and bisecting for the few
documents that have a grade is enough. Only where such a document is tied, or some documents are not judged, is the
row ranked as a whole. Scores stay float64 (T-11): 1.0 and 1.0 + 1e-9 are two ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError
from basanite.kernel import Rows
from basanite.metrics.retrieval.ranking import (
    DEPTH,
    METRICS,
    Found,
    Integers,
    RankedQueries,
    WithoutRelevant,
    found_in,
    rows,
)


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
        raise SettingError(f"scores of shape {score.shape} and grades of shape {grade.shape}: give one of each a pair.")
    by_name = None if documents is None else _by_name(documents, score.shape[1])
    pairs = list(_ranked(score, grade, by_name, least))
    units = [str(at) for at in range(len(score))]
    return RankedQueries(units, [found for found, _ in pairs], [kept for _, kept in pairs], least)


def _by_name(documents: Sequence[str], width: int) -> NDArray[np.intp]:
    if len(set(documents)) != width or len(documents) != width:
        raise SettingError(f"{len(documents)} names for {width} documents: give each document a name of its own.")
    return np.array(sorted(range(width), key=documents.__getitem__), dtype=np.intp)


def _ranked(
    scores: NDArray[Any], grades: NDArray[Any], by_name: NDArray[np.intp] | None, least: int
) -> Iterator[tuple[Found, Integers]]:
    """Each query's found documents, and its grades in short: non-relevant ones only as far as they are counted."""
    for number, (raw, grade) in enumerate(zip(scores, grades, strict=True)):
        score = raw.astype(np.float64, copy=False)
        if not np.isfinite(score).all():
            raise SettingError(f"the scores of query {number} are not all finite numbers: replace nan and infinity.")
        found = _bisected(score, grade, least) if grade.min(initial=0) >= 0 else None
        yield found or _sorted(score, grade, by_name, least), grade


def _bisected(score: NDArray[np.float64], grade: NDArray[Any], least: int) -> Found | None:
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


def _sorted(score: NDArray[np.float64], grade: NDArray[Any], by_name: NDArray[np.intp] | None, least: int) -> Found:
    """A query ranked as a whole; a stable sort read backwards puts the last name first among equals."""
    if by_name is not None:
        score, grade = score[by_name], grade[by_name]
    order = np.argsort(score, kind="stable")[::-1]
    return found_in(grade[order].astype(np.int64), least=least)
