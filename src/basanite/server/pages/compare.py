"""My own runs side by side: one value each with its interval, all values that may be seen, and a paired test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.results import own_runs, visibility
from basanite.campaign.results.own_runs import OwnComparison
from basanite.campaign.results.views import SeenSubmission
from basanite.figures import Table
from basanite.reports.metric_names import display_name
from basanite.reports.wording import number, true_minus
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.values import Place, axis_of, place
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/compare"
MOST_LISTED = 200
MOST_COMPARED = own_runs.MOST_RUNS
Chosen = Annotated[list[str] | None, Query(max_length=50)]
VERDICTS: Final[Mapping[str, str]] = {
    "first": sentence("{first} is better"),
    "second": sentence("{second} is better"),
    "different": sentence("significantly different"),
    "identical": sentence("identical on every unit"),
    "no difference shown": sentence("no significant difference"),
    "undecided": sentence("inconclusive"),
    "undefined": sentence("undefined"),
}
REASONS: Final[Mapping[str, str]] = {
    "dominated": sentence("one of the {things} accounts for {percent}% of the squared differences (limit {most}%)"),
    "few": sentence("only {differing} of {among} {things} differ, so an adjusted p below {smallest_p} is impossible"),
    "disagree above": sentence("p {p} is above {alpha}, but the interval {low} to {high} excludes 0"),
    "disagree": sentence("p {p} is at most {alpha}, but the interval {low} to {high} contains 0"),
    "adjusted": sentence(
        "p {p} becomes {p_adjusted} after adjustment for {pairs} pairs, but the interval is for this pair alone"
    ),
}
THINGS: Final[Mapping[str, str]] = {"units": sentence("units"), "clusters": sentence("clusters")}


@dataclass(frozen=True)
class Run:
    """One run with the value that counts."""

    id: str
    label: str
    number: int
    value: float | None
    place: Place
    gap: float | None
    """The first one that was chosen minus this one, the sign that it has in the paired test (S-29)."""


@dataclass(frozen=True)
class TestedPair:
    """Two runs and what the paired test says of them."""

    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: str
    why: str = ""
    """Why the verdict is what it is, and why there is no interval; no unit is named (M72)."""


@dataclass(frozen=True)
class ComparePage:
    """The runs to choose from, and the chosen ones side by side."""

    template = "runs/compare.html"
    title: str
    offered: tuple[SeenSubmission, ...]
    chosen: frozenset[str]
    runs: tuple[Run, ...]
    metric: str
    task: str
    """The task of the runs: its metrics have their names there."""
    table: Table | None
    mixed: bool
    """Whether what was chosen is not of one kind and cannot be compared."""
    state: str = ""
    """Where the paired test stands: `open`, `computing`, `there`, `failed` or `refused`; empty if there is none."""
    tested: tuple[TestedPair, ...] = ()
    test_metric: str = ""
    reason: str = ""
    state_address: str = ""
    interim: bool = False
    """Whether a window of these runs is open, so that more of them may come (S-33)."""


@ROUTER.get(ADDRESS)
def show_comparison(request: Request, caller: Annotated[Caller, allow("member")], run: Chosen = None) -> Response:
    """The page."""
    return show(request, caller, _compare_page(caller, run or ()))


@ROUTER.get(f"{ADDRESS}/state")
def show_test_state(caller: Annotated[Caller, allow("member")], run: Chosen = None) -> Response:
    """Where the paired test of these runs stands, for the page to look whether it is there."""
    with caller.office.reading() as session:
        found = own_runs.own_comparison(
            session, caller.office, caller.viewer, caller.here[0].id, _chosen_runs(run or ())
        )
    return JSONResponse({"state": found.state, "ahead": None})


@ROUTER.post(ADDRESS)
def ask_for_test(request: Request, caller: Annotated[Caller, allow("member")], form: PostedForm) -> Response:
    """Ask for the paired test."""
    row, runs = caller.here[0], _chosen_runs(form.all("run"))
    try:
        with caller.office.writing() as session:
            own_runs.ask(session, caller.office, caller.actor, caller.viewer, row.id, runs)
    except RefusedError as error:
        return refuse(request, caller, _compare_page(caller, runs), error)
    return go(caller, f"{ADDRESS.format(slug=row.slug)}?{_query(runs)}")


def _chosen_runs(runs: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(runs))[:MOST_COMPARED]


def _query(runs: Iterable[str]) -> str:
    return urlencode([("run", one) for one in runs])


def _compare_page(caller: Caller, runs: Iterable[str]) -> ComparePage:
    row, wanted = caller.here[0], _chosen_runs(runs)
    with caller.office.reading() as session:
        found = visibility.submissions(
            session, caller.office, caller.viewer, row.id, visibility.SubmissionFilter(limit=MOST_LISTED)
        )
        offered = tuple(one for one in found if one.own and one.result is not None and one.result.value is not None)
        chosen = [one for name in wanted for one in offered if one.id == name]
        open_ = (caller.now < caller.here[1].window(one.window).closes.utc for one in chosen)
        page = replace(comparison_page(offered, chosen), interim=any(open_))
        if len(page.runs) < 2:
            return page
        ids = [one.id for one in chosen]
        test = own_runs.own_comparison(session, caller.office, caller.viewer, row.id, ids)
    return with_test(page, test, f"{ADDRESS.format(slug=row.slug)}/state?{_query(ids)}")


def with_test(page: ComparePage, test: OwnComparison, address: str = "") -> ComparePage:
    """The page with what the paired test says, or where it stands."""
    names = {run.id: f"{run.number} {run.label}" for run in page.runs}
    order = list(names)
    pairs = [one if order.index(one.first) <= order.index(one.second) else one.reverse() for one in test.pairs]
    pairs.sort(key=lambda one: (order.index(one.first), order.index(one.second)))
    tested = (
        TestedPair(
            names[one.first],
            names[one.second],
            one.difference,
            one.low,
            one.high,
            one.p_adjusted,
            say(VERDICTS.get(one.verdict, one.verdict), first=names[one.first], second=names[one.second]),
            "; ".join((*map(_reason_words, one.reasons), *one.flags)),
        )
        for one in pairs
    )
    reason = str(test.reason) if test.reason else ""
    return replace(
        page, state=test.state, tested=tuple(tested), test_metric=test.metric, reason=reason, state_address=address
    )


def _reason_words(reason: Mapping[str, Any]) -> str:
    """A reason in words of the page."""
    kind, parts = str(reason["kind"]), {name: _figure(part) for name, part in reason.items()}
    if kind == "dominated":
        parts |= {"percent": f"{100 * reason['share']:.0f}", "most": f"{100 * reason['most']:.0f}"}
    if kind == "disagree" and reason["p"] > reason["alpha"]:
        kind = "disagree above"
    return say(REASONS[kind], **(parts | {"things": say(THINGS[reason["things"]])}))


def _figure(part: Any) -> str:
    return true_minus(number(part)) if isinstance(part, int | float) else str(part)


def comparison_page(offered: tuple[SeenSubmission, ...], chosen: list[SeenSubmission]) -> ComparePage:
    """The chosen runs side by side, if they are of one task, language and data."""
    kinds = {(one.task, one.language, one.dataset, one.queryset) for one in chosen}
    ids = frozenset(one.id for one in chosen)
    if len(kinds) != 1:
        return ComparePage(say("Compare my runs"), offered, ids, (), "", "", None, len(kinds) > 1)
    metric, task = chosen[0].result.primary if chosen[0].result else "", chosen[0].task
    return ComparePage(say("Compare my runs"), offered, ids, _runs(chosen, metric), metric, task, _table(chosen), False)


def _runs(chosen: list[SeenSubmission], metric: str) -> tuple[Run, ...]:
    entries = [_entry(one, metric) for one in chosen]
    axis = axis_of(entry.get(name) for entry in entries for name in ("value", "low", "high"))
    first = entries[0].get("value")
    gaps = [None if first is None or (value := entry.get("value")) is None else first - value for entry in entries]
    return tuple(
        Run(
            one.id,
            one.label,
            one.number,
            entry.get("value"),
            place(entry.get("value"), entry.get("low"), entry.get("high"), axis),
            gap if index else None,
        )
        for index, (one, entry, gap) in enumerate(zip(chosen, entries, gaps, strict=True))
    )


def _entry(one: SeenSubmission, name: str) -> dict[str, float | None]:
    values = one.result.data.get("values", {}) if one.result else {}
    return dict(values.get(name, {}))


def _table(chosen: list[SeenSubmission]) -> Table:
    names = dict.fromkeys(name for one in chosen if one.result for name in one.result.data.get("values", {}))
    rows = [
        (display_name(str(name), chosen[0].task), *(_entry(one, name).get("value") for one in chosen)) for name in names
    ]
    heads = tuple(f"{one.number} {one.label}" for one in chosen)
    return Table(say_plain("All values"), (say_plain("Value"), *heads), rows)
