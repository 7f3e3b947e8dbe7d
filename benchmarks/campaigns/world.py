"""A world: a large population of units with a known value, from which campaigns are drawn and written as files.

Units come in blocks of five that are alike (sentences of a document, queries of a topic). A campaign draws units one by
one, or whole blocks of which it takes three to five units; these are then named as clusters. The truth is what the task
itself gives for all units, so it is the limit of the estimator under the same rules, judges and votes included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 5
POPULATION = 2000

Generator = np.random.Generator


@dataclass(frozen=True)
class Pick:
    """One unit of a campaign: its number in the population, its name in the campaign, and its cluster, if any."""

    unit: int
    name: str
    cluster: str = ""


Write = Callable[[Path, Sequence[Pick]], Mapping[str, Any]]


@dataclass(frozen=True)
class World:
    """A task, the families of metrics that are read from it, and how a campaign is written for `basanite.score`."""

    task: str
    write: Write
    """Writes the files of a campaign into a folder, and gives the arguments of `basanite.score`."""
    metrics: Mapping[str, tuple[str, ...]]
    """By family: the metrics that this world is about; none means all of the family."""
    level: tuple[str, str] | None = None
    """The factor and level that metrics of one class, target or rating are read from."""
    names: tuple[str, Callable[[int, Pick], str]] | None = None
    """For a task whose reference has no column for clusters: the column of metadata that names a unit, and how the
    files name the unit in that place of a campaign."""
    clusters: bool = True
    """Whether units can be in clusters."""
    units: int = POPULATION
    scales: tuple[str, ...] = field(default=())
    """Metrics whose value grows with the number of units: counts."""
    of_size: tuple[str, ...] = field(default=())
    """Metrics whose true value is the mean of campaigns of the same size, since the campaign is a part of the measure:
    CIDEr-D counts how rare n-grams are among its images."""


def shared(rng: Generator, units: int = POPULATION) -> Any:
    """A standard normal number for each unit, half of whose variance is that of its block."""
    blocks = np.repeat(rng.normal(size=units // BLOCK), BLOCK)
    return (blocks + rng.normal(size=units)) / 2**0.5


def chance(latent: Any, middle: float, spread: float) -> Any:
    """Chances that vary with a latent number around the logistic of `middle`."""
    return 1 / (1 + np.exp(-(middle + spread * latent)))


def everyone(world: World) -> list[Pick]:
    """The campaign of all units."""
    return [Pick(unit, f"{unit:05}") for unit in range(world.units)]


def drawn(world: World, units: int, rng: Generator, *, clustered: bool) -> list[Pick]:
    """A campaign of this number of units, or of clusters of three to five units."""
    if not clustered:
        return [Pick(int(unit), f"{at:05}") for at, unit in enumerate(rng.integers(0, world.units, units))]
    picks: list[Pick] = []
    for at, block in enumerate(rng.integers(0, world.units // BLOCK, units)):
        inside = rng.permutation(BLOCK)[: rng.integers(3, BLOCK + 1)]
        picks += [Pick(int(block * BLOCK + one), f"{at:04}-{number}", f"c{at:04}") for number, one in enumerate(inside)]
    return picks


def metadata_of(world: World, folder: Path, picks: Sequence[Pick]) -> Mapping[str, Any]:
    """Where the reference cannot say so: a table that names the cluster of every unit."""
    if world.names is None or not picks[0].cluster:
        return {}
    column, name_of = world.names
    rows = [f"{name_of(at, pick)}\t{pick.cluster}" for at, pick in enumerate(picks)]
    return {"metadata": write_lines(folder / "metadata.tsv", [f"{column}\tcluster", *rows])}


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """A text file of these lines."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
