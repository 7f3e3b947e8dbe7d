"""The outputs of named layers of a PyTorch module, caught by hooks while batches go through the whole model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError, UnknownNameError
from basanite.extras import required_module
from basanite.registry import suggestion
from basanite.representation.extraction.pooling import Evidence, Reading, pool_output

OUTPUT: Final = "output"
"""What the model gives in the end, where none of its layers is called so."""
MASK: Final = "attention_mask"
CHANNELS: Final = ("Conv", "BatchNorm", "InstanceNorm", "GroupNorm")
LAST: Final = ("Linear", "NonDynamicallyQuantizableLinear", "LayerNorm", "RMSNorm", "Embedding", "MultiheadAttention")
KEEPS: Final = ("torch.nn.modules.activation", "torch.nn.modules.dropout")
"""Where the layers are that leave axes as they were."""
WIDTHS: Final = ("out_features", "out_channels", "num_features", "num_channels", "embedding_dim", "embed_dim", "nf")
Arrays = Mapping[str, NDArray[Any]]


def is_torch(model: Any) -> bool:
    """Whether a model is a module of PyTorch."""
    return hasattr(model, "named_modules") and hasattr(model, "register_forward_hook")


def torch_layers(model: Any) -> tuple[str, ...]:
    """The names of all layers."""
    return tuple(name for name, _ in model.named_modules() if name)


class TorchLayers:
    """Within this, batches go in and the features of every named layer come out; the model stays as it was."""

    def __init__(self, model: Any, layers: Sequence[str], reading: Reading, device: str | None = None) -> None:
        self.torch, self.model, self.device, self.reading = required_module("torch"), model, device, reading
        modules = dict(model.named_modules())
        self.whole = OUTPUT not in modules
        known = [name for name in modules if name]
        for layer in layers:
            if layer not in known and not (self.whole and layer == OUTPUT):
                raise UnknownNameError(f"The model has no layer {layer!r}. {suggestion(layer, known)}")
        self.modules = {layer: modules["" if self.whole and layer == OUTPUT else layer] for layer in layers}
        self.caught: dict[str, Any] = {}
        self.evidence: dict[str, Evidence] = {}
        self.last = Evidence()

    def __enter__(self) -> Callable[[Any], dict[str, NDArray[np.float32]]]:
        self.training = self.model.training
        self.model.eval()
        if self.device is not None:
            self.model.to(self.device)
        script = self.torch.jit.ScriptModule  # what is inside a TorchScript program, no hook can catch
        weighted = [one for one in self.model.modules() if _has_weights(one) and not isinstance(one, script)]
        # Weights first: at one module, hooks are called in the order in which they were added.
        self.hooks = [one.register_forward_hook(self._pass_weights) for one in weighted]
        self.hooks += [one.register_forward_hook(self._catcher(name)) for name, one in self.modules.items()]
        return self._features

    def __exit__(self, *_: object) -> None:
        for hook in self.hooks:
            hook.remove()
        self.model.train(self.training)

    def _pass_weights(self, module: Any, given: Any, output: Any) -> None:
        self.last = _evidence_of(module)

    def _catcher(self, name: str) -> Callable[[Any, Any, Any], None]:
        def catch(module: Any, given: Any, output: Any) -> None:
            self.caught[name] = _tensor_of(output)
            certain = type(module).__module__ in KEEPS or _has_weights(module)
            axis = 1 if type(module).__module__ == "torch.nn.modules.pooling" else self.last.axis if certain else None
            self.evidence[name] = Evidence(self.last.width, axis)

        return catch

    def _features(self, batch: Any) -> dict[str, NDArray[np.float32]]:
        self.last, self.caught = Evidence(), {}
        rows = batch_rows(batch)
        with self.torch.no_grad():
            given = self._tensors(batch)
            if isinstance(given, Mapping):
                self.model(**given)
            else:
                self.model(given)
        mask = np.asarray(batch[MASK]) if isinstance(batch, Mapping) and MASK in batch else None
        found = {}
        for name in self.modules:
            if name not in self.caught:
                raise FeaturesError(f"Layer {name!r} does not run when inputs go through the model. Choose another.")
            made = self.caught[name].detach().float().cpu().numpy()
            if len(made) != rows:
                raise FeaturesError(
                    f"Layer {name!r} gives {made.shape} for {rows} inputs: rows do not come first. "
                    "Fix: make the layer with batch_first=True, or choose another layer."
                )
            found[name] = pool_output(name, made, self.reading, self.evidence[name], mask)
        return found

    def _tensors(self, batch: Any) -> Any:
        """A batch as tensors of the model's device, floating numbers in its type."""
        if isinstance(batch, Mapping):
            return {name: self._tensor(part) for name, part in batch.items()}
        return self._tensor(batch)

    def _tensor(self, part: Any) -> Any:
        place = next((one for one in self.model.parameters()), self.torch.zeros(1))
        is_tensor = isinstance(part, self.torch.Tensor)
        tensor = part if is_tensor else self.torch.as_tensor(np.ascontiguousarray(part))
        if tensor.is_floating_point() and place.is_floating_point():
            tensor = tensor.to(place.dtype)
        return tensor.to(place.device)


def batch_rows(batch: Any) -> int:
    """How many inputs a batch has: an array, a tensor, or a dictionary of them."""
    parts = list(batch.values()) if isinstance(batch, Mapping) else [batch]
    sizes = {len(part) for part in parts}
    if len(sizes) != 1:
        raise FeaturesError(f"The parts of an input have {sorted(sizes)} rows. Give one row for each input.")
    return sizes.pop()


def _tensor_of(output: Any) -> Any:
    """The tensor of a layer's output: itself, the first of several, or the last hidden state of a named output."""
    for name in ("logits", "last_hidden_state"):
        if getattr(output, name, None) is not None:
            return getattr(output, name)
    if isinstance(output, Mapping):
        return _tensor_of(next(iter(output.values())))
    return _tensor_of(output[0]) if isinstance(output, tuple | list) else output


def _has_weights(module: Any) -> bool:
    """Whether a module has weights of its own, and not only those of modules inside it."""
    return any(True for _ in module.parameters(recurse=False))


def _evidence_of(module: Any) -> Evidence:
    """How many features the weights of a module give, and on which axis."""
    kind = type(module).__name__
    width = next((getattr(module, name) for name in WIDTHS if isinstance(getattr(module, name, None), int)), None)
    if kind.startswith(CHANNELS) and kind != "Conv1D":  # that of GPT-2 is a linear layer
        return Evidence(width, 1)
    weight = getattr(module, "weight", None)
    if width is None and weight is not None and weight.ndim == 1:
        width = int(weight.shape[0])
    certain = kind.startswith(LAST) and (not kind.startswith("LayerNorm") or weight is None or weight.ndim == 1)
    # LayerNorm2d and its kin normalize channels that come first.
    return Evidence(width, -1 if certain and "2d" not in kind else None)
