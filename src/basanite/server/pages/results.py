"""Pages for everybody: the boards and systems that a campaign has released, its report, and its plan with deviations.

They show what `basanite publish` writes, from the same gathered content: names as each team agreed (P-25), and nothing
that has not been released at the level `public`, no matter who looks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from basanite.campaign.archive.campaign_report import as_csv, as_latex, board_chart, board_table, public_report
from basanite.campaign.archive.public_record import BoardPage as Released
from basanite.campaign.archive.public_record import Departure, Gathered, System, gather
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.policy import effective
from basanite.campaign.model.refusals import missing
from basanite.campaign.model.windows import shown_language
from basanite.campaign.results import facts
from basanite.campaign.results.views import SeenBoard
from basanite.reports.metric_names import display_name
from basanite.server.catalogue import say
from basanite.server.pages import campaign
from basanite.server.pages.frame import show
from basanite.server.pages.leaderboard import MOST_LINES, Line, board_lines, reasons_left_out
from basanite.server.pages.organiser_results import as_file
from basanite.server.pages.templates import DrawnChart, draw_chart
from basanite.server.pages.values import Values, values_of
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/results"
Anybody = Annotated[Caller, allow("visitor")]
MOST_SYSTEMS = 200


@dataclass(frozen=True)
class BoardCard:
    """One released board at a glance."""

    slug: str
    title: str
    metric: str
    systems: int
    first: tuple[str, ...]
    """The systems of the best group, which are not significantly different."""


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

    template = "results/results.html"
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
def show_results(request: Request, caller: Anybody) -> Response:
    """The page."""
    found = released_content(caller)
    return show(request, caller, results_page(found, _without_runs(caller, found)))


@ROUTER.get(f"{ADDRESS}/report")
def download_report(caller: Anybody, kind: Annotated[Literal["html", "pptx"], Query()] = "html") -> Response:
    """The report of what is released, as a file."""
    row, _ = caller.here
    with caller.office.reading() as session:
        made = public_report(session, caller.office, row.id)
    return as_file(made, f"{row.slug}-report.{kind}")


def released_content(caller: Caller) -> Gathered:
    """What the campaign has released to everybody: the same for anyone who looks."""
    with caller.office.reading() as session:
        return gather(session, caller.office, caller.here[0].slug, receipts=False)


def results_page(found: Gathered, without_runs: tuple[str, ...] = ()) -> ResultsPage:
    """The page of what was gathered."""
    systems = [SystemLine(one.slug, one.name, board.title) for board in found.boards for one in board.systems]
    references = tuple(
        ReferenceLine(f"{one.task} · {one.dataset}", one.version, one.commitment) for one in found.references
    )
    return ResultsPage(
        say("Released results"),
        tuple(map(_board_card, found.boards)),
        tuple(systems[:MOST_SYSTEMS]),
        references,
        len(found.departures),
        found.at,
        max(len(systems) - MOST_SYSTEMS, 0),
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


def _board_card(page: Released) -> BoardCard:
    first = tuple(row.name for row in page.board.rows if row.group == 1)[:6]
    return BoardCard(
        page.slug, page.title, display_name(page.board.metric, page.board.task), len(page.board.rows), first
    )


@dataclass(frozen=True)
class BoardPage:
    """One board."""

    template = "results/board.html"
    title: str
    slug: str
    board: SeenBoard
    lines: tuple[Line, ...]
    chart: DrawnChart | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    """The page of each system by its name."""
    more: int = 0
    left_out: tuple[str, ...] = ()
    """Who is not compared, in words."""


@ROUTER.get(f"{ADDRESS}/boards/{{board}}")
def show_board(request: Request, caller: Anybody, board: str) -> Response:
    """The page."""
    return show(request, caller, board_page(_released_board(caller, board)))


@ROUTER.get(f"{ADDRESS}/tables/{{board}}.{{kind}}")
def download_table(caller: Anybody, board: str, kind: Literal["csv", "tex"]) -> Response:
    """The board as a file."""
    found = _released_board(caller, board)
    made = board_table(found.board, found.title, keys=kind == "csv")
    text, media = (as_csv(made), "text/csv") if kind == "csv" else (as_latex(made, found.title), "application/x-tex")
    headers = {"Content-Disposition": f'attachment; filename="{found.slug}.{kind}"'}
    return Response(text, media_type=f"{media}; charset=utf-8", headers=headers)


def board_page(found: Released) -> BoardPage:
    """The page of a released board."""
    chart = board_chart(found.board, found.title)
    return BoardPage(
        found.title,
        found.slug,
        found.board,
        board_lines(found.board)[:MOST_LINES],
        None if chart is None else draw_chart(chart),
        {one.name: one.slug for one in found.systems},
        max(len(found.board.rows) - MOST_LINES, 0),
        reasons_left_out(found.board),
    )


def _released_board(caller: Caller, slug: str) -> Released:
    for one in released_content(caller).boards:
        if one.slug == slug:
            return one
    raise missing("board")


@dataclass(frozen=True)
class SystemPage:
    """One system."""

    template = "results/system.html"
    title: str
    task: str
    window: str
    standing: str
    level: str
    description: tuple[tuple[str, str], ...]
    values: Values
    software: str
    plan: str
    reference: int


@ROUTER.get(f"{ADDRESS}/systems/{{system}}")
def show_system(request: Request, caller: Anybody, system: str) -> Response:
    """The page."""
    for one in released_content(caller).systems:
        if one.slug == system:
            return show(request, caller, system_page(one, caller.here[1]))
    raise missing("system")


def system_page(one: System, campaign: Campaign) -> SystemPage:
    """The page of a released system, without names that are not to be told (P-25)."""
    made = one.result.provenance
    return SystemPage(
        one.name,
        " · ".join(filter(None, (one.task, shown_language(campaign, one.language), one.track))),
        campaign.window(one.window).title,
        one.standing,
        one.result.level,
        tuple((name, _text(value)) for name, value in one.description.items()),
        values_of(one.unnamed.without_names(dict(one.result.data))),
        made.software,
        made.plan,
        made.reference_version,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


PLAN_ADDRESS = "/campaigns/{slug}/plan"
MOST_DEPARTURES = 300


@dataclass(frozen=True)
class PlanPage:
    """Calendar, deviations, file."""

    template = "results/plan.html"
    title: str
    rows: tuple[campaign.Row, ...]
    departures: tuple[Departure, ...]
    version: int
    digest: str
    text: str


@ROUTER.get(PLAN_ADDRESS)
def show_plan(request: Request, caller: Anybody) -> Response:
    """The page."""
    found = released_content(caller)
    return show(request, caller, plan_page(found, campaign.rows(found.campaign, caller.now)))


@ROUTER.get(f"{PLAN_ADDRESS}/campaign.toml")
def download_plan(caller: Anybody) -> Response:
    """The campaign's file, as it was given."""
    name = f'attachment; filename="{caller.here[0].slug}.toml"'
    return Response(
        released_content(caller).plan_text, media_type="application/toml", headers={"Content-Disposition": name}
    )


def plan_page(found: Gathered, rows: tuple[campaign.Row, ...]) -> PlanPage:
    """The page of a plan."""
    gone = found.departures[::-1][:MOST_DEPARTURES]
    return PlanPage(say("Plan and deviations"), rows, gone, found.versions, found.plan_digest, found.plan_text)
