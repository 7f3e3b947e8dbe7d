"""Who judges what, written down: the plan is pure (`judging.planning`), here it becomes assignments in the database.

Planning starts from what there is: work that was done or shown stays where it is, freed places are filled again, late
judges join in. Items of a team that a judge declared a conflict with never go to that judge (X-4).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.panels.found import as_item, items_of, scheme_of
from basanite.campaign.store.personal import seal_bytes, unseal_bytes
from basanite.campaign.store.tables import Assignment, Panel, PanelItem, Seat
from basanite.judging import planning

WORKING = ("active", "paused")


@dataclass(frozen=True)
class Declared:
    """What a judge says of himself or herself before the first item (P-22)."""

    languages: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Ids of teams whose work this judge must not judge."""


def sealed_declaration(office: Office, person_id: str, declared: Declared) -> bytes:
    """A declaration under the person's key: erasing the person forgets it."""
    plain = {"languages": list(declared.languages), "conflicts": list(declared.conflicts)}
    return seal_bytes(office.vault, person_id, json.dumps(plain, sort_keys=True).encode())


def declaration(office: Office, seat: Seat) -> Declared | None:
    """What was declared; None if nothing yet, or if the person was erased."""
    plain = None if seat.declared is None else unseal_bytes(office.vault, seat.person_id, seat.declared)
    if plain is None:
        return None
    read = json.loads(plain)
    return Declared(tuple(read["languages"]), tuple(read["conflicts"]))


def judge_of(office: Office, seat: Seat) -> planning.Judge:
    """A seat as planning knows it."""
    said = declaration(office, seat) or Declared()
    at_work = seat.state in WORKING
    known, close = frozenset(said.languages), frozenset(said.conflicts)
    return planning.Judge(seat.person_id, seat.group, known, close, active=at_work)


def assignments_of(session: Session, panel_id: str) -> list[Assignment]:
    """All assignments that count: done or to be done."""
    question = select(Assignment).where(Assignment.panel_id == panel_id, Assignment.state != "freed")
    return list(session.scalars(question.order_by(Assignment.person_id, Assignment.round, Assignment.position)))


def plan_again(session: Session, office: Office, panel: Panel) -> int:
    """Fill the places that are open with the judges there are; says how many assignments there are to do.

    What is done and rounds that are begun stay; the rest is dealt anew, so that late judges get their share.
    """
    session.flush()
    seats = session.scalars(select(Seat).where(Seat.panel_id == panel.id).order_by(Seat.person_id))
    judges = [judge_of(office, seat) for seat in seats]  # who left gets nothing, and what was done counts
    rows = list(session.scalars(select(Assignment).where(Assignment.panel_id == panel.id)))
    kept = _kept(rows)
    items = [as_item(row) for row in items_of(session, panel.id)]
    held = [_as_planned(row) for row in kept]
    plan = planning.plan_more(items, judges, scheme_of(panel), int(panel.seed, 16), kept=held)
    panel.warnings = [warning.message for warning in plan.warnings]
    return _written(session, office, panel, rows, {row.id for row in kept}, plan.assignments)


def _kept(rows: Iterable[Assignment]) -> list[Assignment]:
    """What is done, and what belongs to a round that its judge has begun."""
    rows = [row for row in rows if row.state != "freed"]
    begun = {(row.person_id, row.round) for row in rows if row.state == "done" or row.shown is not None}
    return [row for row in rows if (row.person_id, row.round) in begun]


def _as_planned(row: Assignment) -> planning.Assignment:
    return planning.Assignment(row.person_id, row.round, row.position, row.item_id, row.flipped)


def _written(
    session: Session,
    office: Office,
    panel: Panel,
    rows: Iterable[Assignment],
    kept: set[str],
    fresh: Iterable[planning.Assignment],
) -> int:
    """Write a plan: what is not kept is freed, and taken up again where the same judge gets the same item."""
    known, count, now = {(row.item_id, row.person_id): row for row in rows}, 0, office.clock()
    for row in known.values():
        row.state = row.state if row.id in kept else "freed"
    for one in fresh:
        row = known.get((one.item, one.judge)) or Assignment(item_id=one.item, person_id=one.judge, made=now)
        row.panel_id, row.state, row.shown = panel.id, "planned", None
        row.round, row.position, row.flipped = one.round, one.position, one.flipped
        session.add(row)
        count += 1
    session.flush()
    return count


def free(session: Session, panel_id: str, person_id: str, *, items: Iterable[str] | None = None) -> int:
    """Take back what a judge has not done yet, all of it or these items; says how many."""
    question = select(Assignment).where(
        Assignment.panel_id == panel_id, Assignment.person_id == person_id, Assignment.state == "planned"
    )
    chosen = None if items is None else set(items)
    rows = [row for row in session.scalars(question) if chosen is None or row.item_id in chosen]
    for row in rows:
        row.state = "freed"
    session.flush()
    return len(rows)


def items_of_teams(session: Session, panel_id: str, teams: Iterable[str]) -> list[str]:
    """Items that come from one of these teams, merged ones included."""
    wanted = set(teams)
    rows = session.scalars(select(PanelItem).where(PanelItem.panel_id == panel_id))
    return [row.id for row in rows if any(facts.get("team") in wanted for facts in (row.facts, *row.also))]


def items_in_other_languages(session: Session, panel_id: str, languages: Iterable[str]) -> list[str]:
    """Items in a language that a judge does not know; without a language, or if none is declared, all suit."""
    known = set(languages)
    rows = session.scalars(select(PanelItem).where(PanelItem.panel_id == panel_id))
    return [row.id for row in rows if known and row.facts.get("language", "") not in known | {""}]
