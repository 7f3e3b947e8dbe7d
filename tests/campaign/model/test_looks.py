"""Looks at sealed references: what holds by default, what a file may say, and what that exposes (X-23)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from basanite.campaign.model.campaign_file import load, read_campaign
from basanite.campaign.model.exposure import exposure_warnings, exposures
from basanite.testing import small_campaign_text


def plan(more="", *, sealed=True, feedback="limited", quota=100):
    text = small_campaign_text(quota=quota).replace("sealed = false", f"sealed = {str(sealed).lower()}", 1)
    return text.replace('feedback = "full"', f'feedback = "{feedback}"\n{more}', 1)


@pytest.mark.parametrize(
    ("words", "looks", "ladder"),
    [
        ("", 10, None),
        ("looks = 3", 3, None),
        ("ladder = true", None, 2.0),
        ("ladder = 1.5", None, 1.5),
        ("ladder = 1.5\nlooks = 4", 4, 1.5),
        ("ladder = false", 10, None),
        ("looks = false", None, 2.0),
        ("looks = false\nladder = false", None, None),
    ],
)
def test_one_of_looks_and_ladder_holds_unless_the_file_turns_both_off(words, looks, ladder):
    campaign = load(plan(words))
    window = campaign.window("dev")
    assert (window.looks, window.ladder) == (looks, ladder)
    assert bool(exposure_warnings(campaign)) == (looks is None and ladder is None)


@pytest.mark.parametrize("options", [{"sealed": False}, {"feedback": "none"}])
def test_windows_that_show_nothing_of_sealed_references_stay_as_they_are(options):
    campaign = load(plan(**options))
    assert (campaign.window("dev").looks, list(exposures(campaign)), exposure_warnings(campaign)) == (None, [], ())


@pytest.mark.parametrize("words", ["looks = -1", "looks = 1.5", 'looks = "ten"', "looks = true"])
def test_looks_are_a_whole_number_or_false(words):
    campaign, findings = read_campaign(plan(words))
    assert campaign is None
    assert any("looks" in problem.message for problem in findings)


def test_so_many_looks_that_they_bound_nobody_are_warned_about():
    (warning,) = exposure_warnings(load(plan("looks = 500")))
    assert (warning.rule, warning.severity, "500 results" in warning.message) == ("X-23", "warn", True)
    assert not exposure_warnings(load(plan("looks = 500", quota=2)))


def test_what_is_exposed_follows_from_quota_rounding_looks_and_ladder():
    (bounded,) = exposures(load(plan(quota=5)))
    assert (bounded.attempts, bounded.plain, bounded.ladder_tries, bounded.values) == (65, 10, 55, 3)
    assert math.isclose(bounded.bits, 30 * math.log2(41 * 1000 + 1) + 55)
    (open_,) = exposures(load(plan("looks = false\nladder = false", quota=5)))
    assert (open_.plain, open_.bits > 5 * bounded.bits) == (65, True)
    (climbing,) = exposures(load(plan("ladder = true", quota=5)))
    assert (climbing.plain, climbing.bits) == (0, 65)
    (full,) = exposures(load(plan('forced = "a trial"', feedback="full", quota=5)))
    assert full.bits == math.inf


@pytest.mark.parametrize(("beta", "range_"), [("20.0", 21), ('"x"', 41), ("nan", 41), ("-3.0", 41)])
def test_a_value_tells_as_much_as_its_range_has_steps_and_odd_settings_stop_nothing(beta, range_):
    (one,) = exposures(load(plan(f"settings = {{ beta = {beta} }}")))
    assert math.isclose(one.bits_per_value, math.log2(range_ * 1000 + 1))


def test_each_track_has_a_quota_of_its_own_to_try_with():
    campaign = load(plan(quota=5) + '\n[[tracks]]\nid = "a"\n\n[[tracks]]\nid = "b"\n')
    (both,) = exposures(campaign)
    (one,) = exposures(replace(campaign, tracks=campaign.tracks[:1]))
    assert (both.attempts, one.attempts, both.plain) == (130, 65, 10)
