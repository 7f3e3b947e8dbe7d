"""One released board: values with intervals, groups and rank ranges; as a table for spreadsheets and papers, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.keeping.publishing.gathering import BoardPage as Released
from basanite.campaign.keeping.publishing.tables import as_csv, as_latex, board_table
from basanite.campaign.keeping.season_report import board_chart
from basanite.campaign.model.refusals import missing
from basanite.campaign.results.seen import SeenBoard
from basanite.server.pages.campaign.empty_board import left_out
from basanite.server.pages.campaign.leaderboard import SHOWN, Line, lines
from basanite.server.pages.foundation.drawing import Drawn, drawn
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.public.results import ADDRESS, Anybody, gathered
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class BoardPage:
    """One board."""

    title: str
    slug: str
    board: SeenBoard
    lines: tuple[Line, ...]
    chart: Drawn | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    """The page of each system by its name."""
    more: int = 0
    left_out: tuple[str, ...] = ()
    """Who is not compared, in words."""


@ROUTER.get(f"{ADDRESS}/boards/{{board}}")
def board(request: Request, caller: Anybody, board: str) -> Response:
    """The page."""
    return show(request, caller, page_of(_find(caller, board)))


@ROUTER.get(f"{ADDRESS}/tables/{{board}}.{{kind}}")
def table(caller: Anybody, board: str, kind: Literal["csv", "tex"]) -> Response:
    """The board as a file."""
    found = _find(caller, board)
    made = board_table(found.board, found.title)
    text, media = (as_csv(made), "text/csv") if kind == "csv" else (as_latex(made, found.title), "application/x-tex")
    headers = {"Content-Disposition": f'attachment; filename="{found.slug}.{kind}"'}
    return Response(text, media_type=f"{media}; charset=utf-8", headers=headers)


def page_of(found: Released) -> BoardPage:
    """The page of a released board."""
    chart = board_chart(found.board, found.title)
    return BoardPage(
        found.title,
        found.slug,
        found.board,
        lines(found.board)[:SHOWN],
        None if chart is None else drawn(chart),
        {one.name: one.slug for one in found.systems},
        max(len(found.board.rows) - SHOWN, 0),
        left_out(found.board),
    )


def _find(caller: Caller, slug: str) -> Released:
    for one in gathered(caller).boards:
        if one.slug == slug:
            return one
    raise missing("board")
