"""Forms: small, bounded, and only from pages of ours (X-11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Request
from starlette.routing import Match

from basanite.campaign.model.refusals import refused
from basanite.server.accounts import guards
from basanite.server.known import office_of
from basanite.server.pages.foundation import cookies
from basanite.server.roles import Caller

LARGEST = 256 * 1024
MOST_FIELDS = 200


@dataclass(frozen=True)
class Form:
    """What was filled in; a field that is not there is empty."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """One field, without space around it."""
        return self.raw(name, default).strip()

    def raw(self, name: str, default: str = "") -> str:
        """One field exactly as it was typed: a password may begin with a space."""
        return (self.fields.get(name) or (default,))[0]

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a field with several, such as check boxes."""
        return self.fields.get(name, ())

    def beginning(self, prefix: str) -> dict[str, str]:
        """The fields whose names begin like this, by the rest of the name."""
        found = {name: values[0] for name, values in self.fields.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): value.strip() for name, value in found.items()}


async def read_form(request: Request) -> Form:
    """The form of this call, after its token was checked; the route's policy has run before."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise refused("P-11", "this form is too large", "write less, or upload a file", status=413)
    form = parsed(bytes(body))
    check_token(request, form.raw(guards.FIELD))
    return form


def parsed(body: bytes) -> Form:
    """The fields of a form as browsers send it.

    >>> parsed(b"name=Ada+L&scope=read&scope=submit").all("scope")
    ('read', 'submit')
    """
    try:
        read = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise refused("P-11", "this form cannot be read", "send it from its own page", status=422) from error
    return Form({name: tuple(value.replace("\0", "") for value in values) for name, values in read.items()})


def expected_token(request: Request) -> str | None:
    """The token that forms of this browser must carry."""
    caller: Caller = request.state.caller
    if caller.known is not None:
        return caller.known.csrf
    office = office_of(request)
    cookie = request.cookies.get(cookies.forms_name(office))
    return cookie if guards.is_ours(office, cookie) else None


def check_token(request: Request, given: str) -> None:
    """Refuse a form that does not come from a page of ours."""
    guards.check_csrf(expected_token(request), given)


def target(request: Request, wanted: str, otherwise: str = "/") -> str:
    """A page of ours to go to next: an address that matches none of our pages leads nowhere (X-11)."""
    parts = urlsplit(wanted)
    if parts.scheme or parts.netloc or not parts.path.startswith("/") or "\\" in wanted or wanted.startswith("//"):
        return otherwise
    scope = {"type": "http", "path": parts.path, "method": "GET", "root_path": "", "headers": []}
    known = any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    return wanted if known and not parts.path.startswith("/api/") else otherwise


Filled = Annotated[Form, Depends(read_form)]
"""A route that takes a form says so by this; it stands after the caller, whose session the token belongs to."""
