"""Summaries that teams submitted in a window, as items for judges: query, domain, picture, and the team's own words.

Archives are strangers' bytes. They are read, and images decoded, in the limited child alone (X-8, X-9); what comes back
is kept in one short transaction. Which system a summary is of stays among the facts that no judge sees (M52).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.jobs.running import Given, Order, carried_out
from basanite.campaign.jobs.showing import LISTED, PICTURES
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.found import find_panel
from basanite.campaign.panels.preparing.images import Picture, keep_image
from basanite.campaign.panels.preparing.setting_up import Added, add_items
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Panel, Submission
from basanite.campaign.store.tables.base import random_id
from basanite.formats.queries.query_packs import read_query_pack
from basanite.judging.items import Block, Item, instruction_blocks, item_of
from basanite.problems import Findings, Problem

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


def from_submissions(
    office: Office,
    actor: Actor,
    panel_id: str,
    *,
    queries: Mapping[str, Asked],
    window: str = "",
    types: Sequence[str] = (),
    general: Mapping[str, str] | None = None,
) -> Added:
    """Give a panel every summary that was submitted in its window; `general` holds words of teams by team id (M51).

    It opens its own transactions: reading archives takes its time, and nobody shall wait for it.
    """
    with office.reading() as session:
        panel = find_panel(session, panel_id)
        require_organiser(session, actor, panel.campaign_id)
        runs = submitted(session, panel.campaign_id, window or panel.window, types)
    if not runs:
        fix = "choose a window whose end-to-end runs were found valid"
        raise refused("M52", "there is no summary to judge in this window", fix, status=409)
    notes: list[Problem] = []
    found = [one for run in runs for one in summaries_of(office, run, notes)]
    known = [(one, queries[one.query]) for one in found if one.query in queries]
    with office.writing() as session:
        items = [_item(session, office, panel, one, asked, general or {}) for one, asked in known]
        added = add_items(session, office, actor, panel_id, items)
    return Added(added.new, added.merged, (*notes, *_unasked([one for one in found if one.query not in queries])))


def submitted(
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
            submission=Given(run.name, office.files.local(run.sha256)),
            settings={"after": following},
            sealed=False,
        )
        with carried_out(office, order) as outcome:
            listed, pictures = outcome.path(LISTED), outcome.path(PICTURES)
            if not outcome.good or listed is None or pictures is None:
                fix = "look at the run; disqualify it, or try again"
                raise refused("X-9", f"the summaries cannot be read: {outcome.fault}", fix, status=409, found=run.name)
            read = json.loads(listed.read_bytes())
            yield from _pictured(run, read["summaries"], pictures, notes)
            following = read["next"] if read["summaries"] else None


def _pictured(run: Submission, listed: list[dict[str, Any]], path: Path, notes: list[Problem]) -> Iterator[Summary]:
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
    return problem("X-9", f"a summary cannot be shown: {one['fault']}", "look at the run", found=what, file=run.name)


def _unasked(left_out: Sequence[Summary]) -> Iterator[Problem]:
    """One note on all summaries whose query judges could not read; the first few queries are named."""
    names = sorted({one.query for one in left_out})
    if names:
        message = f"summaries left out because the list of queries lacks their query: {len(left_out)}"
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
