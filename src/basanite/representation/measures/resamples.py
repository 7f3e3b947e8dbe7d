"""Values of the linear measures in resampled draws, given the draws' weights: a draw is a weighted sum, not a copy.

Copies of a row would count as similar pairs, so pairs of copies are left out: A_i = (|sum w u|^2 - sum w^2 |u|^2) /
(n^2 - sum w^2) (S-5). Weights come in blocks `[draws, N]`, as `basanite.analysis.resampling.weight_blocks` makes them;
blocks are joined so that each class is one large matrix product. The caller makes intervals of the values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Final, Literal

import numpy as np

from basanite.kernel import source_of
from basanite.representation.measures.ferm import (
    CosineTerms,
    Singletons,
    Weighting,
    cosine_values,
    has_direction,
    ratios,
)
from basanite.representation.measures.pairs import TILE, Plan, PointBiserial, Tile, point_biserial_values
from basanite.representation.measures.results import Classes, Floats, Labels, Numbers, classes_of
from basanite.representation.measures.sums import Features, linear_pass, pilot_mean, shape_of, unit_rows
from basanite.representation.measures.sweep import Precision

JOINED: Final = 1 << 25
"""Weights that are worked on at a time (256 MB)."""
COSINE_DRAWS: Final = ("ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse")
MOMENT_DRAWS: Final = ("calinski_harabasz", "rs", "c_root_k")
SUBSAMPLED_ALWAYS: Final = ("dunn", "otce_wd", "otce_wt")

Resampling = Literal["bootstrap", "subsampling"]


def resampling_of(name: str, *, rows: int, dimensions: int) -> Resampling:
    """How the interval of a measure is drawn: no bootstrap for Dunn, OTCE, and H-score with N - 1 <= d (S-5).

    >>> resampling_of("ferm1", rows=100, dimensions=10), resampling_of("dunn", rows=100, dimensions=10)
    ('bootstrap', 'subsampling')
    """
    few = name == "h_score" and rows - 1 <= dimensions
    return "subsampling" if few or name in SUBSAMPLED_ALWAYS else "bootstrap"


def linear_draws(
    features: Features,
    labels: Labels | Classes,
    weights: Iterable[Floats],
    *,
    names: Collection[str] = (*COSINE_DRAWS, *MOMENT_DRAWS),
    weighting: Weighting = "classes",
    singletons: Singletons = "omit",
) -> dict[str, Floats]:
    """The value of each linear measure in every draw; `davies_bouldin` is given too if it is named."""
    classes = classes_of(labels, shape_of(features)[0])
    parts = [_group(features, classes, group, names, weighting, singletons) for group in merge_blocks(weights)]
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def merge_blocks(blocks: Iterable[Floats], most: int = JOINED) -> Iterator[Floats]:
    """Blocks of weights joined into as large ones as are worked on at a time.

    >>> [len(block) for block in merge_blocks([np.ones((2, 3))] * 3, most=12)]
    [4, 2]
    """
    held: list[Floats] = []
    for block in blocks:
        if held and (sum(map(len, held)) + len(block)) * block.shape[1] > most:
            yield np.concatenate(held)
            held = []
        held.append(block)
    if held:
        yield np.concatenate(held)


def _group(
    features: Features,
    classes: Classes,
    weights: Floats,
    names: Collection[str],
    weighting: Weighting,
    singletons: Singletons,
) -> dict[str, Floats]:
    values: dict[str, Floats] = {}
    if set(names) & set(COSINE_DRAWS):
        terms = cosine_terms_of(features, classes, weights)
        values |= cosine_values(ratios(terms, weighting=weighting, singletons=singletons))
    if set(names) & set(MOMENT_DRAWS):
        values |= _moment_values(features, classes, weights)
    if "davies_bouldin" in names:
        values["davies_bouldin"] = _davies_bouldin(features, classes, weights)
    return values


def cosine_terms_of(features: Features, classes: Classes, weights: Floats) -> CosineTerms:
    """The terms of FERM under each row of weights: two matrix products for each class, however many draws."""
    whole = sum(weights[:, own] @ unit for own, unit, _ in _unit_classes(features, classes))
    found = _Gathered.start(len(weights), len(classes), shape_of(features)[1])
    for place, (own, unit, real) in enumerate(_unit_classes(features, classes)):
        found.take(place, weights[:, own], unit, real, np.asarray(whole))
    return found.terms(np.einsum("ij,ij->i", whole, whole))


def _unit_classes(features: Features, classes: Classes) -> Iterator[tuple[Numbers, Floats, Floats]]:
    """The rows of each class as unit vectors, and |u|^2 of each: 1, or 0 for a zero row."""
    for place in range(len(classes)):
        own = classes.members(place)
        unit = unit_rows(features, own)
        yield own, unit, np.asarray(unit.any(axis=1), dtype=np.float64)


@dataclass
class _Gathered:
    """Terms of FERM in the making: figures `[draws, K]`, vectors `[draws, d]`."""

    counts: Floats
    pairs: Floats
    inside: Floats
    outside: Floats
    squares: Floats
    means: Floats
    directions: Floats

    @classmethod
    def start(cls, draws: int, classes: int, dimensions: int) -> _Gathered:
        """Nothing seen yet."""
        figures, vectors = np.zeros((5, draws, classes)), np.zeros((2, draws, dimensions))
        return cls(*figures, *vectors)

    def take(self, place: int, weights: Floats, unit: Floats, real: Floats, whole: Floats) -> None:
        """Add one class: the only place where rows are touched."""
        sums = weights @ unit
        counts, copies = weights.sum(axis=1), weights**2
        squares = np.einsum("ij,ij->i", sums, sums)
        self.counts[:, place] = counts
        self.pairs[:, place] = counts**2 - copies.sum(axis=1)
        self.inside[:, place] = squares - copies @ real
        self.squares[:, place] = squares
        self.outside[:, place] = np.einsum("ij,ij->i", sums, whole) - squares
        self.means += np.divide(sums, counts[:, None], out=np.zeros_like(sums), where=counts[:, None] > 0)
        has = (has_direction(squares, counts) & (counts > 0))[:, None]
        self.directions += np.divide(sums, np.sqrt(squares)[:, None], out=np.zeros_like(sums), where=has)

    def terms(self, total: Floats) -> CosineTerms:
        """The terms, when all classes have been seen."""
        return CosineTerms(
            counts=self.counts,
            pairs=self.pairs,
            inside=self.inside,
            outside=self.outside,
            squares=self.squares,
            means=np.einsum("ij,ij->i", self.means, self.means),
            crossed=np.einsum("ij,ij->i", self.means, self.directions),
            directions=np.einsum("ij,ij->i", self.directions, self.directions),
            total=total,
        )


def _moment_values(features: Features, classes: Classes, weights: Floats) -> dict[str, Floats]:
    """Calinski-Harabasz, RS and C-root-K in every draw, from weighted sums of shifted rows and squares.

    The scatter inside a class is taken about its first row, where a class that is nearly a point keeps its digits.
    """
    shift = pilot_mean(features)
    whole, within, between = np.zeros((3, len(weights), len(shift)))
    present = np.zeros(len(weights))
    for place in range(len(classes)):
        own = classes.members(place)
        rows = np.asarray(features[own], dtype=np.float64)
        first, some, count = rows[0] - shift, weights[:, own], weights[:, own].sum(axis=1)[:, None]
        near = rows - rows[0]
        mean = np.divide(some @ near, count, out=np.zeros_like(whole), where=count > 0)
        whole += count * (first + mean)
        within += np.maximum(some @ near**2 - count * mean**2, 0)
        between += count * (first + mean) ** 2
        present += count[:, 0] > 0
    total = weights.sum(axis=1)
    between = np.maximum(between - whole**2 / total[:, None], 0)
    return _scatter_values(within, between, present, total)


def _scatter_values(within: Floats, between: Floats, classes: Floats, rows: Floats) -> dict[str, Floats]:
    total = within + between
    whole, apart, inside = total.sum(axis=1), between.sum(axis=1), within.sum(axis=1)
    live = total > 1e-14 * np.maximum(total.max(axis=1, keepdims=True), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.where(live, np.sqrt(between / total), 0.0).sum(axis=1) / live.sum(axis=1)
        return {
            "calinski_harabasz": (apart / (classes - 1)) / (inside / (rows - classes)),
            "rs": apart / whole,
            "c_root_k": roots / np.sqrt(classes),
        }


def _davies_bouldin(features: Features, classes: Classes, weights: Floats) -> Floats:
    """Davies-Bouldin in every draw; centroids move with the draw, so all of a draw's are held: few draws at a time."""
    step = max(1, JOINED // max(1, len(classes) * shape_of(features)[1]))
    parts = [_davies_bouldin_few(features, classes, weights[at : at + step]) for at in range(0, len(weights), step)]
    return np.concatenate(parts)


def _davies_bouldin_few(features: Features, classes: Classes, weights: Floats) -> Floats:
    shift = pilot_mean(features)
    centres = np.zeros((len(classes), len(weights), len(shift)))
    sizes = np.full((len(classes), len(weights)), np.nan)
    for place in range(len(classes)):
        own = classes.members(place)
        rows = np.asarray(features[own], dtype=np.float64)
        near = rows - rows[0]
        some, count = weights[:, own], weights[:, own].sum(axis=1)
        middle = some @ near / np.maximum(count, 1e-300)[:, None]
        centres[place] = rows[0] - shift + middle
        lengths = np.einsum("ij,ij->i", near, near)[:, None] + np.einsum("ij,ij->i", middle, middle)
        away = np.sqrt(np.maximum(lengths - 2 * near @ middle.T, 0.0))
        sizes[place] = np.where(count > 0, (some.T * away).sum(axis=0) / np.maximum(count, 1e-300), np.nan)
    return np.array([_worst_mean(centres[:, draw], sizes[:, draw]) for draw in range(len(weights))])


def _worst_mean(centres: Floats, sizes: Floats) -> float:
    present = ~np.isnan(sizes)
    centres, sizes = centres[present] - centres[present].mean(axis=0), sizes[present]
    squares = np.einsum("ij,ij->i", centres, centres)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * centres @ centres.T, 0.0))
    np.fill_diagonal(apart, np.inf)
    with np.errstate(divide="ignore"):
        return float(((sizes[:, None] + sizes) / apart).max(axis=1).mean()) if len(sizes) > 1 else float("nan")


