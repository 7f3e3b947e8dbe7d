"""What stands beside a reading score, and its tables.

They show the gold's other versions, what nobody adjudicated, the kinds claimed, the phase's verdict and every document.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from basanite.analysis.results import Analysis, Comparison
from basanite.figures import Cell as TableCell
from basanite.figures import Figure, Table
from basanite.kernel import UnitRows
from basanite.metrics.answers import CREDITS, METRICS, PR, PRECISION, RECALL, AnswerCounts, F, document_rows
from basanite.reading.gold.answers import Answer, GoldAnswer
from basanite.reading.gold.counts import (
    Cell,
    Gold,
    Settled,
    counts_of,
    gold_for,
    kind_shares,
    never_adjudicated,
    settled_cells,
)
from basanite.reading.gold.readers import Readers
from basanite.reading.gold.scope import Truth
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
    readers: Readers
    """People one by one, where their answers say who gave them."""


def score_of_version(
    version: str,
    gold: Sequence[GoldAnswer],
    sides: tuple[Sequence[Answer], Sequence[Answer]],
    truth: Truth,
    settings: Mapping[str, Any],
    system: str,
) -> VersionScore:
    """The values of one run, beside people's answers, on one version of the gold, as far as no interval is needed."""
    answers, human = sides
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
    values = {metric.name: metric.bind(beta=settings["beta"]).of(rows) for metric in METRICS}
    nobody = {} if sides[1] else dict.fromkeys((name for name in values if name.startswith("human_")), math.nan)
    return values | nobody


def spoken_of(answers: Sequence[Answer], gold: Gold) -> tuple[tuple[str, float, float], ...]:
    """For each kind its share among a system's claims and among the gold."""
    golden = dict(kind_shares(one.answer for found in gold.inside.values() for one in found))
    return tuple((kind, share, golden[kind]) for kind, share in kind_shares(answers))


def verdict(low: float | None, high: float | None, target: float) -> str:
    """Whether a ratio reaches the target of its phase, by its interval.

    >>> verdict(0.4, 0.6, 0.5), verdict(0.55, 0.7, 0.5), verdict(0.1, 0.3, 0.5)
    ('undecided', 'reached', 'not reached')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "undecided"
    return "reached" if low >= target else "not reached" if high < target else "undecided"


NAMES = {metric.name: metric.display_name for metric in METRICS}
SHOWN = ("pr", "pr_f", "pr_i", "f", "recall", "human_recall")


def reading_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """What a reader wants to know beside the values."""
    kept: Kept = analysis.scores.kept
    people = tuple(_people(kept.readers))
    return (*_phase(analysis, kept), *people, _versions(kept), _unseen(kept), _claims(kept), _documents(kept))


def compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """How far each run was adjudicated, and its values on every version of the gold."""
    every = [analysis.scores.kept for analysis in comparison.analyses.values()]
    return tuple(figure for kept in every for figure in (_versions(kept), _unseen(kept)))


def _phase(analysis: Analysis, kept: Kept) -> Iterator[Table]:
    if kept.phase is None:
        return
    value = analysis.values["pr"]
    row = (kept.phase.name, kept.phase.target_ratio, _cell(value.value), value.low, value.high)
    said = verdict(value.low, value.high, kept.phase.target_ratio)
    note = "Reached: the whole interval lies at or above the target. Not reached: all of it lies below."
    yield Table("Verdict of the phase", ("Phase", "Target", "PR", "Low", "High", "Verdict"), ((*row, said),), note)


def _people(readers: Readers) -> Iterator[Table]:
    """Each reader beside the union of all, and how far readers agree (R-39)."""
    if not readers.scores:
        return
    numbers = ("f", "precision", "recall", "without_own", "others")
    rows: list[tuple[Any, ...]] = [
        (one.reader, one.documents, one.answers, *(_cell(getattr(one, name)) for name in numbers))
        for one in readers.scores
    ]
    rows.append(("mean", None, None, _cell(readers.mean), None, None, None, None))
    rows.append(("standard deviation", None, None, _cell(readers.spread), None, None, None, None))
    rows.append(("all, pooled", None, None, _cell(readers.pooled), None, None, None, None))
    note = (
        "Each reader on the documents that they answered about. Own out: F without the gold that only this reader "
        "brought in. Without them: F of all the others, pooled. Ratios to human performance use the pooled answers, "
        "whose recall grows with the number of readers."
    )
    columns = ("Reader", "Documents", "Answers", "F", "Precision", "Recall", "Own out", "Without them")
    yield Table("People, one by one", columns, tuple(rows), note)
    if readers.pairs:
        pairs = [(*pair.readers, pair.documents, _cell(pair.f)) for pair in readers.pairs]
        note = "F of one reader with the other as the gold, the mean of both ways, on the documents that both read."
        yield Table("Agreement between readers", ("Reader", "Other reader", "Documents", "F"), tuple(pairs), note)


def _versions(kept: Kept) -> Table:
    rows = tuple(_version(one) for one in kept.versions)
    columns = ("Gold", "Size", *(NAMES[key] for key in SHOWN), "Own out")
    note = (
        "The same answers against every version of the gold. As it grows, human recall falls. Own out: F without "
        "the gold that only this system brought in."
    )
    return Table(f"{kept.system} on every version of the gold", columns, rows, note)


def _version(one: VersionScore) -> tuple[TableCell, ...]:
    values = tuple(_cell(one.values[name]) for name in SHOWN)
    return (one.version, one.gold, *values, _cell(one.without_own))


def _unseen(kept: Kept) -> Table:
    """How much of what did not match nobody has looked at (S-21)."""
    rows = tuple((one.version, one.unmatched, one.open, _share(one.open, one.unmatched)) for one in kept.versions)
    note = "Answers that match no gold count as wrong, also those that nobody has adjudicated yet."
    return Table(f"Unmatched answers of {kept.system}", ("Gold", "Unmatched", "Not adjudicated", "Share"), rows, note)


def _claims(kept: Kept) -> Table:
    rows = tuple((kind, _cell(claimed), _cell(golden)) for kind, claimed, golden in kept.claims)
    note = (
        "Shares of the system's answers and of the gold. Answers are scored by the kind of the gold they match, "
        "whatever the system calls them."
    )
    return Table("Kinds claimed", ("Kind", "Claimed", "In the gold"), rows, note)


def _documents(kept: Kept) -> Table:
    measures = (PR, F, PRECISION, RECALL)
    rows = tuple(
        (name, *(_cell(metric.of(kept.table.rows[at : at + 1])) for metric in measures))
        for at, name in enumerate(kept.table.units)
    )
    return Table("Every document", ("Document", *(metric.display_name for metric in measures)), rows, detail=True)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _cell(number: float) -> float | None:
    return None if math.isnan(number) else number
