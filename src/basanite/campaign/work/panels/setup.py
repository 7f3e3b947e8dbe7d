"""Setting a panel up: scheme, items, and the moment from which it is judged; then the scheme is frozen (P-28).

A scheme that changes after that is a deviation from the plan, with who, why and what changed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.freeze import Change, changes
from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Judgement, Panel, PanelItem, PanelScheme, Seat
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import enrolment
from basanite.campaign.work.panels.lookup import (
    as_item,
    checked_scheme,
    digest_of,
    items_of,
    locked_panel,
    note,
    scheme_of,
)
from basanite.problems import Problem
from basanite.work.assignments import die
from basanite.work.controls import degraded_copy
from basanite.work.items import Item
from basanite.work.scheme import Scheme

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MOST_ITEMS = 200_000
LARGEST_SCHEME = 256 * 1024


@dataclass(frozen=True)
class NewPanel:
    """A panel to be made: the text of its scheme, its name, and the window whose submissions it judges, if it does."""

    scheme: str
    name: str
    window: str = ""


@dataclass(frozen=True)
class Added:
    """What became of items that were given to a panel."""

    new: int
    merged: int
    """Equal to one that is there: judged once, and counted for both."""
    notes: tuple[Problem, ...] = ()
    """What could not be used, and why."""


def create(session: Session, office: Office, actor: Actor, campaign_id: str, new: NewPanel) -> Panel:
    """A new panel with its scheme, which is checked as a whole; nobody judges before it is opened."""
    require_organiser(session, actor, campaign_id)
    checked_scheme(_check_scheme_size(new.scheme))
    if not NAME.fullmatch(new.name):
        fix = "use lowercase letters, digits and hyphens, at most 40"
        raise refused("P-22", f"{new.name!r} is not a valid panel name", fix, status=422, found=new.name)
    same = select(Panel.id).where(Panel.campaign_id == campaign_id, Panel.name == new.name)
    if session.scalar(same) is not None:
        raise refused("P-22", f"there is already a panel {new.name!r}", "choose another name", status=409)
    panel = Panel(
        campaign_id=campaign_id,
        name=new.name,
        window=new.window,
        scheme=new.scheme,
        scheme_digest=digest_of(new.scheme),
        scheme_version=1,
        seed=secrets.token_hex(16),
        state="draft",
        warnings=[],
        made=office.clock(),
        made_by=actor.id,
    )
    session.add(panel)
    session.flush()
    _keep_scheme(session, office, actor, panel, reason="", deviates=False)
    note(session, office, actor, panel, "panel.created", panel.id, name=new.name, scheme=panel.scheme_digest)
    return panel


def change_scheme(
    session: Session, office: Office, actor: Actor, panel_id: str, scheme_text: str, *, reason: str = ""
) -> Panel:
    """Judge by another scheme; once the panel was opened that is a deviation, with who, why and what was known."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    new = checked_scheme(_check_scheme_size(scheme_text))
    if panel.scheme_digest == digest_of(scheme_text):
        return panel
    if panel.state in ("closed", "cancelled"):
        raise refused("P-28", f"the panel is {panel.state}", "create a new panel for another scheme", status=409)
    deviates = panel.state == "open"
    if deviates:
        _check_deviation(scheme_of(panel), new, reason)
    panel.scheme, panel.scheme_digest = scheme_text, digest_of(scheme_text)
    panel.scheme_version += 1
    _keep_scheme(session, office, actor, panel, reason=reason, deviates=deviates)
    facts = {"version": panel.scheme_version, "scheme": panel.scheme_digest, "reason": reason}
    note(session, office, actor, panel, "panel.deviated" if deviates else "panel.changed", panel.id, **facts)
    return panel


def _check_deviation(old: Scheme, new: Scheme, reason: str) -> None:
    if not reason.strip():
        raise no_reason("P-28", "this changes a scheme that is in use")
    gone = [one.id for one in old.questions if one.id not in {other.id for other in new.questions}]
    if gone:
        fix = "keep the questions that have answers, or create a new panel"
        raise refused("P-28", f"the question {gone[0]!r} would lose its answers", fix, status=409)


