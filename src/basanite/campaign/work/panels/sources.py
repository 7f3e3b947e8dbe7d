"""What teams submitted in a window, as items for judges: pools of runs (M95) and summaries with pictures (M52).

Runs and archives are untrusted bytes: they are read, and images decoded, in the limited child alone (X-8, X-9); what
comes back is kept in one short transaction. Which run brought a document is kept nowhere, and which system a summary is
of stays among the facts that no judge sees, so no page, file or export of the panel can tell a judge.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.jobs.scoring_process import Order, run_order, scored_file
from basanite.campaign.jobs.summaries import LISTED, PICTURES, RANKED
from basanite.campaign.model.refusals import RefusedError, missing, problem, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Panel, PanelImage, Submission
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels.lookup import find_panel, items_of, may_decide, note, scheme_of
from basanite.campaign.work.panels.setup import MOST_ITEMS, Added, add_items
from basanite.formats.retrieval.pools import PooledRun, pool_of, to_judge
from basanite.formats.retrieval.query_packs import read_query_pack
from basanite.formats.retrieval.trec import Graded
from basanite.problems import Findings, Problem
from basanite.work.item_files import Texts, items_of_pool, read_texts
from basanite.work.items import Block, Item, instruction_blocks, item_of
from basanite.work.scheme import Scheme

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
        if not takes_pools(scheme_of(panel)):
            fix = 'use a scheme that shows query and document, such as preset = "pool"'
            raise refused("M95", "this panel does not judge documents", fix, status=409)
        where = (panel.campaign_id, window or panel.window)
        runs = [run for task in TASKS for run in valid_runs(session, *where, drawing.types, task=task)]
    if not runs:
        fix = "choose a window with valid runs"
        raise refused("M95", "this window has no run to pool", fix, status=409)
    pool = pool_of([_read_run(office, run, drawing.depth) for run in runs], depth=drawing.depth, sample=drawing.sample)
    with office.writing() as session:
        waiting = to_judge(pool, _pairs_there(session, panel_id))
        words = texts or Texts()
        items = items_of_pool(waiting[: drawing.budget], words.queries, words.documents, new_id=random_id)
        added = add_items(session, office, actor, panel_id, items)
        facts = {"depth": drawing.depth, "runs": sorted(run.id for run in runs), "pooled": pool.size, "new": added.new}
        note(session, office, actor, find_panel(session, panel_id), "panel.pooled", panel_id, **facts)
        return Drawn(
            added, len(runs), len(pool.queries), pool.size, len(waiting[drawing.budget :]) if drawing.budget else 0
        )


def checked_texts(path: Path) -> Texts:
    """What judges read in place of ids, from a table; refused with all its problems."""
    findings = Findings()
    texts = read_texts(path, findings)
    if not findings.valid:
        raise RefusedError(findings.problems, status=422)
    return texts


def _check(drawing: Drawing) -> None:
    if not 1 <= drawing.depth <= DEEPEST:
        raise refused("M95", "the depth is invalid", f"give a depth of 1 to {DEEPEST}", status=422)
    if drawing.budget is not None and not 1 <= drawing.budget <= MOST_ITEMS:
        raise refused("M95", "the number of items is invalid", f"give 1 to {MOST_ITEMS}", status=422)


def takes_pools(scheme: Scheme) -> bool:
    """Whether judges of a scheme see a query and a document, and nothing else."""
    return set(scheme.shows) == SHOWS and not scheme.pairwise


def _read_run(office: Office, run: Submission, depth: int) -> PooledRun:
    order = Order(
        "rank", run.task.lower(), submission=scored_file(office, run), settings={"depth": depth}, sealed=False
    )
    with run_order(office, order) as outcome:
        path = outcome.path(RANKED)
        if not outcome.good or path is None:
            fix = "check the run; disqualify it, or try again"
            why = f"a run cannot be read{'' if outcome.good else f': {outcome.fault}'}"
            raise refused("M95", why, fix, status=409, found=run.name)
        rankings: dict[str, list[str]] = json.loads(path.read_bytes())
    return PooledRun(run.id, {}, rankings, FIRST if run.type == "primary" else LATER)


def _pairs_there(session: Session, panel_id: str) -> Graded:
    """The pairs that the panel has already: however they came, they are judged once."""
    found: dict[str, dict[str, int]] = {}
    for row in items_of(session, panel_id):
        for facts in (row.facts, *row.also):
            if "query" in facts and "document" in facts:
                found.setdefault(str(facts["query"]), {})[str(facts["document"])] = 0
    return found


PNG = "image/png"
SOURCES = "panel-images"
"""The key under which a team's bytes are distinguished: a digest of them would name the run to anyone who has it."""


