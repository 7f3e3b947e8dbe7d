"""Models from folders of weights: Hugging Face, timm and torchvision, TorchScript and ONNX (F-21, H-42).

Nothing is downloaded, and no Python of a folder is ever run: weights are safetensors, never pickles; the code is that
of the installed library, and a folder that asks for code of its own is refused. The evaluation harness takes its
systems from such folders too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import BasaniteError, UnknownNameError, UnreadableError
from basanite.extras import required_module
from basanite.formats.bounded import check_regular, read_bounded
from basanite.problems import shortened
from basanite.registry import suggestion
from basanite.representation.extraction.pooling import Reading
from basanite.representation.extraction.torch_layers import OUTPUT, TorchLayers, torch_layers

Takes = Literal["pictures", "texts"]
Forward = Callable[[Any], dict[str, NDArray[np.float32]]]
CONFIG: Final = "config.json"
MOST_CONFIG: Final = 16 << 20
PICKLES: Final = (".bin", ".pth", ".pkl", ".ckpt", ".msgpack", ".h5", ".joblib")
CONVERT: Final = (
    "Fix: where you trust them, store the weights as safetensors: "
    "safetensors.torch.save_file(torch.load(FILE, weights_only=True), 'model.safetensors')"
)
HEADS: Final = ("ForImageClassification", "ForSequenceClassification", "Model")
"""Classes of transformers whose features and outputs are understood here."""
SPARE: Final = ("pooler.", "classifier.", "score.", "head.", "fc.")
"""Weights that a folder may lack, as long as nothing is taken from them."""


@dataclass(frozen=True)
class LocalModel:
    """A model from a folder: what it takes, how its inputs are prepared, and how features of its layers are had."""

    kind: str
    name: str
    takes: Takes
    prepare: Callable[[Sequence[Any]], Any]
    """Pictures (of Pillow) or texts as a batch that the model takes."""
    layers: tuple[str, ...]
    open_layers: Callable[[Sequence[str], Reading], AbstractContextManager[Forward]]
    """Within it, a batch goes in and the features of the named layers come out."""
    module: Any = None
    """The module of PyTorch, where there is one."""
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    digest: str = ""

    def features(
        self, inputs: Sequence[Any], layer: str, *, reading: Reading | None = None, batch: int = 32
    ) -> NDArray[np.float32]:
        """The features of pictures or texts, `[N, d]`; `output` is what the model gives in the end."""
        with self.open_layers([layer], reading or Reading()) as forward:
            parts = [
                forward(self.prepare(inputs[start : start + batch]))[layer] for start in range(0, len(inputs), batch)
            ]
        return np.concatenate(parts)


def open_model(folder: Path, *, architecture: str | None = None) -> LocalModel:
    """The model of a folder, or of one `.onnx` or TorchScript file; what is in it says which kind it is."""
    from basanite.representation.extraction import portable_models

    if not folder.exists():
        raise UnreadableError(f"{folder} cannot be read: No such file or directory. Fix: check the path.")
    config = _config(folder)
    portable = [one for one in _files(folder) if one.suffix.lower() in portable_models.SUFFIXES]
    weights = [one for one in _files(folder) if one.suffix == ".safetensors"]
    with _plain_errors(folder):
        if weights and "model_type" in config:
            return _hugging_face(folder, config)
        if weights:
            return _with_architecture(folder, weights, config, architecture)
        if len(portable) == 1:
            return portable_models.open_portable(portable[0], folder if folder.is_dir() else folder.parent)
    raise UnreadableError(_refusal(folder, portable))


def _files(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    return [one for one in found if one.is_file()]


def _refusal(folder: Path, portable: Sequence[Path]) -> str:
    if len(portable) > 1:
        return f"{folder} holds {', '.join(one.name for one in portable)}. Fix: name one of these files."
    pickled = [one.name for one in _files(folder) if one.suffix.lower() in PICKLES]
    if pickled:
        return f"{folder} holds {pickled[0]}, a format that can run code when it is read, so it is not read. {CONVERT}."
    return (
        f"{folder} holds no model that is known here. Fix: give a folder with config.json and model.safetensors "
        "(Hugging Face, timm), a file ARCHITECTURE.safetensors (torchvision), or one .onnx or TorchScript (.pt) file"
    )


@contextmanager
def _plain_errors(folder: Path) -> Iterator[None]:
    """What a library says of a folder that it cannot take, as one sentence."""
    try:
        yield
    except (BasaniteError, ModuleNotFoundError):
        raise
    except Exception as error:  # libraries raise errors of many kinds for files that somebody made up
        words = shortened(" ".join(str(error).split()), 300)
        raise UnreadableError(f"{folder} is not a model that can be opened: {words}") from error


def read_json_object(path: Path) -> dict[str, Any]:
    """The object of a small JSON file; nothing where there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(read_bounded(path, MOST_CONFIG))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{path} is not JSON: {shortened(str(error))}. Fix: copy the folder again") from error
    if not isinstance(found, dict):
        raise UnreadableError(f"{path} is not a JSON object. Fix: copy the folder again")
    return found


