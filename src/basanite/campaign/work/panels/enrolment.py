"""Judges of a panel: enrolment, consent, declarations, withdrawal, and who judges which item (P-22, X-4).

The plan of assignments is pure (`work.plans`); here it becomes rows. Planning starts from what there is: work that was
done or shown stays where it is, freed places are filled again, late judges join in. Items of a team that a judge
declared a conflict with never go to that judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.links import password_link
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.roles import RoleGrant, check_role, grant, lock_person, require_organiser, viewer
from basanite.campaign.store.personal import seal_bytes, unseal_bytes
from basanite.campaign.store.tables import Assignment, CampaignRow, Panel, PanelConsent, PanelItem, Seat, Team
from basanite.campaign.work.panels import payroll
from basanite.campaign.work.panels.lookup import (
    as_item,
    digest_of,
    find_panel,
    find_seat,
    items_of,
    locked_panel,
    locked_seat,
    note,
    place,
    scheme_of,
)
from basanite.canonical import canonical_text
from basanite.work import assignments as planning
from basanite.work.plans import plan_more
from basanite.work.scheme import Scheme

WORKING = ("active", "paused")


@dataclass(frozen=True)
class Declared:
    """What a judge says of himself or herself before the first item (P-22)."""

    languages: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Ids of teams whose work this judge must not judge."""


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

    What is done and rounds that are begun stay; the rest is dealt again, so that late judges get their share.
    """
    session.flush()
    seats = session.scalars(select(Seat).where(Seat.panel_id == panel.id).order_by(Seat.person_id))
    judges = [judge_of(office, seat) for seat in seats]  # who left gets nothing, and what was done counts
    rows = list(session.scalars(select(Assignment).where(Assignment.panel_id == panel.id)))
    live = [row for row in rows if row.state != "freed"]
    begun = {(row.person_id, row.round) for row in live if row.state == "done" or row.shown is not None}
    kept = [row for row in live if (row.person_id, row.round) in begun]
    items = [as_item(row) for row in items_of(session, panel.id)]
    held = [planning.Assignment(row.person_id, row.round, row.position, row.item_id, row.flipped) for row in kept]
    plan = plan_more(items, judges, scheme_of(panel), int(panel.seed, 16), kept=held)
    panel.warnings = [warning.message for warning in plan.warnings]
    return _write_plan(session, office, panel, rows, {row.id for row in kept}, plan.assignments)


def _write_plan(
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


GROUPS = ("judge", "expert", "novice")
MOST_LANGUAGES = 50
LONGEST_LANGUAGE = 40


@dataclass(frozen=True)
class MyPanel:
    """A panel as one of its judges sees it in a list: nothing of its items, and nobody else (X-4)."""

    panel_id: str
    campaign_id: str
    slug: str
    name: str
    title: str
    state: str
    """Of the panel: `open`, `closed` …"""
    seat: str
    """Of the judge: `active`, `paused`, `withdrawn`, `removed`."""
    done: int
    of: int
    consented: datetime | None


def enrol(
    session: Session, office: Office, actor: Actor, panel_id: str, person_id: str, *, group: str = "judge"
) -> Seat:
    """Give a person a seat, and the role of a judge where it is lacking; nobody of a team of the campaign (X-4)."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    _check_enrolment(panel, group, scheme_of(panel))
    find_person(session, person_id)
    lock_person(session, person_id)
    check_role(session, panel.campaign_id, person_id, "judge")
    if "judge" not in viewer(session, panel.campaign_id, person_id).roles:
        reason = f"enrolled in the panel {panel.name}"
        grant(
            session,
            office,
            actor,
            RoleGrant(person_id=person_id, role="judge", campaign_id=panel.campaign_id, reason=reason),
        )
    seat = _take_seat(session, office, actor, panel, person_id, group)
    note(session, office, actor, panel, "panel.enrolled", seat.id, person=person_id, group=group)
    if panel.state == "open":
        plan_again(session, office, panel)
        tell_assigned_judges(session, office, panel, [person_id])
    return seat


def _check_enrolment(panel: Panel, group: str, scheme: Scheme) -> None:
    if panel.state not in ("draft", "open"):
        raise refused("P-22", f"the panel is {panel.state}", "judges can no longer join", status=409)
    known = tuple(scheme.per_group)
    if group not in known:
        fix = f"one of: {', '.join(known)}"
        raise refused("R-2", f"the scheme has no group {group!r}", fix, status=422, found=group)


