"""A campaign file moved to other dates: last year's file, or an example, for a campaign that starts now."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final

from basanite.campaign.model.reading import load
from basanite.campaign.model.time.zones import zone_of

_DATE: Final = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?=[ T][0-9]{2}:[0-9]{2})")


def move_dates(text: str, start: datetime) -> str:
    """The file with every date moved by the same number of weeks, so that its first window has just opened at `start`.

    Whole weeks, because quotas and deadlines follow the days of the week. The clock times stay as they are written.
    """
    campaign = load(text)
    zone = zone_of(campaign.zone)
    first = min(window.opens.utc for window in campaign.windows).astimezone(zone).replace(tzinfo=None)
    weeks = (start.astimezone(zone).replace(tzinfo=None) - first) // timedelta(weeks=1)
    return _DATE.sub(lambda found: str(date.fromisoformat(found[0]) + timedelta(weeks=weeks)), text)
