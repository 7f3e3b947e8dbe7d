"""A paired test of a team's own runs: asked for by the team, made by a job, shown as far as both runs are.

It tells more than two values side by side, so it is made only where everything of both runs is shown: limited
feedback, ladders and blind windows refuse (S-17, X-7). Each comparison is a job, so a team asks for a few in an hour.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.intake.charges import lock_team
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.redaction import JUDGED, NEVER_AN_EVALUATION
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.results import facts
from basanite.campaign.results.facts import Desk, adopted_results, content, desk
from basanite.campaign.store import events
from basanite.campaign.store.tables import Board, Event, Result, Submission
from basanite.canonical import canonical_text

PURPOSE: Final = "own"
ASKED: Final = "comparison.own"
MOST_RUNS: Final = 8
MOST_AN_HOUR: Final = 6
HOUR: Final = timedelta(hours=1)
State = Literal["refused", "open", "computing", "failed", "there"]


@dataclass(frozen=True)
class Pair:
    """Two runs on one value: first minus second, and whether the difference is beyond doubt; no unit is named (M72)."""

    first: str
    second: str
    """Ids of the submissions."""
    difference: float | None
    low: float | None
    high: float | None
    p_adjusted: float | None
    verdict: str
    """`first`, `second` (the better one), `no difference shown`, `undecided`, `identical`, `undefined`, `different`."""
    reasons: tuple[Mapping[str, Any], ...] = ()
    """Why, as `compare --json` says it, without the name of a unit (S-29)."""
    flags: tuple[str, ...] = ()
    """Why there is no interval."""

    def reverse(self) -> Pair:
        """The same pair with the second run first."""
        turned = {"first": "second", "second": "first"}.get(self.verdict, self.verdict)
        gap, low, high = (None if one is None else -one for one in (self.difference, self.high, self.low))
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=gap,
            low=low,
            high=high,
            verdict=turned,
            reasons=tuple(
                {**one, "low": -one["high"], "high": -one["low"]}
                if None not in (one.get("low"), one.get("high"))
                else one
                for one in self.reasons
            ),
        )


@dataclass(frozen=True)
class OwnComparison:
    """Where a comparison of own runs stands, and what it says."""

    state: State
    """`open`: it may be asked for; `computing`; `there`; `refused` and `failed` say why in `reason`."""
    metric: str = ""
    pairs: tuple[Pair, ...] = ()
    reason: RefusedError | None = None


@dataclass(frozen=True)
class _Chosen:
    """Runs that may be compared, with the results that hold for them."""

    runs: tuple[Submission, ...]
    held: Mapping[str, Result]
    desk: Desk

    @property
    def key(self) -> str:
        """The key of all that goes in."""
        results = {run.id: self.held[run.id].key for run in self.runs}
        return hashlib.sha256(json.dumps({"purpose": PURPOSE, "results": results}).encode()).hexdigest()

    def order(self) -> facts.Order:
        """What the job is told."""
        first = self.runs[0]
        place = {"task": first.task, "language": first.language, "track": first.track}
        systems = {run.id: run.id for run in self.runs}
        return facts.Order(self.key, first.campaign_id, first.window, PURPOSE, {**place, "systems": systems})


def own_comparison(
    session: Session, office: Office, viewer: Viewer, campaign_id: str, run_ids: Sequence[str]
) -> OwnComparison:
    """Where the comparison of these own runs stands, for this viewer, now."""
    try:
        chosen = _chosen(session, office, viewer, campaign_id, run_ids)
    except RefusedError as error:
        return OwnComparison("refused", reason=error)
    row = session.get(Board, chosen.key)
    if row is not None:
        data = json.loads(office.files.read(row.digest))
        metric = _metric(chosen, data)
        return OwnComparison("there", metric, tuple(_pairs(data, metric)))
    asked = _request_times(session, chosen)
    if not asked:
        return OwnComparison("open")
    return OwnComparison("computing" if office.clock() - max(asked) < HOUR else "failed")


def ask(
    session: Session, office: Office, actor: Actor, viewer: Viewer, campaign_id: str, run_ids: Sequence[str]
) -> None:
    """Ask for a comparison of own runs in the caller's transaction; asked for twice, it is made once."""
    chosen = _chosen(session, office, viewer, campaign_id, run_ids)
    team = chosen.runs[0].team_id
    lock_team(session, team)
    asked = _request_times(session, chosen)
    if session.get(Board, chosen.key) is not None or (asked and office.clock() - max(asked) < HOUR):
        return
    _refuse_too_many(session, office, chosen)
    facts.ask(session, office, [chosen.order()], turn=len(asked), team=team)
    data = {"key": chosen.key, "runs": [run.id for run in chosen.runs]}
    events.record(session, ASKED, at=office.clock(), actor=actor.id, subject=team, campaign_id=campaign_id, data=data)


