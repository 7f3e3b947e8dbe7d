"""What a previewed re-scoring would change: values before and after, and who would move in rank; for organisers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.results.boards import Subject, field_of
from basanite.campaign.results.ladder import lower_is_better
from basanite.campaign.store.tables import Batch, BatchItem, Result, Submission, Team
from basanite.scoring import find_task


@dataclass(frozen=True)
class Move:
    """One submission of a batch: what it has, and what it would get."""

    submission_id: str
    team: str
    number: int
    label: str
    window: str
    state: str
    """`waiting`, `scored`, `invalid` (under the new version), `failed`."""
    before: float | None
    after: float | None
    rank_before: int | None
    """By value alone among the runs that are compared; None for those that are not."""
    rank_after: int | None

    @property
    def changes(self) -> bool:
        """Whether its value would change."""
        return self.before != self.after

    @property
    def moves(self) -> bool:
        """Whether its rank would change."""
        return self.rank_before != self.rank_after


def moves(session: Session, batch: Batch) -> tuple[Move, ...]:
    """Every submission of a batch with its values and ranks, before and after."""
    items = session.scalars(select(BatchItem).where(BatchItem.batch_id == batch.id)).all()
    runs = {one.submission_id: session.get_one(Submission, one.submission_id) for one in items}
    old = _values(session, {one.submission_id: one.old_key for one in items})
    new = _values(session, {one.submission_id: one.new_key or one.old_key for one in items})
    plan = plans.current(session, batch.campaign_id)
    places = dict.fromkeys(Subject(run.window, run.task, run.language, run.track) for run in runs.values())
    compared = {place: [run.id for run in field_of(session, plan, place).compared] for place in places}
    before, after = (_ranks(runs, compared, values, plan) for values in (old, new))
    found = [
        Move(
            run.id,
            session.get_one(Team, run.team_id).name,
            run.number,
            run.label,
            run.window,
            item.state,
            old.get(run.id),
            new.get(run.id),
            before.get(run.id),
            after.get(run.id),
        )
        for item, run in ((one, runs[one.submission_id]) for one in items)
    ]
    return tuple(sorted(found, key=lambda move: (move.window, move.team, move.number)))


def _values(session: Session, keys: Mapping[str, str | None]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for submission_id, key in keys.items():
        result = None if key is None else session.get(Result, key)
        found[submission_id] = None if result is None else result.primary
    return found


def _ranks(
    runs: Mapping[str, Submission],
    compared: Mapping[Subject, Sequence[str]],
    values: Mapping[str, float | None],
    plan: plans.Plan,
) -> dict[str, int]:
    """The rank of each run by its value; equal values share the better rank."""
    ranks: dict[str, int] = {}
    for place, ids in compared.items():
        by_value: dict[float, list[str]] = defaultdict(list)
        for one in ids:
            if one in runs and (value := values.get(one)) is not None:
                by_value[value].append(one)
        task = find_task(place.task.lower())
        chosen = plans.find_window(plan.campaign, place.window).settings_of(place.task).get("primary")
        low = lower_is_better(task.name, chosen or task.primary)
        ranks |= _in_order(by_value, reverse=not low)
    return ranks


def _in_order(by_value: Mapping[float, Sequence[str]], *, reverse: bool) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for value in sorted(by_value, reverse=reverse):
        ranks |= dict.fromkeys(by_value[value], len(ranks) + 1)
    return ranks
