"""A panel at a glance, while it is judged: progress, each judge's figures, agreement with intervals, a heat map.

Everything is computed from what counts, and kept until there is one judgement more: a dashboard that many look at asks
the arithmetic once. What is not defined says why (S-20).
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store.tables import Assignment, Judgement, Panel, PanelDecision, PanelItem, RoundEnd, Seat
from basanite.campaign.work.panels.judgements import (
    AT_WORK,
    Precision,
    Said,
    Values,
    alike,
    counted_judgements,
    precision_of,
    values_of,
    with_others,
)
from basanite.campaign.work.panels.lookup import as_item, find_panel, scheme_of
from basanite.metrics.judgement.agreement import percent_agreement, reliability_of_mean
from basanite.metrics.judgement.alpha import Level, alpha_with_interval
from basanite.metrics.judgement.estimate import Estimate
from basanite.work.controls import CheckFigures, check_figures, failing
from basanite.work.items import Item
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

MOST_IN_HEAT = 40
"""The heat map shows the judges with the most work, up to so many."""
REMEMBERED = 32
CROWD = "crowd"
"""The group of judges who came by a crowd platform."""
EVERY_ROLE = ("real", "check", "training")


@dataclass(frozen=True)
class JudgeLine:
    """One judge in figures."""

    person_id: str
    group: str
    state: str
    done: int
    of: int
    median_seconds: float | None
    checks: int
    """Hidden checks answered, and how many of them rightly."""
    checks_right: int
    weak: bool
    """Whether fewer checks were right than the scheme asks for; nobody is rejected by that (P-22)."""
    bias: float | None
    """Mean difference to the others on the same items, in steps of the scale; None for choices or without others."""
    with_others: float | None
    """Mean agreement with the others who judged the same items, 0 to 1."""
    flags: int
    last: datetime | None


@dataclass(frozen=True)
class Agreement:
    """How far judges agree on one question."""

    question: str
    title: str
    percent: Estimate
    alpha: Estimate
    level: Level
    mean: Estimate | None
    """ICC(1,k), where the mean of the panel is what counts (S-20)."""


@dataclass(frozen=True)
class Heat:
    """How far each two judges agree, 0 to 1; None where they share no item."""

    judges: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    shared: tuple[tuple[int, ...], ...]
    """How many items each two share."""
    left_out: int = 0
    """Judges with less work that are not shown."""


@dataclass(frozen=True)
class Flag:
    """A judge says something about an item to the organiser (X-9, M49)."""

    judgement_id: str
    item: str
    person_id: str
    flag: str
    facts: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class Progress:
    """Where a panel stands."""

    panel_id: str
    name: str
    state: str
    items: int
    """Real ones; checks and training not counted."""
    done: int
    of: int
    """Judgements of real items, of how many that are planned."""
    per_item: Mapping[int, int]
    """How many items have so many judgements."""
    judges: tuple[JudgeLine, ...]
    agreement: tuple[Agreement, ...]
    heat: Heat | None
    flags: int
    corrections: int
    rankings: int
    warnings: tuple[str, ...]
    precision: Precision | None = None
    """How well the mean is known, however often one looks (S-33)."""


@dataclass(frozen=True)
class PanelLine:
    """A panel in a list."""

    id: str
    name: str
    title: str
    state: str
    window: str
    items: int
    judges: int
    done: int
    of: int
    made: datetime


class _ProgressCache:
    """The last few answers, each under what it was computed from."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[Any, ...], Progress] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[Any, ...]) -> Progress | None:
        """What was computed from the same, if it is still here."""
        with self._lock:
            return self._held.get(key)

    def add(self, key: tuple[Any, ...], value: Progress) -> None:
        """Keep one more, and forget the oldest."""
        with self._lock:
            self._held[key] = value
            while len(self._held) > REMEMBERED:
                self._held.popitem(last=False)


_CACHE = _ProgressCache()


def progress(session: Session, office: Office, panel_id: str) -> Progress:
    """Where a panel stands now; computed once for each state of it."""
    panel = find_panel(session, panel_id)
    key = _state_of(session, office, panel)
    found = _CACHE.get(key)
    if found is None:
        found = _progress(session, panel)
        _CACHE.add(key, found)
    return found


