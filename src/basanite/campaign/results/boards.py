"""Boards: primary submissions of one task, language and track of a window, with groups, rank ranges and intervals.

What differs is found by a comparison in the limited child, over all systems that are compared (M78, S-11), and stored
under the key of all that went into it. Baselines stand beside them, marked and unranked. Where open queries are among
those of a window, values and comparisons are over the closed ones (M20). Who is left out is counted (P-23). What a
viewer sees of each row is the policy's to say, and no name, rank or number of rows is shown before there is something
to be seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from basanite.campaign.model.finals import CLOSED, FACTOR, final_result, has_final_value, open_sets
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import RANK, Sight, effective, shown
from basanite.campaign.model.stages import is_blind
from basanite.campaign.model.standing import Run, compared
from basanite.campaign.office import Office
from basanite.campaign.organising import plans
from basanite.campaign.results.adopted import adopted, content
from basanite.campaign.results.comparisons import Order
from basanite.campaign.results.facts import Desk, facts_of, teams
from basanite.campaign.results.provenance import provenance
from basanite.campaign.results.seen import BoardRow, Provenance, SeenBoard
from basanite.campaign.store import looks
from basanite.campaign.store.tables import Board, CampaignRow, Release, Result, Submission, Team

PURPOSE: Final = "board"
OPEN_QUERIES: Final = "Values and ranks are over the closed queries; open ones never count toward a final value (M20)."


@dataclass(frozen=True)
class Subject:
    """What is compared with each other, and with nothing else (P-31)."""

    window: str
    task: str
    language: str = ""
    track: str = ""


@dataclass(frozen=True)
class Field:
    """The submissions that are compared, the baselines beside them, and how many are neither, by reason."""

    compared: tuple[Submission, ...]
    baselines: tuple[Submission, ...]
    left_out: Mapping[str, int]
    without_primary: frozenset[str] = frozenset()
    """The teams that have runs there and no primary one."""

    @property
    def shown(self) -> tuple[Submission, ...]:
        """All that can have a row."""
        return (*self.compared, *self.baselines)


@dataclass(frozen=True)
class Ranking:
    """What a stored comparison says of each submission."""

    ranks: Mapping[str, tuple[int, int]]
    groups: Mapping[str, int]
    detectable: tuple[float, float] | None = None
    """From which to which difference pairs of systems would show in 80 % of cases (S-30)."""


def seen(session: Session, at: Desk, subject: Subject) -> SeenBoard:
    """A board as somebody may see it now; empty, with nothing counted, before anything is released to them."""
    window = plans.find_window(at.campaign, subject.window)
    field = field_of(session, at.plan, subject)
    view = _View(at, window, {run.id: at.sight(run) for run in field.shown}, _held(session, field))
    listed = [run for run in field.shown if view.has_row(run)]
    metric = next((name for name in map(view.metric, listed) if name), "")
    ranking = _ranking(session, view, field, metric) if view.ranked else None
    had_seen = _looks(session, at.plan, window, subject, {run.team_id for run in listed})
    return SeenBoard(
        campaign=at.campaign.slug,
        window=window.id,
        task=subject.task,
        language=subject.language,
        track=subject.track,
        metric=metric,
        rows=_rows(session, view, listed, metric, ranking, had_seen),
        left_out=field.left_out if view.ranked else {},
        naming=window.naming,
        level=max((view.sights[run.id].level for run in listed), key=RANK.__getitem__, default="none"),
        notes=_notes(at.campaign, window, view.ranked),
        provenance=_provenance(session, view, listed),
        pending=view.asked and ranking is None and len(field.compared) > 1 and bool(metric),
        released="top" in view.released,
        ranked=view.ranked,
        without_primary=at.viewer.team in field.without_primary,
        interim=at.now < window.closes.utc,
        detectable=None if ranking is None else ranking.detectable,
    )


@dataclass(frozen=True)
class _View:
    """One viewer before one board: what may be seen of each run, and the results behind them."""

    at: Desk
    window: Window
    sights: Mapping[str, Sight]
    held: Mapping[str, Result]

    @property
    def released(self) -> frozenset[str]:
        """The levels of results that are out by now."""
        return effective(self.window, self.at.releases.get(self.window.id, {}), self.at.now)

    @property
    def ranked(self) -> bool:
        """Whether runs of other teams, and so ranks, are released to this viewer."""
        inside = self.at.viewer.team is not None
        return self.at.viewer.staff or ("top" in self.released and (inside or "public" in self.released))

    @property
    def asked(self) -> bool:
        """Whether ranks are to be seen, and so are or will be computed: the evaluation team's from the closing on."""
        return self.ranked and (self.window.id in self.at.releases or self.window.closes.utc <= self.at.now)

    def has_row(self, run: Submission) -> bool:
        """Whether a run is on the board for this viewer."""
        sight = self.sights[run.id]
        return sight.exists and sight.level not in ("none", "ladder") and run.id in self.held

    def data(self, run: Submission) -> Mapping[str, Any]:
        """What may be seen of a run's final result."""
        result = final_result(content(self.at.office, self.held[run.id]), self.at.campaign, self.window)
        return {} if result is None else shown(result, self.sights[run.id])

    def metric(self, run: Submission) -> str:
        """The value that counts: the primary one, or the first that may be shown (E2E before its release)."""
        data = self.data(run)
        primary, values = str(data.get("primary", "")), data.get("values", {})
        return primary if primary in values or not values else str(next(iter(values)))