MOST = 1 << 24
"""Weights worked on at a time."""


def pairwise_draws(
    features: Features,
    labels: Labels | Classes,
    weights: Iterable[Floats],
    *,
    precision: Precision = "float32",
    definition: PointBiserial = "pearson",
    executor: Executor | None = None,
) -> dict[str, Floats]:
    """`silhouette` (mean over rows) and `point_biserial` in every draw, given blocks of weights `[draws, N]`."""
    classes = classes_of(labels, shape_of(features)[0])
    plan = Plan.of(features, classes, linear_pass(features, classes), precision)
    groups = [_pair_group(plan, group[:, classes.order], definition, executor) for group in merge_blocks(weights, MOST)]
    return {name: np.concatenate([group[name] for group in groups]) for name in ("silhouette", "point_biserial")}


@dataclass(frozen=True)
class _Sums:
    """What the rows of one strip give to every draw; strips add up."""

    silhouette: Floats
    within: Floats
    between: Floats
    squares: Floats
    means: Floats

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(*(mine + yours for mine, yours in zip(vars(self).values(), vars(other).values(), strict=True)))


def _pair_group(plan: Plan, weights: Floats, definition: PointBiserial, executor: Executor | None) -> dict[str, Floats]:
    """One group of draws, weights in class order."""
    counts = np.add.reduceat(weights, plan.classes.starts[:-1], axis=1)
    work = partial(_strip, plan, weights, counts)
    starts = range(0, len(plan.classes.codes), TILE)
    sums = reduce(add, map(work, starts) if executor is None else executor.map(work, starts))
    total, copies = weights.sum(axis=1), (weights**2).sum(axis=1)
    inside = ((counts**2).sum(axis=1) - copies) / 2
    squares = total * sums.squares - np.einsum("ij,ij->i", sums.means, sums.means)
    values = point_biserial_values(
        (total**2 - copies) / 2, inside, sums.within / 2, sums.between / 2, squares, definition
    )
    defined = (counts > 0).sum(axis=1) >= 2
    return {"silhouette": np.where(defined, sums.silhouette / total, np.nan), "point_biserial": values}


