"""Re-scorings: each is computed and looked at before it holds (P-7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.organising import references
from basanite.campaign.organising import rescoring as acts
from basanite.campaign.store.tables import Batch, Reference
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.pages.organiser.plan.references import words_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/rescoring"
SHOWN = 200


@dataclass(frozen=True)
class BatchLine:
    """One re-scoring."""

    id: str
    place: str
    version: int
    state: str
    reason: str
    by: str
    made: datetime


@dataclass(frozen=True)
class RescoringPage:
    """All re-scorings, the newest first, and a form for another."""

    title: str
    batches: tuple[BatchLine, ...]
    references: tuple[tuple[str, str], ...]
    chosen: str = ""
    reason: str = ""


@ROUTER.get(ADDRESS)
def rescoring(request: Request, caller: Organiser, reference: str = "") -> Response:
    """The page."""
    return show(request, caller, _asked(caller, reference[:100]))


@ROUTER.post(ADDRESS)
def preview(request: Request, caller: Organiser, form: Filled) -> Response:
    """Begin a re-scoring: everything is computed, and nothing changes."""
    chosen, reason = form.text("reference"), form.text("reason")

    def act(session: Session) -> None:
        if chosen not in {one.id for one in references.versions(session, caller.here[0].id)}:
            raise missing("reference")
        acts.preview(session, caller.office, caller.actor, chosen, reason=reason)

    words = said("It is being computed. Nothing changes before you apply it.")
    return done(request, caller, act, lambda: _asked(caller, chosen, reason), at(caller, "/rescoring"), words)


def _asked(caller: Caller, chosen: str = "", reason: str = "") -> RescoringPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = [_line(session, caller, one) for one in acts.batches(session, row.id)[::-1][:SHOWN]]
        versions = [one for one in references.versions(session, row.id)[::-1] if one.state in ("proposed", "active")]
    choices = tuple(
        (one.id, said("{place}, version {version}", place=words_of(one), version=one.version))
        for one in sorted(versions, key=lambda one: one.state != "proposed")
    )
    return RescoringPage(say("Re-scoring"), tuple(found), choices, chosen, reason)


def _line(session: Session, caller: Caller, one: Batch) -> BatchLine:
    truth = session.get(Reference, one.reference_id)
    place, version = ("", 0) if truth is None else (words_of(truth), truth.version)
    return BatchLine(one.id, place, version, one.state, one.reason, name_of(session, caller, one.by), one.made)
