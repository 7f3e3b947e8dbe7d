"""What rival definitions of Dunn's index take for the distance between classes: centroids in place of points."""

from __future__ import annotations

from typing import Literal

import numpy as np

from basanite.metrics.representation.classes import Classes, Labels, classes_of
from basanite.metrics.representation.pairwise.pairs import PairSums, dunn_of, dunn_ratio
from basanite.metrics.representation.passes import PIECE, Features, radii, shape_of
from basanite.metrics.representation.results import Measured
from basanite.metrics.representation.spread import blur
from basanite.metrics.representation.sums import ClassSums

Dunn = Literal["points", "centroids", "centroid_diameter", "point_centroid"]


def dunn_by(
    definition: Dunn, features: Features, labels: Labels | Classes, *, sums: ClassSums, pairs: PairSums
) -> Measured:
    """Dunn's index by one of its definitions, from what the pass and the sweep left."""
    if definition == "points":
        return dunn_of(pairs)
    if definition == "centroids":
        largest = float(radii(features, labels, sums).largest.max())
        return dunn_ratio(centroid_gap(sums), largest if largest > blur(sums) else 0.0)
    apart = centroid_gap(sums) if definition == "centroid_diameter" else point_to_centroid_gap(features, labels, sums)
    return dunn_ratio(apart, pairs.diameter)


def centroid_gap(sums: ClassSums) -> float:
    """The least distance between two class centroids (torchmetrics, Hub Miner)."""
    centroids = sums.without_empty().centroids
    nearest = [
        np.linalg.norm(centroids[place + 1 :] - centroids[place], axis=1).min() for place in range(len(centroids) - 1)
    ]
    return float(min(nearest))


def point_to_centroid_gap(features: Features, labels: Labels | Classes, sums: ClassSums) -> float:
    """The least distance from a row to the centroid of a class before its own: permetrics' default, asymmetric."""
    classes = classes_of(labels, shape_of(features)[0])
    centroids = sums.centroids[sums.places(classes.names)]
    least = np.inf
    for place in range(1, len(classes)):
        members = classes.members(place)
        for start in range(0, len(members), PIECE):
            rows = np.asarray(features[members[start : start + PIECE]], dtype=np.float64) - sums.shift
            away = (np.linalg.norm(rows - other, axis=1).min() for other in centroids[:place])
            least = min(least, *away)
    return float(least)
