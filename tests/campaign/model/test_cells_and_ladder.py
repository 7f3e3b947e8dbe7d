"""Small cells and what would give them away (X-7); the ladder (S-17)."""

import math
import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from basanite.campaign.model.redaction import SMALLEST, Rung, climb, hidden_cells, on_step, step, without_small_cells

SIZES = st.dictionaries(st.sampled_from("ABCDEFGH"), st.integers(0, 30), min_size=1)


@given(SIZES, st.integers(0, 25))
def test_no_small_cell_can_be_read_or_worked_out(sizes, unnamed):
    """Brute force: the whole less any shown cells never leaves fewer than ten units, nor a single hidden cell."""
    total = sum(sizes.values()) + unnamed
    hidden = hidden_cells(sizes, total)
    visible = [name for name in sizes if name not in hidden]
    assert all(sizes[name] >= SMALLEST for name in visible)
    if not visible:
        return
    for count in range(len(visible) + 1):
        for some in combinations(visible, count):
            left = total - sum(sizes[name] for name in some)
            assert left == 0 or left >= SMALLEST
    assert len(hidden) != 1 or unnamed >= SMALLEST


@given(SIZES)
def test_nothing_is_hidden_where_nothing_is_small(sizes):
    large = {name: size + SMALLEST for name, size in sizes.items()}
    assert hidden_cells(large, sum(large.values())) == frozenset()


def test_the_smallest_of_the_others_goes_with_a_small_cell():
    assert hidden_cells({"NT": 60, "BT": 25, "CS": 3}, 88) == {"CS", "BT"}
    assert hidden_cells({"NT": 60, "BT": 4, "CS": 3}, 67) == {"CS", "BT", "NT"}
    assert hidden_cells({"NT": 60, "BT": 5, "CS": 5}, 70) == {"CS", "BT"}
    assert hidden_cells({"NT": 60, "BT": 36}, 100) == {"NT", "BT"}  # four units in no cell could be worked out


def test_a_cell_is_as_small_as_the_fewest_units_behind_one_of_its_values():
    cells = {
        "NT": {"aqwv": {"units": 300}, "adwv": {"units": 4000}},
        "CS": {"aqwv": {"units": 9}, "adwv": {"units": 500}},
    }
    assert without_small_cells({"genre": cells}, {"aqwv": {"units": 309}}) == {"genre": {}}


def test_a_cell_without_a_count_is_hidden():
    assert without_small_cells({"genre": {"NT": {"aqwv": {"units": None}}, "BT": {}}}, {}) == {"genre": {}}


def test_a_gain_within_the_step_shows_nothing_new():
    first = climb(None, 0.30, gain=0.0, standard_error=0.01, tries=1)
    within = climb(first, 0.3299, gain=0.0299, standard_error=0.01, tries=10)
    assert (within.value, within.step, within.moved) == (first.value, first.step, False)
    beyond = climb(first, 0.40, gain=0.10, standard_error=0.01, tries=10)
    assert beyond.moved
    assert beyond.value == on_step(0.40, step(0.01, 10))


def test_exactly_one_step_is_not_more_than_a_step():
    first = Rung(0.3, 0.02)
    assert not climb(first, 0.32, gain=step(0.01, 1), standard_error=0.01, tries=1).moved


@given(st.floats(0.0001, 1), st.integers(1, 10**6), st.floats(0.5, 5))
def test_the_step_is_the_standard_errors_of_the_file_and_grows_with_tries(error, tries, errors):
    assert math.isclose(step(error, 1, errors), errors * error)
    assert step(error, tries + 1, errors) > step(error, tries, errors)


@given(st.floats(-1, 1), st.floats(0.001, 0.5))
def test_what_is_shown_is_a_whole_number_of_steps_near_the_value(value, size):
    shown = on_step(value, size)
    assert abs(shown - value) <= size / 2 + 1e-9
    assert math.isclose(shown / size, round(shown / size), abs_tol=1e-6)


def test_trying_a_useless_change_often_moves_the_ladder_seldom():
    """Without a true gain, fewer than one of twenty seasons of 200 tries moves it; a fixed step moves nearly all."""
    dice, moved = random.Random(7), 0
    for _ in range(200):
        rung = climb(None, 0.5, gain=0.0, standard_error=0.01, tries=1)
        seasons = [
            climb(rung, 0.5, gain=dice.gauss(0, 0.01), standard_error=0.01, tries=tries).moved
            for tries in range(2, 202)
        ]
        moved += any(seasons)
    assert moved / 200 < 0.05
    naive = sum(any(dice.gauss(0, 1) > 2 for _ in range(200)) for _ in range(200))
    assert moved < naive / 3


def test_undefined_values_leave_the_ladder_where_it_is():
    nan = float("nan")
    assert climb(None, nan, gain=nan, standard_error=0.01, tries=1).value is None
    first = Rung(0.3, 0.02)
    for value, gain, error in [(nan, 0.1, 0.01), (0.5, nan, 0.01), (0.5, 0.2, nan), (0.5, 0.2, float("inf"))]:
        assert climb(first, value, gain=gain, standard_error=error, tries=2) == Rung(0.3, 0.02, moved=False)


def test_without_noise_a_value_is_rounded_as_everywhere():
    assert on_step(0.12345, 0.0) == 0.123
