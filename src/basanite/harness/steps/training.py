"""Unsupervised learning: once, on training and validation rows without labels; nothing learns during the test (H-17).

After training the learner's state is hashed. Some test rows are coded twice, in batches of other sizes, and at the end
the state is hashed again: a learner that has changed, or whose codes depend on the batch, is refused (A27).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.data.dataset import items_at, items_of
from basanite.harness.foreign.exchange import layer_faults
from basanite.harness.modules.catalogue import find_module
from basanite.harness.modules.interfaces import Learner
from basanite.harness.protocol import nearest
from basanite.harness.steps.layout import ModuleError, blocks, check_block, gather_blocks
from basanite.harness.steps.store import Sequences


def prepare(items: Mapping[str, Any], function: str) -> Mapping[str, Any]:
    """What can be done with each item alone, done once for all splits and modules."""
    place, _, name = function.partition(":")
    found: Mapping[str, Any] = getattr(import_module(place), name)(items_of(items))
    return found


def preprocess(
    items: Mapping[str, Any],
    rows: Mapping[str, Any],
    module: str,
    parameters: Mapping[str, Any],
    seed: int,
    seen: int,
) -> dict[str, Any]:
    """The features of all rows of a split, by a preprocessor that was fitted on those before the test rows."""
    kind, order = find_module(module), rows["rows"]
    held = kind.prepared(items) if kind.prepare else items_of(items)
    made = kind.make(parameters, seed)
    made.fit(items_at(held, order[:seen]))

    def parts() -> Iterator[Any]:
        for block in blocks(0, len(order)):
            yield made.transform(items_at(held, order[block]))

    return {"features": gather_blocks(parts(), len(order), module)}


def transform_all(items: Mapping[str, Any], module: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The features of all items in their own order, by a preprocessor that learns nothing: once for all splits."""
    held = items_of(items)
    made = find_module(module).make(parameters, 0)
    parts = (made.transform(items_at(held, np.arange(block.start, block.stop))) for block in blocks(0, len(held)))
    return {"features": gather_blocks(parts, len(held), module)}


def rows_of_split(features: Mapping[str, Any], rows: Mapping[str, Any], module: str) -> dict[str, Any]:
    """The features of a split, taken from those of all items."""
    matrix, order = features["features"], rows["rows"]
    parts = (matrix[order[block]] for block in blocks(0, len(order)))
    return {"features": gather_blocks(parts, len(order), module)}


Reals = NDArray[np.float64]
STILL: Final = 1e-9
"""A unit that moves by less than this part of the largest code is dead."""
GROWTH: Final = 10.0
"""Codes that are this many times larger than those of the layer below explode."""
DEAD_SHARE: Final = 0.5
NARROW: Final = 1.5
FEWEST_UNITS: Final = 4
"""Layers of fewer units may well have a rank near 1."""
FALLING: Final = 0.02
"""A last epoch that brought this part of all that training brought was not the end of it."""


def layer_flags(learner: Learner, sample: Any) -> dict[str, list[str]]:
    """What is doubtful about each layer of a fitted learner, by the number of the layer; only layers with something."""
    history = getattr(learner, "history", ())
    found, below = {}, np.inf
    for at in range(learner.layers):
        codes = dense(learner.transform(sample, at + 1))
        training = _training_flags(history[at]) if at < len(history) else ()
        flags = [f"layer {at + 1}: {flag}" for flag in (*training, *_code_flags(codes, below, at))]
        if flags:
            found[str(at + 1)] = flags
        below = _largest(codes)
    return found


def _training_flags(told: Mapping[str, Any]) -> Iterator[str]:
    losses, bound = [float(loss) for loss in told.get("losses", ())], told.get("bound")
    if not np.isfinite(losses).all():
        yield "its loss is not a finite number"
    elif losses and bound is not None and min(losses) < bound:
        yield f"its loss fell to {min(losses):.4g}, below its bound {bound:g}"
    elif len(losses) > 1:
        yield from _convergence_flags(losses)


def _convergence_flags(losses: Sequence[float]) -> Iterator[str]:
    best = min(losses[1:])
    if best >= losses[0]:
        yield f"no convergence, training did not lower its loss ({losses[0]:.4g} before, {best:.4g} at best)"
    elif losses[-2] - losses[-1] > FALLING * (losses[0] - best):
        epochs = "1 epoch" if len(losses) == 2 else f"{len(losses) - 1} epochs"
        yield f"no convergence, its loss was still falling when training ended after {epochs}"


def _code_flags(codes: Reals, below: float, at: int) -> Iterator[str]:
    largest, units = _largest(codes), codes.shape[1]
    if not np.isfinite(largest):
        yield "some of its codes are not finite numbers"
        return
    if largest > GROWTH * below:
        yield f"its codes explode, the largest is {largest:.4g} where layer {at} has {below:.4g}"
    dead = int((np.ptp(codes, axis=0) <= STILL * largest).sum()) if len(codes) else 0
    if dead > DEAD_SHARE * units:
        yield f"{dead} of {units} units are dead"
    elif units >= FEWEST_UNITS and len(codes) > 1:
        rank = effective_rank(_products(codes / largest))
        if rank < NARROW:
            yield f"its {units} units have an effective rank of {rank:.4g}"


