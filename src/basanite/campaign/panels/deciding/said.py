"""What was said on a panel, as rows and as arrays: only what counts, the newest judgement of each assignment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.store.tables import Assignment, Judgement, PanelItem, Seat
from basanite.judging import judgements as given
from basanite.judging.scheme import Question
from basanite.judging.schemes.model import JUDGE

Reals = NDArray[np.float64]
REAL = ("real",)


@dataclass(frozen=True)
class Said:
    """One judgement that counts."""

    id: str
    item: str
    judge: str
    answers: Mapping[str, Any]
    flags: Sequence[str]
    seconds: float
    round: int
    position: int
    flipped: bool
    role: str
    at: datetime
    group: str

    def plain(self, judge: str = "") -> given.Judgement:
        """As judging knows it, under the judge's id or another name."""
        return given.Judgement(
            self.item,
            judge or self.judge,
            self.answers,
            self.group,
            self.round,
            self.position,
            self.seconds,
            tuple(self.flags),
            self.flipped,
        )


def said(session: Session, panel_id: str, roles: Iterable[str] = REAL, *, item: str | None = None) -> list[Said]:
    """The judgements of a panel that count, by item and judge."""
    last = select(Judgement.assignment_id, func.max(Judgement.number).label("number"))
    newest = last.where(Judgement.panel_id == panel_id).group_by(Judgement.assignment_id).subquery()
    question = (
        select(Judgement, Assignment, PanelItem.role, Seat.group)
        .join(newest, (newest.c.assignment_id == Judgement.assignment_id) & (newest.c.number == Judgement.number))
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .join(PanelItem, PanelItem.id == Judgement.item_id)
        .outerjoin(Seat, (Seat.panel_id == Judgement.panel_id) & (Seat.person_id == Judgement.person_id))
        .where(Judgement.panel_id == panel_id, PanelItem.role.in_(tuple(roles)))
        .order_by(PanelItem.number, Judgement.person_id)
    )
    rows = session.execute(question if item is None else question.where(Judgement.item_id == item))
    return [_said(row, place, role, group) for row, place, role, group in rows]


def _said(row: Judgement, place: Assignment, role: str, group: str | None) -> Said:
    where = (place.round, place.position, place.flipped)
    what = (row.answers, row.flags, row.seconds)
    return Said(row.id, row.item_id, row.person_id, *what, *where, role, row.at, group or JUDGE)


@dataclass(frozen=True)
class Values:
    """The answers to one question as numbers: value v is by judge `judge[v]` on item `item[v]`."""

    items: tuple[str, ...]
    judges: tuple[str, ...]
    item: NDArray[np.int64]
    judge: NDArray[np.int64]
    value: Reals

    def table(self) -> Reals:
        """Items x ratings, nan where an item has fewer: agreement asks for no more than that."""
        order = np.argsort(self.item, kind="stable")
        item = self.item[order]
        starts = np.searchsorted(item, np.arange(len(self.items)))
        place = np.arange(len(item)) - starts[item] if len(item) else item
        made = np.full((len(self.items), int(place.max(initial=-1)) + 1), np.nan)
        made[item, place] = self.value[order]
        return made

    def of_judges(self, chosen: Sequence[int]) -> Reals:
        """Items x these judges, nan where one said nothing."""
        made = np.full((len(self.items), len(chosen)), np.nan)
        column = {judge: at for at, judge in enumerate(chosen)}
        wanted = np.isin(self.judge, list(chosen))
        places = [column[int(judge)] for judge in self.judge[wanted]]
        made[self.item[wanted], places] = self.value[wanted]
        return made

    def bias(self) -> Reals:
        """For each judge, the mean of the own value less the mean of the others on the item; nan without others."""
        size = np.bincount(self.item, minlength=len(self.items))[self.item]
        total = np.bincount(self.item, self.value, len(self.items))[self.item] if len(self.item) else self.value
        shared = size > 1
        apart = self.value[shared] - (total[shared] - self.value[shared]) / (size[shared] - 1)
        count = np.bincount(self.judge[shared], minlength=len(self.judges))
        summed = np.bincount(self.judge[shared], apart, len(self.judges))
        return np.asarray(np.divide(summed, count, out=np.full(len(count), np.nan), where=count > 0))


def values_of(voices: Sequence[Said], question: Question) -> Values:
    """The answers to a question of stars, a scale, a slider or a choice; a choice by its place in the list."""
    places = {option.value: float(at) for at, option in enumerate(question.options)}
    pairs = [(one, _number(one.answers.get(question.id), places)) for one in voices]
    kept = [(one, value) for one, value in pairs if value is not None]
    items = tuple(dict.fromkeys(one.item for one, _ in kept))
    judges = tuple(sorted({one.judge for one, _ in kept}))
    item_at = {name: at for at, name in enumerate(items)}
    judge_at = {name: at for at, name in enumerate(judges)}
    return Values(
        items,
        judges,
        np.array([item_at[one.item] for one, _ in kept], np.int64),
        np.array([judge_at[one.judge] for one, _ in kept], np.int64),
        np.array([value for _, value in kept], np.float64),
    )


def _number(value: Any, places: Mapping[str, float]) -> float | None:
    if isinstance(value, str):
        return places.get(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
