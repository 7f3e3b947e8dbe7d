"""Systems from local weights, without a line of Python: features of a layer, or what a head predicts (H-42).

A plan names a folder or file of weights where a module could be. As `features` or `preprocessor` it gives the features
of one layer; as `strong` or `linear` it predicts from the items themselves, and learns nothing here. Nothing is
downloaded and no code of a folder is run (`representation.extraction`). What the weights are is part of every key: all
files of the folder by their bytes, and the versions of the libraries that run them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.errors import BasaniteError, FeaturesError, UnreadableError
from basanite.harness.foreign.programs import Surroundings
from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores
from basanite.representation.extraction.inputs import read_picture
from basanite.representation.extraction.model_folder import (
    CONFIG,
    LocalModel,
    checked_layers,
    digest_of_files,
    open_model,
    read_json_object,
)
from basanite.representation.extraction.pooling import LAYOUTS, POOLS, Reading
from basanite.representation.extraction.torch_layers import OUTPUT

if TYPE_CHECKING:
    from basanite.harness.module_entry import ModuleChoice

LAYER, HEAD = "weights:", "predictor:"
"""What names of modules begin with: features of a layer, and predictions."""
CLASSIFIERS: Final = ("strong", "linear")
BATCH: Final = 32
BESIDE: Final = (".json", ".txt", ".model")
"""Endings of files beside a single file of weights that say how its inputs are prepared."""
HEADS: Final = ("softmax", "probabilities", "raw")
FAINTEST: Final = 1e-300
Items: TypeAlias = NDArray[Any] | Sequence[Any]
"""Rows of numbers, texts, or files of pictures."""


def weights_name(place: str, folder: str) -> str:
    """What a system of a folder is called in a plan, by where it stands.

    >>> weights_name("features", "models/vit"), weights_name("strong", "models/stars")
    ('weights:models/vit', 'predictor:models/stars')
    """
    return f"{HEAD if place in CLASSIFIERS else LAYER}{folder}"


def is_weights(name: str) -> bool:
    """Whether a module's name is that of a folder of weights."""
    return name.startswith((LAYER, HEAD))


def is_predictor(name: str) -> bool:
    """Whether it is one that predicts."""
    return name.startswith(HEAD)


def weights_path(name: str, around: Surroundings) -> Path:
    """The folder or file of a name."""
    return around.folder / name.partition(":")[2]


def weights_files(path: Path) -> Iterator[Path]:
    """What a system consists of: its folder, or a file with those beside it that say how inputs are prepared."""
    yield path
    if path.is_file():
        yield from sorted(one for one in path.parent.iterdir() if one.is_file() and one.suffix in BESIDE)


def weights_digest(name: str, around: Surroundings) -> str:
    """The hash of all files of a system, each read once while a plan is read or run."""
    if name not in around.digests:
        path = weights_path(name, around)
        if not path.exists():
            raise UnreadableError(f"There is no folder or file {path} with weights. The path starts at the plan.")
        lines = [f"{one.relative_to(path.parent)}\0{digest_of_files([one])}\n" for one in _every_file(path)]
        around.digests[name] = f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"
    return around.digests[name]


def _every_file(path: Path) -> Iterator[Path]:
    """Every regular file of a system, also behind links, which the folders of hubs consist of."""
    for top in weights_files(path):
        yield from (top,) if top.is_file() else sorted(one for one in top.rglob("*") if one.is_file())


def weights_model(name: str, around: Surroundings) -> LocalModel:
    """The model of a name, opened once for its bytes."""
    return _open_weights(weights_path(name, around), weights_digest(name, around), around.sealed)


@lru_cache(maxsize=4)
def _open_weights(path: Path, digest: str, sealed: bool) -> LocalModel:
    model = open_model(path)
    if sealed and model.kind == "torchscript":  # a program, which only a box could run safely
        raise UnreadableError(
            f"{path.name} is a TorchScript program, and a sealed evaluation runs no foreign program in its own "
            "process. Fix: export the model to ONNX, or store its weights as safetensors."
        )
    return model