@dataclass(frozen=True)
class Picture:
    """A picture as it was encoded again."""

    content: bytes
    width: int
    height: int
    source: str
    """sha256 of the bytes that the team sent."""


@dataclass(frozen=True)
class Image:
    """A picture that may be shown now."""

    content: bytes
    media: str
    width: int
    height: int


def keep_image(session: Session, office: Office, panel: Panel, picture: Picture) -> PanelImage:
    """Keep a picture under a random id; the same bytes of two systems are one picture."""
    source = office.vault.hmac("digest", SOURCES, f"{panel.id}:{picture.source}".encode())
    known = session.scalar(select(PanelImage).where(PanelImage.panel_id == panel.id, PanelImage.source == source))
    if known is not None:
        return known
    row = PanelImage(panel_id=panel.id, source=source, digest=office.files.put(picture.content).digest, media=PNG)
    row.width, row.height, row.added = picture.width, picture.height, office.clock()
    session.add(row)
    session.flush()
    return row


def shown_image(session: Session, office: Office, actor: Actor, panel_id: str, image_id: str) -> Image:
    """A picture for adjudicators and organisers; judges see those on their own desk alone (X-4)."""
    row = session.get(PanelImage, image_id)
    if row is None or row.panel_id != panel_id:
        raise missing("picture")
    if not may_decide(session, actor, session.get_one(Panel, panel_id).campaign_id):
        raise missing("picture")
    return Image(office.files.read(row.digest), row.media, row.width, row.height)


VALID = ("scoring", "scored")
COUNTING = ("on time", "late", "baseline")
TASK = "E2E"
LARGEST_PACK = 64 * 2**20
NAMED = 3
"""So many queries that nobody knows are named; the others are counted."""


@dataclass(frozen=True)
class Asked:
    """A query as judges see it."""

    text: str
    domain: str = ""


@dataclass(frozen=True)
class Summary:
    """One summary of a submission, with its picture."""

    submission: Submission
    query: str
    document: str
    instructions: Mapping[str, str]
    picture: Picture


@dataclass(frozen=True, slots=True)
class SummaryRuns:
    """Whose summaries a panel gets: of these queries, window and types; `general` holds words of teams by their ids."""

    queries: Mapping[str, Asked]
    window: str = ""
    types: Sequence[str] = ()
    general: Mapping[str, str] = field(default_factory=dict)


def from_submissions(office: Office, actor: Actor, panel_id: str, wanted: SummaryRuns) -> Added:
    """Give a panel every summary that was submitted in its window (M51).

    It opens its own transactions: reading archives takes its time, and nobody shall wait for it.
    """
    with office.reading() as session:
        panel = find_panel(session, panel_id)
        require_organiser(session, actor, panel.campaign_id)
        runs = valid_runs(session, panel.campaign_id, wanted.window or panel.window, wanted.types)
    if not runs:
        fix = "choose a window with valid end-to-end runs"
        raise refused("M52", "this window has no summaries to judge", fix, status=409)
    notes: list[Problem] = []
    found = [one for run in runs for one in summaries_of(office, run, notes)]
    known = [(one, wanted.queries[one.query]) for one in found if one.query in wanted.queries]
    with office.writing() as session:
        items = [_item(session, office, panel, one, asked, wanted.general) for one, asked in known]
        added = add_items(session, office, actor, panel_id, items)
    unknown = _missing_queries([one for one in found if one.query not in wanted.queries])
    return Added(added.new, added.merged, (*notes, *unknown))


