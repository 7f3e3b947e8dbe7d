"""The report on a study: the paper's tables and figures, and which measure follows the proxies over models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from basanite import __version__
from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Table, Text
from basanite.reports.report import Facts, Report, Section, facts_table, sections_with_content
from basanite.reports.wording import enumeration, number, plural, true_minus
from basanite.representation.catalogue import measure_title
from basanite.representation.measures.all_measures import measured_families
from basanite.representation.measures.results import CHANGES_WITH_CLASSES, DIRECTIONS, Floats, number_or_none
from basanite.representation.rank_correlation import spearman_interval, spearman_rho
from basanite.representation.shift_curves import Shift, scale_to_unit
from basanite.representation.shift_report import curve_charts, judged_table, levels_table, shift_object
from basanite.representation.study.cells import Cell as Part
from basanite.representation.study.study_file import Study

FORMAT: Final = "basanite-study-result/1"
PROXIES: Final = {
    "ratio": "fixed over fine-tuned",
    "probe": "linear probe",
    "knn": "nearest neighbors",
    "tuned": "fine-tuned",
}
"""What each proxy is: the paper's ratio first."""
LEAST_MODELS: Final = 5
BEYOND: Final = 1.1
"""A ratio above this says that fine-tuning was too short, not that fixed features are better."""


@dataclass(frozen=True)
class Correlation:
    """How a measure follows a proxy over models: the mean over sets of Spearman's rho, turned so that 1 is good."""

    measure: str
    proxy: str
    by_set: Mapping[str, float]
    rho: float
    low: float
    high: float
    over_sets: float
    """Within each model over its sets, and the mean of that over models."""


