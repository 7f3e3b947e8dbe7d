"""Questions with the answers of people, and texts with their summaries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.world import POPULATION, Generator, Pick, World, chance, shared, write_lines

PEOPLE = 10
ANSWERS = ("yes", "no", "two", "red dog", "a tennis ball", "on the table", "blue", "the bus", "nothing at all", "12")


def _write_questions(
    accepted: Sequence[Sequence[str]], given: Sequence[str], rule: str, folder: Path, picks: Sequence[Pick]
) -> Mapping[str, Any]:
    key = [
        json.dumps({"id": p.name, "answers": accepted[p.unit], **({"document": p.cluster} if p.cluster else {})})
        for p in picks
    ]
    answers = [json.dumps({"id": p.name, "answer": given[p.unit]}) for p in picks]
    return {
        "reference": write_lines(folder / "reference.jsonl", key),
        "submission": write_lines(folder / "answers.jsonl", answers),
        "rule": rule,
    }


def pictures(rng: Generator) -> World:
    """Questions about pictures on which ten people agree more or less; those about some pictures are hard."""
    ease = 1 - chance(shared(rng), -0.8, 1.0)
    right = rng.choice(ANSWERS, POPULATION)
    people = [
        [
            str(answer) if agrees else str(other)
            for agrees, other in zip(rng.random(PEOPLE) < share, others, strict=True)
        ]
        for answer, share, others in zip(right, ease, rng.choice(ANSWERS, (POPULATION, PEOPLE)), strict=True)
    ]
    guesses = rng.choice(ANSWERS, POPULATION)
    given = [
        str(answer) if known else str(guess)
        for answer, known, guess in zip(right, rng.random(POPULATION) < ease, guesses, strict=True)
    ]
    return World("questions", partial(_write_questions, people, given, "vqa"), {"questions": ("accuracy",)})


def passages(rng: Generator) -> World:
    """Questions about texts, a fifth of them without an answer; answers have some words too many or too few."""
    hard = chance(shared(rng), -0.8, 1.0)
    spans = [[f"w{word}" for word in rng.integers(0, 500, size)] for size in rng.integers(1, 6, POPULATION)]
    accepted = [
        [] if none else [" ".join(span)] for none, span in zip(rng.random(POPULATION) < 0.2, spans, strict=True)
    ]
    given = [
        " ".join(span[int(rng.integers(0, 2)) :] + ["w1"] * int(rng.integers(0, 3))) if wrong else " ".join(right)
        for span, right, wrong in zip(spans, accepted, rng.random(POPULATION) < hard, strict=True)
    ]
    measured = {"questions": ("exact_match", "f1")}
    return World("questions", partial(_write_questions, accepted, given, "squad2"), measured)


def summaries(rng: Generator) -> World:
    """Summaries of three sentences that share fewer words and pairs of words with those of people in some topics."""
    wrong = chance(shared(rng), -0.3, 0.6)
    said = [[_sentence(rng) for _ in range(3)] for _ in range(POPULATION)]
    given = [
        [[word if rng.random() > share else f"w{rng.integers(400)}" for word in words] for words in sentences]
        for sentences, share in zip(said, wrong, strict=True)
    ]
    return World("summaries", partial(_write_summaries, *(_texts(side) for side in (said, given))), {"summaries": ()})


def _sentence(rng: Generator) -> list[str]:
    return [f"w{word}" for word in np.minimum(rng.zipf(1.4, int(rng.integers(6, 14))), 400)]


def _texts(summaries: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    return ["\n".join(" ".join(words) for words in sentences) for sentences in summaries]


def _write_summaries(
    said: Sequence[str], given: Sequence[str], folder: Path, picks: Sequence[Pick]
) -> Mapping[str, Any]:
    key = [
        json.dumps({"id": p.name, "summary": said[p.unit], **({"document": p.cluster} if p.cluster else {})})
        for p in picks
    ]
    answers = [json.dumps({"id": p.name, "text": given[p.unit]}) for p in picks]
    return {
        "reference": write_lines(folder / "reference.jsonl", key),
        "submission": write_lines(folder / "answers.jsonl", answers),
    }


WORLDS = {"pictures": pictures, "passages": passages, "summaries": summaries}
