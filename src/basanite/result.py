"""What `score` and `compare` give back to Python: values by name, tables, plots, reports, and a short text (Y-2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from basanite.analysis.intervals import tables_of
from basanite.analysis.results import Analysis, Comparison, Difference, Ranking, Value
from basanite.analysis.unit_values import values_alone
from basanite.errors import UnknownNameError
from basanite.figures import Chart
from basanite.kernel import Metric, UnitRows
from basanite.registry import names, suggestion
from basanite.reports.analysis import analysis_report
from basanite.reports.comparison import comparison_report, verdict_in_words
from basanite.reports.notebook import ResultTable, html_summary, html_text, interval_text, summary_text
from basanite.reports.report import Report, write
from basanite.reports.unit_files import write_units
from basanite.reports.wording import plural, printable
from basanite.scoring import AnyPath, build_comparison_report, build_report, find_task

Row = Mapping[str, Any]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Plot:
    """One chart of a result; a notebook shows it."""

    chart: Chart

    @property
    def table(self) -> ResultTable:
        """The numbers that it draws."""
        data = self.chart.data
        return ResultTable(dict(zip(data.columns, row, strict=True)) for row in data.rows)

    @property
    def svg(self) -> str:
        """The chart as a still picture."""
        from basanite.reports import charts  # here, because the renderer is slow to load

        return charts.svg(self.chart)

    def save(self, path: AnyPath) -> None:
        """Write the picture as SVG."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        return f'<figure aria-label="{html_text(self.chart.summary)}">{self.svg}</figure>'

    def __repr__(self) -> str:
        return f"<Plot {self.chart.title!r}: {self.chart.summary}>"


class Reported:
    """What has a report: its charts by name, and the report as a file."""

    def _report(self) -> Report:
        raise NotImplementedError

    @property
    def plots(self) -> tuple[str, ...]:
        """The names of the charts that `plot` draws."""
        return tuple(_charts(self._report()))

    def plot(self, name: str) -> Plot:
        """One chart of the report by its title; case and a part are enough where they name one."""
        charts = _charts(self._report())
        near = [title for title in charts if str(name).casefold() in title.casefold()]
        exact = [title for title in near if title.casefold() == str(name).casefold()]
        found = exact or near
        if len(found) != 1:
            what = "No chart is called" if not found else f"{len(found)} charts have in their names"
            there = ", ".join(found or charts) or f"none; reports as {', '.join(names('outputs'))} have the tables"
            raise UnknownNameError(f"{what} {name!r}. There are: {there}.")
        return Plot(charts[found[0]])

    def report(self, path: AnyPath) -> Path:
        """Write the report: .html, .csv, .json, .tex, .txt, and .pptx and .parquet with their extras."""
        write(self._report(), Path(path))
        return Path(path)


