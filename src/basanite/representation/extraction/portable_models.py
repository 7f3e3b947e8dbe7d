"""Models that carry their own program: ONNX graphs and TorchScript, run by their interpreters and never as Python.

An ONNX graph knows operators of arithmetic only. A TorchScript program can also ask PyTorch to read and write files, so
its text is searched for these before it is loaded.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError, UnreadableError
from basanite.extras import required_module
from basanite.formats.bounded import check_regular, read_bounded
from basanite.problems import shortened
from basanite.representation.extraction.model_folder import (
    CONFIG,
    CONVERT,
    LocalModel,
    checked_layers,
    digest_of_files,
    preparation,
    read_json_object,
    versions_of,
)
from basanite.representation.extraction.pooling import Evidence, Reading, pool_output
from basanite.representation.extraction.torch_layers import MASK, OUTPUT, TorchLayers

SUFFIXES: Final = (".onnx", ".pt", ".torchscript")
MOST_ONNX: Final = 2 << 30
"""The most that ONNX allows in one file."""
MOST_CODE: Final = 64 << 20
TOUCHES_FILES: Final = re.compile(rb"\b(?:from_file|torch\.save|torch\.load|ops\.(?!prim\.|aten\.|torchvision\.)\w+)\b")


def open_portable(path: Path, folder: Path) -> LocalModel:
    """The model of one file."""
    check_regular(path)
    return _onnx(path, folder) if path.suffix.lower() == ".onnx" else _torchscript(path, folder)


# --- TorchScript ---


def _torchscript(path: Path, folder: Path) -> LocalModel:
    _check_program(path)
    torch = required_module("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that TorchScript is no longer developed, which users know
        module = torch.nn.Sequential(torch.jit.load(path, map_location="cpu")).eval()

    def open_layers(wanted: Sequence[str], reading: Reading) -> TorchLayers:
        # Its inner layers run inside the interpreter, where no hook can catch them.
        for layer in wanted:
            if layer != OUTPUT:
                raise FeaturesError(
                    f"Layer {layer!r} cannot be had from TorchScript, which gives its output alone. Fix: ask for "
                    f"{OUTPUT!r}, script the model up to that layer, or export it to ONNX."
                )
        return TorchLayers(module, wanted, reading)

    return LocalModel(
        "torchscript",
        path.stem,
        "pictures",
        preparation(folder, read_json_object(folder / CONFIG)),
        (OUTPUT,),
        open_layers,
        module,
        versions_of("torch"),
        digest=digest_of_files([path]),
    )


def _check_program(path: Path) -> None:
    """Refuse what is no TorchScript archive, and a program that reads or writes files."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            code = [name for name in names if "/code/" in name and name.endswith(".py")]
            if not code:
                raise UnreadableError(
                    f"{path.name} is a pickle or weights alone, not TorchScript; it is not read. {CONVERT}."
                )
            if sum(archive.getinfo(name).file_size for name in code) > MOST_CODE:
                raise UnreadableError(
                    f"{path.name} holds more than {MOST_CODE >> 20} MiB of code. Fix: export it to ONNX"
                )
            found = next((hit for name in code if (hit := TOUCHES_FILES.search(archive.read(name)))), None)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        raise UnreadableError(f"{path.name} is not a TorchScript archive, so it is not read. {CONVERT}.") from error
    if found:
        raise UnreadableError(
            f"{path.name} uses {found.group().decode()}, which may read or write files, so it is not run. "
            "Fix: export the model without it"
        )


# --- ONNX ---


def _onnx(path: Path, folder: Path) -> LocalModel:
    content = read_bounded(path, MOST_ONNX)
    if _has_outside_weights(content):
        raise UnreadableError(
            f"{path.name} keeps its weights in other files, which are not followed. Fix: export it into one file"
        )
    known = (*dict.fromkeys(inner_names(content)),)
    texts = b"input_ids" in content

    def open_layers(wanted: Sequence[str], reading: Reading) -> _OnnxLayers:
        checked_layers(wanted, known)
        return _OnnxLayers(content, wanted, reading)

    @cache
    def preparing() -> Callable[[Sequence[Any]], Any]:
        inputs = _session(content).get_inputs()  # only now: the names of layers are had without an interpreter
        return _tokens(folder, [one.name for one in inputs]) if texts else _pixels(folder, inputs[0])

    return LocalModel(
        "onnx",
        path.stem,
        "texts" if texts else "pictures",
        lambda given: preparing()(given),
        known,
        open_layers,
        None,
        versions_of("onnxruntime"),
        digest=digest_of_files([path]),
    )


def _session(content: bytes) -> Any:
    runtime = required_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    # Optimized graphs fuse operators, and the values between them are gone.
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class of their own that can be imported
        words = shortened(" ".join(str(error).split()), 200)
        raise UnreadableError(f"The graph is not a model that can be opened: {words} Fix: export it again") from error