def _strip(plan: Plan, weights: Floats, counts: Floats, start: int) -> _Sums:
    """Some rows against all classes, in every draw: figures are `[rows, draws]`."""
    stop = min(start + TILE, len(plan.classes.codes))
    mine, left = weights[:, start:stop].T, plan.left_form(start, stop)
    codes = plan.classes.codes[plan.classes.order[start:stop]]
    own, rival, between = np.zeros_like(mine), np.full_like(mine, np.inf), np.zeros(len(weights))
    for place in range(len(plan.classes)):
        sums, inside = _to_class(plan, left, start, place, weights), codes == place
        own[inside] = sums[inside]
        between += (mine[~inside] * sums[~inside]).sum(axis=0)
        means = np.divide(sums, counts[:, place], out=np.full_like(sums, np.inf), where=counts[:, place] > 0)
        rival[~inside] = np.minimum(rival[~inside], means[~inside])
    rows = plan.rows(start, stop)
    return _Sums(
        silhouette=(mine * _silhouettes(own, rival, counts[:, codes].T - mine)).sum(axis=0),
        within=(mine * own).sum(axis=0),
        between=between,
        squares=np.einsum("ij,ij->i", rows, rows) @ mine,
        means=mine.T @ rows,
    )


def _to_class(plan: Plan, left: Tile, start: int, place: int, weights: Floats) -> Floats:
    """The weighted sum of distances from some rows to one class, in every draw."""
    found = np.zeros((len(left), len(weights)))
    low, high = plan.classes.starts[place : place + 2].tolist()
    for at in range(low, high, TILE):
        end = min(at + TILE, high)
        tile = np.sqrt(np.maximum(left @ plan.right_form(at, end).T, 0.0))
        if at < start + len(left) and start < end:
            tile[
                np.arange(max(at, start), min(end, start + len(left))) - start, _overlap(start, len(left), at, end)
            ] = 0
        found += tile @ weights[:, at:end].T.astype(tile.dtype)
    return found


