"""Features from a model: any layer of a PyTorch module by its name, or a step or hidden layer of a scikit-learn model.

Inputs go through in batches, nothing is trained and nothing is downloaded. A model comes as an object that its owner
made: none is ever unpickled here (X-5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError, MissingExtraError, UnknownNameError
from basanite.registry import suggestion

Pool = Literal["mean", "flatten"]
Progress = Callable[[int, int], None]
BATCH: Final = 64
HIDDEN: Final = "hidden"
ACTIVATIONS: Final[dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
    "relu": lambda rows: np.maximum(rows, 0),
    "tanh": np.tanh,
    "logistic": lambda rows: 1 / (1 + np.exp(-rows)),
    "identity": lambda rows: rows,
}


def layers(model: Any) -> tuple[str, ...]:
    """The names of the layers that features can be taken from.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> layers(make_pipeline(StandardScaler()))
    ('standardscaler',)
    """
    if _is_torch(model):
        return tuple(name for name, _ in model.named_modules() if name)
    if hasattr(model, "named_steps"):
        return tuple(model.named_steps)
    if hasattr(model, "coefs_"):
        return tuple(f"{HIDDEN}{number}" for number in range(1, len(model.coefs_)))
    return ("transform",) if hasattr(model, "transform") else ()


def extract(
    model: Any,
    inputs: NDArray[Any],
    *,
    layer: str,
    batch: int = BATCH,
    pool: Pool = "mean",
    device: str | None = None,
    progress: Progress = lambda done, total: None,
) -> NDArray[np.float32]:
    """What a layer makes of every input, `[N, d]`; outputs with places (channels first) are averaged over places.

    `pool="flatten"` keeps every number instead. A model is left in the mode (training or not) in which it was.
    """
    _check_layer(model, layer)
    if not len(inputs):
        raise FeaturesError("There are no inputs to take features from.")
    work = _TorchLayer(model, layer, device) if _is_torch(model) else _SklearnLayer(model, layer)
    found = []
    with work as forward:
        for start in range(0, len(inputs), batch):
            made = np.asarray(forward(inputs[start : start + batch]))
            found.append(_pooled(made, pool).astype(np.float32))
            progress(min(start + batch, len(inputs)), len(inputs))
    return np.concatenate(found)


def save_features(
    path: Path, features: NDArray[Any], labels: Sequence[Any] | NDArray[Any], **more: NDArray[Any]
) -> None:
    """Write features and labels (and `predictions`, `groups`, …) as the `.npz` that `basanite measure` reads."""
    np.savez_compressed(path, allow_pickle=False, features=features, labels=np.asarray(labels), **more)


def _check_layer(model: Any, layer: str) -> None:
    known = layers(model)
    if layer not in known:
        raise UnknownNameError(f"The model has no layer {layer!r}. {suggestion(layer, known)}")


def _pooled(made: NDArray[Any], pool: Pool) -> NDArray[Any]:
    if made.ndim <= 2:
        return made.reshape(len(made), -1)
    flat = made.reshape(len(made), made.shape[1], -1)
    return flat.mean(axis=2) if pool == "mean" else flat.reshape(len(made), -1)


def _is_torch(model: Any) -> bool:
    return hasattr(model, "named_modules") and hasattr(model, "register_forward_hook")


class _TorchLayer:
    """The output of a named module, caught by a hook while batches go through the whole model."""

    def __init__(self, model: Any, layer: str, device: str | None) -> None:
        try:
            import torch
        except ModuleNotFoundError as missing:
            raise MissingExtraError(
                "Taking features from a PyTorch model needs torch: pip install -r requirements/torch.txt"
            ) from missing
        self.torch, self.model, self.device = torch, model, device
        self.module = dict(model.named_modules())[layer]
        self.caught: Any = None

    def __enter__(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        self.training = self.model.training
        self.model.eval()
        if self.device is not None:
            self.model.to(self.device)
        self.hook = self.module.register_forward_hook(self._catch)
        return self._forward

    def __exit__(self, *_: object) -> None:
        self.hook.remove()
        self.model.train(self.training)

    def _catch(self, module: Any, given: Any, output: Any) -> None:
        self.caught = output[0] if isinstance(output, tuple) else output

    def _forward(self, rows: NDArray[Any]) -> NDArray[Any]:
        place = next((one for one in self.model.parameters()), self.torch.zeros(1))
        with self.torch.no_grad():
            tensor = self.torch.as_tensor(np.ascontiguousarray(rows))
            if tensor.is_floating_point():
                tensor = tensor.to(place.dtype)
            self.model(tensor.to(place.device))
        found: NDArray[Any] = self.caught.detach().float().cpu().numpy()
        return found


class _SklearnLayer:
    """A step of a pipeline, a hidden layer of a multi-layer perceptron, or what a transformer gives."""

    def __init__(self, model: Any, layer: str) -> None:
        self.model, self.layer = model, layer

    def __enter__(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        if hasattr(self.model, "named_steps"):
            last = list(self.model.named_steps).index(self.layer)
            return lambda rows: _step(self.model[: last + 1], rows)
        if hasattr(self.model, "coefs_"):
            return lambda rows: _hidden(self.model, rows, int(self.layer.removeprefix(HIDDEN)))
        return lambda rows: np.asarray(self.model.transform(rows))

    def __exit__(self, *_: object) -> None:
        """Nothing was changed."""


def _step(part: Any, rows: NDArray[Any]) -> NDArray[Any]:
    """The output of the last step: a network's last hidden layer, where it is one."""
    last = part[-1]
    if hasattr(last, "coefs_"):
        before = part[:-1].transform(rows) if len(part) > 1 else rows
        return _hidden(last, before, len(last.coefs_) - 1)
    made = part.transform(rows)
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made)


def _hidden(model: Any, rows: NDArray[Any], number: int) -> NDArray[np.float64]:
    made = np.asarray(rows, np.float64).reshape(len(rows), -1)
    for weights, offset in list(zip(model.coefs_, model.intercepts_, strict=True))[:number]:
        made = ACTIVATIONS[model.activation](made @ weights + offset)
    return made
