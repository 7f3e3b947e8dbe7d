"""Tasks whose submission is one file of items with ids: read both sides, line them up, hand them to the task's count.

A task says how to read either side and what to count; ids, factors, clusters and digests are the same for all of
them. How to make one:

    SPEC = ItemSpec(
        name="speech", unit="utterance", rule="T-6", clusters=("speaker", "recording"),
        read_reference=..., read_submission=..., count=...,
    )
    TASK = Task(name="speech", ..., open=opener(SPEC))

`count(pairs, settings)` gets the items side by side, in the order of the reference, and gives a `Counted`: the bound
metrics, a `Rows` table for each of them (`pairs.table(columns, rows)` makes one; metrics with the same statistics
share one table), and what else must be said: notes, flags, parts, signatures, and what the task keeps for figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.clusters import COLUMN as CLUSTER
from basanite.analysis.clusters import clusters_of
from basanite.formats.factors import FactorTable, read_factor_tables
from basanite.formats.items import MOST_LEVELS, Items
from basanite.formats.records import Place
from basanite.kernel import LevelRows, Metric, Rows, Scores, UnitRows
from basanite.problems import Findings, Problem
from basanite.tasks import Inputs

ID = "id"
BY_LINE = "lines are paired by their position, since these files have no ids"
Settings = Mapping[str, Any]
ReadReference = Callable[[Sequence[Path], Settings, Findings], Items | None]
ReadSubmission = Callable[[Path, Settings, Findings], Items | None]


@dataclass(frozen=True)
class Pairs:
    """The truth and the answers of one system, item by item."""

    unit: str
    units: tuple[str, ...]
    references: tuple[Any, ...]
    answers: tuple[Any, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further columns of the reference, one cell for each item."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What the files of `reference` and `submission` are called, for problems found in both side by side."""

    def table(
        self, columns: Sequence[str], rows: Rows, levels: Mapping[str, Mapping[str, LevelRows]] | None = None
    ) -> UnitRows:
        """A table of these items; `levels` are rows of parts of an item (classes, targets)."""
        return UnitRows(self.unit, self.units, tuple(columns), np.asarray(rows, dtype=np.float64), levels=levels or {})


@dataclass(frozen=True)
class Counted:
    """What a task found: its metrics with their settings, a table for each, and what must be said beside them."""

    metrics: tuple[Metric, ...]
    tables: Mapping[str, UnitRows]
    """By the name of the metric."""
    notes: tuple[str, ...] = ()
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    kept: Any = None
    """What the task keeps for its figures, if truth and answers side by side are not enough for them."""


Count = Callable[[Pairs, Settings], Counted]


@dataclass(frozen=True)
class ItemSpec:
    """What only the task knows: how its files are read, what is counted, and what moves together in a draw."""

    name: str
    unit: str
    rule: str
    primary: str
    read_reference: ReadReference
    read_submission: ReadSubmission
    count: Count
    clusters: tuple[str, ...] = ()
    """Columns that may name the cluster of an item; the first that the reference has is the one (S-10)."""
    factors: tuple[str, ...] = ()
    """Columns that values are broken down by, however many levels they have."""
    id_name: str = ID
    """What a table of metadata calls the items."""
    check: Callable[[Pairs, Settings, Findings], None] = lambda pairs, settings, findings: None
    """What can only be told of answer and truth side by side (lengths, ranges)."""


