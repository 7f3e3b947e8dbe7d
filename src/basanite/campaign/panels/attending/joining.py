"""Joining a panel and leaving it: enrolment, consent, what a judge declares, and withdrawal (P-22, X-4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.found import (
    digest_of,
    find_seat,
    locked_panel,
    locked_seat,
    note,
    place,
    scheme_of,
)
from basanite.campaign.panels.preparing import planned
from basanite.campaign.panels.preparing.planned import Declared, declaration, sealed_declaration
from basanite.campaign.panels.preparing.setting_up import tell_assigned
from basanite.campaign.panels.watching import paying
from basanite.campaign.people.duty import check_role, lock_person
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.roles import grant, require_organiser, viewer
from basanite.campaign.store.tables import Assignment, CampaignRow, Panel, PanelConsent, Seat, Team
from basanite.judging.scheme import Scheme

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
        grant(session, office, actor, person_id=person_id, role="judge", campaign_id=panel.campaign_id, reason=reason)
    seat = _seated(session, office, actor, panel, person_id, group)
    note(session, office, actor, panel, "panel.enrolled", seat.id, person=person_id, group=group)
    if panel.state == "open":
        planned.plan_again(session, office, panel)
        tell_assigned(session, office, panel, [person_id])
    return seat


def _check_enrolment(panel: Panel, group: str, scheme: Scheme) -> None:
    if panel.state not in ("draft", "open"):
        raise refused("P-22", f"the panel is {panel.state}", "nobody can join it any more", status=409)
    known = tuple(scheme.per_group)
    if group not in known:
        fix = f"one of: {', '.join(known)}"
        raise refused("R-2", f"the scheme has no group {group!r}", fix, status=422, found=group)


def _seated(session: Session, office: Office, actor: Actor, panel: Panel, person_id: str, group: str) -> Seat:
    """A new seat, or the old one taken up again; consent is asked for anew after a withdrawal."""
    seat = session.scalar(select(Seat).where(Seat.panel_id == panel.id, Seat.person_id == person_id))
    if seat is None:
        seat = Seat(panel_id=panel.id, person_id=person_id, group=group, joined=office.clock(), by=actor.id)
        seat.state, seat.consent_version, seat.rested = "active", "", 0
        session.add(seat)
    elif seat.state in ("withdrawn", "removed"):
        seat.state, seat.group, seat.ended, seat.consent_version = "active", group, None, ""
    else:
        raise refused("P-22", "this person is on the panel already", "look at the list of judges", status=409)
    session.flush()
    return seat


def consent(session: Session, office: Office, actor: Actor, panel_id: str, version: str) -> Seat:
    """A judge accepts the consent text that holds now; another version than the one shown is refused (P-22)."""
    panel, seat = _own_seat(session, actor, panel_id)
    text = scheme_of(panel).consent
    if version != text.version:
        fix = "read the text that holds now, and accept that"
        raise refused("P-22", "the consent text has changed meanwhile", fix, status=409)
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
    seat.declared = sealed_declaration(office, actor.id, said)
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
    unfit = set(planned.items_of_teams(session, panel.id, said.conflicts))
    unfit |= set(planned.items_in_other_languages(session, panel.id, said.languages))
    freed = planned.free(session, panel.id, seat.person_id, items=unfit)
    if panel.state == "open" and freed:
        planned.plan_again(session, office, panel)


def _languages(given: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(text.strip() for text in given if text.strip()))
    if len(found) > MOST_LANGUAGES or any(len(text) > LONGEST_LANGUAGE or not text.isprintable() for text in found):
        raise refused("P-22", "these are no languages", "write codes or names, as they are listed", status=422)
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
    return _leave(session, office, actor, panel, seat, "withdrawn", reason="")


def remove(session: Session, office: Office, actor: Actor, panel_id: str, person_id: str, *, reason: str) -> Seat:
    """An organiser ends a seat; the work done is settled all the same, and nothing of it is rejected (P-22)."""
    panel = locked_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    seat = locked_seat(session, panel.id, person_id)
    if not reason.strip():
        raise no_reason("P-22", "a judge is taken off without a reason")
    if seat.state in ("withdrawn", "removed"):
        return seat
    return _leave(session, office, actor, panel, seat, "removed", reason=reason)


def _leave(
    session: Session, office: Office, actor: Actor, panel: Panel, seat: Seat, state: str, *, reason: str
) -> Seat:
    seat.state, seat.ended = state, office.clock()
    freed = planned.free(session, panel.id, seat.person_id)
    seat.settled = paying.settled(session, office, panel, seat)
    if panel.state == "open":
        planned.plan_again(session, office, panel)
    note(session, office, actor, panel, f"judge.{state}", seat.id, person=seat.person_id, freed=freed, reason=reason)
    return seat


def _own_seat(session: Session, actor: Actor, panel_id: str) -> tuple[Panel, Seat]:
    panel, seat = place(session, panel_id, actor.id, lock=True)
    _check_at_work(panel, seat)
    return panel, seat


def _check_at_work(panel: Panel, seat: Seat) -> None:
    if seat.state in ("withdrawn", "removed") or panel.state in ("closed", "cancelled"):
        raise refused("P-22", "your work on this panel has ended", "ask an organiser if you want to go on", status=409)


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