def _take_seat(session: Session, office: Office, actor: Actor, panel: Panel, person_id: str, group: str) -> Seat:
    """A new seat, or the old one taken up again; consent is asked for again after a withdrawal."""
    seat = session.scalar(select(Seat).where(Seat.panel_id == panel.id, Seat.person_id == person_id))
    if seat is None:
        seat = Seat(panel_id=panel.id, person_id=person_id, group=group, joined=office.clock(), by=actor.id)
        seat.state, seat.consent_version, seat.rested = "active", "", 0
        session.add(seat)
    elif seat.state in ("withdrawn", "removed"):
        seat.state, seat.group, seat.ended, seat.consent_version = "active", group, None, ""
    else:
        raise refused("P-22", "this person is already on the panel", "see the list of judges", status=409)
    session.flush()
    return seat


def consent(session: Session, office: Office, actor: Actor, panel_id: str, version: str) -> Seat:
    """A judge accepts the consent text that holds now; another version than the one shown is refused (P-22)."""
    panel, seat = place(session, panel_id, actor.id, lock=True)
    _check_at_work(panel, seat)
    text = scheme_of(panel).consent
    if version != text.version:
        fix = "read and accept the current text"
        raise refused("P-22", "the consent text has changed", fix, status=409)
    if seat.consent_version == version and seat.consented is not None:
        return seat
    seat.consent_version, seat.consented = version, office.clock()
    _keep_consent(session, office, seat, version, digest_of(text.text), "given")
    note(session, office, actor, panel, "consent.given", seat.id, version=version, text=digest_of(text.text))
    return seat


def _keep_consent(session: Session, office: Office, seat: Seat, version: str, digest: str, kind: str) -> None:
    row = PanelConsent(panel_id=seat.panel_id, person_id=seat.person_id, version=version, digest=digest, kind=kind)
    row.at = office.clock()
    session.add(row)
    session.flush()


def declare(
    session: Session,
    office: Office,
    actor: Actor,
    panel_id: str,
    *,
    languages: Iterable[str] = (),
    conflicts: Iterable[str] = (),
) -> Seat:
    """A judge says which languages are known and with which teams there is a conflict; their items go to others."""
    panel = locked_panel(session, panel_id)
    seat = locked_seat(session, panel.id, actor.id)
    _check_at_work(panel, seat)
    said = Declared(_languages(languages), _teams(session, panel.campaign_id, conflicts))
    old = declaration(office, seat)
    # under the person's key: erasing the person forgets it
    plain = {"languages": list(said.languages), "conflicts": list(said.conflicts)}
    seat.declared = seal_bytes(office.vault, actor.id, canonical_text(plain).encode())
    session.flush()
    if old != said:
        _respect(session, office, panel, seat, said)
    fields = {"languages": len(said.languages), "conflicts": len(said.conflicts)}
    note(session, office, actor, panel, "judge.declared", seat.id, **fields)
    return seat


def _respect(session: Session, office: Office, panel: Panel, seat: Seat, said: Declared) -> None:
    """Take back what the judge must not judge, and let the others have it."""
    if not (said.conflicts or said.languages):
        return
    conflicts, known = set(said.conflicts), set(said.languages)
    rows = session.scalars(select(PanelItem).where(PanelItem.panel_id == panel.id)).all()
    unfit = {row.id for row in rows if any(facts.get("team") in conflicts for facts in (row.facts, *row.also))}
    # An item without a language suits everybody, and so does every item where no language was declared.
    unfit |= {row.id for row in rows if known and row.facts.get("language", "") not in known | {""}}
    freed = free(session, panel.id, seat.person_id, items=unfit)
    if panel.state == "open" and freed:
        plan_again(session, office, panel)


def _languages(given: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(text.strip() for text in given if text.strip()))
    if len(found) > MOST_LANGUAGES or any(len(text) > LONGEST_LANGUAGE or not text.isprintable() for text in found):
        raise refused("P-22", "unknown languages", "use codes or names from the list", status=422)
    return found


def _teams(session: Session, campaign_id: str, given: Iterable[str]) -> tuple[str, ...]:
    """Teams by id or name; one that is not there is refused, so that no conflict is lost by a slip."""
    wanted = [text for text in given if text]
    named = select(Team.id, Team.name).where(Team.campaign_id == campaign_id)
    known = {key: row[0] for row in (session.execute(named) if wanted else ()) for key in (row[0], row[1])}
    if unknown := [text for text in wanted if text not in known]:
        fix = "choose from the list of teams"
        raise refused("P-22", "there is no such team", fix, status=422, found=unknown[0])
    return tuple(sorted({known[text] for text in wanted}))


def withdraw(session: Session, office: Office, actor: Actor, panel_id: str) -> Seat:
    """A judge stops: no more assignments, the past work is settled, and the places go to others (P-22)."""
    panel = locked_panel(session, panel_id)
    seat = locked_seat(session, panel.id, actor.id)
    if seat.state == "withdrawn":
        return seat
    _keep_consent(session, office, seat, seat.consent_version, digest_of(scheme_of(panel).consent.text), "withdrawn")
    return _leave(session, office, actor, seat, "withdrawn", reason="")


