"""A campaign at a glance and its calendar: what is open, what is left, what comes next, and what waits for me."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import appeals, references
from basanite.campaign.actions.calendar import Standing, milestones
from basanite.campaign.intake import charges
from basanite.campaign.intake.standings import missing_primaries
from basanite.campaign.model import windows
from basanite.campaign.model.calendar import Allowance
from basanite.campaign.model.exposure import attempts_in
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.programs import rounded_megabytes, rounded_minutes
from basanite.campaign.people import teams
from basanite.campaign.people.agreements import unaccepted_rules
from basanite.campaign.people.resources import resources
from basanite.campaign.results import visibility
from basanite.campaign.results.views import SeenSubmission
from basanite.campaign.store.tables import Announcement, Team
from basanite.server.catalogue import plural, say, sentence
from basanite.server.pages.campaign_face import Face, face_of
from basanite.server.pages.frame import show
from basanite.server.roles import Caller, allow

FEEDBACK = {
    "full": sentence("Full feedback: all values and breakdowns."),
    "limited": sentence("Limited feedback: a few rounded values."),
    "none": sentence("Scores stay hidden until results are released."),
}
PERIODS = {
    "week": sentence("{count} per week"),
    "day": sentence("{count} per day"),
    "total": sentence("{count} in total"),
}


@dataclass(frozen=True)
class Slot:
    """One thing that the reader's team may submit now, and how often."""

    window: str
    window_title: str
    task: str
    language: str
    track: str
    dataset: str
    queryset: str
    left: int
    count: int
    left_primary: int
    left_contrastive: int
    resets: datetime | None
    closes: datetime
    blind: bool
    ready: bool = True
    """Whether there is a reference to check and score it with."""
    shown_language: str = ""
    program: str = ""
    """What a program may use, where programs are taken in place of answers (G-3)."""

    @property
    def what(self) -> str:
        """Task, language and track in one line; a campaign with one language does not name it."""
        return " · ".join(part for part in (self.task, self.shown_language, self.track) if part)

    @property
    def value(self) -> str:
        """What a form says to mean this slot."""
        return "|".join((self.window, self.task, self.language, self.track))


@dataclass(frozen=True)
class Row:
    """One row of the calendar in words."""

    id: str
    title: str
    event: str
    state: Literal["past", "open", "coming"]
    opens: datetime
    closes: datetime
    tasks: tuple[str, ...]
    dataset: str
    languages: tuple[str, ...]
    feedback: str
    quota: str
    blind: bool
    program: str = ""
    """What a program may use, where programs are taken in place of answers (G-3)."""


def slots(session: Session, caller: Caller) -> tuple[Slot, ...]:
    """What the caller's team may submit now; nothing for who is in none."""
    _, campaign = caller.here
    if caller.viewer.team is None:
        return ()
    found = charges.allowances(session, caller.office, campaign, caller.viewer.team)
    active = references.active_places(session, caller.here[0].id)
    return tuple(_slot(campaign, one, active) for one in found)


def rows(campaign: Campaign, now: datetime) -> tuple[Row, ...]:
    """The calendar in the order of time."""
    ordered = sorted(campaign.windows, key=lambda window: (window.opens.utc, window.closes.utc, window.id))
    return tuple(row_of(campaign, window, now) for window in ordered)


def row_of(campaign: Campaign, window: Window, now: datetime) -> Row:
    """One window in words."""
    state: Literal["past", "open", "coming"] = "coming" if now < window.opens.utc else "past"
    words = say(PERIODS[window.quota.period], count=f"{window.quota.count:,}")
    kinds = [plural(most, "{count} {kind}", "{count} {kind}", kind=kind) for kind, most in window.quota.types.items()]
    return Row(
        window.id,
        window.title,
        window.event,
        "open" if windows.is_open(window, now) else state,
        window.opens.utc,
        window.closes.utc,
        window.tasks,
        " + ".join(window.dataset),
        windows.languages(campaign, window),
        feedback_words(campaign, window),
        say("{words}, including at most {kinds}", words=words, kinds=", ".join(kinds)) if kinds else words,
        windows.is_blind(window),
        program_words(window),
    )


