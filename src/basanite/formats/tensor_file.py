"""Tensors that PyTorch saved, as arrays: nothing in the file may run code, nor grow beyond what the file holds."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import UnreadableError
from basanite.extras import required_module
from basanite.formats.bounded import check_regular
from basanite.formats.stored_arrays import MOST_LOADED
from basanite.problems import shortened

ENDINGS: Final = (".pt", ".pth")
PLAIN_KINDS: Final = "fiub"
SAVE_PLAIN: Final = "Save a dictionary of tensors: torch.save({'X': X, 'y': y}, 'features.pt')."


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a file by name: those of a dictionary, one alone as `X`, or two as `X` and `y`."""
    check_regular(path)
    if path.stat().st_size > MOST_LOADED:
        raise UnreadableError(f"{path.name} is larger than {MOST_LOADED >> 30} GiB. Store it as .npy or zarr.")
    _check_members(path)
    return dict(_arrays(_named_tensors(_load(path), path.name), path.name))


def _check_members(path: Path) -> None:
    """Refuse a compressed archive: PyTorch writes none, and a small one might unpack to anything."""
    if not zipfile.is_zipfile(path):
        return  # the older format, which is one pickle
    try:
        with zipfile.ZipFile(path) as archive:
            packed = any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        raise UnreadableError(f"{path.name} is not a file that PyTorch wrote: {shortened(str(error))}.") from error
    if packed:
        raise UnreadableError(f"{path.name} is a compressed archive, which PyTorch does not write. {SAVE_PLAIN}")


def _load(path: Path) -> Any:
    torch = required_module("torch")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # PyTorch raises errors of many kinds for a file that somebody made up
        # Its own words advise to run the code in the file, so they are not shown.
        why = "is not a file that PyTorch wrote, or holds objects whose code would run"
        raise UnreadableError(f"{path.name} {why}, so it is not read. {SAVE_PLAIN}") from error


def _named_tensors(found: Any, file: str) -> Mapping[str, Any]:
    if isinstance(found, Mapping):
        return {str(name): one for name, one in found.items()}
    if isinstance(found, list | tuple) and 1 <= len(found) <= 2:
        return dict(zip(("X", "y"), found, strict=False))
    if hasattr(found, "numel"):
        return {"X": found}
    raise UnreadableError(f"{file} holds a {type(found).__name__}, and no tensors by name. {SAVE_PLAIN}")


def _arrays(found: Mapping[str, Any], file: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Tensors as arrays, lists of words as such; whatever else a dictionary holds is passed over."""
    for name, one in found.items():
        if hasattr(one, "numel") and hasattr(one, "detach"):
            yield name, _array(one, f"{file}:{name}")
        elif isinstance(one, list) and one and all(isinstance(cell, str | int) for cell in one):
            yield name, np.array(one)


def _array(tensor: Any, name: str) -> NDArray[Any]:
    torch = required_module("torch")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        raise UnreadableError(f"{name} is sparse, quantized or without content. Save it as a plain tensor.")
    plain = tensor.detach()
    if plain.numel() * plain.element_size() > plain.untyped_storage().nbytes():
        raise UnreadableError(f"{name} says that it has the shape {tuple(plain.shape)}, more than the file holds.")
    if plain.dtype in (torch.bfloat16, torch.float16):
        plain = plain.float()  # NumPy has no bfloat16, and sums of half precision lose digits
    array = np.asarray(plain.resolve_neg().resolve_conj().numpy())
    if array.dtype.kind not in PLAIN_KINDS:
        raise UnreadableError(f"{name} holds values of type {array.dtype}, which are not read. Store real numbers.")
    return array
