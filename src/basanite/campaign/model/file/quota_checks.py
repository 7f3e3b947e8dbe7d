"""Whether the parts of a quota add up: types that exist, none larger than the whole, one primary in a blind week."""

from __future__ import annotations

from basanite.campaign.model.file.entries import CampaignEntries
from basanite.campaign.model.matching import TYPES
from basanite.campaign.model.plan import Window
from basanite.registry import suggestion


def check_quota(window: Window, entry: CampaignEntries) -> None:
    """Report what is inconsistent in the quota of a window."""
    for name, most in window.quota.types.items():
        _check_name(window, name, entry)
        if most > window.quota.count:
            fix = "write a count that is at least as large"
            message = f"the quota of {entry.place} allows {most} {name} of {window.quota.count} in all"
            entry.add(message, fix, key="quota", found=name, rule="M66")
    _check_mixture(window, entry)
    if window.kind == "evaluation":
        _check_primary(window, entry)


def _check_name(window: Window, name: str, entry: CampaignEntries) -> None:
    task, _, kind = name.rpartition("/")
    if kind not in TYPES:
        words = suggestion(kind, TYPES)
        entry.add(f"the quota of {entry.place}: no type is called {kind!r}", words, key="quota", found=name, rule="M57")
    if task and task not in window.tasks:
        words = suggestion(task, window.tasks)
        message = f"the quota of {entry.place} bounds {task!r}, which the window does not take"
        entry.add(message, words, key="quota", found=name, rule="M57")


def _check_mixture(window: Window, entry: CampaignEntries) -> None:
    """Bounds by type and bounds by task cannot both hold: the latter share one count (M67)."""
    bare = [name for name in window.quota.types if "/" not in name]
    if bare and len(bare) < len(window.quota.types):
        fix = "name the task in all of them, or make two windows"
        entry.add(f"the quota of {entry.place} mixes bounds with and without a task", fix, key="quota", rule="M67")


def _check_primary(window: Window, entry: CampaignEntries) -> None:
    """Exactly one primary in an evaluation week (M66)."""
    primaries = {name: most for name, most in window.quota.types.items() if name.endswith("primary")}
    if "primary" in primaries and primaries["primary"] != 1:
        fix = "write types = { primary = 1, contrastive = 4 }"
        entry.add(f"{entry.place} must have exactly one primary", fix, key="quota", rule="M66")
    elif primaries and "primary" not in primaries and sum(primaries.values()) != 1:
        fix = 'write types = { "E2E/primary" = 1, "CLIR/primary" = 0, "CLIR/contrastive" = 4 }'
        entry.add(f"the tasks of {entry.place} must have exactly one primary together", fix, key="quota", rule="M67")
