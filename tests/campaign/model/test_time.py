"""Instants, periods and the calendar feed (P-27, C34)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.campaign.model.ical import calendar_feed, escape_text, fold_line
from basanite.campaign.model.plan import Window
from basanite.campaign.model.quotas import day, period_of, week
from basanite.campaign.model.zones import TimeError, instant_of, shown_in, spelt, zone_of

NEW_YORK = "America/New_York"
ZONES = [NEW_YORK, "Europe/Paris", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe", "UTC", "AoE"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2018-05-14 00:00", "2018-05-14T04:00:00+00:00"),
        ("2018-05-18 24:00", "2018-05-19T04:00:00+00:00"),
        ("2018-01-31 24:00", "2018-02-01T05:00:00+00:00"),
        ("2018-05-18 24:00 AoE", "2018-05-19T12:00:00+00:00"),
        ("2018-05-18 23:59 UTC", "2018-05-18T23:59:00+00:00"),
        ("2018-05-18 12:00 Europe/Paris", "2018-05-18T10:00:00+00:00"),
        ("2018-03-11 03:00", "2018-03-11T07:00:00+00:00"),
        ("2018-05-18T12:00:30", "2018-05-18T16:00:30+00:00"),
    ],
)
def test_an_instant_is_kept_in_utc_beside_its_zone(text, wanted):
    assert instant_of(text, NEW_YORK).utc.isoformat() == wanted


def test_the_declared_zone_is_kept():
    assert instant_of("2018-05-18 24:00 aoe", NEW_YORK).zone == "AoE"
    assert instant_of("2018-05-18 24:00", NEW_YORK).zone == NEW_YORK
    assert instant_of(datetime.fromisoformat("2018-05-18T12:00:00+02:00"), NEW_YORK).utc.hour == 10


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "2018-13-01 00:00", "2018-02-30 00:00", "2018-05-18", "2018-05-18 24:01", "2018-05-18 25:00",
        "2018-05-18 12:60", "2018-05-18 12:00 Mars/Base", "2018-05-18 12:00 ../../etc/passwd", "0001-01-01 00:00",
        "9999-12-31 24:00", "2018-05-18 12:00 America", "٢٠١٨-٠٥-١٨ ١٢:٠٠",
    ],
)  # fmt: skip
def test_what_is_no_instant_is_refused_in_words(text):
    with pytest.raises(TimeError):
        instant_of(text, NEW_YORK)


def test_a_time_that_the_clock_skips_or_repeats_is_not_guessed():
    with pytest.raises(TimeError, match="does not exist"):
        instant_of("2018-03-11 02:30", NEW_YORK)
    with pytest.raises(TimeError, match="occurs twice"):
        instant_of("2018-11-04 01:30", NEW_YORK)
    assert instant_of("2018-11-04 01:30 UTC", NEW_YORK).utc.hour == 1


def test_a_moment_is_shown_in_utc_the_campaigns_and_the_viewers_zone(utc):
    moment = utc(2018, 5, 19, 4)
    assert spelt(moment, NEW_YORK, "Asia/Tokyo") == (
        "2018-05-19 04:00 UTC (2018-05-19 00:00 America/New_York, 2018-05-19 13:00 Asia/Tokyo)"
    )
    assert spelt(moment, NEW_YORK, NEW_YORK).count(NEW_YORK) == 1
    assert spelt(moment, "UTC", "UTC") == "2018-05-19 04:00 UTC"
    assert shown_in(moment, "AoE") == "2018-05-18 16:00 AoE"


MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2035, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))


@given(MOMENTS, st.sampled_from(ZONES))
def test_a_week_runs_from_monday_to_sunday_on_the_clock_of_the_zone(moment, zone):
    span = week(moment, zone)
    assert moment in span
    for edge in (span.begins, span.ends):
        local = edge.astimezone(zone_of(zone))
        assert (local.weekday(), local.hour, local.minute) == (0, 0, 0)
    assert week(span.ends, zone).begins == span.ends  # no moment between two weeks, and none in both
    assert week(span.ends - timedelta(seconds=1), zone) == span


@pytest.mark.parametrize(
    ("moment", "hours"),
    [((2018, 3, 8), 167), ((2018, 11, 1), 169), ((2018, 5, 14, 12), 168)],
    ids=["clock forward", "clock back", "plain"],
)
def test_a_week_with_a_clock_change_is_an_hour_shorter_or_longer(moment, hours, utc):
    span = week(utc(*moment), NEW_YORK)
    assert (span.ends - span.begins) == timedelta(hours=hours)


def test_the_days_of_clock_change_have_23_and_25_hours(utc):
    assert day(utc(2018, 3, 11, 12), NEW_YORK).ends - day(utc(2018, 3, 11, 12), NEW_YORK).begins == timedelta(hours=23)
    assert day(utc(2018, 11, 4, 12), NEW_YORK).ends - day(utc(2018, 11, 4, 12), NEW_YORK).begins == timedelta(hours=25)


@given(MOMENTS, st.sampled_from(ZONES))
def test_days_follow_each_other_without_gap(moment, zone):
    span = day(moment, zone)
    assert moment in span
    assert day(span.ends, zone).begins == span.ends


def test_a_total_period_is_the_window_itself(small):
    window: Window = small.window("week")
    span = period_of("total", window.opens.utc, window, small.zone)
    assert (span.begins, span.ends) == (window.opens.utc, window.closes.utc)


def parsed(text):
    """The events of a feed, read back by the rules of RFC 5545."""
    lines = text.replace("\r\n ", "").split("\r\n")
    events, event = [], None
    for line in lines:
        if line == "BEGIN:VEVENT":
            event = {}
        elif line == "END:VEVENT":
            events.append(event)
        elif event is not None:
            name, _, value = line.partition(":")
            event[name] = value
    return events


def test_the_feed_holds_every_window_and_milestone_in_utc(base, utc):
    text = calendar_feed(base, utc(2018, 1, 1), {"visit-2018": "done"})
    events = {event["UID"]: event for event in parsed(text)}
    assert len(events) == len(base.windows) + len(base.milestones)
    week_of_evaluation = events["window-clir-week-eval@material-base"]
    assert week_of_evaluation["DTSTART"] == "20180514T040000Z"
    assert week_of_evaluation["DTEND"] == "20180519T040000Z"
    assert events["milestone-visit-2018@material-base"]["DESCRIPTION"].endswith("done")
    assert text.endswith("END:VCALENDAR\r\n")


def test_every_line_of_the_feed_is_at_most_75_bytes(base, utc):
    assert max(len(line.encode()) for line in calendar_feed(base, utc(2018, 1, 1)).split("\r\n")) <= 75


@given(st.text())
def test_folding_loses_nothing_and_splits_no_character(text):
    line = "".join(char for char in text if char not in "\r\n")
    parts = fold_line(line).split("\r\n")
    assert parts[0] + "".join(part[1:] for part in parts[1:]) == line
    assert all(len(part.encode("utf-8", "surrogatepass")) <= 75 for part in parts)


@given(st.text())
def test_no_text_can_begin_a_line_of_its_own(text):
    assert not set(escape_text(text)) & set("\r\n\0")


def test_the_zone_of_the_machine_does_not_matter(monkeypatch, utc):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert week(utc(2018, 5, 14, 3), NEW_YORK).begins == datetime(2018, 5, 7, tzinfo=ZoneInfo(NEW_YORK)).astimezone(UTC)
