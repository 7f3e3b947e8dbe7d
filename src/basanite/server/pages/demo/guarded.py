"""Whether this is a demo, and the caller sits before it: everywhere else its pages do not exist (X-15)."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request

from basanite.campaign.model.refusals import missing
from basanite.server.known import from_this_machine
from basanite.server.roles import Caller


def require_demo(request: Request, caller: Caller) -> None:
    """Refuse unless a demo is called on its own machine under its own address.

    The address counts too: another site whose name was made to lead here must not find a door that asks for nothing.
    """
    office = caller.office
    here = request.headers.get("host", "") == urlsplit(office.address).netloc
    if not (office.settings.demo and here and from_this_machine(request)):
        raise missing("page")
