"""Pools drawn from the runs that teams submitted in a window, as items for judges: query and document, no system (M95).

Runs are strangers' bytes: each is read in the limited child, which gives the first documents of every query and nothing
else. Which run brought a document is kept nowhere, so no page, file or export of the panel can tell a judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from basanite.campaign.jobs.ranking import RANKED
from basanite.campaign.jobs.running import Given, Order, carried_out
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.found import find_panel, items_of, note, scheme_of
from basanite.campaign.panels.preparing.setting_up import MOST_ITEMS, Added, add_items
from basanite.campaign.panels.preparing.summaries import submitted
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Submission
from basanite.campaign.store.tables.base import random_id
from basanite.formats.retrieval.pools import Pool, PooledRun, pool_of, to_judge
from basanite.formats.retrieval.trec import Graded
from basanite.judging.pooling import Texts, items_of_pool, read_texts
from basanite.judging.scheme import Scheme
from basanite.problems import Findings

TASKS = ("ranking", "CLIR")
"""Tasks whose runs put documents in order."""
SHOWS = {"query", "document"}
DEEPEST = 10_000
FIRST, LATER = 1, 2
"""What a primary run brought is judged before what only others did."""


@dataclass(frozen=True)
class Drawing:
    """How a pool is drawn: so many documents of each run, at most so many of them to be judged."""

    depth: int
    budget: int | None = None
    types: tuple[str, ...] = ()
    """Only runs of these types; empty for all that count."""
    sample: str | None = None
    """A seed: judge in an order drawn from it, as inferred AP needs it."""


@dataclass(frozen=True)
class Drawn:
    """What became of a pool."""

    added: Added
    runs: int
    queries: int
    pooled: int
    """Pairs of query and document in the whole pool."""
    waiting: int
    """Pairs that the budget did not reach; they are not judged, which is not the same as not relevant."""


def draw(
    office: Office, actor: Actor, panel_id: str, drawing: Drawing, *, window: str = "", texts: Texts | None = None
) -> Drawn:
    """Give a panel the pool of the valid runs of a window; drawn again later, only what is new is added.

    It opens its own transactions: reading runs takes its time, and nobody shall wait for it.
    """
    _check(drawing)
    with office.reading() as session:
        panel = find_panel(session, panel_id)
        require_organiser(session, actor, panel.campaign_id)
        _check_scheme(scheme_of(panel))
        where = (panel.campaign_id, window or panel.window)
        runs = [run for task in TASKS for run in submitted(session, *where, drawing.types, task=task)]
    if not runs:
        fix = "choose a window with runs that were found valid"
        raise refused("M95", "there is no run to draw a pool from in this window", fix, status=409)
    pool = pool_of([_ranked(office, run, drawing.depth) for run in runs], depth=drawing.depth, sample=drawing.sample)
    with office.writing() as session:
        return _kept(session, office, actor, panel_id, drawing, pool, runs, texts or Texts())


def checked_texts(path: Path) -> Texts:
    """What judges read in place of ids, from a table; refused with all its problems."""
    findings = Findings()
    texts = read_texts(path, findings)
    if not findings.valid:
        raise RefusedError(findings.problems, status=422)
    return texts


def _check(drawing: Drawing) -> None:
    if not 1 <= drawing.depth <= DEEPEST:
        raise refused("M95", "so deep a pool cannot be drawn", f"give a depth of 1 to {DEEPEST}", status=422)
    if drawing.budget is not None and not 1 <= drawing.budget <= MOST_ITEMS:
        raise refused("M95", "so many cannot be judged", f"give 1 to {MOST_ITEMS}", status=422)


def _check_scheme(scheme: Scheme) -> None:
    if not takes_pools(scheme):
        fix = 'judge by a scheme that shows query and document, such as preset = "pool"'
        raise refused("M95", "this panel does not judge documents", fix, status=409)


def takes_pools(scheme: Scheme) -> bool:
    """Whether judges of a scheme see a query and a document, and nothing else."""
    return set(scheme.shows) == SHOWS and not scheme.pairwise


def _ranked(office: Office, run: Submission, depth: int) -> PooledRun:
    given = Given(run.name, office.files.local(run.sha256))
    order = Order("rank", run.task.lower(), submission=given, settings={"depth": depth}, sealed=False)
    with carried_out(office, order) as outcome:
        path = outcome.path(RANKED)
        if not outcome.good or path is None:
            fix = "look at the run; disqualify it, or try again"
            why = f"a run cannot be read{'' if outcome.good else f': {outcome.fault}'}"
            raise refused("M95", why, fix, status=409, found=run.name)
        rankings: dict[str, list[str]] = json.loads(path.read_bytes())
    return PooledRun(run.id, {}, rankings, FIRST if run.type == "primary" else LATER)


def _kept(
    session: Session,
    office: Office,
    actor: Actor,
    panel_id: str,
    drawing: Drawing,
    pool: Pool,
    runs: Sequence[Submission],
    texts: Texts,
) -> Drawn:
    there = _there(session, panel_id)
    waiting = to_judge(pool, there)
    pairs = waiting[: drawing.budget]
    items = items_of_pool(pairs, texts.queries, texts.documents, new_id=random_id)
    added = add_items(session, office, actor, panel_id, items)
    facts = {"depth": drawing.depth, "runs": sorted(run.id for run in runs), "pooled": pool.size, "new": added.new}
    note(session, office, actor, find_panel(session, panel_id), "panel.pooled", panel_id, **facts)
    return Drawn(added, len(runs), len(pool.queries), pool.size, len(waiting) - len(pairs))


def _there(session: Session, panel_id: str) -> Graded:
    """The pairs that the panel has already: however they came, they are judged once."""
    found: dict[str, dict[str, int]] = {}
    for row in items_of(session, panel_id):
        for facts in (row.facts, *row.also):
            _note_pair(found, facts)
    return found


def _note_pair(found: dict[str, dict[str, int]], facts: Mapping[str, object]) -> None:
    if "query" in facts and "document" in facts:
        found.setdefault(str(facts["query"]), {})[str(facts["document"])] = 0
