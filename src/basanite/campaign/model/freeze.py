"""What a window freezes when it opens, and where a later plan departs from it (P-28).

Frozen is everything that its results depend on: the row itself with settings and margins, packs, query sets, domains,
tracks, claims, judging rules and the rules that everybody accepted. Only plain values are compared, so a file that is
written differently but says the same has the same digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.zones import Instant, shown_in
from basanite.canonical import canonical_digest

SHARED: Final = (
    "zone", "period", "plan_version", "languages", "tracks", "rules", "agreements", "claims", "judging", "two_people",
    "invalid_per_day", "open_uploads", "largest_upload", "seed", "sealed",
)  # fmt: skip
"""What every window depends on, besides its own row and the packs, queries and domains behind it."""


@dataclass(frozen=True)
class Change:
    """One thing that a newer plan says differently."""

    what: str
    """Where it stands: `windows.dev-q1.quota.count`."""
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.what}: added, {_words(self.after)}"
        if self.after is None:
            return f"{self.what}: removed, was {_words(self.before)}"
        return f"{self.what}: {_words(self.before)} became {_words(self.after)}"


def frozen(campaign: Campaign, window: Window) -> dict[str, Any]:
    """All that the results of a window depend on, in plain values."""
    families = {pack.family for pack in campaign.packs if pack.id in window.dataset}
    named = {
        "window": window,
        "packs": {pack.id: pack for pack in campaign.packs if pack.family in families},
        "querysets": {one.id: one for one in campaign.querysets if one.id in window.querysets},
        "domains": [one for one in campaign.domains if not window.domains or set(one.codes) & set(window.domains)],
    }
    content: dict[str, Any] = plain({**named, **{name: getattr(campaign, name) for name in SHARED}})
    return content


def frozen_digest(campaign: Campaign, window: Window) -> str:
    """The hash under which a window's plan is frozen."""
    return canonical_digest(frozen(campaign, window))


def plan_digest(campaign: Campaign) -> str:
    """The hash of a whole campaign."""
    return canonical_digest(plain(campaign))


def departures(old: Campaign, new: Campaign, window: str) -> tuple[Change, ...]:
    """Where what holds for a window differs between two plans; one that is gone differs as a whole."""
    before = frozen(old, old.window(window))
    if window not in {one.id for one in new.windows}:
        return (Change("window", before["window"], None),)
    return tuple(_different(before, frozen(new, new.window(window)), ""))


def changes(old: object, new: object) -> tuple[Change, ...]:
    """Every difference between two plans, or two schemes of judging, by where it stands."""
    return tuple(_different(_by_id(old), _by_id(new), ""))


def _by_id(whole: object) -> dict[str, Any]:
    """A plan in plain values, with its tables by their ids, so that a row put in between moves nothing."""
    content: dict[str, Any] = plain(whole)
    return {name: _by_key(value) for name, value in content.items()}


def _by_key(value: Any) -> Any:
    tables = isinstance(value, list) and value and all(isinstance(one, dict) and "id" in one for one in value)
    return {one["id"]: one for one in value} if tables else {} if value == [] else value


def plain(value: Any) -> Any:
    """Any value of a plan in the types of JSON, in an order of its own.

    >>> plain({"late": timedelta(minutes=5), "who": frozenset({"b", "a"})})
    {'late': '300 s', 'who': ['a', 'b']}
    """
    if isinstance(value, Instant):
        return shown_in(value.utc, "UTC")  # in whatever zone it was written, it is the same moment
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(plain(part) for part in value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g} s"
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _different(old: Any, new: Any, path: str) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _different(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield Change(path, old, new)


def _words(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= 200 else text[:199] + "…"