def _config(folder: Path) -> dict[str, Any]:
    found = read_json_object((folder if folder.is_dir() else folder.parent) / CONFIG)
    if "auto_map" in found:
        raise UnreadableError(
            f"{folder} asks for Python code of its own (auto_map), which is never run here. Fix: take a model that the "
            "installed library knows, or export this one to ONNX"
        )
    return found


def digest_of_files(paths: Sequence[Path]) -> str:
    """One digest of some files, by their bytes."""
    whole = hashlib.sha256()
    for path in paths:
        check_regular(path)
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return f"sha256:{whole.hexdigest()}"


def versions_of(*packages: str) -> dict[str, str]:
    """The versions of installed packages."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def checked_layers(wanted: Sequence[str], known: Sequence[str], lacking: Sequence[str] = ()) -> None:
    """Refuse names that no layer has, and layers whose weights are not in the folder."""
    for layer in wanted:
        if layer not in known and layer != OUTPUT:
            raise UnknownNameError(f"The model has no layer {layer!r}. {suggestion(layer, known)}")
        empty = [name for name in lacking if layer == OUTPUT or name.startswith(f"{layer}.") or f".{layer}." in name]
        if empty:
            raise UnreadableError(
                f"The folder has no weights for {', '.join(empty[:3])}, so layer {layer!r} would be random. "
                "Fix: choose a layer before it, or a folder with all weights"
            )


# --- Hugging Face ---


def _hugging_face(folder: Path, config: Mapping[str, Any]) -> LocalModel:
    if find_spec("torchvision") is not None:
        import_torchvision()  # transformers imports it where it is there, and it may need help
    transformers = required_module("transformers")
    named = (config.get("architectures") or [""])[0]
    known = isinstance(named, str) and named.endswith(HEADS) and hasattr(transformers, named)
    kind = getattr(transformers, named) if known else transformers.AutoModel
    with _without_bars(transformers):
        module, loaded = kind.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, trust_remote_code=False, output_loading_info=True
        )
    lacking = sorted(loaded["missing_keys"])
    needed = [name for name in lacking if not any(f".{spare}" in f".{name}" for spare in SPARE)]
    if needed:
        raise UnreadableError(
            f"{folder} has no weights for {', '.join(needed[:3])} ({len(needed)} are missing), which would be random. "
            "Fix: copy the folder again, with all its .safetensors files"
        )
    texts = any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"))
    prepare = _tokenizer(folder, transformers, config) if texts else _as_pixel_values(preparation(folder, config))
    return local_module(
        module,
        "huggingface",
        type(module).__name__,
        prepare,
        takes="texts" if texts else "pictures",
        versions=versions_of("transformers", "safetensors", "torch"),
        notes=(f"The folder has no weights for {', '.join(lacking[:3])}.",) if lacking else (),
        digest=digest_of_files([one for one in _files(folder) if one.suffix == ".safetensors"]),
        lacking=lacking,
    )


@contextmanager
def _without_bars(transformers: Any) -> Iterator[None]:
    """Without the library's own bars and remarks on a terminal; what matters is in the notes."""
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _tokenizer(folder: Path, transformers: Any, config: Mapping[str, Any]) -> Callable[[Sequence[str]], Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    # Some tokenizers say "no limit" by an enormous number; the positions of the model are the limit then.
    most = min(int(tokenizer.model_max_length), int(config.get("max_position_embeddings") or 1 << 20))
    wanted = set(tokenizer.model_input_names) | {"input_ids", "attention_mask"}

    def prepare(texts: Sequence[str]) -> dict[str, NDArray[Any]]:
        made = tokenizer(list(texts), padding=True, truncation=True, max_length=most, return_tensors="np")
        return {name: np.asarray(part) for name, part in made.items() if name in wanted}

    return prepare


def _as_pixel_values(prepare: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    return lambda pictures: {"pixel_values": prepare(pictures)}


def preparation(folder: Path, config: Mapping[str, Any], shape: tuple[int, int, int] | None = None) -> Any:
    """How pictures are prepared: by `preprocessor_config.json`, else to the size that the model takes and to 0..1."""
    from basanite.representation.extraction.preparation import PREPROCESSOR, PicturePreparation

    settings = read_json_object(folder / PREPROCESSOR)
    side = config.get("image_size")
    channels, height, width = shape or (int(config.get("num_channels") or 3), 0, 0)
    if not height and side is not None:
        height, width = (side, side) if isinstance(side, int) else tuple(map(int, side))
    if not settings and not height:
        raise UnreadableError(f"{folder} does not say how pictures are prepared. Fix: add {PREPROCESSOR} of the model")
    return PicturePreparation.of(settings, PicturePreparation(height, width, channels))


# --- timm and torchvision ---


def _with_architecture(
    folder: Path, weights: Sequence[Path], config: Mapping[str, Any], architecture: str | None
) -> LocalModel:
    """A model whose class is named: in `config.json`, by the name of the file, or by the user."""
    if len(weights) > 1:
        raise UnreadableError(f"{folder} holds {len(weights)} files of weights. Fix: name one of them")
    given = architecture or config.get("architecture") or weights[0].stem
    if not isinstance(given, str):
        raise UnreadableError(f"{folder}: the architecture in {CONFIG} is no name. Fix: write it as a text")
    if architecture is None and config.get("library", "timm" if "pretrained_cfg" in config else "") == "timm":
        return _timm(weights[0], given, config)
    return _torchvision(weights[0], given.removeprefix("torchvision/"))


def _timm(weights: Path, architecture: str, config: Mapping[str, Any]) -> LocalModel:
    import_torchvision()  # timm needs it, and it may need help
    timm = required_module("timm")
    if not timm.is_model(architecture):
        raise UnknownNameError(
            f"timm knows no architecture {architecture!r}. {_near_names(architecture, timm.list_models())}"
        )
    arguments = config.get("model_args") or {}
    if not isinstance(arguments, dict) or not all(
        isinstance(one, int | float | str | list) for one in arguments.values()
    ):
        raise UnreadableError(f"{CONFIG}: model_args hold more than numbers and names. Fix: correct them")
    module = timm.create_model(
        architecture, pretrained=False, num_classes=int(config.get("num_classes", 1000)), **arguments
    )
    _load_weights(module, weights)
    module.pretrained_cfg = {**module.pretrained_cfg, **dict(config.get("pretrained_cfg") or {})}
    made = timm.data.create_transform(**timm.data.resolve_data_config({}, model=module))
    return local_module(
        module,
        "timm",
        architecture,
        _stack_pictures(made),
        versions=versions_of("timm", "safetensors", "torch"),
        digest=digest_of_files([weights]),
    )


def _torchvision(weights: Path, architecture: str) -> LocalModel:
    models = import_torchvision().models
    known = models.list_models(module=models)
    if architecture not in known:
        raise UnknownNameError(
            f"torchvision knows no architecture {architecture!r}. {_near_names(architecture, known)} Fix: name the "
            "file ARCHITECTURE.safetensors, or say the architecture"
        )
    state = required_module("safetensors.torch").load_file(weights)
    classes = len(state[list(state)[-1]]) if not (heads := _heads(state)) else len(state[heads[-1]])
    module = models.get_model(architecture, weights=None, num_classes=classes)
    _load_weights(module, weights)
    made = models.get_model_weights(architecture).DEFAULT.transforms()
    return local_module(
        module,
        "torchvision",
        architecture,
        _stack_pictures(made),
        versions=versions_of("torchvision", "safetensors", "torch"),
        digest=digest_of_files([weights]),
    )


def _heads(state: Mapping[str, Any]) -> list[str]:
    """The offsets of the last linear layer, whose length is the number of classes."""
    return [
        name for name in state if name.startswith(("fc.", "classifier", "head.", "heads.")) and name.endswith("bias")
    ]


def _near_names(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 3)
    return f"Did you mean {', '.join(near)}?" if near else ""


def _load_weights(module: Any, weights: Path) -> None:
    state = required_module("safetensors.torch").load_file(weights)
    own = module.state_dict()
    odd = [name for name in own if name not in state] + [name for name in state if name not in own]
    odd += [name for name in own if name in state and own[name].shape != state[name].shape]
    if odd:
        raise UnreadableError(
            f"{weights.name} does not fit the architecture: {len(odd)} weights are missing, spare or of another shape "
            f"({', '.join(odd[:3])}). Fix: name the architecture that they belong to"
        )
    module.load_state_dict(state)


def _stack_pictures(transform: Any) -> Callable[[Sequence[Any]], Any]:
    torch = required_module("torch")
    return lambda pictures: torch.stack([transform(picture.convert("RGB")) for picture in pictures])


def import_torchvision() -> Any:
    """torchvision, also where its compiled operators do not fit the PyTorch that is here.

    Its wheels are built for CUDA; beside a CPU build its operators for detection cannot be loaded, and the import fails
    over them. Classification needs none of them, so they are declared without a body.
    """
    import sys
    from importlib import import_module

    try:
        return required_module("torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    torch = import_module("torch")
    for operator in (
        "nms(Tensor dets, Tensor scores, float iou_threshold)",
        "qnms(Tensor dets, Tensor scores, float t)",
    ):
        torch.library.define(f"torchvision::{operator.partition('(')[0]}", f"({operator.partition('(')[2]} -> Tensor")
    return import_module("torchvision")


def local_module(
    module: Any,
    kind: str,
    name: str,
    prepare: Callable[[Sequence[Any]], Any],
    *,
    takes: Takes = "pictures",
    lacking: Sequence[str] = (),
    **more: Any,
) -> LocalModel:
    """A module of PyTorch as a model; whatever else is known of it are the fields of the model."""
    module.eval()
    known = torch_layers(module)

    def open_layers(wanted: Sequence[str], reading: Reading) -> TorchLayers:
        checked_layers(wanted, known, lacking)
        return TorchLayers(module, wanted, reading)

    return LocalModel(kind, name, takes, prepare, known, open_layers, module, **more)
