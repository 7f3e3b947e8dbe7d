"""Judgements of a panel as rows and as arrays, how close judges are, and how well means are known (S-33).

Only what counts is taken: the newest judgement of each assignment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.analysis.sequences import confidence_sequence
from basanite.campaign.store.tables import Assignment, Judgement, Panel, PanelItem, Seat
from basanite.work import answers as given
from basanite.work.questions import Question
from basanite.work.scheme import JUDGE, Scheme

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


def counted_judgements(
    session: Session, panel_id: str, roles: Iterable[str] = REAL, *, item: str | None = None
) -> list[Said]:
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
    return [_counted_judgement(row, place, role, group) for row, place, role, group in rows]


def _counted_judgement(row: Judgement, place: Assignment, role: str, group: str | None) -> Said:
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


AT_WORK = ("active", "paused")
LEVEL = 0.95


@dataclass(frozen=True)
class Precision:
    """The mean of the finished items with its confidence sequence, and the half-width that was declared, if any."""

    question: str
    title: str
    mean: float
    low: float
    high: float
    items: int
    wanted: float | None = None
    note: str = ""
    """Why there is no sequence: its ends are nan then, and nothing is reached."""

    @property
    def half_width(self) -> float:
        """Half of the distance between the ends."""
        return (self.high - self.low) / 2

    @property
    def is_reached(self) -> bool:
        """Whether the mean is known as well as was declared, so that no new items are given out."""
        return self.wanted is not None and self.half_width <= self.wanted


def precision_of(scheme: Scheme, real: Sequence[Said], judges_at_work: Counter[str]) -> Precision | None:
    """How well the watched mean is known from these judgements of real items; None where there is no such mean."""
    asked = scheme.measured_question
    if asked is None or asked.bounds is None:
        return None
    now = confidence_sequence(_finished_means(scheme, asked, real, judges_at_work), asked.bounds, level=LEVEL)
    wanted = scheme.stop_at.half_width or None
    return Precision(asked.id, asked.title, now.mean, now.low, now.high, now.units, wanted, now.reason)


def is_precise(session: Session, panel: Panel, scheme: Scheme) -> bool:
    """Whether a panel has reached the precision that its scheme declares; asked only where it declares one."""
    if not scheme.stop_at.half_width:
        return False
    count = session.scalar(select(func.count()).select_from(Judgement).where(Judgement.panel_id == panel.id)) or 0
    seats = session.execute(select(Seat.group, Seat.state).where(Seat.panel_id == panel.id))
    at_work = Counter(group for group, state in seats if state in AT_WORK)
    key = panel.scheme_digest, count, at_work
    if _LAST.get(panel.id, (None, False))[0] != key:
        found = precision_of(scheme, counted_judgements(session, panel.id), at_work)
        _LAST[panel.id] = key, found is not None and found.is_reached
    return _LAST[panel.id][1]


_LAST: dict[str, tuple[tuple[str, int, Counter[str]], bool]] = {}
"""The last answer for each panel with what it was computed from: every judge asks at every item."""


def judgements_wanted(scheme: Scheme, judges_at_work: Counter[str]) -> int:
    """How many judgements finish an item; where everybody judges, as many as there are judges at work."""
    return sum(number or judges_at_work[group] for group, number in scheme.per_group.items())


def _finished_means(scheme: Scheme, asked: Question, real: Sequence[Said], judges_at_work: Counter[str]) -> list[float]:
    """The mean answer of each finished item, in the order in which items were finished."""
    wanted = judgements_wanted(scheme, judges_at_work)
    values = values_of(sorted(real, key=lambda one: (one.at, one.id)), asked)
    answers: dict[int, list[float]] = {}
    finished: dict[int, float] = {}
    for item, value in zip(values.item.tolist(), values.value.tolist(), strict=True):
        given = answers.setdefault(item, [])
        given.append(value)
        if len(given) >= wanted > 0:
            finished[item] = sum(given) / len(given)
    return list(finished.values())


SMALLEST_SCALE = 1e-9


def with_others(question: Question, values: Values) -> Reals:
    """For each judge, how close the others on the same items are, on average; nan without any."""
    count = np.bincount(values.item, minlength=len(values.items)).astype(np.float64)[values.item]
    shared = count > 1
    close = (_near_mean(question, values, count) if question.numeric else _same(values, count))[shared]
    judge = values.judge[shared]
    number = np.bincount(judge, minlength=len(values.judges))
    total = np.bincount(judge, close, len(values.judges))
    return np.asarray(np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0))


def _near_mean(question: Question, values: Values, count: Reals) -> Reals:
    """How near a value is to the mean of the others, as a share of the scale."""
    total = np.bincount(values.item, values.value, len(values.items))[values.item]
    others = (total - values.value) / np.maximum(count - 1, 1)
    return np.asarray(1 - np.abs(values.value - others) / max(question.hi - question.lo, SMALLEST_SCALE))


def _same(values: Values, count: Reals) -> Reals:
    """The share of the others on the item who say the same."""
    width = int(values.value.max(initial=0)) + 1
    cell = values.item * width + values.value.astype(np.int64)
    times = np.bincount(cell, minlength=len(values.items) * width)[cell]
    return np.asarray((times - 1) / np.maximum(count - 1, 1))


def alike(question: Question, table: Reals, one: int, other: int) -> float | None:
    """How far two columns of a table of ratings agree on the items of both, 0 to 1; nobody agrees with oneself."""
    if one == other:
        return None
    both = ~(np.isnan(table[:, one]) | np.isnan(table[:, other]))
    apart = np.abs(table[both, one] - table[both, other])
    if question.numeric:
        return float(1 - apart.mean() / max(question.hi - question.lo, SMALLEST_SCALE))
    return float((apart == 0).mean())
