"""FERM 1 to 4 from the state of the linear pass, by exact closed forms; and bounded companions of our own.

The sum of cosines of all pairs inside a class is known from the length of the sum of its unit vectors, and the sum
over pairs between classes is a product of two such sums: no pair is ever looked at. Everything a value needs is in
`CosineTerms`, where weighted draws and the plain data look alike, so a draw is reduced by the same code (S-5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from basanite.metrics.representation.results import (
    INTER_ZERO,
    NEGATIVE_FEATURES,
    NEGATIVE_INTER,
    NO_DIRECTION,
    OURS,
    SINGLETONS,
    UNDEFINED,
    UNSTABLE,
    ZERO_ROWS,
    ClassFigures,
    Floats,
    Measured,
    Numbers,
)
from basanite.metrics.representation.sums import ClassSums

Weighting = Literal["classes", "pairs"]
Singletons = Literal["omit", "zero"]
FERM: Final = ("ferm1", "ferm2", "ferm3", "ferm4")
COMPANIONS: Final = ("gap", "collapse")
NOTHING: Final = 1e-12
"""A mean similarity between classes that is no larger than this is zero."""
SMALL: Final = 0.01


@dataclass(frozen=True)
class CosineTerms:
    """What FERM needs to know: figures of each class `[..., K]` and of all of them `[...]`; leading axes are draws."""

    counts: Floats
    """n_i, or the sum of the weights of a draw."""
    pairs: Floats
    """n_i (n_i - 1): ordered pairs of different rows; in a draw n_i^2 - sum w^2, so that no pair of copies counts."""
    inside: Floats
    """The sum of cosines over those pairs: |s_i|^2 less what each row gives with itself."""
    outside: Floats
    """s_i . (S - s_i)."""
    squares: Floats
    """|s_i|^2."""
    means: Floats
    """|M|^2, M = sum of m_i = s_i / n_i."""
    crossed: Floats
    """M . Q, Q = sum of h_i = s_i / |s_i|."""
    directions: Floats
    """|Q|^2."""
    total: Floats
    """|S|^2, S = sum of s_i."""


def cosine_terms(sums: ClassSums) -> CosineTerms:
    """The terms of the plain data."""
    counts = sums.counts.astype(np.float64)
    squares = np.einsum("ij,ij->i", sums.unit, sums.unit)
    whole = sums.unit.sum(axis=0)
    means = (sums.unit / np.maximum(counts, 1)[:, None]).sum(axis=0)
    directions = (sums.unit * _inverse_lengths(squares, counts)[:, None]).sum(axis=0)
    return CosineTerms(
        counts=counts,
        pairs=counts * (counts - 1),
        inside=squares - (counts - sums.zeros),
        outside=sums.unit @ whole - squares,
        squares=squares,
        means=np.asarray(means @ means),
        crossed=np.asarray(means @ directions),
        directions=np.asarray(directions @ directions),
        total=np.asarray(whole @ whole),
    )


def directed(squares: Floats, counts: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether each class has a direction: |s_i| > 1e-12 n_i."""
    return np.asarray(np.sqrt(np.maximum(squares, 0)) > NOTHING * counts)


def _inverse_lengths(squares: Floats, counts: Floats) -> Floats:
    has = directed(squares, counts)
    return np.divide(1.0, np.sqrt(np.where(has, squares, 1.0)), out=np.zeros_like(squares), where=has)


@dataclass(frozen=True)
class Ratios:
    """Numerators and denominators of all cosine measures, `[..., K]` for FERM 1 and `[...]` for the others."""

    intra: Floats
    inter: Floats
    mean_intra: Floats
    between: Floats
    """The mean of G_ij: the denominator of FERM 2."""
    to_centroids: Floats
    """The denominator of FERM 3."""
    of_centroids: Floats
    """The denominator of FERM 4."""


