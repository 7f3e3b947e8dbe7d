"""Charts of a leaderboard: how values changed over the season, and quality against what systems cost (P-38).

Both show only systems whose team the reader may know: when a run came in could tell whose a pseudonym is (P-25).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Window
from basanite.campaign.model.refusals import missing
from basanite.campaign.results import board_history, boards
from basanite.campaign.results.views import BoardRow, SeenBoard
from basanite.figures import Axis, Chart, Table
from basanite.reports.metric_names import display_name
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.frame import show
from basanite.server.pages.leaderboard import BoardAsked, board_choices, seen_board
from basanite.server.pages.templates import DrawnChart, draw_chart
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
MOST_LINES = 8
"""Systems of the chart over time: more lines could not be distinguished."""
MOST_POINTS = 400
DAY = 86_400


@dataclass(frozen=True)
class ChartsPage:
    """The charts of one board."""

    template = "campaign/leaderboard_charts.html"
    title: str
    of: str
    board: SeenBoard
    over_time: DrawnChart | None
    against_cost: DrawnChart | None
    costs: tuple[tuple[str, str], ...]
    """What quality can be drawn against: the value of the parameter, and its name for people."""
    cost: str


@ROUTER.get("/campaigns/{slug}/leaderboard/charts")
def show_charts(
    request: Request,
    caller: Annotated[Caller, allow("visitor")],
    asked: Annotated[BoardAsked, Depends()],
    cost: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """The page."""
    _, campaign = caller.here
    with caller.office.reading() as session:
        known = [one.value for one in board_choices(session, caller)]
        if asked.of not in known:
            raise missing("board")
        board = seen_board(session, caller, caller.viewer, asked.of, asked.look)
        over_time = _over_time(session, caller, asked, board, campaign.window(board.window))
    costs = cost_axes(board)
    chosen = cost if cost in dict(costs) else next((name for name, _ in costs), "")
    against = cost_chart(board, chosen, dict(costs)[chosen]) if chosen else None
    drawn = [None if one is None else draw_chart(one) for one in (over_time, against)]
    return show(request, caller, ChartsPage(say("Charts"), asked.of, board, drawn[0], drawn[1], costs, chosen))


def named_rows(board: SeenBoard) -> list[BoardRow]:
    """The rows whose team the reader may know, best first."""
    return [row for row in board.rows if row.received is not None and row.value is not None]


def _over_time(session: Session, caller: Caller, asked: BoardAsked, board: SeenBoard, window: Window) -> Chart | None:
    shown = {row.name for row in named_rows(board)[:MOST_LINES]}
    window_id, task, language, track = asked.of.split("|")
    subject = boards.Subject(window_id, task, language=language, track=track)
    until = asked.look.until
    moments = board_history.moments(session, caller.here[0].id, subject, len(board.rows))
    points: list[tuple[str, float, float]] = []
    for moment in moments:
        if until is not None and moment > until:
            continue
        look = replace(asked.look, by=board.metric, until=moment)
        then = seen_board(session, caller, caller.viewer, asked.of, look)
        day = round((moment - window.opens.utc).total_seconds() / DAY, 2)
        points += [
            (row.name, day, row.value) for row in named_rows(then) if row.name in shown and row.value is not None
        ]
    return history_chart(board, points) if len({day for _, day, _ in points}) > 1 else None


def history_chart(board: SeenBoard, points: list[tuple[str, float, float]]) -> Chart:
    """Values of systems over the days of a window."""
    metric = display_name(board.metric, board.task)
    order = {row.name: at for at, row in enumerate(board.rows)}
    points.sort(key=lambda point: (order.get(point[0], len(order)), point[1]))
    system, day = say_plain("System"), say_plain("Days since the window opened")
    count = len({name for name, _, _ in points})
    return Chart(
        say_plain("{metric} over time", metric=metric),
        say_plain("The {count} highest systems of today, as the leaderboard showed them then.", count=count),
        "line",
        Table(say_plain("{metric} over time", metric=metric), (system, day, metric), points),
        Axis(day, day),
        Axis(metric, metric),
        series=system,
        step=True,
    )


def cost_axes(board: SeenBoard) -> tuple[tuple[str, str], ...]:
    """What quality can be drawn against: declared numbers that at least two systems have, then the other metrics."""
    rows = named_rows(board)
    declared = dict.fromkeys(name for row in rows for name in row.declared)
    found = [(f"declared:{name}", name) for name in declared if sum(name in row.declared for row in rows) > 1]
    others = [
        (name, display_name(name, board.task))
        for name in board.metrics
        if name != board.metric and sum(row.values.get(name, (None,))[0] is not None for row in rows) > 1
    ]
    return (*found, *others)


def cost_chart(board: SeenBoard, cost: str, label: str) -> Chart | None:
    """The board's metric of every system against one other number of it."""
    points = list(_cost_points(board, cost))
    if len(points) < 2:
        return None
    metric = display_name(board.metric, board.task)
    system, low, high = say_plain("System"), say_plain("low"), say_plain("high")
    spread = [one[1] for one in points]
    wide = min(spread) > 0 and max(spread) / min(spread) > 100
    bounded = all(one[3] is not None and one[4] is not None for one in points)
    title = say_plain("{metric} against {cost}", metric=metric, cost=label)
    summary = say_plain("{count} systems.", count=len(points))
    if bounded:
        summary = f"{summary} {say_plain('Lines show 95% CIs.')}"
    return Chart(
        title,
        summary,
        "points",
        Table(title, (system, label, metric, low, high), points[:MOST_POINTS]),
        Axis(label, label, "log" if wide else "linear"),
        Axis(metric, metric),
        low=low if bounded else None,
        high=high if bounded else None,
    )


def _cost_points(board: SeenBoard, cost: str) -> Iterator[tuple[str, float, float, float | None, float | None]]:
    for row in named_rows(board):
        declared = cost.startswith("declared:")
        number = row.declared.get(cost[9:]) if declared else row.values.get(cost, (None,))[0]
        if number is not None and row.value is not None and math.isfinite(number):
            yield row.name, number, row.value, row.low, row.high