def _chosen(session: Session, office: Office, viewer: Viewer, campaign_id: str, run_ids: Sequence[str]) -> _Chosen:
    ids = sorted(set(run_ids))
    if not 2 <= len(ids) <= MOST_RUNS:
        raise refused("P-18", "a comparison takes two to eight runs", "choose some of them", status=422)
    rows = session.scalars(select(Submission).where(Submission.id.in_(ids), Submission.campaign_id == campaign_id))
    runs = {row.id: row for row in rows if viewer.team is not None and row.team_id == viewer.team}
    if len(runs) < len(ids):
        raise missing("submission")
    at = desk(session, office, viewer, plans.current(session, campaign_id))
    chosen = _Chosen(tuple(runs[one] for one in ids), adopted_results(session, ids), at)
    _check(chosen)
    return chosen


def _check(chosen: _Chosen) -> None:
    """Everything of all runs is shown, and they were scored alike."""
    if any(chosen.desk.sight(run).level != "full" or run.id not in chosen.held for run in chosen.runs):
        fix = "choose runs whose values you can see"
        raise refused(
            "S-17", "a paired test would reveal more about these runs than their window shows", fix, status=403
        )
    held = [chosen.held[run.id] for run in chosen.runs]
    if len({(one.reference_id, canonical_text(one.settings)) for one in held}) > 1:
        message = "these runs were not scored with the same reference and settings"
        raise refused("P-18", message, "choose runs of one window that were scored with the same reference", status=422)


def _request_times(session: Session, chosen: _Chosen, since: datetime | None = None) -> list[datetime]:
    """When this comparison was asked for; with a moment, when any of the team was since then."""
    first = chosen.runs[0]
    question = select(Event.at, Event.data).where(
        Event.campaign_id == first.campaign_id, Event.kind == ASKED, Event.subject == first.team_id
    )
    question = question if since is None else question.where(Event.at > since)
    return [at for at, data in session.execute(question) if since is not None or data.get("key") == chosen.key]


def _refuse_too_many(session: Session, office: Office, chosen: _Chosen) -> None:
    recent = _request_times(session, chosen, since=office.clock() - HOUR)
    if len(recent) >= MOST_AN_HOUR:
        message = f"your team requested {len(recent)} comparisons within the last hour"
        raise refused("X-7", message, "wait a little", status=429, retry_at=min(recent) + HOUR)


def _metric(chosen: _Chosen, data: Mapping[str, Any]) -> str:
    """The value that is compared: the primary one as far as it is shown, else that of the decisions alone (M70)."""
    primary = str(content(chosen.desk.office, chosen.held[chosen.runs[0].id]).get("primary") or "")
    tested = sorted({one["metric"] for one in data["differences"]}, key=lambda name: (name != primary, name))
    sights = [chosen.desk.sight(run) for run in chosen.runs]
    open_ones = [
        name
        for name in tested
        if (all(one.e2e for one in sights) or not name.startswith(JUDGED))
        and not (any(one.sealed for one in sights) and name in NEVER_AN_EVALUATION)
    ]
    return open_ones[0] if open_ones else ""


def _pairs(data: Mapping[str, Any], metric: str) -> Iterator[Pair]:
    for one in data["differences"]:
        if one["metric"] == metric:
            numbers = (one["difference"], one["low"], one["high"], one["p_adjusted"])
            reasons = tuple(
                {name: part for name, part in why.items() if name != "unit"} for why in one.get("reasons", ())
            )
            flags = tuple(one.get("flags", ()))
            yield Pair(one["first"], one["second"], *numbers, one["verdict"], reasons, flags)
