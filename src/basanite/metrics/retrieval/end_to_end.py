"""End-to-end detection: a returned document counts only as far as judges of its summary found it relevant.

For a returned pair of query and document, the judges' share s of "relevant" keeps s of a hit (X1) or false alarm (X3)
where it is, and moves 1 - s of it to the misses (X2) or the rejected (X4). One combined verdict makes s 0 or 1; raw
judging makes it r/K. Pairs that were not returned stay as they are. The counts are summed by query and valued by the
same three forms as in `detection`, with a beta of their own. Section 4 of the MATERIAL evaluation plan, v6.0.4 (2018).

Intervals resample whole queries with all their judgements (S-24). How judges vary is in there already, for every query
was judged; a majority of votes that are drawn again inside a pair would be noisier than the votes were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import Metric, Rows
from basanite.metrics.retrieval.detection import AQWV, AQWV_ALL, AQWV_RELEVANT, COLUMNS, PFA, PMISS, Detections, counts

MATERIAL = "IARPA MATERIAL evaluation plan v6.0.4 (2018), section 4"
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
    def joined(cls, parts: Sequence[Returned]) -> Returned:
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
        raise ValueError("A returned pair has no judgement; without one there is no end-to-end score (M13).")
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


def rates(block: JudgedDetections) -> Rows:
    """The contribution of each query after the judges: one row of `COLUMNS` (M12-M15)."""
    return rows_of_shares(block.returned, block.share)


def _end_to_end(metric: Metric, summary: str) -> Metric:
    return replace(
        metric,
        name=f"e2e_{metric.name}",
        summary=summary,
        citation=MATERIAL,
        family="end_to_end",
        statistics=rates,
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