def _state_of(session: Session, office: Office, panel: Panel) -> tuple[Any, ...]:
    """What tells one state of a panel from another: rows are only added, so counts do."""

    def count(table: Any, *more: Any) -> int:
        return session.scalar(select(func.count()).select_from(table).where(table.panel_id == panel.id, *more)) or 0

    counts = tuple(count(table) for table in (Judgement, PanelDecision, RoundEnd, PanelItem, Seat, Assignment))
    freed = count(Assignment, Assignment.state == "freed")
    states = session.execute(select(Seat.state, func.count()).where(Seat.panel_id == panel.id).group_by(Seat.state))
    seats = tuple(sorted((state, number) for state, number in states))
    return office.database.url, panel.id, panel.state, panel.scheme_digest, *counts, freed, seats


def _progress(session: Session, panel: Panel) -> Progress:
    scheme = scheme_of(panel)
    everything = counted_judgements(session, panel.id, EVERY_ROLE)
    real = [one for one in everything if one.role == "real"]
    items = session.scalar(
        select(func.count()).select_from(PanelItem).where(PanelItem.panel_id == panel.id, PanelItem.role == "real")
    )
    leading = _leading(scheme, real)
    written = session.scalar(select(func.count()).select_from(Judgement).where(Judgement.panel_id == panel.id))
    planned = select(func.count()).select_from(Assignment).join(PanelItem, PanelItem.id == Assignment.item_id)
    where = (Assignment.panel_id == panel.id, Assignment.state != "freed", PanelItem.role == "real")
    return Progress(
        panel.id,
        panel.name,
        panel.state,
        items or 0,
        len(real),
        session.scalar(planned.where(*where)) or 0,
        _per_item(real, items or 0),
        _judges(session, panel, scheme, everything, leading),
        tuple(_agreement(question, values_of(real, question)) for question in _measured_questions(scheme)),
        None if leading is None else _heat(*leading),
        sum(len(one.flags) for one in everything),
        (written or 0) - len(everything),
        _rankings(session, panel.id),
        tuple(panel.warnings),
        precision_of(scheme, real, _at_work(session, panel.id)),
    )


def _at_work(session: Session, panel_id: str) -> Counter[str]:
    """How many judges of each group are at work."""
    seats = session.scalars(select(Seat.group).where(Seat.panel_id == panel_id, Seat.state.in_(AT_WORK)))
    return Counter(seats)


def _rankings(session: Session, panel_id: str) -> int:
    question = select(func.count()).select_from(RoundEnd)
    return session.scalar(question.where(RoundEnd.panel_id == panel_id, RoundEnd.kind == "ranking")) or 0


def _per_item(real: Sequence[Said], items: int) -> dict[int, int]:
    """How many items have so many judgements, none included."""
    times = Counter(one.item for one in real)
    found = Counter(times.values())
    found[0] = items - len(times)
    return {number: found[number] for number in sorted(found) if found[number]}


def _measured_questions(scheme: Scheme) -> list[Question]:
    return [question for question in scheme.questions if question.numeric or question.widget == "choice"]


def _leading(scheme: Scheme, real: Sequence[Said]) -> tuple[Question, Values] | None:
    """The question that counts, as numbers; None where there is no such question."""
    question = scheme.combined_question
    if question is None or question not in _measured_questions(scheme):
        question = next(iter(_measured_questions(scheme)), None)
    return None if question is None else (question, values_of(real, question))


def _agreement(question: Question, values: Values) -> Agreement:
    table = values.table()
    level: Level = "interval" if question.numeric else "nominal"
    mean = reliability_of_mean(table) if question.numeric else None
    percent, alpha = percent_agreement(table), alpha_with_interval(table, level)
    return Agreement(question.id, question.title, percent, alpha, level, mean)


class _Facts(NamedTuple):
    """What is computed for all judges of a panel at once, by person id."""

    planned: Mapping[str, int]
    checks: Mapping[str, CheckFigures]
    weak: set[str]
    figures: Mapping[str, tuple[float | None, float | None]]
    """Bias, and agreement with the others."""


