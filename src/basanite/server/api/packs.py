"""Data packs: what there is, the files for those who may have them, and keys from their minute on (P-26, M89)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from basanite.campaign.actions.packs import hand_out, hand_out_key, list_files
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.people import agreements
from basanite.campaign.people import resources as register
from basanite.campaign.people.teams import find_team
from basanite.campaign.store.tables import Resource, Signature
from basanite.server.guard import receive_body
from basanite.server.roles import Caller, allow

PACKS = APIRouter(prefix="/campaigns/{slug}/packs", tags=["packs"])
Anybody = Annotated[Caller, allow("visitor", scope="read")]
Holder = Annotated[Caller, allow("member", "evaluation", scope="download")]
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}


class FileShown(BaseModel):
    """One file of a pack."""

    id: str
    name: str
    size: int
    sha256: str
    encrypted: bool


class PackShown(BaseModel):
    """A pack of the calendar."""

    id: str
    family: str
    title: str
    language: str
    released: datetime
    out: bool
    agreement: str
    usage: str
    key_at: datetime | None
    files: list[FileShown]
    """Listed once the pack is out."""


class KeyShown(BaseModel):
    """The key of an encrypted pack."""

    pack: str
    key: str
    since: datetime


@PACKS.get("")
def list_packs(caller: Anybody) -> list[PackShown]:
    """All packs of the calendar, with the files of those that are out for who may know them."""
    row, campaign = caller.here
    inside = caller.viewer.team is not None or caller.viewer.staff
    with caller.office.reading() as session:
        files = list_files(session, row.id, campaign) if inside else ()
    shown = []
    for pack in campaign.packs:
        out = pack.released.utc <= caller.now
        own = [one for one in files if one.pack == pack.id and (out or caller.viewer.staff)]
        shown.append(
            PackShown(
                id=pack.id,
                family=pack.family,
                title=pack.title,
                language=pack.language,
                released=pack.released.utc,
                out=out,
                agreement=pack.agreement,
                usage=pack.usage,
                key_at=pack.key_at.utc if pack.key_at else None,
                files=[
                    FileShown(id=one.id, name=one.name, size=one.size, sha256=one.digest, encrypted=one.encrypted)
                    for one in own
                ],
            )
        )
    return shown


@PACKS.get("/files/{file_id}", response_class=FileResponse, responses=BYTES)
def download_file(file_id: str, caller: Holder) -> FileResponse:
    """A file of a pack; every download is recorded."""
    with caller.office.writing() as session:
        handed = hand_out(session, caller.office, caller.actor, caller.viewer, caller.here, file_id)
    return FileResponse(handed.path, media_type="application/octet-stream", filename=handed.name)


@PACKS.get("/{pack_id}/key")
def show_key(pack_id: str, caller: Holder) -> KeyShown:
    """The key of an encrypted pack, once it is out."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        key = hand_out_key(session, caller.office, caller.viewer, row.id, campaign, pack_id)
    return KeyShown(pack=key.pack, key=key.key, since=key.since)


TERMS = APIRouter(prefix="/campaigns/{slug}", tags=["terms"])
TermsReader = Annotated[Caller, allow("user", scope="read")]
Person = Annotated[Caller, allow("user", scope="submit")]
Leader = Annotated[Caller, allow("pi", scope="submit")]
Organiser = Annotated[Caller, allow("evaluation", scope="organise")]
TermsId = Annotated[str, Path(max_length=100)]
COPY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class RulesShown(BaseModel):
    """Rules, and whether the caller has accepted them."""

    id: str
    version: str
    text: str
    accepted: bool


class DataAgreementShown(BaseModel):
    """An agreement, and where the caller's team stands with it."""

    id: str
    title: str
    version: str
    text: str
    state: str
    signature: str | None


class Terms(BaseModel):
    """All rules and agreements of a campaign."""

    rules: list[RulesShown]
    agreements: list[DataAgreementShown]


class Version(BaseModel):
    """The version that is accepted: who has read an older one has not accepted this."""

    version: str = Field(max_length=100)


class Signed(BaseModel):
    """A signed copy, and where it stands."""

    signature: str
    state: str