def field_of(session: Session, plan: plans.Plan, subject: Subject) -> Field:
    """Who is compared: one primary run of each team that counts; everybody else is counted with the reason."""
    rows = {row.id: row for row in _speaking(session, plan.row.id, subject)}
    runs = [_run(plan.campaign, row) for row in rows.values()]
    there = _teams_there(session, plan.row.id, subject)
    chosen = compared(runs, there)
    newest = {run.team: rows[run.id] for run in chosen.runs}
    baselines = tuple(rows[run.id] for run in chosen.baselines)
    return Field(tuple(newest.values()), baselines, chosen.left_out, frozenset(there - {run.team for run in runs}))


def _run(campaign: Campaign, row: Submission) -> Run:
    known = facts_of(campaign, row)
    return Run(row.id, row.team_id, row.type, row.task, row.state, row.standing, known.admitted, known.described)


def counting_units(campaign: Campaign, window: Window) -> dict[str, str]:
    """The factor and the level of the units that count; empty if all do (M20)."""
    return {"factor": FACTOR, "level": CLOSED} if open_sets(campaign, window) else {}


def board_key(held: Mapping[str, Result], runs: Sequence[Submission], only: Mapping[str, str]) -> str:
    """The key of a comparison: the keys of all results that go into it, and over which units."""
    results = {run.id: held[run.id].key for run in runs if run.id in held}
    parts = {"purpose": PURPOSE, "results": results, "only": dict(only)}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def subjects(session: Session, campaign_id: str, window: str | None = None) -> tuple[Subject, ...]:
    """Every board that there is something for."""
    columns = (Submission.window, Submission.task, Submission.language, Submission.track)
    question = select(*columns).where(Submission.campaign_id == campaign_id, Submission.state == "scored")
    question = question if window is None else question.where(Submission.window == window)
    return tuple(Subject(*row) for row in session.execute(question.distinct().order_by(*columns)))


def orders_due(session: Session, office: Office) -> Iterator[Order]:
    """Every comparison that the board of a released or closed window needs and that is not there yet."""
    for campaign_id in session.scalars(select(CampaignRow.id)).all():
        plan = plans.current(session, campaign_id)
        due = set(session.scalars(select(Release.window).where(Release.campaign_id == campaign_id)))
        due |= {one.id for one in plan.campaign.windows if one.closes.utc <= plan.now(office.clock())}
        for subject in _comparable(session, campaign_id, due):
            yield from order_for(session, plan, subject)


def _comparable(session: Session, campaign_id: str, windows: Iterable[str]) -> tuple[Subject, ...]:
    """Every board of these windows on which there is a primary run; found without looking at all others."""
    columns = (Submission.window, Submission.task, Submission.language, Submission.track)
    here = Submission.campaign_id == campaign_id, Submission.window.in_(sorted(windows))
    question = select(*columns).where(*here, Submission.type == "primary", Submission.state == "scored")
    return tuple(Subject(*row) for row in session.execute(question.distinct().order_by(*columns)))


def order_for(session: Session, plan: plans.Plan, subject: Subject) -> Iterator[Order]:
    """The comparison behind a board, unless it is there or there is nothing to compare."""
    field = field_of(session, plan, subject)
    held, window = _held(session, field), plans.find_window(plan.campaign, subject.window)
    only = counting_units(plan.campaign, window)
    key = board_key(held, field.compared, only)
    if len(field.compared) < 2 or not has_final_value(plan.campaign, window) or session.get(Board, key) is not None:
        return
    place = {"task": subject.task, "language": subject.language, "track": subject.track}
    systems = {run.id: run.id for run in field.compared}
    yield Order(key, plan.row.id, subject.window, PURPOSE, {**place, "systems": systems, "only": only})


