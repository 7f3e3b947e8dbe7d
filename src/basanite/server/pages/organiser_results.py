"""Releases by level and what stands in the way of one, the report of the campaign, and appeals (M70, P-24)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.actions import appeals, plans, references, releases, two_people
from basanite.campaign.actions.overview import team_names
from basanite.campaign.archive.campaign_report import season_report
from basanite.campaign.model.plan import Window
from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import missing
from basanite.campaign.results import boards
from basanite.campaign.store.tables import Appeal, Submission
from basanite.problems import Problem
from basanite.reports.report import Report, output_for
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_data import words_of
from basanite.server.pages.organiser_frame import BASE, Organiser, name_of, perform
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
RELEASE_ADDRESS = f"{BASE}/release"
LEVELS = {
    "certification": sentence("To each PI, for certification"),
    "top": sentence("Values and ranks, to all teams"),
    "details": sentence("Breakdowns, to all teams"),
    "e2e": sentence("End-to-end values, to all teams"),
    "public": sentence("To the public"),
}


@dataclass(frozen=True)
class LevelLine:
    """One level of a window's results."""

    level: str
    title: str
    at: datetime | None
    """When it was released; None if it is still to come."""
    next: bool
    """Whether what must come before it is out."""


@dataclass(frozen=True)
class WindowCard:
    """One window with its levels."""

    id: str
    title: str
    closes: datetime
    over: bool
    levels: tuple[LevelLine, ...]


@dataclass(frozen=True)
class ReleasePage:
    """All windows."""

    template = "organiser/release.html"
    title: str
    windows: tuple[WindowCard, ...]


