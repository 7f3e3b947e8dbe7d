"""Answers to questions, and summaries, of two systems that are equally good, on hard and easy ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basanite.kernel import Metric
from basanite.metrics.text.questions import Answers
from basanite.metrics.text.rouge import Summaries
from simulators.population import POPULATION, Population, populations

UNITS = [str(at) for at in range(POPULATION)]
WORDS = [f"w{at}" for at in range(40)]
PEOPLE = 10


def simulate_questions(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Ten people who agree more or less, and systems that are right where people are of one mind."""
    ease = generator.beta(6, 2, POPULATION)
    right = generator.choice(WORDS, POPULATION)
    people = [
        [str(word) if agrees else str(generator.choice(WORDS)) for agrees in generator.random(PEOPLE) < share]
        for word, share in zip(right, ease, strict=True)
    ]
    blocks = []
    for _ in range(2):
        others, known = generator.choice(WORDS, POPULATION), generator.random(POPULATION) < ease
        given = [f"{word} w1" if knows else str(other) for word, knows, other in zip(right, known, others, strict=True)]
        blocks.append(Answers(UNITS, given, people))
    return populations(metrics, blocks)


def simulate_summaries(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Summaries of two sentences, in some of which both systems write other words."""
    said = [[_sentence(generator) for _ in range(2)] for _ in range(POPULATION)]
    errors = generator.beta(2, 4, POPULATION)
    references = [("\n".join(map(" ".join, sentences)),) for sentences in said]
    blocks = []
    for _ in range(2):
        given = [
            "\n".join(_rewritten(sentence, error, generator) for sentence in sentences)
            for sentences, error in zip(said, errors, strict=True)
        ]
        blocks.append(Summaries(UNITS, given, references))
    return populations(metrics, blocks)


def _sentence(generator: np.random.Generator) -> list[str]:
    return [str(word) for word in generator.choice(WORDS, int(generator.integers(4, 10)))]


def _rewritten(words: Sequence[str], error: float, generator: np.random.Generator) -> str:
    others = generator.choice(WORDS, len(words))
    return " ".join(
        str(other) if die < error else word
        for word, other, die in zip(words, others, generator.random(len(words)), strict=True)
    )


SIMULATORS = {"questions": simulate_questions, "summaries": simulate_summaries}
