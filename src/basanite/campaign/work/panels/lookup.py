"""What acts on panels begin with: the panel, its scheme, a judge's seat and the items, found or refused as missing.

Somebody else's panel, seat or assignment is answered like one that does not exist (X-4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import MACHINE, viewer
from basanite.campaign.store.tables import CampaignRow, Panel, PanelItem, Seat
from basanite.campaign.work.lookup import find_row, log_event
from basanite.work.items import Block, Item, Role
from basanite.work.scheme import Scheme, read_scheme

SCHEME_FILE = "scheme.toml"
DECIDERS = frozenset({"adjudicator", "evaluation", "administrator"})


def find_panel(session: Session, panel_id: str, *, campaign_id: str | None = None) -> Panel:
    """The panel of an id, which must be there (and in this campaign, where one is named)."""
    return find_row(session, Panel, panel_id, "panel", campaign_id=campaign_id)


def panel_named(session: Session, campaign_id: str, name_or_id: str) -> Panel:
    """The panel of a campaign by its name or id."""
    named = select(Panel).where(Panel.campaign_id == campaign_id)
    found = session.scalar(named.where((Panel.name == name_or_id) | (Panel.id == name_or_id)).limit(1))
    if found is None:
        raise missing("panel")
    return found


def locked_panel(session: Session, panel_id: str) -> Panel:
    """The panel, with its row locked until this transaction ends: two never plan at once."""
    return find_row(session, Panel, panel_id, "panel", lock=True)


@lru_cache(maxsize=256)
def checked_scheme(text: str) -> Scheme:
    """The scheme of a text; refused with all its problems if it has any that stop it."""
    scheme, problems = read_scheme(text, SCHEME_FILE)
    if scheme is None:
        raise RefusedError(problems, status=422)
    return scheme


def scheme_of(panel: Panel) -> Scheme:
    """How a panel judges, as it holds now."""
    return checked_scheme(panel.scheme)


def digest_of(text: str) -> str:
    """What a scheme or a text is known by."""
    return hashlib.sha256(text.encode()).hexdigest()


_PLACE = (
    select(Panel, Seat)
    .join(Seat, Seat.panel_id == Panel.id)
    .where(Panel.id == bindparam("panel"), Seat.person_id == bindparam("person"))
)
_LOCKED_PLACE = _PLACE.with_for_update(of=Seat).execution_options(populate_existing=True)
_NAMED_PLACE = select(Seat.panel_id).join(Panel, Panel.id == Seat.panel_id)
_NAMED_PLACE = _NAMED_PLACE.where(
    Panel.campaign_id == bindparam("campaign"),
    or_(Panel.name == bindparam("name"), Panel.id == bindparam("name")),
    Seat.person_id == bindparam("person"),
)
"""Asked at every click of every judge, and so built once."""


def place(session: Session, panel_id: str, person_id: str, *, lock: bool = False) -> tuple[Panel, Seat]:
    """A panel with a judge's seat on it; locked until this transaction ends, two tabs come one after the other."""
    found = session.execute(_LOCKED_PLACE if lock else _PLACE, {"panel": panel_id, "person": person_id}).first()
    if found is None:
        raise missing("panel")
    return found[0], found[1]


def panel_of_judge(session: Session, campaign_id: str, name_or_id: str, person_id: str) -> str:
    """The id of a panel on which somebody has a seat; any other is not there (X-4)."""
    given = {"campaign": campaign_id, "name": name_or_id, "person": person_id}
    found = session.scalars(_NAMED_PLACE, given).first()
    if found is None:
        raise missing("panel")
    return found


def find_seat(session: Session, panel_id: str, person_id: str) -> Seat:
    """A judge's seat on a panel, whatever became of it; nobody else's is ever found."""
    seat = session.scalar(select(Seat).where(Seat.panel_id == panel_id, Seat.person_id == person_id))
    if seat is None:
        raise missing("panel")
    return seat


def locked_seat(session: Session, panel_id: str, person_id: str) -> Seat:
    """The seat, locked until this transaction ends: two tabs of one judge come one after the other."""
    question = select(Seat).where(Seat.panel_id == panel_id, Seat.person_id == person_id).with_for_update()
    seat = session.scalar(question.execution_options(populate_existing=True))
    if seat is None:
        raise missing("panel")
    return seat


def items_of(session: Session, panel_id: str, roles: Iterable[str] = ("real", "check", "training")) -> list[PanelItem]:
    """The items of a panel in the order in which they came."""
    question = select(PanelItem).where(PanelItem.panel_id == panel_id, PanelItem.role.in_(tuple(roles)))
    return list(session.scalars(question.order_by(PanelItem.number)))


def as_item(row: PanelItem) -> Item:
    """A stored item as judging knows it."""
    role = cast(Role, row.role)
    blocks = tuple(map(as_block, row.blocks))
    return Item(row.id, blocks, dict(row.facts), row.digest, row.expected, role, tuple(row.also))


def as_block(plain: Mapping[str, Any]) -> Block:
    """A stored block as judging knows it."""
    return Block(**plain)


def may_decide(session: Session, actor: Actor, campaign_id: str) -> bool:
    """Whether somebody adjudicates in a campaign: an adjudicator, the evaluation team, or the machine itself."""
    return actor.id in MACHINE or bool(viewer(session, campaign_id, actor.id).roles & DECIDERS)


def require_decider(session: Session, actor: Actor, campaign_id: str) -> None:
    """Refuse everybody but adjudicators and the evaluation team, as if there were nothing."""
    if not may_decide(session, actor, campaign_id):
        raise missing("case")


def note(session: Session, office: Office, actor: Actor, panel: Panel, kind: str, subject: str, **data: Any) -> None:
    """Write down what happened on a panel; ids and facts, never an answer or a word of a person."""
    log_event(session, office, actor, panel, kind, subject, panel=panel.id, **data)


def slug_of(session: Session, panel: Panel) -> str:
    """The slug of a panel's campaign, for addresses."""
    return session.get_one(CampaignRow, panel.campaign_id).slug
