"""Features of one or more layers written as they come, each layer to a file of its own: memory holds one batch."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.representation.extraction.inputs import InputSet, label_array
from basanite.representation.extraction.model_folder import LocalModel
from basanite.representation.extraction.pooling import Reading, Watch
from basanite.representation.extraction.torch_layers import OUTPUT

BATCH: Final = 32
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Extracted:
    """What was written for one layer."""

    layer: str
    path: Path
    rows: int
    dimensions: int
    flags: tuple[str, ...]


class FeatureFile:
    """An uncompressed `.npz` that is written row by row; it gets its name when it is complete."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path, self.rows, self.watch = path, rows, Watch()
        self.part = path.with_name(f"{path.name}.part")
        self.others: dict[str, NDArray[Any]] = {}

    def __enter__(self) -> Self:
        self.archive = zipfile.ZipFile(self.part, "w", zipfile.ZIP_STORED, allowZip64=True)
        self.member: IO[bytes] | None = None
        return self

    def add(self, features: NDArray[np.float32]) -> None:
        """Write the next rows."""
        if self.member is None:
            self.member = self.archive.open("features.npy", "w", force_zip64=True)
            shape = (self.rows, features.shape[1])
            npy.write_array_header_1_0(self.member, {"descr": "<f4", "fortran_order": False, "shape": shape})
        self.watch.see(features)
        self.member.write(np.ascontiguousarray(features, "<f4").tobytes())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.member is not None:
            self.member.close()
        if kind is None:
            for name, array in self.others.items():
                with self.archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    npy.write_array(member, array, allow_pickle=False)
        self.archive.close()
        if kind is None:
            self.part.replace(self.path)
        else:
            self.part.unlink(missing_ok=True)


def layer_paths(out: Path, layers: Sequence[str]) -> dict[str, Path]:
    """The file of each layer: the one named, or for several layers one beside it for each.

    >>> [path.name for path in layer_paths(Path("x.npz"), ["a.0", "a/1"]).values()]
    ['x-a.0.npz', 'x-a_1.npz']
    """
    if out.suffix != ".npz":
        raise SettingError(f"{out.name} is no .npz file. Fix: name the output like features.npz.")
    if len(set(layers)) != len(layers):
        raise SettingError("A layer is named twice. Fix: name each layer once.")
    if len(layers) == 1:
        return {layers[0]: out}
    safe = {layer: re.sub(r"[^\w.-]", "_", layer) for layer in layers}
    if len(set(safe.values())) != len(layers):
        raise SettingError("Two layers would get the same file. Fix: extract them one at a time.")
    return {layer: out.with_name(f"{out.stem}-{name}.npz") for layer, name in safe.items()}


def write_features(
    model: LocalModel,
    inputs: InputSet,
    paths: Mapping[str, Path],
    *,
    reading: Reading | None = None,
    batch: int = BATCH,
    probabilities: bool = False,
    progress: Progress = lambda done, total: None,
) -> list[Extracted]:
    """The features of every input at every layer, with ids and labels, as files that `basanite measure` reads."""
    # Seven arguments: they are the options of the command.
    rows, done = len(inputs), 0
    said: list[NDArray[np.float32]] = []
    wanted = tuple(dict.fromkeys((*paths, *((OUTPUT,) if probabilities else ()))))
    with ExitStack() as stack:
        files = {layer: stack.enter_context(FeatureFile(path, rows)) for layer, path in paths.items()}
        forward = stack.enter_context(model.open_layers(wanted, reading or Reading()))
        for part in inputs.batches(batch):
            found = forward(model.prepare(part))
            for layer, file in files.items():
                file.add(found[layer])
            said += [_shares(found[OUTPUT])] if probabilities else []
            done += len(part)
            progress(done, rows)
        others = {"labels": label_array(inputs.labels), "ids": np.array(inputs.ids, dtype=np.str_)}
        others |= {"source_probabilities": np.concatenate(said)} if said else {}
        for file in files.values():
            file.others = others
    return [
        Extracted(layer, file.path, rows, len(file.watch.low), tuple(file.watch.flags()))
        for layer, file in files.items()
    ]


def _shares(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probabilities that a head gives, from its logits; outputs that are probabilities already stay."""
    if (logits >= 0).all() and np.allclose(logits.sum(axis=1), 1, atol=1e-4):
        return logits
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)
