"""The audit trail: every event of the campaign, chained by hashes, filtered by kind, and checked at a button."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign import anchors
from basanite.campaign.organising.looking import record
from basanite.server.catalogue import say
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.organiser.desk import BASE, Organiser, at, name_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/log"
LONGEST = 200
"""Characters of one fact of an event that the list shows."""
MOST = 12
"""Facts of an event that the list shows."""


@dataclass(frozen=True)
class EventLine:
    """One event."""

    sequence: int
    at: datetime
    who: str
    kind: str
    subject: str
    data: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AuditPage:
    """One page of the log, and whether the chain holds if that was asked."""

    title: str
    found: Paged[EventLine]
    kinds: tuple[str, ...]
    kind: str
    verdict: anchors.Verdict | None = None


@ROUTER.get(ADDRESS)
def log(
    request: Request,
    caller: Organiser,
    kind: Annotated[str, Query(max_length=60)] = "",
    after: Annotated[int | None, Query(ge=0, lt=2**60)] = None,
) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, kind, after))


@ROUTER.post(ADDRESS)
def verify(request: Request, caller: Organiser, form: Filled) -> Response:
    """Check the whole chain."""
    with caller.office.reading() as session:
        verdict = anchors.verify(session, caller.office.vault, anchors.kept_heads(caller.office))
    return show(request, caller, _asked(caller, form.text("kind"), verdict=verdict))


def _asked(
    caller: Caller, kind: str = "", after: int | None = None, verdict: anchors.Verdict | None = None
) -> AuditPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = record.entries(session, row.id, kind=kind, before=after, limit=paging.ROWS + 1)
        lines = [_line(session, caller, one) for one in found]
        kinds = record.kinds(session, row.id)
    last = None if after is None else str(after)
    listed = paging.paged(lines, key=lambda one: str(one.sequence), path=at(caller, "/log"), after=last, kind=kind)
    return AuditPage(say("Audit trail"), listed, kinds, kind, verdict)


def _line(session: Session, caller: Caller, one: record.Entry) -> EventLine:
    facts = tuple((str(name), _cut(value)) for name, value in sorted((one.data or {}).items())[:MOST])
    return EventLine(one.sequence, one.at, name_of(session, caller, one.actor), one.kind, one.subject, facts)


def _cut(value: Any) -> str:
    text = "–" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
