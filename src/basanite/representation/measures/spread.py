"""Davies-Bouldin, Calinski-Harabasz, RS and C-root-K from the state of the linear pass.

W is the scatter inside classes, B that between their centroids and the grand mean, T = W + B. The state gives T and B;
where W is lost in their difference, the second pass gives it directly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.representation.measures.results import COINCIDENT, UNDEFINED, Classes, Floats, Measured, Numbers
from basanite.representation.measures.sums import ClassSums, Features, Radii, linear_pass, unit_rows

Mean = Literal["of_roots", "root_of_mean"]
Constants = Literal["omit", "zero", "nan"]
Coincident = Literal["inf", "drop"]
Mask = NDArray[np.bool_]
NAN: Final = float("nan")
NOTHING: Final = 1e-12
ROUNDING: Final = 1e-13
"""Bound on the error of a squared distance made by a product, as a share of the two squared lengths."""
TINIEST: Final = 1e-280
CANCELLED: Final = 1e-6
"""Where W is a smaller share of T than this, its difference T - B has lost digits."""


def scatter(sums: ClassSums) -> tuple[Floats, Floats]:
    """TSS_j and BSS_j of each feature: scatter about the grand mean, and that of the centroids."""
    rows = max(sums.rows, 1)
    whole = sums.sums.sum(axis=0)
    away = sums.centroids - whole / rows
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.maximum(sums.squares - whole**2 / rows, 0.0)
        between = np.einsum("i,ij,ij->j", sums.counts.astype(np.float64), away, away)
    _refuse_unsquarable(float(total.sum()), away)
    return total, np.minimum(between, total)


def _refuse_unsquarable(total: float, away: Floats) -> None:
    """Numbers so large or small that their squares are lost cannot be measured by distance; scaling them cures it."""
    vanished = total == 0 and np.abs(away).max() > 0
    if vanished or not np.isfinite(total) or 0 < total < TINIEST:
        raise FeaturesError(
            "The features are too large or too small for their squares: distances cannot be measured. Multiply all of "
            "them by one factor that brings them near 1: no value depends on it."
        )


def within_between(sums: ClassSums, radii: Radii | None = None) -> tuple[float, float]:
    """W and B; with the second pass at hand W is summed directly."""
    total, between = scatter(sums)
    apart = float(between.sum())
    if radii is None:
        inside, nothing = float(total.sum()) - apart, 1e-15 * float(total.sum())
    else:
        inside, nothing = float(radii.squares.sum()), sums.rows * blur(sums) ** 2
    return (0.0 if inside <= nothing else inside), apart


def blur(sums: ClassSums) -> float:
    """The distance from a centroid that rounding of the centroid alone can leave: nearer than this is at it."""
    reach = np.linalg.norm(np.abs(sums.shift) + np.abs(sums.without_empty().centroids), axis=1)
    return float(8 * np.finfo(np.float64).eps * reach.max())


def cancels(sums: ClassSums) -> bool:
    """Whether W is so small a share of T that it should be taken from a second pass."""
    inside, apart = within_between(sums)
    return inside <= CANCELLED * (inside + apart)


def calinski_harabasz_of(sums: ClassSums, radii: Radii | None = None) -> Measured:
    """(B / (K-1)) / (W / (N-K)); +inf where classes have no scatter, nan where every row is a class."""
    inside, apart = within_between(sums, radii)
    rows, classes = sums.rows, int((sums.counts > 0).sum())
    parts = {"within": inside, "between": apart}
    if rows <= classes or inside + apart == 0 or not np.isfinite(inside + apart):
        return Measured(NAN, (UNDEFINED,), parts)
    if inside == 0:
        return Measured(float("inf"), (), parts)
    return Measured((apart / (classes - 1)) / (inside / (rows - classes)), (), parts)


def rs_of(sums: ClassSums, radii: Radii | None = None) -> Measured:
    """B / T, between 0 and 1; nan without any scatter. It rises with the number of classes."""
    inside, apart = within_between(sums, radii)
    parts = {"within": inside, "between": apart}
    whole = inside + apart
    return Measured(apart / whole, (), parts) if 0 < whole < np.inf else Measured(NAN, (UNDEFINED,), parts)


def _varying_features(sums: ClassSums, total: Floats) -> Mask:
    """Which features vary: rounding of a constant one leaves only so much of its offset."""
    return np.asarray(total > 1e-15 * sums.squares + 1e-29 * sums.rows * sums.shift**2)


def constant_features(sums: ClassSums) -> int:
    """How many features are the same in every row; 0 where only cosine measures were asked for."""
    return 0 if np.isnan(sums.squares).any() else int((~_varying_features(sums, scatter(sums)[0])).sum())


def c_root_k_of(sums: ClassSums, *, mean: Mean = "of_roots", constants: Constants = "omit") -> Measured:
    """The mean over features of sqrt(BSS_j / TSS_j), over sqrt K; it falls as 1 / sqrt K."""
    total, between = scatter(sums)
    live = _varying_features(sums, total)
    classes = int((sums.counts > 0).sum())
    parts = {"constant_features": float((~live).sum())}
    if not live.any() or (constants == "nan" and not live.all()) or not np.isfinite(total).all():
        return Measured(NAN, (UNDEFINED,), parts)
    shares = between[live] / total[live]
    count = int(live.sum()) if constants == "omit" else len(live)
    averaged = np.sqrt(shares).sum() / count if mean == "of_roots" else np.sqrt(shares.sum() / count)
    return Measured(float(averaged / np.sqrt(classes)), (), parts)


def davies_bouldin_of(sums: ClassSums, radii: Radii, *, q: int = 1, coincident: Coincident = "inf") -> Measured:
    """The mean over classes of the worst (e_i + e_j) / |c_i - c_j|; lower is better."""
    if q not in (1, 2):
        raise FeaturesError(f"q must be 1 (mean distance) or 2 (root mean square), not {q}.")
    present = np.flatnonzero(sums.counts)
    counts = sums.counts[present]
    sizes = radii.distances[present] / counts if q == 1 else np.sqrt(radii.squares[present] / counts)
    rounding = blur(sums)
    sizes = np.where(sizes > rounding, sizes, 0.0)
    worst, touching = worst_ratios(sums.centroids[present], sizes, drop=coincident == "drop", rounding=rounding)
    flags = (COINCIDENT,) if touching else ()
    return Measured(float(worst.mean()), flags, {"largest": float(worst.max())})


def worst_ratios(centroids: Floats, sizes: Floats, *, drop: bool = False, rounding: float = 0.0) -> tuple[Floats, bool]:
    """For each class the largest (e_i + e_j) / |c_i - c_j|, and whether any two centroids coincide.

    Distances come from one product; the few that decide are taken again by difference, where no digit is lost.
    """
    centred = centroids - centroids.mean(axis=0)
    tiny = max(NOTHING * float(np.abs(centred).max()), rounding)
    lengths = np.einsum("ij,ij->i", centred, centred)
    worst, touching = np.zeros(len(centred)), False
    for place, product in _products(centred):
        squares = np.maximum(lengths + lengths[place] - 2 * product, 0.0)
        error = ROUNDING * (lengths + lengths[place])
        left_out = _coincident(centred, squares - error, place, tiny)
        touching = touching or left_out.sum() > 1
        if left_out.sum() > 1 and not drop:
            worst[place] = np.inf
            continue
        top = sizes + sizes[place]
        candidates = _deciding(top, squares, error, left_out)
        exact = np.linalg.norm(centred[candidates] - centred[place], axis=1)
        worst[place] = (top[candidates] / exact).max(initial=0.0)
    return worst, touching


def _products(centred: Floats, block: int = 256) -> Iterator[tuple[int, Floats]]:
    """The product of each centroid with all, a block of them at a time."""
    for start in range(0, len(centred), block):
        yield from enumerate(centred[start : start + block] @ centred.T, start)


def _coincident(centred: Floats, at_least: Floats, place: int, tiny: float) -> Mask:
    """The class itself and those whose centroid is the same."""
    near = at_least <= tiny**2
    suspects = np.flatnonzero(near)
    near[suspects] = np.linalg.norm(centred[suspects] - centred[place], axis=1) <= tiny
    near[place] = True
    return near


def _deciding(top: Floats, squares: Floats, error: Floats, left_out: Mask) -> Numbers:
    """The other classes whose ratio may be the largest, given what rounding does to a squared distance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        highest = np.nan_to_num(top / np.sqrt(np.maximum(squares - error, 0.0)), nan=np.inf, posinf=np.inf)
        lowest = np.nan_to_num(top / np.sqrt(squares + error), nan=0.0, posinf=np.inf)
    highest[left_out] = lowest[left_out] = -1.0
    return np.flatnonzero((highest >= lowest.max()) & ~left_out)