@dataclass(frozen=True, repr=False)
class Result(Reported, Analysis):
    """Everything known about one system; `result["aqwv"]` is a value."""

    def __getitem__(self, name: str) -> Value:
        factors = ", ".join(self.breakdowns)
        first = next(iter(self.breakdowns), "")
        elsewhere = "" if self.values else f"It has values by {factors}: breakdown({first!r})."
        return _by_name(self.values, name, f"{self.scores.system} has no value", elsewhere)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def table(self) -> ResultTable:
        """All values, the primary one first."""
        primary = self.scores.primary
        order = sorted(self.values, key=lambda name: name != primary)
        return ResultTable(_value_row({"metric": name}, self.values[name]) for name in order)

    def breakdown(self, factor: str, metric: str | None = None) -> ResultTable:
        """The values by level of a factor: of all metrics, or of one."""
        levels = _by_name(self.breakdowns, factor, f"{self.scores.system} has no breakdown")
        rows = ((level, name, value) for level, values in levels.items() for name, value in values.items())
        kept = [
            _value_row({factor: level, "metric": name}, value) for level, name, value in rows if metric in (None, name)
        ]
        if not kept:
            known = sorted({name for values in levels.values() for name in values})
            raise UnknownNameError(f"{factor} has no values of {metric!r}. {suggestion(str(metric), known)}")
        return ResultTable(kept)

    def units(self, metric: str | None = None) -> ResultTable:
        """The value of each unit alone, with what is known of it; of a metric and all others with the same units."""
        tables = [(table, metrics) for table, metrics in tables_of(self.scores) if table.own is None]
        wanted = metric or self.scores.primary
        there = {one.name: (table, metrics) for table, metrics in tables for one in metrics if one.overall}
        if metric is None and wanted not in there and tables:
            return _unit_rows(*tables[0])
        return _unit_rows(*_by_name(there, wanted, f"{self.scores.system} has no values of single units of"))

    def save_units(self, path: AnyPath) -> Path:
        """Write the value of every unit as a table: .csv, .jsonl, .parquet, or .txt as `trec_eval -q` prints it."""
        write_units([self], Path(path))
        return Path(path)

    def _report(self) -> Report:
        task = self.scores.task
        return build_report(find_task(task), self) if task in names("tasks") else analysis_report(self)

    def __repr__(self) -> str:
        rows = [(_metric_label(row, self.scores.primary), interval_text(row)) for row in self.table()]
        return summary_text(self._title(), rows, ".table()", self._facts())

    def _repr_html_(self) -> str:
        metrics = {metric.name: metric for metric in self.scores.metrics}
        rows = [(_metric_label(row, self.scores.primary), metrics.get(row["metric"]), row) for row in self.table()]
        return html_summary(self._title(), rows, self._facts())

    def _title(self) -> str:
        scores, table = self.scores, self.scores.tables.get(self.scores.primary)
        size = f" · {plural(table.unit, len(table.units))}" if table is not None else ""
        return f"{printable(scores.system)} on {scores.task}{size}"

    def _facts(self) -> list[str]:
        design = self.design
        facts = [f"{100 * design.level:g}% CI, {plural('resample', design.draws)}, seed {design.seed}"]
        if self.breakdowns:
            facts.append(f"breakdowns: {', '.join(self.breakdowns)}")
        return [*facts, *([f"{plural('note', len(self.notes))}: .notes"] if self.notes else [])]


