"""Stacked denoising autoencoder: each layer learns to restore its input from what is left of it (H-10).

Vincent, Larochelle, Lajoie, Bengio & Manzagol: Stacked denoising autoencoders, JMLR 11 (2010); with rectifiers, masking
noise and a penalty on codes as Glorot, Bordes & Bengio (ICML 2011) used it on the plan's own kind of reviews. Layers
are trained one after the other with one and the same algorithm, so the one-layer mode is the first layer as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.deep.checkpoints import Checkpoint, Telling
from basanite.harness.deep.devices import BLOCK, DEVICES, block_of, chosen_device, held, load_torch
from basanite.harness.modules.interfaces import Features, Module

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Floats = NDArray[np.float32]
Activation = Literal["relu", "tanh", "sigmoid"]
SHALLOWEST: Final = 3
FIRST_DECAY, SECOND_DECAY, SMALL = 0.9, 0.999, 1e-8
"""Of Adam (Kingma & Ba 2015), at the values of its paper."""


@dataclass(frozen=True)
class Training:
    """How a layer is trained."""

    units: int = 500
    noise: float = 0.5
    """The share of inputs that are set to 0."""
    epochs: int = 10
    batch: int = 128
    rate: float = 1e-3
    sparsity: float = 0.0
    """Weight of the mean absolute code in what is minimised."""
    activation: Activation = "relu"
    loss: Literal["squared", "cross-entropy"] = "squared"
    """`cross-entropy` is for inputs between 0 and 1, such as words that are there or not."""
    precision: Literal["float32", "mixed"] = "float32"
    """`mixed` multiplies in bfloat16 and keeps weights and sums in float32; on accelerators only."""


@dataclass(frozen=True)
class Layer:
    """What a trained layer is: codes are the activation of `weights @ input + bias`."""

    weights: Floats
    bias: Floats


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
        if layers < 1 or self.training.units < 1 or not 0 <= self.training.noise < 1:
            raise SettingError("A denoising autoencoder needs a layer, a unit, and noise from 0 to below 1.")
        self.scale: Floats = np.ones(1, np.float32)
        self.stack: list[Layer] = []

    def shallow(self) -> DenoisingAutoencoder:
        """The same learner in its one-layer mode, not yet fitted."""
        kept = {name: getattr(self, name) for name in ("binary", "trained", "device", "seed")}
        return DenoisingAutoencoder(layers=1, **kept, **asdict(self.training))

    def fit(self, features: Features) -> None:
        """Train layer after layer; what an interrupted training reached is taken up again."""
        self.stack, self.scale = [], np.ones(1, np.float32) if self.binary else _scale(features)
        place = Checkpoint.of({**asdict(self.training), "seed": self.seed, "layers": self.layers}, features)
        self.stack = done_layers(place.load()) if self.trained else []
        for number in range(len(self.stack), self.layers):
            fresh = self._fresh(features.shape[1] if number == 0 else self.training.units, number)
            self.stack.append(self._trained_layer(fresh, features, number, place) if self.trained else fresh)
        place.done()

    def transform(self, features: Features, layer: int | None = None) -> Floats:
        """The codes of a layer, float32[rows, units]; None is the top one."""
        depth = self.layers if layer is None else layer
        if not 1 <= depth <= self.layers:
            raise SettingError(f"There is no layer {layer}: this learner has {self.layers}.")
        codes = [held(block) for block in self._codes(features, depth)]
        return np.concatenate(codes) if codes else np.zeros((0, self.training.units), np.float32)

    def states(self) -> Sequence[Mapping[str, Floats]]:
        """Weights and biases of every layer."""
        return tuple({"weights": layer.weights, "bias": layer.bias} for layer in self.stack)

    def _codes(self, features: Features, depth: int) -> Iterator[torch.Tensor]:
        device = chosen_device(self.device)
        stack = [_on(device, layer) for layer in self.stack[:depth]]
        for start in range(0, features.shape[0], BLOCK):
            yield self._through(self._block(features, slice(start, start + BLOCK), device), stack)

    def _block(self, features: Features, rows: Any, device: torch.device) -> torch.Tensor:
        block = block_of(features, rows, device)
        if self.binary:
            return (block > 0).to(block.dtype)
        scale: torch.Tensor = load_torch().from_numpy(self.scale).to(device)
        return block * scale

    def _through(self, block: torch.Tensor, stack: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
        active = activation(self.training.activation)
        for weights, bias in stack:
            block = active(block @ weights.T + bias)
        return block

    def _fresh(self, inputs: int, number: int) -> Layer:
        """Weights before any training: uniform, of a size that keeps the spread of codes (Glorot & Bengio 2010)."""
        dice = np.random.default_rng([self.seed, number])
        bound = np.sqrt(6.0 / (inputs + self.training.units))
        weights = dice.uniform(-bound, bound, (self.training.units, inputs)).astype(np.float32)
        return Layer(weights, np.zeros(self.training.units, np.float32))

    def _trained_layer(self, fresh: Layer, features: Features, number: int, place: Checkpoint) -> Layer:
        device = chosen_device(self.device)
        stack = [_on(device, layer) for layer in self.stack]
        training = LayerTraining(self.training, fresh, device, seed=self.seed * 1_009 + number)
        training.resume(place.load(), number)
        telling = Telling("sda")
        for epoch in range(training.epoch, self.training.epochs):
            order = np.random.default_rng([self.seed, number, epoch]).permutation(features.shape[0])
            for at in range(0, len(order), self.training.batch):
                rows = np.sort(order[at : at + self.training.batch])
                training.step(self._through(self._block(features, rows, device), stack))
            telling.at(f"layer {number + 1} of {self.layers}, epoch {epoch + 1} of {self.training.epochs}")
            training.epoch = epoch + 1
            place.save({**training.reached(number), **kept_layers(self.stack)})
        return training.layer()


class LayerTraining:
    """One layer while it is trained: encoder and decoder with Adam's moments, and the dice of the noise."""

    NAMES: Final = ("weights", "bias", "back", "offset")

    def __init__(self, training: Training, fresh: Layer, device: torch.device, *, seed: int) -> None:
        torch = load_torch()
        self.training, self.device, self.epoch, self.count = training, device, 0, 0
        start = (fresh.weights, fresh.bias, fresh.weights.T.copy(), np.zeros(fresh.weights.shape[1], np.float32))
        self.parts = {
            name: torch.from_numpy(array.copy()).to(device).requires_grad_()
            for name, array in zip(self.NAMES, start, strict=True)
        }
        self.moments = {name: (torch.zeros_like(part), torch.zeros_like(part)) for name, part in self.parts.items()}
        self.dice = torch.Generator(device).manual_seed(seed)

    def loss(self, block: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        """How badly the block is restored from what was kept of it, and the price of its codes."""
        torch, parts = load_torch(), self.parts
        codes = activation(self.training.activation)((block * kept) @ parts["weights"].T + parts["bias"])
        restored = codes @ parts["back"].T + parts["offset"]
        if self.training.loss == "cross-entropy":
            error = torch.nn.functional.binary_cross_entropy_with_logits(restored, block)
        else:
            error = ((restored - block) ** 2).mean()
        result: Tensor = error + self.training.sparsity * codes.abs().mean()
        return result

    def step(self, block: torch.Tensor) -> float:
        """One step of Adam on a batch; gives its loss."""
        torch = load_torch()
        kept = (torch.rand(block.shape, generator=self.dice, device=self.device) >= self.training.noise).to(block.dtype)
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
        first.mul_(FIRST_DECAY).add_(gradient, alpha=1 - FIRST_DECAY)
        second.mul_(SECOND_DECAY).addcmul_(gradient, gradient, value=1 - SECOND_DECAY)
        size = (second / (1 - SECOND_DECAY**self.count)).sqrt_().add_(SMALL)
        part.addcdiv_(first, size, value=-self.training.rate / (1 - FIRST_DECAY**self.count))

    def layer(self) -> Layer:
        """The layer as it is now."""
        return Layer(held(self.parts["weights"]).copy(), held(self.parts["bias"]).copy())

    def reached(self, number: int) -> dict[str, NDArray[Any]]:
        """Everything that is needed to go on from here."""
        found: dict[str, NDArray[Any]] = {"place": np.array([number, self.epoch, self.count])}
        found["dice"] = self.dice.get_state().numpy()
        for name, part in self.parts.items():
            found[name] = held(part)
            found[f"{name}_first"], found[f"{name}_second"] = map(held, self.moments[name])
        return found

    def resume(self, reached: Mapping[str, NDArray[Any]], number: int) -> None:
        """Go on from what was reached, if it was in this layer."""
        if not reached or reached["place"][0] != number:
            return
        torch = load_torch()
        self.epoch, self.count = int(reached["place"][1]), int(reached["place"][2])
        self.dice.set_state(torch.from_numpy(reached["dice"]))
        with torch.no_grad():
            for name, part in self.parts.items():
                part.copy_(torch.from_numpy(reached[name]))
                for moment, kind in zip(self.moments[name], ("first", "second"), strict=True):
                    moment.copy_(torch.from_numpy(reached[f"{name}_{kind}"]))


def activation(name: Activation) -> Callable[[torch.Tensor], torch.Tensor]:
    """What a unit makes of its sum."""
    return getattr(load_torch(), name)  # type: ignore[no-any-return]


def kept_layers(stack: Sequence[Layer]) -> dict[str, Floats]:
    """The layers that are done, for a checkpoint of the next one."""
    named = (("weights", "bias"), ("done_weights", "done_bias"))
    return {f"{to}_{n}": getattr(layer, at) for n, layer in enumerate(stack) for at, to in zip(*named, strict=True)}


def done_layers(reached: Mapping[str, NDArray[Any]]) -> list[Layer]:
    """The layers that were done when a checkpoint was made."""
    count = sum(name.startswith("done_weights_") for name in reached)
    return [Layer(reached[f"done_weights_{n}"], reached[f"done_bias_{n}"]) for n in range(count)]


def _on(device: torch.device, layer: Layer) -> tuple[torch.Tensor, torch.Tensor]:
    torch = load_torch()
    return torch.from_numpy(layer.weights).to(device), torch.from_numpy(layer.bias).to(device)


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
            "epochs": _number("integer", 0, 10_000, 10),
            "batch": _number("integer", 1, 1_000_000, 128),
            "rate": _number("number", 1e-8, 1, 1e-3),
            "sparsity": _number("number", 0, 100, 0.0),
            "loss": {"enum": ["squared", "cross-entropy"], "default": "squared"},
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
