"""Boards: primary submissions of one task, language and track of a window, with groups, rank ranges and intervals.

What differs is found by a comparison in the limited child, over all systems that are compared (M78, S-11), and stored
under the key of all that went into it. Baselines stand beside them, marked and unranked. Where open queries are among
those of a window, values and comparisons are over the closed ones (M20). Who is left out is counted (P-23). What a
viewer sees of each row is the policy's to say, and no name, rank or number of rows is shown before there is something
to be seen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, load_only

from basanite.campaign.actions import plans
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import RANK, Sight, effective, visible_result
from basanite.campaign.model.redaction import NEVER_AN_EVALUATION
from basanite.campaign.model.standings import Run, compared_runs
from basanite.campaign.model.windows import (
    CLOSED,
    FACTOR,
    board_summary,
    final_result,
    has_final_value,
    is_blind,
    open_sets,
)
from basanite.campaign.office import Office
from basanite.campaign.results.facts import Desk, Order, adopted_results, beyond_looks, content, facts_of, team_names
from basanite.campaign.results.rankings import Ranking, stored_ranking
from basanite.campaign.results.views import BoardRow, Provenance, SeenBoard, provenance
from basanite.campaign.store import looks
from basanite.campaign.store.tables import Board, CampaignRow, Release, Result, Submission, Team
from basanite.canonical import canonical_digest
from basanite.scoring import find_task

SHOWN: Final = load_only(
    Submission.team_id, Submission.window, Submission.task, Submission.type, Submission.track, Submission.label,
    Submission.description, Submission.received, Submission.standing, Submission.admitted, Submission.state,
    Submission.language, Submission.sha256, Submission.name,
)  # fmt: skip
"""What a board needs of its runs, of which there may be thousands; the rest is read where it is asked for (P-40)."""
MOST_METRICS: Final = 6
"""Columns of values on a board."""
PURPOSE: Final = "board"
EXPIRES: Final = re.compile(r"expires ([0-9]{4}-[0-9]{2}-[0-9]{2})")
OPEN_QUERIES: Final = "Values and ranks use the closed queries; open queries never count toward a final value (M20)."


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
    def rows(self) -> tuple[Submission, ...]:
        """All that can have a row."""
        return (*self.compared, *self.baselines)


@dataclass(frozen=True)
class Look:
    """How somebody looks at a board."""

    by: str = ""
    """The metric that heads and ranks it; by default the window's own."""
    until: datetime | None = None
    """The moment whose board is shown: runs and results that came later are not there; None is now."""
    against: str = ""
    """The name of the row that all others are compared with."""


def visible_board(session: Session, at: Desk, subject: Subject, look: Look | None = None) -> SeenBoard:
    """A board as somebody may see it now; empty, with nothing counted, before anything is released to them."""
    look = look or Look()
    window = plans.find_window(at.campaign, subject.window)
    field, filled = field_of(session, at.plan, subject, look.until), window.board != "primary"
    view = _View(
        at,
        window,
        {run.id: at.sight(run, stands=filled) for run in field.rows},
        _adopted_results(session, field, look.until),
    )
    visible = {key for key, sight in view.sights.items() if sight.exists and sight.level not in ("none", "ladder")}
    visible &= view.held.keys()
    listed = [run for run in field.rows if run.id in visible]
    own = next((name for name in map(view.metric, listed) if name), "")
    metrics = _metrics(view, listed, own)
    metric = look.by if look.by in metrics else own
    ranking = _ranking(session, view, field, metric) if view.shows_ranks else None
    fields = next((one.required for one in at.campaign.tracks if one.id == subject.track), ())
    had_seen = _looks(session, at.plan, window, subject, {run.team_id for run in listed})
    return SeenBoard(
        campaign=at.campaign.slug,
        window=window.id,
        task=subject.task,
        language=subject.language,
        track=subject.track,
        metric=metric,
        rows=_rows(session, view, listed, _Columns(metrics, metric, look.against, ranking, had_seen, fields)),
        left_out=field.left_out if view.shows_ranks else {},
        naming=window.naming,
        level=max((view.sights[run.id].level for run in listed), key=RANK.__getitem__, default="none"),
        notes=(*_notes(at.campaign, window, view.shows_ranks), *_licenses(view, listed)),
        provenance=_provenance(session, view, listed),
        pending=view.has_ranking and ranking is None and len(field.compared) > 1 and bool(metric),
        released="top" in view.out,
        ranked=view.shows_ranks,
        without_primary=at.viewer.team in field.without_primary,
        interim=at.now < window.closes.utc,
        detectable=None if ranking is None else ranking.detectable,
        metrics=metrics,
        fill=window.board,
        against=look.against,
        tested="" if ranking is None else ranking.tested,
    )


