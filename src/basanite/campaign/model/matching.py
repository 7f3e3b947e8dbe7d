"""Whether a row of the calendar takes what is declared; every part that does not fit is named (M57, M59, M62, M63)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from basanite.campaign.model import stages
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import problem
from basanite.problems import Problem
from basanite.registry import suggestion

TYPES = ("primary", "contrastive")


def mismatches(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> tuple[Problem, ...]:
    """Everything of a declaration that this row does not take; nothing if it takes it."""
    checks = (_window, _task, _type, _language, _dataset, _queryset, _track, _condition, _domains)
    return tuple(found for check in checks for found in check(campaign, window, declared, now))


Found = Iterator[Problem]


def _window(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    if declared.window and declared.window != window.id:
        yield problem("M62", f"the window {declared.window!r} is not open", f"open: {window.id}", found=declared.window)


def _task(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    if declared.task not in window.tasks:
        every = {task for other in campaign.windows for task in other.tasks}
        rule = "M62" if declared.task in every else "M57"
        yield problem(rule, f"the task {declared.task!r} is not open", suggestion(declared.task, window.tasks))


def _type(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    if declared.type not in TYPES:
        yield problem("M57", f"no type is called {declared.type!r}", "write primary or contrastive")


def _language(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    known = stages.languages(campaign, window)
    if declared.language and declared.language not in known:
        yield problem("M62", f"the language {declared.language!r} is not open", f"open: {', '.join(known) or 'none'}")
    elif not declared.language and len(known) > 1:
        yield problem("M62", "the language is not said", f"write one of {', '.join(known)}")


def _dataset(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    """The packs of the row and no others; a row that a later release has overtaken takes nothing (M63)."""
    wanted = stages.superset(campaign, window.dataset, now)
    mine = declared_packs(campaign, window, declared)
    if set(wanted) != set(window.dataset) and (not mine or set(mine) == set(window.dataset)):
        yield _larger(window.dataset, wanted)
    elif mine and set(mine) != set(window.dataset):
        if set(mine) < set(wanted) and set(stages.superset(campaign, mine, now)) == set(wanted):
            yield _larger(mine, wanted)
        else:
            row = "+".join(window.dataset)
            yield problem("M62", f"the data set {'+'.join(mine)} is not open", f"submit on {row}", found="+".join(mine))


def _larger(smaller: tuple[str, ...], wanted: tuple[str, ...]) -> Problem:
    message = f"{'+'.join(smaller)} alone is not scored any more: more packs of its family are out"
    return problem("M63", message, f"submit on {'+'.join(wanted)}", found="+".join(smaller))


def declared_packs(campaign: Campaign, window: Window, declared: Declared) -> tuple[str, ...]:
    """The ids of the packs that a declaration names, by id or as archive names spell them, joined or not."""
    text = "+".join(declared.dataset)
    if text.replace("+", "") == stages.dataset_name(campaign, window):
        return window.dataset
    here = {campaign.pack(pack).spelling: pack for pack in window.dataset}
    elsewhere = {pack.spelling: pack.id for pack in reversed(campaign.packs)}
    return tuple((elsewhere | here).get(part, part) for part in _split(text, (*elsewhere,)))


def _split(text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """A joined name taken apart, longest known part first; what is not known stays whole."""
    parts: list[str] = []
    for piece in filter(None, text.split("+")):
        rest = piece
        while rest and (head := max((name for name in known if rest.startswith(name)), key=len, default="")):
            parts.append(head)
            rest = rest[len(head) :]
        if rest:
            return tuple(filter(None, text.split("+")))
    return tuple(parts)


def _queryset(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    """The query sets of the row together: a pack-wise superset is a matter of packs alone (C29)."""
    if declared.task in stages.TASKS_WITHOUT_QUERIES or not declared.queryset:
        return
    spelt, ids = stages.queryset_name(campaign, window), "".join(window.querysets)
    if declared.queryset.replace("+", "") not in (spelt, ids):
        fix = f"submit on {spelt}" if spelt else "leave the query set out"
        yield problem("M62", f"the query set {declared.queryset} is not open", fix, found=declared.queryset)


def _track(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    known = [track.id for track in stages.window_tracks(campaign, window)]
    if declared.track and declared.track not in known:
        words = suggestion(declared.track, known) if known else "leave the track out"
        yield problem("P-31", f"the track {declared.track!r} is not open", words, found=declared.track)
    elif not declared.track and len(known) > 1:
        yield problem("P-31", "the track is not said", f"write one of {', '.join(known)}")


def _condition(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    allowed = stages.conditions(campaign, window, declared.track)
    if declared.condition not in allowed:
        message = f"the training condition {declared.condition!r} is not taken here"
        yield problem("M57", message, f"write {' or '.join(allowed)}", found=declared.condition)


def _domains(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    """Exactly the domains of the stage, in any order, none twice (M59)."""
    if declared.task != stages.DOMAIN_TASK or not declared.domains:
        return
    languages = stages.languages(campaign, window)
    language = declared.language or (languages[0] if len(languages) == 1 else "")
    known = stages.stage_domains(campaign, window, language)
    if len(set(declared.domains)) < len(declared.domains) or set(declared.domains) != set(known):
        fix = f"name each domain of the stage once, in any order: {'-'.join(known)}"
        yield problem("M59", "these are not the domains of the stage", fix, found="-".join(declared.domains))
