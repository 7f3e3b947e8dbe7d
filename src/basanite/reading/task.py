"""The task `reading`: answers of a machine, and of people, to the queries of a package, scored against its gold."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.formats.factors import FactorTable, read_factor_tables
from basanite.formats.records import LARGEST, digest_of
from basanite.kernel import LevelRows, Rows, Scores, UnitRows
from basanite.metrics.answers import COLUMNS, CREDITS, METRICS, PAPER, PR, AnswerCounts, Credit, document_rows
from basanite.problems import Findings, Problem
from basanite.reading.gold.answers import KINDS, RULE, Answer, read_answers, read_gold
from basanite.reading.gold.counts import Cell, Gold, Settled, counts_of, gold_for, settled_cells
from basanite.reading.gold.readers import Panel, pooled
from basanite.reading.gold.scope import Truth, read_truth, versions
from basanite.reading.package.model import is_archive, package_root, query_files
from basanite.reading.query import Query
from basanite.reading.task_report import (
    Kept,
    VersionScore,
    compared_figures,
    reading_figures,
    score_of_version,
    spoken_of,
)
from basanite.reports.wording import plural
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.settings import names_list, number_or_nan, one_of

NO_HUMAN: Final = "no answers of people were given, so ratios to human performance are undefined"
QUERIES_FIXED: Final = "draws are of whole documents; queries and gold are held fixed"


class _Told:
    """Counts the answers that are scored, against one version of the gold after the other."""

    def __init__(self, work: Callable[[int, int], None], size: int, passes: int) -> None:
        self.work, self.size, self.total, self.done = work, size, size * passes, 0

    def add(self, answers: int) -> None:
        """Note that so many more are."""
        self.done += answers
        self.work(self.done, self.total)


class ReadingRun:
    """One system's answers on their way to rows."""

    def __init__(
        self,
        truth: Truth,
        inputs: Inputs,
        settings: Mapping[str, Any],
        human: tuple[Answer, ...],
        tables: Sequence[FactorTable] = (),
    ) -> None:
        self.truth, self.inputs, self.settings, self.human = truth, inputs, settings, human
        self.tables = tables
        self.answers: tuple[Answer, ...] = ()
        self.scoring_progress: Callable[[int, int], None] = lambda done, total: None
        """Called while answers are scored with how many are, of how many."""

    def pieces(self, findings: Findings) -> Iterator[Path]:
        """The one file of the submission."""
        yield self.inputs.submission

    def examine(self, piece: Path) -> tuple[tuple[Answer, ...], Findings]:
        """Read it."""
        found = Findings()
        return read_answers(piece, self.truth.known, found), found

    def take(self, examined: tuple[tuple[Answer, ...], Findings], findings: Findings) -> None:
        """Keep the answers."""
        self.answers = examined[0]
        findings.merge(examined[1])

    def close(self, findings: Findings) -> None:
        """Warn of answers that are given twice: the second can only be wrong."""
        seen: dict[tuple[object, ...], int] = {}
        for answer in self.answers:
            key = answer.query, answer.document, answer.bindings
            if key in seen:
                message, fix = f"the same answer as on line {seen[key]}", "give each answer once"
                file = self.inputs.submission.name
                findings.add(Problem(RULE, file, answer.line, None, message, fix, severity="warn"))
            seen.setdefault(key, answer.line)

    def scores(self, system: str) -> Scores:
        """The counts of every document, of machine and human together."""
        gold = gold_for(self.truth.gold, self.truth.capabilities, self.truth.kinds)
        credit = CREDITS[self.settings["credit"]]
        answers, left_out = self._relevant_answers(self.answers)
        said = self._relevant_answers(self.human)[0]
        people = pooled(said, gold, credit)
        told = _Told(self.scoring_progress, len(answers) + len(people), 1 + len(versions(self.truth.package.root)))
        machine, human = (settled_cells(side, gold, credit, told=told.add) for side in (answers, people))
        table = self._table(machine, human, gold)
        readers = self._panel(said, credit).readers()
        versions_of_it = self._versions(system, people, told)
        kept = Kept(system, self.truth.phase, versions_of_it, spoken_of(answers, gold), table, readers)
        current = next(one for one in kept.versions if one.version == self.truth.version)
        metrics = tuple(metric.bind(beta=self.settings["beta"]) for metric in METRICS)
        return Scores(
            task="reading",
            system=system,
            metrics=metrics,
            tables=dict.fromkeys((metric.name for metric in metrics), table),
            primary=PR.name,
            settings={**self.settings, "gold": self.truth.version, "adjudicated": current.depth},
            digests=self._digests(),
            notes=(QUERIES_FIXED, *(() if self.human else (NO_HUMAN,)), *current.notes, *left_out),
            flags={} if self.human else dict.fromkeys(("pr", "pr_f", "pr_i"), (NO_HUMAN,)),
            parts={**current.parts(self.truth.phase), **({"human_f": readers.parts} if readers.scores else {})},
            kept=kept,
        )

    def _panel(self, said: Sequence[Answer], credit: Credit) -> Panel:
        truth = self.truth
        return Panel(said, truth.gold, truth.capabilities, truth.kinds, truth.documents, credit, self.settings["beta"])

    def _relevant_answers(self, answers: Sequence[Answer]) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
        """The answers to what this task asks, and what must be said of the others."""
        kept = tuple(answer for answer in answers if self.truth.asks(answer))
        others = plural("answer", len(answers) - len(kept))
        words = f"{others} about other queries or documents than this task asks were left out"
        return kept, (words,) if len(kept) < len(answers) else ()

    def _table(self, machine: Mapping[Cell, Settled], human: Mapping[Cell, Settled], gold: Gold) -> UnitRows:
        names = self.truth.documents
        rows = _without_nobody(_rows(machine, human, gold, names), human)
        levels = {
            "query": dict(self._levels(machine, human, gold, {name: (name,) for name in self.truth.queries})),
            "type": dict(self._levels(machine, human, gold, _by_type(self.truth.queries))),
        }
        # Documents are what is drawn: they are their own clusters, so nothing is taken as independent that is not.
        known = {name: table.column(name, names) for table in self.tables for name in table.levels}
        return UnitRows(
            "document", names, COLUMNS, rows, levels=levels, clusters=np.arange(len(names)), attributes=known
        )

    def _levels(
        self,
        machine: Mapping[Cell, Settled],
        human: Mapping[Cell, Settled],
        gold: Gold,
        groups: Mapping[str, Sequence[str]],
    ) -> Iterator[tuple[str, LevelRows]]:
        """Rows of the queries of each group, for the documents that have anything there (S-9)."""
        for level, queries in groups.items():
            inside = frozenset(queries)
            part = replace(gold, inside={cell: found for cell, found in gold.inside.items() if cell[0] in inside})
            sides = [{cell: one for cell, one in side.items() if cell[0] in inside} for side in (machine, human)]
            rows = _rows(sides[0], sides[1], part, self.truth.documents)
            index = np.flatnonzero(rows.any(axis=1))
            if len(index):
                yield level, LevelRows(index, _without_nobody(rows[index], human))

    def _versions(self, system: str, people: Sequence[Answer], told: _Told) -> tuple[VersionScore, ...]:
        """The same answers against every version of the gold (S-21)."""
        truth, found = self.truth, []
        sides = self._relevant_answers(self.answers)[0], people
        for name, path in versions(truth.package.root).items():
            gold = truth.gold if name == truth.version else read_gold(path, truth.known, Findings())
            found.append(score_of_version(name, gold, sides, truth, self.settings, system))
            told.add(told.size)
        return tuple(found)

    def _digests(self) -> dict[str, str]:
        root = self.truth.package.root
        files = [root / "package.toml", *query_files(root), self.truth.path]
        reference = digest_of([(str(path.relative_to(root)), read_bounded(path, LARGEST)) for path in files])
        given = {"submission": self.inputs.submission, "human": self.inputs.human}
        digests = {name: digest_of([(p.name, read_bounded(p, LARGEST))]) for name, p in given.items() if p is not None}
        return {**digests, "reference": reference}


