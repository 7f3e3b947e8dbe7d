"""Who is calling: a program by its token, a browser by its session, or nobody in particular.

Accounts add their own way of recognising (a cookie) to `app.state.recognisers`; each is asked in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address

from fastapi import Request
from sqlalchemy.orm import Session

from basanite.campaign.office import Office

FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-real-ip")


@dataclass(frozen=True)
class Known:
    """A person as recognised in one request, and how far that recognition reaches."""

    person: str
    how: str = "session"
    """`session` or `token`."""
    scopes: frozenset[str] | None = None
    """What a token may be used for; None: everything its person may do."""
    strong: bool = True
    """Whether a second factor was given; without it nobody acts for the evaluation team (X-11)."""
    csrf: str = ""
    """What a browser must send back with everything that changes something."""
    token: str = field(default="", repr=False)
    """The id of the token, if it is one."""


Recogniser = Callable[[Request, Session, Office], Known | None]


def office_of(request: Request) -> Office:
    """The office that this application works for."""
    office: Office = request.app.state.office
    return office


def recognise(request: Request, session: Session) -> Known | None:
    """Who is calling, by the first recogniser that knows."""
    recognisers: list[Recogniser] = request.app.state.recognisers
    answers = (ask(request, session, office_of(request)) for ask in recognisers)
    return next((known for known in answers if known is not None), None)


def address(request: Request) -> str:
    """Where the call comes from, as far as the connection tells."""
    return request.client.host if request.client else ""


def is_telling(where: str) -> bool:
    """Whether an address says anything about who calls: this machine's own is that of a proxy for everybody.

    >>> is_telling("192.0.2.7"), is_telling("127.0.0.1"), is_telling("")
    (True, False, False)
    """
    try:
        return not ip_address(where.partition("%")[0]).is_loopback
    except ValueError:
        return False


def from_this_machine(request: Request) -> bool:
    """Whether the call was made on this machine and not handed on by a proxy."""
    if any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ip_address(address(request)).is_loopback
    except ValueError:
        return False
