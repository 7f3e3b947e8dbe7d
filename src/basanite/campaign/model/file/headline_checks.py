"""Whether the primary metric that a row names can be the headline of its boards (S-27)."""

from __future__ import annotations

from typing import Final

from basanite import registry
from basanite.campaign.model.file.entries import CampaignEntries
from basanite.campaign.model.hiding.results import NEVER_AN_EVALUATION
from basanite.campaign.model.plan import Window
from basanite.errors import BasaniteError
from basanite.registry import suggestion
from basanite.spine import find_task

KEY: Final = "primary"


def check_headlines(window: Window, entry: CampaignEntries) -> None:
    """A metric that each task has, that ranks, and that an evaluation may be decided by."""
    by_task = entry.values.get(KEY)
    for task in by_task if isinstance(by_task, dict) else ():
        if task not in window.tasks:
            message = f"`{KEY}` of {entry.place} names {task!r}, which is no task of it"
            entry.add(message, suggestion(task, window.tasks), key=KEY, found=task, rule="S-27")
    for task in window.tasks:
        name = window.settings_of(task).get(KEY)
        why = _objection(task, str(name)) if name else ""  # an empty one was told already
        if why:
            fix = "name a metric of the task that can rank systems"
            entry.add(f"the primary metric of {entry.place}: {why}", fix, key=KEY, found=str(name), rule="S-27")


def _objection(task: str, name: str) -> str:
    """Why a metric cannot be the headline of a task; empty if it can, or if there is no such task."""
    if task.lower() not in registry.names("tasks"):
        return ""
    try:
        found = find_task(task.lower())
        chosen = found.metric(found.headline(name))
    except BasaniteError as error:
        return str(error).rstrip(".")
    if chosen.optimistic:
        return f"{name} is selected on the test data, so no board can be decided by it"
    if name in NEVER_AN_EVALUATION:
        return f"{name} is for development only, so no board can be decided by it"
    return ""
