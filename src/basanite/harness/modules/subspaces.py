"""Stacked independent subspace analysis: units whose energies, pooled in small groups, are as sparse as can be (H-10).

Hyvärinen & Hoyer, Neural Computation 12 (2000); stacked over space and time as by Le, Zou, Yeung & Ng (CVPR 2011). In
each layer patches of the layer below are whitened by principal components, and an orthonormal W is found that makes
sum sqrt(eps + energy of a group) small, by projected gradient. A row without a shape is one patch. With `shape` a row
is a window of a video: patches slide over it, the next layer sees neighbouring patches together, and the code of a
window is the mean over space of every moment's codes, so that order in time is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.modules.interfaces import Features, Module
from basanite.harness.modules.torch_blocks import (
    DEVICES,
    TrainingProgress,
    block_of,
    chosen_device,
    load_torch,
    to_numpy,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Floats = NDArray[np.float32]
Told = Callable[[int, float], None]
SHALLOWEST: Final = 3
EPSILON: Final = 1e-2
"""Keeps the root smooth at 0; in units of whitened inputs, whose variance is 1."""
ROWS: Final = 256
"""Rows that are worked on at a time: a window has hundreds of patches."""
SLOWEST: Final = 1e-6


class Sliding(NamedTuple):
    """How patches of a layer lie on the layer below: their size and the step between them, in (time, y, x)."""

    size: tuple[int, int, int]
    step: tuple[int, int, int]

    def patches(self, block: torch.Tensor) -> torch.Tensor:
        """`[rows, t, y, x, channels]` as `[rows, t', y', x', numbers of a patch]`."""
        for axis, (size, step) in enumerate(zip(self.size, self.step, strict=True), start=1):
            block = block.unfold(axis, size, step)
        return block.flatten(4)


@dataclass(frozen=True)
class Layer:
    """A trained layer: patches less their mean, whitened, turned; energies of groups are its codes."""

    mean: Floats
    whitening: Floats
    """`[components, inputs]`"""
    weights: Floats
    """`[components, components]`, orthonormal"""


class SubspaceAnalysis:
    """A stack of layers, each found on the codes of the one below by one and the same algorithm."""

    def __init__(
        self,
        *,
        layers: int = SHALLOWEST,
        components: int = 100,
        group: int = 2,
        steps: int = 200,
        sample: int = 20_000,
        shape: Sequence[int] = (),
        patch: Sequence[int] = (5, 6, 6),
        stride: Sequence[int] = (2, 3, 3),
        trained: bool = True,
        device: str = "auto",
        seed: int = 0,
    ) -> None:
        # Eleven arguments: they are the parameters of the module that a plan may set.
        if components % group or layers < 1:
            raise SettingError(f"{components} components cannot be put into groups of {group}: use a multiple of it.")
        self.layers, self.components, self.group, self.steps = layers, components, group, steps
        self.sample, self.shape, self.patch, self.stride = sample, tuple(shape), tuple(patch), tuple(stride)
        self.trained, self.device, self.seed = trained, device, seed
        self.stack: list[Layer] = []

    def shallow(self) -> SubspaceAnalysis:
        """The same learner in its one-layer mode, not yet fitted."""
        names = ("components", "group", "steps", "sample", "shape", "patch", "stride", "trained", "device", "seed")
        return SubspaceAnalysis(layers=1, **{name: getattr(self, name) for name in names})

    def fit(self, features: Features) -> None:
        """Find layer after layer on patches drawn from all rows; random turns of the whitened inputs if untrained."""
        self.stack = []
        for number in range(self.layers):
            patches = self._sample_patches(features, number)
            mean, whitening = whiten(patches, self._component_count(patches))
            inputs = (patches - _tensor(mean, patches.device)) @ _tensor(whitening, patches.device).T
            dice = np.random.default_rng([self.seed, number])
            start = random_rotation(len(whitening), dice)
            turn = self._learn_rotation(inputs, start, number) if self.trained else start
            self.stack.append(Layer(mean, whitening, turn))

    def _component_count(self, patches: torch.Tensor) -> int:
        """As many components as are asked for, or as there can be, in whole groups."""
        most: int = min(self.components, patches.shape[1]) // self.group * self.group
        if not most:
            raise SettingError(f"A patch of {patches.shape[1]} numbers has no group of {self.group}: use smaller ones.")
        return most

    def transform(self, features: Features, layer: int | None = None) -> Floats:
        """The codes of a layer; None is all layers side by side, which is what a classifier gets."""
        if layer is None:
            return np.hstack([self.transform(features, one) for one in range(1, self.layers + 1)])
        depth = layer
        if not 1 <= depth <= self.layers:
            raise SettingError(f"There is no layer {layer}: this learner has {self.layers}.")
        found = [to_numpy(codes.mean(dim=(2, 3)).flatten(1)) for codes in self._grids(features, depth)]
        return np.concatenate(found)

    def states(self) -> Sequence[Mapping[str, Floats]]:
        """What every layer has learned."""
        return tuple({"mean": one.mean, "whitening": one.whitening, "weights": one.weights} for one in self.stack)

    def filters(self) -> Floats | None:
        """What the units of the first layer look for, as small videos; None where rows have no shape."""
        if not self.shape:
            return None
        first = self.stack[0]
        size = [min(one, most) for one, most in zip(self.patch, self.shape, strict=True)]
        return (first.weights @ first.whitening).reshape(-1, *size)

    def _learn_rotation(self, inputs: torch.Tensor, start: Floats, number: int) -> Floats:
        telling = TrainingProgress("isa")

        def tell(step: int, value: float) -> None:
            telling.at(f"layer {number + 1} of {self.layers}, step {step} of {self.steps}, {value:.5f}")

        return sparsest_rotation(inputs, start, group=self.group, steps=self.steps, told=tell)

    def _grids(self, features: Features, depth: int) -> Iterator[torch.Tensor]:
        """The codes of a layer at every patch: `[rows, t, y, x, groups]`, some rows at a time."""
        device = chosen_device(self.device)
        stack = [[_tensor(part, device) for part in (one.mean, one.whitening, one.weights)] for one in self.stack]
        for start in range(0, max(features.shape[0], 1), ROWS):
            block = block_of(features, slice(start, start + ROWS), device)
            grid = block.reshape(len(block), *(self.shape or (1, 1, 1)), -1)
            for number, (mean, whitening, weights) in enumerate(stack[:depth]):
                inputs = (self._sliding(number, grid).patches(grid) - mean) @ whitening.T
                grid = energies(inputs @ weights.T, self.group)
            yield grid

    def _sliding(self, number: int, grid: torch.Tensor) -> Sliding:
        """Patches of the first layer as they are set; later ones take two neighbours each way, where there are two."""
        across = tuple(grid.shape[1:4])
        if number == 0 and self.shape:
            size = tuple(min(one, most) for one, most in zip(self.patch, across, strict=True))
            return Sliding((size[0], size[1], size[2]), (self.stride[0], self.stride[1], self.stride[2]))
        size = tuple(min(2, most) for most in across)
        return Sliding((size[0], size[1], size[2]), (1, 1, 1))

    def _sample_patches(self, features: Features, number: int) -> torch.Tensor:
        """Patches of the layer below, as many from each row, drawn by dice of this layer."""
        torch = load_torch()
        dice = np.random.default_rng([self.seed, number, 1])
        each = max(1, -(-self.sample // max(features.shape[0], 1)))
        found = []
        for grid in self._grids(features, number):
            patches = self._sliding(number, grid).patches(grid).flatten(1, 3)
            chosen = dice.integers(0, patches.shape[1], (len(patches), min(each, patches.shape[1])))
            rows = torch.arange(len(patches), device=grid.device)[:, None]
            found.append(patches[rows, torch.from_numpy(chosen).to(grid.device)].flatten(0, 1))
        result: Tensor = torch.cat(found)
        return result


def energies(turned: torch.Tensor, group: int) -> torch.Tensor:
    """The root of the summed squares of every group of units, along the last axis."""
    squares = _in_groups(turned, group).square()
    return (squares.sum(dim=-1) + EPSILON).sqrt()


def _in_groups(units: torch.Tensor, group: int) -> torch.Tensor:
    return units.reshape(*units.shape[:-1], -1, group)


def whiten(patches: torch.Tensor, components: int) -> tuple[Floats, Floats]:
    """The mean, and the map to the first principal components, each with variance 1.

    Fewer components where the patches do not reach so many: what hardly varies is noise blown up.
    """
    torch = load_torch()
    exact = patches.double()
    mean = exact.mean(dim=0)
    spread = (exact - mean).T @ (exact - mean) / max(len(patches), 1)
    values, vectors = torch.linalg.eigh(spread.cpu())
    kept = min(components, len(values))
    values, vectors = values[-kept:].flip(0), vectors[:, -kept:].flip(1)
    signs = torch.sign(vectors.sum(dim=0))  # an axis has two directions; this one does not depend on the library
    vectors = vectors * torch.where(signs == 0, torch.ones_like(signs), signs)
    floor = values.clamp_min(values[0].clamp_min(1e-12) * 1e-6)
    return to_numpy(mean), to_numpy((vectors / floor.sqrt()).T).copy()


def random_rotation(size: int, dice: np.random.Generator) -> Floats:
    """An orthonormal matrix that prefers no direction."""
    found, upper = np.linalg.qr(dice.normal(size=(size, size)))
    return (found * np.sign(np.diag(upper))).astype(np.float32)


def sparseness(inputs: torch.Tensor, weights: torch.Tensor, group: int) -> tuple[float, torch.Tensor]:
    """What is minimised, the mean over patches of the sum of energies, and its gradient."""
    turned = inputs @ weights.T
    pooled = energies(turned, group)
    slope = (_in_groups(turned, group) / pooled[..., None]).flatten(-2)
    return float(pooled.sum() / len(inputs)), slope.T @ inputs / len(inputs)


def orthonormal(weights: torch.Tensor) -> torch.Tensor:
    """The nearest orthonormal matrix: (W W')^(-1/2) W."""
    left, _, right = load_torch().linalg.svd(weights, full_matrices=False)
    result: Tensor = left @ right
    return result


def sparsest_rotation(
    inputs: torch.Tensor, start: Floats, *, group: int, steps: int, told: Told = lambda step, value: None
) -> Floats:
    """An orthonormal matrix under which groups are sparse.

    Descent on groups from a random turn often ends with subspaces mixed. So units are first found one by one, then
    those that are large together are put into one group, and from there groups are improved (the separation of
    independent subspaces: Szabó, Póczos & Lőrincz, Pattern Recognition 45, 2012).
    """
    single = _descend(inputs, _tensor(start, inputs.device), 1, steps // 2, told)
    dealt = single[group_order(inputs @ single.T, group)]
    return to_numpy(_descend(inputs, dealt, group, steps - steps // 2, told)).copy()


def _descend(inputs: torch.Tensor, weights: torch.Tensor, group: int, steps: int, told: Told) -> torch.Tensor:
    """Steps down the gradient, each put back among turns: one that does not help is taken back and halved."""
    rate = 1.0
    value, slope = sparseness(inputs, weights, group)
    for step in range(steps):
        tried = orthonormal(weights - rate * slope)
        reached, next_slope = sparseness(inputs, tried, group)
        if reached < value:
            weights, value, slope, rate = tried, reached, next_slope, rate * 1.2
        elif rate < SLOWEST:
            break
        else:
            rate /= 2
        told(step + 1, value)
    return weights


def group_order(turned: torch.Tensor, group: int) -> torch.Tensor:
    """An order of units in which those whose squares rise and fall together stand in one group."""
    torch = load_torch()
    alike = torch.corrcoef(turned.square().T).nan_to_num().cpu()
    left, order = list(range(len(alike))), []
    while left:
        best = max(left, key=lambda unit: float(alike[unit, [n for n in left if n != unit] or [unit]].max()))
        mates = sorted((unit for unit in left if unit != best), key=lambda unit: -float(alike[best, unit]))
        chosen = [best, *mates[: group - 1]]
        order += chosen
        left = [unit for unit in left if unit not in chosen]
    result: Tensor = torch.tensor(order, device=turned.device)
    return result


def _tensor(array: Floats, device: torch.device) -> torch.Tensor:
    result: Tensor = load_torch().from_numpy(np.ascontiguousarray(array)).to(device)
    return result


def make(parameters: Mapping[str, Any], seed: int) -> SubspaceAnalysis:
    """A stack of at least three layers."""
    return SubspaceAnalysis(**{"seed": seed, **parameters})


def _whole(low: int, high: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "default": default}


def _three(default: Sequence[int], least: int = 3) -> dict[str, Any]:
    item = {"type": "integer", "minimum": 1, "maximum": 1_000}
    return {"type": "array", "items": item, "minItems": least, "maxItems": 3, "default": list(default)}


ISA = Module(
    name="isa",
    role="learner",
    summary="Stacked independent subspace analysis on PyTorch, three layers; convolutional over windows of video",
    make=make,
    needs="dense",
    gives="dense",
    schema={
        "type": "object",
        "properties": {
            "components": _whole(1, 10_000, 100),
            "group": _whole(1, 16, 2),
            "steps": _whole(0, 100_000, 200),
            "sample": _whole(100, 10_000_000, 20_000),
            "shape": _three((), 0),
            "patch": _three((5, 6, 6)),
            "stride": _three((2, 3, 3)),
            "trained": {"type": "boolean", "default": True},
            "device": {"enum": list(DEVICES), "default": "auto"},
        },
        "additionalProperties": False,
    },
    declares={"patches": "drawn inside the learner from whole windows; the input itself is not cut (A33)"},
    greedy=True,
    code=(__file__,),
)
