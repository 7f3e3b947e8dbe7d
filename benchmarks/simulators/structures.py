"""Two taggers, parsers of dependencies and systems of coreference that are equally good, on hard and easy texts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from basanite.formats.records import Place
from basanite.formats.texts.conllu import read_treebank
from basanite.kernel import Metric
from basanite.metrics.text.coreference import Resolved
from basanite.metrics.text.dependencies import Parses, Treebank
from basanite.metrics.text.tagging import Tagged
from basanite.problems import Findings
from campaigns import structures
from campaigns.world import Pick, chance, shared, write_lines
from simulators.population import POPULATION, Population, populations


def _sides(make: Callable[..., Any], answer: Callable[..., Any], rng: np.random.Generator) -> Iterator[list[Any]]:
    """What is right, then the answers of each system."""
    gold = [make(rng) for _ in range(POPULATION)]
    errors = chance(shared(rng, POPULATION), -1.0, 0.7)
    yield gold
    for _ in range(2):
        yield [answer(one, error, rng) for one, error in zip(gold, errors, strict=True)]


def simulate_tagging(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Sentences with names of four types, one of them rare."""
    gold, *answers = _sides(structures.tags, structures.tagged, generator)
    return populations(metrics, [Tagged(gold, one, "IOB2", structures.TYPES) for one in answers])


def simulate_dependencies(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Sentences with mistakes in every column, in words and in where sentences end."""
    gold, *answers = map(_treebank, _sides(structures.parse, structures.parsed, generator))
    return populations(metrics, [Parses(gold, one) for one in answers])


def _treebank(side: Sequence[structures.Parse]) -> Treebank:
    picks = [Pick(at, str(at)) for at in range(len(side))]
    with tempfile.TemporaryDirectory() as folder:
        path = write_lines(Path(folder) / "side.conllu", list(structures.parse_lines(side, picks)))
        bank = read_treebank(path, Place("submission", "T-17"), Findings())
    assert bank is not None
    return bank


def simulate_coreference(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Documents in which things are mentioned again."""
    gold, *answers = _sides(structures.chains, structures.resolved, generator)
    entities = list(map(_entities, gold))
    return populations(metrics, [Resolved(entities, list(map(_entities, one))) for one in answers])


def _entities(chains: structures.Chains) -> list[list[int]]:
    """The mentions of each thing."""
    found: dict[int, list[int]] = {}
    for at, thing in enumerate(chains):
        if thing >= 0:
            found.setdefault(thing, []).append(at)
    return list(found.values())


SIMULATORS = {
    "tagging": simulate_tagging,
    "dependencies": simulate_dependencies,
    "coreference": simulate_coreference,
}
