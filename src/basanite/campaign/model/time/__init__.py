"""Zones, periods and calendar feeds: every instant is kept in UTC beside the zone it was declared in (P-27)."""
