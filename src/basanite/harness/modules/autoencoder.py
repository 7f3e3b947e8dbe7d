"""Stacked denoising autoencoder: each layer learns to restore its input from what is left of it (H-10).

Vincent, Larochelle, Lajoie, Bengio & Manzagol: Stacked denoising autoencoders, JMLR 11 (2010), with sigmoid codes.
Layers are trained one after the other with one and the same algorithm, so the one-layer mode is the first layer as it
stands. What makes it learn (H-37): codes are stretched to 0..1 before the next layer and the classifier get them, so
cross-entropy has its bound in every layer; the decoder begins at the mean of the input, since rare words otherwise cost
all epochs; what is left of a row is scaled up, so that whole rows do not drive units to their ends; and a layer is kept
as it was when a held part of the rows was restored best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.modules.interfaces import Features, Module
from basanite.harness.modules.torch_blocks import (
    BLOCK,
    DEVICES,
    Checkpoint,
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
Loss: TypeAlias = Literal["squared", "cross-entropy"]
SHALLOWEST: Final = 3
FIRST_DECAY, SECOND_DECAY, SMALL = 0.9, 0.999, 1e-8
"""Of Adam (Kingma & Ba 2015), at the values of its paper."""
FEWEST_TO_SPLIT, HELD_SHARE, MOST_HELD = 20, 10, 2_000
"""One row in ten is held out of the steps to see when a layer has learned; fewer than twenty rows are not split."""
BETTER: Final = 0.999
"""A loss must fall below this part of the best one so far to count as better."""
RARE: Final = 1e-4


@dataclass(frozen=True)
class Training:
    """How a layer is trained."""

    units: int = 500
    noise: float = 0.5
    """The share of inputs of the first layer that are set to 0."""
    noise_above: float = 0.1
    """The same of codes, in the layers above: codes repeat less of each other than words do."""
    epochs: int = 100
    """At most: training ends before where the held rows have not been restored better for `patience` epochs."""
    patience: int = 3
    batch: int = 128
    rate: float = 2e-3
    decay: float = 0.3
    """By which weights shrink in each step, times the rate (Loshchilov & Hutter 2019)."""
    sparsity: float = 0.0
    """Weight of the mean absolute code in what is minimised."""
    loss: Literal["auto", "squared", "cross-entropy"] = "auto"
    """`auto` is cross-entropy where inputs lie between 0 and 1, as codes always do, and squared error elsewhere."""
    precision: Literal["float32", "mixed"] = "float32"
    """`mixed` multiplies in bfloat16 and keeps weights and sums in float32; on accelerators only."""


@dataclass(frozen=True)
class Layer:
    """What a trained layer is: codes are the sigmoid of `weights @ input + bias`, stretched from low..high to 0..1."""

    weights: Floats
    bias: Floats
    low: Floats
    high: Floats


class _Coder(NamedTuple):
    """A layer on its device."""

    weights: Tensor
    bias: Tensor
    low: Tensor
    high: Tensor

    def sums(self, block: torch.Tensor) -> torch.Tensor:
        """The codes before they are stretched."""
        sums: torch.Tensor = load_torch().sigmoid(block @ self.weights.T + self.bias)
        return sums

    def codes(self, block: torch.Tensor) -> torch.Tensor:
        """The codes, 0 to 1; what lies beyond all rows of the training is put at the end."""
        return ((self.sums(block) - self.low) / (self.high - self.low)).clamp_(0, 1)


class DenoisingAutoencoder:
    """A stack of layers, each trained on the codes of the one below."""

    def __init__(
        self,
        *,
        layers: int = SHALLOWEST,
        binary: bool = False,
        trained: bool = True,
        device: str = "auto",
        seed: int = 0,
        **training: Any,
    ) -> None:
        self.layers, self.binary, self.trained, self.device, self.seed = layers, binary, trained, device, seed
        self.training = Training(**training)
        noises = self.training.noise, self.training.noise_above
        if layers < 1 or self.training.units < 1 or not all(0 <= noise < 1 for noise in noises):
            raise SettingError("A denoising autoencoder needs a layer, a unit, and noise from 0 to below 1.")
        self.scale: Floats = np.ones(1, np.float32)
        self.stack: list[Layer] = []
        self.history: list[Mapping[str, Any]] = []
        """Of every layer: `losses` of the held rows, before training and after each epoch, and their `bound`."""

    def shallow(self) -> DenoisingAutoencoder:
        """The same learner in its one-layer mode, not yet fitted."""
        kept = {name: getattr(self, name) for name in ("binary", "trained", "device", "seed")}
        return DenoisingAutoencoder(layers=1, **kept, **asdict(self.training))

    def fit(self, features: Features) -> None:
        """Train layer after layer; what an interrupted training reached is taken up again."""
        self.scale = np.ones(1, np.float32) if self.binary else _scale(features)
        losses = [self._loss(number, features) for number in range(self.layers)]
        place = Checkpoint.of({**asdict(self.training), "seed": self.seed, "layers": self.layers}, features)
        reached = place.load() if self.trained else {}
        done = range(sum(name.startswith("done_weights_") for name in reached))
        self.stack = [Layer(*(reached[f"done_{name}_{n}"] for name in KEPT)) for n in done]
        self.history = [{"losses": reached[f"done_losses_{n}"].tolist(), "bound": 0.0} for n in done]
        for number in range(len(self.stack), self.layers):
            weights = self._fresh(features.shape[1] if number == 0 else self.training.units, number)
            bias = np.zeros(self.training.units, np.float32)
            if self.trained:
                training = self._train_layer(LayerTask(number, losses[number], weights, bias), features, place)
                weights, bias = training.best["weights"], training.best["bias"]
                self.history.append({"losses": training.losses, "bound": 0.0})
            self.stack.append(Layer(weights, bias, *self._range(weights, bias, features)))
        place.remove()

    def transform(self, features: Features, layer: int | None = None) -> Floats:
        """The codes of a layer, float32[rows, units]; None is the top one."""
        depth = self.layers if layer is None else layer
        if not 1 <= depth <= self.layers:
            raise SettingError(f"There is no layer {layer}: this learner has {self.layers}.")
        device = chosen_device(self.device)
        stack = [_on(device, one) for one in self.stack[:depth]]
        codes = [to_numpy(self._through(block, stack)) for block in self._blocks(features, device)]
        return np.concatenate(codes) if codes else np.zeros((0, self.training.units), np.float32)

    def states(self) -> Sequence[Mapping[str, Floats]]:
        """Weights and biases of every layer."""
        return tuple({"weights": layer.weights, "bias": layer.bias} for layer in self.stack)

    def _loss(self, number: int, features: Features) -> Loss:
        """The loss that fits the range of a layer's inputs: cross-entropy has no lower bound outside 0..1 (H-37)."""
        if self.training.loss == "squared":
            return "squared"
        lowest = 0.0 if number or self.binary or not features.shape[0] else float(features.min())
        if lowest >= 0:
            return "cross-entropy"
        if self.training.loss == "cross-entropy":
            raise SettingError(
                f"loss = cross-entropy is for inputs that are never negative, and here is {lowest:.4g}. "
                "Use auto or squared."
            )
        return "squared"

    def _blocks(self, features: Features, device: torch.device) -> Iterator[torch.Tensor]:
        for start in range(0, features.shape[0], BLOCK):
            yield self._block(features, slice(start, start + BLOCK), device)

    def _block(self, features: Features, rows: Any, device: torch.device) -> torch.Tensor:
        block = block_of(features, rows, device)
        if self.binary:
            return (block > 0).to(block.dtype)
        scale: torch.Tensor = load_torch().from_numpy(self.scale).to(device)
        return block * scale

    def _through(self, block: torch.Tensor, stack: Sequence[_Coder]) -> torch.Tensor:
        for coder in stack:
            block = coder.codes(block)
        return block

    def _fresh(self, inputs: int, number: int) -> Floats:
        """Weights before any training: uniform, of a size that keeps the spread of codes (Glorot & Bengio 2010)."""
        dice = np.random.default_rng([self.seed, number])
        bound = np.sqrt(6.0 / (inputs + self.training.units))
        return dice.uniform(-bound, bound, (self.training.units, inputs)).astype(np.float32)

    def _range(self, weights: Floats, bias: Floats, features: Features) -> tuple[Floats, Floats]:
        """The smallest and largest sum of every unit over all rows; one that never moves gets a range around it."""
        device = chosen_device(self.device)
        stack = [_on(device, layer) for layer in self.stack]
        none = np.zeros_like(bias)
        top = _on(device, Layer(weights, bias, none, none))
        low, high = np.full(len(bias), np.inf, np.float32), np.full(len(bias), -np.inf, np.float32)
        for block in self._blocks(features, device):
            sums = to_numpy(top.sums(self._through(block, stack)))
            low, high = np.minimum(low, sums.min(axis=0)), np.maximum(high, sums.max(axis=0))
        still = ~(high - low > SMALL)
        low[still], high[still] = 0, 1
        return low, high

    def _train_layer(self, task: LayerTask, features: Features, place: Checkpoint) -> LayerTraining:
        """Epochs over the rows that are not held, until the held ones are restored no better."""
        device = chosen_device(self.device)
        stack = [_on(device, layer) for layer in self.stack]
        rows, watched = _split(features.shape[0], self.seed)

        def inputs(some: Any) -> torch.Tensor:
            return self._through(self._block(features, some, device), stack)

        training = LayerTraining(self.training, task, self._mean(features, stack), device, seed=self.seed)
        if not training.resume(place.load()):
            training.watch(inputs(watched))
        telling = TrainingProgress("sda")
        while not training.is_over:
            epoch = training.epoch
            order = np.random.default_rng([self.seed, task.number, epoch]).permutation(rows)
            for at in range(0, len(order), self.training.batch):
                training.step(inputs(np.sort(order[at : at + self.training.batch])))
            training.watch(inputs(watched))
            telling.at(f"layer {task.number + 1} of {self.layers}, epoch {epoch + 1} of {self.training.epochs} at most")
            place.save({**training.state(), **kept_layers(self.stack, self.history)})
        return training

    def _mean(self, features: Features, stack: Sequence[_Coder]) -> Floats:
        """The mean of a layer's inputs, with which its decoder begins."""
        device = chosen_device(self.device)
        total = sum(self._through(block, stack).sum(dim=0) for block in self._blocks(features, device))
        return (
            to_numpy(total / max(features.shape[0], 1))
            if features.shape[0]
            else np.zeros(features.shape[1], np.float32)
        )


