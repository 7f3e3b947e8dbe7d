"""Setting a panel up: scheme, items, and the moment from which it is judged; then the scheme is frozen (P-28)."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.found import (
    as_item,
    checked_scheme,
    digest_of,
    items_of,
    locked_panel,
    note,
    scheme_of,
)
from basanite.campaign.panels.preparing import planned
from basanite.campaign.people.links import password_link
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Judgement, Panel, PanelItem, PanelScheme, Seat
from basanite.campaign.store.tables.base import random_id
from basanite.judging.controls import degraded
from basanite.judging.items import Item
from basanite.judging.planning.dice import die
from basanite.judging.scheme import Scheme
from basanite.problems import Problem

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MOST_ITEMS = 200_000
LARGEST_SCHEME = 256 * 1024


@dataclass(frozen=True)
class Added:
    """What became of items that were given to a panel."""

    new: int
    merged: int
    """Equal to one that is there: judged once, and counted for both."""
    notes: tuple[Problem, ...] = ()
    """What could not be used, and why."""


def create(
    session: Session, office: Office, actor: Actor, campaign_id: str, scheme_text: str, *, name: str, window: str = ""
) -> Panel:
    """A new panel with its scheme, which is checked as a whole; nobody judges before it is opened."""
    require_organiser(session, actor, campaign_id)
    checked_scheme(_bounded(scheme_text))
    if not NAME.fullmatch(name):
        fix = "use small letters, digits and -, at most 40"
        raise refused("P-22", f"{name!r} cannot be the name of a panel", fix, status=422, found=name)
    taken = select(Panel.id).where(Panel.campaign_id == campaign_id, Panel.name == name)
    if session.scalar(taken) is not None:
        raise refused("P-22", f"there is a panel {name!r} already", "choose another name", status=409)
    panel = Panel(
        campaign_id=campaign_id,
        name=name,
        window=window,
        scheme=scheme_text,
        scheme_digest=digest_of(scheme_text),
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
    note(session, office, actor, panel, "panel.created", panel.id, name=name, scheme=panel.scheme_digest)
    return panel


def change_scheme(
    session: Session, office: Office, actor: Actor, panel_id: str, scheme_text: str, *, reason: str = ""
) -> Panel:
    """Judge by another scheme; once the panel was opened that is a deviation, with who, why and what was known."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    new = checked_scheme(_bounded(scheme_text))
    if panel.scheme_digest == digest_of(scheme_text):
        return panel
    if panel.state in ("closed", "cancelled"):
        raise refused("P-28", f"the panel is {panel.state}", "make a new panel for another scheme", status=409)
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
        raise no_reason("P-28", "this changes a scheme that is being judged by")
    gone = [one.id for one in old.questions if one.id not in {other.id for other in new.questions}]
    if gone:
        fix = "keep the questions that have answers, or make a new panel"
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


def _bounded(text: str) -> str:
    if len(text) > LARGEST_SCHEME or "\0" in text:
        raise refused("P-22", "the scheme is too long or no text", "write at most 256 KiB of TOML", status=422)
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
        raise refused("P-22", f"the panel is {panel.state}", "make a new panel", status=409)
    known = {row.digest: row for row in items_of(session, panel.id)}
    number, new, merged = len(known), [], 0
    for item in items:
        if (row := known.get(item.digest)) is not None:
            merged += _merged(session, panel, row, item)
            continue
        number += 1
        row = _row(office, actor, panel, item, number)
        known[item.digest] = row
        new.append(row)
        _check_most(number)
    session.add_all(new)
    session.flush()
    if new and panel.state == "open":
        planned.plan_again(session, office, panel)
    note(session, office, actor, panel, "panel.items", panel.id, new=len(new), merged=merged)
    return Added(len(new), merged)


def add_controls(session: Session, office: Office, actor: Actor, panel_id: str, count: int, *, seed: int) -> Added:
    """Give a panel hidden checks: copies of some of its items, each with words of another one in its text (R-29)."""
    panel = locked_panel(session, panel_id)
    scheme, real = scheme_of(panel), [as_item(row) for row in items_of(session, panel.id, ("real",))]
    order = sorted(real, key=lambda item: die(seed, "control", item.id))
    made = (degraded(item, real, scheme, seed=seed, new_id=random_id) for item in order)
    controls = list(islice((item for item in made if item is not None and item.expected), count))
    if not controls:
        message = "no item of this panel can be made worse so that its answers show it"
        fix = "give the panel two items with text at least, and a question with a number or with marked places"
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


def _merged(session: Session, panel: Panel, row: PanelItem, item: Item) -> int:
    """Note the facts of an equal item with the one that is there; 0 if it is the very same again."""
    if item.role != row.role:
        fix = "take it out of one of the two"
        raise refused("X-9", "one item is both a hidden check or training and a real one", fix, status=422)
    known: list[Any] = [row.facts, *row.also]
    more = [dict(facts) for facts in item.all_facts if facts not in known]
    if more:
        row.also = [*row.also, *more]
    return len(more)


def _check_most(number: int) -> None:
    if number > MOST_ITEMS:
        fix = "judge in several panels"
        raise refused("P-22", f"more than {MOST_ITEMS} items", fix, status=413)


def open_panel(session: Session, office: Office, actor: Actor, panel_id: str) -> Panel:
    """Let judges begin: everybody who is enrolled gets assignments and is told; the scheme is frozen now (P-28)."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    if panel.state != "draft":
        raise refused("P-28", f"the panel is {panel.state} already", "look at its page", status=409)
    if not items_of(session, panel.id, ("real",)):
        raise refused("P-22", "there is nothing to judge yet", "give it items first", status=409)
    panel.state, panel.opened = "open", office.clock()
    session.flush()
    planned.plan_again(session, office, panel)
    facts = {"scheme": panel.scheme_digest, "version": panel.scheme_version}
    note(session, office, actor, panel, "panel.opened", panel.id, **facts)
    tell_assigned(session, office, panel, list(_judges(session, panel)))
    return panel


def _judges(session: Session, panel: Panel) -> Iterable[str]:
    question = select(Seat.person_id).where(Seat.panel_id == panel.id, Seat.state.in_(("active", "paused")))
    return session.scalars(question.order_by(Seat.person_id))


def tell_assigned(session: Session, office: Office, panel: Panel, persons: Iterable[str]) -> None:
    """Write to judges that there is something to judge; once for each panel and judge."""
    where = {"campaign_id": panel.campaign_id, "once": f"panel:{panel.id}"}
    words = {"title": scheme_of(panel).title, "panel": panel.name}
    for person in persons:
        data = words | {"password": password_link(session, office, person)}
        tell(session, office, "judging_assigned", persons=[person], data=data, **where)


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
        raise refused("P-22", f"the panel is {panel.state}", "only a closed panel can be opened again", status=409)
    if not reason.strip():
        raise no_reason("P-28", "judging goes on without a reason")
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
        raise no_reason("P-22", "a panel is cancelled without a reason")
    panel.state, panel.closed = "cancelled", office.clock()
    note(session, office, actor, panel, "panel.cancelled", panel.id, reason=reason)
    return panel


__all__ = [
    "Added",
    "add_items",
    "cancel",
    "change_scheme",
    "close_panel",
    "create",
    "deviations",
    "open_panel",
    "reopen_panel",
]