def _metrics(view: _View, listed: Sequence[Submission], own: str) -> tuple[str, ...]:
    """The metrics of the columns: the board's own, then those that most rows have, as results list them."""
    found = Counter(
        name for run in listed for name, entry in view.values(run).items() if entry.get("value") is not None
    )
    others = [name for name in found if name != own and name not in NEVER_AN_EVALUATION]
    return tuple(filter(None, (own, *others)))[:MOST_METRICS]


@dataclass(frozen=True)
class _View:
    """One viewer before one board: what may be seen of each run, and the results behind them."""

    at: Desk
    window: Window
    sights: Mapping[str, Sight]
    held: Mapping[str, Result]
    known: dict[str, Mapping[str, Any]] = dataclass_field(default_factory=dict)
    """What was worked out of a run: a board asks for it several times."""

    @property
    def out(self) -> frozenset[str]:
        """The levels of results that are out by now."""
        return effective(self.window, self.at.releases.get(self.window.id, {}), self.at.now)

    @property
    def shows_ranks(self) -> bool:
        """Whether runs of other teams, and so ranks, are released to this viewer."""
        inside = self.at.viewer.team is not None
        return self.at.viewer.staff or ("top" in self.out and (inside or "public" in self.out))

    @property
    def has_ranking(self) -> bool:
        """Whether ranks are to be seen, and so are or will be computed: the evaluation team's from the closing on."""
        return self.shows_ranks and (self.window.id in self.at.releases or self.window.closes.utc <= self.at.now)

    def data(self, run: Submission) -> Mapping[str, Any]:
        """What may be seen of a run's final result."""
        if run.id not in self.known:
            held = self.held[run.id]
            whole = held.board if held.board is not None else content(self.at.office, held)
            result = final_result(whole, self.at.campaign, self.window)
            self.known[run.id] = {} if result is None else visible_result(result, self.sights[run.id])
        return self.known[run.id]

    def values(self, run: Submission) -> Mapping[str, Any]:
        """The values that may be seen of a run's final result."""
        found: Mapping[str, Any] = self.data(run).get("values") or {}
        return found

    def metric(self, run: Submission) -> str:
        """The value that counts: the primary one, or the first that may be shown (E2E before its release)."""
        data = self.data(run)
        primary, values = str(data.get("primary", "")), data.get("values", {})
        return primary if primary in values or not values else str(next(iter(values)))


def field_of(session: Session, plan: plans.Plan, subject: Subject, until: datetime | None = None) -> Field:
    """Who is compared: one run of each team that counts, chosen as the plan says; who is not is counted by reason."""
    window = plans.find_window(plan.campaign, subject.window)
    speaking = _speaking(session, plan.row.id, subject)
    if window.board != "primary":
        chosen_runs = _chosen_runs(session, plan, window, subject, until)
        speaking = [*chosen_runs, *(row for row in speaking if row.standing == "baseline")]
    rows = {row.id: row for row in speaking if until is None or row.received <= until}
    runs = [_run(plan.campaign, row) for row in rows.values()]
    there = _teams_there(session, plan.row.id, subject) if window.board == "primary" else set()
    chosen = compared_runs(runs, there)
    newest = {run.team: rows[run.id] for run in chosen.runs}
    baselines = tuple(rows[run.id] for run in chosen.baselines)
    return Field(tuple(newest.values()), baselines, chosen.left_out, frozenset(there - {run.team for run in runs}))


def _run(campaign: Campaign, row: Submission) -> Run:
    known = facts_of(campaign, row)
    kind = row.type if plans.find_window(campaign, row.window).board == "primary" else "primary"
    return Run(row.id, row.team_id, kind, row.task, row.state, row.standing, known.admitted, known.described)


