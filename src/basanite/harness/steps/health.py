"""Signs that a learner has not learned, seen after training on some rows: they stand on the first page (H-37).

Any learner is looked at, whatever it is written in. One that keeps a `history` (for each layer `losses`, the first from
before training, and the `bound` below which its loss cannot be) is also asked how its training went.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.modules.interfaces import Learner

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
        yield "its loss is no finite number"
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
        yield "some of its codes are no finite numbers"
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
