"""The calendar's answers: what this team may submit now, how many are left, when it resets, what opens next (M62)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product

from basanite.campaign.model import windows
from basanite.campaign.model.plan import Campaign, Declared, Window
from basanite.campaign.model.quotas import Account, Balance, Extras, Use, account, balance
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.model.zones import spelt
from basanite.formats.archives.archive_names import SUFFIX, TASKS, ArchiveName, make_name, parse_name
from basanite.problems import Problem, shortened
from basanite.registry import suggestion


def kept_name(campaign: Campaign, window: Window, declared: Declared, team: str, at: datetime) -> str:
    """The name under which a submission is kept: the one it was sent under (D-3), or its label where there was none.

    An archive of a detection task gets its full name; team, date and time are ours, whatever it was called (M58).
    """
    if declared.task not in TASKS or window.programs is not None:
        return declared.name or declared.label
    name = _name(campaign, window, declared)
    return make_name(replace(name, team=team, time=at))


def _name(campaign: Campaign, window: Window, declared: Declared) -> ArchiveName:
    domains = declared.domains or windows.stage_domains(campaign, window, declared.language)
    queries = tuple(campaign.queryset(name).spelling for name in window.querysets)
    without_queries = declared.task in windows.TASKS_WITHOUT_QUERIES
    return ArchiveName(
        label=declared.label,
        task=declared.task,
        type=declared.type,
        condition=declared.condition,
        sets=domains if declared.task == windows.DOMAIN_TASK else () if without_queries else queries,
        period=campaign.period,
        language=declared.language,
        dataset=windows.dataset_name(campaign, window),
    )


def name_problems(campaign: Campaign, window: Window, declared: Declared, team: str) -> tuple[Problem, ...]:
    """What is wrong with the name that the user's file has; a full one must say what was declared (M58)."""
    if not declared.name or declared.task not in TASKS or window.programs is not None:
        return ()
    found = parse_name(declared.name, conditions=windows.conditions(campaign, window, declared.track))
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
        rule = "M59" if wanted.task == windows.DOMAIN_TASK else "M56"
        yield _differs("set", found.set_text, wanted.set_text, name, rule=rule)


def _differs(part: str, found: str, wanted: str, name: str, rule: str = "M56") -> Problem:
    message = f"the {part} in the archive's name is {shortened(found)!r}, but {wanted!r} was declared"
    fix = f"rename the file, change the declaration, or use the label alone: Label{SUFFIX}"
    return Problem(rule, name, None, None, message, fix, shortened(found))


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
        yield problem("M57", f"there is no type {declared.type!r}", "write primary or contrastive")


