"""Networks that a study trains on the spot, and what every model of a study does: features, heads, fine-tuning."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.extras import required_module
from basanite.representation.extraction.model_folder import LocalModel, local_module, versions_of
from basanite.representation.extraction.pooling import Reading, feature_axis
from basanite.representation.extraction.preparation import PicturePreparation
from basanite.representation.extraction.torch_layers import OUTPUT, TorchLayers
from basanite.synthetic.glyphs import SIDE

LAYER: Final = "features"
UNITS: Final = 32
RATE: Final = 3e-3
BATCH: Final = 64
Pictures = NDArray[np.uint8]
Labels = NDArray[np.int64]


def network(kind: str, width: int, classes: int, seed: int) -> Any:
    """A network that nobody has trained: a convolution network, or one of dense layers."""
    torch = required_module("torch")
    torch.manual_seed(seed)
    nn = torch.nn
    if kind == "conv":
        steps = [
            ("first", nn.Conv2d(1, width, 3, padding=1)),
            ("relu1", nn.ReLU()),
            ("pool1", nn.MaxPool2d(2)),
            ("second", nn.Conv2d(width, 2 * width, 3, padding=1)),
            ("relu2", nn.ReLU()),
            ("pool2", nn.MaxPool2d(2)),
            ("flat", nn.Flatten()),
            ("dense", nn.Linear(2 * width * (SIDE // 4) ** 2, UNITS)),
        ]
    else:
        steps = [
            ("flat", nn.Flatten()),
            ("first", nn.Linear(SIDE * SIDE, 8 * width)),
            ("relu1", nn.ReLU()),
            ("dense", nn.Linear(8 * width, UNITS)),
        ]
    return nn.Sequential(OrderedDict([*steps, (LAYER, nn.ReLU()), ("head", nn.Linear(UNITS, classes))]))


def as_model(module: Any, name: str) -> LocalModel:
    """A network as models from folders are: it takes pictures of any size and color."""
    prepare = PicturePreparation(SIDE, SIDE, 1)
    return local_module(module, "trained here", name, prepare, versions=versions_of("torch"))


def train(module: Any, pictures: Pictures, labels: Labels, *, epochs: int, seed: int) -> None:
    """Train a network of ours on pictures, all of its weights."""
    given = as_model(module, "").prepare(as_images(pictures))
    torch = required_module("torch")
    _fit(module, list(module.parameters()), torch.as_tensor(given), labels, epochs=epochs, seed=seed)


def _fit(forward: Any, weights: list[Any], given: Any, labels: Labels, *, epochs: int, seed: int) -> None:
    """Adam on the cross-entropy of what `forward` makes of inputs."""
    torch = required_module("torch")
    targets, rng = torch.as_tensor(labels), np.random.default_rng(seed)
    optimizer = torch.optim.Adam(weights, lr=RATE)
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(labels)), max(1, len(labels) // BATCH)):
            optimizer.zero_grad()
            part = {name: one[rows] for name, one in given.items()} if isinstance(given, dict) else given[rows]
            torch.nn.functional.cross_entropy(forward(part), targets[rows]).backward()
            optimizer.step()


def as_images(pictures: Pictures) -> list[Any]:
    """Pictures of Pillow from arrays."""
    image = required_module("PIL.Image")
    return [image.fromarray(one) for one in pictures]


def outputs(
    model: LocalModel, pictures: Pictures, layer: str, *, head: bool
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """The features of pictures, and what the head of the model gives for them."""
    wanted = tuple(dict.fromkeys((layer, OUTPUT) if head else (layer,)))
    with model.open_layers(wanted, Reading()) as forward:
        found = [forward(model.prepare(as_images(part))) for part in _parts(pictures)]
    whole = {name: np.concatenate([part[name] for part in found]) for name in wanted}
    return whole[layer], whole[OUTPUT] if head else None


def _parts(pictures: Pictures) -> Iterator[Pictures]:
    for start in range(0, len(pictures), 4 * BATCH):
        yield pictures[start : start + 4 * BATCH]


def fine_tuned_accuracy(
    model: LocalModel,
    layer: str,
    taught: tuple[Pictures, Labels],
    tested: tuple[Pictures, Labels],
    *,
    epochs: int,
    seed: int,
) -> float:
    """The accuracy after all weights up to a layer were trained on, with a new head; nan without weights of PyTorch.

    The model is as it was afterwards.
    """
    # Six values: what is tuned, on what, tested on what, and how long.
    if model.module is None:
        return float("nan")
    torch = required_module("torch")
    module = model.module
    caught: dict[str, Any] = {}
    before = {name: one.clone() for name, one in module.state_dict().items()}
    work = TorchLayers(module, [layer], Reading())
    with work as forward:
        forward(model.prepare(as_images(taught[0][:2])))
    shape = tuple(work.caught[layer].shape)
    axis = 1 if len(shape) <= 2 else feature_axis(layer, shape, Reading(), work.evidence[layer])
    chosen = module if layer == OUTPUT else dict(module.named_modules())[layer]
    hook = chosen.register_forward_hook(
        lambda _, __, made: caught.update(made=made[0] if isinstance(made, tuple) else made)
    )
    torch.manual_seed(seed)
    head = torch.nn.Linear(shape[axis], int(max(taught[1].max(), tested[1].max())) + 1)

    def whole(part: Any) -> Any:
        module(**part) if isinstance(part, dict) else module(part)
        made = caught["made"]
        places = tuple(at for at in range(1, made.ndim) if at != axis % made.ndim)
        return head(made.mean(dim=places) if places else made)

    try:
        _fit(
            whole,
            [*module.parameters(), *head.parameters()],
            _tensors(model, taught[0]),
            taught[1],
            epochs=epochs,
            seed=seed,
        )
        with torch.no_grad():
            said = whole(_tensors(model, tested[0])).argmax(dim=1).numpy()
    finally:
        hook.remove()
        module.load_state_dict(before)
    return float((said == tested[1]).mean())


def _tensors(model: LocalModel, pictures: Pictures) -> Any:
    torch = required_module("torch")
    given = model.prepare(as_images(pictures))
    return (
        {name: torch.as_tensor(one) for name, one in given.items()}
        if isinstance(given, dict)
        else torch.as_tensor(given)
    )


def save_weights(module: Any, path: Path) -> None:
    """Store the weights of a network as plain arrays."""
    part = path.with_name(f"{path.name}.part.npz")
    np.savez(part, allow_pickle=False, **{name: one.numpy() for name, one in module.state_dict().items()})
    part.replace(path)


def load_weights(module: Any, path: Path) -> None:
    """Give a network the weights that were stored."""
    torch = required_module("torch")
    with np.load(path, allow_pickle=False) as found:
        module.load_state_dict({name: torch.as_tensor(found[name]) for name in found.files})


def folder_model(folder: Path, name: str, layer: str) -> LocalModel:
    """A model of a folder under the name that the study gives it."""
    from basanite.representation.extraction.model_folder import open_model

    model = open_model(folder)
    if model.takes != "pictures":
        raise SettingError(f"{name} takes {model.takes}; a study compares models on pictures.")
    if layer not in model.layers and layer != OUTPUT:
        raise SettingError(f"{name} has no layer {layer!r}. `basanite measure extract --list-layers` names them.")
    return replace(model, name=name)


def probe_accuracies(
    taught: NDArray[np.float32], taught_labels: Labels, tested: NDArray[np.float32], tested_labels: Labels
) -> dict[str, float]:
    """How well a linear classifier and the nearest neighbours do on fixed features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    nearest = KNeighborsClassifier(5, metric="cosine")
    return {
        name: float((probe.fit(taught, taught_labels).predict(tested) == tested_labels).mean())
        for name, probe in (("probe", linear), ("knn", nearest))
    }