@dataclass(frozen=True)
class StudyResult:
    """Everything that a study found."""

    study: Study
    cells: Mapping[tuple[str, str], Part]
    """By model and set."""
    shift: Shift

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order of the study."""
        return tuple(one.name for one in self.study.models)

    @property
    def sets(self) -> tuple[str, ...]:
        """The sets, the best represented one by the reference first, as the paper lists them."""
        ratios = {one.name: self._proxy(self.study.reference, one.name, "ratio") for one in self.study.data}
        return tuple(sorted(ratios, key=lambda name: -np.nan_to_num(ratios[name], nan=-1.0)))

    @property
    def measures(self) -> tuple[str, ...]:
        """What every model has on every set."""
        return tuple(name for name in DIRECTIONS if all(name in one["values"] for one in self.cells.values()))

    def _proxy(self, model: str, name: str, proxy: str) -> float:
        found = self.cells[model, name]["proxies"][proxy]
        return float("nan") if found is None else float(found)

    def proxies(self, proxy: str) -> Floats:
        """A proxy `[models, sets]`."""
        return np.array([[self._proxy(model, name, proxy) for name in self.sets] for model in self.models])

    def values(self, measure: str) -> Floats:
        """A measure `[models, sets]`, turned so that more is better."""
        sign = 1.0 if DIRECTIONS[measure] == "high" else -1.0
        table = [[self.cells[model, name]["values"][measure] for name in self.sets] for model in self.models]
        return np.asarray(sign * np.array(table, dtype=np.float64))

    def correlation(self, measure: str, proxy: str) -> Correlation:
        """How a measure follows a proxy; sets share their models, so the interval counts each model once."""
        values, known = self.values(measure), self.proxies(proxy)
        by_set = {name: spearman_rho(values[:, at], known[:, at]) for at, name in enumerate(self.sets)}
        defined = [one for one in by_set.values() if not np.isnan(one)]
        rho = float(np.mean(defined)) if defined else float("nan")
        within = [spearman_rho(values[at], known[at]) for at in range(len(self.models))]
        inside = [one for one in within if not np.isnan(one)]
        low, high = spearman_interval(rho, len(self.models))
        return Correlation(measure, proxy, by_set, rho, low, high, float(np.mean(inside)) if inside else float("nan"))

    def correlations(self) -> list[Correlation]:
        """Every measure against every proxy."""
        return [self.correlation(measure, proxy) for proxy in PROXIES for measure in self.measures]


def study_report(found: StudyResult) -> Report:
    """The report on a study, ready for any output."""
    study, known = found.study, found.correlations()
    facts: Facts = (
        ("Models", ", ".join(found.models)),
        ("Sets", ", ".join(found.sets)),
        ("Repeats with transformations", str(study.repeats)),
        ("Seed", str(study.seed)),
        ("Digest of the study", study.digest),
        ("Software", f"Basanite {__version__}"),
    )
    return Report(
        title=study.title,
        subtitle=f"{plural('model', len(found.models))} on {plural('data set', len(found.sets))}",
        sections=sections_with_content(
            Section("How well each set is represented", _proxy_lead(found), (proxy_table(found), proxy_chart(found))),
            Section("Measures by set", _tables_lead(found), tuple(measure_tables(found))),
            Section("Which measure follows the proxy", _CORRELATION_LEAD, tuple(correlation_figures(found, known))),
            Section("Models and training", "", tuple(model_charts(found))),
            Section("The shift", _shift_lead(found), (*curve_charts(found.shift), judged_table(found.shift))),
            Section("Levels of the shift", "", (levels_table(found.shift),), detail=True),
            Section("How this was computed", "", (_method(found), facts_table(facts)), detail=True),
        ),
        facts=facts,
        data=study_object(found, known),
        records=Table(
            "Values", ("model", "set", "measure", "value", "transformed", "deviation"), tuple(_records(found))
        ),
        sentences=tuple(_sentences(found, known)),
    )


_CORRELATION_LEAD: Final = (
    "Spearman's correlation of a measure with a proxy over the models of a set, and its mean over sets; 1 means that "
    "the measure orders models as the proxy does. Sets share their models, so the interval counts each model once."
)


def _proxy_lead(found: StudyResult) -> str:
    return (
        "What fixed features reach of what the fine-tuned model reaches: the paper's proxy for how well a set is "
        f"represented. By the reference model, {found.study.reference}."
    )


def _tables_lead(found: StudyResult) -> str:
    return (
        f"Features of {found.study.reference}. Transformed: mean ± deviation over "
        f"{plural('repeat', found.study.repeats)} with random flips, scaling, resizing and rotation. Sets stand in the "
        "order of the proxy."
    )


def _shift_lead(found: StudyResult) -> str:
    shift = found.shift
    return (
        f"Classes of {shift.target.name} are mixed into {shift.source.name} step by step. A measure that detects the "
        "shift goes from 1 steadily down to 0, or up if lower is better."
    )


def proxy_table(found: StudyResult) -> Table:
    """The sets with their proxies by the reference model."""
    rows = []
    for name in found.sets:
        cell = found.cells[found.study.reference, name]
        rows.append((name, cell["classes"], cell["rows"], *(number_or_none(cell["proxies"][one]) for one in PROXIES)))
    columns = ("Set", "Classes", "Rows", *(words[0].upper() + words[1:] for words in PROXIES.values()))
    return Table(
        "Proxies", columns, tuple(rows), "Accuracies on rows that nothing was trained on; the first is a ratio."
    )


def proxy_chart(found: StudyResult) -> Chart:
    """FERM 1, or the first measure, of every model on every set beside the ratio."""
    measure = "ferm1" if "ferm1" in found.measures else found.measures[0]
    rows = tuple(
        (
            name,
            number_or_none(found.cells[model, name]["proxies"]["ratio"]),
            found.cells[model, name]["values"][measure],
            model,
        )
        for name in found.sets
        for model in found.models
    )
    title = measure_title(measure)
    best, worst = found.sets[0], found.sets[-1]
    return Chart(
        title=f"{title} and the proxy",
        summary=f"Each point is a model on a set. {best} is represented best, {worst} worst.",
        kind="points",
        data=Table(f"{title} and the proxy", ("Set", "Proxy", "Value", "Model"), rows),
        x=Axis("Proxy", "fixed over fine-tuned accuracy"),
        y=Axis("Value", title),
        series="Set",
    )


def measure_tables(found: StudyResult) -> Iterator[Table]:
    """The paper's tables: a line for each measure, and for each set its value without and with transformations."""
    columns = ["Measure", "Better"]
    for name in found.sets:
        columns += [name, f"{name}, transformed"]
    for title, names in measured_families(found.measures):
        rows = tuple(
            (measure_title(one), {"high": "higher", "low": "lower"}[DIRECTIONS[one]], *_value_cells(found, one))
            for one in names
        )
        counts = {found.cells[found.study.reference, name]["classes"] for name in found.sets}
        moving = [measure_title(one) for one in names if one in CHANGES_WITH_CLASSES] if len(counts) > 1 else []
        note = (
            f"Sets have different numbers of classes, which alone move {enumeration(tuple(moving))}." if moving else ""
        )
        yield Table(title, tuple(columns), rows, note)


