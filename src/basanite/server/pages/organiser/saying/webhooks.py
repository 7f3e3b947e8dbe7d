"""Webhooks: programs that are called when something happens; each has a secret that is shown once (X-10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.notices.catalogue import webhook_kinds
from basanite.campaign.people.saying import webhooks as acts
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import refuse, show
from basanite.server.pages.organiser.confirm import ConfirmPage
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/webhooks"


@dataclass(frozen=True)
class HookLine:
    """One webhook."""

    id: str
    url: str
    kinds: tuple[str, ...]
    made: datetime


@dataclass(frozen=True)
class WebhooksPage:
    """All webhooks, and a form for another."""

    title: str
    hooks: tuple[HookLine, ...]
    kinds: tuple[str, ...]
    most: int = acts.MOST
    fresh: str = ""
    """The secret of a new webhook, shown this once."""
    url: str = ""
    chosen: tuple[str, ...] = ()


@ROUTER.get(ADDRESS)
def webhooks(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(ADDRESS)
def add(request: Request, caller: Organiser, form: Filled) -> Response:
    """Have a program called; its secret is on the answer and nowhere else."""
    url, kinds = form.text("url"), form.all("kinds")
    try:
        with caller.office.writing() as session:
            made = acts.add_webhook(session, caller.office, caller.actor, caller.here[0].id, url=url, kinds=kinds)
    except RefusedError as error:
        return refuse(request, caller, _asked(caller, url=url, chosen=kinds), error)
    return show(request, caller, _asked(caller, fresh=made.secret))


@ROUTER.get(f"{ADDRESS}/{{hook}}/end")
def ask_end(request: Request, caller: Organiser, hook: str) -> Response:
    """Before a webhook is ended."""
    return show(request, caller, _ending(caller, hook))


@ROUTER.post(f"{ADDRESS}/{{hook}}/end")
def end(request: Request, caller: Organiser, form: Filled, hook: str) -> Response:
    """Call it no more."""

    def act(session: Session) -> None:
        _find(session, caller, hook)
        acts.end_webhook(session, caller.office, caller.actor, hook)

    return done(
        request, caller, act, lambda: _ending(caller, hook), at(caller, "/webhooks"), said("It is called no more.")
    )


def _find(session: Session, caller: Caller, hook: str) -> HookLine:
    """A webhook of this campaign."""
    found = acts.webhooks(session, caller.actor, caller.here[0].id)
    for one in found:
        if one.id == hook:
            return HookLine(one.id, one.url, tuple(one.kinds), one.made)
    raise missing("webhook")


def _asked(caller: Caller, *, fresh: str = "", url: str = "", chosen: tuple[str, ...] = ()) -> WebhooksPage:
    with caller.office.reading() as session:
        found = acts.webhooks(session, caller.actor, caller.here[0].id)
        lines = tuple(HookLine(one.id, one.url, tuple(one.kinds), one.made) for one in found)
    return WebhooksPage(say("Webhooks"), lines, webhook_kinds(), fresh=fresh, url=url, chosen=chosen)


def _ending(caller: Caller, hook: str) -> ConfirmPage:
    with caller.office.reading() as session:
        one = _find(session, caller, hook)
    return ConfirmPage(
        say("End a webhook"),
        (say("The program is called no more, and its secret is destroyed."),),
        at(caller, f"/webhooks/{hook}/end"),
        say("End it"),
        at(caller, "/webhooks"),
        facts=((str(say("Address")), one.url),),
        reason=False,
    )
