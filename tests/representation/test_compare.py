"""Several sets side by side: mean and deviation over repeats, order against a proxy, warnings for different K."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from tests.representation.made import EXAMPLE, data

from basanite.errors import SettingError
from basanite.representation.comparison import PLAIN, compare_sets, read_proxy, sets_object, sets_report
from basanite.representation.data import read_data
from basanite.representation.measurement import Plan

PLAN = Plan.of(draws=60, names=["gap", "davies_bouldin", "rs", "point_biserial"], projection=None)


@pytest.fixture(scope="module")
def compared():
    sets = {name: read_data(EXAMPLE / f"{name}.npz") for name in ("seen", "faint", "turned", "unseen")}
    repeats = {"seen": [read_data(EXAMPLE / f"seen-changed-{number}.npz") for number in (1, 2, 3, 4, 5)]}
    return compare_sets(sets, PLAN, transformed=repeats, proxy=read_proxy(EXAMPLE / "proxy.csv"))


def test_values_with_transformations_are_mean_and_deviation_over_the_repeats(compared):
    from basanite.representation.measures.all_measures import measure

    seen = compared.sets[0]
    each = [read_data(EXAMPLE / f"seen-changed-{number}.npz") for number in (1, 2, 3, 4, 5)]
    values = [measure(one.features, one.classes, names=["ferm1"]).values["ferm1"].value for one in each]
    found = seen.changed["ferm1"]
    assert (found.mean, found.deviation, found.repeats) == (
        pytest.approx(np.mean(values)),
        pytest.approx(np.std(values, ddof=1)),
        5,
    )
    assert seen.change("ferm1") == pytest.approx(np.mean(values) - seen.values["ferm1"].value)
    assert not compared.sets[1].changed


def test_orders_are_held_against_the_proxy_with_low_measures_turned(compared):
    proxy = list(compared.proxy.values())
    for one in compared.agreements:
        if one.pipeline == PLAIN:
            sign = -1 if one.measure == "davies_bouldin" else 1
            values = [sign * found.values[one.measure].value for found in compared.sets]
            assert one.spearman == pytest.approx(spearmanr(values, proxy).statistic), one.measure
            assert one.kendall == pytest.approx(kendalltau(values, proxy).statistic), one.measure
            assert one.order[0] == compared.sets[int(np.argmax(values))].data.name


def test_the_well_represented_set_comes_first_as_in_the_paper(compared):
    orders = sets_object(compared)["orders"]
    assert all(orders[name][0] == "seen" for name in ("ferm1", "gap", "davies_bouldin", "rs"))


def test_different_numbers_of_classes_are_warned_of(compared):
    notes = " ".join(compared.notes)
    assert "rs changes with the number of classes alone; these data have 4 and 6 of them." in notes
    assert "ferm1 moves" not in notes
    alike = compare_sets({name: data(name=name) for name in "ab"}, PLAN)
    assert alike.notes == ()


def test_the_table_has_the_shape_of_the_papers(compared):
    table = sets_report(compared).sections[0].figures[0]
    assert table.columns == ("Measure", "Better", "seen", "seen, transformed", "faint", "turned", "unseen")
    assert " ± " in table.rows[0][3]
    assert {row[0]: row[1] for row in table.rows}["Davies–Bouldin index"] == "lower"


def test_sets_of_other_models_are_told_by_their_width():
    found = compare_sets({"a": data(name="a"), "b": data(name="b", dimensions=9)}, PLAN)
    assert any("different layers or models" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [("name,x\na,b\n", "name,number"), ("", "nothing"), ("a;1\n", "name,number")],
    ids=["words", "empty", "semicolons"],
)
def test_a_proxy_that_is_no_table_is_refused_with_the_cure(tmp_path, text, words):
    (tmp_path / "proxy.csv").write_text(text)
    with pytest.raises(SettingError, match=words):
        read_proxy(tmp_path / "proxy.csv")


def test_a_proxy_may_go_without_a_header_and_with_tabs(tmp_path):
    (tmp_path / "proxy.tsv").write_text("a\t0.5\nb\t1\n")
    assert read_proxy(tmp_path / "proxy.tsv") == {"a": 0.5, "b": 1.0}


def test_names_that_are_not_compared_are_answered_with_those_that_are():
    sets = {name: data(name=name) for name in "ab"}
    with pytest.raises(SettingError, match="There are a, b"):
        compare_sets(sets, PLAN, proxy={"c": 1.0})
    with pytest.raises(SettingError, match="at least two"):
        compare_sets({"a": data()}, PLAN)