def ratios(terms: CosineTerms, *, weighting: Weighting = "classes", singletons: Singletons = "omit") -> Ratios:
    """All numerators and denominators of the terms; undefined ones are nan."""
    present = terms.counts > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        intra = np.where(terms.pairs > 0, terms.inside / terms.pairs, 0.0 if singletons == "zero" else np.nan)
        intra = np.where(present, intra, np.nan)
        others = terms.counts.sum(axis=-1, keepdims=True) - terms.counts
        inter = np.where(present, terms.outside / (terms.counts * others), np.nan)
        numerator, between = _pooled(terms) if weighting == "pairs" else _by_class(terms, intra)
        to_centroids, of_centroids = _centroid_means(terms, present.sum(axis=-1).astype(np.float64))
    return Ratios(intra, inter, numerator, between, to_centroids, of_centroids)


def _by_class(terms: CosineTerms, intra: Floats) -> tuple[Floats, Floats]:
    """The mean of A_i over classes, and the mean of G_ij over pairs of classes."""
    classes = (terms.counts > 0).sum(axis=-1).astype(np.float64)
    own = np.where(terms.counts > 0, terms.squares / np.maximum(terms.counts, 1e-300) ** 2, 0.0).sum(axis=-1)
    return mean_of_defined(intra), (terms.means - own) / (classes * (classes - 1))


def _pooled(terms: CosineTerms) -> tuple[Floats, Floats]:
    """All pairs of the same class against all pairs of different classes: reading (c) of FERM 2."""
    rows = terms.counts.sum(axis=-1)
    different = rows**2 - (terms.counts**2).sum(axis=-1)
    return (
        np.where(terms.pairs > 0, terms.inside, 0.0).sum(axis=-1) / terms.pairs.sum(axis=-1),
        (terms.total - terms.squares.sum(axis=-1)) / different,
    )


def _centroid_means(terms: CosineTerms, classes: Floats) -> tuple[Floats, Floats]:
    has = directed(terms.squares, terms.counts) & (terms.counts > 0)
    lengths = np.where(has, np.sqrt(np.maximum(terms.squares, 0)) / np.maximum(terms.counts, 1e-300), 0.0)
    pairs = classes * (classes - 1)
    return (terms.crossed - lengths.sum(axis=-1)) / pairs, (terms.directions - has.sum(axis=-1)) / pairs


