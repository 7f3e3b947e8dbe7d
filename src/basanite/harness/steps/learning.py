"""Unsupervised learning: once, on training and validation rows without labels; nothing learns during the test (H-17).

After training the learner's state is hashed. Some test rows are coded twice, in batches of other sizes, and at the end
the state is hashed again: a learner that has changed, or whose codes depend on the batch, is refused (A27).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from basanite.harness.engine.sequences import Sequences
from basanite.harness.foreign.layers import layer_faults
from basanite.harness.modules.interfaces import Learner
from basanite.harness.plan.modules import find_module
from basanite.harness.protocol import nearest
from basanite.harness.steps.health import dense, layer_flags
from basanite.harness.steps.layout import ModuleError, blocks, checked, gathered

CHECKED_ROWS: Final = 1024
ODD_BATCH: Final = 37
TOLERANCE: Final = 1e-4
"""Of the largest code: float32 sums in another order differ by much less."""
NOT_PROVIDED: Final = "not provided: "


class NotProvidedError(ModuleError):
    """A learner lacks a mode that a condition needs (A35)."""


def learned(
    features: Mapping[str, Any],
    module: str,
    parameters: Mapping[str, Any],
    seed: int,
    seen: int,
    mode: str,
    layers: Sequence[int],
    share: float = 1.0,
    share_seed: int = 0,
    order: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Codes of all rows of a split, as `codes_1` … for single layers and `codes_0` for what a classifier gets.

    `mode` is "deep" or "shallow"; `layers` lists which codes are kept, -1 stands for every single layer; `share` is how
    much of the rows the learner gets (A38), of which smaller ones are part of larger ones: the beginning of `order`.
    """
    given = _Given(features["features"], seen)
    learner = _made(module, _untrained(module, parameters) if share == 0 else parameters, seed, mode)
    rows = _shared_rows(seen, share, share_seed) if order is None else np.sort(order["rows"][: nearest(share * seen)])
    learner.fit(given.matrix[: given.seen] if share in (0, 1) else given.matrix[given.rows(rows)])
    wanted = _wanted(layers, learner.layers)
    _check_batches(learner, given.matrix[given.seen : given.seen + CHECKED_ROWS], module)
    if mode == "deep" and share == 1 and not getattr(learner, "checks_layers", False):
        _check_layers(learner, given.matrix[: min(given.seen, CHECKED_ROWS)], module)
    flags = layer_flags(learner, given.matrix[: min(given.seen, CHECKED_ROWS)]) if share == 1 else {}
    before = state_digest(learner)
    codes = {
        f"codes_{layer}": given.put_back(
            gathered(_coded(learner, given.matrix, layer, before, module), given.matrix.shape[0], module)
        )
        for layer in wanted
    }
    marks = list(getattr(learner, "marks", ()))
    found = {"layers": int(learner.layers), "state": before, "rows": len(rows), "marks": marks, "flags": flags}
    return {**codes, **found}


class _Given:
    """What a learner is given: rows of numbers, or the windows of all items as rows, which become items again after."""

    def __init__(self, features: Any, seen: int) -> None:
        self.sequences = features if isinstance(features, Sequences) else None
        self.matrix = features.rows if isinstance(features, Sequences) else features
        self.seen = int(features.offsets[seen]) if isinstance(features, Sequences) else seen

    def rows(self, items: Any) -> Any:
        """The rows of some items."""
        return items if self.sequences is None else self.sequences.windows(items)

    def put_back(self, codes: Any) -> Any:
        """Codes of rows as codes of items."""
        return codes if self.sequences is None else Sequences(codes, self.sequences.offsets)


def state_digest(learner: Learner) -> str:
    """The hash of all weights of all layers."""
    digest = hashlib.sha256()
    for layer in learner.states():
        for name, array in sorted(layer.items()):
            held = np.ascontiguousarray(array)
            digest.update(f"{name}:{held.dtype.str}:{held.shape}".encode() + held.tobytes())
    return f"sha256:{digest.hexdigest()}"


def _made(module: str, parameters: Mapping[str, Any], seed: int, mode: str) -> Any:
    learner = find_module(module).make(parameters, seed)
    if mode == "deep":
        return learner
    if not hasattr(learner, "shallow"):
        raise NotProvidedError(f"{NOT_PROVIDED}{module} has no one-layer mode")
    return learner.shallow()


def _untrained(module: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with which a learner keeps the weights that it has before training (A38)."""
    if "trained" not in find_module(module).schema.get("properties", {}):
        raise NotProvidedError(f"{NOT_PROVIDED}{module} has no parameter `trained` that leaves its weights random")
    return {**parameters, "trained": False}


def _shared_rows(seen: int, share: float, seed: int) -> Any:
    """The rows that a learner gets: the beginning of one shuffled order, so that shares are nested."""
    order = np.random.default_rng(seed).permutation(seen)
    return np.sort(order[: nearest(share * seen)])


def _wanted(layers: Sequence[int], count: int) -> list[int]:
    found = [layer for layer in layers if layer >= 0]
    return sorted({*found, *(range(1, count + 1) if -1 in layers else ())})


def _coded(learner: Learner, matrix: Any, layer: int, before: str, module: str) -> Iterator[Any]:
    for block in blocks(0, matrix.shape[0]):
        yield learner.transform(matrix[block], layer or None)
    if state_digest(learner) != before:
        raise ModuleError(f"{module} changed its state while it coded test rows: nothing may learn during the test")


def _check_batches(learner: Learner, sample: Any, module: str) -> None:
    """The same rows in one batch and in many, in another order, must get the same codes."""
    before = state_digest(learner)
    whole = dense(checked(learner.transform(sample), module))
    order = np.random.default_rng(0).permutation(sample.shape[0])
    size = min(ODD_BATCH, (len(order) + 1) // 2)  # a few test rows come in two batches at least
    parts = [order[at : at + size] for at in range(0, len(order), size)]
    again = np.concatenate([dense(checked(learner.transform(sample[part]), module)) for part in parts])
    if again.shape != whole.shape or np.abs(again - whole[order]).max() > TOLERANCE * max(1.0, np.abs(whole).max()):
        raise ModuleError(
            f"{module} gives other codes when rows come in other batches: nothing may learn during the test"
        )
    if state_digest(learner) != before:
        raise ModuleError(f"{module} changed its state while it coded test rows: nothing may learn during the test")


def _check_layers(learner: Learner, sample: Any, module: str) -> None:
    """Layers are looked at and not believed: three at least, of one kind, each with codes of its own (H-10, A34)."""
    if wrong := layer_faults(learner, sample):
        raise ModuleError(f"{module}: {'; '.join(wrong)} (H-10)")