def _keep_scheme(session: Session, office: Office, actor: Actor, panel: Panel, *, reason: str, deviates: bool) -> None:
    known = session.scalar(select(Judgement.id).where(Judgement.panel_id == panel.id).limit(1)) is not None
    session.add(
        PanelScheme(
            panel_id=panel.id,
            version=panel.scheme_version,
            text=panel.scheme,
            digest=panel.scheme_digest,
            by=actor.id,
            at=office.clock(),
            reason=reason,
            deviates=deviates,
            results_known=known,
        )
    )
    session.flush()


def _check_scheme_size(text: str) -> str:
    if len(text) > LARGEST_SCHEME or "\0" in text:
        raise refused("P-22", "the scheme is too long or not text", "write at most 256 KiB of TOML", status=422)
    return text


def deviations(session: Session, campaign_id: str) -> tuple[PanelScheme, ...]:
    """Every scheme that came after its panel was opened, in the order of time (P-28)."""
    question = select(PanelScheme).join(Panel, Panel.id == PanelScheme.panel_id)
    found = question.where(Panel.campaign_id == campaign_id, PanelScheme.deviates)
    return tuple(session.scalars(found.order_by(PanelScheme.at, PanelScheme.id)))


def add_items(session: Session, office: Office, actor: Actor, panel_id: str, items: Iterable[Item]) -> Added:
    """Give a panel what it judges; equal items become one. Refused once the panel is closed."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state not in ("draft", "open"):
        raise refused("P-22", f"the panel is {panel.state}", "create a new panel", status=409)
    known = {row.digest: row for row in items_of(session, panel.id)}
    number, new, merged = len(known), [], 0
    for item in items:
        if (row := known.get(item.digest)) is not None:
            merged += _merge_facts(session, panel, row, item)
            continue
        number += 1
        row = _row(office, actor, panel, item, number)
        known[item.digest] = row
        new.append(row)
        if number > MOST_ITEMS:
            fix = "use several panels"
            raise refused("P-22", f"more than {MOST_ITEMS} items", fix, status=413)
    session.add_all(new)
    session.flush()
    if new and panel.state == "open":
        enrolment.plan_again(session, office, panel)
    note(session, office, actor, panel, "panel.items", panel.id, new=len(new), merged=merged)
    return Added(len(new), merged)


def add_controls(session: Session, office: Office, actor: Actor, panel_id: str, count: int, *, seed: int) -> Added:
    """Give a panel hidden checks: copies of some of its items, each with words of another one in its text (R-29)."""
    panel = locked_panel(session, panel_id)
    scheme, real = scheme_of(panel), [as_item(row) for row in items_of(session, panel.id, ("real",))]
    order = sorted(real, key=lambda item: die(seed, "control", item.id))
    made = (degraded_copy(item, real, scheme, seed=seed, new_id=random_id) for item in order)
    controls = list(islice((item for item in made if item is not None and item.expected), count))
    if not controls:
        message = "no item of this panel can be degraded to create a hidden check"
        fix = "give the panel two items with text at least, and a question with a number or with marked spans"
        raise refused("R-29", message, fix, status=422)
    return add_items(session, office, actor, panel_id, controls)


def _row(office: Office, actor: Actor, panel: Panel, item: Item, number: int) -> PanelItem:
    return PanelItem(
        id=item.id,
        panel_id=panel.id,
        number=number,
        role=item.role,
        blocks=[asdict(block) for block in item.blocks],
        facts=dict(item.facts),
        also=[dict(facts) for facts in item.also],
        digest=item.digest,
        expected=None if item.expected is None else dict(item.expected),
        added=office.clock(),
        added_by=actor.id,
    )


def _merge_facts(session: Session, panel: Panel, row: PanelItem, item: Item) -> int:
    """Note the facts of an equal item with the one that is there; 0 if it is the very same again."""
    if item.role != row.role:
        fix = "remove it from one of the two"
        raise refused(
            "X-9", "an item is used both as a hidden check or training item and as a real one", fix, status=422
        )
    known: list[Any] = [row.facts, *row.also]
    more = [dict(facts) for facts in item.all_facts if facts not in known]
    if more:
        row.also = [*row.also, *more]
    return len(more)


def open_panel(session: Session, office: Office, actor: Actor, panel_id: str) -> Panel:
    """Let judges begin: everybody who is enrolled gets assignments and is told; the scheme is frozen now (P-28)."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state != "draft":
        raise refused("P-28", f"the panel is already {panel.state}", "see its page", status=409)
    if not items_of(session, panel.id, ("real",)):
        raise refused("P-22", "there are no items to judge yet", "add items first", status=409)
    panel.state, panel.opened = "open", office.clock()
    session.flush()
    enrolment.plan_again(session, office, panel)
    facts = {"scheme": panel.scheme_digest, "version": panel.scheme_version}
    note(session, office, actor, panel, "panel.opened", panel.id, **facts)
    enrolment.tell_assigned_judges(session, office, panel, list(_judges(session, panel)))
    return panel


