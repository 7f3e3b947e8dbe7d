"""The log of the campaign with the checks of its chain, and the export of all (P-7, X-31)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign import receipts
from basanite.campaign.actions import overview
from basanite.server.catalogue import say
from basanite.server.exports import export_response
from basanite.server.pages import templates
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_frame import BASE, Organiser, at, name_of
from basanite.server.pages.templates import Paged
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
LOG_ADDRESS = f"{BASE}/log"
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

    template = "organiser/log.html"
    title: str
    found: Paged[EventLine]
    kinds: tuple[str, ...]
    kind: str
    verdict: receipts.Verdict | None = None


@ROUTER.get(LOG_ADDRESS)
def log(
    request: Request,
    caller: Organiser,
    kind: Annotated[str, Query(max_length=60)] = "",
    after: Annotated[int | None, Query(ge=0, lt=2**60)] = None,
) -> Response:
    """The page."""
    return show(request, caller, _log_page(caller, kind, after))


@ROUTER.post(LOG_ADDRESS)
def verify(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Check the whole chain."""
    with caller.office.reading() as session:
        verdict = receipts.verify(session, caller.office.vault, receipts.kept_heads(caller.office))
    return show(request, caller, _log_page(caller, form.text("kind"), verdict=verdict))


def _log_page(
    caller: Caller, kind: str = "", after: int | None = None, verdict: receipts.Verdict | None = None
) -> AuditPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = overview.log_entries(session, row.id, kind=kind, before=after, limit=templates.ROWS + 1)
        lines = [_line(session, caller, one) for one in found]
        kinds = overview.event_kinds(session, row.id)
    last = None if after is None else str(after)
    listed = templates.page_of(lines, key=lambda one: str(one.sequence), path=at(caller, "/log"), after=last, kind=kind)
    return AuditPage(say("Audit trail"), listed, kinds, kind, verdict)


def _line(session: Session, caller: Caller, one: overview.LogEntry) -> EventLine:
    facts = tuple((str(name), _cut(value)) for name, value in sorted((one.data or {}).items())[:MOST])
    return EventLine(one.sequence, one.at, name_of(session, caller, one.actor), one.kind, one.subject, facts)


def _cut(value: Any) -> str:
    text = "–" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


EXPORT_ADDRESS = f"{BASE}/export"


@dataclass(frozen=True)
class ExportPage:
    """What an export holds."""

    template = "organiser/export.html"
    title: str


@ROUTER.get(EXPORT_ADDRESS)
def export(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, ExportPage(say("Export")))


@ROUTER.post(EXPORT_ADDRESS)
def download(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """The archive, made now; it is removed from the server once it was sent."""
    return export_response(caller.office, caller.here[0], references=form.text("references") == "yes")