def _chosen_runs(
    session: Session, plan: plans.Plan, window: Window, subject: Subject, until: datetime | None
) -> list[Submission]:
    """The best or the latest scored run of each team; runs after its looks were used up show no value, and no place."""
    hidden = beyond_looks(session, plan)
    question = select(Submission).where(*on_board(plan.row.id, subject), Submission.state == "scored")
    question = question.where(Submission.standing.in_(("on time", "late"))).order_by(Submission.received, Submission.id)
    found = [run for run in session.scalars(question) if run.id not in hidden and (not until or run.received <= until)]
    if window.board == "latest":
        return list({run.team_id: run for run in found}.values())
    held = adopted_results(session, [run.id for run in found], until)
    sign = -1.0 if _lower_is_better(window, subject.task) else 1.0
    best: dict[str, tuple[float, Submission]] = {}
    for run in found:
        value = held[run.id].primary if run.id in held else None
        if value is not None and (run.team_id not in best or sign * value > best[run.team_id][0]):
            best[run.team_id] = (sign * value, run)
    return [run for _, run in best.values()]


def _lower_is_better(window: Window, task: str) -> bool:
    found = find_task(task.lower())
    chosen = str(window.settings_of(task).get("primary") or "")
    return found.metric(found.headline(chosen) if chosen else found.primary).best == "low"


def counting_units(campaign: Campaign, window: Window) -> dict[str, str]:
    """The factor and the level of the units that count; empty if all do (M20)."""
    return {"factor": FACTOR, "level": CLOSED} if open_sets(campaign, window) else {}


def board_key(held: Mapping[str, Result], runs: Sequence[Submission], only: Mapping[str, str]) -> str:
    """The key of a comparison: the keys of all results that go into it, and over which units."""
    results = {run.id: held[run.id].key for run in runs if run.id in held}
    parts = {"purpose": PURPOSE, "results": results, "only": dict(only)}
    return canonical_digest(parts)


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
        filled = [one.id for one in plan.campaign.windows if one.board != "primary"]
        for subject in _comparable(session, campaign_id, due, filled):
            yield from order_for(session, plan, subject)


def _comparable(
    session: Session, campaign_id: str, windows: Iterable[str], filled: Iterable[str]
) -> tuple[Subject, ...]:
    """Every board of these windows with a primary run, or of those `filled` by other runs; others are not looked at."""
    columns = (Submission.window, Submission.task, Submission.language, Submission.track)
    here = Submission.campaign_id == campaign_id, Submission.window.in_(sorted(windows))
    speaks = or_(Submission.type == "primary", Submission.window.in_(sorted(filled)))
    question = select(*columns).where(*here, speaks, Submission.state == "scored")
    return tuple(Subject(*row) for row in session.execute(question.distinct().order_by(*columns)))


def order_for(session: Session, plan: plans.Plan, subject: Subject) -> Iterator[Order]:
    """The comparison behind a board, unless it is there or there is nothing to compare."""
    field = field_of(session, plan, subject)
    held, window = _adopted_results(session, field), plans.find_window(plan.campaign, subject.window)
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
    there = select(Submission).where(*on_board(campaign_id, subject)).options(SHOWN)
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
        *on_board(campaign_id, subject), Submission.team_id == Team.id, Submission.standing != "baseline"
    )
    has_run = run.limit(1).correlate(Team).scalar_subquery().is_not(None)
    return set(session.scalars(select(Team.id).where(Team.campaign_id == campaign_id, has_run)))


def on_board(campaign_id: str, subject: Subject) -> tuple[ColumnElement[bool], ...]:
    """What is true of every submission that could stand on a board."""
    return (
        Submission.campaign_id == campaign_id,
        Submission.window == subject.window,
        Submission.task == subject.task,
        Submission.language == subject.language,
        Submission.track == subject.track,
        Submission.state.in_(("scoring", "scored", "failed")),
    )


def _adopted_results(session: Session, field: Field, until: datetime | None = None) -> dict[str, Result]:
    return adopted_results(session, [run.id for run in field.rows], until)


def _ranking(session: Session, view: _View, field: Field, metric: str) -> Ranking | None:
    """Ranks and groups from the stored comparison; a system alone has rank 1."""
    if not metric:
        return None
    if len(field.compared) == 1:
        return Ranking({field.compared[0].id: (1, 1)}, {field.compared[0].id: 1})
    key = board_key(view.held, field.compared, counting_units(view.at.campaign, view.window))
    return stored_ranking(session, key, metric)


@dataclass(frozen=True)
class _Columns:
    """What stands in the columns of a board besides the runs' own values."""

    metrics: Sequence[str]
    metric: str
    against: str
    ranking: Ranking | None
    looks: Mapping[str, int]
    fields: Sequence[str] = ()
    """Fields of the description that the track requires."""


