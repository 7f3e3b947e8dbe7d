"""The last step of the linear measures on a device: matrices stay there, and one small vector of figures leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from basanite.backends.card import OnDevice
from basanite.metrics.representation.ferm import NOTHING, CosineTerms, cosine_values, ratios
from basanite.metrics.representation.results import Floats


@dataclass(frozen=True)
class Summary:
    """The values of the linear measures, and how many rows float32 could not be trusted with."""

    values: dict[str, float]
    odd: int


def summarised(data: OnDevice, state: tuple[torch.Tensor, ...], radii: torch.Tensor, odd: torch.Tensor) -> Summary:
    """The values of the linear measures from their state on the device, by one copy to the host."""
    unit, sums, squares, zeros = state
    counts = data.counts.double()
    by_class = torch.stack([*_cosine_terms(unit, counts, zeros), _worst(sums / counts[:, None], radii[0] / counts)])
    whole = torch.stack([*_cosine_totals(unit, counts), *_scatter(sums, squares, counts), odd.double()])
    figures = torch.cat([by_class.flatten(), whole]).cpu().numpy()
    split = by_class.numel()
    return Summary(_values(figures[:split].reshape(by_class.shape), figures[split:-1], data), int(figures[-1]))


def _cosine_terms(unit: torch.Tensor, counts: torch.Tensor, zeros: torch.Tensor) -> tuple[torch.Tensor, ...]:
    square = unit.square().sum(dim=1)
    return square - (counts - zeros), unit @ unit.sum(dim=0) - square, square


def _cosine_totals(unit: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, ...]:
    lengths = torch.linalg.vector_norm(unit, dim=1)
    inverse = torch.where(lengths > NOTHING * counts, 1 / lengths, 0.0)
    means, directions, whole = (1 / counts) @ unit, inverse @ unit, unit.sum(dim=0)
    return means @ means, means @ directions, directions @ directions, whole @ whole


def _scatter(sums: torch.Tensor, squares: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """T, B, and the mean over live features of sqrt(BSS / TSS)."""
    rows = counts.sum()
    middle = sums.sum(dim=0).square() / rows
    features = squares.sum(dim=0)
    total = (features - middle).clamp(min=0)
    between = torch.minimum((sums.square() / counts[:, None]).sum(dim=0) - middle, total).clamp(min=0)
    live = total > 1e-14 * features
    roots = torch.where(live, between / total, 0.0).sqrt().sum() / live.sum()
    return total.sum(), between.sum(), roots


def _worst(centres: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """For each class the largest (e_i + e_j) / |c_i - c_j|."""
    moved = centres - centres.mean(dim=0)
    square = moved.square().sum(dim=1)
    apart = (square[:, None] + square[None, :] - 2 * moved @ moved.T).clamp(min=0).sqrt()
    apart.fill_diagonal_(torch.inf)
    return ((sizes[:, None] + sizes[None, :]) / apart).amax(dim=1)


def _values(by_class: Floats, whole: Floats, data: OnDevice) -> dict[str, float]:
    counts = data.classes.counts.astype(np.float64)
    inside, outside, squares, worst = by_class
    means, crossed, directions, everything, total, between, roots = whole
    terms = CosineTerms(
        counts,
        counts * (counts - 1),
        inside,
        outside,
        squares,
        *map(np.asarray, (means, crossed, directions, everything)),
    )
    values = {name: float(value) for name, value in cosine_values(ratios(terms)).items()}
    classes, rows = len(counts), float(counts.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        values |= {
            "calinski_harabasz": float((between / (classes - 1)) / ((total - between) / (rows - classes))),
            "rs": float(between / total),
            "c_root_k": float(roots / np.sqrt(classes)),
            "davies_bouldin": float(worst.mean()),
        }
    return values