def weights_module(name: str, around: Surroundings) -> Module:
    """The module of a name; what the libraries' versions are stands in its version, and so in the manifest."""
    model = weights_model(name, around)
    versions = ", ".join(f"{library} {number}" for library, number in model.versions.items())
    version = f"{model.kind}; {versions}"
    facts = {"kind": model.kind, "model": model.name, "digest": model.digest, "versions": dict(model.versions)}
    source = f"{model.name} from local weights ({version})"
    if is_predictor(name):
        return Module(
            name=name,
            role="strong",
            also=("linear",),
            summary=f"Predictions of {source}",
            make=lambda parameters, seed: HeadPredictions(**parameters),
            needs="items",
            schema=HEAD_SCHEMA,
            declares=facts,
            version=version,
            random=False,
        )
    return Module(
        name=name,
        role="features",
        also=("preprocessor",),
        summary=f"Features of {source}",
        make=lambda parameters, seed: LayerFeatures(model, **parameters),
        needs="items",
        gives="dense",
        schema=LAYER_SCHEMA,
        declares=facts,
        version=version,
        random=False,
        fixed=True,
    )


def parameter_faults(choice: ModuleChoice, around: Surroundings) -> Iterator[str]:
    """What a schema cannot know of parameters: whether the model has the layer, and what a head gives."""
    parameters = choice.parameters
    if is_predictor(choice.module):
        if "outputs" in parameters and "values" in parameters:
            yield "outputs name targets, and values are those of one rating: give one of them"
        return
    try:
        checked_layers([parameters["layer"]], weights_model(choice.module, around).layers)
    except KeyError:
        yield "a layer is needed: `basanite measure extract --model FOLDER --list-layers` lists them"
    except BasaniteError as error:
        yield str(error)


class LayerFeatures:
    """The features of one layer; there is nothing to learn."""

    def __init__(
        self,
        model: LocalModel,
        *,
        layer: str,
        pool: str = "mean",
        layout: str = "auto",
        batch: int = BATCH,
        scale: float = 1.0,
    ) -> None:
        self.model, self.layer, self.batch, self.scale = model, layer, batch, scale
        self.reading = Reading(pool, layout)  # type: ignore[arg-type]  # the schema has checked both

    def fit(self, items: Items) -> None:
        """The model is trained already."""

    def transform(self, items: Items) -> NDArray[np.float32]:
        """One row of features for each item; of pictures, only a batch is in memory."""
        _check_items(self.model, items)
        with self.model.open_layers([self.layer], self.reading) as forward:
            return np.concatenate(
                [
                    forward(self.model.prepare(self._inputs(items[start : start + self.batch])))[self.layer]
                    for start in range(0, len(items), self.batch)
                ]
            )

    def _inputs(self, items: Items) -> list[Any]:
        if isinstance(items, np.ndarray):
            return list(items * self.scale)
        return [read_picture(one) if isinstance(one, Path) else one for one in items]


def _check_items(model: LocalModel, items: Items) -> None:
    """Refuse items of another kind than the model takes."""
    rows = isinstance(items, np.ndarray)
    given = "rows of numbers" if rows else "files" if isinstance(items[0], Path) else "texts"
    fits = {"texts": model.takes == "texts", "files": model.takes == "pictures"}
    if not fits.get(given, model.kind == "onnx" and model.takes == "pictures"):
        wanted = f"{model.takes}{' or rows' if model.kind == 'onnx' and model.takes == 'pictures' else ''}"
        raise FeaturesError(f"{model.name} takes {wanted}, and the items of this task are {given}.")


