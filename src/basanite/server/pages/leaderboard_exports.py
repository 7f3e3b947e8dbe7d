"""Boards elsewhere: as CSV, as a page that other sites may embed, and as a badge (P-39)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response

from basanite.campaign.archive.campaign_report import as_csv
from basanite.campaign.model.policy import VISITOR, Viewer
from basanite.campaign.model.refusals import missing
from basanite.campaign.results.views import SeenBoard
from basanite.figures import Table
from basanite.server.catalogue import say_plain
from basanite.server.guard import PAGE_POLICY
from basanite.server.pages.leaderboard import BoardAsked, Line, board_choices, board_lines, seen_board
from basanite.server.pages.templates import environment
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/leaderboard"
MOST_EMBEDDED = 100
FRAMED = {
    "Content-Security-Policy": PAGE_POLICY.replace("frame-ancestors 'none'", "frame-ancestors *"),
    "X-Frame-Options": "ALLOWALL",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cross-Origin-Opener-Policy": "unsafe-none",
}
"""What lets other sites show a page of ours: this page has no form, no cookie and nothing of the reader's."""
KEPT = {"Cache-Control": "public, max-age=60"}


@dataclass(frozen=True)
class EmbeddedBoard:
    """A board without the frame of our pages."""

    template = "campaign/embed.html"
    title: str
    board: SeenBoard
    lines: tuple[Line, ...]
    address: str


def _asked_board(caller: Caller, asked: BoardAsked, viewer: Viewer) -> SeenBoard:
    """The board that an address names, as somebody sees it."""
    with caller.office.reading() as session:
        known = [one.value for one in board_choices(session, caller)]
        if not known or (asked.of and asked.of not in known):
            raise missing("board")
        return seen_board(session, caller, viewer, asked.of or known[0], asked.look)


@ROUTER.get(f"{ADDRESS}.csv")
def download_board(caller: Annotated[Caller, allow("visitor")], asked: Annotated[BoardAsked, Depends()]) -> Response:
    """The board as a table for spreadsheets, as the reader sees it."""
    board = _asked_board(caller, asked, caller.viewer)
    values = tuple(part for name in board.metrics for part in (name, f"{name} low", f"{name} high"))
    columns = ("rank from", "rank to", "group", "name", "system", "received", "baseline", *values, "note")
    rows = [
        (
            *(row.ranks or ("", "")),
            row.group or "",
            row.name,
            row.system,
            row.received.isoformat() if row.received else "",
            "yes" if row.baseline else "",
            *(part for name in board.metrics for part in row.values.get(name, (None, None, None))),
            row.note,
        )
        for row in board.rows
    ]
    headers = {"Content-Disposition": f'attachment; filename="{caller.here[0].slug}-leaderboard.csv"'}
    return Response(as_csv(Table("", columns, rows)), media_type="text/csv; charset=utf-8", headers=headers)


@ROUTER.get(f"{ADDRESS}/embed")
def embed_board(caller: Annotated[Caller, allow("visitor")], asked: Annotated[BoardAsked, Depends()]) -> Response:
    """The board for a frame on another site."""
    board = _asked_board(caller, asked, VISITOR)
    row, campaign = caller.here
    lines = board_lines(board, range(min(len(board.rows), MOST_EMBEDDED)))
    page = EmbeddedBoard(campaign.title, board, lines, f"{caller.office.address}/campaigns/{row.slug}")
    content = environment().get_template(page.template).render(page=page)
    return HTMLResponse(content, headers=FRAMED | KEPT)


@ROUTER.get("/campaigns/{slug}/badge.svg")
def show_badge(
    caller: Annotated[Caller, allow("visitor")],
    asked: Annotated[BoardAsked, Depends()],
    team: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """How a team stands, or how many systems are on the board, as a picture for other pages."""
    board = _asked_board(caller, replace(asked, q=""), VISITOR)
    ranked = sum(row.ranks is not None for row in board.rows)
    here = [at for at, row in enumerate(board.rows) if row.name == team][:1]
    found = next(iter(board_lines(board, here)), None)
    words = say_plain("{count} systems", count=f"{len(board.rows):,}")
    if team:
        rank = found.ranks if found is not None else ""
        words = say_plain("rank {rank} of {count}", rank=rank, count=f"{ranked:,}") if rank else say_plain("no rank")
    label = caller.here[1].title
    content = environment().get_template("campaign/badge.svg").render(label=_short(label), words=words)
    headers = KEPT | {"Cross-Origin-Resource-Policy": "cross-origin"}
    return Response(content, media_type="image/svg+xml", headers=headers)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
