"""A person's tokens: make, list, revoke."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from basanite.server.accounts import tokens
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/tokens", tags=["tokens"])
Person = Annotated[Caller, allow("user", scope="read")]
Maker = Annotated[Caller, allow("user", scope="submit")]


class TokenWanted(BaseModel):
    """A token to be made."""

    label: str = Field(min_length=1, max_length=100)
    scopes: list[str] = Field(default=["read", "submit"], max_length=len(tokens.SCOPES))
    days: int = Field(default=90, ge=1, le=tokens.LONGEST.days)


class TokenShown(BaseModel):
    """A token, without its text."""

    id: str
    label: str
    scopes: list[str]
    made: datetime
    expires: datetime | None


class TokenMade(BaseModel):
    """A new token with its text, which is shown this once."""

    id: str
    token: str = Field(repr=False)
    expires: datetime


@ROUTER.get("")
def list_tokens(caller: Person) -> list[TokenShown]:
    """The caller's tokens that still work."""
    with caller.office.reading() as session:
        rows = tokens.tokens_of(session, _person(caller), caller.office.clock())
        return [
            TokenShown(
                id=row.id, label=row.label, scopes=list(map(str, row.scopes)), made=row.made, expires=row.expires
            )
            for row in rows
        ]


@ROUTER.post("", status_code=201)
def make_token(wanted: TokenWanted, caller: Maker) -> TokenMade:
    """Make a token; with a token, none that reaches further than that one."""
    with caller.office.writing() as session:
        made = tokens.make_token(
            session,
            caller.office,
            caller.actor,
            tokens.NewToken(
                person_id=_person(caller), label=wanted.label, scopes=wanted.scopes, lasts=timedelta(days=wanted.days)
            ),
            maker=caller.known,
        )
    return TokenMade(id=made.id, token=made.text, expires=made.expires)


@ROUTER.delete("/{token_id}", status_code=204)
def revoke_token(token_id: str, caller: Maker) -> None:
    """Revoke one of the caller's tokens."""
    with caller.office.writing() as session:
        tokens.revoke_token(session, caller.office, caller.actor, person_id=_person(caller), token_id=token_id)


def _person(caller: Caller) -> str:
    return caller.viewer.person or ""
