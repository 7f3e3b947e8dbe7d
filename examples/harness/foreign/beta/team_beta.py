"""Team Beta's learner: three layers, each a turn of the rows towards their main directions and a soft cut."""

import numpy as np

from basanite.harness.modules.interfaces import Module


class Turned:
    """Layers are learned one after the other, by the same algorithm."""

    def __init__(self, parameters, seed):
        self.layers, self.units, self.weights = 3, parameters.get("units", 12), []

    def shallow(self):
        """The one-layer mode."""
        one = Turned({"units": self.units}, 0)
        one.layers = 1
        return one

    def fit(self, features):
        """Learn from rows without labels."""
        self.weights, codes = [], np.asarray(features)
        for _ in range(self.layers):
            turns = np.linalg.svd(codes - codes.mean(axis=0), full_matrices=False)[2][: self.units]
            self.weights.append(turns * np.sign(turns.sum(axis=1, keepdims=True)))
            codes = np.tanh(codes @ self.weights[-1].T)

    def transform(self, features, layer=None):
        """The codes of a layer, or of the last one."""
        codes = np.asarray(features)
        for weights in self.weights[: layer or self.layers]:
            codes = np.tanh(codes @ weights.T)
        return codes

    def states(self):
        """The weights of each layer, so that everybody can see that it learns."""
        return [{"weights": weights} for weights in self.weights]


LEARNER = Module(
    name="turned",
    role="learner",
    summary="Three layers of main directions and a soft cut",
    make=Turned,
    schema={"type": "object", "properties": {"units": {"type": "integer"}}, "additionalProperties": False},
    greedy=True,
    random=False,
)
