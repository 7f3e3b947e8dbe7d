"""What a moment means: which packs and domains are out, which windows are open, and what a row is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from basanite.campaign.model.plan import Campaign, Track, Window
from basanite.tasks.judged import licenses_in

DOMAIN_TASK = "DomainID"
TASKS_WITHOUT_QUERIES = frozenset({"DomainID", "LangID"})
UNCONSTRAINED = "unconstrained"


def is_open(window: Window, now: datetime) -> bool:
    """Whether an upload that starts now is on time (X-2)."""
    return window.opens.utc <= now < window.closes.utc


def takes_late(window: Window, now: datetime) -> bool:
    """Whether it is closed, but an upload that starts now is still taken as late (P-23)."""
    return window.closes.utc <= now < window.closes.utc + window.late_grace


def open_windows(campaign: Campaign, now: datetime) -> tuple[Window, ...]:
    """The rows in force, in the order of the file (M62)."""
    return tuple(window for window in campaign.windows if is_open(window, now))


def upcoming(campaign: Campaign, now: datetime, most: int = 5) -> tuple[Window, ...]:
    """What opens next, soonest first."""
    later = [window for window in campaign.windows if window.opens.utc > now]
    return tuple(sorted(later, key=lambda window: window.opens.utc)[:most])


def superset(campaign: Campaign, dataset: tuple[str, ...], now: datetime) -> tuple[str, ...]:
    """All packs that are out by now in the families of a data set: only these together are scored (M63, C30)."""
    families = {pack.family for pack in campaign.packs if pack.id in dataset}
    return tuple(
        pack.id
        for pack in campaign.packs
        if pack.id in dataset or (pack.family in families and (pack.released.utc <= now))
    )


def stage_domains(campaign: Campaign, window: Window, language: str) -> tuple[str, ...]:
    """The domains of a row for a language: those it lists that the language has, or all that are out (M75)."""
    out = [
        code
        for release in campaign.domains
        if (not release.languages or language in release.languages) and release.released.utc <= window.opens.utc
        for code in release.codes
    ]
    return tuple(dict.fromkeys(code for code in out if not window.domains or code in window.domains))


def window_tracks(campaign: Campaign, window: Window) -> tuple[Track, ...]:
    """The tracks that a row is for."""
    return tuple(track for track in campaign.tracks if not window.tracks or track.id in window.tracks)


def conditions(campaign: Campaign, window: Window, track: str = "") -> tuple[str, ...]:
    """The training conditions that a row takes, by default unconstrained alone (M57)."""
    of_tracks = [t.condition for t in window_tracks(campaign, window) if track in ("", t.id)]
    return window.conditions or tuple(dict.fromkeys(of_tracks)) or (UNCONSTRAINED,)


def languages(campaign: Campaign, window: Window) -> tuple[str, ...]:
    """The languages of a row; none means those of the campaign."""
    return window.languages or campaign.languages


def shown_language(campaign: Campaign, language: str) -> str:
    """The language as boards and pages name it: not at all in a campaign with only one."""
    return language if len(campaign.languages) > 1 else ""


def dataset_name(campaign: Campaign, window: Window) -> str:
    """The data set as archive names spell it: EVAL1EVAL2."""
    return "".join(campaign.pack(name).spelling for name in window.dataset)


def queryset_name(campaign: Campaign, window: Window) -> str:
    """The query sets, as in archive names: QUERY2QUERY3."""
    return "".join(campaign.queryset(name).spelling for name in window.querysets)


def is_sealed(campaign: Campaign, window: Window) -> bool:
    """Whether some key of this row never leaves the evaluation team (M71)."""
    return any(pack.sealed for pack in campaign.packs if pack.id in window.dataset)


def is_blind(window: Window) -> bool:
    """Whether nobody gets a score before release (M68)."""
    return window.feedback == "none" or window.kind in ("evaluation", "sanity")


FACTOR: Final = "openness"
OPEN: Final = "open"
CLOSED: Final = "closed"


def open_sets(campaign: Campaign, window: Window) -> tuple[str, ...]:
    """The query sets of a window that never count."""
    return tuple(one.id for one in campaign.querysets if one.open and one.id in window.querysets)


def closed_sets(campaign: Campaign, window: Window) -> tuple[str, ...]:
    """The query sets of a window that count."""
    return tuple(name for name in window.querysets if name not in open_sets(campaign, window))


def has_final_value(campaign: Campaign, window: Window) -> bool:
    """Whether anything in a window can count toward a final value."""
    return bool(closed_sets(campaign, window)) or not window.querysets


def board_summary(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a board needs of a result: its values, those of the closed queries too, with their intervals."""
    kept: dict[str, Any] = {name: result[name] for name in ("task", "primary") if name in result}
    kept["values"] = _plain_values(result.get("values") or {})
    if licenses := licenses_in(result.get("notes") or ()):
        kept["licenses"] = licenses
    closed = (result.get("breakdowns") or {}).get(FACTOR, {}).get(CLOSED)
    return kept | ({"breakdowns": {FACTOR: {CLOSED: _plain_values(closed)}}} if closed else {})


def _plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    parts = ("value", "low", "high")
    return {name: {part: entry[part] for part in parts if part in entry} for name, entry in values.items()}


def openness_table(queries: Iterable[str], opened: Collection[str]) -> str:
    """Metadata for scoring: every query with `open` or `closed`.

    >>> openness_table(["q1", "q2"], {"q2"})
    'query\\topenness\\nq1\\tclosed\\nq2\\topen\\n'
    """
    rows = [f"{query}\t{OPEN if query in opened else CLOSED}\n" for query in queries]
    return f"query\t{FACTOR}\n{''.join(rows)}"


def final_result(result: Mapping[str, Any], campaign: Campaign, window: Window) -> dict[str, Any] | None:
    """A result as it counts: over the closed queries alone; None if none of its queries counts (M20).

    Breakdowns are left out where open queries would be among them.
    """
    if not open_sets(campaign, window):
        return dict(result)
    closed = (result.get("breakdowns") or {}).get(FACTOR, {}).get(CLOSED)
    if not closed or not closed_sets(campaign, window):
        return None
    note = "Open queries are excluded: they never count toward a final value (M20)."
    return {**result, "values": closed, "breakdowns": {}, "notes": [*(result.get("notes") or ()), note]}
