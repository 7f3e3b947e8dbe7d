"""Transcripts of language models that were submitted: who may read them, and flagged calls as items of a panel (L-4).

A transcript holds the items that a model was asked about. Where the data is sealed, only the evaluation team reads it,
and the log says who saw which items. Files are read in the limited child alone (X-8).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.jobs.child import CALLS
from basanite.campaign.jobs.scoring_process import Given, Order, run_order
from basanite.campaign.model import windows
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.results import visibility
from basanite.campaign.store import events
from basanite.campaign.store.tables import Panel, Submission
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels.lookup import panel_named, scheme_of
from basanite.campaign.work.panels.setup import Added, NewPanel, add_items, create
from basanite.formats.model_answers import FORMAT
from basanite.models.transcript_page import MOST, CallSearch
from basanite.work.item_files import LONGEST
from basanite.work.items import Block, Item, item_of
from basanite.work.scheme import Scheme

NEW_PANEL: Final = "flagged-answers"
"""The panel that flagged answers go to where nobody names one."""
SCHEME: Final = """format = "basanite-judging/1"
name = "flagged-answers"
preset = "binary"
title = "Is the answer correct?"
shows = ["query", "text"]
per_item = 1
"""
BEGINNING: Final = 4096


@dataclass(frozen=True)
class ShownCalls:
    """A part of the calls of one submission."""

    run: Submission
    system: str
    total: int
    found: int
    calls: tuple[Mapping[str, Any], ...]


def holds_transcripts(office: Office, run: Submission) -> bool:
    """Whether the file of a submission says that it holds transcripts; nothing else of it is read here."""
    with office.files.local(run.sha256).open("rb") as file:
        return FORMAT.encode() in file.read(BEGINNING).partition(b"\n")[0]


def can_read(viewer: Viewer, plan: plans.Plan, run: Submission) -> bool:
    """Whether somebody who may see a submission may read its transcripts: not where items are sealed, but for staff."""
    window = plan.campaign.window(run.window)
    return viewer.staff or not windows.is_sealed(plan.campaign, window)


def shown_calls(office: Office, viewer: Viewer, actor: Actor, run_id: str, wanted: CallSearch) -> ShownCalls:
    """The calls of a submission that a search finds; what is sealed is logged with the items that were seen.

    It opens its own transactions: reading a file takes its time, and nobody shall wait for it.
    """
    with office.reading() as session:
        visibility.submission(session, office, viewer, run_id)
        run = session.get_one(Submission, run_id)
        plan = plans.current(session, run.campaign_id)
        if not can_read(viewer, plan, run):
            fix = "ask the evaluation team"
            raise refused("L-4", "the items of this window are sealed, and transcripts show them", fix, status=403)
        sealed = windows.is_sealed(plan.campaign, plan.campaign.window(run.window))
        there = holds_transcripts(office, run)
    if not there:
        raise missing("transcript")
    found = _search_calls(office, run, wanted)
    if sealed and found["calls"]:
        with office.writing() as session:
            seen = sorted({str(call["item"]) for call in found["calls"]})
            facts = {"submission": run.id, "items": seen}
            events.record(
                session,
                "items.seen",
                at=office.clock(),
                actor=actor.id,
                subject=run.id,
                campaign_id=run.campaign_id,
                data=facts,
            )
    return ShownCalls(run, found["system"], found["total"], found["found"], tuple(found["calls"]))


def _search_calls(office: Office, run: Submission, wanted: CallSearch) -> Mapping[str, Any]:
    order = Order(
        "calls",
        run.task.lower(),
        submission=Given(run.name, office.files.local(run.sha256)),
        settings=asdict(wanted),
        sealed=False,
    )
    with run_order(office, order) as outcome:
        path = outcome.path(CALLS)
        if not outcome.good or path is None:
            fix = "check the file of this submission, or try again"
            raise refused("L-4", "the transcripts cannot be read", fix, status=409, found=run.name)
        found: Mapping[str, Any] = json.loads(path.read_bytes())
        return found


def takes_answers(scheme: Scheme) -> bool:
    """Whether judges of a scheme can be shown a prompt and an answer."""
    return "text" in scheme.shows and set(scheme.shows) <= {"query", "text"} and not scheme.pairwise


def panels_for_answers(session: Session, campaign_id: str) -> tuple[Panel, ...]:
    """The panels of a campaign that flagged answers may go to."""
    rows = session.scalars(
        select(Panel).where(Panel.campaign_id == campaign_id, Panel.state.in_(("draft", "open"))).order_by(Panel.name)
    )
    return tuple(row for row in rows if takes_answers(scheme_of(row)))


def judge_flagged(
    office: Office, viewer: Viewer, actor: Actor, run_id: str, calls: Sequence[tuple[str, int]], panel: str = ""
) -> tuple[str, Added]:
    """Give flagged calls to a panel, which is made where there is none; gives its name and what was new."""
    if not 0 < len(calls) <= MOST:
        raise refused("L-4", "no answer is flagged", f"flag 1 to {MOST} answers", status=422)
    items = tuple(dict.fromkeys(item for item, _ in calls))
    shown = shown_calls(office, viewer, actor, run_id, CallSearch(items=items, limit=MOST))
    wanted = set(calls)
    chosen = [call for call in shown.calls if (call["item"], call["repeat"]) in wanted]
    if len(chosen) < len(wanted):
        raise refused("L-4", "a flagged answer is not in this submission", "load the page again", status=404)
    with office.writing() as session:
        row = _panel(session, office, actor, shown.run.campaign_id, panel)
        added = add_items(session, office, actor, row.id, [_item(shown.run, call) for call in chosen])
        return row.name, added


def _panel(session: Session, office: Office, actor: Actor, campaign_id: str, name: str) -> Panel:
    if name:
        row = panel_named(session, campaign_id, name)
        if not takes_answers(scheme_of(row)):
            fix = "choose a panel whose scheme shows a text"
            raise refused("L-4", "this panel does not judge texts", fix, status=409)
        return row
    known = select(Panel).where(Panel.campaign_id == campaign_id, Panel.name == NEW_PANEL)
    return session.scalar(known) or create(session, office, actor, campaign_id, NewPanel(SCHEME, NEW_PANEL))


def _item(run: Submission, call: Mapping[str, Any]) -> Item:
    """What judges see: prompt and text. Whose answer it is stays among the facts that no judge sees."""
    blocks = (Block("query", call["prompt"][:LONGEST] or "–"), Block("text", call["text"][:LONGEST] or "–"))
    facts = {"system": run.id, "team": run.team_id, "item": str(call["item"]), "repeat": str(call["repeat"])}
    return item_of(blocks, facts, new_id=random_id)
