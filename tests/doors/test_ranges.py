"""Every value, interval and difference of every registered metric lies in the range that the metric declares."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.doors.examples import BY_TASK
from tests.doors.extreme_systems import KINDS, given

import basanite
from basanite import registry

DRAWS = 100


def in_range(numbers, ends):
    return all(number is None or math.isnan(number) or ends[0] <= number <= ends[1] for number in numbers)


def shown(analysis):
    """Every value of an analysis with its name: of the whole and of every level of every factor."""
    yield from analysis.values.items()
    for by_level in analysis.breakdowns.values():
        for values in by_level.values():
            yield from values.items()


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The comparison of the systems of a task, made once."""
    held = {}

    def of(task):
        if task not in held:
            settings = given(task, tmp_path_factory.mktemp(task))
            submissions = settings.pop("submissions")
            perfect = {kind: submissions.pop(kind) for kind in KINDS[:1] if task == "reading"}
            found = basanite.compare(task, submissions=submissions, **settings, draws=DRAWS)
            # All its answers are adjudicated and those of the others are not, so it cannot be compared with them.
            alone = {
                kind: basanite.score(task, submission=path, **settings, draws=DRAWS) for kind, path in perfect.items()
            }
            held[task] = replace(found, analyses={**found.analyses, **alone})
        return held[task]

    return of


@pytest.mark.req("S-26")
@pytest.mark.parametrize("task", sorted(BY_TASK))
def test_values_and_intervals_of_perfect_constant_and_random_systems_stay_in_range(task, compared):
    for system in KINDS:
        analysis = compared(task).analyses[system]
        ends = {metric.name: metric.ends for metric in analysis.scores.metrics}
        outside = [
            (system, name, value.low, value.value, value.high)
            for name, value in shown(analysis)
            if not in_range((value.low, value.value, value.high), ends[name])
        ]
        assert outside == []


@pytest.mark.req("S-26")
@pytest.mark.parametrize("task", sorted(BY_TASK))
def test_differences_stay_in_the_range_of_differences(task, compared):
    found = compared(task)
    ends = {metric.name: metric.difference_ends for metric in found.analyses["noise"].scores.metrics}
    for one in found.differences:
        assert in_range((one.difference, one.low, one.high), ends[one.metric]), one


@pytest.mark.req("S-26")
def test_these_systems_reach_every_registered_metric(compared):
    families = {
        (metric.family, name)
        for task in BY_TASK
        for system in KINDS
        for name, _ in shown(compared(task).analyses[system])
        for metric in [compared(task).analyses[system].scores.metric(name)]
    }
    registered = [registry.load("metrics", name) for name in registry.names("metrics")]
    assert {(metric.family, metric.name) for metric in registered} - families == set()


@pytest.mark.req("S-26")
def test_a_perfect_and_the_worst_detection_system_reach_the_ends_of_aqwv(compared):
    perfect, worst = (compared("clir").analyses[kind] for kind in ("perfect", "constant"))
    low, high = worst.scores.metric("aqwv").ends
    assert low == -worst.scores.metric("aqwv").settings["beta"]
    assert (perfect.values["aqwv"].value, high) == (1.0, 1.0)
    assert worst.values["aqwv_relevant"].value == pytest.approx(1 + low)  # everything returned: no miss, all alarms
    assert np.isfinite(low)
