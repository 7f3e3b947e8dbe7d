"""Checks of a deep learner's layers, whatever it is written in: their number, their codes, and one algorithm (H-10).

What a system says about itself is not believed. Every layer must have weights of its own, kept under the same names as
those of every other layer, and each must give codes of its own for the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse

from basanite.harness.foreign.description import FEWEST_LAYERS
from basanite.harness.modules.interfaces import Learner


def layer_faults(learner: Learner, sample: Any) -> list[str]:
    """What is wrong with the layers of a fitted deep learner, seen on some rows; nothing if all is well."""
    states = list(learner.states())
    wrong = _structure_faults(learner.layers, states)
    if wrong:
        return wrong
    codes = [_dense(learner.transform(sample, layer)) for layer in range(1, learner.layers + 1)]
    wrong += [
        f"layer {at} gives {len(code)} rows for {sample.shape[0]}"
        for at, code in enumerate(codes, 1)
        if len(code) != sample.shape[0]
    ]
    wrong += [f"layer {at} gives the same code for every row" for at, code in enumerate(codes, 1) if _constant(code)]
    for (first, one), (second, other) in combinations(enumerate(codes, 1), 2):
        if one.shape == other.shape and np.array_equal(one, other):
            wrong.append(f"layers {first} and {second} give the same codes")
    return wrong


def _structure_faults(layers: int, states: Sequence[Any]) -> list[str]:
    wrong = [] if layers >= FEWEST_LAYERS else [f"it has {layers} layers where {FEWEST_LAYERS} are needed"]
    if len(states) != layers:
        return [*wrong, f"it shows weights of {len(states)} layers and says it has {layers}"]
    names = [sorted(layer) for layer in states]
    wrong += [f"layer {at} has no weights" for at, found in enumerate(names, 1) if not found]
    wrong += [
        f"layer {at} has {', '.join(found)} where layer 1 has {', '.join(names[0])}: one algorithm for all layers"
        for at, found in enumerate(names, 1)
        if found != names[0]
    ]
    return wrong


def _constant(code: Any) -> bool:
    return len(code) > 1 and bool((code == code[0]).all())


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
