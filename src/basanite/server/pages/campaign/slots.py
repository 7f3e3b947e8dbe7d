"""What a team may submit now, as pages show it; and the rows of a calendar in words."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from basanite.campaign.intake import quotas
from basanite.campaign.model import stages
from basanite.campaign.model.calendar import Allowance
from basanite.campaign.model.exposure import attempts_in
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.organising import references
from basanite.server.catalogue import plural, say, sentence
from basanite.server.roles import Caller

FEEDBACK = {
    "full": sentence("You get all values and breakdowns."),
    "limited": sentence("You get a few rounded values."),
    "none": sentence("Nobody gets a score before results are released."),
}
PERIODS = {
    "week": sentence("{count} a week"),
    "day": sentence("{count} a day"),
    "total": sentence("{count} in all"),
}


@dataclass(frozen=True)
class Slot:
    """One thing that the reader's team may submit now, and how often."""

    window: str
    window_title: str
    task: str
    language: str
    track: str
    dataset: str
    queryset: str
    left: int
    count: int
    left_primary: int
    left_contrastive: int
    resets: datetime | None
    closes: datetime
    blind: bool
    ready: bool = True
    """Whether there is a reference to check and score it with."""

    @property
    def what(self) -> str:
        """Task, language and track in one line."""
        return " · ".join(part for part in (self.task, self.language, self.track) if part)

    @property
    def value(self) -> str:
        """What a form says to mean this slot."""
        return "|".join((self.window, self.task, self.language, self.track))


@dataclass(frozen=True)
class Row:
    """One row of the calendar in words."""

    id: str
    title: str
    event: str
    state: Literal["past", "open", "coming"]
    opens: datetime
    closes: datetime
    tasks: tuple[str, ...]
    dataset: str
    languages: tuple[str, ...]
    feedback: str
    quota: str
    blind: bool


def slots(session: Session, caller: Caller) -> tuple[Slot, ...]:
    """What the caller's team may submit now; nothing for who is in none."""
    _, campaign = caller.here
    if caller.viewer.team is None:
        return ()
    found = quotas.allowances(session, caller.office, campaign, caller.viewer.team)
    active = references.active_places(session, caller.here[0].id)
    return tuple(_slot(campaign, one, active) for one in found)


def rows(campaign: Campaign, now: datetime) -> tuple[Row, ...]:
    """The calendar in the order of time."""
    ordered = sorted(campaign.windows, key=lambda window: (window.opens.utc, window.closes.utc, window.id))
    return tuple(row_of(campaign, window, now) for window in ordered)


def row_of(campaign: Campaign, window: Window, now: datetime) -> Row:
    """One window in words."""
    state: Literal["past", "open", "coming"] = "coming" if now < window.opens.utc else "past"
    return Row(
        window.id,
        window.title,
        window.event,
        "open" if stages.is_open(window, now) else state,
        window.opens.utc,
        window.closes.utc,
        window.tasks,
        " + ".join(window.dataset),
        stages.languages(campaign, window),
        feedback_words(campaign, window),
        quota_words(window),
        stages.is_blind(window),
    )


def feedback_words(campaign: Campaign, window: Window) -> str:
    """What teams get to see in a window, and from when on only the ladder (X-23)."""
    words = say(FEEDBACK[window.feedback])
    looks = window.looks if window.looks is not None else None if window.ladder is None else 0
    if stages.is_blind(window) or looks is None or attempts_in(campaign, window) <= looks:
        return words
    after = plural(
        looks,
        "{words} After {count} result your value moves only when a gain is beyond doubt.",
        "{words} After {count} results your value moves only when a gain is beyond doubt.",
        words=words,
    )
    return after if looks else say("Your value moves only when a gain is beyond doubt.")


def quota_words(window: Window) -> str:
    """The quota of a window in a few words."""
    words = say(PERIODS[window.quota.period], count=f"{window.quota.count:,}")
    kinds = [plural(most, "{count} {kind}", "{count} {kind}", kind=kind) for kind, most in window.quota.types.items()]
    return say("{words}, of these at most {kinds}", words=words, kinds=", ".join(kinds)) if kinds else words


def _slot(campaign: Campaign, one: Allowance, active: Set[references.Place]) -> Slot:
    window = one.window
    queries = one.task not in stages.TASKS_WITHOUT_QUERIES and bool(window.querysets)
    queryset = stages.queryset_name(campaign, window) if queries else ""
    return Slot(
        window.id,
        window.title,
        one.task,
        one.language,
        one.track,
        " + ".join(window.dataset),
        queryset,
        one.left,
        one.balance.count,
        one.left_of("primary"),
        one.left_of("contrastive"),
        one.resets,
        window.closes.utc,
        stages.is_blind(window),
        references.Place(one.task, "+".join(window.dataset), one.language, queryset) in active,
    )
