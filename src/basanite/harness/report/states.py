"""How far a report has come: draft, comments of the teams (which are kept), revised, released (H-33)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.harness.results import ResultFolder, write_json

FORMAT: Final = "basanite-harness-report-state/1"
NAME: Final = "report_state.json"
State = Literal["draft", "team comments", "revised", "released"]
STATES: Final[tuple[State, ...]] = get_args(State)
LONGEST: Final = 20_000
MOST_BYTES: Final = 8 << 20


@dataclass(frozen=True)
class Comment:
    """What a team said about a report, and in which state it was."""

    team: str
    text: str
    state: State


@dataclass(frozen=True)
class ReportState:
    """The state of a report, how it came there, and every comment."""

    state: State = "draft"
    history: tuple[State, ...] = ("draft",)
    comments: tuple[Comment, ...] = ()

    def advance(self, state: State) -> ReportState:
        """The same report in a later state; a released one stays as it is."""
        if STATES.index(state) < STATES.index(self.state):
            raise SettingError(f"A report that is {self.state!r} does not become {state!r} again.")
        return self if state == self.state else replace(self, state=state, history=(*self.history, state))

    def add_comment(self, team: str, text: str) -> ReportState:
        """The same with a comment; the first one turns a draft into one with comments of teams."""
        if self.state == "released":
            raise SettingError("The report is released: comments belong to a report before that.")
        if not text.strip() or len(text) > LONGEST:
            raise SettingError(f"A comment has 1 to {LONGEST} characters; this one has {len(text)}.")
        now = self.advance("team comments") if self.state == "draft" else self
        return replace(now, comments=(*now.comments, Comment(team, text, now.state)))

    def as_dict(self) -> dict[str, Any]:
        """The state as it is written down."""
        comments = [{"team": one.team, "text": one.text, "state": one.state} for one in self.comments]
        return {"format": FORMAT, "state": self.state, "history": list(self.history), "comments": comments}


def read_state(result: ResultFolder) -> ReportState:
    """The state of a folder's report; a new one is a draft."""
    path = result.path / NAME
    if not path.is_file():
        return ReportState()
    try:
        found = json.loads(read_bounded(path, MOST_BYTES))
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']!r}")
        comments = tuple(Comment(one["team"], one["text"], one["state"]) for one in found["comments"])
        return ReportState(_state(found["state"]), tuple(map(_state, found["history"])), comments)
    except (ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{path} is not a file of a report's state ({error}). Put the right one back.") from error


def write_state(result: ResultFolder, state: ReportState) -> None:
    """Keep the state beside the results."""
    write_json(result.path / NAME, state.as_dict())


def _state(name: str) -> State:
    return STATES[STATES.index(name)]
