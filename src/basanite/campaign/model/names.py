"""Archive names in a campaign: who sends and when is filled in by us, and a full name must agree (M56-M59)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from basanite.campaign.model import stages
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.plan import Campaign, Window
from basanite.formats.packs.archive_names import SUFFIX, TASKS, ArchiveName, make_name, parse_name
from basanite.problems import Problem, shortened


def kept_name(campaign: Campaign, window: Window, declared: Declared, team: str, at: datetime) -> str:
    """The name under which a submission is kept: the one it was sent under (D-3), or its label where there was none.

    An archive of a detection task gets its full name; team, date and time are ours, whatever it was called (M58).
    """
    if declared.task not in TASKS:
        return declared.name or declared.label
    name = _name(campaign, window, declared)
    return make_name(replace(name, team=team, time=at))


def _name(campaign: Campaign, window: Window, declared: Declared) -> ArchiveName:
    domains = declared.domains or stages.stage_domains(campaign, window, declared.language)
    queries = tuple(campaign.queryset(name).spelling for name in window.querysets)
    without_queries = declared.task in stages.TASKS_WITHOUT_QUERIES
    return ArchiveName(
        label=declared.label,
        task=declared.task,
        type=declared.type,
        condition=declared.condition,
        sets=domains if declared.task == stages.DOMAIN_TASK else () if without_queries else queries,
        period=campaign.period,
        language=declared.language,
        dataset=stages.dataset_name(campaign, window),
    )


def name_problems(campaign: Campaign, window: Window, declared: Declared, team: str) -> tuple[Problem, ...]:
    """What is wrong with the name that the user's file has; a full one must say what was declared (M58)."""
    if not declared.name or declared.task not in TASKS:
        return ()
    found = parse_name(declared.name, conditions=stages.conditions(campaign, window, declared.track))
    if not isinstance(found, ArchiveName):
        return found
    return tuple(_disagreements(found, _name(campaign, window, declared), team, declared.name))


def _disagreements(found: ArchiveName, wanted: ArchiveName, team: str, name: str) -> Iterator[Problem]:
    if found.for_web:
        if found.label != wanted.label:
            yield _differs("label", found.label, wanted.label, name)
        return
    if team and found.team != team:
        yield _differs("team", found.team, team, name, rule="M58")
    for part in ("task", "type", "condition", "label", "period", "language", "dataset"):
        if getattr(found, part) != getattr(wanted, part):
            yield _differs(part, getattr(found, part), getattr(wanted, part), name)
    if sorted(found.sets) != sorted(wanted.sets):
        rule = "M59" if wanted.task == stages.DOMAIN_TASK else "M56"
        yield _differs("set", found.set_text, wanted.set_text, name, rule=rule)


def _differs(part: str, found: str, wanted: str, name: str, rule: str = "M56") -> Problem:
    message = f"the {part} in the archive's name is {shortened(found)!r}, but {wanted!r} was declared"
    fix = f"rename the file, declare what it says, or name it by its label alone: Label{SUFFIX}"
    return Problem(rule, name, None, None, message, fix, shortened(found))
