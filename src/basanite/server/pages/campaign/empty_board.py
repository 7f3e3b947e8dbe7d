"""Why a board is empty, whose move it is and what to do; and who is left out of it, in words (D-10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup

from basanite.campaign.model.plan import Window
from basanite.campaign.results.seen import SeenBoard
from basanite.server.catalogue import plural, say, sentence
from basanite.server.pages.foundation.times import distance
from basanite.server.roles import Caller

NO_PRIMARY = "no primary"
LEFT_OUT = {
    NO_PRIMARY: (sentence("{count} team has no primary run"), sentence("{count} teams have no primary run")),
    "late": (sentence("{count} run came late"), sentence("{count} runs came late")),
    "withdrawn": (sentence("{count} run was withdrawn"), sentence("{count} runs were withdrawn")),
    "disqualified": (sentence("{count} run is disqualified"), sentence("{count} runs are disqualified")),
    "not scored": (sentence("{count} run has no score yet"), sentence("{count} runs have no score yet")),
    "description incomplete": (
        sentence("{count} run lacks a part of its description that its track requires"),
        sentence("{count} runs lack a part of their description that their track requires"),
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


def left_out(board: SeenBoard) -> tuple[str, ...]:
    """Who is not compared, one sentence for each reason; an empty board has said already who has no primary run."""
    other = sentence("{count} × {reason}"), sentence("{count} × {reason}")
    listed = {reason: count for reason, count in board.left_out.items() if board.rows or reason != NO_PRIMARY}
    return tuple(plural(count, *LEFT_OUT.get(reason, other), reason=reason) for reason, count in listed.items())


def empty_board(board: SeenBoard, window: Window, caller: Caller) -> EmptyBoard:
    """The reason for an empty board, as far as this reader may know it, and the next step."""
    title, sentences = (_nobody_compared if board.ranked else _unreleased)(board, window, caller)
    return EmptyBoard(title, Markup(" ").join(sentences), *_next_step(board, window, caller))


def _nobody_compared(board: SeenBoard, window: Window, caller: Caller) -> tuple[str, Iterator[str]]:
    """Whoever reads this may see the runs of all teams: there are none to compare."""
    if board.left_out.get(NO_PRIMARY):
        return say("No primary runs"), _without_primary(board, window, caller)
    if board.left_out:
        return say("No run to compare"), iter(
            [say("Runs were submitted, but none of them counts. The reasons are below.")]
        )
    title = say("No submissions yet") if caller.now < window.closes.utc else say("No submissions")
    return title, _closing(window, caller, say("No team submitted a run here."))


def _without_primary(board: SeenBoard, window: Window, caller: Caller) -> Iterator[str]:
    yield plural(
        board.left_out[NO_PRIMARY],
        "{count} team submitted runs, but chose no primary run. Only primary runs are compared.",
        "{count} teams submitted runs, but chose no primary run. Only primary runs are compared.",
    )
    if caller.now < window.closes.utc:
        yield say("The window closes {when}; until then each team can choose one.", when=_away(window, caller))
    elif caller.viewer.staff:
        yield say("The window is closed, so now an organizer designates one for a team, with a reason.")
    else:
        yield say("The window is closed. A team can ask the organizers to designate one of its runs.")


def _unreleased(board: SeenBoard, window: Window, caller: Caller) -> tuple[str, Iterator[str]]:
    if board.released:
        text = say("The teams can see these results. They appear here when the organizers release them to everybody.")
        return say("Released to the teams"), iter([text])
    if caller.now < window.closes.utc:
        title, text = (
            say("The window is still open"),
            say("Results appear here when the organizers release them after that."),
        )
    else:
        title, text = (
            say("Not released yet"),
            say("The organizers decide when to release the results. They appear here then."),
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
