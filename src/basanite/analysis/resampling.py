"""Random weights and signs, made from raw generator words by our own map so that every machine draws the same (S-6).

What is drawn are units in the order of their names, or whole clusters of them (S-10): so neither the order in a file
nor the machine changes an interval. Draws come in blocks, because with many units all of them at once would not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import Metric, Rows, UnitRows, source_of

BLOCK = 1 << 18
"""Numbers in one temporary array (2 MB): some ten of them live at a time, which stays below 20 MB."""

Numbers = NDArray[np.int64]
Redrawn = Callable[[int], Callable[[int], Rows]]


@dataclass(frozen=True)
class Frame:
    """What is drawn for one table: how many things of which kind, and which of them each unit moves with."""

    kind: str
    size: int
    place: Numbers
    rank: Numbers
    """The place of each unit among all of them in the order of their names."""
    cluster: str = ""
    """The column that names what is drawn, where these are clusters of units."""

    @property
    def key(self) -> tuple[str, int]:
        """Frames with the same key share their draws."""
        return self.kind, self.size


@dataclass(frozen=True)
class Portion:
    """Rows summed by the thing that is drawn: `rows[i]` belongs to number `members[i]` of the frame."""

    members: Numbers
    rows: Rows
    units: int
    redrawn: Redrawn | None = None
    """Where people are crossed with units: given a seed, a source of `rows[draws, members, s]` (S-3)."""
    cluster: str = ""
    """The column that names what is drawn, where these are clusters of units."""

    @property
    def size(self) -> int:
        """How many things are drawn: units, or clusters of them."""
        return len(self.rows) if (np.diff(self.members) > 0).all() else len(np.unique(self.members))

    @property
    def total(self) -> Rows:
        """The sum of all rows."""
        return np.asarray(self.rows.sum(axis=0), dtype=np.float64)


@dataclass(frozen=True)
class Job:
    """Metrics to be computed from one portion: they share every matrix product."""

    portion: Portion
    metrics: tuple[Metric, ...]
    columns: tuple[str, ...] = ()
    """The names of the rows' columns."""


def frame_of(table: UnitRows) -> Frame:
    """The frame of a table: its units by name, or its clusters by the first name in each."""
    order = np.argsort(np.asarray(table.units, dtype=np.str_), kind="stable")
    place, rank = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    place[order] = np.arange(len(order))
    if table.clusters is not None:  # clusters are numbered in the order in which they first occur
        _, first, inverse = np.unique(table.clusters[order], return_index=True, return_inverse=True)
        place[order] = np.argsort(np.argsort(first))[inverse]
    return Frame(table.unit, int(place.max()) + 1 if len(place) else 0, place, rank, table.cluster)


def table_portion(frame: Frame, table: UnitRows, *, additive: bool) -> Portion:
    """All rows of a table as a portion; rows with other people in every draw are summed by cluster as well (S-3)."""
    portion = portion_of(frame, table.rows, additive=additive)
    return portion if table.redrawn is None else replace(portion, redrawn=partial(_by_place, frame, table.redrawn))


def cluster_count(cluster: str, number: int) -> str:
    """So many clusters, by the name of their column.

    >>> cluster_count("recording", 6), cluster_count("speaker", 1), cluster_count("doc_id", 6)
    ('6 recordings', '1 speaker', '6 levels of doc_id')
    """
    if number != 1 and not (cluster.isalpha() and cluster[-1] not in "sxyzh"):
        return f"{number:,} levels of {cluster}"
    return f"{number:,} {cluster}" if number == 1 else f"{number:,} {cluster}s"


def portion_of(frame: Frame, rows: Rows, index: Numbers | None = None, *, additive: bool = True) -> Portion:
    """The rows of some units (all, without `index`) as a portion of the frame; as they are, if they do not add up."""
    place = frame.place if index is None else frame.place[index]
    if not additive:
        order = np.argsort(frame.rank if index is None else frame.rank[index])
        return Portion(place[order], rows[order], len(rows), cluster=frame.cluster)
    if (np.diff(place) > 0).all():  # in order and each alone: a large table need not be copied
        return Portion(place, rows, len(rows), cluster=frame.cluster)
    return Portion(*cluster_sums(rows, place), len(rows), cluster=frame.cluster)