def _value_cells(found: StudyResult, measure: str) -> Iterator[Cell]:
    for name in found.sets:
        cell = found.cells[found.study.reference, name]
        yield number_or_none(cell["values"][measure])
        mean, deviation = cell["mean"][measure], cell["deviation"][measure]
        yield (
            "–"
            if mean is None
            else true_minus(f"{number(mean)} ± {number(deviation if deviation is not None else float('nan'))}")
        )


def correlation_figures(found: StudyResult, known: list[Correlation]) -> Iterator[Table | Chart]:
    """The correlations with the ratio as bars, and those with all proxies as a table."""
    shown = sorted((one for one in known if one.proxy == "ratio"), key=lambda one: -np.nan_to_num(one.rho, nan=-2.0))
    rows = tuple(
        (measure_title(one.measure), *map(number_or_none, (one.rho, one.low, one.high)), len(found.models))
        for one in shown
    )
    yield Chart(
        title="Correlation with the proxy over models",
        summary=f"{measure_title(shown[0].measure)} follows it most closely ({number(shown[0].rho)}).",
        kind="bars",
        data=Table("Correlation with the proxy over models", ("Measure", "Value", "Low", "High", "Models"), rows),
        x=Axis("Value", "Spearman's correlation", low=-1.0, high=1.0),
        y=Axis("Measure", "Measure", "category"),
        low="Low",
        high="High",
    )
    for proxy, words in PROXIES.items():
        mine = [one for one in known if one.proxy == proxy]
        columns = ("Measure", "Over models", "Low", "High", *found.sets, "Over sets")
        table = tuple(
            (
                measure_title(one.measure),
                *map(number_or_none, (one.rho, one.low, one.high)),
                *(number_or_none(one.by_set[name]) for name in found.sets),
                number_or_none(one.over_sets),
            )
            for one in mine
        )
        few = (
            f"With {plural('model', len(found.models))} there is no interval. "
            if len(found.models) < LEAST_MODELS
            else ""
        )
        note = few + "Over sets: within each model over its sets, then the mean over models."
        yield Table(f"Against the proxy: {words}", columns, table, note)


def model_charts(found: StudyResult) -> Iterator[Chart]:
    """Every measure over the models in their order: architectures, and states of their training."""
    for title, names in measured_families(found.measures):
        rows = []
        for one in names:
            at = found.sets.index(found.study.source)
            values = found.values(one)[:, at] * (1.0 if DIRECTIONS[one] == "high" else -1.0)
            for place, (model, scaled) in enumerate(zip(found.models, scale_to_unit(values), strict=True), 1):
                rows.append(
                    (measure_title(one), place, number_or_none(scaled), model, number_or_none(values[place - 1]))
                )
        yield Chart(
            title=f"{title} over the models, on {found.study.source}",
            summary=f"Scaled to 0..1. From 1 to {len(found.models)}: {', '.join(found.models)}.",
            kind="line",
            data=Table(title, ("Measure", "Model", "Scaled value", "Name", "Value"), tuple(rows)),
            x=Axis("Model", "model, in the order of the study"),
            y=Axis("Scaled value", "scaled value", low=0.0, high=1.0),
            series="Measure",
        )


