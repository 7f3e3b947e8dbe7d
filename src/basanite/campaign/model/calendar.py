"""The calendar's answers: what this team may submit now, how many are left, when it resets, what opens next (M62)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product

from basanite.campaign.model import stages
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.matching import mismatches
from basanite.campaign.model.names import name_problems
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.quotas import Account, Balance, Extras, Use, account, balance
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.model.time.zones import spelt
from basanite.problems import Problem

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
    """When the count begins anew; None if it never does before the window closes."""

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
        for window in stages.open_windows(campaign, now)
        for choice in _choices(campaign, window, track)
    )


def _choices(campaign: Campaign, window: Window, track: str | None) -> Iterator[tuple[str, str, str]]:
    """The tasks, languages and tracks of a row."""
    tracks = [entry.id for entry in stages.window_tracks(campaign, window)] or ([] if campaign.tracks else [""])
    chosen = [name for name in tracks if track in (None, name)]
    return product(window.tasks, stages.languages(campaign, window) or ("",), chosen)


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
    check_quota(campaign, window, completed(campaign, window, declared), now, used, extras=extras)
    return window


def row_for(campaign: Campaign, declared: Declared, now: datetime, *, team: str = "") -> Window:
    """The row in force for what is declared, whatever is left of its quota; late rows only if no open one takes it."""
    late = [window for window in campaign.windows if stages.takes_late(window, now)]
    reasons: dict[str, tuple[Problem, ...]] = {}
    for group in (stages.open_windows(campaign, now), late):
        found = {window.id: mismatches(campaign, window, declared, now) for window in group}
        fitting = [window for window in group if not found[window.id]]
        if len(fitting) > 1:
            raise _undecided(campaign, declared, fitting)
        if fitting:
            return _with_good_name(campaign, fitting[0], declared, team)
        reasons |= found
    raise _none_fits(campaign, declared, now, reasons)


def _with_good_name(campaign: Campaign, window: Window, declared: Declared, team: str) -> Window:
    found = name_problems(campaign, window, completed(campaign, window, declared), team)
    if found:
        raise RefusedError(found, status=422)
    return window


def _undecided(campaign: Campaign, declared: Declared, windows: list[Window]) -> RefusedError:
    rows = " or ".join(described(campaign, window) for window in windows)
    return refused("M62", "several rows of the calendar would take this", f"say which you mean: {rows}", status=422)


def _none_fits(
    campaign: Campaign, declared: Declared, now: datetime, reasons: Mapping[str, tuple[Problem, ...]]
) -> RefusedError:
    """The reasons of the row that comes nearest, and what is allowed now (M62)."""
    nearest = min(reasons.values(), key=lambda found: (len(found), _RANK.get(found[0].rule, 0)), default=())
    allowed = problem("M62", "this is not in the calendar now", allowed_now(campaign, now), found=_words(declared))
    others = [found for found in nearest if found.rule != "M62"]
    return RefusedError((*others, *(found for found in nearest if found.rule == "M62"), allowed), status=409)


_RANK: Mapping[str, int] = {"M63": -1}
"""Where several rows are equally near, the one that the larger-set rule turns down explains most."""


def _words(declared: Declared) -> str:
    parts = (declared.task, declared.language, declared.queryset, "+".join(declared.dataset), declared.track)
    return " ".join(part for part in parts if part)


def allowed_now(campaign: Campaign, now: datetime) -> str:
    """What may be submitted now, in a sentence; if nothing, what opens next."""
    rows = [described(campaign, window) for window in stages.open_windows(campaign, now)]
    if rows:
        return f"allowed now: {'; '.join(rows)}"
    later = stages.upcoming(campaign, now, 1)
    if not later:
        return "the calendar is over: nothing opens any more"
    return f"nothing is open now; next: {described(campaign, later[0])} from {spelt(later[0].opens.utc, campaign.zone)}"


def described(campaign: Campaign, window: Window) -> str:
    """A row in a few words."""
    what = "/".join(window.tasks)
    sets = f" with {stages.queryset_name(campaign, window)}" if window.querysets else ""
    where = f" ({', '.join(stages.languages(campaign, window))})" if stages.languages(campaign, window) else ""
    return f"{what} on {'+'.join(window.dataset)}{sets}{where}"


def completed(campaign: Campaign, window: Window, declared: Declared) -> Declared:
    """What is declared, with what follows from its row filled in."""
    languages, tracks = stages.languages(campaign, window), stages.window_tracks(campaign, window)
    language = declared.language or (languages[0] if len(languages) == 1 else "")
    track = declared.track or (tracks[0].id if len(tracks) == 1 else "")
    with_queries = declared.task not in stages.TASKS_WITHOUT_QUERIES
    domains = stages.stage_domains(campaign, window, language) if declared.task == stages.DOMAIN_TASK else ()
    return replace(
        declared,
        language=language,
        track=track,
        dataset=window.dataset,
        queryset=stages.queryset_name(campaign, window) if with_queries else "",
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
    when = f"the count begins anew at {spelt(resets, campaign.zone)}" if resets else "it is not refilled in this window"
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
    return f"still possible: {', '.join(free)}" if free else "withdraw nothing: other types are bounded by the count"
