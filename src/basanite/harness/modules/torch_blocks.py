"""Where learners compute, and how rows get there: a block at a time, dense, in single precision."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.extras import required_module

if TYPE_CHECKING:
    import torch
    from torch import Tensor

BLOCK: Final = 4_096
DEVICES: Final = ("auto", "cpu", "cuda")


def load_torch() -> Any:
    """PyTorch, or the line to type where it is missing."""
    return required_module("torch")


def chosen_device(name: str) -> torch.device:
    """The device of a name; `auto` takes an accelerator if there is one."""
    found = load_torch()
    if name == "cuda" and not found.cuda.is_available():
        raise SettingError("device = cuda, and there is no accelerator here. Use auto or cpu.")
    chosen: torch.device = found.device("cuda" if name != "cpu" and found.cuda.is_available() else "cpu")
    return chosen


def block_of(features: Any, rows: Any, device: torch.device) -> torch.Tensor:
    """Some rows of a matrix, dense, on the device."""
    part = features[rows]
    if scipy.sparse.issparse(part):
        return _dense_block(scipy.sparse.csr_array(part), device)
    plain = np.asarray(part)
    result: Tensor = load_torch().from_numpy(np.ascontiguousarray(plain, np.float32)).to(device)
    return result


def _dense_block(part: scipy.sparse.csr_array, device: torch.device) -> torch.Tensor:
    """A sparse block made dense on the device itself: what is sent there is a hundredth of it for texts."""
    torch = load_torch()
    columns, values = (torch.from_numpy(one).to(device) for one in (part.indices, part.data.astype(np.float32)))
    lengths = torch.from_numpy(np.diff(part.indptr)).to(device)
    places = torch.repeat_interleave(torch.arange(part.shape[0], device=device), lengths)
    dense = torch.zeros(part.shape, dtype=torch.float32, device=device)
    dense.index_put_((places, columns.long()), values, accumulate=True)  # as CSR means it, where one appears twice
    filled: Tensor = dense
    return filled


def to_numpy(tensor: torch.Tensor) -> NDArray[np.float32]:
    """A tensor as an array of this machine."""
    found: NDArray[np.float32] = tensor.detach().to("cpu", load_torch().float32).numpy()
    return found


PROBED: Final = 64
SECONDS: Final = 10.0


@dataclass(frozen=True)
class Checkpoint:
    """A file of arrays that appears as a whole or not at all; it is gone when the training is done."""

    path: Path

    @classmethod
    def of(cls, settings: Mapping[str, Any], features: Any) -> Checkpoint:
        """The place for a training with these settings on these rows."""
        digest = hashlib.sha256(json.dumps(dict(settings), sort_keys=True, default=str).encode())
        for part in _probes(features):
            digest.update(np.ascontiguousarray(part).tobytes())
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "basanite" / "checkpoints"
        return cls(folder / f"{digest.hexdigest()}.npz")

    def load(self) -> dict[str, NDArray[Any]]:
        """What was reached, or nothing; a file that cannot be read counts as none."""
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                return dict(found)
        except (OSError, ValueError, EOFError, BadZipFile):
            return {}

    def save(self, reached: Mapping[str, NDArray[Any]]) -> None:
        """Keep what is reached now."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(f".{self.path.stem}.{secrets.token_hex(6)}.npz")
        np.savez(fresh, allow_pickle=False, **reached)
        fresh.rename(self.path)

    def remove(self) -> None:
        """Forget it: anyone who asked for the training has its result now."""
        self.path.unlink(missing_ok=True)


def _probes(features: Any) -> list[NDArray[Any]]:
    """Shape, sums of all columns and some rows: enough to tell one set of rows from another."""
    step = max(1, features.shape[0] // PROBED)
    some = features[::step]
    rows = some.toarray() if scipy.sparse.issparse(some) else np.asarray(some)
    return [np.array(features.shape), np.asarray(features.sum(axis=0), np.float64), rows]


@dataclass
class TrainingProgress:
    """Says how far a long training is, on the terminal, every few seconds and not more often."""

    name: str
    last: float = field(default_factory=time.monotonic)

    def at(self, text: str) -> None:
        """Tell, if it is time."""
        if time.monotonic() - self.last >= SECONDS:
            self.last = time.monotonic()
            print(f"{self.name}: {text}", file=sys.stderr, flush=True)
