"""Features from a model that somebody holds: any layer of a PyTorch module, or a step or hidden layer of scikit-learn.

Inputs go through in batches, nothing is trained and nothing is downloaded. A model comes as an object that its owner
made: none is ever unpickled here (X-5). `extract` is promised to programs with one named argument for each choice, so
it has more than six.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError, UnknownNameError
from basanite.registry import suggestion
from basanite.representation.extraction.pooling import Layout, Pool, Reading, Watch
from basanite.representation.extraction.torch_layers import TorchLayers, batch_rows, is_torch, torch_layers

Inputs = NDArray[Any] | Mapping[str, NDArray[Any]] | Iterable[Any]
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
    if is_torch(model):
        return torch_layers(model)
    if hasattr(model, "named_steps"):
        return tuple(model.named_steps)
    if hasattr(model, "coefs_"):
        return tuple(f"{HIDDEN}{number}" for number in range(1, len(model.coefs_)))
    return ("transform",) if hasattr(model, "transform") else ()


def extract(
    model: Any,
    inputs: Inputs,
    *,
    layer: str,
    batch: int = BATCH,
    pool: Pool = "mean",
    layout: Layout = "auto",
    device: str | None = None,
    progress: Progress = lambda done, total: None,
) -> NDArray[np.float32]:
    """What a layer makes of every input, `[N, d]`.

    Inputs are an array, a dictionary of arrays (`input_ids`, `attention_mask` …), or batches as a DataLoader gives
    them. Outputs with places or tokens are averaged over those that are no padding; `pool="cls"` takes the first token
    and `pool="flatten"` keeps every number. A model is left in the mode (training or not) in which it was.
    """
    # Eight arguments: they are the options of the command and of the Python interface.
    found = list(
        extract_batches(
            model, inputs, [layer], batch=batch, reading=Reading(pool, layout), device=device, progress=progress
        )
    )
    if not found:
        raise FeaturesError("There are no inputs to take features from.")
    features = np.concatenate([part[layer] for part in found])
    watch = Watch()
    watch.see(features)
    if len(features) > 1 and watch.constant == features.shape[1]:
        warnings.warn(f"Layer {layer!r}: {'; '.join(watch.flags())}", stacklevel=2)
    return features


def extract_batches(
    model: Any,
    inputs: Inputs,
    wanted: Sequence[str],
    *,
    batch: int = BATCH,
    reading: Reading | None = None,
    device: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Iterator[dict[str, NDArray[np.float32]]]:
    """The features of several layers, a batch at a time: nothing but one batch is ever in memory."""
    # Seven arguments: they are those of `extract`, which anyone may call.
    how = reading or Reading()
    work = TorchLayers(model, wanted, how, device) if is_torch(model) else _SklearnLayers(model, wanted)
    total = input_rows(inputs)
    done = 0
    with work as forward:
        for part in batches_of(inputs, batch):
            found = forward(part)
            done += batch_rows(part)
            progress(done, total or done)
            yield found


def input_rows(inputs: Inputs) -> int:
    """How many inputs there are; 0 where only the batches will tell."""
    if isinstance(inputs, Mapping) or _is_array(inputs):
        return batch_rows(inputs)
    return 0


def batches_of(inputs: Inputs, size: int) -> Iterator[Any]:
    """Inputs a batch at a time; batches that come ready (a DataLoader) stay as they are, without their labels."""
    if isinstance(inputs, Mapping):
        for start in range(0, batch_rows(inputs), size):
            yield {name: part[start : start + size] for name, part in inputs.items()}
    elif _is_array(inputs):
        for start in range(0, len(inputs), size):  # type: ignore[arg-type]
            yield inputs[start : start + size]  # type: ignore[index]
    else:
        for part in inputs:
            yield part[0] if isinstance(part, tuple | list) else part


def _is_array(inputs: Any) -> bool:
    """Whether inputs can be cut into batches: arrays, tensors, and lists of rows."""
    return hasattr(inputs, "shape") or isinstance(inputs, list | tuple)


class _SklearnLayers:
    """Steps of a pipeline, hidden layers of a multi-layer perceptron, or what a transformer gives."""

    def __init__(self, model: Any, wanted: Sequence[str]) -> None:
        known = layers(model)
        for layer in wanted:
            if layer not in known:
                raise UnknownNameError(f"The model has no layer {layer!r}. {suggestion(layer, known)}")
        self.model, self.wanted = model, wanted

    def __enter__(self) -> Callable[[Any], dict[str, NDArray[np.float32]]]:
        return lambda rows: {layer: self._features(layer, np.asarray(rows)) for layer in self.wanted}

    def __exit__(self, *_: object) -> None:
        """Nothing was changed."""

    def _features(self, layer: str, rows: NDArray[Any]) -> NDArray[np.float32]:
        if hasattr(self.model, "named_steps"):
            made = _step(self.model[: list(self.model.named_steps).index(layer) + 1], rows)
        elif hasattr(self.model, "coefs_"):
            made = _hidden(self.model, rows, int(layer.removeprefix(HIDDEN)))
        else:
            made = np.asarray(self.model.transform(rows))
        return made.reshape(len(made), -1).astype(np.float32)


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
