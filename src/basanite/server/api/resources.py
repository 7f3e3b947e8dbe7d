"""The register of resources: what a team harvested, purchased or adapted to, and what it has to share when (M93)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from basanite.campaign.people.teams.reading import find_team
from basanite.campaign.people.terms import resources as register
from basanite.campaign.store.tables import Resource
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns/{slug}/resources", tags=["resources"])
Reader = Annotated[Caller, allow("member", "evaluation", scope="read")]
Member = Annotated[Caller, allow("member", scope="submit")]
Id = Annotated[str, Path(max_length=64)]


class ResourceShown(BaseModel):
    """One entry of the register."""

    id: str
    team: str
    """The name of the team; empty for what another team has shared."""
    own: bool
    kind: str
    language: str
    description: str
    used_in: str
    share_by: datetime | None
    """Null: nothing to share."""
    shared: datetime | None
    where: str
    overdue: bool


class NewResource(BaseModel):
    """What is declared; `used_in` is the id of the window in which harvested data are first used."""

    kind: Literal["harvested", "purchased", "open_queries", "adaptation"]
    description: str = Field(min_length=1, max_length=register.LONGEST)
    language: str = Field(default="", max_length=20)
    used_in: str = Field(default="", max_length=200)


class Sharing(BaseModel):
    """Where the other teams find a resource."""

    where: str = Field(min_length=1, max_length=register.LONGEST)


@ROUTER.get("")
def list_resources(caller: Reader) -> list[ResourceShown]:
    """What your team declared and what others have shared; for the evaluation team, everything that was declared."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = register.resources(session, row.id, caller.now)
        team = caller.viewer.team
        seen = [one for one in found if team in (None, one.team) or one.shared is not None]
        return [_entry(session, caller, one) for one in seen]


@ROUTER.post("", status_code=201)
def declare_resource(wanted: NewResource, caller: Member) -> ResourceShown:
    """Declare a resource of your team."""
    with caller.office.writing() as session:
        row = register.declare(session, caller.office, caller.actor, caller.team, **wanted.model_dump())
        return _shown(session, caller, row)


@ROUTER.post("/{resource_id}/sharing")
def share_resource(resource_id: Id, wanted: Sharing, caller: Member) -> ResourceShown:
    """Say that a resource is shared, and where."""
    with caller.office.writing() as session:
        register.require_entry(session, caller.here[0].id, resource_id)
        row = register.mark_shared(session, caller.office, caller.actor, resource_id, where=wanted.where)
        return _shown(session, caller, row)


@ROUTER.post("/{resource_id}/withdrawal", status_code=204)
def withdraw_resource(resource_id: Id, caller: Member) -> None:
    """Take back a declaration that was made by mistake; it stays in the record."""
    with caller.office.writing() as session:
        register.require_entry(session, caller.here[0].id, resource_id)
        register.withdraw(session, caller.office, caller.actor, resource_id)


def _shown(session: Session, caller: Caller, row: Resource) -> ResourceShown:
    return _entry(session, caller, register.declared(row, caller.here[1], caller.now))


def _entry(session: Session, caller: Caller, one: register.Declared) -> ResourceShown:
    own = one.team == caller.viewer.team
    named = own or caller.viewer.staff
    return ResourceShown(**asdict(one) | {"own": own, "team": find_team(session, one.team).name if named else ""})