def mean_of_defined(values: Floats) -> Floats:
    """The mean along the last axis of what is not nan; nan where nothing is left."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0))


def cosine_values(found: Ratios) -> dict[str, Floats]:
    """The value of every cosine measure from its two parts: for the data, or for many draws at once."""
    single = np.where(np.isnan(found.intra), np.nan, _over(found.intra, found.inter))
    void = (~np.isnan(found.intra) & ~(np.abs(found.inter) > NOTHING)).any(axis=-1)
    return {
        "ferm1": np.where(void, np.nan, mean_of_defined(single)),
        "ferm2": _over(found.mean_intra, found.between),
        "ferm3": _over(found.mean_intra, found.to_centroids),
        "ferm4": _over(found.mean_intra, found.of_centroids),
        "gap": np.asarray(found.mean_intra - found.between),
        "collapse": _over(1 - found.mean_intra, 1 - found.between),
    }


def _over(numerator: Floats, denominator: Floats) -> Floats:
    real = np.abs(denominator) > NOTHING
    return np.asarray(np.divide(numerator, denominator, out=np.full(np.shape(denominator), np.nan), where=real))


def ferm_of(
    sums: ClassSums, *, weighting: Weighting = "classes", singletons: Singletons = "omit"
) -> dict[str, Measured]:
    """FERM 1 to 4, gap and collapse of a state, with flags and parts as ruled (F-4)."""
    sums = sums.without_empty()
    found = ratios(cosine_terms(sums), weighting=weighting, singletons=singletons)
    values = cosine_values(found)
    common = _data_flags(sums)
    measured = {"ferm1": _ferm1(float(values["ferm1"]), found, sums).flagged(*common)}
    denominators = {"ferm2": found.between, "ferm3": found.to_centroids, "ferm4": found.of_centroids}
    for name, denominator in denominators.items():
        measured[name] = _ratio(float(values[name]), float(found.mean_intra), float(denominator)).flagged(*common)
    parts = {"intra": float(found.mean_intra), "inter": float(found.between)}
    safe = tuple(flag for flag in common if flag != NEGATIVE_FEATURES)  # companions are safe on centred features (F-9)
    for name in COMPANIONS:
        value = float(values[name])
        measured[name] = Measured(value, (OURS, *((UNDEFINED,) if np.isnan(value) else ()), *safe), parts)
    return measured


def _ratio(value: float, numerator: float, denominator: float) -> Measured:
    flags = _denominator_flags(np.array([denominator]))
    lost = (UNDEFINED,) if np.isnan(value) and INTER_ZERO not in flags else ()
    return Measured(value, (*flags, *lost), {"intra": numerator, "inter": denominator})


def _ferm1(value: float, found: Ratios, sums: ClassSums) -> Measured:
    """FERM 1 is a mean of ratios: one class without similarity to others voids it, so it is named."""
    counted = ~np.isnan(found.intra)
    inter = found.inter[counted]
    void = np.flatnonzero(counted & ~(np.abs(found.inter) > NOTHING))
    notes = tuple(f"class {sums.names[place]!r} has no similarity to the others" for place in void[:10])
    each = _over(found.intra[counted], inter)
    parts = {"median_ratio": float(np.nanmedian(each)) if np.isfinite(each).any() else float("nan")}
    parts["smallest_inter"] = float(inter.min()) if inter.size else float("nan")
    lost = (UNDEFINED,) if np.isnan(value) and not void.size else ()
    return Measured(value, (*_denominator_flags(inter), *lost), parts, notes)


def _denominator_flags(inter: Floats) -> tuple[str, ...]:
    zero = ~(np.abs(inter) > NOTHING)
    tests = {
        INTER_ZERO: zero,
        NEGATIVE_INTER: ~zero & (inter < 0),
        UNSTABLE: ~zero & (inter > 0) & (inter < SMALL),
    }
    return tuple(flag for flag, hit in tests.items() if hit.any())


def _data_flags(sums: ClassSums) -> tuple[str, ...]:
    squares = np.einsum("ij,ij->i", sums.unit, sums.unit)
    tests = {
        SINGLETONS: (sums.counts == 1).any(),
        ZERO_ROWS: sums.zeros.any(),
        NO_DIRECTION: not directed(squares, sums.counts.astype(np.float64)).all(),
        NEGATIVE_FEATURES: sums.negative,
    }
    return tuple(flag for flag, hit in tests.items() if hit)


def class_figures(sums: ClassSums) -> ClassFigures:
    """The cosine figures of every class and its nearest rival: one product of K by K."""
    terms = cosine_terms(sums)
    found = ratios(terms)
    means = sums.unit / np.maximum(sums.counts, 1)[:, None]
    rival, cosine = nearest_rivals(means)
    return ClassFigures(
        names=sums.names,
        counts=sums.counts,
        zeros=sums.zeros,
        intra=found.intra,
        inter=found.inter,
        ratio=_over(found.intra, found.inter),
        rival=rival,
        rival_cosine=cosine,
        directed=directed(terms.squares, terms.counts),
    )


def nearest_rivals(means: Floats, block: int = 1024) -> tuple[Numbers, Floats]:
    """For each class the other one with the largest mean cosine m_i . m_j, and that cosine."""
    rival, cosine = np.zeros(len(means), np.int64), np.empty(len(means))
    for start in range(0, len(means), block):
        some = means[start : start + block] @ means.T
        own = np.arange(len(some))
        some[own, start + own] = -np.inf
        rival[start : start + block] = some.argmax(axis=1)
        cosine[start : start + block] = some[own, rival[start : start + block]]
    return rival, cosine
