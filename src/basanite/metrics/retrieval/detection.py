"""Detection metrics: misses and false alarms weighed against each other, query by query (AQWV and its relatives).

For one query, Pmiss is the share of relevant documents that were not returned and PFA the share of the others that
were; QV = 1 - (Pmiss + beta PFA). The three forms differ only in what they do with queries that have no relevant
document: count them with Pmiss 0 ("all"), leave them out ("relevant"), or average Pmiss over the queries that have
one and PFA over all of them (the primary form). Section 2.1 of the MATERIAL evaluation plan, v6.0.4 (2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import SHARE, Ends, Metric, Rows

MATERIAL = "IARPA MATERIAL evaluation plan v6.0.4 (2018), section 2.1"

COLUMNS = ("pmiss", "has_relevant", "pfa", "queries", "pfa_if_relevant")
"""What each query contributes; one table serves all three forms."""

MISS, RELEVANT, ALARM, QUERY, ALARM_IF_RELEVANT = range(5)


@dataclass(frozen=True)
class Detections:
    """Queries over one set of documents: the truth, the decisions and (if there are any) the scores.

    Arrays have one row per query and one column per document. `cell` puts each document into one of `cells` groups;
    statistics are then computed for each query on each group's documents alone.
    """

    units: Sequence[str]
    relevant: NDArray[np.bool_]
    returned: NDArray[np.bool_]
    score: NDArray[np.int32] | None = None
    cell: NDArray[np.int64] | None = None
    cells: int = 1

    def split(self, cell: NDArray[np.int64], cells: int) -> Detections:
        """The same detections with each query's documents divided into groups (an item factor)."""
        parts = Detections(self.units, self.relevant, self.returned, self.score, cell, cells)
        vars(parts)["outcome"] = self.outcome  # known already, and the same
        return parts

    @cached_property
    def outcome(self) -> NDArray[np.int64]:
        """For each query and document: 0 rejected, 1 false alarm, 2 miss, 3 hit."""
        return 2 * self.relevant.astype(np.int64) + self.returned


def counts(block: Detections) -> NDArray[np.int64]:
    """Per query (and group): rejected and returned non-relevant, missed and returned relevant documents."""
    state = block.outcome if block.cell is None else block.outcome + 4 * block.cell
    table = [np.bincount(row, minlength=4 * block.cells) for row in state]
    return np.concatenate(table).reshape(-1, 4) if table else np.zeros((0, 4), dtype=np.int64)


def rates(block: Detections) -> Rows:
    """The contribution of each query (and group): one row of `COLUMNS`, with 0 where a rate is undefined (C44)."""
    return rates_of_counts(counts(block))


def rates_of_counts(table: NDArray[np.int64]) -> Rows:
    """Rows of `COLUMNS` from counts of rejected, false alarms, misses and hits."""
    rejected, alarms, missed, hits = table.T.astype(np.float64)
    relevant, other = missed + hits, rejected + alarms
    has = (relevant > 0).astype(np.float64)
    alarm = alarms / np.maximum(other, 1)
    return np.column_stack([missed / np.maximum(relevant, 1), has, alarm, np.ones_like(has), alarm * has])


def ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Division in which nothing over nothing is undefined (nan), never 0."""
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(bottom), np.nan), where=bottom > 0))


def _primary(sums: Rows, beta: float) -> NDArray[np.float64]:
    miss = ratio(sums[..., MISS], sums[..., RELEVANT])
    return 1 - (miss + beta * ratio(sums[..., ALARM], sums[..., QUERY]))


def _all(sums: Rows, beta: float) -> NDArray[np.float64]:
    return 1 - ratio(sums[..., MISS] + beta * sums[..., ALARM], sums[..., QUERY])


def _relevant(sums: Rows, beta: float) -> NDArray[np.float64]:
    return 1 - ratio(sums[..., MISS] + beta * sums[..., ALARM_IF_RELEVANT], sums[..., RELEVANT])


def _pmiss(sums: Rows) -> NDArray[np.float64]:
    return ratio(sums[..., MISS], sums[..., RELEVANT])


def _pfa(sums: Rows) -> NDArray[np.float64]:
    return ratio(sums[..., ALARM], sums[..., QUERY])


def _ends(beta: float = math.inf) -> Ends:
    """-beta to 1."""
    return -beta, 1.0


AQWV = Metric(
    name="aqwv",
    summary="Actual query weighted value, primary form: mean Pmiss over queries with relevant documents, PFA over all",
    citation=MATERIAL,
    family="detection",
    statistics=rates,
    reduce=_primary,
    range=_ends,
    columns=COLUMNS,
    parameters=("beta",),
    unit="query",
    linear=True,
    carrier="has_relevant",
)
AQWV_ALL = replace(
    AQWV,
    name="aqwv_all",
    summary="Actual query weighted value over all queries; one without relevant documents has Pmiss 0",
    reduce=_all,
    carrier=None,
)
AQWV_RELEVANT = replace(
    AQWV,
    name="aqwv_relevant",
    summary="Actual query weighted value over the queries that have a relevant document",
    reduce=_relevant,
)
ADWV = replace(
    AQWV,
    name="adwv",
    summary="Actual document weighted value: documents take the place of queries (secondary)",
    citation=MATERIAL + ", notes 5 and 25",
    unit="document",
    by_item=False,
)
PMISS = replace(
    AQWV,
    name="pmiss",
    summary="Mean share of relevant documents that were missed, over queries that have one",
    reduce=_pmiss,
    range=SHARE,
    best="low",
    parameters=(),
)
PFA = replace(
    AQWV,
    name="pfa",
    summary="Mean share of non-relevant documents that were returned, over all queries",
    reduce=_pfa,
    range=SHARE,
    best="low",
    parameters=(),
    carrier=None,
    proportion=True,
    interval="exact",
)


def values(relevant: ArrayLike, returned: ArrayLike, *, beta: float) -> dict[str, float]:
    """All values that need decisions only, from two tables of queries x documents.

    >>> values([[1, 1, 0, 0], [0, 0, 0, 0]], [[1, 0, 0, 0], [0, 0, 0, 1]], beta=1)["aqwv"]
    0.375
    """
    truth, answers = np.atleast_2d(np.asarray(relevant, bool)), np.atleast_2d(np.asarray(returned, bool))
    block = Detections([str(at) for at in range(len(truth))], truth, answers)
    rows = rates(block)
    found = {m.name: m.bind(beta=beta).of(rows) for m in (AQWV, AQWV_ALL, AQWV_RELEVANT, PMISS, PFA)}
    documents = rates(Detections((), truth.T, answers.T))
    return found | {"adwv": ADWV.bind(beta=beta).of(documents)}
