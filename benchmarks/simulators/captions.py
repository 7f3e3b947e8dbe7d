"""Images of made scenes, described by five people and by two systems that see equally well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basanite.kernel import Metric
from basanite.metrics.text.captions import Captions
from basanite.synthetic.captions import describe_images
from simulators.population import POPULATION, Population, populations

QUALITIES = (0.7, 0.7000001)  # the same for all that counts; another number throws other dice


def simulate_captions(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """All images give the document frequencies, so those of a campaign are the population's."""
    seed = int(generator.integers(2**31))
    blocks = [_block(seed, quality) for quality in QUALITIES]
    return populations(metrics, blocks)


def _block(seed: int, quality: float) -> Captions:
    images = describe_images(POPULATION, seed=seed, words=2000, quality=quality)
    return Captions(
        [str(one.image) for one in images],
        [one.answer.rstrip(".").split() for one in images],
        [[text.rstrip(".").split() for text in one.references] for one in images],
    )


SIMULATORS = {"captions": simulate_captions}
