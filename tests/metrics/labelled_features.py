"""Features with labels for the tests of representation measures, and the measures written down pair by pair."""

import numpy as np
from hypothesis import strategies as st


def clouds(seed, *, rows=120, dimensions=6, classes=5, spread=0.4, positive=True):
    """Rows about class centres, in mixed order; every class has two rows at least."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.repeat(np.arange(classes), 2), rng.integers(0, classes, rows - 2 * classes)])
    rng.shuffle(labels)
    features = rng.random((classes, dimensions))[labels] + spread * rng.normal(size=(rows, dimensions))
    return np.abs(features) if positive else features - features.mean(axis=0), labels


@st.composite
def labelled(draw, *, most=24, positive=True):
    """Small random features with labels: at least two classes, one of two rows at least."""
    rows = draw(st.integers(4, most))
    dimensions = draw(st.integers(2, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    labels = np.concatenate([[0, 0, 1], rng.integers(0, draw(st.integers(2, 5)), rows - 3)])
    features = rng.gamma(0.7, size=(rows, dimensions)) + 1e-3 if positive else rng.normal(size=(rows, dimensions))
    return features, labels


def cosines(features):
    """The cosine of every pair; that of a zero row with anything is 0."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    unit = np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0)
    return unit @ unit.T


def plain_ferm(features, labels, *, zero=False):
    """FERM 1 to 4 as they are defined, by sums over pairs."""
    cos, names = cosines(features), sorted(set(labels.tolist()))
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    unit = np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0)
    inside, outside, to_centroid, of_centroids, between = [], [], [], [], []
    centroids = {name: unit[labels == name].sum(axis=0) for name in names}
    for name in names:
        own = np.flatnonzero(labels == name)
        pairs = [cos[a, b] for a in own for b in own if a < b]
        inside.append(np.mean(pairs) if pairs else (0.0 if zero else np.nan))
        outside.append(cos[np.ix_(own, np.flatnonzero(labels != name))].mean())
        for other in names:
            if other != name:
                to_centroid.append(np.mean([cosine(unit[a], centroids[other]) for a in own]))
                of_centroids.append(cosine(centroids[name], centroids[other]))
                between.append(cos[np.ix_(own, np.flatnonzero(labels == other))].mean())
    mean = np.nanmean(inside)
    ratios = [a / b if b else np.nan for a, b in zip(inside, outside, strict=True) if not np.isnan(a)]
    return {
        "ferm1": np.mean(ratios),
        "ferm2": mean / np.mean(between),
        "ferm3": mean / np.mean(to_centroid),
        "ferm4": mean / np.mean(of_centroids),
        "gap": mean - np.mean(between),
        "collapse": (1 - mean) / (1 - np.mean(between)),
    }


def cosine(first, second):
    """The cosine of two vectors, 0 if either is nothing."""
    size = np.linalg.norm(first) * np.linalg.norm(second)
    return float(first @ second / size) if size > 0 else 0.0


def distances(features):
    """The Euclidean distance of every pair, by difference."""
    return np.linalg.norm(features[:, None] - features[None], axis=2)
