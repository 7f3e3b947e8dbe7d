"""What `basanite harness analyse`, `compare` and `report` say of result folders whose truth is planted."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from pptx import Presentation
from scipy import stats
from tests.cli.running import here
from tests.harness.analysis.folders import folder

CLAIMS = {"central": "3", "comparable": "1", "learns": "4", "depth": "5"}


def analysed(path, *words):
    ended = here("harness", "analyse", path, "--draws", "200", "--json", *words)
    assert ended.code == 0, ended.stderr
    return ended.data


def task_of(path):
    return analysed(path)["tasks"]["video"]


def verdicts(path):
    return {(one["claim"], one["team"]): one for one in task_of(path)["verdicts"]}


def scores_of(path):
    lines = (json.loads(line) for line in (path / "scores.jsonl").read_text("utf-8").splitlines())
    return {(one["run"], one["fold"], one["target"]): one["value"] for one in lines}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Two teams, three classes, five folds; a run that was not provided."""
    path = tmp_path_factory.mktemp("planted") / "result"
    folder(path, targets=("run", "sit", "eat"), gone=("5b",), signal={(6, "a"): 1.0}, names={"a": "Alpha", "b": "Beta"})
    return path


@pytest.fixture(scope="module")
def told(planted):
    return task_of(planted)


@pytest.mark.req("A1", "H-24")
def test_four_named_contrasts_are_tested_for_each_team_and_two_are_headlines(told, planted):
    found = {(one["claim"], one["team"]): one for one in told["verdicts"]}
    wanted = {(claim, team) for claim in CLAIMS for team in "ab"} - {("depth", "b")}  # 5b was not provided
    assert set(found) == wanted
    for (claim, team), one in found.items():
        other = CLAIMS[claim] + (team if claim != "comparable" else "")
        assert (one["first"], one["second"]) == (f"6{team}", other)
        assert one["hypothesis"] == ("not inferior" if claim == "comparable" else "superior")
        assert one["headline"] is (claim in ("central", "comparable"))
    sentences = {claim["name"]: claim["sentence"] for claim in analysed(planted)["claims"]}
    assert set(sentences) == set(CLAIMS)
    assert len(set(sentences.values())) == 4


@pytest.mark.req("A2", "H-24")
@pytest.mark.parametrize("metric", ["map11", "mrmse"])
def test_planted_differences_get_their_verdicts(metric, tmp_path):
    folder(tmp_path / "result", metric=metric, rows=500, signal={(6, "b"): 0.9}, margin=0.1)
    found = verdicts(tmp_path / "result")
    assert (found["central", "a"]["finding"], found["central", "a"]["state"]) == ("better", "supported")
    assert (found["comparable", "a"]["finding"], found["comparable", "a"]["state"]) == ("comparable", "supported")
    assert (found["central", "b"]["finding"], found["central", "b"]["state"]) == ("outperformed", "not supported")
    assert found["comparable", "b"]["state"] == "not supported"
    assert {one["margin"] for (claim, _), one in found.items() if claim == "comparable"} == {0.1}


@pytest.mark.req("A2")
def test_too_few_rows_are_inconclusive_and_without_a_margin_nothing_is_comparable(tmp_path):
    folder(tmp_path / "few", rows=60, margin=0.01)
    few = verdicts(tmp_path / "few")
    assert (few["comparable", "a"]["finding"], few["comparable", "a"]["state"]) == ("inconclusive", "undecided")
    folder(tmp_path / "none", rows=500, margin=None)
    none = task_of(tmp_path / "none")
    open_ = [one for one in none["verdicts"] if one["claim"] == "comparable"]
    assert {one["state"] for one in open_} == {"undecided"}
    assert "comparable" not in {one["finding"] for one in open_}
    assert any("margin" in note for note in none["notes"])


@pytest.mark.req("S-29")
def test_the_one_sided_bound_behind_a_verdict_stands_beside_it(tmp_path):
    path = tmp_path / "result"
    folder(path, rows=120, signal={(6, "a"): 1.05}, margin=0.02)
    found = verdicts(path)
    central = found["central", "a"]
    assert central["finding"] == "outperformed"
    assert central["low"] < 0 < central["high"], "the two-sided interval alone would contradict the verdict"
    for one in found.values():
        lower, upper = one["bounds"]["lower"], one["bounds"]["upper"]
        assert one["low"] < lower < upper < one["high"]
        assert ("outperformed" in one["finding"]) == (upper < 0)
        assert f"{upper if 'outperformed' in one['finding'] else lower:.4f}" in one["reason"]
    printed = " ".join(here("harness", "analyse", path, "--draws", "200").stdout.split())
    bound = f"one-sided 95% upper bound {central['bounds']['upper']:.4f} is below 0"
    assert f"outperformed, gain {central['gain']:.4f} ({bound}; two-sided 95% CI" in printed
    assert printed.count("first minus second") <= 1


