"""Features on a device in class order, and the tables that kernels need: made once, used by every pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import torch

from basanite.errors import FeaturesError
from basanite.metrics.representation.classes import Classes, named_rows
from basanite.metrics.representation.passes import CURE, Features, shape_of

CHUNK: Final = 256
"""Rows of a chunk of the linear kernels."""
UPLOAD: Final = 1 << 26
"""Numbers that are copied to the device at a time."""


@dataclass(frozen=True)
class OnDevice:
    """Rows in class order on a device, as float32 or float64."""

    rows: torch.Tensor
    classes: Classes

    @cached_property
    def starts(self) -> torch.Tensor:
        """Where each class starts, and the end."""
        return torch.as_tensor(self.classes.starts, device=self.rows.device)

    @cached_property
    def counts(self) -> torch.Tensor:
        """Rows of each class."""
        return torch.as_tensor(self.classes.counts, device=self.rows.device)

    @cached_property
    def codes(self) -> torch.Tensor:
        """The class of each row."""
        return torch.repeat_interleave(torch.arange(len(self.classes), device=self.rows.device), self.counts)

    def class_of(self, row: int) -> int:
        """The class of one row, without asking the device."""
        return int(self.classes.starts.searchsorted(row, "right")) - 1

    @cached_property
    def chunks(self) -> torch.Tensor:
        """First row, last row and class of every chunk."""
        spans = [
            (start, min(start + CHUNK, stop), place)
            for place, (start, stop) in enumerate(pairwise(self.classes.starts.tolist()))
            for start in range(start, stop, CHUNK)
        ]
        return torch.tensor(spans, dtype=torch.int64, device=self.rows.device)


def on_device(features: Features, classes: Classes, device: str) -> OnDevice:
    """Features on a device in class order; a tensor that is there already and in order is taken as it is."""
    rows, dimensions = shape_of(features)
    ordered = bool((np.diff(classes.codes) >= 0).all())
    if isinstance(features, torch.Tensor):
        moved = features.to(device)
        return OnDevice(moved if ordered else moved[torch.as_tensor(classes.order, device=moved.device)], classes)
    probe = np.asarray(features[:1])
    kind = torch.float32 if probe.dtype.itemsize <= 4 and probe.dtype.kind == "f" else torch.float64
    made = torch.empty((rows, dimensions), dtype=kind, device=device)
    step = max(1, UPLOAD // dimensions)
    for start in range(0, rows, step):
        part = np.ascontiguousarray(features[classes.order[start : start + step]])
        made[start : start + len(part)] = _as_tensor(part).to(kind)
    return OnDevice(made, classes)


def refuse_infinite(data: OnDevice) -> None:
    """Raise if any row holds nan or inf, naming the rows."""
    bad = torch.nonzero(~torch.isfinite(data.rows).all(dim=1)).flatten().cpu().numpy()
    if bad.size:
        numbers = np.sort(data.classes.order[bad])
        raise FeaturesError(f"nan or infinite features {named_rows(numbers)} {CURE}")


def _as_tensor(part: Any) -> torch.Tensor:
    plain = part if part.dtype.kind == "f" and part.dtype.itemsize in (4, 8) else part.astype(np.float64)
    return torch.from_numpy(plain if plain.flags.writeable else plain.copy())
