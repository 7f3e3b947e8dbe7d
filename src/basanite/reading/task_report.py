"""What stands beside a reading score: other versions of the gold, what nobody adjudicated, and the kinds claimed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from basanite.kernel import UnitRows
from basanite.metrics.answers import CREDITS, METRICS, AnswerCounts, document_rows
from basanite.reading.gold.answers import Answer, GoldAnswer
from basanite.reading.gold.counting import (
    Cell,
    Gold,
    Settled,
    claimed,
    counts_of,
    gold_for,
    never_adjudicated,
    settled_cells,
)
from basanite.reading.gold.truth import Truth
from basanite.reading.package.manifest import Phase


@dataclass(frozen=True)
class VersionScore:
    """One run against one version of the gold."""

    version: str
    gold: int
    values: Mapping[str, float]
    without_own: float
    """F where the gold that only this system brought in is left out (S-21)."""
    open: int
    """Unmatched answers that nobody has adjudicated."""
    unmatched: int

    @property
    def depth(self) -> str:
        """How far the unmatched answers were adjudicated: only runs of the same depth are compared (S-21)."""
        if self.open == 0:
            return "all"
        return "none" if self.open == self.unmatched else "some"

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said of the gold's growth."""
        if not self.open:
            return ()
        share = self.open / self.unmatched
        return (
            f"{self.open} of {self.unmatched} unmatched answers ({share:.0%}) were never adjudicated: precision may "
            "rise as the gold grows",
        )

    def parts(self, phase: Phase | None) -> dict[str, dict[str, float]]:
        """What stands inside the values of F and of the ratio."""
        target = {"target": phase.target_ratio} if phase else {}
        share = self.open / self.unmatched if self.unmatched else 0.0
        return {"f": {"without_own_gold": self.without_own, "unadjudicated_share": share}, "pr": target}


@dataclass(frozen=True)
class Kept:
    """What the figures of a reading score are made from."""

    system: str
    phase: Phase | None
    versions: tuple[VersionScore, ...]
    claims: tuple[tuple[str, float, float], ...]
    """Each kind with its share among the system's claims and in the gold (X-17)."""
    table: UnitRows


def score_of_version(
    version: str,
    gold: Sequence[GoldAnswer],
    answers: Sequence[Answer],
    human: Sequence[Answer],
    truth: Truth,
    settings: Mapping[str, Any],
    system: str,
) -> VersionScore:
    """The values of one run on one version of the gold, as far as numbers without intervals can tell."""
    known = [one for one in gold if truth.asks(one.answer)]
    seen, credit = gold_for(known, truth.capabilities, truth.kinds), CREDITS[settings["credit"]]
    machine = settled_cells(answers, seen, credit)
    values = _values(seen, (machine, settled_cells(human, seen, credit)), truth, settings)
    without, foreign = values["f"], [one for one in known if one.system != system]
    if len(foreign) < len(known):
        others = gold_for(foreign, truth.capabilities, truth.kinds)
        without = _values(others, (settled_cells(answers, others, credit), {}), truth, settings)["f"]
    open_, unmatched = never_adjudicated(machine, seen, credit)
    return VersionScore(version, seen.size, values, without, open_, unmatched)


def _values(
    gold: Gold, sides: tuple[Mapping[Cell, Settled], Mapping[Cell, Settled]], truth: Truth, settings: Mapping[str, Any]
) -> dict[str, float]:
    """The values of what became of the answers of machine and people."""
    counts = [counts_of(side, gold, truth.documents) for side in sides]
    rows = document_rows(AnswerCounts(truth.documents, np.stack(counts, axis=1)))
    return {metric.name: metric.bind(beta=settings["beta"]).of(rows) for metric in METRICS}


def spoken_of(answers: Sequence[Answer], gold: Gold) -> tuple[tuple[str, float, float], ...]:
    """For each kind its share among a system's claims and among the gold."""
    golden = dict(claimed(one.answer for found in gold.inside.values() for one in found))
    return tuple((kind, share, golden[kind]) for kind, share in claimed(answers))


def verdict(low: float | None, high: float | None, target: float) -> str:
    """Whether a ratio reaches the target of its phase, by its interval.

    >>> verdict(0.4, 0.6, 0.5), verdict(0.55, 0.7, 0.5), verdict(0.1, 0.3, 0.5)
    ('undecided', 'reached', 'not reached')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "undecided"
    return "reached" if low >= target else "not reached" if high < target else "undecided"
