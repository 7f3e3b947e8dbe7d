"""FERM 1 to 4 from the state of the linear pass, by exact closed forms; and bounded companions of our own.

The sum of cosines of all pairs inside a class is known from the length of the sum of its unit vectors, and the sum
over pairs between classes is a product of two such sums: no pair is ever looked at. Everything a value needs is in
`CosineTerms`, where weighted draws and the plain data look alike, so a draw is reduced by the same code (S-5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from basanite.representation.measures.results import (
    INTER_ZERO,
    NEGATIVE_FEATURES,
    NEGATIVE_INTER,
    NO_DIRECTION,
    OURS,
    SINGLETONS,
    UNDEFINED,
    UNSTABLE,
    ZERO_ROWS,
    Classes,
    ClassFigures,
    Floats,
    Labels,
    Measured,
    Numbers,
    SampleFigures,
    classes_of,
)
from basanite.representation.measures.sums import ClassSums, Features, linear_pass, shape_of, unit_rows

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
    has = has_direction(squares, counts)
    inverse = np.divide(1.0, np.sqrt(np.where(has, squares, 1.0)), out=np.zeros_like(squares), where=has)
    directions = (sums.unit * inverse[:, None]).sum(axis=0)
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


def has_direction(squares: Floats, counts: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether each class has a direction: |s_i| > 1e-12 n_i."""
    return np.asarray(np.sqrt(np.maximum(squares, 0)) > NOTHING * counts)


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
        numerator, between = _by_pair(terms) if weighting == "pairs" else _by_class(terms, intra)
        to_centroids, of_centroids = _centroid_means(terms, present.sum(axis=-1).astype(np.float64))
    return Ratios(intra, inter, numerator, between, to_centroids, of_centroids)


def _by_class(terms: CosineTerms, intra: Floats) -> tuple[Floats, Floats]:
    """The mean of A_i over classes, and the mean of G_ij over pairs of classes."""
    classes = (terms.counts > 0).sum(axis=-1).astype(np.float64)
    own = np.where(terms.counts > 0, terms.squares / np.maximum(terms.counts, 1e-300) ** 2, 0.0).sum(axis=-1)
    return mean_of_defined(intra), (terms.means - own) / (classes * (classes - 1))


def _by_pair(terms: CosineTerms) -> tuple[Floats, Floats]:
    """All pairs of the same class against all pairs of different classes: reading (c) of FERM 2."""
    rows = terms.counts.sum(axis=-1)
    different = rows**2 - (terms.counts**2).sum(axis=-1)
    return (
        np.where(terms.pairs > 0, terms.inside, 0.0).sum(axis=-1) / terms.pairs.sum(axis=-1),
        (terms.total - terms.squares.sum(axis=-1)) / different,
    )


def _centroid_means(terms: CosineTerms, classes: Floats) -> tuple[Floats, Floats]:
    has = has_direction(terms.squares, terms.counts) & (terms.counts > 0)
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
    measured = {"ferm1": _ferm1(float(values["ferm1"]), found, sums).with_flags(*common)}
    denominators = {"ferm2": found.between, "ferm3": found.to_centroids, "ferm4": found.of_centroids}
    for name, denominator in denominators.items():
        measured[name] = _ratio(float(values[name]), float(found.mean_intra), float(denominator)).with_flags(*common)
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
        NO_DIRECTION: not has_direction(squares, sums.counts.astype(np.float64)).all(),
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
        directed=has_direction(terms.squares, terms.counts),
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


@dataclass(frozen=True)
class Ferm:
    """The cosine measures of a data set and the figures of its classes."""

    values: dict[str, Measured]
    """`ferm1` to `ferm4`, and our own `gap` and `collapse`."""
    classes: ClassFigures


def ferm(
    features: Features, labels: Labels | Classes, *, weighting: Weighting = "classes", singletons: Singletons = "omit"
) -> Ferm:
    """FERM 1 to 4 with gap, collapse and the figures of each class, in one read of the features.

    >>> found = ferm(np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]]), ["a", "a", "b", "b"])
    >>> round(found.values["ferm2"].value, 3), found.classes.names
    (10.025, ('a', 'b'))
    """
    sums = linear_pass(features, labels, moments=False)
    return Ferm(ferm_of(sums, weighting=weighting, singletons=singletons), class_figures(sums))


def ferm1(features: Features, labels: Labels, *, singletons: Singletons = "omit") -> float:
    """The mean over classes of similarity inside over similarity to all other rows."""
    return ferm(features, labels, singletons=singletons).values["ferm1"].value


def ferm2(
    features: Features, labels: Labels, *, weighting: Weighting = "classes", singletons: Singletons = "omit"
) -> float:
    """Mean similarity inside classes over mean similarity between pairs of classes.

    >>> round(ferm2(np.array([[1.0, 0], [1, 1], [0, 1], [1, 2]]), [0, 0, 1, 1]), 3)
    1.523
    """
    return ferm(features, labels, weighting=weighting, singletons=singletons).values["ferm2"].value


def ferm3(features: Features, labels: Labels, *, singletons: Singletons = "omit") -> float:
    """Mean similarity inside classes over that of rows with the angular centroids of other classes."""
    return ferm(features, labels, singletons=singletons).values["ferm3"].value


def ferm4(features: Features, labels: Labels, *, singletons: Singletons = "omit") -> float:
    """Mean similarity inside classes over that between the angular centroids of classes."""
    return ferm(features, labels, singletons=singletons).values["ferm4"].value


def gap(features: Features, labels: Labels) -> float:
    """Ours: mean similarity inside classes less that between them, in [-2, 2]; safe on centred features."""
    return ferm(features, labels).values["gap"].value


def collapse(features: Features, labels: Labels) -> float:
    """Ours: (1 - similarity inside) / (1 - similarity between); 0 is a collapsed class, 1 no structure."""
    return ferm(features, labels).values["collapse"].value


def samples(features: Features, labels: Labels | Classes, *, sums: ClassSums | None = None) -> SampleFigures:
    """Own-class and best-rival cosine of each row by class means: N K d work, no pair of rows is looked at (F-13).

    With the state of more rows (`sums`) rows are held against all of these, and rivals are places in its names.
    """
    classes = classes_of(labels, shape_of(features)[0])
    state = linear_pass(features, classes, moments=False) if sums is None else sums
    places = state.places(classes.names)[classes.codes]
    size = len(classes.codes)
    found = SampleFigures(np.empty(size), np.empty(size), np.empty(size, np.int64))
    step = max(1, (1 << 22) // max(len(state.names), state.dimensions))
    for start in range(0, size, step):
        _fill_samples(found, features, places, state, np.arange(start, min(start + step, size)))
    return found


def _fill_samples(found: SampleFigures, features: Features, places: Numbers, state: ClassSums, rows: Numbers) -> None:
    unit = unit_rows(features, rows)
    own = places[rows]
    similar = unit @ (state.unit / state.counts[:, None]).T
    others = state.counts[own] - 1
    at = np.arange(len(rows))
    inside = similar[at, own] * state.counts[own] - np.einsum("ij,ij->i", unit, unit)
    found.own_cosine[rows] = np.divide(inside, others, out=np.full(len(rows), np.nan), where=others > 0)
    similar[at, own] = -np.inf
    found.rival[rows] = similar.argmax(axis=1)
    found.rival_cosine[rows] = similar.max(axis=1)