def _rows(machine: Mapping[Cell, Settled], human: Mapping[Cell, Settled], gold: Gold, names: Sequence[str]) -> Rows:
    counts = np.stack([counts_of(side, gold, names) for side in (machine, human)], axis=1)
    return document_rows(AnswerCounts(tuple(names), counts))


def _without_nobody(rows: Rows, human: Mapping[Cell, Settled]) -> Rows:
    """The rows; where no person answered anything, what people score is undefined, and not 0."""
    return rows if human else np.where([name.startswith("human_") for name in COLUMNS], np.nan, rows)


def _by_type(queries: Mapping[str, Query]) -> dict[str, list[str]]:
    types: dict[str, list[str]] = {}
    for name, query in queries.items():
        types.setdefault(query.type, []).append(name)
    return types


def open_reading(
    inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
) -> ReadingRun | None:
    """Open a package, and the answers of people if there are any."""
    if inputs.reference is None:
        raise SettingError("Answers are checked against a reading package: give its folder as --reference.")
    root = _root(inputs.reference, findings)
    truth = None if root is None else read_truth(root, settings, findings)
    if truth is None:
        return None
    human = read_answers(inputs.human, truth.known, findings, where="judgements") if inputs.human else ()
    tables = read_factor_tables(inputs.metadata, findings, ("document",))
    return ReadingRun(truth, inputs, settings, human, tables) if findings.valid else None