def remove(session: Session, office: Office, actor: Actor, panel_id: str, person_id: str, *, reason: str) -> Seat:
    """An organiser ends a seat; the work done is settled all the same, and nothing of it is rejected (P-22)."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    seat = locked_seat(session, panel.id, person_id)
    if not reason.strip():
        raise no_reason("P-22", "removing a judge needs a reason")
    if seat.state in ("withdrawn", "removed"):
        return seat
    return _leave(session, office, actor, seat, "removed", reason=reason)


def _leave(session: Session, office: Office, actor: Actor, seat: Seat, state: str, *, reason: str) -> Seat:
    panel = find_panel(session, seat.panel_id)
    seat.state, seat.ended = state, office.clock()
    freed = free(session, panel.id, seat.person_id)
    seat.settled = payroll.sealed_statement(session, office, panel, seat)
    if panel.state == "open":
        plan_again(session, office, panel)
    note(session, office, actor, panel, f"judge.{state}", seat.id, person=seat.person_id, freed=freed, reason=reason)
    return seat


def _check_at_work(panel: Panel, seat: Seat) -> None:
    if seat.state in ("withdrawn", "removed") or panel.state in ("closed", "cancelled"):
        raise refused(
            "P-22", "your work on this panel has ended", "ask an organizer if you want to continue", status=409
        )


def my_panels(session: Session, person_id: str) -> tuple[MyPanel, ...]:
    """The panels that a person is on, those to work on first."""
    question = (
        select(Seat, Panel, CampaignRow.slug)
        .join(Panel, Panel.id == Seat.panel_id)
        .join(CampaignRow, CampaignRow.id == Panel.campaign_id)
        .where(Seat.person_id == person_id, Panel.state != "cancelled")
        .order_by(Panel.made.desc(), Panel.id)
    )
    found = [_mine(session, seat, panel, slug) for seat, panel, slug in session.execute(question)]
    return tuple(sorted(found, key=lambda one: (one.state != "open", one.seat not in ("active", "paused"))))


def _mine(session: Session, seat: Seat, panel: Panel, slug: str) -> MyPanel:
    done, of = progress_of(session, panel.id, seat.person_id)
    where = (panel.id, panel.campaign_id, slug, panel.name, scheme_of(panel).title)
    return MyPanel(*where, panel.state, seat.state, done, of, seat.consented)


def progress_of(session: Session, panel_id: str, person_id: str) -> tuple[int, int]:
    """How many items a judge has done, of how many; training counts, too."""
    question = select(Assignment.state, func.count()).where(
        Assignment.panel_id == panel_id, Assignment.person_id == person_id, Assignment.state != "freed"
    )
    counts = {row[0]: row[1] for row in session.execute(question.group_by(Assignment.state))}
    return counts.get("done", 0), sum(counts.values())


def declared_by(session: Session, office: Office, panel_id: str, person_id: str) -> Declared | None:
    """What a judge declared, for the judge's own page."""
    return declaration(office, find_seat(session, panel_id, person_id))


@dataclass(frozen=True)
class SeatFacts:
    """One seat."""

    person_id: str
    group: str
    state: str
    joined: datetime
    consented: datetime | None
    consent_version: str
    languages: tuple[str, ...] | None
    """None if nothing was declared yet."""
    conflicts: tuple[str, ...]
    """Ids of teams."""
    done: int
    of: int


def seats(
    session: Session, office: Office, panel_id: str, *, after: str = "", limit: int = 50
) -> tuple[SeatFacts, ...]:
    """The seats of a panel by person id; `after` is where the last page ended."""
    question = select(Seat).where(Seat.panel_id == panel_id, Seat.person_id > after)
    rows = session.scalars(question.order_by(Seat.person_id).limit(limit))
    return tuple(_facts(session, office, row) for row in rows)


def _facts(session: Session, office: Office, row: Seat) -> SeatFacts:
    said = declaration(office, row)
    done, of = progress_of(session, row.panel_id, row.person_id)
    return SeatFacts(
        row.person_id,
        row.group,
        row.state,
        row.joined,
        row.consented,
        row.consent_version,
        None if said is None else said.languages,
        () if said is None else said.conflicts,
        done,
        of,
    )


def tell_assigned_judges(session: Session, office: Office, panel: Panel, persons: Iterable[str]) -> None:
    """Write to judges that there is something to judge; once for each panel and judge."""
    where = {"campaign_id": panel.campaign_id, "once": f"panel:{panel.id}"}
    words = {"title": scheme_of(panel).title, "panel": panel.name}
    for person in persons:
        data = words | {"password": password_link(session, office, person)}
        tell(session, office, "judging_assigned", persons=[person], data=data, **where)