class ItemRun:
    """One submission on its way from a file to rows."""

    def __init__(
        self,
        spec: ItemSpec,
        inputs: Inputs,
        settings: Settings,
        reference: Items | None,
        tables: Sequence[FactorTable],
        limit: int | None = None,
    ) -> None:
        self.spec, self.inputs, self.settings = spec, inputs, settings
        self.reference, self.tables, self._limit = reference, tables, limit
        self.answers: Items | None = None

    def pieces(self, findings: Findings) -> Iterator[Path]:
        """The one file of the submission."""
        yield self.inputs.submission

    def examine(self, piece: Path) -> tuple[Items | None, Findings]:
        """Read it."""
        found = Findings(self._limit)
        return self.spec.read_submission(piece, self.settings, found), found

    def take(self, examined: tuple[Items | None, Findings], findings: Findings) -> None:
        """Keep what was read."""
        self.answers = examined[0]
        findings.merge(examined[1])

    def close(self, findings: Findings) -> None:
        """Check that every item is answered, and nothing else is."""
        if self.answers is None or (self.reference is None and self.inputs.reference is not None):
            return
        place = Place("submission", self.spec.rule)
        if not self.answers.ids and findings.valid:
            findings.add(place.problem(self.answers.file, None, "there is no item in it", "write one record per item"))
        elif self.answers.ids and self.reference is not None:
            findings.extend(_id_problems(self.reference, self.answers, place))
        if findings.valid:
            self.spec.check(self.to_check(), self.settings, findings)

    def to_check(self) -> Pairs:
        """What the task's own check sees; less than `pairs` where making these is what must be guarded."""
        return self.pairs()

    def pairs(self) -> Pairs:
        """Truth and answers side by side, in the order of the reference (of the answers where there is none)."""
        answers = self.answers
        assert answers is not None  # only a valid submission is scored
        if self.reference is None:
            return Pairs(self.spec.unit, answers.ids, (None,) * len(answers.ids), answers.content, answers.columns)
        by_id = dict(zip(answers.ids, answers.content, strict=True))
        truth = self.reference
        given = tuple(by_id[name] for name in truth.ids)
        files = {"reference": truth.file, "submission": answers.file}
        return Pairs(self.spec.unit, truth.ids, truth.content, given, truth.columns, files)

    def count_pairs(self, pairs: Pairs) -> Counted:
        """What the task counts; a kind of run that makes metrics on request adds them here."""
        return self.spec.count(pairs, self.settings)

    def scores(self, system: str) -> Scores:
        """The rows of every metric, with factors and clusters."""
        pairs = self.pairs()
        counted = self.count_pairs(pairs)
        cluster = next((name for name in self.spec.clusters if any(pairs.columns.get(name, ()))), "")
        described = dict(_metadata_columns(pairs, self.tables, self.spec.id_name))
        factors = {**self._own_factors(pairs), **described}
        moving: dict[str, Any] = {
            "clusters": clusters_of(pairs.columns[cluster]) if cluster else None,
            "cluster": cluster,
            "attributes": {**{name: np.array(cells, np.str_) for name, cells in pairs.columns.items()}, **described},
            "declared": frozenset(described),
        }
        # Values of single classes are levels already: there is no whole of them to be broken down by a factor.
        whole = {id(counted.tables[metric.name]) for metric in counted.metrics if metric.overall}
        made = {
            id(table): replace(table, factors=factors if id(table) in whole else {}, **moving)
            for table in counted.tables.values()
        }
        paired = (BY_LINE,) if self.answers is not None and self.answers.numbered else ()
        return Scores(
            task=self.spec.name,
            system=system,
            metrics=counted.metrics,
            tables={name: made[id(table)] for name, table in counted.tables.items()},
            primary=self.spec.primary,
            settings={name: value for name, value in self.settings.items() if value is not None},
            digests=self._digests(),
            notes=(*counted.notes, *paired),
            flags=counted.flags,
            parts=counted.parts,
            signatures=counted.signatures,
            kept=pairs if counted.kept is None else counted.kept,
        )

    def _digests(self) -> dict[str, str]:
        sides = {"submission": self.answers, "reference": self.reference}
        return {name: side.digest for name, side in sides.items() if side is not None}

    def _own_factors(self, pairs: Pairs) -> dict[str, NDArray[np.str_]]:
        """Columns of the reference with few levels that name no cluster, and those that the task names."""
        return {
            name: np.array(cells, dtype=np.str_)
            for name, cells in pairs.columns.items()
            if name not in (CLUSTER, *self.spec.clusters)
            and 1 < len(set(cells)) <= (len(cells) if name in self.spec.factors else MOST_LEVELS)
        }


def opener(
    spec: ItemSpec, make: type[ItemRun] | None = None
) -> Callable[[Inputs, Settings, Findings, Executor | None], ItemRun | None]:
    """The `open` of a task made from its spec; `make` is its own kind of run, if it needs one."""

    def open_items(
        inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
    ) -> ItemRun | None:
        reference = None
        if inputs.reference is not None:
            paths = (inputs.reference, *inputs.more_references)
            reference = spec.read_reference(paths, settings, findings)
            if reference is not None and not reference.ids and findings.valid:
                place = Place("reference", spec.rule)
                findings.add(place.problem(reference.file, None, "there is no item in it", "write one record per item"))
            if reference is None or not findings.valid:
                return None
        tables = read_factor_tables(inputs.metadata, findings, (spec.id_name, *spec.clusters))
        return (make or ItemRun)(spec, inputs, settings, reference, tables, findings.limit)

    return open_items


def _id_problems(reference: Items, answers: Items, place: Place) -> Iterator[Problem]:
    """Answers to no item, and items without an answer; what was wrong with a record is told already, once."""
    known, given = set(reference.ids), set(answers.ids)
    if reference.numbered and answers.numbered and known != given and not answers.lost:
        message = f"{len(given)} lines where the reference has {len(known)}"
        yield place.problem(
            answers.file, None, message, "write one line for each line of the reference", str(len(given))
        )
        return
    if known.isdisjoint(given):
        yield _other_items(reference, answers, place)
        return
    for name, line in zip(answers.ids, answers.lines, strict=True):
        if name not in known:
            yield place.problem(answers.file, line, f"no item is called {name!r}", "leave it out", name)
    missing = [name for name in reference.ids if name not in given and name not in answers.refused]
    if len(missing) > answers.lost > 0:
        message = f"{len(missing)} items have no answer, beside what could not be read"
        yield place.problem(answers.file, None, message, "fix what could not be read first", missing[0])
    for name in () if answers.lost else missing:  # those that were lost may be those that are missing
        message, fix = f"item {name!r} has no answer", "answer every item, if need be with nothing"
        yield place.problem(answers.file, None, message, fix, name, kind="missing")


def _other_items(reference: Items, answers: Items, place: Place) -> Problem:
    """No id in common has one cause, and it is told in place of all that follows from it (D-7)."""
    yours = f"none of your {len(answers.ids)} items is in the reference, which has {len(reference.ids)}"
    message = f"{yours}: is this the right data set? Yours begin with {answers.ids[0]!r}"
    fix = "send the answers to this data set, with ids as its items have them"
    return place.problem(answers.file, answers.lines[0], message, fix, answers.ids[0])


def _metadata_columns(
    pairs: Pairs, tables: Sequence[FactorTable], id_name: str
) -> Iterator[tuple[str, NDArray[np.str_]]]:
    """Columns of the metadata, which may describe items or what they belong to."""
    for table in tables:
        names = pairs.units if table.subject == id_name else pairs.columns.get(table.subject, ("",) * len(pairs.units))
        for factor in table.levels:
            yield factor, table.column(factor, names)
