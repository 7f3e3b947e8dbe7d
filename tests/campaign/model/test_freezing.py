"""What a window freezes, and every departure from it (P-28)."""

import json
from dataclasses import fields, replace
from datetime import timedelta

import pytest

from basanite.campaign.model.campaign_file import load
from basanite.campaign.model.freeze import changes, departures, frozen, frozen_digest, plan_digest
from basanite.campaign.model.plan import Pack, UsageRules, Window
from basanite.campaign.model.zones import Instant


@pytest.fixture
def week(small):
    return small.window("week")


def with_window(campaign, window):
    """The campaign with one row changed."""
    return replace(campaign, windows=tuple(window if one.id == window.id else one for one in campaign.windows))


def changed_value(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, timedelta):
        return value + timedelta(minutes=1)
    if isinstance(value, Instant):
        return replace(value, utc=value.utc + timedelta(minutes=1))
    if isinstance(value, tuple):
        return (*value, value[0]) if value else ("x",)
    if isinstance(value, dict):
        return {**value, "x": 1}
    return 3.0 if value is None else replace(value, count=value.count + 1)


@pytest.mark.parametrize("name", [field.name for field in fields(Window) if field.name != "id"])
def test_every_attribute_of_a_row_is_frozen(small, week, name):
    other = with_window(small, replace(week, **{name: changed_value(getattr(week, name))}))
    assert frozen_digest(other, other.window("week")) != frozen_digest(small, week)
    assert any(change.what.startswith(f"window.{name}") for change in departures(small, other, "week"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("claims", ({"id": "better", "margin": 0.02},)),
        ("judging", {"k": 5}),
        ("rules", (UsageRules("usage", "2", "other"),)),
        ("zone", "UTC"),
        ("plan_version", "7"),
        ("invalid_per_day", 60),
        ("tracks", ()),
        ("agreements", ()),
    ],
)
def test_claims_margins_and_judging_rules_are_frozen(small, week, name, value):
    other = replace(small, **{name: value})
    assert frozen_digest(other, week) != frozen_digest(small, week)
    assert departures(small, other, "week")


def test_a_pack_that_joins_the_family_touches_the_window(small, week):
    more = Pack("EVAL3", "eval", week.opens)
    assert departures(small, replace(small, packs=(*small.packs, more)), "week")
    assert not departures(small, replace(small, packs=(*small.packs, replace(more, family="test"))), "week")


def test_other_windows_milestones_and_titles_may_change(small, week):
    dev = replace(small.window("dev"), title="x", closes=small.window("week").closes)
    other = replace(with_window(small, dev), title="Another title", milestones=())
    assert frozen_digest(other, week) == frozen_digest(small, week)
    assert departures(small, other, "week") == ()
    assert {change.what for change in changes(small, other)} >= {"title", "windows.dev.closes", "windows.dev.title"}


def test_the_same_plan_written_differently_has_the_same_digest(small, small_text, week):
    again = load(small_text.replace('closes = "2026-03-06 24:00 AoE"', "closes = 2026-03-07T12:00:00Z"))
    commented = load("# another remark\n" + small_text)
    assert frozen_digest(again, again.window("week")) == frozen_digest(small, week)
    assert plan_digest(commented) == plan_digest(small)
    assert changes(small, commented) == ()


def test_changes_are_sentences_with_before_and_after(small, small_text):
    other = load(small_text.replace("count = 1,", "count = 2,").replace('closes = "2026-02-23', 'closes = "2026-02-22'))
    said = [str(change) for change in changes(small, other)]
    assert said == [
        "windows.look.closes: 2026-02-23 05:00 UTC became 2026-02-22 05:00 UTC",
        "windows.look.quota.count: 1 became 2",
    ]


def test_a_window_that_is_taken_out_is_one_departure(small):
    gone = replace(small, windows=small.windows[:-1])
    [change] = departures(small, gone, "week")
    assert change.after is None
    assert "removed" in str(change)
    assert str(changes(gone, small)[0]).startswith("windows.week: added")


def test_a_row_put_in_between_moves_nothing_else(small):
    extra = replace(small.window("dev"), id="extra")
    other = replace(small, windows=(extra, *small.windows))
    assert [change.what for change in changes(small, other)] == ["windows.extra"]


def test_what_is_frozen_is_plain_json(small, week):
    assert json.loads(json.dumps(frozen(small, week))) == frozen(small, week)