def _judges(session: Session, panel: Panel) -> Iterable[str]:
    question = select(Seat.person_id).where(Seat.panel_id == panel.id, Seat.state.in_(("active", "paused")))
    return session.scalars(question.order_by(Seat.person_id))


def close_panel(session: Session, office: Office, actor: Actor, panel_id: str, *, reason: str = "") -> Panel:
    """End the judging; what was said stands, and no more is taken."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state != "open":
        raise refused("P-22", f"the panel is {panel.state}", "only an open panel can be closed", status=409)
    panel.state, panel.closed = "closed", office.clock()
    note(session, office, actor, panel, "panel.closed", panel.id, reason=reason)
    return panel


def reopen_panel(session: Session, office: Office, actor: Actor, panel_id: str, *, reason: str) -> Panel:
    """Go on judging after all, with a reason."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state != "closed":
        raise refused("P-22", f"the panel is {panel.state}", "only a closed panel can be reopened", status=409)
    if not reason.strip():
        raise no_reason("P-28", "reopening a panel needs a reason")
    panel.state, panel.closed = "open", None
    note(session, office, actor, panel, "panel.reopened", panel.id, reason=reason)
    return panel


def cancel(session: Session, office: Office, actor: Actor, panel_id: str, *, reason: str) -> Panel:
    """Give a panel up; what was judged is paid, kept, and used for nothing."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state == "cancelled":
        return panel
    if not reason.strip():
        raise no_reason("P-22", "canceling a panel needs a reason")
    panel.state, panel.closed = "cancelled", office.clock()
    note(session, office, actor, panel, "panel.cancelled", panel.id, reason=reason)
    return panel


@dataclass(frozen=True)
class SchemeDeparture:
    """A scheme that departs from the one under which its panel was opened."""

    panel: str
    window: str
    """The window whose submissions are judged; empty if they are not."""
    at: datetime
    reason: str
    judged: bool
    """Whether judgements had been given by then."""
    changes: tuple[Change, ...]


def departures(session: Session, campaign_id: str) -> tuple[SchemeDeparture, ...]:
    """Every change of a scheme after its panel was opened, in the order of time."""
    return tuple(_departure(session, row) for row in deviations(session, campaign_id))


def _departure(session: Session, row: PanelScheme) -> SchemeDeparture:
    panel = session.get_one(Panel, row.panel_id)
    question = select(PanelScheme.text).where(PanelScheme.panel_id == row.panel_id, PanelScheme.version < row.version)
    before = session.scalars(question.order_by(PanelScheme.version.desc()).limit(1)).one()
    found = changes(checked_scheme(before), checked_scheme(row.text))
    return SchemeDeparture(panel.name, panel.window, row.at, row.reason, row.results_known, found)
