"""Marginalised stacked denoising autoencoder in closed form: the built-in deep learner that needs no dice (H-10).

Each layer is the linear map that best restores its input when any part of it is left out with probability `noise`; the
expectation over all ways to leave parts out is known exactly, so a layer is one covariance and one linear system
(Chen, Xu, Weinberger & Sha: Marginalized denoising autoencoders for domain adaptation, ICML 2012). Then comes tanh, and
the same again on its output. Covariances are summed over blocks of rows: codes of all rows are never held at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.modules.interfaces import Features, Module

Floats: TypeAlias = NDArray[Any]
BLOCK: Final = 4_096
SHALLOWEST: Final = 3
"""A deep learner has three layers at least (H-10). Layer 1 is learned before there is a second, so it is the one-layer
mode as it stands."""


class MarginalisedAutoencoder:
    """A stack of layers, each learned on the output of the one below with one and the same algorithm."""

    def __init__(
        self,
        *,
        layers: int = SHALLOWEST,
        units: int = 1_000,
        noise: float = 0.5,
        ridge: float = 1e-5,
        trained: bool = True,
        precision: Literal["float32", "float64"] = "float64",
        seed: int = 0,
    ) -> None:
        # Seven arguments: they are the parameters of the module that a plan may set.
        if layers < 1 or units < 1 or not 0 <= noise < 1:
            raise SettingError(
                f"{layers} layers of {units} units with noise {noise}: use 1, 1 and 0 to below 1 at least."
            )
        self.layers, self.units, self.noise, self.ridge = layers, units, noise, ridge
        self.trained, self.seed, self.kind = trained, seed, np.dtype(precision)
        self.columns: NDArray[np.int64] = np.zeros(0, np.int64)
        self.weights: list[Floats] = []

    def shallow(self) -> MarginalisedAutoencoder:
        """The same learner in its one-layer mode, not yet fitted."""
        kept = {name: getattr(self, name) for name in ("units", "noise", "ridge", "trained", "seed")}
        return MarginalisedAutoencoder(layers=1, precision=str(self.kind), **kept)  # type: ignore[arg-type]

    def fit(self, features: Features) -> None:
        """Learn layer after layer from all rows; without training, draw random weights of the same shape (A38)."""
        self.columns, self.weights = largest_columns(features, self.units), []
        dice = np.random.default_rng(self.seed)
        for _ in range(self.layers):
            self.weights.append(
                denoising_weights(self._moments(features), noise=self.noise, ridge=self.ridge)
                if self.trained
                else random_weights(len(self.columns), dice).astype(self.kind)
            )

    def transform(self, features: Features, layer: int | None = None) -> Floats:
        """The codes of a layer, float[rows, units]; None is the top one."""
        depth = self.layers if layer is None else layer
        if not 1 <= depth <= self.layers:
            raise SettingError(f"There is no layer {layer}: this learner has {self.layers}.")
        codes = np.empty((features.shape[0], len(self.columns)), self.kind)
        for start, block in self._blocks(features):
            codes[start : start + block.shape[0]] = self._codes(block, depth)
        return codes

    def states(self) -> Sequence[Mapping[str, Floats]]:
        """The weights of every layer: from the units below and the constant 1, to the units."""
        return tuple({"weights": weights} for weights in self.weights)

    def _blocks(self, features: Features) -> Iterator[tuple[int, Features]]:
        """Rows in blocks, sparse if they are: the first layer is then a hundred times less work."""
        for start in range(0, features.shape[0], BLOCK):
            yield start, features[start : start + BLOCK][:, self.columns].astype(self.kind)

    def _codes(self, block: Features, depth: int) -> Features:
        for weights in self.weights[:depth]:
            block = np.tanh(block @ weights[:, :-1].T + weights[:, -1])
        return block

    def _moments(self, features: Features) -> Floats:
        """The sum over rows of the outer product of the codes so far, and a constant 1, with themselves."""
        size = len(self.columns) + 1
        sums = np.zeros((size, size), np.float64)
        for _, block in self._blocks(features):
            codes = self._codes(block, len(self.weights))
            products = codes.T @ codes
            sums[:-1, :-1] += products.toarray() if hasattr(products, "toarray") else products
            sums[-1, :-1] += codes.sum(axis=0)
        sums[:-1, -1], sums[-1, -1] = sums[-1, :-1], features.shape[0]
        return sums.astype(self.kind)


def denoising_weights(moments: Floats, *, noise: float, ridge: float) -> Floats:
    """The linear map that restores inputs of these moments best, averaged over all ways to leave parts out.

    The last row and column of `moments` are the constant, which is never left out.

    >>> denoising_weights(np.array([[1.0, 0.0], [0.0, 1.0]]), noise=0.0, ridge=0.0).round(6).tolist()
    [[1.0, 0.0]]
    """
    from scipy.linalg import solve

    kept = np.full(len(moments), 1 - noise, moments.dtype)
    kept[-1] = 1
    corrupted = moments * np.outer(kept, kept)
    np.fill_diagonal(corrupted, np.diagonal(moments) * kept)
    corrupted[np.diag_indices_from(corrupted)] += moments.dtype.type(ridge * max(moments[-1, -1], 1))
    wanted = (moments * kept)[:-1]  # E[x x~'] : the clean row against the corrupted column
    found: Floats = solve(corrupted, wanted.T, assume_a="pos", overwrite_a=True).T
    return found


def random_weights(units: int, dice: np.random.Generator) -> Floats:
    """Weights of a layer that has learned nothing: uniform, and small enough for tanh not to saturate."""
    bound = np.sqrt(6.0 / (2 * max(units, 1)))
    return dice.uniform(-bound, bound, (units, units + 1)) * (np.arange(units + 1) < units)


def largest_columns(features: Features, units: int) -> NDArray[np.int64]:
    """The columns with the largest sums of absolute values, ties to the earlier, in the order of the columns."""
    totals = np.asarray(abs(features).sum(axis=0), np.float64).ravel()
    return np.sort(np.argsort(-totals, kind="stable")[:units]).astype(np.int64)


def make(parameters: Mapping[str, Any], seed: int) -> MarginalisedAutoencoder:
    """A stack of at least three layers."""
    return MarginalisedAutoencoder(**{"seed": seed, **parameters})


def _number(low: float, high: float, default: float) -> dict[str, Any]:
    return {"type": "number", "minimum": low, "maximum": high, "default": default}


MSDA = Module(
    name="msda",
    role="learner",
    summary="Marginalised stacked denoising autoencoder, closed form, three layers of tanh",
    make=make,
    needs="dense",
    gives="dense",
    schema={
        "type": "object",
        "properties": {
            "units": {"type": "integer", "minimum": 1, "maximum": 20_000, "default": 1_000},
            "noise": _number(0, 0.99, 0.5),
            "ridge": _number(0, 1e6, 1e-5),
            "precision": {"enum": ["float64", "float32"], "default": "float64"},
            "trained": {"type": "boolean", "default": True},
        },
        "additionalProperties": False,
    },
    greedy=True,
    random=False,
    code=(__file__,),
)