def _rows(session: Session, view: _View, listed: Sequence[Submission], columns: _Columns) -> tuple[BoardRow, ...]:
    known, ranking = team_names(session, [run.team_id for run in listed]), columns.ranking
    names = {run.id: view.at.name_of(view.sights[run.id], known[run.team_id]) for run in listed}
    chosen = next((run for run, name in names.items() if columns.against and name == columns.against), None)
    verdicts = {} if ranking is None or chosen is None else ranking.against(chosen)
    rows = [_row(view, run, (names[run.id], known[run.team_id]), columns, verdicts.get(run.id)) for run in listed]
    if ranking is not None and ranking.tested:
        sign = 1.0 if find_task(listed[0].task.lower()).metric(columns.metric).best == "low" else -1.0
        return tuple(sorted(rows, key=lambda row: (row.value is None, sign * (row.value or 0.0), row.name)))
    return tuple(sorted(rows, key=_order))


def _numbers(entry: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    return entry.get("value"), entry.get("low"), entry.get("high")


def _row(view: _View, run: Submission, called: tuple[str, Any], columns: _Columns, against: int | None) -> BoardRow:
    sight, values, ranking = view.sights[run.id], view.values(run), columns.ranking
    entry, (name, team) = values.get(columns.metric, {}), called
    is_known = name == team.name  # a label or a date could tell whose run a pseudonym stands for (P-25)
    return BoardRow(
        name=name,
        own=sight.own,
        baseline=run.standing == "baseline",
        value=entry.get("value"),
        low=entry.get("low"),
        high=entry.get("high"),
        ranks=None if ranking is None else ranking.ranks.get(run.id),
        group=None if ranking is None else ranking.groups.get(run.id),
        looks=columns.looks.get(run.team_id, 0),
        submission_id=run.id if sight.own or sight.staff else None,
        note="late, admitted" if run.standing == "late" else "",
        system=run.label if is_known else "",
        received=run.received if is_known else None,
        values={name: _numbers(values.get(name, {})) for name in columns.metrics},
        declared=_declared_numbers(run, columns.fields) if is_known and columns.fields else {},
        against=against,
    )


def _declared_numbers(run: Submission, fields: Sequence[str]) -> dict[str, float]:
    """The fields of a description that are numbers."""
    found = {}
    for name in fields:
        try:
            number = float(str(run.description.get(name)))
        except ValueError:
            continue
        if math.isfinite(number):
            found[name] = number
    return found


def _order(row: BoardRow) -> tuple[Any, ...]:
    """By rank, then by name: the order of equal ranks tells nothing."""
    return (row.ranks is None, row.ranks or (0, 0), row.name)


def _looks(
    session: Session, plan: plans.Plan, window: Window, subject: Subject, teams_listed: Iterable[str]
) -> Mapping[str, int]:
    """How many results on these data each team had been shown before the window closed: one look for each (S-17)."""
    packs = set(window.dataset)
    seen_in = [one.id for one in plan.campaign.windows if not is_blind(one) and packs & set(one.dataset)]
    data = looks.DataSet(plan.row.id, seen_in, subject.task, subject.language)
    return looks.before(session, data, teams_listed, window.closes.utc)


def _notes(campaign: Campaign, window: Window, ranked: bool) -> tuple[str, ...]:
    if not ranked:
        return ("No results of other teams are released yet.",)
    return (OPEN_QUERIES,) if open_sets(campaign, window) else ()


def _licenses(view: _View, listed: Sequence[Submission]) -> tuple[str, ...]:
    """The licenses of the judges behind values that are shown, and whether they are over (L-7)."""
    found: dict[str, None] = {}
    for run in listed:
        if view.values(run):
            held = view.held[run.id]
            found |= dict.fromkeys((held.board or board_summary(content(view.at.office, held))).get("licenses", ()))
    return tuple(f"{one}{_over(one, view.at.now)}" for one in found)


def _over(sentence: str, now: datetime) -> str:
    """What to add to a license whose date has passed."""
    date = EXPIRES.search(sentence)
    return " (expired: calibrate the judge again)" if date and date[1] < f"{now:%Y-%m-%d}" else ""


def _provenance(session: Session, view: _View, listed: Sequence[Submission]) -> Provenance | None:
    return provenance(session, view.at.plan, view.held[listed[0].id]) if listed else None
