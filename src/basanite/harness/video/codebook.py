"""Visual words: descriptors put into the nearest of a codebook's, found by k-means (H-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BLOCK: Final = 8_192
ROUNDS: Final = 100


@dataclass(frozen=True)
class Codebook:
    """The words, `float32[words, dimensions]`."""

    words: Floats

    @classmethod
    def of(cls, descriptors: Floats, words: int, *, starts: int, seed: int) -> Codebook:
        """Words by k-means; of several starts the one with the smallest error. No more words than descriptors."""
        from sklearn.cluster import KMeans

        count = min(words, len(np.unique(descriptors, axis=0)))
        found = KMeans(count, n_init=starts, max_iter=ROUNDS, random_state=seed).fit(descriptors)
        return cls(np.ascontiguousarray(found.cluster_centers_, np.float32))

    def nearest(self, descriptors: Floats) -> NDArray[np.int64]:
        """The number of the nearest word of every descriptor; the earlier of equally near ones.

        >>> Codebook(np.array([[0.0], [4.0]], np.float32)).nearest(np.array([[1.0], [3.5]], np.float32)).tolist()
        [0, 1]
        """
        half = np.einsum("ij,ij->i", self.words, self.words) / 2
        blocks = (descriptors[at : at + BLOCK] for at in range(0, len(descriptors), BLOCK))
        found = [np.argmax(block @ self.words.T - half, axis=1) for block in blocks]
        return np.concatenate(found) if found else np.zeros(0, np.int64)
