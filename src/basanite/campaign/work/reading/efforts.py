"""What a team spent on a system before each of its runs, kept with the runs and set against their scores (R-45).

What a run cost is all work on runs of the same system on the same task, up to and with that run. The log only grows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import ReadingEffort, ReadingRun, ReadingTaskRow
from basanite.campaign.work.lookup import log_event
from basanite.campaign.work.reading import runs, scoring
from basanite.reading.adaptation import AdaptedRun, Spent
from basanite.reading.effort import ACTIVITIES, MOST
from basanite.registry import suggestion

RULE = "R-45"
LONGEST = 500
MOST_LINES = 10_000


@dataclass(frozen=True)
class Work:
    """Some work on a system; negative numbers correct a mistake and need a note."""

    activity: str
    minutes: float
    rules: int = 0
    examples: int = 0
    note: str = ""


def add_work(session: Session, office: Office, actor: Actor, run: ReadingRun, work: Work, *, key: str) -> ReadingEffort:
    """Keep work with a run; the same key is the same line."""
    _check(work, key)
    session.execute(select(ReadingRun.id).where(ReadingRun.id == run.id).with_for_update())
    lines = work_on(session, [run.id])
    known = next((one for one in lines if one.key == key), None)
    if known is not None:
        return known
    if len(lines) >= MOST_LINES:
        raise refused("X-13", f"a run has {MOST_LINES} lines of work", "sum them up", status=413)
    row = ReadingEffort(
        campaign_id=run.campaign_id,
        reading_run_id=run.id,
        key=key,
        activity=work.activity,
        minutes=work.minutes,
        rules=work.rules,
        examples=work.examples,
        note=work.note.strip(),
        at=office.clock(),
        person_id=actor.id,
    )
    session.add(row)
    session.flush()
    log_event(session, office, actor, run, "reading.effort", activity=work.activity, minutes=work.minutes)
    return row


def _check(work: Work, key: str) -> None:
    numbers = (work.minutes, work.rules, work.examples)
    if work.activity not in ACTIVITIES:
        near = suggestion(work.activity, ACTIVITIES)
        raise refused(RULE, f"the activity {work.activity[:60]!r} is not known", near, status=422)
    if not all(math.isfinite(number) and abs(number) <= MOST for number in numbers):
        raise refused(RULE, "a number is too large", f"give numbers up to {MOST}", status=422)
    if min(numbers) < 0 and not work.note.strip():
        raise refused(RULE, "negative numbers without a note", "say in `note` which mistake they correct", status=422)
    if not 0 < len(key) <= runs.LABEL or len(work.note) > LONGEST:
        fix = f"give a key of 1 to {runs.LABEL} characters and a note of at most {LONGEST}"
        raise refused(RULE, "the key or the note has the wrong length", fix, status=422)


def work_on(session: Session, run_ids: list[str]) -> list[ReadingEffort]:
    """The work that is kept with some runs, in the order of time."""
    question = select(ReadingEffort).where(ReadingEffort.reading_run_id.in_(run_ids))
    return list(session.scalars(question.order_by(ReadingEffort.at, ReadingEffort.id)))


def adapted_runs(
    office: Office, actor: Actor, who: Viewer, campaign_id: str, task_id: str, *, metric: str
) -> list[AdaptedRun]:
    """The runs on a task that a viewer may see, with what they cost and, where it costs no look, what they scored."""
    with office.reading() as session:
        task = session.get(ReadingTaskRow, task_id)
        found = [one for one in runs.runs(session, who, campaign_id) if one.reading_task_id == task_id]
        if task is None or task.campaign_id != campaign_id or not (found or who.staff):
            raise missing("reading task")
        ordered = sorted(found, key=lambda one: (one.made, one.id))
        spent = _spent(ordered, work_on(session, [one.id for one in ordered]))
        free = [scoring.costs_nothing(session, office, who, one) for one in ordered]
    made = []
    for run, is_free in zip(ordered, free, strict=True):
        value, low, high = _value(office, actor, who, run, metric) if is_free else (math.nan, None, None)
        made.append(AdaptedRun(f"{run.label} {run.id[:8]}", spent.get(run.id), value, low, high))
    return made


def _spent(ordered: list[ReadingRun], lines: list[ReadingEffort]) -> dict[str, Spent]:
    """What each run cost, the work before earlier runs of the same system of the same team included."""
    found: dict[str, Spent] = {}
    sums: dict[tuple[str, str], Spent] = {}
    for run in ordered:
        before = sums.get((run.whose, run.label), Spent(run.label, 0.0, 0, 0))
        mine = [one for one in lines if one.reading_run_id == run.id]
        sums[run.whose, run.label] = now = Spent(
            run.label,
            before.hours + math.fsum(one.minutes for one in mine) / 60,
            before.rules + sum(one.rules for one in mine),
            before.examples + sum(one.examples for one in mine),
        )
        if mine or before.hours:
            found[run.id] = now
    return found


def _value(
    office: Office, actor: Actor, who: Viewer, run: ReadingRun, metric: str
) -> tuple[float, float | None, float | None]:
    seen = scoring.see(office, actor, who, run).result or {}
    value = seen.get("values", {}).get(metric, {})
    number = value.get("value")
    return (math.nan if number is None else number), value.get("low"), value.get("high")