class HeadPredictions:
    """What a trained head says, as scores: a label's log-odds, a rating, or the expected value of a rating."""

    learns = False

    def __init__(self, *, column: int | None = None, values: Sequence[float] = (), head: str = "softmax") -> None:
        self.column, self.head = column, head
        self.ratings = np.array(values, np.float64)

    def grid(self) -> Sequence[Parameters]:
        """Nothing is to be chosen."""
        return ({},)

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """The model is trained already, and learns nothing from this target."""

    def score(self, features: Features) -> Scores:
        """A score for each row of outputs."""
        outputs = np.asarray(features, np.float64)
        if len(self.ratings):
            return self._expected_ratings(outputs)
        width = outputs.shape[1]
        if self.column is None and width != 1:
            raise FeaturesError(
                f"The model gives {width} outputs, and nothing says which one predicts what. Fix: name the targets in "
                'their order, outputs = ["…"], or the rating that each stands for, values = [1, 2, 3, 4, 5].'
            )
        column = self.column or 0
        if column >= width:
            raise FeaturesError(f"Output {column + 1} is wanted, and the model gives {width}. Fix: correct `outputs`.")
        return outputs[:, column] if self.head == "raw" or width == 1 else self._log_odds(outputs, column)

    def _log_odds(self, outputs: NDArray[np.float64], column: int) -> Scores:
        """The logarithm of one output's probability over that of all others, which never saturates (A15)."""
        logs = self._logs(outputs)
        others = np.delete(logs, column, axis=1)
        return np.asarray(logs[:, column] - np.logaddexp.reduce(others, axis=1))

    def _expected_ratings(self, outputs: NDArray[np.float64]) -> Scores:
        """The mean rating under the head's probabilities, which has the least squared error (A18)."""
        if outputs.shape[1] != len(self.ratings):
            raise FeaturesError(
                f"`values` has {len(self.ratings)} ratings, and the model gives {outputs.shape[1]} outputs. "
                "Fix: write one rating for each output."
            )
        logs = self._logs(outputs)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares @ self.ratings / shares.sum(axis=1))

    def _logs(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Logarithms of probabilities, up to a number for each row."""
        if self.head == "probabilities":
            return np.log(np.maximum(outputs, FAINTEST))
        if (outputs >= 0).all() and np.allclose(outputs.sum(axis=1), 1, atol=1e-4):
            raise FeaturesError('The outputs are probabilities already. Fix: write head = "probabilities".')
        return outputs


def head_parameters(choice: ModuleChoice, around: Surroundings, target: str, ratings: bool) -> dict[str, Any]:
    """How a head predicts one target: which output it is, and what outputs are; ratings are as they come.

    Raises `FeaturesError` where the model does not predict this target.
    """
    config = read_json_object(_config_place(weights_path(choice.module, around)))
    many = config.get("problem_type") == "multi_label_classification"
    usual = "raw" if many or (ratings and "values" not in choice.parameters) else "softmax"
    told = {"head": usual, **{name: part for name, part in choice.parameters.items() if name != "outputs"}}
    if "values" in told:
        return told
    names = [str(name) for name in choice.parameters.get("outputs", _label_names(config))]
    matches = [at for at, name in enumerate(names) if name == target]
    matches = matches or [at for at, name in enumerate(names) if name.casefold() == target.casefold()]
    if matches:
        return {**told, "column": matches[0]}
    if "outputs" in choice.parameters or len(names) > 1:
        raise FeaturesError(
            f"the model does not predict {target!r}: its outputs are {', '.join(map(repr, names[:8]))}. Name them as "
            'the targets, in their order: outputs = ["…"]'
        )
    return told


def _config_place(path: Path) -> Path:
    return (path if path.is_dir() else path.parent) / CONFIG


def _label_names(config: Mapping[str, Any]) -> list[str]:
    """What a configuration calls its outputs: that of Hugging Face by number, that of timm as a list."""
    known = config.get("id2label")
    if isinstance(known, dict) and all(str(name).isdecimal() for name in known):
        return [str(known[name]) for name in sorted(known, key=int)]
    names = config.get("label_names")
    return list(names) if isinstance(names, list) else []


LAYER_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "layer": {"type": "string", "minLength": 1},
        "pool": {"enum": list(POOLS), "default": POOLS[0]},
        "layout": {"enum": list(LAYOUTS), "default": LAYOUTS[0]},
        "batch": {"type": "integer", "minimum": 1, "maximum": 4096, "default": BATCH},
        "scale": {"type": "number", "exclusiveMinimum": 0, "maximum": 1e6, "default": 1},
    },
    "additionalProperties": False,
}
HEAD_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "outputs": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        "values": {"type": "array", "items": {"type": "number"}, "minItems": 2},
        "head": {"enum": list(HEADS), "default": HEADS[0]},
        "batch": LAYER_SCHEMA["properties"]["batch"],
        "scale": LAYER_SCHEMA["properties"]["scale"],
    },
    "additionalProperties": False,
}
OUTPUTS: Final = ("batch", "scale")
"""Parameters of a predictor that say how its model is run, and not what its outputs mean."""


def output_choice(choice: ModuleChoice) -> tuple[str, dict[str, Any]]:
    """The name and parameters of the features that a predictor reads off: its model's output."""
    kept = {name: choice.parameters[name] for name in OUTPUTS if name in choice.parameters}
    return f"{LAYER}{choice.module.removeprefix(HEAD)}", {"layer": OUTPUT, **kept}
