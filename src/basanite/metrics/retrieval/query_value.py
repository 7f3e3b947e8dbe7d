"""Query-weighted values: misses weighed against false alarms, query by query (AQWV and its relatives).

For one query, Pmiss is the share of relevant documents that were not returned and PFA the share of the others that
were; QV = 1 - (Pmiss + beta PFA). The three forms differ only in what they do with queries that have no relevant
document: count them with Pmiss 0 ("all"), leave them out ("relevant"), or average Pmiss over the queries that have
one and PFA over all of them (the primary form). Section 2.1 of the MATERIAL evaluation plan, v6.0.4 (2018).

End-to-end detection: a returned document counts only as far as judges of its summary found it relevant.

For a returned pair of query and document, the judges' share s of "relevant" keeps s of a hit (X1) or false alarm (X3)
where it is, and moves 1 - s of it to the misses (X2) or the rejected (X4). One combined verdict makes s 0 or 1; raw
judging makes it r/K. Pairs that were not returned stay as they are. The counts are summed by query and valued by the
same three forms as above, with a beta of their own. Section 4 of the MATERIAL evaluation plan, v6.0.4 (2018).

Intervals resample whole queries with all their judgements (S-24). How judges vary is in there already, for every query
was judged; a majority of votes that are drawn again inside a pair would be noisier than the votes were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import SHARE, Ends, Metric, Rows, column_ratio, ratio

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


def _primary(sums: Rows, beta: float) -> NDArray[np.float64]:
    miss = ratio(sums[..., MISS], sums[..., RELEVANT])
    return 1 - (miss + beta * ratio(sums[..., ALARM], sums[..., QUERY]))


def _all(sums: Rows, beta: float) -> NDArray[np.float64]:
    return 1 - ratio(sums[..., MISS] + beta * sums[..., ALARM], sums[..., QUERY])


def _relevant(sums: Rows, beta: float) -> NDArray[np.float64]:
    return 1 - ratio(sums[..., MISS] + beta * sums[..., ALARM_IF_RELEVANT], sums[..., RELEVANT])


def _ends(beta: float = math.inf) -> Ends:
    """-beta to 1."""
    return -beta, 1.0


AQWV = Metric(
    name="aqwv",
    title="AQWV",
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
    title="AQWV (all queries)",
    summary="Actual query weighted value over all queries; one without relevant documents has Pmiss 0",
    reduce=_all,
    carrier=None,
)
AQWV_RELEVANT = replace(
    AQWV,
    name="aqwv_relevant",
    title="AQWV (with relevant)",
    summary="Actual query weighted value over the queries that have a relevant document",
    reduce=_relevant,
)
ADWV = replace(
    AQWV,
    name="adwv",
    title="ADWV",
    summary="Actual document weighted value: documents take the place of queries (secondary)",
    citation=MATERIAL + ", notes 5 and 25",
    unit="document",
    by_item=False,
)
PMISS = replace(
    AQWV,
    name="pmiss",
    title="Pmiss",
    summary="Mean share of relevant documents that were missed, over queries that have one",
    reduce=partial(column_ratio, top=MISS, bottom=RELEVANT),
    range=SHARE,
    best="low",
    parameters=(),
)
PFA = replace(
    AQWV,
    name="pfa",
    title="Pfa",
    summary="Mean share of non-relevant documents that were returned, over all queries",
    reduce=partial(column_ratio, top=ALARM, bottom=QUERY),
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


MATERIAL_E2E = "IARPA MATERIAL evaluation plan v6.0.4 (2018), section 4"
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Returned:
    """What retrieval did before any judge: counts by query, and each returned pair's query and truth.

    A query's documents may be divided into groups (an item factor); then every query has one row for each group.
    """

    counts: Numbers
    """By query (and group): rejected and returned non-relevant, missed and returned relevant documents."""
    row: Numbers
    """For each returned pair, in the order of queries and documents, the row of `counts` that it is in."""
    relevant: NDArray[np.bool_]
    """For each returned pair, what the key says of it."""

    @classmethod
    def of(cls, block: Detections) -> Returned:
        """The returned pairs of a block, row by row."""
        query, document = np.nonzero(block.returned)
        row = query * block.cells
        if block.cell is not None:
            row = row + np.broadcast_to(block.cell, block.returned.shape)[query, document]
        return cls(counts(block), row.astype(np.int64), block.relevant[query, document])

    @classmethod
    def join(cls, parts: Sequence[Returned]) -> Returned:
        """Several queries read one by one, as one."""
        before = np.cumsum([0, *(len(part.counts) for part in parts)])
        rows = [part.row + start for part, start in zip(parts, before, strict=False)]
        none = cls(np.zeros((0, 4), np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_))
        return cls(
            np.concatenate([none.counts, *(part.counts for part in parts)]),
            np.concatenate([none.row, *rows]),
            np.concatenate([none.relevant, *(part.relevant for part in parts)]),
        )

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of `values[..., pairs]` over the pairs of each row."""
        made = np.zeros((*values.shape[:-1], len(self.counts)))
        if len(self.row):
            order = np.argsort(self.row, kind="stable")
            present, starts = np.unique(self.row[order], return_index=True)
            made[..., present] = np.add.reduceat(values[..., order], starts, axis=-1)
        return made


