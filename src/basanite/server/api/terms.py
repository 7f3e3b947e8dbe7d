"""Terms: rules that each person accepts, agreements that each team signs and an organiser counter-signs (M77, P-26)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.people.terms import agreements, rules
from basanite.campaign.store.tables import Signature
from basanite.server.receiving import received
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns/{slug}", tags=["terms"])
Reader = Annotated[Caller, allow("user", scope="read")]
Person = Annotated[Caller, allow("user", scope="submit")]
Leader = Annotated[Caller, allow("pi", scope="submit")]
Organiser = Annotated[Caller, allow("evaluation", scope="organise")]
Id = Annotated[str, Path(max_length=100)]
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


class AgreementShown(BaseModel):
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
    agreements: list[AgreementShown]


class Version(BaseModel):
    """The version that is accepted: who has read an older one has not accepted this."""

    version: str = Field(max_length=100)


class Signed(BaseModel):
    """A signed copy, and where it stands."""

    signature: str
    state: str


@ROUTER.get("/terms")
def show_terms(caller: Reader) -> Terms:
    """Rules and agreements, and what of them is still to be done."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        open_ones = {one.id for one in rules.unaccepted(session, row.id, caller.viewer.person or "")}
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


def _agreement(one: agreements.Standing) -> AgreementShown:
    about = one.agreement
    signature = one.signature.id if one.signature is not None else None
    return AgreementShown(
        id=about.id, title=about.title, version=about.version, text=about.text, state=one.state, signature=signature
    )


@ROUTER.post("/rules/{rules_id}/acceptance", status_code=204)
def accept_rules(rules_id: Id, wanted: Version, caller: Person) -> None:
    """Accept a version of the rules; nobody submits or downloads before."""
    row, _ = caller.here
    with caller.office.writing() as session:
        rules.accept_rules(session, caller.office, caller.actor, row.id, rules_id, wanted.version)


@ROUTER.post("/agreements/{agreement_id}/copy", status_code=201, openapi_extra=COPY)
async def sign_agreement(agreement_id: Id, caller: Leader, request: Request) -> Signed:
    """Send the signed copy (PDF, PNG or JPEG) as the body of the call; an organiser counter-signs it."""
    return await received(request, lambda pieces: _sign(caller, agreement_id, _bounded(pieces)))


def _bounded(pieces: Any) -> bytes:
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


@ROUTER.post("/signatures/{signature_id}/counter-signature")
def counter_sign(signature_id: Id, caller: Organiser) -> Signed:
    """The organiser signs, too: the agreement is executed from now on."""
    row, _ = caller.here
    with caller.office.writing() as session:
        found = session.get(Signature, signature_id)
        if found is None or found.campaign_id != row.id:
            raise missing("signature")
        done = agreements.counter_sign(session, caller.office, caller.actor, signature_id)
        return Signed(signature=done.id, state=done.state)
