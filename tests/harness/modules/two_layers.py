"""A learner with one layer too few, and one whose layers are of two kinds: the harness must notice."""

from dataclasses import replace

from tests.harness.small_modules import COMPONENTS, Components


class TwoLayers(Components):
    """Says what it is: two layers."""

    def __init__(self, parameters, seed=0):
        super().__init__(parameters, seed)
        self.layers = 2


class TwoKinds(Components):
    """Its last layer keeps its weights under another name, as another algorithm would."""

    def states(self):
        *first, last = super().states()
        return [*first, {"centres": last["weights"]}]


TWO_LAYERS = replace(COMPONENTS, name="two-layers", make=TwoLayers)
TWO_KINDS = replace(COMPONENTS, name="two-kinds", make=TwoKinds)