def valid_runs(
    session: Session, campaign_id: str, window: str, types: Sequence[str] = (), *, task: str = TASK
) -> tuple[Submission, ...]:
    """The valid runs of a task in a window that count."""
    question = select(Submission).where(
        Submission.campaign_id == campaign_id,
        Submission.window == window,
        Submission.task == task,
        Submission.state.in_(VALID),
        Submission.standing.in_(COUNTING),
    )
    rows = session.scalars(question.order_by(Submission.received, Submission.id))
    return tuple(row for row in rows if not types or row.type in types)


def summaries_of(office: Office, run: Submission, notes: list[Problem]) -> Iterator[Summary]:
    """The summaries of one run, read by limited children, a bounded part of the archive each time."""
    following: int | None = 0
    while following is not None:
        order = Order(
            "summaries",
            run.task.lower(),
            submission=scored_file(office, run),
            settings={"after": following},
            sealed=False,
        )
        with run_order(office, order) as outcome:
            listed, pictures = outcome.path(LISTED), outcome.path(PICTURES)
            if not outcome.good or listed is None or pictures is None:
                fix = "check the run; disqualify it, or try again"
                raise refused("X-9", f"the summaries cannot be read: {outcome.fault}", fix, status=409, found=run.name)
            read = json.loads(listed.read_bytes())
            yield from _with_pictures(run, read["summaries"], pictures, notes)
            following = read["next"] if read["summaries"] else None


def _with_pictures(
    run: Submission, listed: list[dict[str, Any]], path: Path, notes: list[Problem]
) -> Iterator[Summary]:
    with path.open("rb") as file:
        for one in listed:
            if one["fault"]:
                notes.append(_unseen(run, one))
                continue
            file.seek(one["start"])
            picture = Picture(file.read(one["length"]), one["width"], one["height"], one["source"])
            yield Summary(run, one["query"], one["document"], one["instructions"], picture)


def _unseen(run: Submission, one: Mapping[str, Any]) -> Problem:
    what = f"{one['query']} {one['document']}"
    return problem("X-9", f"a summary cannot be shown: {one['fault']}", "check the run", found=what, file=run.name)


def _missing_queries(left_out: Sequence[Summary]) -> Iterator[Problem]:
    """One note on all summaries whose query judges could not read; the first few queries are named."""
    names = sorted({one.query for one in left_out})
    if names:
        message = f"summaries omitted because the list of queries lacks their query: {len(left_out)}"
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield problem("M52", message, "give the query pack of this window", found=", ".join(names[:NAMED]) + more)


def _item(
    session: Session, office: Office, panel: Panel, one: Summary, asked: Asked, general: Mapping[str, str]
) -> Item:
    image = keep_image(session, office, panel, one.picture)
    words = instruction_blocks(one.instructions, general.get(one.submission.team_id, ""))
    blocks = [Block("query", asked.text), *([Block("domain", asked.domain)] if asked.domain else [])]
    return item_of([*blocks, Block("image", image.id), *words], _facts(one, asked), new_id=random_id)


def _facts(one: Summary, asked: Asked) -> dict[str, str]:
    run = one.submission
    return {
        "system": run.id,
        "team": run.team_id,
        "query": one.query,
        "document": one.document,
        "domain": asked.domain,
        "summary": one.picture.source,
    }


def asked_queries(office: Office, name: str, content: bytes) -> dict[str, Asked]:
    """Queries with their words and domains from the list of a query pack; refused with all its problems."""
    if len(content) > LARGEST_PACK:
        raise refused("M52", "the list of queries is too long", "give the list of one query pack", status=413)
    findings = Findings()
    scratch = office.settings.data / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        path = Path(folder) / (Path(name).name or "queries.tsv")
        path.write_bytes(content)
        pack = read_query_pack(path, findings)
    if pack is None or not findings.valid:
        raise RefusedError(findings.problems, status=422)
    return {one.id: Asked(str(one.query), one.domain) for one in pack.queries}
