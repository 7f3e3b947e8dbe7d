"""The ladder of a team: its runs are played again in their order, each compared with the one that is shown (S-17).

The paired comparison is computed by the limited child and stored; a run that waits for it leaves the ladder as it is.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.ladder import Rung, climb
from basanite.campaign.model.plan import Window
from basanite.campaign.office import Office
from basanite.campaign.organising import plans
from basanite.campaign.results.adopted import adopted, content
from basanite.campaign.results.comparisons import Order
from basanite.campaign.results.facts import Desk
from basanite.campaign.store.tables import Board, CampaignRow, Result, Submission
from basanite.spine import find_task

PURPOSE: Final = "ladder"
NEW, SHOWN = "new", "shown"
NORMAL_95: Final = 1.959963984540054


def rung(session: Session, at: Desk, row: Submission) -> Rung | None:
    """Where the team stood on the ladder once this run of its was in."""
    runs = [run for run in _runs(session, row) if (run.received, run.id) <= (row.received, row.id)]
    return _climbed(session, at.office, at.window(row), runs)[0]


def orders_due(session: Session, office: Office) -> Iterator[Order]:
    """The next comparison of every ladder that waits for one."""
    for campaign_id in session.scalars(select(CampaignRow.id)).all():
        campaign = plans.current(session, campaign_id).campaign
        for window in (one for one in campaign.windows if one.ladder is not None):
            for runs in _of_teams(session, campaign_id, window):
                waiting = _climbed(session, office, window, runs)[1]
                if waiting is not None:
                    yield waiting


def _of_teams(session: Session, campaign_id: str, window: Window) -> list[list[Submission]]:
    question = select(Submission).where(
        Submission.campaign_id == campaign_id, Submission.window == window.id, Submission.state == "scored"
    )
    found: dict[tuple[str, ...], list[Submission]] = {}
    for run in session.scalars(question.order_by(Submission.received, Submission.id)):
        found.setdefault((run.team_id, run.task, run.language, run.track), []).append(run)
    return list(found.values())


def _runs(session: Session, row: Submission) -> Sequence[Submission]:
    question = select(Submission).where(
        Submission.campaign_id == row.campaign_id,
        Submission.window == row.window,
        Submission.team_id == row.team_id,
        Submission.task == row.task,
        Submission.language == row.language,
        Submission.track == row.track,
        Submission.state == "scored",
    )
    return session.scalars(question.order_by(Submission.received, Submission.id)).all()


def _climbed(
    session: Session, office: Office, window: Window, runs: Sequence[Submission]
) -> tuple[Rung | None, Order | None]:
    """The rung after all these runs, and the first comparison that is not there yet."""
    held = adopted(session, [run.id for run in runs])
    at, best = None, None
    for tries, run in enumerate((run for run in runs if run.id in held), start=1):
        data = content(office, held[run.id])
        entry = data["values"].get(data["primary"], {})
        value = _number(entry.get("value"))
        if best is None:
            at, best = (
                climb(None, value, gain=0.0, standard_error=_own_error(entry), tries=tries, errors=_errors(window)),
                run,
            )
            continue
        key = ladder_key(held[run.id], held[best.id])
        board = session.get(Board, key)
        if board is None:
            systems = {NEW: run.id, SHOWN: best.id}
            return at, Order(key, run.campaign_id, window.id, PURPOSE, {"systems": systems})
        gain, error = _difference(json.loads(office.files.read(board.digest)), str(data["task"]), data["primary"])
        at = climb(at, value, gain=gain, standard_error=error, tries=tries, errors=_errors(window))
        best = run if at.moved else best
    return at, None


def ladder_key(new: Result, shown: Result) -> str:
    """The key of the comparison of two results."""
    parts = {"purpose": PURPOSE, NEW: new.key, SHOWN: shown.key}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _errors(window: Window) -> float:
    return 2.0 if window.ladder is None else window.ladder


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _own_error(entry: Mapping[str, Any]) -> float:
    """The standard error of a single value, from its interval; it fixes the first step."""
    return (_number(entry.get("high")) - _number(entry.get("low"))) / (2 * NORMAL_95)


def _difference(comparison: Mapping[str, Any], task: str, metric: str) -> tuple[float, float]:
    """How much better the new run is than the shown one, pair by pair, and the standard error of that."""
    for one in comparison["differences"]:
        if one["metric"] == metric:
            sign = (1.0 if one["first"] == NEW else -1.0) * (-1.0 if lower_is_better(task, metric) else 1.0)
            width = (_number(one["high"]) - _number(one["low"])) / (2 * NORMAL_95)
            return sign * _number(one["difference"]), width
    return math.nan, math.nan


def lower_is_better(task: str, metric: str) -> bool:
    """Whether small values of a metric are the good ones.

    >>> lower_is_better("speech", "wer"), lower_is_better("clir", "aqwv")
    (True, False)
    """
    return any(one.name == metric and one.best == "low" for one in find_task(task).metrics)
