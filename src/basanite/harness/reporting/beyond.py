"""Learning curves, layers and what learners hold, as figures (H-25, H-31, H-36)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from basanite.figures import Axis, Cell, Chart, Figure, Image, Table, Text
from basanite.harness.analysis.model import HarnessAnalysis, TaskAnalysis
from basanite.harness.reporting.graphs import NAMES, direction
from basanite.reports.model import Section
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
        yield Text("Layers that did not learn", tuple(_unlearned(layers, found.get("learners", {}), teams)))
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
        "Bands: 95 % intervals for new folds and test rows.",
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
        f"{NAMES[task.metric]} on each layer alone and on the first ones together, with 95 % intervals; "
        f"{direction(task)}.",
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
    note = "Gains are paired, with 95 % intervals; the first layer is held against no learning (condition 4)."
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
        "before. Codes: 1 less their alignment with those before."
    )
    return Table("Learning in every layer", columns, tuple(rows), note)


def _unlearned(layers: Mapping[str, Any], learners: Mapping[str, Any], teams: Mapping[str, str]) -> Iterator[str]:
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