def _judges(
    session: Session,
    panel: Panel,
    scheme: Scheme,
    everything: Sequence[Said],
    leading: tuple[Question, Values] | None,
) -> tuple[JudgeLine, ...]:
    seats = {row.person_id: row for row in session.scalars(select(Seat).where(Seat.panel_id == panel.id))}
    mine: dict[str, list[Said]] = {person: [] for person in seats}
    for one in everything:
        mine.setdefault(one.judge, []).append(one)
    planned, figures = _loads(session, panel.id), {} if leading is None else _figures(*leading)
    checks = check_figures(_known_answers(session, panel.id), [one.plain() for one in everything])
    facts = _Facts(planned, checks, set(failing(scheme, checks)), figures)
    return tuple(_judge(person, seats.get(person), own, facts) for person, own in sorted(mine.items()))


def _loads(session: Session, panel_id: str) -> dict[str, int]:
    question = select(Assignment.person_id, func.count()).where(
        Assignment.panel_id == panel_id, Assignment.state != "freed"
    )
    return {row[0]: row[1] for row in session.execute(question.group_by(Assignment.person_id))}


def _known_answers(session: Session, panel_id: str) -> dict[str, Item]:
    return {row.id: as_item(row) for row in session.scalars(select(PanelItem).where(PanelItem.panel_id == panel_id))}


def _judge(person: str, seat: Seat | None, own: Sequence[Said], facts: _Facts) -> JudgeLine:
    bias, others = facts.figures.get(person, (None, None))
    mine = facts.checks.get(person, CheckFigures(0, 0))
    return JudgeLine(
        person,
        CROWD if seat is None else seat.group,
        CROWD if seat is None else seat.state,
        len(own),
        facts.planned.get(person, 0),
        float(np.median([one.seconds for one in own])) if own else None,
        mine.of,
        mine.right,
        person in facts.weak,
        bias,
        others,
        sum(len(one.flags) for one in own),
        max((one.at for one in own), default=None),
    )


def _figures(question: Question, values: Values) -> dict[str, tuple[float | None, float | None]]:
    """Bias and agreement with the others for each judge."""
    bias, alike = values.bias(), with_others(question, values)
    plain = [
        (_or_none(one) if question.numeric else None, _or_none(other)) for one, other in zip(bias, alike, strict=True)
    ]
    return dict(zip(values.judges, plain, strict=True))


def _heat(question: Question, values: Values) -> Heat:
    """Agreement of every two judges, of those with the most work."""
    work = np.bincount(values.judge, minlength=len(values.judges))
    chosen = sorted(np.argsort(-work, kind="stable")[:MOST_IN_HEAT].tolist())
    table = values.of_judges(chosen)
    known = ~np.isnan(table)
    shared = known.T.astype(np.int64) @ known
    size = len(chosen)
    cells = [
        [alike(question, table, one, other) if shared[one, other] else None for other in range(size)]
        for one in range(size)
    ]
    names = tuple(values.judges[at] for at in chosen)
    counts = tuple(tuple(int(number) for number in row) for row in shared)
    return Heat(names, tuple(map(tuple, cells)), counts, len(values.judges) - size)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def flags(session: Session, panel_id: str) -> tuple[Flag, ...]:
    """What judges flagged, newest first, with the facts of the item: for organisers alone."""
    rows = [one for one in counted_judgements(session, panel_id, EVERY_ROLE) if one.flags]
    facts = {row.id: row.facts for row in session.scalars(select(PanelItem).where(PanelItem.panel_id == panel_id))}
    found = [Flag(one.id, one.item, one.judge, flag, facts[one.item], one.at) for one in rows for flag in one.flags]
    return tuple(sorted(found, key=lambda one: (one.at, one.judgement_id), reverse=True))


def overview(session: Session, campaign_id: str) -> tuple[PanelLine, ...]:
    """All panels of a campaign, the newest first."""
    rows = session.scalars(select(Panel).where(Panel.campaign_id == campaign_id).order_by(Panel.made.desc(), Panel.id))
    return tuple(_line(session, panel) for panel in rows)


def _line(session: Session, panel: Panel) -> PanelLine:
    def count(table: Any, *where: Any) -> int:
        return session.scalar(select(func.count()).select_from(table).where(table.panel_id == panel.id, *where)) or 0

    done = count(Assignment, Assignment.state == "done")
    items, seats = count(PanelItem, PanelItem.role == "real"), count(Seat, Seat.state.in_(("active", "paused")))
    facts = (panel.id, panel.name, scheme_of(panel).title, panel.state, panel.window)
    return PanelLine(*facts, items, seats, done, count(Assignment, Assignment.state != "freed"), panel.made)
