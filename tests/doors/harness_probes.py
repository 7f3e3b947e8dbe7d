"""A team's own modules for tests: each writes down what it was given, so that a test sees what reaches a team."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tests.harness.small_modules import Components, Ridge, module

HERE = "tests.doors.harness_probes"
LOG = {"type": "object", "properties": {"log": {"type": "string"}}, "additionalProperties": False}


def as_given(items):
    """The columns of a table as they are."""
    return np.asarray(items, float)


def first_column(rows, target, new_rows):
    """A classifier that learns nothing: the score of a row is its first column."""
    return np.asarray(new_rows.toarray() if hasattr(new_rows, "toarray") else new_rows)[:, 0]


class _Writes:
    def __init__(self, parameters, seed=0):
        super().__init__()
        self.log = parameters["log"]

    def note(self, what, rows, **more):
        line = {"what": what, "rows": np.asarray(rows)[:, 0].astype(int).tolist(), "width": np.shape(rows)[1], **more}
        with Path(self.log).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class Watching(_Writes):
    """A preprocessor that takes the mean away which it was fitted on; the first column stays the number of the row."""

    def fit(self, items):
        self.note("preprocess", items)
        self.mean = np.asarray(items).mean(axis=0) * (np.arange(items.shape[1]) > 0)

    def transform(self, items):
        return np.asarray(items) - self.mean


class Learning(_Writes):
    """Three layers of components of all columns but the first: the number of the row passes by, a dead unit stays 0."""

    def __init__(self, parameters, seed=0):
        super().__init__(parameters)
        self.trained = parameters.get("trained", True)
        self.inside = Components({"units": 3})

    @property
    def layers(self):
        return self.inside.layers

    def shallow(self):
        one = Learning({"log": self.log})
        one.inside = self.inside.shallow()
        return one

    def fit(self, features):
        self.note(f"learn {self.layers}" if self.trained else "begin", features)
        rows = np.asarray(features)[:, 1:]
        self.inside.weights = first_weights(rows.shape[1], self.layers)
        if self.trained:
            self.inside.fit(rows)

    def transform(self, features, layer=None):
        rows = np.asarray(features)
        return np.column_stack([rows[:, 0], self.inside.transform(rows[:, 1:], layer), np.zeros(len(rows))])

    def states(self):
        return self.inside.states()


def first_weights(columns, layers):
    """The random weights that a learner has before training."""
    dice, sizes = np.random.default_rng(0), [columns, *[3] * layers]
    return [dice.normal(size=(sizes[at + 1], sizes[at])) for at in range(layers)]


class Classifying(_Writes):
    """Ridge regression on all columns but the first."""

    def __init__(self, parameters, seed=0):
        super().__init__(parameters)
        self.inside = Ridge({})

    def grid(self):
        return Ridge.points

    def fit(self, features, target, parameters):
        self.note("classify", features, target=list(map(float, target)), point=parameters["penalty"])
        self.inside.fit(np.asarray(features)[:, 1:], target, parameters)

    def score(self, features):
        self.note("score", features)
        return self.inside.score(np.asarray(features)[:, 1:])


WATCHING = module("watching", "preprocessor", Watching, needs="items", schema=LOG, random=False)
BEGINNING = {**LOG, "properties": {**LOG["properties"], "trained": {"type": "boolean"}}}
LEARNING = module("learning", "learner", Learning, schema=BEGINNING, random=False)
CLASSIFYING = module("classifying", "linear", Classifying, schema=LOG, random=False)
