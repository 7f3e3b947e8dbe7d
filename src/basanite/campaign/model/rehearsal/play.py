"""Simulated teams go through the calendar: at each row they try what it promises, by the rules of the real thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product

from basanite.campaign.model import stages
from basanite.campaign.model.calendar import admit, completed
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.matching import TYPES
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.quotas import Use, account
from basanite.campaign.model.refusals import RefusedError

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Step:
    """Something that happened in the play."""

    at: datetime
    what: str
    window: str = ""
    team: str = ""
    task: str = ""
    type: str = ""
    refused: str = ""
    """The rule that refused it, and its words."""


@dataclass
class SimulatedTeam:
    """A team that submits the same system everywhere, and the attempts it has used."""

    name: str
    used: list[Use] = field(default_factory=list)

    def submits(self, campaign: Campaign, window: Window, declared: Declared, now: datetime) -> Step:
        """Try to submit, as at any door; the attempt counts if it is taken."""
        step = Step(now, "submits", window.id, self.name, declared.task, declared.type)
        try:
            row = admit(campaign, declared, now, self.used)
        except RefusedError as error:
            first = error.problems[0]
            return Step(**{**step.__dict__, "refused": f"{first.rule}: {first.message}; {first.fix}"})
        full = completed(campaign, row, declared)
        place = account(campaign, row, full.task, full.language, full.track, now)
        self.used.append(Use(place.key, place.period, full.task, full.type))
        return step


def play(campaign: Campaign, teams: Sequence[SimulatedTeam], start: datetime) -> tuple[Step, ...]:
    """The whole season in the order of time, from a moment on."""
    steps: list[Step] = []
    for now, what, window in sorted(_moments(campaign, start), key=lambda moment: (moment[0], moment[2].id)):
        steps.append(Step(now, what, window.id))
        if what != "closes":
            steps += [
                team.submits(campaign, window, declared, now)
                for team in teams
                for declared in _attempts(campaign, window)
            ]
    return tuple(steps)


def _moments(campaign: Campaign, start: datetime) -> Iterator[tuple[datetime, str, Window]]:
    """When something is tried: as a row opens (or the play begins), in its last minute, and when it has closed."""
    for window in campaign.windows:
        first, last = max(window.opens.utc, start), window.closes.utc - MINUTE
        if first < window.closes.utc:
            yield first, "opens", window
            if last > first:
                yield last, "is about to close", window
            yield window.closes.utc, "closes", window


def _attempts(campaign: Campaign, window: Window) -> Iterator[Declared]:
    """One primary and one contrastive run of each task, language and track."""
    tracks = stages.window_tracks(campaign, window)
    choices = product(window.tasks, stages.languages(campaign, window) or ("",), [t.id for t in tracks] or [""], TYPES)
    for task, language, track, kind in choices:
        condition = stages.conditions(campaign, window, track)[0]
        queries = "" if task in stages.TASKS_WITHOUT_QUERIES else stages.queryset_name(campaign, window)
        yield Declared(
            task,
            "Rehearsal",
            type=kind,
            language=language,
            queryset=queries,
            dataset=window.dataset,
            track=track,
            condition=condition,
        )
