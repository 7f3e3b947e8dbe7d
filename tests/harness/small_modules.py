"""Small real modules for tests of the harness, some of which break the rules; a plan names them by their place."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from basanite.harness.modules.interfaces import Module

HERE = "tests.harness.small_modules"
LOG = {"type": "object", "properties": {"log": {"type": "string"}}, "additionalProperties": False}
PACE = {
    "type": "object",
    "properties": {"log": {"type": "string"}, "units": {"type": "integer"}, "pause": {"type": "number"}},
    "additionalProperties": False,
}


class Scaled:
    """Rows divided by the largest value of the rows it was fitted on."""

    def __init__(self, parameters):
        self.log = parameters.get("log")

    def fit(self, items):
        told(self.log, f"fit {len(items)}")
        self.largest = np.abs(items).max()

    def transform(self, items):
        told(self.log, f"transform {len(items)}")
        return np.asarray(items) / self.largest


class Words:
    """Which of a few words each text has; keeps the texts it was fitted on in its log."""

    words = ("good", "great", "bad", "awful", "food", "noisy", "slow", "friendly")

    def __init__(self, parameters):
        self.log = parameters.get("log")

    def fit(self, items):
        for text in items:
            told(self.log, text)

    def transform(self, items):
        return np.array([[float(text.lower().count(word)) for word in self.words] for text in items])


class Components:
    """Three layers of principal components and tanh, each learned on the one below."""

    def __init__(self, parameters, seed=0):
        self.layers, self.units, self.log = 3, parameters.get("units", 12), parameters.get("log")
        self.pause = parameters.get("pause", 0.0)
        self.weights = []

    def shallow(self):
        one = Components({"units": self.units, "log": self.log})
        one.layers = 1
        return one

    def fit(self, features):
        told(self.log, f"learn {len(features)} in {self.layers}")
        time.sleep(self.pause)
        self.weights = []
        for _ in range(self.layers):
            codes = self.transform(features, len(self.weights)) if self.weights else features
            directions = np.linalg.svd(codes - codes.mean(axis=0), full_matrices=False)[2][: self.units]
            signs = np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])
            self.weights.append(directions * signs[:, None])

    def transform(self, features, layer=None):
        codes = np.asarray(features)
        for weights in self.weights[: self.layers if layer is None else layer]:
            codes = np.tanh(codes @ weights.T)
        return codes

    def states(self):
        return [{"weights": weights} for weights in self.weights]


class GoesOnLearning(Components):
    """Moves its weights with every batch."""

    def transform(self, features, layer=None):
        codes = super().transform(features, layer)
        if len(self.weights) == self.layers:
            self.weights[0] = self.weights[0] * 1.001
        return codes


class LooksAtTheBatch(Components):
    """Its codes depend on what else is in the batch, and its states do not show it."""

    def transform(self, features, layer=None):
        codes = super().transform(features, layer)
        return codes - codes.mean(axis=0) if len(self.weights) == self.layers else codes


class Ridge:
    """Linear least squares with a penalty, for labels and ratings."""

    points = ({"penalty": 0.1}, {"penalty": 10.0}, {"penalty": 1000.0})

    def __init__(self, parameters):
        self.log = parameters.get("log")

    def grid(self):
        return self.points

    def fit(self, features, target, parameters):
        told(self.log, f"classify {len(target)} {parameters['penalty']}")
        self.weights = solved(np.asarray(features), target, parameters["penalty"])

    def score(self, features):
        return with_one(np.asarray(features)) @ self.weights


class RidgeOfMany(Ridge):
    """The same for all folds and penalties in one product."""

    def fit_many(self, features, folds, target, grid):
        table = [solved(np.asarray(features[fold]), target[fold], point["penalty"]) for fold in folds for point in grid]
        return np.array(table).reshape(len(folds), len(grid), -1)

    def score_many(self, state, features):
        return np.einsum("kgd,nd->kgn", state, with_one(np.asarray(features)))


class Spoilt(Ridge):
    """Gives nothing that can be ranked."""

    def score(self, features):
        return np.full(len(features), np.nan)


class TooSure(Ridge):
    """Says that it gives probabilities."""

    def score(self, features):
        return np.full(len(features), 1.5)


class Broken(Ridge):
    def fit(self, features, target, parameters):
        raise ValueError("this classifier cannot learn")


def solved(rows, target, penalty):
    rows = with_one(rows)
    return np.linalg.solve(rows.T @ rows + penalty * np.eye(rows.shape[1]), rows.T @ target)


def with_one(rows):
    return np.column_stack([rows, np.ones(len(rows))])


def told(log, words):
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(words + "\n")


def module(name, role, make, **more):
    return Module(name, role, f"{name} for tests", make, code=(__file__,), **more)


SCALED = module(
    "scaled", "preprocessor", lambda p, seed: Scaled(p), needs="items", gives="nonneg", schema=LOG, random=False
)
WORDS = module("words", "features", lambda p, seed: Words(p), needs="items", gives="counts", schema=LOG, random=False)
COMPONENTS = module("components", "learner", Components, schema=PACE, greedy=True)
SEPARATE = module("separate", "learner", Components, schema=PACE)
LEARNS_IN_TEST = module("goes-on-learning", "learner", GoesOnLearning, greedy=True)
LOOKS_AT_BATCH = module("looks-at-the-batch", "learner", LooksAtTheBatch, greedy=True)
RIDGE = module("ridge", "linear", lambda p, seed: Ridge(p), schema=LOG, random=False)
MANY = module("ridge-of-many", "linear", lambda p, seed: RidgeOfMany(p), schema=LOG, random=False)
STRONG = module("strong-ridge", "strong", lambda p, seed: RidgeOfMany(p), schema=LOG, random=False)
NEEDS_COUNTS = module("needs-counts", "strong", lambda p, seed: RidgeOfMany(p), needs="counts", random=False)
SPOILT = module("spoilt", "linear", lambda p, seed: Spoilt(p))
TOO_SURE = module("too-sure", "linear", lambda p, seed: TooSure(p), scale="probability")
BROKEN = module("broken", "linear", lambda p, seed: Broken(p))


class SparseRidge(RidgeOfMany):
    def fit_many(self, features, folds, target, grid):
        return super().fit_many(features.toarray(), folds, target, grid)

    def score_many(self, state, features):
        return super().score_many(state, features.toarray())


SPARSE = module("sparse-ridge", "linear", lambda p, seed: SparseRidge(p))


class Projection(Components):
    """Three layers of random directions, drawn from its seed."""

    def __init__(self, parameters, seed=0):
        super().__init__(parameters)
        self.dice = np.random.default_rng(seed)

    def fit(self, features):
        sizes = [features.shape[1], *[self.units] * self.layers]
        self.weights = [self.dice.normal(size=(sizes[at + 1], sizes[at])) / 8 for at in range(self.layers)]


RANDOM = module("projection", "learner", Projection, greedy=True)
