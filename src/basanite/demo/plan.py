"""The demo's campaign file, with its moments counted from the day on which the demo is made."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Final

SLUG: Final = "demo"
FILE: Final = Path(__file__).with_name("season.toml")
MOMENT: Final = re.compile(r'"D([+-]\d+) (\d\d:\d\d)"')


def campaign_text(day: date) -> str:
    """The campaign's file for a demo that is made on this day."""
    return dated(FILE.read_text(encoding="utf-8"), day)


def dated(text: str, day: date) -> str:
    """The text with every counted moment written as a date.

    >>> dated('opens = "D-1 00:00"', date(2026, 3, 1))
    'opens = "2026-02-28 00:00"'
    """
    return MOMENT.sub(lambda found: f'"{day + timedelta(days=int(found[1]))} {found[2]}"', text)
