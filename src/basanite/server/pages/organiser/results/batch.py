"""One re-scoring: which values change and who moves in rank; then it is applied or cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.organising import approvals, rescoring, seconding
from basanite.campaign.organising.moves import Move, moves
from basanite.campaign.store.tables import Batch, Reference
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.confirm import ConfirmPage
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.pages.organiser.plan.references import words_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/rescoring/{{batch}}"
ROWS = 200
Deed = Literal["apply", "cancel"]


@dataclass(frozen=True)
class BatchPage:
    """What a re-scoring would change."""

    title: str
    id: str
    place: str
    version: int
    state: str
    reason: str
    by: str
    made: datetime
    ended: datetime | None
    waiting: int
    failed: int
    changed: int
    moved: int
    total: int
    late: int
    """Submissions that were scored since it began."""
    rows: tuple[Move, ...]
    more: str = ""
    """The address of the next rows, if there are any."""


@ROUTER.get(ADDRESS)
def look(request: Request, caller: Organiser, batch: str, start: Annotated[int, Query(ge=0, le=10**7)] = 0) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, batch, start))


@ROUTER.post(f"{ADDRESS}/renew")
def renew(request: Request, caller: Organiser, form: Filled, batch: str) -> Response:
    """Take in what was scored since the re-scoring began."""

    def act(session: Session) -> None:
        _here(session, caller, batch)
        rescoring.renew(session, caller.office, caller.actor, batch)

    words = said("The newcomers are being scored, too.")
    return done(request, caller, act, lambda: _asked(caller, batch), at(caller, f"/rescoring/{batch}"), words)


@ROUTER.get(f"{ADDRESS}/{{deed}}")
def ask(request: Request, caller: Organiser, batch: str, deed: Deed) -> Response:
    """Before it is applied or cancelled."""
    return show(request, caller, _confirming(caller, batch, deed))


@ROUTER.post(f"{ADDRESS}/{{deed}}")
def decide(request: Request, caller: Organiser, form: Filled, batch: str, deed: Deed) -> Response:
    """Apply it, with a second organiser where the campaign says so, or cancel it."""

    def act(session: Session) -> object:
        row = _here(session, caller, batch)
        who = (session, caller.office, caller.actor, batch)
        if deed == "cancel":
            return rescoring.cancel(*who)
        return seconding.ask_to_apply(*who) if _takes_two(session, caller, row) else rescoring.apply(*who)

    applied = said("Applied: the new results hold from now on. Teams are told.")
    words = applied if deed == "apply" else said("Cancelled: nothing has changed.")
    again = lambda: _confirming(caller, batch, deed)  # noqa: E731
    return done(request, caller, act, again, at(caller, f"/rescoring/{batch}"), words)


def _here(session: Session, caller: Caller, batch: str) -> Batch:
    """A re-scoring of this campaign; one of another is not here, whoever asks."""
    row = session.get(Batch, batch)
    if row is None or row.campaign_id != caller.here[0].id:
        raise missing("re-scoring")
    return row


def _takes_two(session: Session, caller: Caller, row: Batch) -> bool:
    """Replacing a reference takes two people where the campaign says so; running it again over the same does not."""
    new = session.get_one(Reference, row.reference_id).state == "proposed"
    return new and approvals.needs_two(caller.here[1], "reference")


def _asked(caller: Caller, batch: str, start: int = 0) -> BatchPage:
    with caller.office.reading() as session:
        row = _here(session, caller, batch)
        truth = session.get_one(Reference, row.reference_id)
        found = moves(session, row)
        late = rescoring.newcomers(session, row, truth) if row.state in ("running", "ready") else ()
        by = name_of(session, caller, row.by)
    return page_of(row, truth, found, by=by, late=len(late), start=start, path=at(caller, f"/rescoring/{batch}"))


def page_of(
    row: Batch, truth: Reference, found: tuple[Move, ...], *, by: str, late: int, start: int, path: str
) -> BatchPage:
    """What is to be said about a re-scoring: what changes stands first."""
    ordered = sorted(found, key=lambda one: (not one.moves, not one.changes))
    shown = tuple(ordered[start : start + ROWS])
    after = start + ROWS
    return BatchPage(
        say("Re-scoring with version {version}", version=truth.version),
        row.id,
        words_of(truth),
        truth.version,
        row.state,
        row.reason,
        by,
        row.made,
        row.ended,
        sum(one.state == "waiting" for one in found),
        sum(one.state == "failed" for one in found),
        sum(one.changes for one in found),
        sum(one.moves for one in found),
        len(found),
        late,
        shown,
        f"{path}?start={after}" if after < len(ordered) else "",
    )


def _confirming(caller: Caller, batch: str, deed: Deed) -> ConfirmPage:
    page = _asked(caller, batch)
    with caller.office.reading() as session:
        two = deed == "apply" and _takes_two(session, caller, _here(session, caller, batch))
    facts = (
        (str(say("Reference")), page.place),
        (str(say("Version")), str(page.version)),
        (str(say("Values that change")), f"{page.changed:,}"),
        (str(say("Runs that move in rank")), f"{page.moved:,}"),
        (str(say("Reason")), page.reason),
    )
    apply = deed == "apply"
    return ConfirmPage(
        say("Let the new results hold") if apply else say("Cancel the re-scoring"),
        (
            say("From this moment on the new version and its results hold everywhere. Old results stay as history.")
            if apply
            else say("Everything stays as it is. A version that was only proposed is refused."),
        ),
        at(caller, f"/rescoring/{batch}/{deed}"),
        say("Apply") if apply else say("Cancel it"),
        at(caller, f"/rescoring/{batch}"),
        facts=facts,
        reason=False,
        two=two,
    )
