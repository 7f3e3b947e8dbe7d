"""Transcripts of a submission: search, filter, another run beside them, and flagged answers sent to a panel (L-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.results import visibility
from basanite.campaign.store.tables import Submission
from basanite.campaign.work.panels import answers
from basanite.models.transcript_page import MOST, STATES, CallSearch
from basanite.server.catalogue import plural, say, say_plain, sentence
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import go, show
from basanite.server.pages.organiser_frame import Organiser, panel_address
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS: Final = "/campaigns/{slug}/submissions/{run}/transcripts"
Looker = Annotated[Caller, allow("member", "evaluation")]
ROWS: Final = 25
OFFERED: Final = 100
STATE_WORDS: Final[Mapping[str, str]] = {
    "answered": sentence("answered"),
    "refused": sentence("refused"),
    "failed": sentence("failed"),
    "empty": sentence("no answer found"),
}
SEPARATOR: Final = ":"


@dataclass(frozen=True)
class Side:
    """What one run answered."""

    state: str
    words: str
    text: str
    answer: str
    facts: str


@dataclass(frozen=True)
class Turn:
    """One item with the answers of the run, and of the other run where one is beside it."""

    item: str
    repeat: int
    prompt: str
    sides: tuple[Side | None, ...]

    @property
    def key(self) -> str:
        """What a flag of this answer sends."""
        return f"{self.repeat}{SEPARATOR}{self.item}"


@dataclass(frozen=True)
class TranscriptsPage:
    """A part of the calls of a submission."""

    template = "runs/transcripts.html"
    title: str
    run: str
    label: str
    names: tuple[str, ...]
    turns: tuple[Turn, ...]
    found: int
    total: int
    words: str
    state: str
    states: tuple[tuple[str, str], ...]
    beside: str
    runs: tuple[tuple[str, str], ...]
    """Runs of the same window that may stand beside it."""
    next: int | None
    panels: tuple[tuple[str, str], ...]
    """Panels that take flagged answers; none for readers who cannot send them."""


@ROUTER.get(ADDRESS)
def show_transcripts(
    request: Request,
    caller: Looker,
    run: str,
    words: Annotated[str, Query(max_length=500)] = "",
    state: Annotated[str, Query(max_length=20)] = "",
    beside: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
) -> Response:
    """The page."""
    # Seven parameters: FastAPI reads each part of the call from one of its own.
    wanted = CallSearch(words, state if state in STATES else "", (), after, ROWS)
    first = answers.shown_calls(caller.office, caller.viewer, caller.actor, run, wanted)
    items = tuple(dict.fromkeys(str(call["item"]) for call in first.calls))
    other = None
    if beside and items:
        limited = CallSearch(items=items, limit=MOST)
        other = answers.shown_calls(caller.office, caller.viewer, caller.actor, beside, limited)
    with caller.office.reading() as session:
        runs = _runs(session, caller, first.run)
        panels = _panels(session, caller)
    sides = [first, *([other] if other else [])]
    page = TranscriptsPage(
        say("Transcripts"),
        run,
        first.run.label,
        tuple(one.system or one.run.label for one in sides),
        _turns(first, other),
        first.found,
        first.total,
        words,
        wanted.state,
        (("", say("all")), *((name, say(told)) for name, told in STATE_WORDS.items())),
        beside if other else "",
        runs,
        after + ROWS if after + ROWS < first.found else None,
        panels,
    )
    return show(request, caller, page)


@ROUTER.post(f"{ADDRESS}/flag")
def send_to_panel(caller: Organiser, form: PostedForm, run: str) -> Response:
    """Give the flagged answers to a panel."""
    calls = [_key(text) for text in form.all("flag")]
    panel, added = answers.judge_flagged(caller.office, caller.viewer, caller.actor, run, calls, form.text("panel"))
    words = plural(added.new, "{count} answer was sent to the panel.", "{count} answers were sent to the panel.")
    return go(caller, panel_address(caller, panel, "/items"), words.striptags())


def _key(text: str) -> tuple[str, int]:
    repeat, _, item = text.partition(SEPARATOR)
    if not repeat.isascii() or not repeat.isdigit() or len(repeat) > 9:
        raise refused("L-4", say_plain("this form cannot be read"), say_plain("use the form on its page"), status=422)
    return item, int(repeat)


def _runs(session: Session, caller: Caller, run: Submission) -> tuple[tuple[str, str], ...]:
    """Other runs of the window that hold transcripts and that this reader may see."""
    wanted = visibility.SubmissionFilter(window=run.window, limit=OFFERED)
    seen = visibility.submissions(session, caller.office, caller.viewer, run.campaign_id, wanted)
    rows = ((one, session.get_one(Submission, one.id)) for one in seen if one.id != run.id)
    found = [(one.id, f"{one.team}: {one.label}") for one, row in rows if answers.holds_transcripts(caller.office, row)]
    return (("", say("none")), *found) if found else ()


def _panels(session: Session, caller: Caller) -> tuple[tuple[str, str], ...]:
    if not caller.viewer.staff:
        return ()
    known = [(one.name, one.name) for one in answers.panels_for_answers(session, caller.here[0].id)]
    named = [name for name, _ in known]
    return (*known, *([] if answers.NEW_PANEL in named else [("", say("a new panel"))]))


def _turns(first: answers.ShownCalls, other: answers.ShownCalls | None) -> tuple[Turn, ...]:
    beside = {(call["item"], call["repeat"]): call for call in other.calls} if other else {}
    return tuple(_turn(call, [beside.get((call["item"], call["repeat"]))] if other else []) for call in first.calls)


def _turn(call: Mapping[str, Any], others: Sequence[Mapping[str, Any] | None]) -> Turn:
    sides = tuple(None if one is None else _side(one) for one in (call, *others))
    return Turn(str(call["item"]), int(call["repeat"]), str(call["prompt"]), sides)


def _side(call: Mapping[str, Any]) -> Side:
    text, answer = str(call["text"] or call["error"]), str(call["answer"])
    return Side(
        str(call["state"]),
        say_plain(STATE_WORDS[call["state"]]),
        text,
        answer if answer != text.strip() else "",
        " · ".join(_facts(call)),
    )


def _facts(call: Mapping[str, Any]) -> list[str]:
    """Tokens, time and cost, as far as they are known."""
    tokens = (call["tokens_in"] or 0) + call["tokens_out"] if call["tokens_out"] is not None else None
    return [
        *([plural(int(tokens), "{count} token", "{count} tokens").striptags()] if tokens is not None else []),
        *([say_plain("{seconds} s", seconds=f"{call['latency']:.3g}")] if call["latency"] is not None else []),
        *([say_plain("cost {cost}", cost=f"{call['cost']:.3g}")] if call["cost"] else []),
    ]
