"""PyTorch as the backend of the representation measures: any device, and fused kernels on an NVIDIA card with Triton.

Found by entry point: `basanite.registry.load("backends", "torch")(device="cuda")`. On the CPU and in float64 results
agree with NumPy's to 1e-9; on a card in float32 the linear measures agree to 1e-6 and those of pairs to 1e-4.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from basanite.representation.backends import plain
from basanite.representation.backends.card import Band, OnDevice, on_device, refuse_infinite
from basanite.representation.backends.fused import summarize_linear
from basanite.representation.backends.plain import DistanceSums, exact_diameter, exact_gap
from basanite.representation.measures.pairs import PairSums
from basanite.representation.measures.results import Classes
from basanite.representation.measures.spread import scatter
from basanite.representation.measures.sums import PILOT, ClassSums, Features, Radii
from basanite.representation.measures.sweep import Precision


@dataclass(frozen=True)
class TorchBackend:
    """The three operations of a backend, on a device; `fused=False` keeps to plain PyTorch."""

    name: ClassVar = "torch"
    summary: ClassVar = "PyTorch on any device; fused kernels on an NVIDIA card with Triton"
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    fused: bool = True

    @property
    def label(self) -> str:
        """What the backend is called in a result's settings."""
        return f"torch on {torch.device(self.device).type}"

    @property
    def kernels(self) -> bool:
        """Whether our own kernels are used: on a CUDA device, with Triton installed."""
        return (
            self.fused and torch.device(self.device).type == "cuda" and importlib.util.find_spec("triton") is not None
        )

    def load(self, features: Features, classes: Classes) -> OnDevice:
        """Features on the device in class order: give the result to several operations to copy only once."""
        return on_device(features, classes, self.device)

    def linear_pass(self, features: Features | OnDevice, classes: Classes, *, moments: bool = True) -> ClassSums:
        """The state of all linear measures."""
        data = self._data(features, classes)
        shift = _pilot(data)
        state, odd = self._linear(data, shift, moments=moments)
        if bool(odd):  # a zero row, or one whose squares fail in float32
            state, _ = self._linear(data, shift, moments=moments, wide=True)
        unit, sums, squares, zeros = state
        if not bool(torch.isfinite(unit).all()):
            refuse_infinite(data)
        nothing = np.nan if not moments else 0.0
        return ClassSums(
            names=classes.names,
            counts=classes.counts,
            zeros=_host(zeros).astype(np.int64),
            unit=_host(unit),
            shift=_host(shift),
            sums=_host(sums) + nothing,
            squares=_host(squares.sum(dim=0)) + nothing,
            spread=_host(squares.sum(dim=1)) + nothing,
            negative=bool(data.rows.amin() < 0),
        )

    def radii(self, features: Features | OnDevice, classes: Classes, sums: ClassSums) -> Radii:
        """The second pass, for Davies-Bouldin."""
        data = self._data(features, classes)
        centres = torch.as_tensor(sums.shift + sums.centroids[sums.places(classes.names)], device=data.rows.device)
        return Radii(*_host(self._radii(data, centres))).in_order(classes.names, sums.names)

    def pairwise_sweep(
        self,
        features: Features | OnDevice,
        classes: Classes,
        *,
        precision: Precision = "float32",
        sums: ClassSums | None = None,
    ) -> PairSums:
        """The sweep over all pairs of rows; every number that is kept is float64."""
        data = self._data(features, classes)
        state = self.linear_pass(data, classes) if sums is None else sums
        scatter(state)  # refuses features whose squares are lost
        centre = torch.as_tensor(state.centre, device=data.rows.device)
        found, band = self._distances(data, centre, precision)
        return _pair_sums(data, found, band)

    def linear_values(self, features: Features | OnDevice, classes: Classes) -> dict[str, float]:
        """All linear measures with nothing but one small vector of figures leaving the device."""
        data = self._data(features, classes)
        shift = _pilot(data)
        state, odd = self._linear(data, shift)
        summary = summarize_linear(data, state, self._radii(data, shift + state[1] / data.counts[:, None]), odd)
        if summary.odd:
            state, _ = self._linear(data, shift, wide=True)
            summary = summarize_linear(data, state, self._radii(data, shift + state[1] / data.counts[:, None]), odd)
        if not np.isfinite(summary.values["gap"]):
            refuse_infinite(data)
        return summary.values

    def _data(self, features: Features | OnDevice, classes: Classes) -> OnDevice:
        return features if isinstance(features, OnDevice) else self.load(features, classes)

    def _linear(
        self, data: OnDevice, shift: torch.Tensor, *, moments: bool = True, wide: bool = False
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """Unit sums, sums, squares, zero rows; and how many rows have lengths that float32 cannot be trusted with."""
        if not self._fits_kernel(data):
            return plain.linear_sums(data, shift, moments=moments), torch.zeros((), device=data.rows.device)
        from basanite.representation.backends import fused

        unit, sums, squares, counted = fused.linear_sums(data, shift, wide=wide)
        zeros = torch.zeros(len(data.classes), dtype=torch.int64, device=counted.device)
        zeros.index_add_(0, data.chunks[:, 2], counted[:, 0].long())
        return (unit, sums, squares, zeros), counted[:, 1].sum()

    def _radii(self, data: OnDevice, centres: torch.Tensor) -> torch.Tensor:
        if not self._fits_kernel(data):
            return plain.radii_sums(data, centres)
        from basanite.representation.backends import fused

        return fused.radii_sums(data, centres)

    def _distances(self, data: OnDevice, centre: torch.Tensor, precision: Precision) -> tuple[DistanceSums, Band]:
        if precision == "float32" and self.kernels:
            from basanite.representation.backends import fused

            return fused.distance_sums(data, centre)
        kind = torch.float64 if precision == "float64" else torch.float32
        return plain.distance_sums(data, centre, kind=kind)

    def _fits_kernel(self, data: OnDevice) -> bool:
        return self.kernels and data.rows.dtype == torch.float32 and data.rows.shape[1] <= 8192


def _pilot(data: OnDevice) -> torch.Tensor:
    """The pilot mean, rounded to the type of the rows so that every kernel takes off the same; nothing is copied."""
    rows = data.rows[:: max(1, len(data.rows) // PILOT)]
    return torch.nan_to_num(rows.double().mean(dim=0), 0.0, 0.0, 0.0).to(data.rows.dtype).double()


def _pair_sums(data: OnDevice, found: DistanceSums, band: Band) -> PairSums:
    """Figures of each row from its sums of distances, rows in their own order again."""
    at = torch.arange(len(data.rows), device=data.rows.device)
    own = found.sums[data.codes, at].double()
    total = float(found.sums.sum(dtype=torch.float64))
    means = found.sums.div_(data.counts[:, None])
    means[data.codes, at] = torch.inf
    least, rival = means.min(dim=0)
    back = np.empty_like(data.classes.order)
    back[data.classes.order] = np.arange(len(back))
    return PairSums(
        own=_host(own)[back],
        rival_mean=_host(least.double())[back],
        rival=_host(rival)[back],
        within=float(own.sum()) / 2,
        between=(total - float(own.sum())) / 2,
        gap=exact_gap(data, found, band),
        diameter=exact_diameter(data, found, band),
        squares=found.squares,
    )


def _host(tensor: torch.Tensor) -> Any:
    return tensor.cpu().numpy()