def _speaking(session: Session, campaign_id: str, subject: Subject) -> list[Submission]:
    """The runs that can stand on a board, oldest first: primaries and baselines, which are few among all runs.

    They are asked for one after the other, so that each question has an index of its own.
    """
    there = select(Submission).where(*_on_board(campaign_id, subject))
    found = {
        run.id: run
        for speaks in (Submission.type == "primary", Submission.standing == "baseline")
        for run in session.scalars(there.where(speaks))
    }
    return sorted(found.values(), key=lambda run: (run.received, run.id))


def _teams_there(session: Session, campaign_id: str, subject: Subject) -> set[str]:
    """The teams that have any run there but baselines; each is asked about one run, not all of its runs looked at.

    The limit is for PostgreSQL, which would turn a plain EXISTS into a join with all submissions.
    """
    run = select(Submission.id).where(
        *_on_board(campaign_id, subject), Submission.team_id == Team.id, Submission.standing != "baseline"
    )
    has_run = run.limit(1).correlate(Team).scalar_subquery().is_not(None)
    return set(session.scalars(select(Team.id).where(Team.campaign_id == campaign_id, has_run)))


def _on_board(campaign_id: str, subject: Subject) -> tuple[ColumnElement[bool], ...]:
    return (
        Submission.campaign_id == campaign_id,
        Submission.window == subject.window,
        Submission.task == subject.task,
        Submission.language == subject.language,
        Submission.track == subject.track,
        Submission.state.in_(("scoring", "scored", "failed")),
    )


def _held(session: Session, field: Field) -> dict[str, Result]:
    return adopted(session, [run.id for run in field.shown])


def _ranking(session: Session, view: _View, field: Field, metric: str) -> Ranking | None:
    """Ranks and groups from the stored comparison; a system alone has rank 1."""
    if not metric:
        return None
    if len(field.compared) == 1:
        return Ranking({field.compared[0].id: (1, 1)}, {field.compared[0].id: 1})
    row = session.get(Board, board_key(view.held, field.compared, counting_units(view.at.campaign, view.window)))
    if row is None:
        return None
    ranges, groups = row.ranking["rank_ranges"].get(metric, {}), row.ranking["groups"].get(metric, [])
    return Ranking(
        {name: (int(span[0]), int(span[1])) for name, span in ranges.items()},
        {name: number for number, group in enumerate(groups, start=1) for name in group},
        _ends(row.ranking.get("detectable", {}).get(metric)),
    )


def _ends(found: Sequence[float] | None) -> tuple[float, float] | None:
    return None if found is None else (float(found[0]), float(found[1]))


def _rows(
    session: Session,
    view: _View,
    listed: Sequence[Submission],
    metric: str,
    ranking: Ranking | None,
    had_seen: Mapping[str, int],
) -> tuple[BoardRow, ...]:
    known = teams(session, [run.team_id for run in listed])
    rows = [_row(view, run, known[run.team_id], metric, ranking, had_seen.get(run.team_id, 0)) for run in listed]
    return tuple(sorted(rows, key=_order))


def _row(view: _View, run: Submission, team: Team, metric: str, ranking: Ranking | None, had_seen: int) -> BoardRow:
    sight = view.sights[run.id]
    entry = view.data(run).get("values", {}).get(metric, {})
    return BoardRow(
        name=view.at.called(sight, team),
        own=sight.own,
        baseline=run.standing == "baseline",
        value=entry.get("value"),
        low=entry.get("low"),
        high=entry.get("high"),
        ranks=None if ranking is None else ranking.ranks.get(run.id),
        group=None if ranking is None else ranking.groups.get(run.id),
        looks=had_seen,
        submission_id=run.id if sight.own or sight.staff else None,
        note="late, admitted" if run.standing == "late" else "",
    )


def _order(row: BoardRow) -> tuple[Any, ...]:
    """By rank, then by name: the order of equal ranks tells nothing."""
    return (row.ranks is None, row.ranks or (0, 0), row.name)


def _looks(
    session: Session, plan: plans.Plan, window: Window, subject: Subject, teams_listed: Iterable[str]
) -> Mapping[str, int]:
    """How many results on these data each team had been shown before the window closed: one look for each (S-17)."""
    packs = set(window.dataset)
    seen_in = [one.id for one in plan.campaign.windows if not is_blind(one) and packs & set(one.dataset)]
    where = plan.row.id, seen_in, subject.task, subject.language
    return looks.before(session, *where, teams_listed, window.closes.utc)


def _notes(campaign: Campaign, window: Window, ranked: bool) -> tuple[str, ...]:
    if not ranked:
        return ("Nothing of other teams is released yet.",)
    return (OPEN_QUERIES,) if open_sets(campaign, window) else ()


def _provenance(session: Session, view: _View, listed: Sequence[Submission]) -> Provenance | None:
    return provenance(session, listed[0], view.held[listed[0].id]) if listed else None