@dataclass(frozen=True, repr=False)
class ComparisonResult(Reported, Comparison):
    """Several systems and which of them differ; `comparison["Alpha"]` is the result of one."""

    def __getitem__(self, system: str) -> Result:
        return result_of(_by_name(self.analyses, system, "There is no system"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.systems)

    @property
    def primary(self) -> str:
        """The metric that ranks the systems: the headline where its systems were tested, else the first that was."""
        primary = next(iter(self.analyses.values())).scores.primary
        return primary if primary in self.rankings else next(iter(self.rankings), primary)

    def table(self, metric: str | None = None) -> ResultTable:
        """Every pair on one metric: difference, interval, p and verdict."""
        return ResultTable(_difference_row(one) for one in self._on(metric))

    def matrix(self, metric: str | None = None, cell: str = "difference") -> ResultTable:
        """Every system against every other: `difference` (row minus column), `p_adjusted`, `p` or `verdict`."""
        if cell not in CELLS:
            raise UnknownNameError(f"No matrix shows {cell!r}. {suggestion(cell, CELLS)}")
        pairs = {(one.first, one.second): one for one in self._on(metric)}
        order = self._ranking(metric).order
        return ResultTable(
            {"system": row, **{column: _crossing(pairs, row, column, cell) for column in order}} for row in order
        )

    def ranking(self, metric: str | None = None) -> ResultTable:
        """The systems best first: group, value with interval, and the ranks that remain possible."""
        found, name = self._ranking(metric), metric or self.primary
        group = {system: at for at, several in enumerate(found.groups, start=1) for system in several}
        return ResultTable(
            {
                "system": system,
                "group": group[system],
                "best_rank": found.rank_ranges[system][0],
                "worst_rank": found.rank_ranges[system][1],
                "may_be_best": system in found.not_worse_than_best,
                **_value_row({"metric": name}, self.analyses[system].values[name]),
            }
            for system in found.order
        )

    def save_units(self, path: AnyPath) -> Path:
        """Write the value of every unit of every system as a table: .csv, .jsonl or .parquet."""
        write_units(list(self.analyses.values()), Path(path))
        return Path(path)

    def _report(self) -> Report:
        task = self.task
        return build_comparison_report(find_task(task), self) if task in names("tasks") else comparison_report(self)

    def _on(self, metric: str | None) -> list[Difference]:
        self._ranking(metric)
        return [one for one in self.differences if one.metric == (metric or self.primary)]

    def _ranking(self, metric: str | None) -> Ranking:
        return _by_name(self.rankings, metric or self.primary, "No systems were tested on")

    def __repr__(self) -> str:
        if not self.rankings:
            return summary_text(self._title(), [], "", self._facts())
        rows = [(f"{row['group']}. {printable(row['system'])}", interval_text(row)) for row in self.ranking()]
        return summary_text(self._title(), rows, ".ranking()", self._facts())

    def _repr_html_(self) -> str:
        ranked = self.ranking() if self.rankings else ResultTable()
        metric = {one.name: one for analysis in self.analyses.values() for one in analysis.scores.metrics}
        rows = [(f"{row['group']}. {printable(row['system'])}", metric.get(self.primary), row) for row in ranked]
        return html_summary(self._title(), rows, self._facts())

    def _title(self) -> str:
        ranked = f", ranked by {self.primary}" if self.rankings else ""
        return f"{plural('system', len(self.systems))} on {self.task}{ranked}"

    def _facts(self) -> list[str]:
        won = sum(one.verdict in ("first", "second") for one in self.differences if one.metric == self.primary)
        pairs = len(self.systems) * (len(self.systems) - 1) // 2
        tested = f"{won} of {plural('pair', pairs)} significantly different"
        return [tested, *([f"{plural('note', len(self.notes))}: .notes"] if self.notes else [])]


CELLS: Final = ("difference", "p", "p_adjusted", "verdict")


def result_of(analysis: Analysis) -> Result:
    """The result of one system, for Python."""
    return analysis if isinstance(analysis, Result) else Result(**_contents(analysis))


def comparison_result_of(comparison: Comparison) -> ComparisonResult:
    """The result of a comparison, for Python."""
    return ComparisonResult(**_contents(comparison))


def _contents(found: Analysis | Comparison) -> dict[str, Any]:
    return {one.name: getattr(found, one.name) for one in fields(found)}


def _by_name(known: Mapping[str, Found], name: str, missing: str, instead: str = "") -> Found:
    if name not in known:
        raise UnknownNameError(f"{missing} {name!r}. {instead or suggestion(str(name), tuple(known))}")
    return known[name]


def _value_row(first: Row, value: Value) -> dict[str, Any]:
    numbers = {"value": _number_or_none(value.value), "low": value.low, "high": value.high}
    return {**first, **numbers, "units": value.units, "undefined": value.undefined, "flags": "; ".join(value.flags)}


def _difference_row(one: Difference) -> dict[str, Any]:
    numbers = {name: _number_or_none(getattr(one, name)) for name in ("difference", "low", "high", "p", "p_adjusted")}
    return {"first": one.first, "second": one.second, **numbers, "verdict": verdict_in_words(one), "note": one.note}


def _crossing(pairs: Mapping[tuple[str, str], Difference], row: str, column: str, cell: str) -> Any:
    """The cell of two systems: a difference changes sign with their order, p and verdict do not."""
    one = pairs.get((row, column)) or pairs.get((column, row))
    if one is None:
        return None
    if cell == "verdict":
        return verdict_in_words(one)
    found = _number_or_none(getattr(one, cell))
    return -found if found and cell == "difference" and (row, column) not in pairs else found


def _unit_rows(table: UnitRows, metrics: Sequence[Metric]) -> ResultTable:
    """Each unit with the value of every metric on it alone, its cluster and its levels."""
    overall = [metric for metric in metrics if metric.overall]
    columns: dict[str, Sequence[Any]] = {
        metric.name: [_number_or_none(value) for value in values_alone(metric, table.rows)] for metric in overall
    }
    known = {**table.attributes, **table.factors}
    columns |= {name: np.asarray(cells).tolist() for name, cells in known.items() if name not in columns}
    return ResultTable(
        {table.unit: unit, **{name: cells[at] for name, cells in columns.items()}}
        for at, unit in enumerate(table.units)
    )


def _number_or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _charts(report: Report) -> dict[str, Chart]:
    return {one.title: one for section in report.sections for one in section.figures if isinstance(one, Chart)}


def _metric_label(row: Row, primary: str) -> str:
    return f"{row['metric']} (primary)" if row["metric"] == primary else str(row["metric"])