@dataclass(frozen=True)
class JudgedDetections:
    """Queries with what was returned for them, and the share of each returned pair that judges found relevant."""

    units: Sequence[str]
    returned: Returned
    share: NDArray[np.float64]


def counts_of_shares(returned: Returned, share: ArrayLike) -> Rows:
    """X4, X3, X2 and X1 (rejected, false alarms, misses, hits) after the judges, `[..., rows, 4]`."""
    found = np.asarray(share, np.float64)
    if np.isnan(found).any():
        raise ValueError("A returned pair has no judgment; without one there is no end-to-end score (M13).")
    hits, alarms = returned.sums(found * returned.relevant), returned.sums(found * ~returned.relevant)
    lost, dropped = (returned.sums((1 - found) * truth) for truth in (returned.relevant, ~returned.relevant))
    rejected, missed = returned.counts[:, 0] + dropped, returned.counts[:, 2] + lost
    return np.stack([rejected, alarms, missed, hits], axis=-1)


def rows_of_shares(returned: Returned, share: ArrayLike) -> Rows:
    """The contribution of each query, one row of `detection.COLUMNS`.

    >>> block = Detections(("q",), np.array([[True, True, False, False]]), np.array([[True, True, True, False]]))
    >>> rows_of_shares(Returned.of(block), [1, 0.5, 0.5]).tolist()
    [[0.25, 1.0, 0.25, 1.0, 0.25]]
    """
    after = counts_of_shares(returned, share)
    rejected, alarms, missed, hits = returned.counts.T
    has = np.broadcast_to((missed + hits > 0).astype(np.float64), after.shape[:-1])
    miss = after[..., 2] / np.maximum(missed + hits, 1)  # who is relevant does not depend on judges
    alarm = after[..., 1] / np.maximum(rejected + alarms, 1)
    return np.stack([miss, has, alarm, np.ones_like(has), alarm * has], axis=-1)


def e2e_rates(block: JudgedDetections) -> Rows:
    """The contribution of each query after the judges: one row of `COLUMNS` (M12-M15)."""
    return rows_of_shares(block.returned, block.share)


def _end_to_end(metric: Metric, summary: str) -> Metric:
    return replace(
        metric,
        name=f"e2e_{metric.name}",
        title=f"E2E {metric.title}",
        summary=summary,
        citation=MATERIAL_E2E,
        family="end_to_end",
        statistics=e2e_rates,
        columns=COLUMNS,
    )


E2E_AQWV = _end_to_end(AQWV, "End-to-end query weighted value, primary form: only what judges of summaries confirm")
E2E_AQWV_ALL = _end_to_end(
    AQWV_ALL, "End-to-end query weighted value over all queries; one without relevant documents has Pmiss 0"
)
E2E_AQWV_RELEVANT = _end_to_end(
    AQWV_RELEVANT, "End-to-end query weighted value over the queries that have a relevant document"
)
E2E_PMISS = _end_to_end(PMISS, "Mean share of relevant documents missed by the system or lost with its summary")
E2E_PFA = _end_to_end(PFA, "Mean share of non-relevant documents returned and confirmed by judges of the summary")