PROGRAMS: Final = {
    "files": sentence("Takes programs: an archive with an executable file “run”."),
    "pipe": sentence("Takes programs that answer line by line: an archive with an executable file “run”."),
    "endpoint": sentence("Takes the address of a system that answers by https: a JSON file."),
}


def program_words(window: Window) -> str:
    """What a window says to teams about programs; nothing where it takes answers."""
    programs = window.programs
    if programs is None:
        return ""
    minutes = say(
        "Per answer at most {seconds} s; {compute} min of computing time per team.",
        seconds=round(programs.item_time.total_seconds()),
        compute=rounded_minutes(programs.compute.total_seconds()),
    )
    if programs.mode == "endpoint":
        return f"{say(PROGRAMS[programs.mode])} {minutes}"
    limits = say(
        "Each call has {cores}, {memory} MB of memory and no network.",
        cores=plural(programs.cores, "{count} core", "{count} cores"),
        memory=rounded_megabytes(programs.memory),
    )
    return f"{say(PROGRAMS[programs.mode])} {limits} {minutes}"


def feedback_words(campaign: Campaign, window: Window) -> str:
    """What teams get to see in a window, and from when on only the ladder (X-23)."""
    words = say(FEEDBACK[window.feedback])
    looks = window.looks if window.looks is not None else None if window.ladder is None else 0
    if windows.is_blind(window) or looks is None or attempts_in(campaign, window) <= looks:
        return words
    after = plural(
        looks,
        "{words} After {count} result, your value changes only when an improvement is significant.",
        "{words} After {count} results, your value changes only when an improvement is significant.",
        words=words,
    )
    return after if looks else say("Your value changes only when an improvement is significant.")


def _slot(campaign: Campaign, one: Allowance, active: Set[references.Place]) -> Slot:
    window = one.window
    queries = one.task not in windows.TASKS_WITHOUT_QUERIES and bool(window.querysets)
    queryset = windows.queryset_name(campaign, window) if queries else ""
    return Slot(
        window.id,
        window.title,
        one.task,
        one.language,
        one.track,
        " + ".join(window.dataset),
        queryset,
        one.left,
        one.balance.count,
        one.left_of("primary"),
        one.left_of("contrastive"),
        one.resets,
        window.closes.utc,
        windows.is_blind(window),
        references.Place(one.task, "+".join(window.dataset), one.language, queryset) in active,
        windows.shown_language(campaign, one.language),
        program_words(window),
    )


ROUTER = APIRouter(include_in_schema=False)
NEWEST = 5


@dataclass(frozen=True)
class Duty:
    """Something that waits for the reader."""

    text: str
    address: str
    until: datetime | None = None


@dataclass(frozen=True)
class HomePage:
    """Everything on the first page of a campaign."""

    template = "campaign/home.html"
    title: str
    open: tuple[Row, ...]
    coming: tuple[Row, ...]
    slots: tuple[Slot, ...]
    duties: tuple[Duty, ...]
    newest: tuple[SeenSubmission, ...]
    team: str
    face: Face
    """What the campaign is about."""
    news_title: str = ""
    news_at: datetime | None = None