def _pixels(folder: Path, first: Any) -> Any:
    shape = list(first.shape)
    if len(shape) != 4:
        return np.stack  # rows of numbers, as they are
    sides = tuple(side if isinstance(side, int) else 0 for side in shape[1:])
    channels, height, width = sides[0] or 3, sides[1], sides[2]
    shape_said = (channels, height, width) if height and width else None
    prepare = preparation(folder, read_json_object(folder / CONFIG), shape_said)
    return lambda given: _fill_shape(given, shape_said) if isinstance(given[0], np.ndarray) else prepare(given)


def _fill_shape(rows: Sequence[NDArray[Any]], shape: tuple[int, int, int] | None) -> NDArray[Any]:
    """Rows of numbers in the shape that the graph takes, as they are."""
    if shape is None or rows[0].size != np.prod(shape):
        wanted = " x ".join(map(str, shape or ("any size",)))
        raise FeaturesError(f"Rows of {rows[0].size} numbers do not fill the model's input of {wanted}. Give pictures.")
    return np.stack([row.reshape(shape) for row in rows])


def _tokens(folder: Path, names: Sequence[str]) -> Callable[[Sequence[str]], Any]:
    from basanite.representation.extraction.model_folder import _tokenizer

    prepare = _tokenizer(folder, required_module("transformers"), read_json_object(folder / CONFIG))
    return lambda texts: {name: part for name, part in prepare(texts).items() if name in names}


class _OnnxLayers:
    """The outputs of a graph, and values between its operators: these are declared as outputs too."""

    def __init__(self, content: bytes, wanted: Sequence[str], reading: Reading) -> None:
        plain = _session(content)
        self.outputs = [one.name for one in plain.get_outputs()]
        inner = [name for name in wanted if name not in self.outputs and name != OUTPUT]
        self.session = _session(with_outputs(content, inner)) if inner else plain
        self.wanted, self.reading = wanted, reading
        self.kinds = {one.name: one.type for one in plain.get_inputs()}

    def __enter__(self) -> Callable[[Any], dict[str, NDArray[np.float32]]]:
        return self._features

    def __exit__(self, *_: object) -> None:
        """Nothing was changed."""

    def _features(self, batch: Any) -> dict[str, NDArray[np.float32]]:
        given = batch if isinstance(batch, Mapping) else {next(iter(self.kinds)): np.asarray(batch)}
        mask = np.asarray(given[MASK]) if MASK in given else None
        types = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(float16)": np.float16}
        fed = {name: np.asarray(part, types.get(self.kinds[name], np.float32)) for name, part in given.items()}
        names = [self.outputs[0] if name == OUTPUT and name not in self.outputs else name for name in self.wanted]
        found = self.session.run(names, fed)
        return {
            layer: pool_output(layer, np.asarray(made, np.float32), self.reading, Evidence(), mask)
            for layer, made in zip(self.wanted, found, strict=True)
        }


def with_outputs(content: bytes, names: Sequence[str]) -> bytes:
    """A graph whose inner values of these names are outputs too.

    Parts of a message that are written twice are merged, so more outputs are added by writing them behind the rest:
    field 7 of a model is its graph, field 12 of a graph an output, field 1 of an output its name.
    """
    added = b"".join(_field(12, _field(1, name.encode())) for name in names)
    return content + _field(7, added)


def _field(number: int, content: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(content)) + content


def _number(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


def inner_names(content: bytes) -> Iterator[str]:
    """The values that operators give, in their order: field 1 of a graph is an operator, its field 2 an output."""
    for number, graph in _fields(memoryview(content)):
        if number == 7:
            for part, node in _fields(graph):
                if part == 1:
                    yield from (
                        bytes(name).decode("utf-8", "replace") for at, name in _fields(node) if at == 2 and name
                    )


def _has_outside_weights(content: bytes) -> bool:
    """Whether some weights name another file, which could be any on this machine: field 13 of a tensor."""
    return any(
        number == 7 and part == 5 and at == 13
        for number, graph in _fields(memoryview(content))
        if number == 7
        for part, tensor in _fields(graph)
        if part == 5
        for at, _ in _fields(tensor)
    )


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The fields of a message that hold bytes; the others are passed over."""
    at = 0
    while at < len(message):
        key, at = _read_number(message, at)
        kind = key & 7
        if kind == 0:
            _, at = _read_number(message, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, at = _read_number(message, at)
            yield key >> 3, message[at : at + size]
            at += size
        else:
            raise UnreadableError("The file is not an ONNX graph. Fix: export the model again")


def _read_number(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise UnreadableError("The file ends in the middle of a number; it is no ONNX graph. Fix: export the model again")
