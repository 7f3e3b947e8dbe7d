"""The model of capacity: more work is more use, more parts are less, and simple cases are what arithmetic says."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import capacity
from capacity import Call, Crew, Deployment, Event, Figures, Room, Scoring

PLAIN = Figures(
    "postgresql",
    {
        "list": {1_000: Call(0.010, 0.002)},
        "board": {1_000: Call(0.050, 0.005)},
        "submit": {1_000: Call(0.030, 0.004, 0.005), 100_000: Call(0.060, 0.008, 0.010)},
    },
    Scoring(place=2.0, cpu=1.5, writer=0.015, database=0.05),
    Room(database=10_000, sent=1e6, ours=40_000),
    board_row=0.001,
    board_teams=40,
)
EVENT = Event("some", 40, 720, 3_600, last_hour=0.5, looking=0.5, calls_an_hour=100, mix={"list": 0.5, "board": 0.5})
PLACE = Deployment("postgresql", web=2, workers=4, database=2, disk=100e9, line=100e6)


def used(event=EVENT, place=PLACE, figures=PLAIN):
    return {load.part: load.utilisation for load in capacity.loads(event, place, figures)}


def test_use_of_each_part_is_what_arithmetic_says():
    submit = capacity.cost_at({1_000: 0.030, 100_000: 0.060}, 3_600)
    held = capacity.cost_at({1_000: 0.005, 100_000: 0.010}, 3_600)
    looked = capacity.cost_at({1_000: 0.004, 100_000: 0.008}, 3_600)
    wanted = {
        "web": (10 * 0.030 + 0.5 * submit) / 2,  # 10 looks and half a submission a second
        "workers": 0.5 * 2.0 / 4,
        "writer": 0.5 * (held + 0.015),
        "disk": 3_600 * 1_050_000 / 100e9,
        "line": 0.5 * 2 * 1_050_000 / 100e6,
        "database": (10 * 0.0035 + 0.5 * (looked + 0.05)) / 2,
    }
    assert used() == pytest.approx(wanted)


def test_each_further_team_on_a_board_makes_it_dearer():
    more = capacity.looks(replace(EVENT, teams=140), PLAIN).web - capacity.looks(EVENT, PLAIN).web
    assert more == pytest.approx(0.5 * 100 * 0.001)


def test_the_part_that_is_full_first_says_how_much_larger_the_event_may_be():
    found = capacity.loads(EVENT, PLACE, PLAIN)
    first, times = capacity.first_full(found), capacity.headroom(found)
    assert first.part == "workers"
    assert used(place=replace(PLACE, workers=4 / times))["workers"] == pytest.approx(1.0)


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**5),
    st.floats(0.001, 1),
    st.floats(0, 1),
    st.integers(1, 10**4),
)
def test_what_is_wanted_is_comfortable_in_every_part_that_can_be_added_to(submissions, users, last, looking, teams):
    event = replace(EVENT, submissions=submissions, users=users, last_hour=last, looking=looking, teams=teams)
    need = capacity.wanted(event, PLACE, PLAIN)
    found = used(event, need)
    assert all(share <= capacity.COMFORTABLE + 1e-6 for part, share in found.items() if part != "writer")
    assert need.web >= PLACE.web
    assert need.workers >= PLACE.workers


@given(st.floats(1, 10), st.integers(1, 50))
def test_more_work_is_more_use_and_more_workers_are_less(times, workers):
    more = used(replace(EVENT, submissions=round(EVENT.submissions * times)))
    assert all(more[part] >= share - 1e-12 for part, share in used().items())
    assert used(place=replace(PLACE, workers=4 + workers))["workers"] < used()["workers"]


def test_a_queue_that_keeps_up_ends_at_once_and_one_that_does_not_ends_late():
    assert capacity.wait_for_last(EVENT, PLACE, PLAIN) == pytest.approx(2.0)
    slow = replace(PLACE, workers=0.5)  # a quarter of a submission a second, half a one comes
    assert capacity.wait_for_last(EVENT, slow, PLAIN) == pytest.approx(2.0 + 0.25 * 3600 / 0.25)


def test_workers_without_end_do_not_help_beyond_the_writer():
    each = capacity.cost_at({1_000: 0.005, 100_000: 0.010}, 10**6) + 0.015
    event = replace(EVENT, submissions=10**6, last_hour=0.2)
    late = capacity.wait_for_last(event, replace(PLACE, workers=10**6), PLAIN)
    assert late == pytest.approx(2.0 + (event.submissions_a_second * each - 1) * 3600)


def test_a_file_has_no_database_of_its_own():
    plain = {kind: {size: replace(call, database=0.0) for size, call in by.items()} for kind, by in PLAIN.calls.items()}
    file = replace(PLAIN, engine="sqlite", calls=plain, scoring=replace(PLAIN.scoring, database=0.0))
    assert "database" not in used(figures=file)


@given(st.dictionaries(st.integers(1, 10**6), st.floats(0, 10), min_size=1, max_size=5), st.integers(0, 10**7))
def test_a_cost_between_two_sizes_is_between_their_costs_and_never_negative(points, stored):
    found = capacity.cost_at(points, stored)
    assert found >= 0
    if stored <= max(points):
        assert min(points.values()) - 1e-9 <= found <= max(points.values()) + 1e-9
    else:
        assert found >= points[max(points)] - 1e-9


@given(st.integers(1, 60), st.floats(0.01, 5), st.floats(0.001, 0.5))
def test_users_who_wait_for_one_place_keep_the_laws_of_queues(users, thinking, service):
    calls, wait = capacity.answered(users, thinking, service)
    assert calls * (thinking + wait) == pytest.approx(users)  # Little's law
    assert calls <= 1 / service + 1e-9
    assert wait >= service - 1e-12
    assert wait <= users * service + 1e-9


def crew(**other):
    given_ones = {"cores": 2, "workers": 1, "users": 5, "thinking": 1.0, "stored": 1_000, "mix": {"list": 1.0}}
    return Crew(**given_ones | other)


def test_a_machine_with_cores_to_spare_scores_as_if_nobody_looked():
    found = capacity.foretell(crew(cores=16, users=1), PLAIN)
    assert found.scored_a_second == pytest.approx(1 / 2.0)
    assert found.wait == pytest.approx(0.012)


def test_users_take_their_share_of_the_cores_from_the_workers():
    alone = capacity.foretell(crew(workers=2, users=1, thinking=1e9), PLAIN)
    busy = capacity.foretell(crew(workers=2, users=90), PLAIN)
    assert alone.scored_a_second == pytest.approx(1.0)
    slow = (2 + busy.calls_a_second * 0.012) / 2
    assert slow > 2.0 / 1.55 > 1
    assert busy.scored_a_second == pytest.approx(2 / (1.55 * slow), rel=0.01)
    assert busy.wait > alone.wait
    assert not math.isnan(busy.wait)
