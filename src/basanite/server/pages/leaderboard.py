"""The leaderboard: primary runs of one task, language and track, with groups and rank ranges (M78).

An empty board says why it is empty, whose move it is and what to do; who is left out stands below in words (D-10).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from markupsafe import Markup

from basanite.campaign.model import windows
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import refused
from basanite.campaign.results import boards, visibility
from basanite.campaign.results.views import BoardRow, SeenBoard
from basanite.server.catalogue import plural, say, say_plain, sentence
from basanite.server.pages.frame import show
from basanite.server.pages.templates import figure
from basanite.server.pages.times import distance
from basanite.server.pages.values import Place, axis_of, place
from basanite.server.roles import Caller, allow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


NO_PRIMARY = "no primary"
LEFT_OUT = {
    NO_PRIMARY: (sentence("{count} team has no primary run"), sentence("{count} teams have no primary run")),
    "late": (sentence("{count} run came late"), sentence("{count} runs came late")),
    "withdrawn": (sentence("{count} run was withdrawn"), sentence("{count} runs were withdrawn")),
    "disqualified": (sentence("{count} run is disqualified"), sentence("{count} runs are disqualified")),
    "not scored": (sentence("{count} run has no score yet"), sentence("{count} runs have no score yet")),
    "description incomplete": (
        sentence("{count} run lacks a description field that its track requires"),
        sentence("{count} runs lack a description field that their track requires"),
    ),
}
"""Reasons of `campaign.model.standing`, said of one and of many."""


@dataclass(frozen=True)
class EmptyBoard:
    """What stands where the rows would be."""

    title: str
    text: str
    address: str
    action: str


def reasons_left_out(board: SeenBoard) -> tuple[str, ...]:
    """Who is not compared, one sentence for each reason; an empty board has said already who has no primary run."""
    other = sentence("{count} × {reason}"), sentence("{count} × {reason}")
    listed = {reason: count for reason, count in board.left_out.items() if board.rows or reason != NO_PRIMARY}
    return tuple(plural(count, *LEFT_OUT.get(reason, other), reason=reason) for reason, count in listed.items())


def empty_board(board: SeenBoard, window: Window, caller: Caller) -> EmptyBoard:
    """The reason for an empty board, as far as this reader may know it, and the next step."""
    title, sentences = (_nobody_compared if board.ranked else _not_released)(board, window, caller)
    return EmptyBoard(title, Markup(" ").join(sentences), *_next_step(board, window, caller))


def _nobody_compared(board: SeenBoard, window: Window, caller: Caller) -> tuple[str, Iterator[str]]:
    """Anyone who reads this may see the runs of all teams: there are none to compare."""
    if board.left_out.get(NO_PRIMARY):
        return say("No primary runs"), _without_primary(board, window, caller)
    if board.left_out:
        return say("No runs to compare"), iter([say("Runs were submitted, but none counts. See the reasons below.")])
    title = say("No submissions yet") if caller.now < window.closes.utc else say("No submissions")
    return title, _closing(window, caller, say("No team has submitted a run here."))


def _without_primary(board: SeenBoard, window: Window, caller: Caller) -> Iterator[str]:
    yield plural(
        board.left_out[NO_PRIMARY],
        "{count} team submitted runs but chose no primary run. Only primary runs are compared.",
        "{count} teams submitted runs but chose no primary run. Only primary runs are compared.",
    )
    if caller.now < window.closes.utc:
        yield say("The window closes {when}. Until then, each team can choose one.", when=_away(window, caller))
    elif caller.viewer.staff:
        yield say("The window is closed. An organizer can designate a run for a team, with a reason.")
    else:
        yield say("The window is closed. A team can ask the organizers to designate one of its runs.")


def _not_released(board: SeenBoard, window: Window, caller: Caller) -> tuple[str, Iterator[str]]:
    if board.released:
        text = say("The teams can see these results. They appear here when the organizers release them to the public.")
        return say("Released to the teams"), iter([text])
    if caller.now < window.closes.utc:
        title, text = (
            say("The window is still open"),
            say("Results appear here when the organizers release them after that."),
        )
    else:
        title, text = (
            say("Not released yet"),
            say("The organizers decide when to release the results. They will appear here."),
        )
    own = say("Your team has runs here, but no primary run.") if board.without_primary else ""
    return title, filter(None, [own, *_closing(window, caller), text])


def _closing(window: Window, caller: Caller, first: str = "") -> Iterator[str]:
    if first:
        yield first
    if caller.now < window.closes.utc:
        yield say("The window closes {when}.", when=_away(window, caller))
    else:
        yield say("The window closed {when}.", when=_away(window, caller))


def _away(window: Window, caller: Caller) -> str:
    span: timedelta = window.closes.utc - caller.now
    return distance(span)


def _next_step(board: SeenBoard, window: Window, caller: Caller) -> tuple[str, str]:
    base = f"/campaigns/{caller.here[0].slug}"
    if caller.viewer.staff:
        return f"{base}/organise/submissions?window={window.id}", say("Submissions of this window")
    if board.without_primary:
        return f"{base}/submissions", say("Submissions of your team")
    return f"{base}/calendar", say("Calendar")


ROUTER = APIRouter(include_in_schema=False)
MOST_LINES = 500
LINES = 100
"""Systems on one page: more would be too heavy for a phone."""
MOST_BOARDS = 12
"""Boards, newest first, that are looked through for one with something to show."""


@dataclass(frozen=True)
class Choice:
    """One board to look at."""

    value: str
    window: str
    text: str
    part: str = ""
    """Task, language and track."""
    empty: bool = False
    """Whether no run is scored there yet."""


@dataclass(frozen=True)
class Line:
    """One system on the board."""

    row: BoardRow
    ranks: str
    place: Place
    cut: bool
    """Whether a new group begins here."""
    band: bool = False
    """Whether the row belongs to every second group, which has a ground of its own."""
    interval: str = ""
    """The bounds of the interval in numbers."""
    chosen: bool = False
    """Whether all others are compared with this one."""


@dataclass(frozen=True)
class LeaderboardPage:
    """One board, and which others there are."""

    template = "campaign/leaderboard.html"
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
    tabs: tuple[Choice, ...] = ()
    """The first board of each window."""
    parts: tuple[Choice, ...] = ()
    """The boards of the window that is shown, where there are several."""
    axis: tuple[float, float] = (0.0, 1.0)
    wanted: str = ""
    """What names must contain to be listed."""
    at: str = ""
    """The moment whose board is shown; empty for now."""
    now: str = ""
    """This moment, as the address of the board at it says."""
    start: int = 0
    """How many systems stand above the first that is listed."""
    fewer: int | None = None
    """Where the page before this one starts, if there is one."""


@dataclass(frozen=True)
class BoardAsked:
    """What the address of a board says."""

    of: Annotated[str, Query(max_length=400)] = ""
    by: Annotated[str, Query(max_length=200)] = ""
    at: Annotated[str, Query(max_length=40)] = ""
    against: Annotated[str, Query(max_length=200)] = ""
    q: Annotated[str, Query(max_length=100)] = ""
    start: Annotated[int, Query(ge=0, le=10**6)] = 0

    @property
    def look(self) -> boards.Look:
        """How the board is looked at; a moment that cannot be read is refused."""
        try:
            until = datetime.fromisoformat(self.at) if self.at else None
        except ValueError:
            until = None
        if self.at and (until is None or until.tzinfo is None):
            fix = say_plain("write a time like 2026-03-01T12:00:00Z")
            raise refused("P-39", say_plain("this time cannot be read"), fix, status=422)
        return boards.Look(self.by, until, self.against)


@ROUTER.get("/campaigns/{slug}/leaderboard")
def show_leaderboard(
    request: Request, caller: Annotated[Caller, allow("visitor")], asked: Annotated[BoardAsked, Depends()]
) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        choices = board_choices(session, caller)
    wanted = [one for one in choices if one.value == asked.of] or list(choices[:MOST_BOARDS])
    if not wanted:
        return show(request, caller, LeaderboardPage(say("Leaderboard"), (), ""))
    chosen, board = _first_filled(caller, row.id, wanted, asked.look)
    empty = None if board.rows else empty_board(board, campaign.window(board.window), caller)
    page = leaderboard_page(choices, chosen.value, board, empty, wanted=asked.q, start=asked.start)
    now = f"{caller.now:%Y-%m-%dT%H:%M:%SZ}"
    return show(request, caller, replace(page, at=asked.at, now=now))


def _first_filled(
    caller: Caller, campaign_id: str, wanted: Sequence[Choice], look: boards.Look
) -> tuple[Choice, SeenBoard]:
    """The first of these boards with something on it for this reader, or else the first of all."""
    with caller.office.reading() as session:
        shown = ((one, seen_board(session, caller, caller.viewer, one.value, look)) for one in wanted)
        first = next(shown)
        return first if first[1].rows else next((pair for pair in shown if pair[1].rows), first)


def seen_board(session: Session, caller: Caller, viewer: Viewer, value: str, look: boards.Look) -> SeenBoard:
    """The board of a choice as a viewer sees it."""
    window, task, language, track = value.split("|")
    subject = boards.Subject(window, task, language=language, track=track)
    return visibility.board(session, caller.office, viewer, caller.here[0].id, subject, look)


def leaderboard_page(
    choices: tuple[Choice, ...],
    chosen: str,
    board: SeenBoard,
    empty: EmptyBoard | None = None,
    *,
    wanted: str = "",
    start: int = 0,
) -> LeaderboardPage:
    """The page of a board."""
    places = [at for at, row in enumerate(board.rows) if wanted.lower() in f"{row.name} {row.system}".lower()]
    here = [one for one in choices if one.window == board.window]
    firsts = {one.window: one for one in reversed(choices)}
    return LeaderboardPage(
        say("Leaderboard"),
        choices,
        chosen,
        board,
        board_lines(board, places[start : start + LINES]),
        max(len(places) - start - LINES, 0),
        reasons_left_out(board),
        empty,
        tuple(_tab(choices, one) for one in dict.fromkeys(firsts[choice.window] for choice in choices)),
        tuple(here) if len(here) > 1 else (),
        _axis(board),
        wanted,
        start=start,
        fewer=max(start - LINES, 0) if start else None,
    )


def _tab(choices: Sequence[Choice], first: Choice) -> Choice:
    """The tab of a window: its first board with a run, or its first board at all."""
    here = [one for one in choices if one.window == first.window]
    return next((one for one in here if not one.empty), first)


def _axis(board: SeenBoard) -> tuple[float, float]:
    return axis_of(one for row in board.rows for one in (row.value, row.low, row.high))


def board_lines(board: SeenBoard, places: Sequence[int] | None = None) -> tuple[Line, ...]:
    """The rows, or those at some places, with their values on one axis."""
    axis = _axis(board)
    groups = [row.group for row in board.rows]
    return tuple(
        Line(
            row := board.rows[at],
            _ranks(row),
            place(row.value, row.low, row.high, axis),
            at > 0 and groups[at - 1] is not None and row.group is not None and row.group != groups[at - 1],
            row.group is not None and row.group % 2 == 0,
            _interval(row),
            bool(board.against) and row.name == board.against,
        )
        for at in (range(len(board.rows)) if places is None else places)
    )


def _interval(row: BoardRow) -> str:
    return "" if row.low is None or row.high is None else f"{figure(row.low)} – {figure(row.high)}"


def _ranks(row: BoardRow) -> str:
    if row.ranks is None:
        return ""
    first, last = row.ranks
    return str(first) if first == last else f"{first}–{last}"


def board_choices(session: Session, caller: Caller) -> tuple[Choice, ...]:
    """Every board of every window that has begun, the newest window first; those without a scored run are marked."""
    row, campaign = caller.here
    filled = set(boards.subjects(session, row.id))
    return tuple(
        replace(one, empty=boards.Subject(*one.value.split("|")) not in filled) for one in _choices(campaign, caller)
    )


def _choices(campaign: Campaign, caller: Caller) -> tuple[Choice, ...]:
    begun = [window for window in campaign.windows if window.opens.utc <= caller.now and window.kind != "sanity"]
    return tuple(
        Choice(
            "|".join((window.id, task, language, track)),
            window.id,
            window.title,
            " · ".join(filter(None, (task, windows.shown_language(campaign, language), track))),
        )
        for window in sorted(begun, key=lambda window: window.opens.utc, reverse=True)
        for task in window.tasks
        for language in windows.languages(campaign, window) or ("",)
        for track in [one.id for one in windows.window_tracks(campaign, window)] or [""]
    )
