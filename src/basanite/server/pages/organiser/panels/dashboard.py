"""A panel while it is judged: progress, judges in figures, agreement with intervals, and what to do next (P-7, R-5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy.orm import Session

from basanite.campaign.office import Actor, Office
from basanite.campaign.panels.preparing import setting_up
from basanite.campaign.panels.watching import looking
from basanite.campaign.panels.watching.looking import Progress
from basanite.campaign.panels.watching.precision import AT_WORK, Precision, judgements_wanted
from basanite.campaign.store.tables import Panel
from basanite.judging.scheme import Scheme
from basanite.server.catalogue import plural, said, say
from basanite.server.pages.foundation.drawing import Drawn, drawn
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import Organiser, name_of
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, acted, found, head
from basanite.server.pages.organiser.panels.figures import AgreementLine, agreement_lines, heat_chart
from basanite.server.pages.organiser.panels.judges import GROUPS
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
SHOWN = 200
Act = Callable[..., object]


@dataclass(frozen=True)
class JudgeLine:
    """One judge in figures."""

    name: str
    group: str
    state: str
    done: int
    of: int
    seconds: float | None
    right: int
    checks: int
    bias: float | None
    flags: int
    weak: bool = False


@dataclass(frozen=True)
class DashboardPage:
    """Where a panel stands."""

    title: str
    panel: PanelHead
    live: str
    """What changes as soon as anything on the page does."""
    done: int
    of: int
    complete: int
    items: int
    seconds: float | None
    right: int
    checks: int
    agreement: tuple[AgreementLine, ...]
    judges: tuple[JudgeLine, ...]
    heat: Drawn | None
    per_item: tuple[tuple[int, int], ...]
    """So many judgements have so many items."""
    warnings: tuple[str, ...]
    steps: tuple[tuple[bool, str, str], ...] = ()
    """What is to be done before it opens: whether it is done, in words, and where."""
    more_judges: int = 0
    precision: Precision | None = None
    place: str = ""


@ROUTER.get(PANEL)
def dashboard(request: Request, caller: Organiser, panel: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel))


@ROUTER.get(f"{PANEL}/state")
def state(caller: Organiser, panel: str) -> Response:
    """Whether anything changed since the page was loaded."""
    with caller.office.reading() as session:
        row, _ = found(session, caller, panel)
        stands = looking.progress(session, caller.office, row.id)
    return JSONResponse({"state": _live(stands), "ahead": ""})


@ROUTER.post(f"{PANEL}/open")
def begin(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """Let judges begin; the scheme is frozen from now on."""
    return _done(request, caller, panel, setting_up.open_panel, said("The panel is open, and its judges are told."))


@ROUTER.post(f"{PANEL}/close")
def close(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """End the judging."""
    return _done(request, caller, panel, setting_up.close_panel, said("The panel is closed."))


@ROUTER.post(f"{PANEL}/reopen")
def reopen(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """Go on judging after all."""
    words = said("The panel is open again.")
    return _done(request, caller, panel, setting_up.reopen_panel, words, reason=form.text("reason"))


@ROUTER.post(f"{PANEL}/cancel")
def cancel(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """Give the panel up."""
    words = said("The panel is cancelled. What was judged is paid.")
    return _done(request, caller, panel, setting_up.cancel, words, reason=form.text("reason"))


def _done(request: Request, caller: Caller, panel: str, act: Act, words: str, **given: str) -> Response:
    who: tuple[Office, Actor] = (caller.office, caller.actor)

    def inside(session: Session, row: Panel) -> object:
        return act(session, *who, row.id, **given)

    return acted(request, caller, panel, inside, lambda: _asked(caller, panel), words)


def _live(stands: Progress) -> str:
    judges = sum(one.done for one in stands.judges)
    parts = (stands.state, stands.of, judges, stands.flags, stands.corrections, stands.rankings, len(stands.judges))
    return ".".join(map(str, parts))


def _asked(caller: Caller, name: str) -> DashboardPage:
    with caller.office.reading() as session:
        panel, scheme = found(session, caller, name)
        stands = looking.progress(session, caller.office, panel.id)
        names = {one.person_id: _name(session, caller, one) for one in stands.judges}
        top = head(session, panel, scheme)
    seconds = sorted(one.median_seconds for one in stands.judges if one.median_seconds is not None)
    return DashboardPage(
        scheme.title,
        top,
        _live(stands),
        stands.done,
        stands.of,
        _complete(scheme, stands),
        stands.items,
        seconds[len(seconds) // 2] if seconds else None,
        sum(one.checks_right for one in stands.judges),
        sum(one.checks for one in stands.judges),
        agreement_lines(stands),
        tuple(_judge(one, names[one.person_id]) for one in stands.judges[:SHOWN]),
        _heat(stands, names),
        tuple(stands.per_item.items()),
        stands.warnings,
        tuple(_steps(stands)),
        max(len(stands.judges) - SHOWN, 0),
        stands.precision,
    )


def _heat(stands: Progress, names: Mapping[str, str]) -> Drawn | None:
    shown = stands.heat is not None and len(stands.heat.judges) > 1
    return drawn(heat_chart(stands.heat, names)) if shown and stands.heat is not None else None


def _name(session: Session, caller: Caller, one: looking.JudgeLine) -> str:
    """A judge by name; a worker of a crowd platform has none (X-18)."""
    if one.state == "crowd":
        return said("crowd worker {id}", id=one.person_id[-6:])
    return name_of(session, caller, one.person_id)


def _complete(scheme: Scheme, stands: Progress) -> int:
    """Items with as many judgements as the scheme wants."""
    wanted = judgements_wanted(scheme, Counter(one.group for one in stands.judges if one.state in AT_WORK))
    return sum(items for times, items in stands.per_item.items() if times >= wanted > 0)


def _judge(one: looking.JudgeLine, name: str) -> JudgeLine:
    states = {"paused": said("pauses"), "withdrawn": said("withdrew"), "removed": said("removed")}
    return JudgeLine(
        name,
        said(GROUPS.get(one.group, one.group)),
        states.get(one.state, ""),
        one.done,
        one.of,
        one.median_seconds,
        one.checks_right,
        one.checks,
        one.bias,
        one.flags,
        one.weak,
    )


def _steps(stands: Progress) -> Iterator[tuple[bool, str, str]]:
    items = plural(stands.items, "{count} item to judge", "{count} items to judge")
    yield stands.items > 0, items if stands.items else say("Add what is to be judged"), "/items"
    judges = plural(len(stands.judges), "{count} judge is enrolled", "{count} judges are enrolled")
    yield bool(stands.judges), judges if stands.judges else say("Enrol judges"), "/judges"
