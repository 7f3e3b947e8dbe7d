"""Curves tell how a system does, never how it did on a single document (M72)."""

import pytest

from basanite.campaign.model.redaction import curves_shown
from basanite.figures import Axis, Chart, Table, figures_object

DOCUMENT = "MATERIAL_BASE-1A_12345678"
STEPS = [(0.12345 + at / 1000, 0.98765 - at / 1000, "primary") for at in range(500)]
ERRORS = [((at + 1) / 50_000, 1 - (at + 1) / 1000, 0.54321 + at / 1e6, "Alpha") for at in range(900)]


def over_threshold(rows=STEPS, **more):
    data = Table("Value over threshold", ("threshold", "value", "form"), rows)
    axes = Axis("threshold", "θ", low=0.0, high=1.0), Axis("value", "value")
    return Chart("Value over threshold", "It falls.", "line", data, *axes, series="form", step=True, **more)


def det():
    data = Table("DET", ("false alarms", "misses", "threshold", "system"), ERRORS)
    return Chart("DET", "", "line", data, Axis("false alarms", "", "deviate"), Axis("misses", "", "deviate"))


def shown(*figures, sealed):
    return curves_shown(figures_object(figures)["figures"], sealed=sealed)


def test_an_open_set_shows_its_curves_as_they_are():
    (one,) = shown(over_threshold(), sealed=False)
    assert len(one["data"]["rows"]) == len(STEPS)


def test_a_curve_of_a_sealed_set_has_no_step_for_each_document():
    (one,) = shown(over_threshold(), sealed=True)
    places = [row[0] for row in one["data"]["rows"]]
    assert places == sorted(set(places))
    assert len(places) <= 51
    assert all(cell == round(cell, 2) for row in one["data"]["rows"] for cell in row[:2])


def test_the_errors_of_a_sealed_set_come_without_the_thresholds_behind_them():
    (one,) = shown(det(), sealed=True)
    assert one["data"]["columns"] == ["false alarms", "misses", "system"]
    assert len(one["data"]["rows"]) < len(ERRORS) / 3
    assert all(0 < row[0] < 1 and 0 < row[1] < 1 for row in one["data"]["rows"])


@pytest.mark.parametrize("sealed", [True, False])
def test_what_is_not_known_or_names_a_document_stays_hidden(sealed):
    by_query = Table("By query", ("query", "value"), [("q1", 0.5)])
    named = Table("Where the value is lost", ("step", "value", "loss"), [(DOCUMENT, 0.5, 0.1)])
    assert shown(by_query, named, over_threshold([(0.1, 0.2, DOCUMENT)] * 20), sealed=sealed) == ()


def test_tables_of_classes_and_curves_of_few_steps_are_for_open_sets():
    table = Table("Confusion", ("true class", "a", "b"), [("a", 3, 0), ("b", 1, 2)])
    assert len(shown(table, over_threshold(STEPS[:5]), sealed=False)) == 2
    assert shown(table, over_threshold(STEPS[:5]), sealed=True) == ()