def _language(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    known = windows.languages(campaign, window)
    if declared.language and declared.language not in known:
        yield problem("M62", f"the language {declared.language!r} is not open", f"open: {', '.join(known) or 'none'}")
    elif not declared.language and len(known) > 1:
        yield problem("M62", "the language is missing", f"write one of {', '.join(known)}")


def _dataset(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    """The packs of the row and no others; a row that a later release has overtaken takes nothing (M63)."""
    wanted = windows.superset(campaign, window.dataset, now)
    mine = declared_packs(campaign, window, declared)
    if set(wanted) != set(window.dataset) and (not mine or set(mine) == set(window.dataset)):
        yield _larger(window.dataset, wanted)
    elif mine and set(mine) != set(window.dataset):
        if set(mine) < set(wanted) and set(windows.superset(campaign, mine, now)) == set(wanted):
            yield _larger(mine, wanted)
        else:
            row = "+".join(window.dataset)
            yield problem("M62", f"the data set {'+'.join(mine)} is not open", f"submit on {row}", found="+".join(mine))


def _larger(smaller: tuple[str, ...], wanted: tuple[str, ...]) -> Problem:
    message = f"{'+'.join(smaller)} alone is no longer scored: more data packs of its family have been released"
    return problem("M63", message, f"submit on {'+'.join(wanted)}", found="+".join(smaller))


def declared_packs(campaign: Campaign, window: Window, declared: Declared) -> tuple[str, ...]:
    """The ids of the packs that a declaration names, by id or as archive names spell them, joined or not."""
    text = "+".join(declared.dataset)
    if text.replace("+", "") == windows.dataset_name(campaign, window):
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
    if declared.task in windows.TASKS_WITHOUT_QUERIES or not declared.queryset:
        return
    spelt, ids = windows.queryset_name(campaign, window), "".join(window.querysets)
    if declared.queryset.replace("+", "") not in (spelt, ids):
        fix = f"submit on {spelt}" if spelt else "omit the query set"
        yield problem("M62", f"the query set {declared.queryset} is not open", fix, found=declared.queryset)


def _track(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    known = [track.id for track in windows.window_tracks(campaign, window)]
    if declared.track and declared.track not in known:
        words = suggestion(declared.track, known) if known else "omit the track"
        yield problem("P-31", f"the track {declared.track!r} is not open", words, found=declared.track)
    elif not declared.track and len(known) > 1:
        yield problem("P-31", "the track is missing", f"write one of {', '.join(known)}")


def _condition(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    allowed = windows.conditions(campaign, window, declared.track)
    if declared.condition not in allowed:
        message = f"the training condition {declared.condition!r} is not accepted here"
        yield problem("M57", message, f"write {' or '.join(allowed)}", found=declared.condition)


def _domains(campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Found:
    """Exactly the domains of the stage, in any order, none twice (M59)."""
    if declared.task != windows.DOMAIN_TASK or not declared.domains:
        return
    languages = windows.languages(campaign, window)
    language = declared.language or (languages[0] if len(languages) == 1 else "")
    known = windows.stage_domains(campaign, window, language)
    if len(set(declared.domains)) < len(declared.domains) or set(declared.domains) != set(known):
        fix = f"name each domain of the stage once, in any order: {'-'.join(known)}"
        yield problem("M59", "these are not the domains of the stage", fix, found="-".join(declared.domains))


NO_EXTRAS: Extras = {}


@dataclass(frozen=True)
class Allowance:
    """One thing that may be submitted now, and how often."""

    window: Window
    task: str
    language: str
    track: str
    account: Account
    balance: Balance
    resets: datetime | None
    """When the count begins again; None if it never does before the window closes."""

    @property
    def left(self) -> int:
        """How many more may be submitted before the reset."""
        return self.balance.left

    def left_of(self, kind: str) -> int:
        """How many more of one type."""
        return self.balance.left_of(self.task, kind)


def allowances(
    campaign: Campaign,
    now: datetime,
    used: Iterable[Use] = (),
    extras: Extras = NO_EXTRAS,
    track: str | None = None,
) -> tuple[Allowance, ...]:
    """Everything that may be submitted now, one entry for each row, task, language and track."""
    spent = tuple(used)
    return tuple(
        _allowance(campaign, window, choice, now, spent, extras)
        for window in windows.open_windows(campaign, now)
        for choice in _choices(campaign, window, track)
    )


def _choices(campaign: Campaign, window: Window, track: str | None) -> Iterator[tuple[str, str, str]]:
    """The tasks, languages and tracks of a row."""
    tracks = [entry.id for entry in windows.window_tracks(campaign, window)] or ([] if campaign.tracks else [""])
    chosen = [name for name in tracks if track in (None, name)]
    return product(window.tasks, windows.languages(campaign, window) or ("",), chosen)


def _allowance(
    campaign: Campaign,
    window: Window,
    choice: tuple[str, str, str],
    now: datetime,
    used: tuple[Use, ...],
    extras: Extras,
) -> Allowance:
    task, language, track = choice
    place = account(campaign, window, task, language, track, now)
    return Allowance(window, task, language, track, place, balance(window, place, used, extras), _resets(window, place))


def _resets(window: Window, place: Account) -> datetime | None:
    return place.span.ends if place.span.ends < window.closes.utc else None


def admit(
    campaign: Campaign,
    declared: Declared,
    now: datetime,
    used: Iterable[Use] = (),
    *,
    extras: Extras = NO_EXTRAS,
    team: str = "",
) -> Window:
    """The row that takes a submission whose upload starts now; a refusal says what is allowed instead."""
    window = row_for(campaign, declared, now, team=team)
    check_quota(campaign, window, complete_declaration(campaign, window, declared), now, used, extras=extras)
    return window


def row_for(campaign: Campaign, declared: Declared, now: datetime, *, team: str = "") -> Window:
    """The row in force for what is declared, whatever is left of its quota; late rows only if no open one takes it."""
    late = [window for window in campaign.windows if windows.takes_late(window, now)]
    reasons: dict[str, tuple[Problem, ...]] = {}
    for group in (windows.open_windows(campaign, now), late):
        found = {window.id: mismatches(campaign, window, declared, now) for window in group}
        fitting = [window for window in group if not found[window.id]]
        if len(fitting) > 1:
            named = " or ".join(row_words(campaign, window) for window in fitting)
            message, fix = "several windows would accept this", f"specify one: {named}"
            raise refused("M62", message, fix, status=422)
        if fitting:
            return _with_good_name(campaign, fitting[0], declared, team)
        reasons |= found
    raise _none_fits(campaign, declared, now, reasons)


def _with_good_name(campaign: Campaign, window: Window, declared: Declared, team: str) -> Window:
    found = name_problems(campaign, window, complete_declaration(campaign, window, declared), team)
    if found:
        raise RefusedError(found, status=422)
    return window


def _none_fits(
    campaign: Campaign, declared: Declared, now: datetime, reasons: Mapping[str, tuple[Problem, ...]]
) -> RefusedError:
    """The reasons of the row that comes nearest, and what is allowed now (M62)."""
    nearest = min(reasons.values(), key=lambda found: (len(found), _RANK.get(found[0].rule, 0)), default=())
    allowed = problem("M62", "the calendar does not allow this now", allowed_now(campaign, now), found=_words(declared))
    others = [found for found in nearest if found.rule != "M62"]
    return RefusedError((*others, *(found for found in nearest if found.rule == "M62"), allowed), status=409)


_RANK: Mapping[str, int] = {"M63": -1}
"""Where several rows are equally near, the one that the larger-set rule turns down explains most."""


def _words(declared: Declared) -> str:
    parts = (declared.task, declared.language, declared.queryset, "+".join(declared.dataset), declared.track)
    return " ".join(part for part in parts if part)


def allowed_now(campaign: Campaign, now: datetime) -> str:
    """What may be submitted now, in a sentence; if nothing, what opens next."""
    rows = [row_words(campaign, window) for window in windows.open_windows(campaign, now)]
    if rows:
        return f"allowed now: {'; '.join(rows)}"
    later = windows.upcoming(campaign, now, 1)
    if not later:
        return "the calendar has no more windows"
    return (
        f"no window is open now; next: {row_words(campaign, later[0])} from {spelt(later[0].opens.utc, campaign.zone)}"
    )


def row_words(campaign: Campaign, window: Window) -> str:
    """A row in a few words."""
    what = "/".join(window.tasks)
    sets = f" with {windows.queryset_name(campaign, window)}" if window.querysets else ""
    where = f" ({', '.join(windows.languages(campaign, window))})" if windows.languages(campaign, window) else ""
    return f"{what} on {'+'.join(window.dataset)}{sets}{where}"


def complete_declaration(campaign: Campaign, window: Window, declared: Declared) -> Declared:
    """What is declared, with what follows from its row filled in."""
    languages, tracks = windows.languages(campaign, window), windows.window_tracks(campaign, window)
    language = declared.language or (languages[0] if len(languages) == 1 else "")
    track = declared.track or (tracks[0].id if len(tracks) == 1 else "")
    with_queries = declared.task not in windows.TASKS_WITHOUT_QUERIES
    domains = windows.stage_domains(campaign, window, language) if declared.task == windows.DOMAIN_TASK else ()
    return replace(
        declared,
        language=language,
        track=track,
        dataset=window.dataset,
        queryset=windows.queryset_name(campaign, window) if with_queries else "",
        domains=declared.domains or domains,
    )


def check_quota(
    campaign: Campaign,
    window: Window,
    declared: Declared,
    now: datetime,
    used: Iterable[Use],
    *,
    extras: Extras = NO_EXTRAS,
) -> Account:
    """Where the attempt will be counted; refused if none is left (M64, M66, M67)."""
    place = account(campaign, window, declared.task, declared.language, declared.track, now)
    state = balance(window, place, used, extras)
    if not state.left_of(declared.task, declared.type):
        raise _used_up(campaign, window, declared, place, state)
    return place


def _used_up(campaign: Campaign, window: Window, declared: Declared, place: Account, state: Balance) -> RefusedError:
    resets = _resets(window, place)
    when = f"the quota resets {spelt(resets, campaign.zone)}" if resets else "the quota does not reset in this window"
    if not state.left:
        message = f"all {state.count} submissions of this {_period_word(window)} are used"
        return refused("M64", message, when, status=429, retry_at=resets)
    most = min(bound for name, (bound, _) in state.types.items() if _bounds(name, declared))
    rule = "M67" if any("/" in name for name in state.types) else "M66"
    message = (
        f"{window.title} takes no {declared.type} {declared.task} submission"
        if not most
        else f"{most} {declared.type} {declared.task} submission{'s' if most > 1 else ''} of this "
        f"{_period_word(window)} already in"
    )
    return refused(rule, message, f"{_others(state)}; {when}", status=409, retry_at=resets if most else None)


def _period_word(window: Window) -> str:
    return "window" if window.quota.period == "total" else window.quota.period


def _bounds(name: str, declared: Declared) -> bool:
    return name in (declared.type, f"{declared.task}/{declared.type}")


def _others(state: Balance) -> str:
    """What is left of the other types."""
    free = [f"{most - gone} {name}" for name, (most, gone) in state.types.items() if most > gone]
    return (
        f"still possible: {', '.join(free)}"
        if free
        else "do not withdraw anything: other types are limited by the count"
    )