@ROUTER.get(RELEASE_ADDRESS)
def list_levels(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = releases.releases(session, row.id)
    out = {one.id: {each.level: each.at for each in found if each.window == one.id} for one in campaign.windows}
    ordered = sorted(campaign.windows, key=lambda one: (one.closes.utc > caller.now, -one.closes.utc.timestamp()))
    cards = tuple(_window_card(one, out[one.id], caller.now) for one in ordered)
    return show(request, caller, ReleasePage(say("Release of results"), cards))


def _window_card(window: Window, out: Mapping[str, datetime], now: datetime) -> WindowCard:
    skipped = {"certification"} if not window.certification else set()
    skipped |= {"e2e"} if "E2E" not in window.tasks else set()
    levels = tuple(_level_line(level, out, window) for level in LEVELS if level not in skipped)
    return WindowCard(window.id, window.title, window.closes.utc, window.closes.utc <= now, levels)


def _level_line(level: str, out: Mapping[str, datetime], window: Window) -> LevelLine:
    before = set(releases.AFTER[level]) | ({"certification"} if window.certification and level == "top" else set())
    return LevelLine(level, str(say(LEVELS[level])), out.get(level), level not in out and before <= set(out))


LEVEL_ADDRESS = f"{BASE}/release/{{window}}/{{level}}"
MOST_LISTED = 100


@dataclass(frozen=True)
class OpenAppeal:
    """An appeal that nobody has decided."""

    number: int
    team: str
    text: str


@dataclass(frozen=True)
class HeldRun:
    """A run that stays hidden because its description lacks required fields."""

    id: str
    team: str
    label: str


@dataclass(frozen=True)
class LevelPage:
    """All that an organiser should know before a release."""

    template = "organiser/level.html"
    title: str
    window: str
    window_title: str
    level: str
    level_title: str
    obstacles: tuple[Problem, ...]
    appeals: tuple[OpenAppeal, ...]
    held: tuple[HeldRun, ...]
    held_count: int
    no_primary: tuple[str, ...]
    unconfirmed: tuple[str, ...]
    effect: datetime | None
    """When it becomes visible, if the plan fixes a later moment."""
    two: bool
    reason: str = ""


@ROUTER.get(LEVEL_ADDRESS)
def level(request: Request, caller: Organiser, window: str, level: str) -> Response:
    """The page."""
    return show(request, caller, _level_page(caller, window, level))


@ROUTER.post(LEVEL_ADDRESS)
def release_level(request: Request, caller: Organiser, form: PostedForm, window: str, level: str) -> Response:
    """Release the level, or ask a second organiser where the campaign says so."""
    reason = form.text("reason")
    given = {"window": window, "level": level, "reason": reason}
    again = lambda: _level_page(caller, window, level, reason)  # noqa: E731 - what was typed stays
    words = say_plain("Released. Everybody concerned gets an email.")
    return perform(request, caller, "release", given, again=again, then="/release", words=words)


def _level_page(caller: Caller, window: str, level: str, reason: str = "") -> LevelPage:
    row, campaign = caller.here
    if level not in LEVELS:
        raise missing("level")
    place = plans.find_window(campaign, window)
    with caller.office.reading() as session:
        ready = releases.readiness(session, caller.office, row.id, window, level)
        known = team_names(session, row.id)
        waiting = [
            OpenAppeal(one.number, known.get(one.team_id, ""), one.text)
            for one in appeals.open_appeals(session, row.id, window)
        ]
        held = [_held_run(session, run, known) for run in ready.held[:MOST_LISTED]]
    effect = releases.takes_effect(place, caller.now)
    return LevelPage(
        say("Release"),
        window,
        place.title,
        level,
        str(say(LEVELS[level])),
        ready.obstacles,
        tuple(waiting)[:MOST_LISTED],
        tuple(held),
        len(ready.held),
        tuple(known.get(team, "") for team in ready.no_primary[:MOST_LISTED]),
        tuple(known.get(team, "") for team in ready.unconfirmed[:MOST_LISTED]) if place.certification else (),
        effect if effect > caller.now else None,
        two_people.needs_two(campaign, "release"),
        reason,
    )


def _held_run(session: Session, run_id: str, known: dict[str, str]) -> HeldRun:
    run = session.get_one(Submission, run_id)
    return HeldRun(run.id, known.get(run.team_id, ""), run.label)


REPORT_ADDRESS = f"{BASE}/report"
Kind = Literal["html", "pptx", "csv", "json"]


@dataclass(frozen=True)
class ReportPage:
    """What the report would hold."""

    template = "organiser/report.html"
    title: str
    sections: tuple[str, ...]
    sentences: tuple[str, ...]
    boards: int


@ROUTER.get(REPORT_ADDRESS)
def report(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        made = season_report(session, caller.office, caller.viewer, row.id)
        count = len(boards.subjects(session, row.id))
    page = ReportPage(say("Report"), tuple(one.title for one in made.sections), made.sentences, count)
    return show(request, caller, page)


@ROUTER.get(f"{REPORT_ADDRESS}/file")
def download_report(
    caller: Organiser, kind: Annotated[Kind, Query()] = "html", public: Annotated[bool, Query()] = False
) -> Response:
    """The report as a file; `public` leaves out what is not released to everybody."""
    row, _ = caller.here
    viewer = VISITOR if public else caller.viewer
    with caller.office.reading() as session:
        made = season_report(session, caller.office, viewer, row.id)
    return as_file(made, f"{row.slug}-{'public-' if public else ''}report.{kind}")


def as_file(made: Report, name: str) -> Response:
    """A report in the form that the name's ending asks for, to be kept: it brings scripts that no page of ours runs."""
    output = output_for(Path(name))
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(output.render(made), media_type=output.media_type, headers=headers)


APPEAL_ADDRESS = f"{BASE}/appeals"
MOST_APPEALS = 200


@dataclass(frozen=True)
class AppealLine:
    """One appeal."""

    number: int
    team: str
    window: str
    run: str
    text: str
    at: datetime
    deadline: datetime
    overdue: bool
    state: str
    decision: str
    decided_by: str


@dataclass(frozen=True)
class AppealsPage:
    """Open appeals, and what was decided."""

    template = "organiser/appeals.html"
    title: str
    open: tuple[AppealLine, ...]
    decided: tuple[AppealLine, ...]
    references: tuple[tuple[str, str], ...]
    """Versions that an appeal may bring into force."""
    number: int = 0
    reason: str = ""


@ROUTER.get(APPEAL_ADDRESS)
def list_appeals(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _appeals_page(caller))


@ROUTER.post(f"{APPEAL_ADDRESS}/{{number}}")
def decide_appeal(request: Request, caller: Organiser, form: PostedForm, number: int) -> Response:
    """Decide an appeal; one that is upheld begins a re-scoring that is previewed like any other."""
    upheld, reason = form.text("decision") == "uphold", form.text("reason")
    given = {"number": number, "upheld": upheld, "reason": reason, "reference": form.text("reference") or None}
    upheld_words = say_plain("The appeal is upheld. A re-scoring is being computed. Review it before you apply it.")
    words = upheld_words if upheld else say_plain("Declined. The PI gets an email with the reason.")
    again, then = partial(_appeals_page, caller, number, reason), "/rescoring" if upheld else "/appeals"
    return perform(request, caller, "appeal decide", given, again=again, then=then, words=words)


def _appeals_page(caller: Caller, number: int = 0, reason: str = "") -> AppealsPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        known = team_names(session, row.id)
        lines = [
            _appeal_line(session, caller, one, known.get(one.team_id, "")) for one in appeals.appeals(session, row.id)
        ]
        choices = [one for one in references.versions(session, row.id) if one.state in ("proposed", "active")]
    waiting = tuple(one for one in lines if one.state == "open")[:MOST_APPEALS]
    decided = tuple(one for one in lines[::-1] if one.state != "open")[:MOST_APPEALS]
    versions = tuple(
        (one.id, str(say("{place}, version {version}", place=words_of(one), version=one.version))) for one in choices
    )
    return AppealsPage(say("Appeals"), waiting, decided, versions, number, reason)


def _appeal_line(session: Session, caller: Caller, one: Appeal, team: str) -> AppealLine:
    return AppealLine(
        one.number,
        team,
        one.window,
        one.submission_id or "",
        one.text,
        one.at,
        one.deadline,
        one.state == "open" and one.deadline <= caller.office.clock(),
        one.state,
        one.decision,
        name_of(session, caller, one.decided_by),
    )
