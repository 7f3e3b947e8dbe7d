"""The calendar for calendar programs (RFC 5545): windows and milestones, every moment in UTC, long lines folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from basanite.campaign.model.plan import Campaign, Milestone, Window

LONGEST = 75
"""Bytes of a line, without its end; a character is never split."""


@dataclass(frozen=True)
class CalendarEntry:
    """One thing in the calendar."""

    uid: str
    title: str
    words: str
    begins: datetime
    ends: datetime | None = None


def calendar_feed(campaign: Campaign, now: datetime, states: Mapping[str, str] | None = None) -> str:
    """The whole calendar of a campaign; `states` says where each milestone stands."""
    entries = [_of_window(campaign, window) for window in campaign.windows]
    entries += [_of_milestone(campaign, stone, (states or {}).get(stone.id, "")) for stone in campaign.milestones]
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Basanite//Calendar//EN",
        f"X-WR-CALNAME:{escape_text(campaign.title)}",
        *(line for entry in sorted(entries, key=lambda one: (one.begins, one.uid)) for line in _lines(entry, now)),
        "END:VCALENDAR",
    ]
    return "".join(f"{fold_line(line)}\r\n" for line in lines)


def _of_window(campaign: Campaign, window: Window) -> CalendarEntry:
    quota = (
        f"{window.quota.count} in total"
        if window.quota.period == "total"
        else f"{window.quota.count} per {window.quota.period}"
    )
    what = f"{'/'.join(window.tasks)} on {'+'.join(window.dataset)}, {quota}, feedback: {window.feedback}"
    return CalendarEntry(f"window-{window.id}@{campaign.slug}", window.title, what, window.opens.utc, window.closes.utc)


def _of_milestone(campaign: Campaign, stone: Milestone, state: str) -> CalendarEntry:
    words = "; ".join(part for part in (stone.owner, stone.deliverable, state) if part)
    ends = stone.ends.utc if stone.ends else None
    return CalendarEntry(f"milestone-{stone.id}@{campaign.slug}", stone.title, words, stone.at.utc, ends)


def _lines(entry: CalendarEntry, now: datetime) -> Iterator[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{escape_text(entry.uid)}"
    yield f"DTSTAMP:{stamp(now)}"
    yield f"DTSTART:{stamp(entry.begins)}"
    if entry.ends:
        yield f"DTEND:{stamp(entry.ends)}"
    yield f"SUMMARY:{escape_text(entry.title)}"
    if entry.words:
        yield f"DESCRIPTION:{escape_text(entry.words)}"
    yield "END:VEVENT"


def stamp(moment: datetime) -> str:
    """A moment as the format writes it.

    >>> stamp(datetime(2018, 5, 14, 4, tzinfo=UTC))
    '20180514T040000Z'
    """
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def escape_text(text: str) -> str:
    r"""A text in which nothing can end its line or begin another property (X-14).

    >>> escape_text("a,b;c\nd")
    'a\\,b\\;c\\nd'
    """
    plain = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    broken = plain.replace("\r\n", "\\n").replace("\n", "\\n").replace("\r", "\\n")
    return "".join(char if char.isprintable() else " " for char in broken)


def fold_line(line: str) -> str:
    """A line of at most 75 bytes each, continued after a blank.

    >>> [len(part.encode()) for part in fold_line("x" * 160).split(chr(13) + chr(10))]
    [75, 75, 12]
    """
    parts, part = [], ""
    for char in line:
        if len((part + char).encode()) > LONGEST:
            parts.append(part)
            part = " "
        part += char
    return "\r\n".join([*parts, part])
