"""A judge's own pay in words (P-22)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.orm import Session

from basanite.campaign.panels.found import find_seat
from basanite.campaign.panels.watching import paying
from basanite.judging.scheme import Pay
from basanite.server.catalogue import say
from basanite.server.roles import Caller

Lines = tuple[tuple[str, str], ...]


def pay_words(pay: Pay) -> str:
    """What judging is paid with."""
    parts = []
    if pay.per_item:
        parts.append(say("{amount} for each item", amount=amount(pay.per_item, pay.currency)))
    if pay.per_hour:
        parts.append(say("{amount} for each hour", amount=amount(pay.per_hour, pay.currency)))
    return ", ".join(parts)


def amount(value: float, currency: str) -> str:
    """A sum of money.

    >>> amount(12.5, "EUR")
    '12.50 EUR'
    """
    return f"{value:.2f} {currency}".strip()


def own_statement(session: Session, caller: Caller, panel_id: str, pay: Pay) -> Lines:
    """What the caller did and is owed; the caller's own alone, and nothing where nothing is paid."""
    if not pay.is_paid:
        return ()
    seat = find_seat(session, panel_id, caller.actor.id)
    statement = paying.settlement(caller.office, seat) or paying.statement(session, panel_id, caller.actor.id)
    return () if statement is None else tuple(_lines(statement, pay))


def _lines(one: paying.Statement, pay: Pay) -> Iterator[tuple[str, str]]:
    yield say("Items"), f"{one.items:,}"
    yield say("Time"), say("{hours} h {minutes} min", hours=int(one.hours), minutes=round(one.hours * 60) % 60)
    yield say("Pay"), f"{one.pay} {one.currency}"
    yield say("Rule"), pay_words(pay)
    if one.rate is not None:
        yield say("What an hour came to"), amount(one.rate, one.currency)
