"""The report of an evaluation: what must be in it, what bars say, and that HTML and slides come from it."""

import io

import pytest
from pptx import Presentation
from tests.harness.analysis.folders import folder

from basanite.figures import Chart, Image, Table, Text
from basanite.harness.analysis.run_analysis import READINGS, Options, analyse
from basanite.harness.report.report import harness_report
from basanite.harness.report.results import NO_SAMPLING, SPREAD
from basanite.harness.report.states import ReportState
from basanite.harness.results import ResultFolder, write_times
from basanite.reports.outputs.html import render as html
from basanite.reports.outputs.pptx import render as slides

FEW = Options(draws=120)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    result = folder(tmp_path_factory.mktemp("result"), gone=("5b",), signal={(6, "a"): 1.0}, names={"a": "Alpha"})
    state = ReportState().add_comment("a", "We used <b>other</b> noise.")
    return result, harness_report(result, analyse(result, FEW), state)


@pytest.fixture(scope="module")
def report(made):
    return made[1]


def figures(report, kind):
    return [figure for section in report.sections for figure in section.figures if isinstance(figure, kind)]


def titled(report, words, kind=Table):
    return next(figure for figure in figures(report, kind) if words in figure.title)


def test_the_report_has_every_part_of_an_evaluation_report(report):
    titles = [section.title for section in report.sections]
    for wanted in ("Claims", "Conditions", "Data", "Modules", "Metrics and protocol", "Results: video"):
        assert wanted in titles
    for wanted in ("Verdicts: video", "Ranking: video", "Deviations and iterations", "Logistics", "Appendix"):
        assert wanted in titles
    assert titled(report, "The six conditions", Image).content.startswith(b"\x89PNG")
    assert titled(report, "Claims and their tests").rows[0][0] == "central"


def test_each_task_has_the_three_graphs_of_the_plan(report):
    found = [chart for chart in figures(report, Chart) if "graph" in chart.title]
    assert [chart.title.partition(": ")[0] for chart in found] == [f"video, graph {number}" for number in (1, 2, 3)]
    assert len(found[0].data.rows) == 11 * 5 * 2  # the floor, ten runs that ended, five folds, two classes
    assert len(found[1].data.rows) == 11 * 5
    assert len(found[2].data.rows) == 11


def test_bars_say_what_they_are_and_what_they_are_not(report):
    second, third = (titled(report, f"graph {number}", Chart) for number in (2, 3))
    assert SPREAD == "spread over classes, not uncertainty"
    assert SPREAD in second.summary
    assert NO_SAMPLING == "test sampling not included"
    assert NO_SAMPLING in third.summary


def test_whether_bars_overlap_stands_only_beside_the_primary_interval(report):
    tables = [table for table in figures(report, Table) if "Bars overlap" in table.columns]
    assert len(tables) == 1
    assert {"Gain", "Low", "High"} <= set(tables[0].columns)
    at = tables[0].columns.index("Bars overlap")
    assert {row[at] for row in tables[0].rows} <= {"yes", "no"}


def test_verdicts_and_the_plans_reading_are_printed(report):
    rows = titled(report, "video: verdicts").rows
    assert {row[-1] for row in rows} <= {"supported", "not supported", "undecided"}
    page = html(report).decode()
    assert READINGS[4] in page
    assert any("for this one trained model" in table.note for table in figures(report, Table))


def test_a_run_without_a_result_is_in_the_table_with_its_reason(report):
    row = next(row for row in titled(report, "all runs").rows if row[0] == "5b")
    assert row[3] == "not provided: no learner"
    assert row[4] is None


def test_comments_and_the_state_are_in_the_report_and_nothing_a_team_wrote_becomes_markup(report):
    assert titled(report, "Comments of the teams").rows == (("Alpha", "team comments", "We used <b>other</b> noise."),)
    assert report.subtitle == "Evaluation report, team comments"
    assert b"<b>other</b>" not in html(report)
    assert report.sentences[0].startswith("This report is not released")


def test_slides_hold_the_graphs_verdicts_and_rankings(report):
    deck = list(Presentation(io.BytesIO(slides(report))).slides)
    titles = [slide.shapes.title.text for slide in deck[1:]]
    for wanted in ("graph 1", "graph 2", "graph 3", "video: verdicts", "video: ranking", "The six conditions"):
        assert any(wanted in title for title in titles), wanted
    third = next(slide for slide in deck[1:] if "graph 3" in slide.shapes.title.text)
    assert any(getattr(shape, "has_chart", False) for shape in third.shapes)
    for slide in deck:
        for shape in slide.shapes:
            if shape.shape_type == 13 or getattr(shape, "has_chart", False) or getattr(shape, "has_table", False):
                assert shape._element._nvXxPr.cNvPr.get("descr")


def test_times_and_memory_are_shown_only_when_asked_for(made):
    result, report = made
    write_times(result.path, [{"step": "learn x", "key": "k", "state": "done", "seconds": 2.5, "peak_bytes": 2**21}])
    assert not any("Time" in table.title for table in figures(report, Table))
    asked = harness_report(result, analyse(result, FEW), times=True)
    assert titled(asked, "Time and memory").rows == (("learn", 1, 2.5, 2.5, 2),)
    assert titled(asked, "Hardware")
    assert titled(report, "Software").rows


@pytest.mark.slow
def test_the_same_folder_gives_the_same_page_and_slides(made):
    result, report = made
    again = harness_report(result, analyse(result, FEW), ReportState().add_comment("a", "We used <b>other</b> noise."))
    assert html(again) == html(report)
    assert slides(again) == slides(report)


def test_every_value_is_in_the_records(report):
    assert report.records.columns[-1] == "value"
    assert len(report.records.rows) == 11 * 5 * 2


def test_dossiers_trained_systems_and_remarks_of_the_manifest_are_in_the_report(made):
    result, _ = made
    told = {
        **result.manifest,
        "dossiers": {"a/digits": {"folder": "alpha-dossier", "found": {"source": "…"}, "missing": {"pseudocode": "…"}}},
        "trained": [
            {
                "team": "a",
                "task": "digits",
                "split": "shared",
                "used": "always",
                "declared": {"seed": 3},
                "faults": ["x"],
            }
        ],
        "notes": ["labels are public: contamination not excluded"],
    }
    other = ResultFolder(result.path)
    other.__dict__["manifest"] = told
    shown = harness_report(other, analyse(result, FEW), ReportState())
    assert titled(shown, "Dossiers").rows[0] == ("a", "digits", "alpha-dossier", "source", "pseudocode")
    assert titled(shown, "trained by their team").rows[0][-2:] == ("seed = 3", "x")
    assert titled(shown, "Further notes", Text).paragraphs == tuple(told["notes"])