ByMeans = Literal["sqeuclidean", "cosine"]


def silhouettes_by_means(features: Features, classes: Classes, *, metric: ByMeans) -> Floats:
    """The silhouette of each row in N K d work: 1 - u.m_j, or |x|^2 + mean |y|^2 - 2 x.c_j."""
    sums = linear_pass(features, classes, moments=metric == "sqeuclidean")
    found = np.empty(len(classes.codes))
    step = max(1, (1 << 22) // max(len(classes), sums.dimensions))
    for start in range(0, len(found), step):
        rows = np.arange(start, min(start + step, len(found)))
        means = (
            _squared_distances(features, rows, sums)
            if metric == "sqeuclidean"
            # the sum of cosine distances to each class; that of a zero row with anything is 1
            else sums.counts - unit_rows(features, rows) @ sums.unit.T
        )
        found[rows] = _silhouettes(means, classes.codes[rows], classes.counts)
    return found


def _squared_distances(features: Features, rows: Numbers, sums: ClassSums) -> Floats:
    """The sum of squared distances from each row to each class."""
    shifted = np.asarray(features[rows], dtype=np.float64) - sums.shift
    own = np.einsum("ij,ij->i", shifted, shifted)
    totals: Floats = own[:, None] * sums.counts + sums.spread - 2 * shifted @ sums.sums.T
    return np.asarray(np.maximum(totals, 0.0))


def _silhouettes(totals: Floats, codes: Numbers, counts: Numbers) -> Floats:
    at = np.arange(len(codes))
    others = counts[codes] - 1
    own = np.divide(totals[at, codes], others, out=np.zeros(len(codes)), where=others > 0)
    means = totals / counts
    means[at, codes] = np.inf
    rival = means.min(axis=1)
    larger = np.maximum(own, rival)
    return np.asarray(np.divide(rival - own, larger, out=np.zeros(len(codes)), where=(others > 0) & (larger > 0)))
