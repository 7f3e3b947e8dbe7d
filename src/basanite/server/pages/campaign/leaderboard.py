"""The leaderboard: primary runs of one task, language and track, with groups and rank ranges (M78)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from basanite.campaign.model import stages
from basanite.campaign.model.plan import Campaign
from basanite.campaign.results import seeing
from basanite.campaign.results.seen import BoardRow, SeenBoard
from basanite.server.catalogue import say
from basanite.server.pages.campaign.empty_board import EmptyBoard, empty_board, left_out
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.runs.values import Place, axis_of, place
from basanite.server.roles import Caller, allow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

ROUTER = APIRouter(include_in_schema=False)
SHOWN = 500
LOOKED_AT = 12
"""Boards, newest first, that are looked through for one with something to show."""


@dataclass(frozen=True)
class Choice:
    """One board to look at."""

    value: str
    window: str
    text: str


@dataclass(frozen=True)
class Line:
    """One system on the board."""

    row: BoardRow
    ranks: str
    place: Place
    cut: bool
    """Whether a new group begins here."""


@dataclass(frozen=True)
class LeaderboardPage:
    """One board, and which others there are."""

    title: str
    choices: tuple[Choice, ...]
    chosen: str
    board: SeenBoard | None = None
    lines: tuple[Line, ...] = ()
    more: int = 0
    """How many systems are not listed any more."""
    left_out: tuple[str, ...] = ()
    """Who is not compared, in words."""
    empty: EmptyBoard | None = None
    """Why there is no line."""


@ROUTER.get("/campaigns/{slug}/leaderboard")
def leaderboard(
    request: Request, caller: Annotated[Caller, allow("visitor")], of: Annotated[str, Query(max_length=400)] = ""
) -> Response:
    """The page."""
    row, campaign = caller.here
    choices = _choices(campaign, caller)
    wanted = [one for one in choices if one.value == of] or list(choices[:LOOKED_AT])
    if not wanted:
        return show(request, caller, LeaderboardPage(say("Leaderboard"), (), ""))
    chosen, board = _first_filled(caller, row.id, wanted)
    empty = None if board.rows else empty_board(board, campaign.window(board.window), caller)
    return show(request, caller, page_of(choices, chosen.value, board, empty))


def _first_filled(caller: Caller, campaign_id: str, wanted: Sequence[Choice]) -> tuple[Choice, SeenBoard]:
    """The first of these boards with something on it for this reader, or else the first of all."""
    with caller.office.reading() as session:
        boards = ((one, _board(session, caller, campaign_id, one)) for one in wanted)
        first = next(boards)
        return first if first[1].rows else next((pair for pair in boards if pair[1].rows), first)


def _board(session: Session, caller: Caller, campaign_id: str, choice: Choice) -> SeenBoard:
    window, task, language, track = choice.value.split("|")
    return seeing.board(
        session, caller.office, caller.viewer, campaign_id, window, task, language=language, track=track
    )


def page_of(
    choices: tuple[Choice, ...], chosen: str, board: SeenBoard, empty: EmptyBoard | None = None
) -> LeaderboardPage:
    """The page of a board."""
    more = max(len(board.rows) - SHOWN, 0)
    return LeaderboardPage(
        say("Leaderboard"), choices, chosen, board, lines(board)[:SHOWN], more, left_out(board), empty
    )


def lines(board: SeenBoard) -> tuple[Line, ...]:
    """The rows with their places on one axis."""
    axis = axis_of(one for row in board.rows for one in (row.value, row.low, row.high))
    groups = [None, *(row.group for row in board.rows)]
    return tuple(
        Line(
            row,
            _ranks(row),
            place(row.value, row.low, row.high, axis),
            before is not None and row.group is not None and row.group != before,
        )
        for row, before in zip(board.rows, groups[:-1], strict=True)
    )


def _ranks(row: BoardRow) -> str:
    if row.ranks is None:
        return ""
    first, last = row.ranks
    return str(first) if first == last else f"{first}–{last}"


def _choices(campaign: Campaign, caller: Caller) -> tuple[Choice, ...]:
    """Every board of every window that has begun, the newest window first."""
    begun = [window for window in campaign.windows if window.opens.utc <= caller.now and window.kind != "sanity"]
    return tuple(
        Choice(
            "|".join((window.id, task, language, track)),
            window.title,
            f"{window.title}: {' · '.join(filter(None, (task, language, track)))}",
        )
        for window in sorted(begun, key=lambda window: window.opens.utc, reverse=True)
        for task in window.tasks
        for language in stages.languages(campaign, window) or ("",)
        for track in [one.id for one in stages.window_tracks(campaign, window)] or [""]
    )
