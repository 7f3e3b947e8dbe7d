"""A panel at a glance: state, progress, judges, agreement with intervals, and a heat map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy.orm import Session

from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import Panel
from basanite.campaign.work.panels import monitor, setup
from basanite.campaign.work.panels.judgements import AT_WORK, Precision, judgements_wanted
from basanite.campaign.work.panels.monitor import Agreement, Heat, Progress
from basanite.figures import Axis, Chart, Table
from basanite.metrics.judgement.estimate import FEWEST_ITEMS, Estimate
from basanite.server.catalogue import plural, say, say_plain
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_frame import (
    PANEL,
    Organiser,
    PanelHead,
    act_on_panel,
    name_of,
    panel_head,
    panel_with_scheme,
)
from basanite.server.pages.panel_judges import GROUPS
from basanite.server.pages.templates import DrawnChart, draw_chart
from basanite.server.roles import Caller
from basanite.work.scheme import Scheme


@dataclass(frozen=True)
class AgreementLine:
    """One figure of agreement; without a value there is a reason."""

    measure: str
    of: str
    value: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""


def _of_question(one: Agreement) -> Iterator[AgreementLine]:
    yield _line(say_plain("Krippendorff's alpha, {level}", level=one.level), one.title, one.alpha)
    yield _line(say_plain("identical answers, share of all pairs"), one.title, one.percent)
    if one.mean is not None:
        yield _line(say_plain("reliability of the panel's mean, ICC(1,k)"), one.title, one.mean)


def _line(measure: str, of: str, found: Estimate) -> AgreementLine:
    value = found.value if found.is_defined else None
    why = found.reason or say_plain("at least {least} items needed for an interval", least=FEWEST_ITEMS)
    return AgreementLine(measure, of, value, found.low, found.high, why)


def heat_chart(heat: Heat, names: Mapping[str, str]) -> Chart:
    """Every two judges: how far they agree on the items they share."""
    labels = [f"{at} {names.get(person, '')}".strip() for at, person in enumerate(heat.judges, 1)]
    size = range(len(labels))
    rows = [
        (labels[one], labels[other], heat.cells[one][other], heat.shared[one][other]) for one in size for other in size
    ]
    columns = (say_plain("judge"), say_plain("other judge"), say_plain("agreement"), say_plain("shared items"))
    table = Table(say_plain("Pairwise agreement of judges"), columns, rows)
    x, y = Axis(columns[1], columns[1], "category"), Axis(columns[0], columns[0], "category")
    return Chart(say_plain("Judges who agree"), _summary(heat), "heat", table, x, y, shade=columns[2])


def _summary(heat: Heat) -> str:
    known = [cell for row in heat.cells for cell in row if cell is not None]
    if not known:
        return say_plain("No two judges share an item yet.")
    words = say_plain(
        "From {low} to {high}; 1 means identical answers everywhere.", low=f"{min(known):.2f}", high=f"{max(known):.2f}"
    )
    left = plural(
        heat.left_out, "{count} judge with less work is omitted.", "{count} judges with less work are omitted."
    )
    return f"{words} {left.striptags()}" if heat.left_out else words


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

    template = "panels/dashboard.html"
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
    heat: DrawnChart | None
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
    return show(request, caller, _dashboard_page(caller, panel))


@ROUTER.get(f"{PANEL}/state")
def state(caller: Organiser, panel: str) -> Response:
    """Whether anything changed since the page was loaded."""
    with caller.office.reading() as session:
        row, _ = panel_with_scheme(session, caller, panel)
        stands = monitor.progress(session, caller.office, row.id)
    return JSONResponse({"state": _live(stands), "ahead": ""})


@ROUTER.post(f"{PANEL}/open")
def begin(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """Let judges begin; the scheme is frozen from now on."""
    return _act_on_state(
        request, caller, panel, setup.open_panel, say_plain("The panel is open, and its judges are notified.")
    )


@ROUTER.post(f"{PANEL}/close")
def close(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """End the judging."""
    return _act_on_state(request, caller, panel, setup.close_panel, say_plain("The panel is closed."))


@ROUTER.post(f"{PANEL}/reopen")
def reopen(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """Go on judging after all."""
    words = say_plain("The panel is reopened.")
    return _act_on_state(request, caller, panel, setup.reopen_panel, words, reason=form.text("reason"))


@ROUTER.post(f"{PANEL}/cancel")
def cancel(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """Give the panel up."""
    words = say_plain("The panel is canceled. Completed judgments are paid.")
    return _act_on_state(request, caller, panel, setup.cancel, words, reason=form.text("reason"))


def _act_on_state(request: Request, caller: Caller, panel: str, act: Act, words: str, **given: str) -> Response:
    who: tuple[Office, Actor] = (caller.office, caller.actor)

    def inside(session: Session, row: Panel) -> object:
        return act(session, *who, row.id, **given)

    return act_on_panel(request, caller, panel, inside, lambda: _dashboard_page(caller, panel), words)


def _live(stands: Progress) -> str:
    judges = sum(one.done for one in stands.judges)
    parts = (stands.state, stands.of, judges, stands.flags, stands.corrections, stands.rankings, len(stands.judges))
    return ".".join(map(str, parts))


def _dashboard_page(caller: Caller, name: str) -> DashboardPage:
    with caller.office.reading() as session:
        panel, scheme = panel_with_scheme(session, caller, name)
        stands = monitor.progress(session, caller.office, panel.id)
        names = {one.person_id: _name(session, caller, one) for one in stands.judges}
        top = panel_head(session, panel, scheme)
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
        tuple(line for one in stands.agreement for line in _of_question(one)),
        tuple(_judge(one, names[one.person_id]) for one in stands.judges[:SHOWN]),
        _heat(stands, names),
        tuple(stands.per_item.items()),
        stands.warnings,
        tuple(_steps(stands)),
        max(len(stands.judges) - SHOWN, 0),
        stands.precision,
    )


def _heat(stands: Progress, names: Mapping[str, str]) -> DrawnChart | None:
    shown = stands.heat is not None and len(stands.heat.judges) > 1
    return draw_chart(heat_chart(stands.heat, names)) if shown and stands.heat is not None else None


def _name(session: Session, caller: Caller, one: monitor.JudgeLine) -> str:
    """A judge by name; a worker of a crowd platform has none (X-18)."""
    if one.state == "crowd":
        return say_plain("crowd worker {id}", id=one.person_id[-6:])
    return name_of(session, caller, one.person_id)


def _complete(scheme: Scheme, stands: Progress) -> int:
    """Items with as many judgements as the scheme wants."""
    wanted = judgements_wanted(scheme, Counter(one.group for one in stands.judges if one.state in AT_WORK))
    return sum(items for times, items in stands.per_item.items() if times >= wanted > 0)


def _judge(one: monitor.JudgeLine, name: str) -> JudgeLine:
    states = {"paused": say_plain("paused"), "withdrawn": say_plain("withdrew"), "removed": say_plain("removed")}
    return JudgeLine(
        name,
        say_plain(GROUPS.get(one.group, one.group)),
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
    yield stands.items > 0, items if stands.items else say("Add items to judge"), "/items"
    judges = plural(len(stands.judges), "{count} judge is enrolled", "{count} judges are enrolled")
    yield bool(stands.judges), judges if stands.judges else say("Enroll judges"), "/judges"