@dataclass(frozen=True)
class LayerTask:
    """Which layer is to be trained, by which loss, and the weights it begins with."""

    number: int
    loss: Loss
    weights: Floats
    bias: Floats


class LayerTraining:
    """One layer while it is trained: encoder and decoder with Adam's moments, the dice of the noise, and the best."""

    NAMES: Final = ("weights", "bias", "back", "offset")
    SHRINK: Final = ("weights", "back")

    def __init__(self, training: Training, task: LayerTask, mean: Floats, device: torch.device, *, seed: int) -> None:
        torch = load_torch()
        self.training, self.task, self.device, self.count = training, task, device, 0
        self.noise = training.noise if task.number == 0 else training.noise_above
        start = (task.weights, task.bias, task.weights.T.copy(), _offset(mean, task.loss))
        self.parts = {
            name: torch.from_numpy(array.copy()).to(device).requires_grad_()
            for name, array in zip(self.NAMES, start, strict=True)
        }
        self.moments = {name: (torch.zeros_like(part), torch.zeros_like(part)) for name, part in self.parts.items()}
        self.seed = seed * 1_009 + task.number
        self.dice = torch.Generator(device).manual_seed(self.seed)
        self.losses: list[float] = []
        self.best: dict[str, Floats] = {"weights": task.weights, "bias": task.bias}
        self.since = 0

    @property
    def epoch(self) -> int:
        """How many epochs are done: there is one loss more, from before training."""
        return len(self.losses) - 1

    @property
    def is_over(self) -> bool:
        """Whether all epochs are done, or the last few were of no use."""
        return self.epoch >= self.training.epochs or self.since >= self.training.patience

    def loss(self, block: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        """How badly the block is restored from what was kept of it, and the price of its codes."""
        torch, parts = load_torch(), self.parts
        codes = torch.sigmoid((block * kept) @ parts["weights"].T + parts["bias"])
        restored = codes @ parts["back"].T + parts["offset"]
        if self.task.loss == "cross-entropy":
            error = torch.nn.functional.binary_cross_entropy_with_logits(restored, block)
        else:
            error = ((restored - block) ** 2).mean()
        result: Tensor = error + self.training.sparsity * codes.abs().mean()
        return result

    def noise_mask(self, block: torch.Tensor, dice: torch.Generator) -> torch.Tensor:
        """What is left of a block, scaled up so that sums stay as large as those of whole rows."""
        left = load_torch().rand(block.shape, generator=dice, device=self.device) >= self.noise
        result: Tensor = left.to(block.dtype) / (1 - self.noise)
        return result

    def step(self, block: torch.Tensor) -> float:
        """One step of Adam on a batch; gives its loss."""
        torch, kept = load_torch(), self.noise_mask(block, self.dice)
        mixed = self.training.precision == "mixed" and self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=mixed):
            loss = self.loss(block, kept)
        gradients = torch.autograd.grad(loss, list(self.parts.values()))
        self.count += 1
        with torch.no_grad():
            for (name, part), gradient in zip(self.parts.items(), gradients, strict=True):
                self._move(name, part, gradient)
        return float(loss.detach())

    def _move(self, name: str, part: torch.Tensor, gradient: torch.Tensor) -> None:
        first, second = self.moments[name]
        if name in self.SHRINK:
            part.mul_(max(0.0, 1 - self.training.rate * self.training.decay))
        first.mul_(FIRST_DECAY).add_(gradient, alpha=1 - FIRST_DECAY)
        second.mul_(SECOND_DECAY).addcmul_(gradient, gradient, value=1 - SECOND_DECAY)
        size = (second / (1 - SECOND_DECAY**self.count)).sqrt_().add_(SMALL)
        part.addcdiv_(first, size, value=-self.training.rate / (1 - FIRST_DECAY**self.count))

    def watch(self, block: torch.Tensor) -> None:
        """Note the loss of held rows, under noise that is the same every time, and keep the layer if it is better."""
        torch = load_torch()
        with torch.no_grad():
            found = float(
                self.loss(block, self.noise_mask(block, torch.Generator(self.device).manual_seed(self.seed + 1)))
            )
        better = not self.losses or found < BETTER * min(self.losses)
        self.losses.append(found)
        self.since = 0 if better else self.since + 1
        if better:
            self.best = {name: to_numpy(self.parts[name]).copy() for name in self.best}

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that is needed to go on from here."""
        found: dict[str, NDArray[Any]] = {"place": np.array([self.task.number, self.count, self.since])}
        found["dice"], found["losses"] = self.dice.get_state().numpy(), np.array(self.losses)
        for name, part in self.parts.items():
            found[name] = to_numpy(part)
            found[f"{name}_first"], found[f"{name}_second"] = map(to_numpy, self.moments[name])
        return {**found, **{f"best_{name}": part for name, part in self.best.items()}}

    def resume(self, reached: Mapping[str, NDArray[Any]]) -> bool:
        """Go on from what was reached, if it was in this layer."""
        if not reached or reached["place"][0] != self.task.number:
            return False
        torch = load_torch()
        self.count, self.since = int(reached["place"][1]), int(reached["place"][2])
        self.dice.set_state(torch.from_numpy(reached["dice"]))
        self.losses = reached["losses"].tolist()
        self.best = {name: reached[f"best_{name}"] for name in self.best}
        with torch.no_grad():
            for name, part in self.parts.items():
                part.copy_(torch.from_numpy(reached[name]))
                for moment, kind in zip(self.moments[name], ("first", "second"), strict=True):
                    moment.copy_(torch.from_numpy(reached[f"{name}_{kind}"]))
        return True


KEPT: Final = ("weights", "bias", "low", "high")


def kept_layers(stack: Sequence[Layer], history: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """The layers that are done and their losses, for a checkpoint of the next one."""
    layers = {f"done_{name}_{n}": getattr(layer, name) for n, layer in enumerate(stack) for name in KEPT}
    return {**layers, **{f"done_losses_{n}": np.array(told["losses"]) for n, told in enumerate(history)}}


def _split(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows to learn from, and those that tell when to stop; few rows are both."""
    everything = np.arange(rows)
    if rows < FEWEST_TO_SPLIT:
        return everything, everything
    watched = np.random.default_rng([seed, rows]).permutation(rows)[: min(rows // HELD_SHARE, MOST_HELD)]
    return np.setdiff1d(everything, watched), np.sort(watched)


def _offset(mean: Floats, loss: Loss) -> Floats:
    """What the decoder adds so that it begins by restoring the mean."""
    if loss == "squared":
        return mean
    share = mean.clip(RARE, 1 - RARE)
    return np.log(share / (1 - share))  # type: ignore[no-any-return]


def _on(device: torch.device, layer: Layer) -> _Coder:
    torch = load_torch()
    return _Coder(*(torch.from_numpy(getattr(layer, name)).to(device) for name in KEPT))


def _scale(features: Features) -> Floats:
    """One over the largest number, so that inputs lie between -1 and 1 and a rate of learning suits all data."""
    largest = abs(features).max() if features.shape[0] else 0
    return np.array([1 / largest if largest > 0 else 1], np.float32)


def make(parameters: Mapping[str, Any], seed: int) -> DenoisingAutoencoder:
    """A stack of at least three layers."""
    return DenoisingAutoencoder(**{"seed": seed, **parameters})


def _number(kind: str, low: float, high: float, default: float) -> dict[str, Any]:
    return {"type": kind, "minimum": low, "maximum": high, "default": default}


SDA = Module(
    name="sda",
    role="learner",
    summary="Stacked denoising autoencoder on PyTorch, three layers",
    make=make,
    needs="dense",
    gives="dense",
    schema={
        "type": "object",
        "properties": {
            "units": _number("integer", 1, 100_000, 500),
            "noise": _number("number", 0, 0.99, 0.5),
            "noise_above": _number("number", 0, 0.99, 0.1),
            "epochs": _number("integer", 0, 10_000, 100),
            "patience": _number("integer", 1, 10_000, 3),
            "batch": _number("integer", 1, 1_000_000, 128),
            "rate": _number("number", 1e-8, 1, 2e-3),
            "decay": _number("number", 0, 100, 0.3),
            "sparsity": _number("number", 0, 100, 0.0),
            "loss": {"enum": ["auto", "squared", "cross-entropy"], "default": "auto"},
            "precision": {"enum": ["float32", "mixed"], "default": "float32"},
            "binary": {"type": "boolean", "default": False},
            "trained": {"type": "boolean", "default": True},
            "device": {"enum": list(DEVICES), "default": "auto"},
        },
        "additionalProperties": False,
    },
    greedy=True,
    code=(__file__,),
)
