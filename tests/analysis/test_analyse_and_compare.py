"""One system analysed, several compared."""

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.samples import COST, F1, MEAN, counts, means, metric, names, scores

from basanite.analysis.comparison import compare, holm
from basanite.analysis.intervals import values
from basanite.analysis.paired import IncomparableError
from basanite.analysis.results import Design
from basanite.analysis.system import analyse, signature
from basanite.errors import SettingError, UnknownNameError

SHIFTS = {"A": 1.2, "B": 0.0, "C": 0.05, "D": -1.2}


def analysed(system, shift=0.0, *, metrics=(MEAN, COST, F1), **more):
    shared, own = np.random.default_rng(0), np.random.default_rng(ord(system))
    one = means(shared.normal(size=50) + shift + own.normal(size=50))
    tables = {"mean": one, "cost": one, "f1": counts(own, 50)}
    return analyse(scores(tables, system=system, metrics=metrics, **more), Design(), version="1.0")


@pytest.fixture(scope="module")
def systems():
    return [analysed(system, shift) for system, shift in SHIFTS.items()]


def test_an_analysis_holds_values_breakdowns_notes_and_a_signature():
    one = means(np.arange(30.0), factors={"kind": np.array(["a", "b", ""] * 10)})
    made = scores({"mean": one}, settings={"beta": 40.0, "forms": ["x", "y"], "strict": True}, notes=("a note",))
    found = analyse(made, Design(), version="1.2.3")
    assert found.values == values(made, Design())
    assert set(found.breakdowns["kind"]) == {"a", "b"}
    assert found.notes == (
        "a note",
        "kind: not known for 10 of 30 units (unit), left out there",
        "units treated as independent",
    )
    assert found.signature == (
        "basanite:1.2.3|task:toy|beta:40|draws:1000|forms:x,y|interval:metric|level:0.95|seed:0|strict:yes"
    )


def test_units_are_called_independent_only_without_clusters():
    clustered = means(np.arange(30.0), clusters=np.arange(30) // 2)
    assert analyse(scores({"mean": clustered}), Design(), version="1").notes == ()


def test_a_setting_cannot_pass_for_two():
    made = scores({"mean": means([1.0])}, settings={"name": "x|seed:9"})
    assert "name:x/seed:9" in signature(made, Design(), version="1")


def test_an_unknown_method_is_refused_by_name():
    with pytest.raises(SettingError, match="No interval is called 'normal': use metric or percentile or bca"):
        analyse(scores({"mean": means([1.0])}), Design(interval="normal"), version="1")


def test_all_pairs_are_compared_adjusted_and_ranked(systems):
    found = compare(systems, ["mean"], Design())
    assert found.systems == ("A", "B", "C", "D")
    assert (found.family_size, found.draws, len(found.differences)) == (6, 10_000, 6)
    assert [one.p_adjusted for one in found.differences] == holm([one.p for one in found.differences])
    assert found.rankings["mean"].groups[0] == ("A",)
    assert found.rankings["mean"].groups[-1] == ("D",)
    assert set(found.rankings["mean"].groups[1]) == {"B", "C"}
    assert found.rankings["mean"].rank_ranges["D"] == (4, 4)


def test_a_metric_whose_best_is_low_is_ranked_the_other_way(systems):
    found = compare(systems, ["mean", "cost"], Design())
    assert found.rankings["cost"].groups == tuple(
        tuple(reversed(group)) for group in reversed(found.rankings["mean"].groups)
    )


def test_without_names_all_shared_metrics_are_compared(systems):
    found = compare(systems[:2], None, Design())
    assert [one.metric for one in found.differences] == ["mean", "cost", "f1"]


def test_romano_wolf_finds_the_same_clear_winners(systems):
    found = compare(systems, ["mean", "f1"], Design(adjustment="romano-wolf"))
    assert found.rankings["mean"].groups[0] == ("A",)
    assert all(one.p <= one.p_adjusted <= 1 for one in found.differences)
    plain = compare(systems, ["mean", "f1"], Design())
    holm_p = [one.p_adjusted for one in plain.differences]
    assert sum(one.p_adjusted for one in found.differences) < sum(holm_p)


def test_identical_and_undefined_systems_are_compared_without_harm(systems):
    twin = replace(systems[0], scores=replace(systems[0].scores, system="twin"))
    nothing = {"mean": means(np.zeros(50)), "cost": means(np.zeros(50)), "f1": counts(np.random.default_rng(1), 50)}
    nothing["f1"].rows[:] = 0
    empty = analyse(scores(nothing, system="empty", metrics=(MEAN, COST, F1)), Design(), version="1.0")
    for adjustment in ("holm", "romano-wolf"):
        found = compare([systems[0], twin, empty], ["f1", "mean"], Design(adjustment=adjustment))
        verdicts = {(one.metric, one.first, one.second): one.verdict for one in found.differences}
        assert verdicts["mean", "A", "twin"] == "identical"
        assert verdicts["f1", "A", "empty"] == "undefined"
        assert found.rankings["f1"].order[-1] == "empty"


def test_results_made_by_other_rules_are_refused(systems):
    other = analysed("E", settings={"beta": 20.0})
    with pytest.raises(IncomparableError, match=r"were scored differently.*score both with the same version"):
        compare([systems[0], other], None, Design())


def test_results_against_another_reference_are_refused(systems):
    other = replace(systems[1], scores=replace(systems[1].scores, digests={"reference": "sha256:1"}))
    with pytest.raises(IncomparableError, match="sha256:1"):
        compare([systems[0], other], None, Design())


def test_one_system_or_two_of_one_name_are_refused(systems):
    with pytest.raises(IncomparableError, match="at least two"):
        compare(systems[:1], None, Design())
    with pytest.raises(IncomparableError, match="same name"):
        compare([systems[0], systems[0]], None, Design())


def test_a_metric_that_not_all_have_is_refused_by_name(systems):
    with pytest.raises(UnknownNameError, match="bleu"):
        compare(systems, ["bleu"], Design())


def test_a_metric_with_settings_from_the_submission_is_left_out_and_said_so(systems):
    gridded = metric("f1", lambda sums, grid: F1.reduce(sums), F1.columns)
    first, second = (
        replace(each, scores=replace(each.scores, metrics=(MEAN, replace(gridded, settings={"grid": np.arange(size)}))))
        for each, size in zip(systems[:2], (3, 4), strict=True)
    )
    found = compare([first, second], None, Design())
    assert [one.metric for one in found.differences] == ["mean"]
    assert found.notes[-1] == "not compared, because the systems have different kinds of rows: f1"
    asked = compare([first, second], ["mean", "f1"], Design())
    assert [one.metric for one in asked.differences] == ["mean"]
    assert asked.notes[-1] == found.notes[-1]


def test_systems_with_other_units_are_refused(systems):
    tables = {
        name: replace(one, units=tuple(f"x{unit}" for unit in names(50)))
        for name, one in systems[1].scores.tables.items()
    }
    other = replace(systems[1], scores=replace(systems[1].scores, tables=tables))
    with pytest.raises(IncomparableError, match="in one of them only"):
        compare([systems[0], other], None, Design())