def cluster_sums(rows: Rows, clusters: Numbers) -> tuple[Numbers, Rows]:
    """The clusters that occur, in rising order, and the sum of the rows of each (S-10).

    >>> cluster_sums(np.array([[1.0], [2.0], [4.0]]), np.array([7, 3, 7]))[1].tolist()
    [[2.0], [5.0]]
    """
    if not len(rows):
        return np.empty(0, np.int64), np.zeros((0, *rows.shape[1:]))
    order = np.argsort(clusters, kind="stable")
    present, starts = np.unique(clusters[order], return_index=True)
    return present, np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)


def weights(units: int, *, draws: int, seed: int, kind: str = "unit") -> Rows:
    """How often each unit is in each draw with replacement: `float64[draws, units]`, every row sums to `units`.

    >>> weights(3, draws=2, seed=0).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    return np.concatenate(list(weight_blocks(units, draws=draws, seed=seed, kind=kind)))


def weight_blocks(units: int, *, draws: int, seed: int, kind: str = "unit", columns: int = 1) -> Iterator[Rows]:
    """The same weights a few draws at a time, so few that sums of `columns` columns stay small."""
    source = source_of(seed, "weights", kind)
    for count in _block_sizes(draws, max(units, columns)):
        words = source.random_raw(count * ((units + 1) // 2)).reshape(count, -1)
        drawn = indices(words, units)[:, :units] + np.arange(count)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=count * units).reshape(count, units).astype(np.float64)


def indices(words: NDArray[np.uint64], units: int) -> Numbers:
    """Numbers from 0 to `units - 1`, two from each word: the high halves of a row first, then the low ones.

    >>> indices(np.array([[2**63, 2**64 - 1]], dtype=np.uint64), 10).tolist()
    [[5, 9, 0, 9]]
    """
    halves = np.concatenate([words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)], axis=-1)
    halves *= np.uint64(units)
    halves >>= np.uint64(32)
    return halves.view(np.int64)


def signs(units: int, *, draws: int, seed: int, kind: str = "unit") -> Rows:
    """Fair signs for every unit of every draw, `float64[draws, units]`: -1 swaps two systems on that unit.

    >>> sorted(set(signs(8, draws=20, seed=0).ravel().tolist()))
    [-1.0, 1.0]
    """
    return np.concatenate(list(sign_blocks(units, draws=draws, seed=seed, kind=kind)))


def sign_blocks(units: int, *, draws: int, seed: int, kind: str = "unit", columns: int = 1) -> Iterator[Rows]:
    """The same signs a few draws at a time."""
    source = source_of(seed, "signs", kind)
    for count in _block_sizes(draws, max(units, columns)):
        words = source.random_raw(count * -(-units // 64)).astype(">u8")
        bits = np.unpackbits(words.view(np.uint8)).reshape(count, -1)[:, :units]
        yield 1.0 - 2.0 * bits.astype(np.float64)


def all_signs(units: int) -> Rows:
    """Every one of the 2^units patterns of signs, the observed one first.

    >>> all_signs(2).tolist()
    [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    """
    patterns = np.arange(2**units)[:, None] >> np.arange(units)[::-1]
    return np.asarray(1.0 - 2.0 * (patterns & 1), dtype=np.float64)


def resample(
    frame: Frame, jobs: Sequence[Job], *, draws: int, seed: int, executor: Executor | None = None
) -> list[Rows]:
    """For each job `float64[metrics, draws]`: the value of each metric in every draw of whole units."""
    columns = max((job.portion.rows.shape[1] for job in jobs), default=1)
    blocks = partial(weight_blocks, frame.size, draws=draws, seed=seed, kind=frame.kind, columns=columns)
    # Only where every draw is computed again from the rows does it pay to send it elsewhere.
    heavy = [
        place
        for place, job in enumerate(jobs)
        if executor is not None and not is_additive(job.metrics) and job.portion.redrawn is None
    ]
    light = [place for place in range(len(jobs)) if place not in heavy]
    found = dict(zip(light, _drawn_here([jobs[place] for place in light], blocks(), draws, seed), strict=True))
    if executor is not None and heavy:
        work = partial(_block_values, [jobs[place] for place in heavy])
        small = (block.astype(np.int16) if np.abs(block).max(initial=0) < 2**15 else block for block in blocks())
        parts = list(executor.map(work, small))  # counts and signs travel in as few bytes as hold them exactly
        found |= {
            place: np.concatenate(part, axis=1) for place, part in zip(heavy, zip(*parts, strict=True), strict=True)
        }
    return [found[place] for place in range(len(jobs))]


def _drawn_here(jobs: Sequence[Job], blocks: Iterable[Rows], draws: int, seed: int) -> list[Rows]:
    outcomes = [np.empty((len(job.metrics), draws)) for job in jobs]
    sources = [None if job.portion.redrawn is None else job.portion.redrawn(seed) for job in jobs]
    start = 0
    for block in blocks if jobs else ():
        for job, source, outcome in zip(jobs, sources, outcomes, strict=True):
            rows = job.portion.rows if source is None else source(len(block))
            outcome[:, start : start + len(block)] = _values(job, block, rows)
        start += len(block)
    return outcomes


def _block_values(jobs: Sequence[Job], block: NDArray[Any]) -> list[Rows]:
    """One block of draws for several jobs: the unit of work that is sent elsewhere."""
    return [_values(job, block.astype(np.float64), job.portion.rows) for job in jobs]


def values_of(metric: Metric, sums: Rows) -> Rows:
    """The metric's value of each sum; a division by nothing gives nan without a warning."""
    with np.errstate(all="ignore"):
        return np.asarray(metric.value(sums), dtype=np.float64)


def estimate(metric: Metric, portion: Portion) -> float:
    """The metric's value of a whole portion."""
    if metric.compute is None:
        return float(values_of(metric, portion.total))
    return float(drawn_values(metric, portion.rows, np.ones((1, len(portion.rows))))[0])


def drawn_values(metric: Metric, rows: Rows, weights: Rows) -> Rows:
    """The metric's value in every draw of weighted rows; a division by nothing gives nan without a warning."""
    with np.errstate(all="ignore"):
        return np.asarray(metric.drawn(rows, weights), dtype=np.float64)


def is_additive(metrics: Sequence[Metric]) -> bool:
    """Whether the rows of these metrics may be summed before they are drawn."""
    return all(metric.compute is None for metric in metrics)


def _values(job: Job, block: Rows, rows: Rows) -> Rows:
    """The value of each metric in every draw of a block."""
    if not is_additive(job.metrics):
        weights = block[:, job.portion.members]
        return np.stack([drawn_values(metric, rows, weights) for metric in job.metrics])
    members = job.portion.members
    weights = block if len(members) == block.shape[1] else block[:, members]
    sums = weights @ rows if rows.ndim == 2 else np.asarray(np.einsum("du,dus->ds", weights, rows))
    return np.stack([values_of(metric, sums) for metric in job.metrics])


def _by_place(frame: Frame, redrawn: Redrawn, seed: int) -> Callable[[int], Rows]:
    """A source of rows in the order of what is drawn, those of one cluster summed."""
    source = redrawn(seed)
    return lambda draws: np.stack([cluster_sums(rows, frame.place)[1] for rows in source(draws)])


def _block_sizes(draws: int, width: int) -> Iterator[int]:
    most = max(1, BLOCK // max(1, width))
    yield from (min(most, draws - start) for start in range(0, draws, most))
