"""All measures of a data set in one call: each read of the features is made once and only if something needs it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.representation.backends.blas import Backend, Blas
from basanite.representation.measures.ferm import (
    COMPANIONS,
    FERM,
    Singletons,
    Weighting,
    class_figures,
    ferm_of,
    samples,
)
from basanite.representation.measures.further import FURTHER, further_values
from basanite.representation.measures.pairs import (
    Average,
    Dunn,
    PairSums,
    PointBiserial,
    dunn_by,
    point_biserial_of,
    silhouette_of,
    silhouettes,
)
from basanite.representation.measures.results import (
    DIRECTIONS,
    Classes,
    ClassFigures,
    Labels,
    Measured,
    SampleFigures,
    classes_of,
)
from basanite.representation.measures.spread import (
    Coincident,
    Constants,
    Mean,
    c_root_k_of,
    calinski_harabasz_of,
    cancels,
    davies_bouldin_of,
    rs_of,
)
from basanite.representation.measures.sums import ClassSums, Features, Radii, shape_of
from basanite.representation.measures.sweep import Precision
from basanite.representation.measures.transfer import Factors, Plan, Transport, h_score, leep, otce

COSINE: Final = (*FERM, *COMPANIONS)
LINEAR: Final = (*COSINE, "davies_bouldin", "calinski_harabasz", "rs", "c_root_k")
PAIRWISE: Final = ("silhouette", "dunn", "point_biserial")
TRANSFER: Final = ("leep", "h_score", "otce_wd", "otce_wt")
NAMES: Final = tuple(DIRECTIONS)
"""Every value there is, in the order of reports."""


@dataclass(frozen=True)
class Options:
    """Which definitions are taken; the defaults are the ones the documentation calls default."""

    weighting: Weighting = "classes"
    singletons: Singletons = "omit"
    average: Average = "micro"
    point_biserial: PointBiserial = "pearson"
    q: int = 1
    coincident: Coincident = "inf"
    """What Davies-Bouldin makes of two classes with one centroid."""
    dunn: Dunn = "points"
    c_root_k: Mean = "of_roots"
    constants: Constants = "omit"
    """What C-root-K makes of features that never change."""
    shrunk: bool = False
    """Whether the H-score takes the Ledoit-Wolf covariance."""
    precision: Precision = "float32"
    """Of the tiles of the pairwise sweep."""
    plan: Plan = "exact"
    otce_rows: int = 1000
    otce_weights: Factors | None = None
    """l1, l2 and b of OTCE, where they were fitted on other tasks."""
    seed: int = 0
    """Of the rows that OTCE draws."""


@dataclass(frozen=True)
class Source:
    """What is known of the source task; each part is optional, and needed by the measures that name it."""

    probabilities: NDArray[Any] | None = None
    """LEEP: the source head's probabilities for the target's rows, `[N, Z]`."""
    features: Features | None = None
    """OTCE: features of source rows."""
    labels: Labels | Classes | None = None


@dataclass(frozen=True)
class Representation:
    """Everything measured of one data set, and the states it came from, so that it can be merged or continued."""

    values: dict[str, Measured]
    classes: Classes
    figures: ClassFigures
    samples: SampleFigures | None
    sums: ClassSums
    radii: Radii | None
    pairs: PairSums | None
    backend: str

    def with_samples(self, features: Features) -> Representation:
        """The same with the figures of every row, from the features that it was measured on."""
        figures = samples(features, self.classes, sums=self.sums)
        if self.pairs is not None:
            figures = replace(figures, silhouette=silhouettes(self.pairs, self.classes))
        return replace(self, samples=figures)


def measure(
    features: Features,
    labels: Labels | Classes,
    *,
    names: Collection[str] | None = None,
    source: Source | None = None,
    options: Options | None = None,
    backend: Backend | None = None,
) -> Representation:
    """Every measure that was asked for by name (all that the data allow, without names).

    >>> found = measure(np.array([[1.0, 0], [2, 1], [0, 1], [1, 3]]), [0, 0, 1, 1], names=["rs", "gap"])
    >>> sorted(found.values)
    ['gap', 'rs']
    """
    classes = classes_of(labels, shape_of(features)[0])
    given, chosen, engine = source or Source(), options or Options(), backend or Blas()
    wanted = wanted_names(names, given)
    moments = bool(set(wanted) & {*LINEAR, *PAIRWISE} - set(COSINE))
    sums = engine.linear_pass(features, classes, moments=moments)
    cancelling = bool({"calinski_harabasz", "rs"} & set(wanted)) and cancels(sums)
    second = engine.radii(features, classes, sums) if "davies_bouldin" in wanted or cancelling else None
    swept = set(wanted) & set(PAIRWISE)
    pairs = engine.pairwise_sweep(features, classes, precision=chosen.precision, sums=sums) if swept else None
    values = linear_values(sums, second, chosen)
    values |= {} if pairs is None else pairwise_values(pairs, features, classes, sums, chosen)
    values |= transfer_values(wanted, features, classes, given, chosen)
    values |= further_values(wanted, features, classes, given.probabilities)
    return Representation(
        {name: values[name] for name in wanted},
        classes,
        class_figures(sums),
        None,
        sums,
        second,
        pairs,
        engine.label,
    )


def linear_values(sums: ClassSums, second: Radii | None, options: Options) -> dict[str, Measured]:
    """The values of all linear measures from the states of the passes: nothing else is read."""
    values = ferm_of(sums, weighting=options.weighting, singletons=options.singletons)
    if np.isnan(sums.spread).all():
        return values
    values |= {
        "calinski_harabasz": calinski_harabasz_of(sums, second),
        "rs": rs_of(sums, second),
        "c_root_k": c_root_k_of(sums, mean=options.c_root_k, constants=options.constants),
    }
    if second is None:
        return values
    return values | {"davies_bouldin": davies_bouldin_of(sums, second, q=options.q, coincident=options.coincident)}


def pairwise_values(
    pairs: PairSums, features: Features, classes: Classes, sums: ClassSums, options: Options
) -> dict[str, Measured]:
    """The values of all measures that rest on pairs, from what the sweep left."""
    return {
        "silhouette": silhouette_of(pairs, classes, average=options.average),
        "dunn": dunn_by(options.dunn, features, classes, sums=sums, pairs=pairs),
        "point_biserial": point_biserial_of(pairs, classes, definition=options.point_biserial),
    }


def transfer_values(
    wanted: Sequence[str], features: Features, classes: Classes, source: Source, options: Options
) -> dict[str, Measured]:
    """The values of the transfer measures among those wanted."""
    values: dict[str, Measured] = {}
    if "leep" in wanted and source.probabilities is not None:
        values["leep"] = leep(source_probabilities=source.probabilities, labels=classes)
    if "h_score" in wanted:
        values["h_score"] = h_score(features, classes, shrunk=options.shrunk)
    if {"otce_wd", "otce_wt"} & set(wanted) and source.features is not None and source.labels is not None:
        found = otce(
            source_features=source.features,
            source_labels=source.labels,
            target_features=features,
            target_labels=classes,
            transport=Transport(options.otce_rows, options.seed, options.plan),
            factors=options.otce_weights,
        )
        values |= found.values
    return values


def wanted_names(names: Collection[str] | None, source: Source) -> tuple[str, ...]:
    """The values to compute: those asked for, or all usual ones that the source parts at hand allow."""
    possible = set(NAMES)
    possible -= set() if source.probabilities is not None else {"leep", "nce"}
    possible -= set() if source.features is not None and source.labels is not None else {"otce_wd", "otce_wt"}
    lacking = sorted(set(names or ()) - possible)
    if lacking:
        raise SettingError(
            f"These cannot be measured here: {', '.join(lacking)}. LEEP and NCE need source probabilities, OTCE source "
            f"features and labels; possible are {', '.join(name for name in NAMES if name in possible)}."
        )
    usual = possible - set(FURTHER)
    return tuple(name for name in NAMES if name in (usual if names is None else set(names)))


def measured_families(names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The measures by family, as the FERM paper draws them."""
    families = {
        "Cosine measures": ("ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse"),
        "Clustering measures": (*PAIRWISE, "davies_bouldin", "calinski_harabasz", "rs", "c_root_k"),
        "Transferability measures": (*TRANSFER, *FURTHER),
    }
    for title, members in families.items():
        kept = tuple(name for name in names if name in members)
        if kept:
            yield title, kept