@ROUTER.get("/campaigns/{slug}")
def show_campaign(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        team = session.get(Team, caller.viewer.team) if caller.viewer.team else None
        news = session.scalars(
            select(Announcement)
            .where(Announcement.campaign_id == row.id, Announcement.audience == "everybody")
            .order_by(Announcement.at.desc())
            .limit(1)
        ).first()
        page = HomePage(
            campaign.title,
            tuple(row_of(campaign, window, caller.now) for window in windows.open_windows(campaign, caller.now)),
            tuple(row_of(campaign, window, caller.now) for window in windows.upcoming(campaign, caller.now, 3)),
            slots(session, caller),
            tuple(_duties(session, caller)),
            _newest(session, caller),
            team.name if team else "",
            face_of(session, caller),
            news.title if news else "",
            news.at if news else None,
        )
    return show(request, caller, page)


def _newest(session: Session, caller: Caller) -> tuple[SeenSubmission, ...]:
    if caller.viewer.team is None:
        return ()
    return visibility.submissions(
        session, caller.office, caller.viewer, caller.here[0].id, visibility.SubmissionFilter(limit=NEWEST)
    )


def _duties(session: Session, caller: Caller) -> Iterator[Duty]:
    row, _ = caller.here
    base, person = f"/campaigns/{row.slug}", caller.viewer.person
    if person is None:
        return
    takes_part = caller.viewer.team is not None or caller.may_join(session)
    if takes_part and unaccepted_rules(session, row.id, person):
        yield Duty(say("Accept the rules before you download or submit."), f"{base}/packs")
    if caller.may_join(session):
        yield from _joining(session, row.id, person, f"{base}/team")
    if caller.viewer.team is not None:
        yield from _without_primary(session, caller, base)
        yield from _unshared_resources(session, caller, base)
    if caller.viewer.pi:
        yield from _certifications(session, caller, base)


def _joining(session: Session, campaign_id: str, person: str, address: str) -> Iterator[Duty]:
    """The way into a team, unless it is somebody else's turn to decide."""
    lead = teams.lead_state(session, campaign_id, person)
    if lead == "granted":
        yield Duty(say("The organizers agreed that you lead a team. Create it:"), address)
    elif lead != "asked" and not teams.asked_team(session, campaign_id, person):
        yield Duty(say("Join a team, or ask to lead one."), address)


def _without_primary(session: Session, caller: Caller, base: str) -> Iterator[Duty]:
    """The warning of C46, while something can be done about it."""
    for one in missing_primaries(session, caller.here[0].id, caller.team, caller.now):
        named = {"window": one.window.title, "what": ", ".join(one.what)}
        text = say("Your team has no primary run in {window} ({what}). Make one of your runs primary.", **named)
        yield Duty(text, f"{base}/submissions?window={quote(one.window.id)}", one.window.closes.utc)


def _unshared_resources(session: Session, caller: Caller, base: str) -> Iterator[Duty]:
    """Resources that the team should have shared by now (M93)."""
    late = [one for one in resources(session, caller.here[0].id, caller.now, team_id=caller.team) if one.overdue]
    for one in late:
        yield Duty(
            say("Share a resource of your team: {what}", what=one.description[:80]), f"{base}/resources#r-{one.id}"
        )


def _certifications(session: Session, caller: Caller, base: str) -> Iterator[Duty]:
    row, campaign = caller.here
    for window in campaign.windows:
        ends = appeals.certification_ends(session, row.id, window.id) if window.certification else None
        if (
            ends is None
            or caller.now >= ends
            or caller.viewer.team in appeals.certification_times(session, row.id, window.id)
        ):
            continue
        text = say("Review your results of {window}, and certify or appeal.", window=window.title)
        yield Duty(text, f"{base}/certification/{window.id}", ends)


@dataclass(frozen=True)
class Stone:
    """A milestone in words."""

    title: str
    at: datetime
    ends: datetime | None
    owner: str
    deliverable: str
    state: str
    note: str


@dataclass(frozen=True)
class CalendarPage:
    """Slots of the own team, windows and milestones."""

    template = "campaign/calendar.html"
    title: str
    slots: tuple[Slot, ...]
    open: tuple[Row, ...]
    coming: tuple[Row, ...]
    past: tuple[Row, ...]
    stones: tuple[Stone, ...]
    feed: str
    member: bool


@ROUTER.get("/campaigns/{slug}/calendar")
def show_calendar(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        mine, stones = slots(session, caller), milestones(session, row.id)
    listed = rows(campaign, caller.now)
    by_state = {state: tuple(one for one in listed if one.state == state) for state in ("open", "coming", "past")}
    page = CalendarPage(
        say("Calendar"),
        mine,
        by_state["open"],
        by_state["coming"],
        by_state["past"][::-1],
        tuple(map(_stone, stones)),
        f"/api/v1/campaigns/{row.slug}/calendar.ics",
        caller.viewer.team is not None,
    )
    return show(request, caller, page)


def _stone(standing: Standing) -> Stone:
    one = standing.milestone
    ends = one.ends.utc if one.ends else None
    return Stone(one.title, one.at.utc, ends, one.owner, one.deliverable, standing.state, standing.note)