def _largest(codes: Reals) -> float:
    return float(np.abs(codes).max(initial=0.0))


def _products(codes: Reals) -> Reals:
    """The products of rows about their mean, or of units where these are fewer: the eigenvalues are the same."""
    about = codes - codes.mean(axis=0)
    return np.asarray(about @ about.T if len(about) < about.shape[1] else about.T @ about)


def effective_rank(covariance: Reals) -> float:
    """The exponential of the entropy of the singular values (Roy and Vetterli, 2007).

    >>> round(effective_rank(np.diag([4.0, 4.0, 0.0])), 9)
    2.0
    """
    values = np.sqrt(np.clip(np.linalg.eigvalsh(covariance), 0, None))
    shares = values[values > 0] / values.sum() if values.sum() > 0 else np.zeros(0)
    return float(np.exp(-(shares * np.log(shares)).sum())) if len(shares) else 0.0


def dense(block: Any) -> Reals:
    """A block as an array."""
    return np.asarray(block.toarray() if scipy.sparse.issparse(block) else block, np.float64)


CHECKED_ROWS: Final = 1024
ODD_BATCH: Final = 37
TOLERANCE: Final = 1e-4
"""Of the largest code: float32 sums in another order differ by much less."""
NOT_PROVIDED: Final = "not provided: "


class NotProvidedError(ModuleError):
    """A learner lacks a mode that a condition needs (A35)."""


def learn_codes(
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
    # Ten arguments: a step of the graph is called with its inputs and parameters by name, which are its key.
    given = _Given(features["features"], seen)
    learner = _new_learner(module, _untrained_parameters(module, parameters) if share == 0 else parameters, seed, mode)
    # Smaller shares are part of larger ones: each is the beginning of one shuffled order.
    ordered = np.random.default_rng(share_seed).permutation(seen) if order is None else order["rows"]
    rows = np.sort(ordered[: nearest(share * seen)])
    learner.fit(given.matrix[: given.seen] if share in (0, 1) else given.matrix[given.rows(rows)])
    single = range(1, learner.layers + 1) if -1 in layers else ()
    wanted = sorted({*(layer for layer in layers if layer >= 0), *single})
    _check_batches(learner, given.matrix[given.seen : given.seen + CHECKED_ROWS], module)
    if mode == "deep" and share == 1 and not getattr(learner, "checks_layers", False):
        # Layers are looked at and not believed: three at least, of one kind, each with codes of its own (A34).
        wrong = layer_faults(learner, given.matrix[: min(given.seen, CHECKED_ROWS)])
        if wrong:
            raise ModuleError(f"{module}: {'; '.join(wrong)} (H-10)")
    flags = layer_flags(learner, given.matrix[: min(given.seen, CHECKED_ROWS)]) if share == 1 else {}
    before = state_digest(learner)
    codes = {
        f"codes_{layer}": given.put_back(
            gather_blocks(
                _transform_blocks(learner, given.matrix, layer, before, module), given.matrix.shape[0], module
            )
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


def _new_learner(module: str, parameters: Mapping[str, Any], seed: int, mode: str) -> Any:
    learner = find_module(module).make(parameters, seed)
    if mode == "deep":
        return learner
    if not hasattr(learner, "shallow"):
        raise NotProvidedError(f"{NOT_PROVIDED}{module} has no one-layer mode")
    return learner.shallow()


def _untrained_parameters(module: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with which a learner keeps the weights that it has before training (A38)."""
    if "trained" not in find_module(module).schema.get("properties", {}):
        raise NotProvidedError(f"{NOT_PROVIDED}{module} has no parameter `trained` that leaves its weights random")
    return {**parameters, "trained": False}


def _transform_blocks(learner: Learner, matrix: Any, layer: int, before: str, module: str) -> Iterator[Any]:
    for block in blocks(0, matrix.shape[0]):
        yield learner.transform(matrix[block], layer or None)
    if state_digest(learner) != before:
        raise ModuleError(f"{module} changed its state while it coded test rows: nothing may learn during the test")


def _check_batches(learner: Learner, sample: Any, module: str) -> None:
    """The same rows in one batch and in many, in another order, must get the same codes."""
    before = state_digest(learner)
    whole = dense(check_block(learner.transform(sample), module))
    order = np.random.default_rng(0).permutation(sample.shape[0])
    size = min(ODD_BATCH, (len(order) + 1) // 2)  # a few test rows come in two batches at least
    parts = [order[at : at + size] for at in range(0, len(order), size)]
    again = np.concatenate([dense(check_block(learner.transform(sample[part]), module)) for part in parts])
    if again.shape != whole.shape or np.abs(again - whole[order]).max() > TOLERANCE * max(1.0, np.abs(whole).max()):
        raise ModuleError(
            f"{module} gives other codes when rows come in other batches: nothing may learn during the test"
        )
    if state_digest(learner) != before:
        raise ModuleError(f"{module} changed its state while it coded test rows: nothing may learn during the test")
