"""DomainID and LangID: which documents belong to each domain, or are in each language."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.results import Analysis, Comparison, Value
from basanite.figures import Cell, Figure, Table
from basanite.formats.datasets.domains import shipped_domains
from basanite.formats.retrieval.detection_files import Answers
from basanite.formats.retrieval.detection_key import SUFFIX
from basanite.formats.retrieval.detection_lines import MATERIAL_DOCUMENT, Layout
from basanite.kernel import LevelRows, Scores, UnitRows
from basanite.metrics.retrieval.identification import COLUMNS, METRICS, X1_OF_TRUTH, outcomes
from basanite.problems import Findings, Problem
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.clir import pattern_text
from basanite.tasks.retrieval.decisions import PLAN, DetectionRun, Opening, open_run

TARGET = "target"
TITLES = {metric.name: metric.display_name for metric in METRICS}
COUNTS = ("x1", "x2", "x3", "x4")
BLOCKS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "Documents": (COUNTS, "Counts of hits, misses, false alarms and correct rejections."),
    "Percent of the relevant documents": (
        ("x1_of_truth", "x2_of_truth", "x3_of_truth", "x4_of_truth"),
        "Hits, misses, false alarms and correct rejections as percent of a perfect system's (section 5 of "
        "the plan); the last two may exceed 100.",
    ),
    "Percent of the own class": (
        ("hit", "miss", "false_alarm", "correct_rejection"),
        "Hits and misses as percent of the relevant documents, false alarms and correct rejections of all others "
        "(section 8.3.2 of the plan).",
    ),
}


def identification_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """One table for each way to count, a row for each target."""
    rows = [((target,), values) for target, values in analysis.breakdowns.get(TARGET, {}).items()]
    return tuple(_tables((TARGET,), rows))


def compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """The same tables with the systems side by side."""
    found = {system: analysis.breakdowns.get(TARGET, {}) for system, analysis in comparison.analyses.items()}
    targets = sorted({target for levels in found.values() for target in levels})
    rows = [
        ((target, system), found[system][target])
        for target in targets
        for system in comparison.systems
        if target in found[system]
    ]
    return tuple(_tables((TARGET, "System"), rows))


def _tables(first: tuple[str, ...], rows: Sequence[tuple[tuple[str, ...], Mapping[str, Value]]]) -> Iterator[Table]:
    for title, (names, note) in BLOCKS.items():
        shown = [(*place, *_cells(values, names)) for place, values in rows if all(name in values for name in names)]
        if shown:
            yield Table(title, (*first, *(TITLES[name] for name in names)), shown, note)


def _cells(values: Mapping[str, Value], names: tuple[str, ...]) -> Iterator[Cell]:
    """The values of one target; undefined is None, never 0."""
    for name in names:
        value = values[name].value
        yield None if math.isnan(value) else int(value) if name in COUNTS else value


CITATION = "IARPA MATERIAL evaluation plan v6.0.4 (2018), section 5"


class IdentificationRun(DetectionRun):
    """A submission of one file for each domain or language; every one is scored by itself (M19)."""

    task, target, naming, example = "langid", "language", "M35", "1A"
    settings: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.outcomes: dict[str, NDArray[np.float64]] = {}

    def count(self, target: str, truth: NDArray[np.bool_], answers: Answers) -> NDArray[np.float64]:
        """The outcome of every document."""
        return outcomes(truth, answers.returned)

    def keep(self, target: str, counted: NDArray[np.float64]) -> None:
        """Keep one target."""
        self.outcomes[target] = counted

    def scores(self, system: str) -> Scores:
        """The outcomes of every document for every target."""
        names = self.key.documents.texts()
        everything = np.arange(len(names))
        levels = {target: LevelRows(everything, rows) for target, rows in sorted(self.outcomes.items())}
        tables = [table for table in self.tables if table.subject == "document"]
        known = {name: table.column(name, names) for table in tables for name in table.levels}
        nothing = np.zeros((len(names), len(COLUMNS)))
        table = UnitRows("document", names, COLUMNS, nothing, levels={TARGET: levels}, attributes=known)
        return Scores(
            task=self.task,
            system=system,
            metrics=METRICS,
            tables=dict.fromkeys((metric.name for metric in METRICS), table),
            primary=X1_OF_TRUTH.name,
            settings=self.settings,
            digests={"submission": self.source.digest.value(), "reference": self.key.digest},
            notes=(
                "x1 to x4 are hits, misses, false alarms and correct rejections; *_of_truth is percent of the relevant "
                "documents and may exceed 100; hit, miss, false_alarm and correct_rejection are percent of their own "
                "class.",
                "Intervals are over documents.",
            ),
        )


class DomainRun(IdentificationRun):
    """DomainID: files are named by the codes of domains, and CS documents are left out."""

    task, target, naming, example = "domainid", "domain", "M34", "GOV"

    def nearest(self, target: str) -> str | None:
        """The code of the domain whose name a file has by mistake (M34, C14)."""
        codes = {name.casefold(): code for name, code in shipped_domains().codes.items()}
        code = codes.get(target.casefold(), target.upper())
        return code if code in self.key.queries else super().nearest(target)

    def close(self, findings: Findings) -> None:
        """Check the whole, and that every target is the code of a domain."""
        super().close(findings)
        known = shipped_domains().domains
        for code in self.key.queries:
            if code not in known:
                message, fix = f"{code} is not the code of a domain", f"use one of {', '.join(sorted(known))}"
                findings.add(Problem("M34", code + SUFFIX, None, None, message, fix, code, where="reference"))


def _open(
    make: type[IdentificationRun],
    inputs: Inputs,
    settings: Mapping[str, Any],
    findings: Findings,
    executor: Executor | None,
    barred: tuple[str, str] | None = None,
) -> IdentificationRun | None:
    layout = Layout(3, re.compile(settings["document_pattern"]), target=make.target, naming=make.naming)
    opening = Opening(replace(layout, example=make.example), barred=barred)
    run = open_run(make, inputs, opening, findings, executor)
    if run is not None:
        run.settings = {**settings, "plan": PLAN}
    return run


def open_domainid(
    inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
) -> IdentificationRun | None:
    """Open a DomainID run; documents of genre CS are no part of it (M34)."""
    return _open(DomainRun, inputs, settings, findings, executor, ("genre", "CS"))


def open_langid(
    inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
) -> IdentificationRun | None:
    """Open a LangID run, over all documents (M35)."""
    return _open(IdentificationRun, inputs, settings, findings, executor)


SETTINGS = (Setting("document_pattern", "A regular expression that matches DocIDs.", pattern_text, MATERIAL_DOCUMENT),)

DOMAINID = Task(
    name="domainid",
    summary="Domain identification: which documents belong to each domain",
    citation=CITATION,
    unit="document",
    primary=X1_OF_TRUTH.name,
    metrics=METRICS,
    open=open_domainid,
    settings=SETTINGS,
    figures=identification_figures,
    compared_figures=compared_figures,
    answers=AnswerFormat(
        "A .tgz archive with one file for each domain, called by its code. Each line has a document, Y "
        "or N, and a confidence from 0.0 to 1.0, separated by tabs.",
        example=(
            "MATERIAL_BASE-1A_00513944\tN\t0.05282\n"
            "MATERIAL_BASE-1A_01804104\tN\t0.06415\n"
            "MATERIAL_BASE-1A_02011242\tY\t0.98676\n"
        ),
        file="GOV.tsv",
        content="archive",
    ),
)
LANGID = Task(
    name="langid",
    summary="Language identification: which documents are in each language",
    citation=CITATION,
    unit="document",
    primary=X1_OF_TRUTH.name,
    metrics=METRICS,
    open=open_langid,
    settings=SETTINGS,
    figures=identification_figures,
    compared_figures=compared_figures,
    answers=AnswerFormat(
        "A .tgz archive with one file for each language, called by its code. Each line has a document, Y "
        "or N, and a confidence from 0.0 to 1.0, separated by tabs.",
        example=(
            "MATERIAL_BASE-1A_00313928\tY\t0.99286\n"
            "MATERIAL_BASE-1A_00513944\tY\t0.87481\n"
            "MATERIAL_BASE-1A_01804104\tY\t0.9703\n"
        ),
        file="1A.tsv",
        content="archive",
    ),
)