def _method(found: StudyResult) -> Text:
    study = found.study
    return Text(
        "Method",
        (
            "Networks learn the training part of the source set. Probes and fine-tuning learn that of each set; "
            "accuracies and measures are those of the rest.",
            f"Fine-tuning trains all weights with a new linear head for {plural('epoch', study.tune_epochs)}. The "
            "linear probe is a logistic regression on standardized features; nearest neighbors are the five with the "
            "largest cosine.",
            f"OTCE moves at most {study.otce_rows} rows a side. LEEP and NCE use the head that networks were "
            "trained with.",
        ),
    )


def _sentences(found: StudyResult, known: list[Correlation]) -> Iterator[str]:
    ratios = [found.cells[found.study.reference, name]["proxies"]["ratio"] for name in found.sets]
    shown = ", ".join(
        f"{name} {number(ratio)}" for name, ratio in zip(found.sets, ratios, strict=True) if ratio is not None
    )
    yield f"Fixed features of {found.study.reference} reach of fine-tuned accuracy: {shown}."
    short = sorted(
        {name for name in found.sets if np.nanmax(found.proxies("ratio")[:, found.sets.index(name)]) > BEYOND}
    )
    if short:
        yield (
            f"On {enumeration(tuple(short))} some fine-tuned model stays behind its own fixed features: the proxy "
            "means little there. Train for more epochs (tune_epochs)."
        )
    best = [one for one in known if one.proxy == "ratio" and not np.isnan(one.rho)]
    if best and len(found.models) >= LEAST_MODELS:
        top = max(best, key=lambda one: one.rho)
        interval = f" (95% CI {number(top.low)} to {number(top.high)})" if np.isfinite(top.low) else ""
        yield (
            f"Over {plural('model', len(found.models))}, {measure_title(top.measure)} follows this proxy most closely: "
            f"Spearman {number(top.rho)}{interval}."
        )
    if "ferm1" in found.measures:
        one = found.correlation("ferm1", "ratio")
        yield f"FERM 1 has {number(one.rho)} over models, and {number(one.over_sets)} over sets within a model."
    steady = [
        measure_title(curve.name) for curve in found.shift.judged if not curve.wrong_steps and not np.isnan(curve.tau_b)
    ]
    if steady:
        yield f"In the shift, monotone at every level: {enumeration(tuple(steady))}."


def study_object(found: StudyResult, known: list[Correlation]) -> dict[str, Any]:
    """The object that `measure study --json` prints."""
    made: dict[str, Any] = plain_values(
        {
            "format": FORMAT,
            "task": "measure study",
            "title": found.study.title,
            "digest": found.study.digest,
            "reference": found.study.reference,
            "sets": list(found.sets),
            "models": list(found.models),
            "cells": {model: {name: found.cells[model, name] for name in found.sets} for model in found.models},
            "correlations": [{**vars(one), "by_set": dict(one.by_set)} for one in known],
            "shift": shift_object(found.shift),
        }
    )
    return made


def _records(found: StudyResult) -> Iterator[tuple[Cell, ...]]:
    for model in found.models:
        for name in found.sets:
            cell = found.cells[model, name]
            for one in found.measures:
                yield (model, name, one, *(number_or_none(cell[kind][one]) for kind in ("values", "mean", "deviation")))
            for proxy in PROXIES:
                yield (model, name, proxy, number_or_none(cell["proxies"][proxy]), None, None)
