"""Each table of a campaign's file as a value: what it may hold, and what is taken where nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from basanite.campaign.model.file.entries import CampaignEntries
from basanite.campaign.model.ladder import USUAL_ERRORS
from basanite.campaign.model.plan import (
    Agreement,
    DomainRelease,
    Milestone,
    Pack,
    QuerySet,
    Quota,
    Track,
    UsageRules,
    Window,
)

PACK_KEYS: Final = ("id", "family", "released", "language", "title", "sealed", "usage", "agreement", "key_at", "code")
WINDOW_KEYS: Final = (
    "id", "title", "event", "opens", "closes", "tasks", "dataset", "quota", "feedback", "kind", "languages",
    "querysets", "domains", "tracks", "conditions", "shows", "half_width", "naming", "transfer_grace", "late_grace",
    "results_at", "certification", "ladder", "looks", "settings", "forced", "primary",
)  # fmt: skip
MILESTONE_KEYS: Final = ("id", "title", "at", "ends", "owner", "deliverable")
AGREEMENT_KEYS: Final = ("id", "title", "version", "text", "counter_signed", "expires", "deletion_by")
FEEDBACK: Final = ("full", "limited", "none")
KINDS: Final = ("development", "evaluation", "sanity")
NAMINGS: Final = ("named", "pseudonym", "own")
PERIODS: Final = ("week", "day", "total")


def track(entry: CampaignEntries) -> Track:
    """One of the tracks (P-31)."""
    entry.known(("id", "title", "condition", "required"))
    name = entry.id()
    return Track(name, entry.text("title", name), entry.text("condition", "unconstrained"), entry.texts("required"))


def pack(entry: CampaignEntries) -> Pack:
    """One of the packs; without a family it is a family of its own."""
    entry.known(PACK_KEYS)
    name = entry.id()
    return Pack(
        name,
        entry.text("family", name),
        entry.instant("released"),
        language=entry.text("language", ""),
        title=entry.text("title", ""),
        sealed=entry.flag("sealed", True),
        usage=entry.text("usage", ""),
        agreement=entry.text("agreement", ""),
        key_at=entry.optional_instant("key_at"),
        code=entry.text("code", ""),
    )


def queryset(entry: CampaignEntries) -> QuerySet:
    """One of the query sets."""
    entry.known(("id", "released", "open", "code"))
    return QuerySet(entry.id(), entry.instant("released"), entry.flag("open", False), entry.text("code", ""))


def domains(entry: CampaignEntries) -> DomainRelease:
    """Domains that become known together."""
    entry.known(("codes", "released", "languages"))
    codes = entry.texts("codes")
    if not codes:
        entry.add("domains without codes", 'write codes = ["GOV", "LIF"]', key="codes", rule="M75")
    return DomainRelease(codes, entry.instant("released"), entry.texts("languages"))


def window(entry: CampaignEntries) -> Window:
    """One row of the calendar."""
    entry.known(WINDOW_KEYS)
    name = entry.id()
    return Window(
        id=name,
        title=entry.text("title", name),
        opens=entry.instant("opens"),
        closes=entry.instant("closes"),
        tasks=_needed(entry, "tasks", "CLIR"),
        dataset=_needed(entry, "dataset", "DEV"),
        quota=quota(entry),
        feedback=_feedback(entry),
        kind=entry.chosen("kind", KINDS, "development"),
        naming=entry.chosen("naming", NAMINGS, "named"),
        transfer_grace=entry.duration("transfer_grace", timedelta(minutes=60)),
        late_grace=entry.duration("late_grace", timedelta(0)),
        certification=entry.duration("certification", timedelta(0)),
        results_at=entry.instants("results_at"),
        ladder=_ladder(entry),
        looks=None if entry.values.get("looks") is False else entry.whole("looks", None, 0, 10**6),
        half_width=entry.number("half_width", 0.05, 0, 1000) or 0.05,
        settings=_settings(entry),
        forced=entry.text("forced", ""),
        event=entry.text("event", ""),
        **{key: entry.texts(key) for key in ("languages", "querysets", "domains", "tracks", "conditions", "shows")},
    )


def _settings(entry: CampaignEntries) -> dict[str, Any]:
    """Settings of scoring; `primary` is one of them: a metric for all tasks of the row, or one for each by name."""
    settings, primary = dict(entry.table("settings", needed=False).values), entry.values.get("primary")
    if primary is None:
        return settings
    if "primary" in settings:
        entry.add(f"{entry.place} names its primary metric twice", "take it out of `settings`", key="settings")
    if not isinstance(primary, Mapping):
        return {**settings, "primary": entry.text("primary")}
    table = entry.table("primary")
    for task in table.values:
        own = settings.get(task, {})
        settings[task] = {**(own if isinstance(own, Mapping) else {}), "primary": table.text(task)}
    return settings


def _needed(entry: CampaignEntries, key: str, example: str) -> tuple[str, ...]:
    found = entry.texts(key)
    if not found and not entry.values.get(key):
        entry.add(f"{entry.place} has no `{key}`", f'write {key} = ["{example}"]', key=key)
    return found


def _feedback(entry: CampaignEntries) -> Any:
    """What teams get to see is never guessed."""
    if "feedback" not in entry.values:
        fix = 'write feedback = "full", "limited" or "none"'
        entry.add(f"{entry.place} does not say what teams see", fix, key="feedback", rule="M69")
    return entry.chosen("feedback", FEEDBACK, "none")


def _ladder(entry: CampaignEntries) -> float | None:
    """Standard errors; `true` means the usual two (S-17)."""
    if entry.values.get("ladder") is True:
        return USUAL_ERRORS
    return None if entry.values.get("ladder") is False else entry.number("ladder", None, 0, 100)


def quota(entry: CampaignEntries) -> Quota:
    """How many, in which period, and the most of each type."""
    if "quota" not in entry.values:
        fix = 'write quota = { count = 200, period = "week" }'
        entry.add(f"{entry.place} has no quota", fix, key="quota", rule="M64")
        return Quota(0)
    table = entry.table("quota")
    table.known(("count", "period", "types"))
    if "count" not in table.values:
        table.add(f"the quota of {entry.place} has no count", "write count = 200", key="count", rule="M64")
    types = table.table("types", needed=False)
    most = {key: types.whole(key, 0, 0, 10**6) or 0 for key in types.values}
    if entry.values.get("kind") == "evaluation" and not any(key.endswith("primary") for key in most):
        most["primary"] = 1  # one of an evaluation week stands for the team (M66)
    return Quota(table.whole("count", 0, 0, 10**6) or 0, table.chosen("period", PERIODS, "week"), most)


def milestone(entry: CampaignEntries) -> Milestone:
    """Something in the calendar that nobody submits to (P-19)."""
    entry.known(MILESTONE_KEYS)
    name = entry.id()
    return Milestone(
        name,
        entry.text("title", name),
        entry.instant("at"),
        entry.optional_instant("ends"),
        entry.text("owner", ""),
        entry.text("deliverable", ""),
    )


def agreement(entry: CampaignEntries) -> Agreement:
    """A document to be signed before data are given out (P-26)."""
    entry.known(AGREEMENT_KEYS)
    name = entry.id()
    return Agreement(
        name,
        entry.text("title", name),
        entry.text("version"),
        entry.text("text", ""),
        counter_signed=entry.flag("counter_signed", True),
        expires=entry.optional_instant("expires"),
        deletion_by=entry.optional_instant("deletion_by"),
    )


def rules(entry: CampaignEntries) -> UsageRules:
    """Rules that every person accepts."""
    entry.known(("id", "version", "text"))
    return UsageRules(entry.id(), entry.text("version"), entry.text("text"))


def claim(entry: CampaignEntries) -> Mapping[str, Any]:
    """A sentence to be tested; its other keys belong to the analysis it is tied to."""
    entry.text("id")
    return dict(entry.values)
