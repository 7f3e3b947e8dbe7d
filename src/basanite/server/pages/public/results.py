"""Released results of a campaign: its boards and systems, tables to take away, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from basanite.campaign.keeping.publishing.gathering import BoardPage, Gathered, gather
from basanite.campaign.keeping.season_report import public_report
from basanite.campaign.model.policy import effective
from basanite.campaign.results import facts
from basanite.server.catalogue import say
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.results.report import as_file
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/results"
Anybody = Annotated[Caller, allow("visitor")]
SHOWN = 200


@dataclass(frozen=True)
class BoardCard:
    """One released board at a glance."""

    slug: str
    title: str
    metric: str
    systems: int
    first: tuple[str, ...]
    """The systems of the best group, which cannot be told apart."""


@dataclass(frozen=True)
class SystemLine:
    """One released system."""

    slug: str
    name: str
    board: str


@dataclass(frozen=True)
class ReferenceLine:
    """A version of the truth that has been released."""

    what: str
    version: int
    commitment: str


@dataclass(frozen=True)
class ResultsPage:
    """All that is released to everybody."""

    title: str
    boards: tuple[BoardCard, ...]
    systems: tuple[SystemLine, ...]
    references: tuple[ReferenceLine, ...]
    deviations: int
    at: datetime
    more: int = 0
    """How many systems are not listed."""
    without_runs: tuple[str, ...] = ()
    """Windows whose results are public and in which no run counts."""


@ROUTER.get(ADDRESS)
def results(request: Request, caller: Anybody) -> Response:
    """The page."""
    found = gathered(caller)
    return show(request, caller, page_of(found, _without_runs(caller, found)))


@ROUTER.get(f"{ADDRESS}/report")
def report(caller: Anybody, kind: Annotated[Literal["html", "pptx"], Query()] = "html") -> Response:
    """The report of what is released, as a file."""
    row, _ = caller.here
    with caller.office.reading() as session:
        made = public_report(session, caller.office, row.id)
    return as_file(made, f"{row.slug}-report.{kind}")


def gathered(caller: Caller) -> Gathered:
    """What the campaign has released to everybody: the same for whoever looks."""
    with caller.office.reading() as session:
        return gather(session, caller.office, caller.here[0].slug, receipts=False)


def page_of(found: Gathered, without_runs: tuple[str, ...] = ()) -> ResultsPage:
    """The page of what was gathered."""
    systems = [SystemLine(one.slug, one.name, board.title) for board in found.boards for one in board.systems]
    references = tuple(
        ReferenceLine(f"{one.task} · {one.dataset}", one.version, one.commitment) for one in found.references
    )
    return ResultsPage(
        say("Results"),
        tuple(map(_card, found.boards)),
        tuple(systems[:SHOWN]),
        references,
        len(found.departures),
        found.at,
        max(len(systems) - SHOWN, 0),
        without_runs,
    )


def _without_runs(caller: Caller, found: Gathered) -> tuple[str, ...]:
    with caller.office.reading() as session:
        released = facts.releases(session, caller.here[0].id)
    boards = {one.board.window for one in found.boards}
    return tuple(
        window.title
        for window in found.campaign.windows
        if window.id not in boards and "public" in effective(window, released.get(window.id, {}), caller.now)
    )


def _card(page: BoardPage) -> BoardCard:
    first = tuple(row.name for row in page.board.rows if row.group == 1)[:6]
    return BoardCard(page.slug, page.title, page.board.metric, len(page.board.rows), first)
