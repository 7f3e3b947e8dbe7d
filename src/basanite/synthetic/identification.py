"""Made-up DomainID and LangID evaluations: which documents belong to each domain or language, and systems' answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from basanite.formats.retrieval.detection_files import confidence_text
from basanite.synthetic.clir import (
    DOMAINS,
    ONE,
    Flags,
    Numbers,
    Quality,
    Spec,
    catalogue,
    dice,
    pick,
    stream_of,
    write_members,
)

SECOND_DOMAIN = 0.25
"""Share of documents that belong to a second domain too (M19)."""
FOREIGN = 0.15
"""Share of documents that are in another language than the pack's."""
OTHER_LANGUAGES = ("2B", "3S")


@dataclass(frozen=True)
class Labelled:
    """The truth: which documents belong to each target."""

    spec: Spec
    targets: tuple[str, ...]
    documents: tuple[str, ...]
    flags: Flags
    """By target, then document."""


def domains(spec: Spec) -> Labelled:
    """The domains of each document but conversational speech, which has none (M34)."""
    names, codes = catalogue(spec), DOMAINS.get(spec.language, DOMAINS["1A"])
    documents = tuple(name for name, genre in zip(names.documents, names.genres, strict=True) if genre != "CS")
    rng = dice(spec, 10)
    equal = [1 / len(codes)] * len(codes)
    first, second = (pick(rng, len(documents), equal) for _ in range(2))
    both = rng.random(len(documents)) < SECOND_DOMAIN
    order = np.arange(len(codes))[:, None]
    return Labelled(spec, codes, documents, (first == order) | ((second == order) & both))


def languages(spec: Spec) -> Labelled:
    """The language of every document: mostly the pack's own."""
    documents, targets = catalogue(spec).documents, (spec.language, *OTHER_LANGUAGES)
    others = [FOREIGN / len(OTHER_LANGUAGES)] * len(OTHER_LANGUAGES)
    found = pick(dice(spec, 11), len(documents), [1 - FOREIGN, *others])
    return Labelled(spec, targets, documents, found == np.arange(len(targets))[:, None])


def key_members(truth: Labelled) -> Iterator[tuple[str, bytes]]:
    """All files of the key."""
    for target, flags in zip(truth.targets, truth.flags.tolist(), strict=True):
        pairs = sorted(zip(truth.documents, flags, strict=True))
        yield f"{target}.tsv", "".join(f"{name}\t{'Y' if flag else 'N'}\n" for name, flag in pairs).encode()


def system_members(truth: Labelled, quality: Quality) -> Iterator[tuple[str, bytes]]:
    """All files of a system: scores are noise moved up for documents of the target, decided at 0.5."""
    for number, target in enumerate(truth.targets):
        rows = sorted(zip(truth.documents, _steps(truth, quality, number).tolist(), strict=True))
        lines = (f"{name}\t{'Y' if step >= ONE // 2 else 'N'}\t{confidence_text(step)}\n" for name, step in rows)
        yield f"{target}.tsv", "".join(lines).encode()


def _steps(truth: Labelled, quality: Quality, number: int) -> Numbers:
    """The scores of a system for one target, in the finest step that may be written."""
    draws = dice(truth.spec, 12, stream_of(quality), number).random(len(truth.documents))
    odds = np.where(truth.flags[number], math.e ** (quality.separation / 2), math.e ** (-quality.separation / 2))
    steps: Numbers = np.floor(draws * odds / (draws * odds + 1 - draws) * ONE).astype(np.int64)
    return steps


def exact_rates(truth: Labelled, quality: Quality) -> dict[str, dict[str, float | None]]:
    """By target, the percentages of its documents that a system hits, and of all others that it takes for them."""
    rates = {}
    for number, (target, flags) in enumerate(zip(truth.targets, truth.flags, strict=True)):
        returned = _steps(truth, quality, number) >= ONE // 2
        hits, alarms = int((flags & returned).sum()), int((~flags & returned).sum())
        own, others = int(flags.sum()), int((~flags).sum())
        rates[target] = {
            "hit": float(Fraction(100 * hits, own)) if own else None,
            "false_alarm": float(Fraction(100 * alarms, others)) if others else None,
        }
    return rates


def write_truth(truth: Labelled, out: Path) -> None:
    """Write the key as a folder or archive."""
    write_members(key_members(truth), out)


def write_answers(truth: Labelled, quality: Quality, out: Path) -> None:
    """Write a system's submission as a folder or archive."""
    write_members(system_members(truth, quality), out)
