"""What a long training has reached, kept after every epoch, so that an interrupted one goes on from there (H-19)."""

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
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

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

    def done(self) -> None:
        """Forget it: whoever asked for the training has its result now."""
        self.path.unlink(missing_ok=True)


def _probes(features: Any) -> list[NDArray[Any]]:
    """Shape, sums of all columns and some rows: enough to tell one set of rows from another."""
    step = max(1, features.shape[0] // PROBED)
    some = features[::step]
    rows = some.toarray() if scipy.sparse.issparse(some) else np.asarray(some)
    return [np.array(features.shape), np.asarray(features.sum(axis=0), np.float64), rows]


@dataclass
class Telling:
    """Says how far a long training is, on the terminal, every few seconds and not more often."""

    name: str
    last: float = field(default_factory=time.monotonic)

    def at(self, text: str) -> None:
        """Tell, if it is time."""
        if time.monotonic() - self.last >= SECONDS:
            self.last = time.monotonic()
            print(f"{self.name}: {text}", file=sys.stderr, flush=True)
