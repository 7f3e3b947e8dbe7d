"""The ladder of a team: its runs are played again in their order, each compared with the one that is shown (S-17).

The paired comparison is computed by the limited child and stored; a run that waits for it leaves the ladder as it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.model.plan import Window
from basanite.campaign.model.redaction import DECIMALS, USUAL_ERRORS, Rung, climb, round_value, standard_error
from basanite.campaign.office import Office
from basanite.campaign.results.facts import Desk, Order, adopted_results, beyond_looks, content
from basanite.campaign.store.tables import Board, CampaignRow, Submission
from basanite.canonical import canonical_digest
from basanite.scoring import find_task

PURPOSE: Final = "ladder"
NEW, SHOWN = "new", "shown"


def rung(session: Session, at: Desk, row: Submission) -> Rung | None:
    """Where the team stood on the ladder once this run of its was in."""
    runs = [run for run in _runs(session, row) if (run.received, run.id) <= (row.received, row.id)]
    return _climb_runs(session, at.office, at.window(row), runs, beyond_looks(session, at.plan, row.team_id))[0]


def orders_due(session: Session, office: Office) -> Iterator[Order]:
    """The next comparison of every ladder that waits for one."""
    for campaign_id in session.scalars(select(CampaignRow.id)).all():
        plan = plans.current(session, campaign_id)
        over = beyond_looks(session, plan)
        for window in plan.campaign.windows:
            for runs in _of_teams(session, campaign_id, window) if _has_ladder(window, over) else ():
                waiting = _climb_runs(session, office, window, runs, over)[1]
                if waiting is not None:
                    yield waiting


def _has_ladder(window: Window, over: Collection[str]) -> bool:
    """Whether somebody may stand on one: where looks are bounded, only once somebody has used them up."""
    return bool(over) if window.looks is not None else window.ladder is not None


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


def _climb_runs(
    session: Session, office: Office, window: Window, runs: Sequence[Submission], over: Collection[str]
) -> tuple[Rung | None, Order | None]:
    """The rung after all these runs, and the first comparison that is not there yet.

    Runs whose values their team saw as they are lead to the best of them, on which the ladder begins (X-23).
    """
    held = adopted_results(session, [run.id for run in runs])
    at, best, errors = None, None, USUAL_ERRORS if window.ladder is None else window.ladder
    for tries, run in enumerate((run for run in runs if run.id in held), start=1):
        data = content(office, held[run.id])
        entry = data["values"].get(data["primary"], {})
        value = _number(entry.get("value"))
        if window.looks is not None and run.id not in over:
            found = _best_seen(at, value, lower=lower_is_better(str(data["task"]), data["primary"]))
            at, best = found, run if found is not at else best
            continue
        if best is None:
            error = standard_error(entry.get("low"), entry.get("high"))
            at = climb(None, value, gain=0.0, standard_error=error, tries=tries, errors=errors)
            best = run
            continue
        parts = {"purpose": PURPOSE, NEW: held[run.id].key, SHOWN: held[best.id].key}
        key = canonical_digest(parts)
        board = session.get(Board, key)
        if board is None:
            systems = {NEW: run.id, SHOWN: best.id}
            return at, Order(key, run.campaign_id, window.id, PURPOSE, {"systems": systems})
        gain, error = _difference(json.loads(office.files.read(board.digest)), str(data["task"]), data["primary"])
        at = climb(at, value, gain=gain, standard_error=error, tries=tries, errors=errors)
        best = run if at.moved else best
    return at, None


def _best_seen(before: Rung | None, value: float, *, lower: bool) -> Rung | None:
    """The rung after a value that its team saw: the better one, as it was rounded for them."""
    if not math.isfinite(value):
        return before
    found = Rung(round_value(value), 10**-DECIMALS)
    if before is None or before.value is None or found.value is None:
        return found
    better = found.value < before.value if lower else found.value > before.value
    return found if better else before


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _difference(comparison: Mapping[str, Any], task: str, metric: str) -> tuple[float, float]:
    """How much better the new run is than the shown one, pair by pair, and the standard error of that."""
    for one in comparison["differences"]:
        if one["metric"] == metric:
            sign = (1.0 if one["first"] == NEW else -1.0) * (-1.0 if lower_is_better(task, metric) else 1.0)
            return sign * _number(one["difference"]), standard_error(one["low"], one["high"])
    return math.nan, math.nan


def lower_is_better(task: str, metric: str) -> bool:
    """Whether small values of a metric are the good ones.

    >>> lower_is_better("speech", "wer"), lower_is_better("clir", "aqwv")
    (True, False)
    """
    return any(one.name == metric and one.best == "low" for one in find_task(task).metrics)
