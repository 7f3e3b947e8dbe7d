"""What a moment means: which packs and domains are out, which windows are open, and what a row is made of."""

from __future__ import annotations

from datetime import datetime

from basanite.campaign.model.plan import Campaign, Pack, Track, Window

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
        pack.id for pack in campaign.packs if pack.id in dataset or (pack.family in families and _is_out(pack, now))
    )


def _is_out(pack: Pack, now: datetime) -> bool:
    return pack.released.utc <= now


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


def dataset_name(campaign: Campaign, window: Window) -> str:
    """The data set as archive names spell it: EVAL1EVAL2."""
    return "".join(campaign.pack(name).spelling for name in window.dataset)


def queryset_name(campaign: Campaign, window: Window) -> str:
    """The query sets as archive names spell them: QUERY2QUERY3."""
    return "".join(campaign.queryset(name).spelling for name in window.querysets)


def is_sealed(campaign: Campaign, window: Window) -> bool:
    """Whether some key of this row never leaves the evaluation team (M71)."""
    return any(pack.sealed for pack in campaign.packs if pack.id in window.dataset)


def is_blind(window: Window) -> bool:
    """Whether nobody gets a score before release (M68)."""
    return window.feedback == "none" or window.kind in ("evaluation", "sanity")
