"""Learners and classifiers that ail, each in one way that the first page of a report must name (H-37)."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from tests.harness.small_modules import COMPONENTS, RIDGE, Components, Projection, Ridge, module

from basanite.harness.modules.bow import BagOfWords


class DenseWords(BagOfWords):
    """Which words are there, as a matrix that small modules take."""

    def transform(self, items):
        return super().transform(items).toarray()


class Exploding(Components):
    """Each layer is a hundred times as large as the one below."""

    def transform(self, features, layer=None):
        return super().transform(features, layer) * 100.0 ** (self.layers if layer is None else layer)


class Dead(Components):
    """All units but one of its second layer are the same for every row."""

    def transform(self, features, layer=None):
        codes = super().transform(features, layer)
        codes[:, 1:] *= layer != 2
        return codes


class Narrow(Components):
    """All units of its top layer say the same."""

    def transform(self, features, layer=None):
        codes = super().transform(features, layer)
        top = (self.layers if layer is None else layer) == 3 and len(self.weights) == 3
        return codes[:, :1] * np.arange(1, codes.shape[1] + 1) if top else codes


class NotFinite(Components):
    """A code of its second layer is no number, and the layer above does not show it."""

    def transform(self, features, layer=None):
        codes = super().transform(features, layer)
        if layer == 2 and len(self.weights) == 3:
            codes[0, 3] = np.nan
        return codes


class BelowBound(Components):
    """Its third loss falls below what such a loss can be."""

    history = (
        {"losses": [0.69, 0.30, 0.29, 0.29], "bound": 0.0},
        {"losses": [0.66, 0.57, 0.56, 0.56], "bound": 0.0},
        {"losses": [0.39, -30.0, -982.0], "bound": 0.0},
    )


class NoNumber(Components):
    """Its first loss is lost."""

    history = ({"losses": [0.69, float("nan")], "bound": 0.0},)


class Untouched(Projection):
    """Its random directions are the same whether it is trained or not."""


class Unsettled(Ridge):
    """Warns at each fit, as a solver does that has not converged."""

    def fit(self, features, target, parameters):
        warnings.warn("the solver stopped early\nhttps://example.org/advice", ConvergenceWarning, stacklevel=2)
        super().fit(features, target, parameters)


class FarOff(Ridge):
    """Predicts numbers that no rating has."""

    def score(self, features):
        return super().score(features) + 1_000.0


DENSE_WORDS = module(
    "dense-words", "preprocessor", lambda p, seed: DenseWords(size=400, weight="binary"), needs="items", gives="nonneg"
)
EXPLODING = replace(COMPONENTS, name="exploding", make=Exploding)
DEAD = replace(COMPONENTS, name="dead", make=Dead)
NARROW = replace(COMPONENTS, name="narrow", make=Narrow)
NOT_FINITE = replace(COMPONENTS, name="not-finite", make=NotFinite)
BELOW_BOUND = replace(COMPONENTS, name="below-bound", make=BelowBound)
NO_NUMBER = replace(COMPONENTS, name="no-number", make=NoNumber)
UNTOUCHED = module(
    "untouched", "learner", Untouched, schema={"type": "object", "properties": {"trained": {}}}, greedy=True
)
WARNING = replace(RIDGE, name="warning", make=lambda p, seed: Unsettled(p))
FAR_OFF = replace(RIDGE, name="far-off", make=lambda p, seed: FarOff(p))
