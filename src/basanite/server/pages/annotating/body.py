"""What scripts of our pages send: small JSON objects, with the session's token in a header (X-11)."""

from __future__ import annotations

import json
from typing import Annotated, Any, NoReturn

from fastapi import Depends, Request

from basanite.campaign.model.refusals import refused
from basanite.server.accounts import guards
from basanite.server.pages.foundation.forms import check_token

LARGEST = 1_000_000
"""Bytes; the guard around every call takes little more."""


async def read_json(request: Request) -> dict[str, Any]:
    """The object of this call, after its token was checked; the route's policy has run before."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise refused("P-11", "this is too much at once", "send less at a time", status=413)
    check_token(request, request.headers.get(guards.HEADER, ""))
    return parsed(bytes(body))


def parsed(body: bytes) -> dict[str, Any]:
    """An object of JSON; everything else is refused.

    >>> parsed(b'{"after": 3}')
    {'after': 3}
    """
    try:
        read = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise refused("P-11", "this cannot be read", "send it from its own page", status=422) from error
    if not isinstance(read, dict):
        raise refused("P-11", "this is no object", "send it from its own page", status=422)
    return read


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


Sent = Annotated[dict[str, Any], Depends(read_json)]
"""A route that a script calls says so by this; it stands after the caller, whose session the token belongs to."""