@pytest.mark.req("S-29")
@pytest.mark.parametrize("alpha", [0.01, 0.2])
def test_the_bound_beside_a_verdict_has_the_level_that_the_plan_declares(alpha, tmp_path):
    def edit(manifest):
        manifest["plan"]["analysis"] = {"alpha": alpha}
        return manifest

    folder(tmp_path, rows=120, signal={(6, "a"): 1.05}, margin=0.02, edit=edit)
    for one in verdicts(tmp_path).values():
        width = stats.t.ppf(1 - alpha, one["degrees_of_freedom"]) * one["standard_error"]
        assert one["bounds"]["lower"] == pytest.approx(one["gain"] - width)
        assert one["bounds"]["upper"] == pytest.approx(one["gain"] + width)
        assert f"one-sided {100 - 100 * alpha:g}%" in one["reason"]
        if one["state"] == "supported":
            assert one["bounds"]["lower"] > -(one["margin"] or 0)
        assert ("outperformed" in one["finding"]) == (one["bounds"]["upper"] < 0)


@pytest.mark.req("H-24")
def test_where_six_fails_against_four_or_five_the_plans_reading_is_printed(planted, report):
    found = verdicts(planted)
    assert found["learns", "a"]["state"] != "supported"
    assert found["learns", "a"]["reading"]
    assert found["depth", "a"]["reading"]
    assert found["learns", "a"]["reading"] != found["depth", "a"]["reading"]
    assert found["learns", "b"]["reading"] == found["central", "a"]["reading"] == ""
    assert found["learns", "a"]["reading"] in report[0]


@pytest.mark.req("H-22")
def test_every_value_is_kept_and_errors_are_across_classes_for_a_fold_and_across_folds_for_the_mean(planted, told):
    values = scores_of(planted)
    targets = told["targets"]
    for run, one in told["runs"].items():
        table = np.array([[values[run, fold, name] for name in targets] for fold in range(1, 6)])
        means = table.mean(axis=1)
        for fold, entry in enumerate(one["by_fold"]):
            assert entry["value"] == pytest.approx(means[fold])
            assert entry["standard_error_over_targets"] == pytest.approx(table[fold].std(ddof=1) / 3**0.5)
        for at, name in enumerate(targets):
            assert one["by_target"][name]["value"] == pytest.approx(table[:, at].mean())
            assert one["by_target"][name]["standard_error_over_folds"] == pytest.approx(stats.sem(table[:, at]))
        assert one["value"] == pytest.approx(means.mean())
        assert one["standard_error_over_folds"] == pytest.approx(stats.sem(means))


@pytest.mark.req("A3", "H-22")
def test_the_plans_view_is_a_paired_t_sign_flips_and_bars_beside_the_interval(planted, told):
    values, targets = scores_of(planted), told["targets"]

    def by_fold(run):
        return np.array([np.mean([values[run, fold, name] for name in targets]) for fold in range(1, 6)])

    for one in told["verdicts"]:
        first, second = by_fold(one["first"]), by_fold(one["second"])
        gaps = first - second
        assert one["gain"] == pytest.approx(gaps.mean())
        flips = [abs(np.dot(s, gaps)) >= abs(gaps.sum()) - 1e-12 for s in itertools.product((1, -1), repeat=5)]
        assert one["plan_view"]["paired_t_p"] == pytest.approx(stats.ttest_rel(first, second).pvalue)
        assert one["plan_view"]["sign_flip_p"] == pytest.approx(np.mean(flips))
        near = abs(gaps.mean()) <= stats.sem(first) + stats.sem(second)
        assert one["plan_view"]["bars_overlap"] is bool(near)


@pytest.mark.req("A3")
def test_a_verdict_comes_from_the_interval_and_never_from_bars_or_folds(tmp_path):
    folder(tmp_path / "result", rows=60, signal={(6, "a"): 1.35})
    one = verdicts(tmp_path / "result")["central", "a"]
    assert one["plan_view"]["paired_t_p"] < 0.05  # folds alone would have called it better
    assert (one["low"] < 0 < one["high"], one["state"]) == (True, "undecided")


@pytest.fixture(scope="module")
def report(planted, tmp_path_factory):
    """The report as page and slides."""
    out = tmp_path_factory.mktemp("report")
    ended = here("harness", "report", planted, "--draws", "100", "--html", out / "r.html", "--pptx", out / "r.pptx")
    assert ended.code == 0, ended.stderr
    return (out / "r.html").read_text("utf-8"), list(Presentation(out / "r.pptx").slides)


