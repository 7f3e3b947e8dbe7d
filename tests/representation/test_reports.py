"""Reports on representations: every output writes them, names of strangers stay data, and charts say what they show."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.representation.made import EXAMPLE, data, features

from basanite import registry
from basanite.figures import Axis, Chart, Table
from basanite.reports import chart_parts, charts, theme
from basanite.reports.report import write
from basanite.representation.comparison import compare_sets, sets_report
from basanite.representation.data import Data, read_data
from basanite.representation.measurement import Plan, run
from basanite.representation.measures.results import Classes
from basanite.representation.monitor import MonitorPlan, monitor
from basanite.representation.monitor_report import monitor_report
from basanite.representation.report import run_report, similarity_chart
from basanite.representation.shift import ShiftPlan
from basanite.representation.shift_curves import shift
from basanite.representation.shift_report import shift_report

HOSTILE = "=cmd|'/c calc'!A1</script><img src=x onerror=alert(1)>\u202e[bold red]"
OUTPUTS = registry.names("outputs")
PLAN = Plan.of(draws=30, names=["gap"], projection="pca")


def named(name, classes=4):
    table, labels = features(np.random.default_rng(0), classes=classes, rows=16)
    names = np.array([f"{HOSTILE}{label}" for label in labels], dtype=object)
    groups = np.where(np.arange(len(labels)) % 2, HOSTILE, "other")
    return Data(name, table, Classes.of(names), correct=np.ones(len(labels)), groups={HOSTILE: groups})


@pytest.fixture(scope="module")
def reports():
    hostile, other = named(HOSTILE), named("other")
    return {
        "run": run_report(run(hostile, PLAN)),
        "shift": shift_report(shift(hostile, other, ShiftPlan(names=("gap",), draws=3, repeats=2, steps=2))),
        "compare": sets_report(compare_sets({HOSTILE: hostile, "other": other}, PLAN)),
        "monitor": monitor_report(
            monitor(
                hostile, [named(HOSTILE)], MonitorPlan(names=("gap",), by="gap", draws=25, mix_draws=10), target=other
            )
        ),
    }


@pytest.mark.few(8)
@pytest.mark.parametrize("kind", ["run", "shift", "compare", "monitor"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_writes_every_report_and_strangers_names_stay_data(reports, kind, name, tmp_path):
    path = tmp_path / f"report.{name}"
    write(reports[kind], path)
    content = path.read_bytes()
    assert content
    if name in ("html", "json", "csv", "txt", "tex"):
        text = content.decode()
        assert "\u202e" not in text
        assert name != "html" or "<img src=x onerror" not in text
        assert name != "csv" or not any(cell.startswith("=") for row in csv.reader(text.splitlines()) for cell in row)


def test_the_data_of_every_report_is_json_of_our_own_format(reports):
    formats = {kind: report.data["format"] for kind, report in reports.items()}
    assert formats == {
        "run": "basanite-result/1",
        "shift": "basanite-shift/1",
        "compare": "basanite-representations/1",
        "monitor": "basanite-monitor/1",
    }
    for report in reports.values():
        json.dumps(report.data, allow_nan=False)


def test_the_report_on_a_run_has_a_map_bars_a_projection_and_the_worst_rows():
    made = read_data(EXAMPLE / "seen.npz")
    report = run_report(run(made, Plan.of(draws=30, names=["gap", "silhouette"], projection="pca")))
    figures = [figure for section in report.sections for figure in section.figures]
    kinds = [figure.kind for figure in figures if isinstance(figure, Chart)]
    assert {"heat", "points", "bars"} <= set(kinds)
    tables = [figure.title for figure in figures if isinstance(figure, Table)]
    assert {"Rows represented worst", "Differences between groups", "Accuracy and measures"} <= set(tables)
    assert report.headlines[0].metric == "FERM 1"


def test_the_map_of_similarities_holds_the_mean_cosine_of_every_two_classes():
    made = data(classes=3, rows=10)
    chart = similarity_chart(run(made, PLAN).measured)
    unit = made.features / np.linalg.norm(made.features, axis=1, keepdims=True)
    cosines, codes = unit @ unit.T, made.classes.codes
    for first, second, value in chart.data.rows:
        block = cosines[np.ix_(codes == int(first), codes == int(second))]
        pairs = block[~np.eye(len(block), dtype=bool)] if first == second else block
        assert value == pytest.approx(pairs.mean()), (first, second)
    assert "most similar classes" in chart.summary


def chart_of(values, columns=3):
    rows = tuple((f"r{at // columns}", f"c{at % columns}", value) for at, value in enumerate(values))
    return Chart(
        "Map", "A map.", "heat", Table("Map", ("y", "x", "v"), rows), Axis("x", "x", "category"),
        Axis("y", "y", "category"), shade="v",
    )  # fmt: skip


def test_a_heat_map_shades_from_the_least_to_the_largest_and_leaves_out_what_is_undefined():
    cells = chart_parts.cells_of(chart_of([0.0, 0.5, 1.0, None, float("nan"), 0.25]))
    strengths = [cell["strength"] for cell in cells]
    assert strengths[2] == 1.0
    assert strengths[0] == chart_parts.FAINTEST
    assert strengths[3:5] == [0.0, 0.0]
    assert strengths[0] < strengths[5] < strengths[1]
    assert [cell["label"] for cell in cells][3] == "–"


def test_a_heat_map_writes_numbers_only_where_there_is_room():
    few, many = chart_of([0.1] * 9), chart_of([float(at) for at in range(400)], columns=20)
    marks = [[layer["mark"]["type"] for layer in charts.vega_lite(chart)["layer"]] for chart in (few, many)]
    assert marks == [["rect", "text"], ["rect"]]
    assert chart_parts.height(many) == 20 * chart_parts.SMALL_CELL


def test_a_heat_map_is_drawn_as_a_still_picture_with_every_cell():
    drawn = charts.svg(chart_of([0.1, 0.9, 0.4, 0.7]), ink=theme.literal(theme.LIGHT))
    assert len(re.findall(r'<rect[^>]*fill="#c49a1f"', drawn)) >= 4
    assert charts.shape(chart_of([0.1])) == "heat"


def test_groups_without_a_class_in_common_are_said_to_be_beyond_comparison():
    made = data()
    halves = np.where(made.classes.codes < 2, "one", "other")
    report = run_report(run(replace(made, groups={"site": halves}), Plan(draws=50)))
    said = " ".join(report.sentences)
    assert "By site, groups cannot be compared" in said
    assert "no difference" not in said
