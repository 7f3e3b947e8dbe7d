"""The whole report of a result folder, for every output there is (H-26).

Learning curves, layers and what learners hold come from here as figures (H-25, H-31, H-36); what was evaluated and what
each task gave from the modules beside it.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from basanite.figures import Axis, Cell, Chart, Figure, Image, Table, Text
from basanite.harness.analysis.model import HarnessAnalysis, TaskAnalysis
from basanite.harness.report.background import closing_sections, facts, opening_sections
from basanite.harness.report.results import NAMES, direction, result_sections
from basanite.harness.report.states import ReportState
from basanite.harness.results import ResultFolder
from basanite.reports.report import Headline, Report, Section
from basanite.reports.wording import number

AXES = {"unlabelled": "share of unlabelled rows", "labelled": "share of the labels of each fold"}
QUANTITY = ("dimensions", "active", "dead", "zeros", "sparsity", "effective_rank")


def extra_sections(analysis: HarnessAnalysis) -> Iterator[Section]:
    """For each task with extras a section."""
    for name, found in analysis.extras.items():
        figures = tuple(_figures(analysis.tasks[name], found, analysis.teams))
        if figures:
            yield Section(f"Learning: {name}", "", figures)


def _figures(task: TaskAnalysis, found: Mapping[str, Any], teams: Mapping[str, str]) -> Iterator[Figure]:
    for axis in ("unlabelled", "labelled"):
        curves = found.get(f"{axis}_curves")
        if curves:
            yield _curve(task, axis, curves, teams)
            yield from _gaps(curves, teams)
    layers = found.get("layers", {})
    if layers:
        yield _layer_chart(task, layers, teams)
        yield _layer_table(layers, teams)
        yield _trained_table(layers, found.get("learners", {}), teams)
        yield Text("Layers that did not learn", tuple(_layers_without_gain(layers, found.get("learners", {}), teams)))
        yield _quantity_table(layers, teams)
        yield from _measures(layers, teams)
    yield from _invariance(found.get("learners", {}), teams)
    yield from _pictures(found.get("learners", {}), teams)


def _curve(task: TaskAnalysis, axis: str, curves: Mapping[str, Sequence[Any]], teams: Mapping[str, str]) -> Chart:
    rows = tuple(
        (teams[team], point["share"], point["rows"], point["value"], point["low"], point["high"])
        for team, points in curves.items()
        for point in points
        if point["value"] is not None
    )
    begin = " At 0 the learner keeps its random weights." if axis == "unlabelled" else ""
    return Chart(
        f"{task.task}: learning curve, {axis} rows",
        f"{NAMES[task.metric]} of condition 6 by the {AXES[axis]}, on one test set; {direction(task)}.{begin} "
        "Bands: 95% CI for new folds and test rows.",
        "line",
        Table(f"{task.task}: learning curve, {axis}", ("Team", "Share", "Rows", "Value", "Low", "High"), rows),
        Axis("Share", AXES[axis], percent=True, low=0.0, high=1.0),
        Axis("Value", NAMES[task.metric]),
        series="Team",
        low="Low",
        high="High",
    )


def _gaps(curves: Mapping[str, Sequence[Any]], teams: Mapping[str, str]) -> Iterator[Text]:
    lines = tuple(
        f"{teams[team]} at {point['share']:.0%}: {point['note']}"
        for team, points in curves.items()
        for point in points
        if point["value"] is None
    )
    if lines:
        yield Text("Points that are missing", lines)


def _layer_chart(task: TaskAnalysis, layers: Mapping[str, Sequence[Any]], teams: Mapping[str, str]) -> Chart:
    rows = tuple(
        (f"{teams[team]}, {label} {entry['layer']}", *_ends(entry[key]))
        for team, entries in layers.items()
        for key, label in (("single", "layer"), ("cumulative", "layers 1 to"))
        for entry in entries
    )
    return Chart(
        f"{task.task}: the linear classifier on each layer",
        f"{NAMES[task.metric]} on each layer alone and on the first ones together, with 95% CI; {direction(task)}.",
        "bars",
        Table(f"{task.task}: layers", ("Layer", "Value", "Low", "High"), rows),
        Axis("Value", NAMES[task.metric]),
        Axis("Layer", "layer", "category"),
        low="Low",
        high="High",
    )


def _layer_table(layers: Mapping[str, Sequence[Any]], teams: Mapping[str, str]) -> Table:
    columns = (
        "Team",
        "Layer",
        "Alone",
        "Gain over below",
        "Interval",
        "With those below",
        "Gain over fewer",
        "Its interval",
    )
    rows = tuple(
        (
            teams[team],
            entry["layer"],
            entry["single"]["value"],
            *_gain(entry["gain_single"]),
            entry["cumulative"]["value"],
            *_gain(entry["gain_cumulative"]),
        )
        for team, entries in layers.items()
        for entry in entries
    )
    note = "Gains are paired, with 95% CI; the first layer is compared with no learning (condition 4)."
    return Table("What each layer adds", columns, rows, note)


def _trained_table(layers: Mapping[str, Any], learners: Mapping[str, Any], teams: Mapping[str, str]) -> Table:
    columns = ("Team", "Layer", "Gain of training", "Low", "High", "Weights changed", "Codes changed")
    rows = []
    for team, entries in layers.items():
        looks = {one["layer"]: one for one in learners.get(team, {}).get("layers", ())}
        for entry in entries:
            look = looks.get(entry["layer"], {})
            changed = look.get("weights_changed"), look.get("codes_changed")
            rows.append((teams[team], entry["layer"], *_ends(entry.get("gain_of_training")), *changed))
    note = (
        "Each layer as trained against the same with random weights. Weights: length of the change over their length "
        "before. Codes: 1 minus their alignment with those before."
    )
    return Table("Learning in every layer", columns, tuple(rows), note)


def _layers_without_gain(
    layers: Mapping[str, Any], learners: Mapping[str, Any], teams: Mapping[str, str]
) -> Iterator[str]:
    """Layers whose weights stayed, or whose training does not help the classifier (H-31)."""
    named = 0
    for team, entries in layers.items():
        looks = {one["layer"]: one for one in learners.get(team, {}).get("layers", ())}
        for entry in entries:
            same = looks.get(entry["layer"], {}).get("weights_changed") == 0
            if same or entry.get("learned") is False:
                named += 1
                why = "its weights did not change" if same else "no gain over random weights is shown"
                yield f"{teams[team]}, layer {entry['layer']}: {why}."
            elif entry.get("gain_of_training") is None:
                named += 1
                yield f"{teams[team]}, layer {entry['layer']}: not known ({entry.get('note', 'not asked')})."
    if not named:
        yield "Every layer does better than the same with random weights."


def _quantity_table(layers: Mapping[str, Any], teams: Mapping[str, str]) -> Table:
    """The figures of the first split; others are in analysis.json."""
    rows: list[tuple[Cell, ...]] = []
    for team, entries in layers.items():
        for entry in entries:
            told = next(iter(entry["quantity"].values())) or {}
            rows.append((teams[team], entry["layer"], *(told.get(name) for name in QUANTITY)))
    columns = ("Team", "Layer", "Dimensions", "Active", "Dead", "Zeros", "Sparsity", "Effective rank")
    note = "Dead: the same for every row. Sparsity: 0 if all units are equally large, 1 if one carries all."
    return Table("How much each layer holds", columns, tuple(rows), note)


def _measures(layers: Mapping[str, Any], teams: Mapping[str, str]) -> Iterator[Table]:
    rows: list[tuple[Cell, ...]] = []
    names: list[str] = []
    for team, entries in layers.items():
        for entry in entries:
            told = next(iter(entry.get("measures", {}).values()), None)
            if told:
                names = list(told["values"])
                rows.append((f"{teams[team]} {entry['layer']}", *(told["values"][name] for name in names)))
    if rows:
        note = "Measured on test rows by their classes; see `basanite measure` for what each is."
        yield Table(
            "Measures of each layer's representation", ("Team and layer", *names), tuple(rows), note, detail=True
        )


def _invariance(learners: Mapping[str, Any], teams: Mapping[str, str]) -> Iterator[Figure]:
    rows = tuple(
        (teams[team], entry["layer"], entry["invariance"], entry["invariance_random"])
        for team, told in learners.items()
        for entry in told.get("layers", ())
    )
    if rows:
        columns = ("Team", "Layer", "Invariance", "With random weights")
        kinds = dict.fromkeys(told["transformation"] for told in learners.values() if "transformation" in told)
        note = (
            f"Transformation: {'; '.join(kinds)}. Local over global rate of firing, mean over the most invariant fifth "
            "of units; 1 is chance, 100 the most (the number of rows, where there are fewer)."
        )
        yield Table("Invariance of units", columns, rows, note)


def _pictures(learners: Mapping[str, Any], teams: Mapping[str, str]) -> Iterator[Image]:
    """What systems see, once for all teams, and what each has learned."""
    seen: set[str] = set()
    for team, told in learners.items():
        for picture in told.get("pictures", ()):
            if picture["png"] not in seen:
                seen.add(picture["png"])
                own = picture["title"].startswith("Filters")
                title = f"{teams[team]}: {picture['title']}" if own else picture["title"]
                words = picture["words"][:1].upper() + picture["words"][1:]
                yield Image(title, f"{words}.", "image/png", base64.b64decode(picture["png"]))


def _ends(entry: Mapping[str, float] | None) -> tuple[Cell, Cell, Cell]:
    return (None, None, None) if entry is None else (entry["value"], entry["low"], entry["high"])


def _gain(entry: Mapping[str, float] | None) -> tuple[Cell, Cell]:
    return (None, None) if entry is None else (entry["value"], f"{number(entry['low'])} to {number(entry['high'])}")


COLUMNS = ("task", "run", "condition", "team", "fold", "target", "metric", "value")


def harness_report(
    result: ResultFolder, analysis: HarnessAnalysis, state: ReportState | None = None, *, times: bool = False
) -> Report:
    """The report; `times` shows what steps took, which the plan leaves out unless somebody asks (H-25)."""
    told = state or ReportState()
    sections = (
        *opening_sections(result, analysis),
        *result_sections(analysis),
        *extra_sections(analysis),
        *closing_sections(result, analysis, told, times=times),
    )
    return Report(
        analysis.title,
        f"Evaluation report, {told.state}",
        sections,
        facts(result, analysis, told),
        {**analysis.as_dict(), "report": told.as_dict()},
        Table("Records", COLUMNS, tuple(_records(analysis))),
        tuple(_headlines(result, analysis)),
        tuple(_sentences(analysis, told)),
        analysis.flags,
    )


def _headlines(result: ResultFolder, analysis: HarnessAnalysis) -> Iterator[Headline]:
    """The full systems, where one axis holds them all: several metrics have no common one."""
    metrics = {task.metric for task in analysis.tasks.values()}
    for task in analysis.tasks.values() if len(metrics) == 1 else ():
        rows = len(result.truth(task.task, task.targets[0]))
        for run, standing in task.runs.items():
            if standing.values.condition in (0, 1, 6):
                yield _headline(task, run, analysis, rows)


def _headline(task: TaskAnalysis, run: str, analysis: HarnessAnalysis, rows: int) -> Headline:
    standing = task.runs[run]
    shared = "floor, learns nothing" if standing.values.condition == 0 else "strong shallow classifier"
    team, found = analysis.teams.get(standing.values.team, shared), standing.estimate
    low, high = (None, None) if math.isnan(found.error) else (found.low, found.high)
    best = "low" if task.best == "low" else "high"
    label = f"{task.task} {run}: {team}"
    return Headline(label, NAMES[task.metric], found.value, low, high, rows, "test row", 0.95, best)  # type: ignore[arg-type]


def _sentences(analysis: HarnessAnalysis, state: ReportState) -> Iterator[str]:
    """The headline claims first, then the others, then what limits them."""
    if state.state != "released":
        yield f"This report is not released: {state.state}."
    for task in analysis.tasks.values():
        for one in task.judgements:
            if one.claim.headline:
                verdict = one.contrast
                ends = f"; two-sided 95% CI {number(verdict.low)} to {number(verdict.high)}"
                yield (
                    f"{task.task}, {analysis.teams[verdict.team]}: claim “{one.claim.name}” ({verdict.first} against "
                    f"{verdict.second}) {verdict.state}: {verdict.finding}, gain {number(verdict.gain)} "
                    f"({verdict.reason}{'' if verdict.too_small else ends})."
                )
        yield from _others(task, analysis)
    yield from analysis.notes
    for task in analysis.tasks.values():
        gaps = [run for run, (ended, _) in task.states.items() if ended != "done"]
        if gaps:
            yield f"{task.task}: no result of {', '.join(gaps)}; the table of runs says why."


def _others(task: TaskAnalysis, analysis: HarnessAnalysis) -> Iterator[str]:
    """The claims that are no headlines, in a sentence each."""
    for claim in analysis.claims:
        found = [one.contrast for one in task.judgements if one.claim.name == claim.name and not claim.headline]
        if found:
            teams = ", ".join(
                f"{verdict.state} for {analysis.teams[verdict.team]} ({verdict.reason})" for verdict in found
            )
            yield f"{task.task}: claim “{claim.name}” ({claim.system} against {claim.against}) {teams}."


def _records(analysis: HarnessAnalysis) -> Iterator[tuple[Cell, ...]]:
    for task in analysis.tasks.values():
        for run, standing in task.runs.items():
            told = task.task, run, standing.values.condition, standing.values.team
            for fold, values in enumerate(standing.values.values, start=1):
                for target, value in zip(task.targets, values, strict=True):
                    yield (*told, fold, target, task.metric, None if value != value else float(value))