@pytest.mark.req("H-22")
def test_each_task_has_the_three_graphs_of_the_plan_on_slides(report):
    graphs = {}
    for slide in report[1]:
        title = slide.shapes.title.text if slide.shapes.title is not None else ""
        charts = [shape.chart for shape in slide.shapes if getattr(shape, "has_chart", False)]
        for number in (1, 2, 3):
            if f"graph {number}" in title:
                graphs.setdefault(number, []).extend(charts)
    assert set(graphs) == {1, 2, 3}
    points = [value for plot in graphs[3][0].plots for series in plot.series for value in series.values]
    assert len([value for value in points if value is not None]) == 11  # the floor, and ten runs that ended


@pytest.mark.req("A3")
def test_bars_say_what_they_are_and_what_they_are_not(report):
    page = report[0]
    assert "spread over classes, not uncertainty" in page
    assert "test sampling not included" in page
    assert "Bars overlap" in page


@pytest.mark.req("H-23")
def test_teams_are_ranked_by_task_and_metric_with_what_is_significant(tmp_path):
    folder(tmp_path / "clear", signal={(6, "b"): 3.5})
    clear = task_of(tmp_path / "clear")
    top = clear["rankings"][0]
    assert (top["condition"], top["order"], top["rank_ranges"]) == (6, ["b", "a"], {"b": [1, 1], "a": [2, 2]})
    assert {one["metric"] for one in clear["rankings"] if one["condition"] == 6} == {"map11", "map"}
    assert top["pairs"][0]["p_adjusted"] < 0.05
    folder(tmp_path / "close", rows=60, signal={(6, "b"): 2.02})
    close = task_of(tmp_path / "close")["rankings"][0]
    assert close["rank_ranges"] == {"a": [1, 2], "b": [1, 2]}
    page = tmp_path / "report.html"
    assert here("harness", "report", tmp_path / "close", "--draws", "100", "--html", page).code == 0
    assert "no difference is significant" in page.read_text("utf-8")


@pytest.mark.req("H-23")
def test_with_ratings_the_lowest_is_first_and_no_ranking_goes_over_tasks(tmp_path):
    folder(tmp_path / "result", metric="mrmse", signal={(6, "b"): 4.0})
    found = analysed(tmp_path / "result")
    top = found["tasks"]["video"]["rankings"][0]
    assert (top["best"], top["order"]) == ("low", ["b", "a"])
    assert top["values"]["b"] < top["values"]["a"]
    assert "rankings" not in found


@pytest.mark.req("A35")
def test_runs_that_are_missing_leave_gaps_in_ranks_graphs_and_verdicts(tmp_path):
    folder(tmp_path / "result", gone=("6b", "5b"))
    found = task_of(tmp_path / "result")
    assert "6b" not in found["runs"]
    assert found["states"]["6b"] == {"state": "not provided", "reason": "no learner"}
    assert found["rankings"][0]["missing"] == {"b": "not provided: no learner"}
    assert {one["team"] for one in found["verdicts"]} == {"a"}
    assert here("harness", "report", tmp_path / "result", "--draws", "100", "--html", tmp_path / "r.html").code == 0


def move(path, gap, run="6a"):
    """Move every value of one run."""
    lines = [json.loads(line) for line in (path / "scores.jsonl").read_text("utf-8").splitlines()]
    changed = [{**line, "value": line["value"] + gap * (line["run"] == run)} for line in lines]
    (path / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed), encoding="utf-8")


def compared(tmp_path, *words):
    return here("harness", "compare", tmp_path / "one", tmp_path / "two", "--json", *words)


@pytest.mark.req("A44")
def test_a_run_beyond_the_tolerance_is_listed_and_folds_excuse_nothing(tmp_path):
    folder(tmp_path / "one")
    folder(tmp_path / "two")
    same = compared(tmp_path)
    assert (same.code, same.data["agree"], same.data["beyond"]) == (0, True, [])
    move(tmp_path / "two", 2e-6)
    small = compared(tmp_path)
    assert (small.code, small.data["beyond"]) == (1, ["video/6a"])
    assert compared(tmp_path, "--tolerance", "1e-5").code == 0
    move(tmp_path / "two", 0.001)  # far below what folds vary by
    assert compared(tmp_path).data["beyond"] == ["video/6a"]


@pytest.mark.req("A44")
def test_with_several_seeds_sites_may_differ_by_what_seeds_do_and_manifests_are_compared(tmp_path):
    def edit(manifest):
        manifest["software"]["numpy"] = "1"
        return manifest

    given = {"replications": 3, "noise_of_seeds": 0.3}
    folder(tmp_path / "one", **given)
    folder(tmp_path / "two", edit=edit, **given)
    move(tmp_path / "two", 0.001)
    found = compared(tmp_path)
    assert (found.code, found.data["beyond"]) == (0, [])
    assert "software.numpy" in found.stdout
    move(tmp_path / "two", 0.5)
    assert compared(tmp_path).data["beyond"] == ["video/6a"]
