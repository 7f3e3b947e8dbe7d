"""Translations and transcripts of two systems that are equally good: hard and easy sentences of a small language."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basanite.kernel import Metric
from basanite.metrics.text.speech import Utterances
from basanite.metrics.text.translation import Segments
from simulators.population import POPULATION, Population, populations

VOCABULARY = 2000


def _words(generator: np.random.Generator, size: int) -> list[str]:
    """Frequent words and rare ones."""
    ranks = np.minimum(generator.zipf(1.3, size), VOCABULARY)
    return [f"w{rank}" for rank in ranks]


def _changed(words: Sequence[str], error: float, generator: np.random.Generator) -> str:
    """The sentence with some words replaced, dropped or doubled."""
    dice, others = generator.random(len(words)), _words(generator, len(words))
    kept: list[str] = []
    for word, other, die in zip(words, others, dice, strict=True):
        kept += [] if die < error / 4 else [other] if die < error else [word, other] if die > 1 - error / 5 else [word]
    return " ".join(kept)


def _sentences(generator: np.random.Generator) -> tuple[list[list[str]], list[list[str]]]:
    """References with one text each, and what both systems made of them."""
    said = [_words(generator, size) for size in generator.integers(4, 20, POPULATION)]
    errors = generator.beta(2, 6, POPULATION)
    answers = [[_changed(words, error, generator) for words, error in zip(said, errors, strict=True)] for _ in range(2)]
    return [[" ".join(words)] for words in said], answers


def simulate_translation(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Segments of 4 to 19 words, a quarter of them wrong, more in some segments than in others."""
    references, answers = _sentences(generator)
    units = [str(at) for at in range(POPULATION)]
    blocks = [Segments(units, texts, references) for texts in answers]
    return populations(metrics, blocks)


def simulate_speech(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Utterances of the same kind."""
    references, answers = _sentences(generator)
    units = [str(at) for at in range(POPULATION)]
    blocks = [Utterances(units, references, texts) for texts in answers]
    return populations(metrics, blocks)


SIMULATORS = {"translation": simulate_translation, "speech": simulate_speech}
