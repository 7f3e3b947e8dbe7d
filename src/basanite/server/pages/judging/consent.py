"""Before the first item: the consent text in its version, to accept or not (P-22)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from basanite.campaign.panels.attending import joining, working
from basanite.judging.scheme import Scheme
from basanite.server.catalogue import say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.judging.money import pay_words
from basanite.server.pages.judging.place import BASE, At, Judge, acted, at_of
from basanite.server.pages.judging.shown import flowing
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ConsentPage:
    """What a judge agrees to."""

    title: str
    at: At
    version: str
    text: str
    facts: tuple[tuple[str, str], ...] = ()


def consent_page(caller: Caller, found: working.Desk) -> ConsentPage:
    """The page with the text that holds now."""
    text = found.scheme.consent
    return ConsentPage(
        say("Your consent"), at_of(caller, found), text.version, flowing(text.text), tuple(_facts(found.scheme))
    )


def _facts(scheme: Scheme) -> Iterator[tuple[str, str]]:
    if scheme.pay.is_paid:
        yield say("Pay"), pay_words(scheme.pay)
    yield say("What is timed"), say("The time that an item is in sight, without pauses.")
    yield say("Who sees your answers"), say("The organisers, who can see whose they are; never another judge.")
    yield say("Stopping"), say("At any time, without a reason; what you did is paid.")


@ROUTER.post(f"{BASE}/consent")
def consent(caller: Judge, form: Filled, panel: str) -> Response:
    """Accept the version that was shown."""
    version = form.text("version")
    return acted(caller, panel, lambda session, at: joining.consent(session, caller.office, caller.actor, at, version))
