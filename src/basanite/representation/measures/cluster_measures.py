"""Clustering measures with known classes: how compact classes are and how far apart, by Euclidean distance.

Plain functions of arrays. The defaults are the definitions named in
`docs/explanation/representation-measures.md`; rival readings are named options. Silhouette, Dunn and point-biserial
look at all pairs of rows: to have several of them, sweep once with `basanite.representation.measures.sweep`.

Rousseeuw, Silhouettes (1987); Davies and Bouldin (1979); Calinski and Harabasz (1974); Dunn (1974); Halkidi et al.
(2001); Milligan (1981); Ratkowsky and Lance (1978).
"""

from __future__ import annotations

from typing import Literal

from basanite.representation.measures.pairs import (
    Average,
    Dunn,
    PointBiserial,
    dunn_by,
    point_biserial_of,
    silhouette_mean,
    silhouettes,
)
from basanite.representation.measures.results import Classes, Floats, Labels, Measured, classes_of
from basanite.representation.measures.spread import (
    Coincident,
    Constants,
    Mean,
    c_root_k_of,
    calinski_harabasz_of,
    cancels,
    davies_bouldin_of,
    rs_of,
    silhouettes_by_means,
)
from basanite.representation.measures.sums import ClassSums, Features, Radii, linear_pass, radii, shape_of
from basanite.representation.measures.sweep import Precision, pairwise_sweep

Distance = Literal["euclidean", "sqeuclidean", "cosine"]


def silhouette_samples(
    features: Features, labels: Labels | Classes, *, metric: Distance = "euclidean", precision: Precision = "float64"
) -> Floats:
    """The silhouette of each row; by cosine or squared distance it needs no pairs, only class means."""
    classes = classes_of(labels, shape_of(features)[0])
    if metric != "euclidean":
        return silhouettes_by_means(features, classes, metric=metric)
    return silhouettes(pairwise_sweep(features, classes, precision=precision), classes)


def silhouette(
    features: Features,
    labels: Labels | Classes,
    *,
    average: Average = "micro",
    metric: Distance = "euclidean",
    precision: Precision = "float64",
) -> Measured:
    """The mean silhouette over rows; `average="macro"` is the mean of class means.

    >>> import numpy as np
    >>> silhouette(np.array([[0.0], [1.0], [9.0], [10.0]]), [0, 0, 1, 1]).value.__round__(4)
    0.8885
    """
    classes = classes_of(labels, shape_of(features)[0])
    each = silhouette_samples(features, classes, metric=metric, precision=precision)
    return silhouette_mean(each, classes, average=average)


def davies_bouldin(
    features: Features, labels: Labels | Classes, *, q: int = 1, coincident: Coincident = "inf"
) -> Measured:
    """The mean over classes of the worst (size_i + size_j) / distance of centroids; lower is better.

    >>> import numpy as np
    >>> davies_bouldin(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]).value
    0.2
    """
    sums = linear_pass(features, labels)
    return davies_bouldin_of(sums, radii(features, labels, sums), q=q, coincident=coincident)


def calinski_harabasz(features: Features, labels: Labels | Classes) -> Measured:
    """Scatter between classes over scatter inside, each for its degrees of freedom.

    >>> import numpy as np
    >>> calinski_harabasz(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]).value
    50.0
    """
    return calinski_harabasz_of(*_passes(features, labels))


def rs(features: Features, labels: Labels | Classes) -> Measured:
    """The share of the scatter that lies between classes (R squared). Beware: Hub Miner's RS is 1 minus this.

    >>> import numpy as np
    >>> round(rs(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]).value, 4)
    0.9615
    """
    return rs_of(*_passes(features, labels))


def c_root_k(
    features: Features, labels: Labels | Classes, *, mean: Mean = "of_roots", constants: Constants = "omit"
) -> Measured:
    """Ratkowsky-Lance: the mean over features of sqrt(BSS / TSS), over sqrt K."""
    return c_root_k_of(linear_pass(features, labels), mean=mean, constants=constants)


def dunn(
    features: Features, labels: Labels | Classes, *, definition: Dunn = "points", precision: Precision = "float32"
) -> Measured:
    """The least distance between classes over the largest inside one; exact in either precision.

    >>> import numpy as np
    >>> dunn(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]).value
    4.0
    """
    sums = linear_pass(features, labels)
    pairs = pairwise_sweep(features, labels, precision=precision, sums=sums)
    return dunn_by(definition, features, labels, sums=sums, pairs=pairs)


def point_biserial(
    features: Features,
    labels: Labels | Classes,
    *,
    definition: PointBiserial = "pearson",
    precision: Precision = "float64",
) -> Measured:
    """The correlation of distance with being of different classes, over all pairs of rows.

    >>> import numpy as np
    >>> round(point_biserial(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]).value, 4)
    0.9562
    """
    classes = classes_of(labels, shape_of(features)[0])
    return point_biserial_of(pairwise_sweep(features, classes, precision=precision), classes, definition=definition)


def _passes(features: Features, labels: Labels | Classes) -> tuple[ClassSums, Radii | None]:
    """One pass, and a second one only where the difference T - B would lose digits."""
    sums = linear_pass(features, labels)
    return sums, radii(features, labels, sums) if cancels(sums) else None


__all__ = [
    "c_root_k",
    "calinski_harabasz",
    "davies_bouldin",
    "dunn",
    "point_biserial",
    "rs",
    "silhouette",
    "silhouette_samples",
]