@TERMS.get("/terms")
def show_terms(caller: TermsReader) -> Terms:
    """Rules and agreements, and what of them is still to be done."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        open_ones = {one.id for one in agreements.unaccepted_rules(session, row.id, caller.viewer.person or "")}
        stands = [
            agreements.standing(session, campaign, caller.viewer.team, one.id, caller.now)
            for one in campaign.agreements
        ]
    return Terms(
        rules=[
            RulesShown(id=one.id, version=one.version, text=one.text, accepted=one.id not in open_ones)
            for one in campaign.rules
        ],
        agreements=[_agreement(one) for one in stands],
    )


def _agreement(one: agreements.Standing) -> DataAgreementShown:
    about = one.agreement
    signature = one.signature.id if one.signature is not None else None
    return DataAgreementShown(
        id=about.id, title=about.title, version=about.version, text=about.text, state=one.state, signature=signature
    )


@TERMS.post("/rules/{rules_id}/acceptance", status_code=204)
def accept_rules(rules_id: TermsId, wanted: Version, caller: Person) -> None:
    """Accept a version of the rules; nobody submits or downloads before."""
    row, _ = caller.here
    with caller.office.writing() as session:
        agreements.accept_rules(session, caller.office, caller.actor, row.id, rules_id, wanted.version)


@TERMS.post("/agreements/{agreement_id}/copy", status_code=201, openapi_extra=COPY)
async def sign_agreement(agreement_id: TermsId, caller: Leader, request: Request) -> Signed:
    """Send the signed copy (PDF, PNG or JPEG) as the body of the call; an organiser counter-signs it."""
    return await receive_body(request, lambda pieces: _sign(caller, agreement_id, _read_copy(pieces)))


def _read_copy(pieces: Any) -> bytes:
    content = bytearray()
    for piece in pieces:
        content += piece
        if len(content) > agreements.LARGEST_COPY:
            raise refused("P-26", "the copy is too large", f"send at most {agreements.LARGEST_COPY} bytes", status=413)
    return bytes(content)


def _sign(caller: Caller, agreement_id: str, copy: bytes) -> Signed:
    with caller.office.writing() as session:
        row = agreements.sign(session, caller.office, caller.actor, caller.team, agreement_id, copy=copy)
        return Signed(signature=row.id, state=row.state)


@TERMS.post("/signatures/{signature_id}/counter-signature")
def counter_sign(signature_id: TermsId, caller: Organiser) -> Signed:
    """The organiser signs, too: the agreement is executed from now on."""
    row, _ = caller.here
    with caller.office.writing() as session:
        found = session.get(Signature, signature_id)
        if found is None or found.campaign_id != row.id:
            raise missing("signature")
        done = agreements.counter_sign(session, caller.office, caller.actor, signature_id)
        return Signed(signature=done.id, state=done.state)


RESOURCES = APIRouter(prefix="/campaigns/{slug}/resources", tags=["resources"])
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


class DeclaredResource(BaseModel):
    """What is declared; `used_in` is the id of the window in which harvested data are first used."""

    kind: Literal["harvested", "purchased", "open_queries", "adaptation"]
    description: str = Field(min_length=1, max_length=register.LONGEST)
    language: str = Field(default="", max_length=20)
    used_in: str = Field(default="", max_length=200)


class Sharing(BaseModel):
    """Where the other teams find a resource."""

    where: str = Field(min_length=1, max_length=register.LONGEST)


@RESOURCES.get("")
def list_resources(caller: Reader) -> list[ResourceShown]:
    """What your team declared and what others have shared; for the evaluation team, everything that was declared."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = register.resources(session, row.id, caller.now)
        team = caller.viewer.team
        seen = [one for one in found if team in (None, one.team) or one.shared is not None]
        return [_entry(session, caller, one) for one in seen]


@RESOURCES.post("", status_code=201)
def declare_resource(wanted: DeclaredResource, caller: Member) -> ResourceShown:
    """Declare a resource of your team."""
    with caller.office.writing() as session:
        row = register.declare(
            session, caller.office, caller.actor, caller.team, register.NewResource(**wanted.model_dump())
        )
        return _changed_entry(session, caller, row)


@RESOURCES.post("/{resource_id}/sharing")
def share_resource(resource_id: Id, wanted: Sharing, caller: Member) -> ResourceShown:
    """Say that a resource is shared, and where."""
    with caller.office.writing() as session:
        register.require_entry(session, caller.here[0].id, resource_id)
        row = register.mark_shared(session, caller.office, caller.actor, resource_id, where=wanted.where)
        return _changed_entry(session, caller, row)


@RESOURCES.post("/{resource_id}/withdrawal", status_code=204)
def withdraw_resource(resource_id: Id, caller: Member) -> None:
    """Take back a declaration that was made by mistake; it stays in the record."""
    with caller.office.writing() as session:
        register.require_entry(session, caller.here[0].id, resource_id)
        register.withdraw(session, caller.office, caller.actor, resource_id)


def _changed_entry(session: Session, caller: Caller, row: Resource) -> ResourceShown:
    return _entry(session, caller, register.register_entry(row, caller.here[1], caller.now))


def _entry(session: Session, caller: Caller, one: register.Declared) -> ResourceShown:
    own = one.team == caller.viewer.team
    named = own or caller.viewer.staff
    return ResourceShown(**asdict(one) | {"own": own, "team": find_team(session, one.team).name if named else ""})