def _root(reference: Path, findings: Findings) -> Path | None:
    """The folder of a package; an archive, which is what servers keep, is unpacked until this process ends."""
    if not is_archive(reference):
        return reference
    scratch = Path(tempfile.mkdtemp(prefix="basanite-reading-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return package_root(reference, scratch, findings)


def _number(text: str) -> float:
    number = number_or_nan(text)
    if not 0 < number <= 100:
        raise ValueError("it must lie above 0 and up to 100")
    return number


def _kinds(text: str) -> tuple[str, ...]:
    return tuple(one_of(KINDS, name) for name in names_list(text))


def _credit(text: str) -> str:
    if text not in CREDITS:
        raise ValueError(f"it is not one of {', '.join(CREDITS)}")
    return text


TASK = Task(
    name="reading",
    summary="Machine reading: answers to formal queries about texts, against people on the same gold",
    citation=PAPER,
    unit="document",
    primary=PR.name,
    metrics=METRICS,
    open=open_reading,
    settings=(
        Setting("part", "The part of the corpus that is scored.", str, "test"),
        Setting("gold", "The version of the gold, like v1; without it the newest.", str, None),
        Setting("queries", "The queries that were asked, separated by commas; without it, all.", names_list, None),
        Setting(
            "types", "The types of queries that were asked, separated by commas; without it, all.", names_list, None
        ),
        Setting(
            "documents", "The documents that were asked about, separated by commas; without it, all.", names_list, None
        ),
        Setting(
            "kinds", "explicit, inferred or both: the gold that is scored against; without it, both.", _kinds, None
        ),
        Setting("phase", "The phase whose capabilities are in scope; without it everything is.", str, None),
        Setting("beta", "The weight of recall in F: 1 is the harmonic mean.", _number, 1.0),
        Setting(
            "credit", "Partial credit of an entity: share (missing aliases cost nothing) or dice.", _credit, "share"
        ),
    ),
    figures=reading_figures,
    compared_figures=compared_figures,
    answers=AnswerFormat(
        "One JSON object on each line: an answer to a query in a document, with its kind and the evidence for it.",
        example=(
            '{"query":"games","document":"nfl-101","answer":{"?G":["Bills v '
            'Dolphins"]},"kind":"explicit","provenance":[]}\n'
        ),
    ),
)
