"""The query weighted values: against brute force with fractions, and at their landmarks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.detections import block, exactly, tables

from basanite.metrics.retrieval.query_value import COLUMNS, counts, rates, values

FORMS = ("aqwv", "aqwv_all", "aqwv_relevant")


def same(found, wanted):
    return pytest.approx(wanted, abs=1e-12, nan_ok=True) == found


@pytest.mark.req("M01", "M02", "M05", "M06", "M07", "M10", "C04", "C06", case="good")
@given(tables(), st.sampled_from([0, 0.5, 20, 40]))
@settings(max_examples=60, deadline=None)
def test_values_are_those_of_brute_force_with_fractions(case, beta):
    relevant, returned, _ = case
    found, wanted = values(relevant, returned, beta=beta), exactly(*case, beta=beta)
    assert {name: same(found[name], wanted[name]) for name in found} == dict.fromkeys(found, True)
    assert set(found) == {*FORMS, "pmiss", "pfa", "adwv"}


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_scores_do_not_touch_the_values_of_decisions(case, seed):
    relevant, returned, score = case
    other = np.random.default_rng(seed).permuted(score)
    assert np.array_equal(rates(block(relevant, returned, score)), rates(block(relevant, returned, other)))


@given(tables())
@settings(max_examples=30, deadline=None)
def test_the_four_counts_of_a_query_add_up_to_its_documents(case):
    relevant, returned, _ = case
    table = counts(block(*case))
    assert (table.sum(axis=1) == relevant.shape[1]).all()
    assert table.T.tolist() == [
        (~relevant & ~returned).sum(1).tolist(),
        (~relevant & returned).sum(1).tolist(),
        (relevant & ~returned).sum(1).tolist(),
        (relevant & returned).sum(1).tolist(),
    ]


@given(tables(), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_groups_of_documents_are_counted_as_if_each_were_alone(case, cells, seed):
    relevant, returned, score = case
    cell = np.random.default_rng(seed).integers(0, cells, relevant.shape[1])
    found = rates(block(*case).split(cell, cells)).reshape(len(relevant), cells, len(COLUMNS))
    for group in range(cells):
        alone = block(relevant[:, cell == group], returned[:, cell == group], score[:, cell == group])
        assert np.array_equal(found[:, group], rates(alone))


WITH_RELEVANT = tables().filter(lambda case: case[0].any(axis=1).all() and not case[0].all(axis=1).any())


@pytest.mark.req("M08")
@given(WITH_RELEVANT, st.sampled_from([0.5, 20.0, 59.9]))
@settings(max_examples=40, deadline=None)
def test_perfect_is_1_silent_is_0_and_the_worst_is_minus_beta(case, beta):
    relevant, _, _ = case
    for form in FORMS:
        assert values(relevant, relevant, beta=beta)[form] == 1
        assert values(relevant, np.zeros_like(relevant), beta=beta)[form] == 0
        assert values(relevant, ~relevant, beta=beta)[form] == pytest.approx(-beta, rel=1e-12)


@pytest.mark.req("M08", "M05", "C05")
def test_a_query_without_relevant_documents_moves_the_landmarks_of_the_first_form_only():
    relevant = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], bool)
    silent, worst = values(relevant, relevant & False, beta=20), values(relevant, ~relevant, beta=20)
    assert [silent[form] for form in FORMS] == [0, 0.25, 0]
    assert [worst[form] for form in FORMS] == [-20, -19.75, -20]


@pytest.mark.req("C44", "M08")
def test_a_query_to_which_every_document_is_relevant_has_no_false_alarms():
    found = values([[1, 1], [1, 0]], [[0, 0], [0, 1]], beta=20)
    assert found["pfa"] == 0.5
    assert found["aqwv"] == 1 - (1 + 20 * 0.5)


@pytest.mark.req("M06", "M07", case="bad")
@pytest.mark.parametrize("returned", [0, 1])
def test_without_any_relevant_document_the_value_is_undefined_and_never_0_or_1(returned):
    found = values(np.zeros((3, 4)), np.full((3, 4), returned), beta=20)
    assert math.isnan(found["aqwv"])
    assert math.isnan(found["aqwv_relevant"])
    assert math.isnan(found["pmiss"])
    assert math.isnan(found["adwv"])
    assert found["aqwv_all"] == 1 - 20 * returned


@pytest.mark.req("M07", "M06", case="good")
def test_the_primary_form_takes_misses_over_some_queries_and_false_alarms_over_all():
    relevant, returned = [[1, 1, 0, 0], [0, 0, 0, 0]], [[1, 0, 0, 0], [0, 0, 0, 1]]
    found = values(relevant, returned, beta=2)
    assert found["aqwv"] == 1 - (1 / 2 + 2 * (0 + 1 / 4) / 2)
    assert found["aqwv_all"] == ((1 - 1 / 2) + (1 - 2 / 4)) / 2
    assert found["aqwv_relevant"] == 1 - 1 / 2


@pytest.mark.req("M09")
@given(tables(), st.integers(2, 4))
@settings(max_examples=30, deadline=None)
def test_copies_of_every_document_change_no_query_and_copies_of_every_query_change_no_mean(case, times):
    relevant, returned, _ = case
    one = values(relevant, returned, beta=20)
    wide = values(np.tile(relevant, times), np.tile(returned, times), beta=20)
    long = values(np.tile(relevant, (times, 1)), np.tile(returned, (times, 1)), beta=20)
    for name in (*FORMS, "pmiss", "pfa"):
        assert same(wide[name], one[name])
        assert same(long[name], one[name])


@pytest.mark.req("M09")
def test_a_query_with_many_relevant_documents_weighs_no_more_than_one_with_a_single_one():
    relevant = np.zeros((2, 100), bool)
    relevant[0, :50], relevant[1, 0] = True, True
    only_first, only_second = relevant.copy(), relevant.copy()
    only_first[1], only_second[0] = False, False
    assert values(relevant, only_first, beta=20)["aqwv"] == values(relevant, only_second, beta=20)["aqwv"] == 0.5


@pytest.mark.req("M10", "C06")
@given(tables())
@settings(max_examples=30, deadline=None)
def test_the_document_weighted_value_is_the_query_weighted_one_of_the_turned_table(case):
    relevant, returned, _ = case
    turned = values(relevant.T, returned.T, beta=20)
    assert same(values(relevant, returned, beta=20)["adwv"], turned["aqwv"])