def _overlap(start: int, rows: int, at: int, end: int) -> Numbers:
    """The columns of a tile that are the rows themselves: a row is no neighbour of its copies."""
    return np.arange(max(at, start), min(end, start + rows)) - at


def _silhouettes(own: Floats, rival: Floats, others: Floats) -> Floats:
    """Silhouettes in every draw; 0 where the own class holds nothing but copies of the row, and where both are 0."""
    mean = np.divide(own, others, out=np.zeros_like(own), where=others > 0)
    larger = np.maximum(mean, rival)
    defined = (others > 0) & (larger > 0) & np.isfinite(rival)
    return np.divide(rival - mean, larger, out=np.zeros_like(own), where=defined)


def drawn_rows(count: int, size: int, source: np.random.PCG64) -> Numbers:
    """So many of the numbers below `count`, each at most once, in rising order.

    >>> drawn_rows(5, 5, source_of(0, "example")).tolist()
    [0, 1, 2, 3, 4]
    """
    words = source.random_raw(count)
    return np.sort(np.argsort(words, kind="stable")[:size])


def subsamples(classes: Classes, *, draws: int, seed: int, share: float = 0.5) -> Iterator[Numbers]:
    """Row numbers of subsamples without replacement: this share of each class, but two rows at least if it has them.

    Where copies of rows would spoil a measure (Dunn, OTCE, H-score with few rows), intervals rest on these and are
    labelled so (S-5).
    """
    source = source_of(seed, "subsamples")
    sizes = [min(int(count), max(2, round(share * int(count)))) for count in classes.counts]
    for _ in range(draws):
        parts = [
            classes.members(place)[drawn_rows(int(classes.counts[place]), size, source)]
            for place, size in enumerate(sizes)
        ]
        yield np.sort(np.concatenate(parts))
