"""How well the mean of a panel is known while it is judged, and whether it is known as well as was declared (S-33).

A unit is an item with all the judgements that it is to have, in the order in which items were finished. Its value is
the mean of its answers, so every item counts once, however many judges it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.analysis.sequences import confidence_sequence
from basanite.campaign.panels.deciding.said import Said, said, values_of
from basanite.campaign.store.tables import Judgement, Panel, Seat
from basanite.judging.scheme import Question, Scheme

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
    def reached(self) -> bool:
        """Whether the mean is known as well as was declared, so that no new items are given out."""
        return self.wanted is not None and self.half_width <= self.wanted


def precision_of(scheme: Scheme, real: Sequence[Said], judges_at_work: Counter[str]) -> Precision | None:
    """How well the watched mean is known from these judgements of real items; None where there is no such mean."""
    asked = scheme.measured_question
    if asked is None or asked.bounds is None:
        return None
    now = confidence_sequence(_finished(scheme, asked, real, judges_at_work), asked.bounds, level=LEVEL)
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
        found = precision_of(scheme, said(session, panel.id), at_work)
        _LAST[panel.id] = key, found is not None and found.reached
    return _LAST[panel.id][1]


_LAST: dict[str, tuple[tuple[str, int, Counter[str]], bool]] = {}
"""The last answer for each panel with what it was computed from: every judge asks at every item."""


def judgements_wanted(scheme: Scheme, judges_at_work: Counter[str]) -> int:
    """How many judgements finish an item; where everybody judges, as many as there are judges at work."""
    return sum(number or judges_at_work[group] for group, number in scheme.per_group.items())


def _finished(scheme: Scheme, asked: Question, real: Sequence[Said], judges_at_work: Counter[str]) -> list[float]:
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
