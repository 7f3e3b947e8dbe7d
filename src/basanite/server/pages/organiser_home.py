"""The organisers' desk: what waits for a decision, and how each window stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.actions import releases
from basanite.campaign.actions.overview import Step, Waiting, checklist, count_waiting, runs_by_window
from basanite.campaign.model.windows import is_blind
from basanite.server.catalogue import plural, say, sentence
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_data import words_of
from basanite.server.pages.organiser_frame import BASE, Organiser
from basanite.server.pages.organiser_people import APPROVALS_WORDS
from basanite.server.pages.organiser_results import LEVELS
from basanite.server.pages.times import distance
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ON_ITS_WAY = ("received", "running", "validating", "scoring")
LEVEL_ORDER = {level: place for place, level in enumerate(LEVELS)}
WAITS = (
    (
        "leads",
        sentence("{count} person asks to lead a team"),
        sentence("{count} people ask to lead a team"),
        "people",
    ),
    (
        "approvals",
        sentence("{count} request waits for a second organizer"),
        sentence("{count} requests wait for a second organizer"),
        "approvals",
    ),
    (
        "exceptions",
        sentence("{count} exception waits for a second organizer"),
        sentence("{count} exceptions wait for a second organizer"),
        "people",
    ),
    (
        "copies",
        sentence("{count} agreement to countersign"),
        sentence("{count} agreements to countersign"),
        "packs",
    ),
    ("appeals", sentence("{count} appeal is open"), sentence("{count} appeals are open"), "appeals"),
    (
        "rescorings",
        sentence("{count} re-scoring to review"),
        sentence("{count} re-scorings to review"),
        "rescoring",
    ),
    (
        "questions",
        sentence("{count} question has no answer"),
        sentence("{count} questions have no answer"),
        "questions",
    ),
)
"""What is counted, how it is said of one and of many, and the page where it is decided."""


TASKS = {
    "texts": (
        sentence("Describe the campaign"),
        sentence("The public page has no description yet."),
        "edit/about",
    ),
    "publish": (
        sentence("Publish the campaign"),
        sentence("Only organizers see the draft, so nobody can take part yet."),
        "publish",
    ),
    "window": (
        sentence("Add a window"),
        sentence("No window is open or upcoming, so you cannot submit now."),
        "edit/windows",
    ),
    "reference": (
        sentence("Add the reference for {what}"),
        sentence("Without a reference, submissions cannot be validated or scored."),
        "references",
    ),
    "pack": (
        sentence("Add the files of {what}"),
        sentence("The data pack is empty, so teams have no data to run on."),
        "packs",
    ),
    "team": (
        sentence("Create a team, or allow somebody to create one"),
        sentence("No team has a PI yet, and only team members can submit."),
        "teams",
    ),
    "agreement": (
        sentence("Get “{what}” signed"),
        sentence(
            "There are no executed agreements yet. PIs upload signed copies under Data, and you countersign them here."
        ),
        "packs",
    ),
    "organizer": (
        sentence("Grant the evaluation role to a second person"),
        sentence("Some actions need two people in this campaign, and there is only one organizer."),
        "people",
    ),
}
"""What is to be done for each kind of step, why, and on which page."""


@dataclass(frozen=True)
class Duty:
    """Something that waits for a decision."""

    text: str
    part: str
    """Where it is decided."""


@dataclass(frozen=True)
class Task:
    """Something to set up before teams can submit."""

    text: str
    why: str
    part: str
    """Where it is done."""


@dataclass(frozen=True)
class WindowLine:
    """A window in numbers."""

    id: str
    title: str
    state: str
    """`open`, `coming`, `past`."""
    opens: datetime
    closes: datetime
    blind: bool
    scored: int
    invalid: int
    failed: int
    busy: int
    released: str
    """The last level that is out, in words."""


@dataclass(frozen=True)
class HomePage:
    """What waits, and all windows."""

    template = "organiser/home.html"
    title: str
    duties: tuple[Duty, ...]
    windows: tuple[WindowLine, ...]
    version: int
    two_people: tuple[str, ...]
    to_do: tuple[Task, ...] = ()
    """What is left to set up."""
    set_up: int = 0
    """How many steps are done."""


@ROUTER.get(BASE)
def home(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        found, runs = count_waiting(session, row.id), runs_by_window(session, row.id)
        out = releases.releases(session, row.id)
        steps = checklist(session, row.id, campaign, caller.now)
    released = {one.window: str(say(LEVELS[one.level])) for one in sorted(out, key=lambda one: LEVEL_ORDER[one.level])}
    page = HomePage(
        say("Dashboard"),
        tuple(duties(found)),
        tuple(_windows(caller, runs, released)),
        caller.plan_version,
        tuple(str(say(APPROVALS_WORDS[act])) for act in sorted(campaign.two_people) if act in APPROVALS_WORDS),
        tuple(task_of(one, caller.now) for one in steps if not one.done),
        sum(one.done for one in steps),
    )
    return show(request, caller, page)


def duties(found: Waiting) -> Iterator[Duty]:
    """What waits in words, each with the page where it is decided."""
    for name, one, many, part in WAITS:
        count: int = getattr(found, name)
        if count:
            yield Duty(plural(count, one, many), part)


def task_of(step: Step, now: datetime) -> Task:
    """A step in words: what to do, why, and where."""
    if step.proposed:
        why = say("This needs the approval of another organizer.")
        return Task(say("Approve the reference for {what}", what=_subject(step)), why, "approvals")
    text, reason, part = TASKS[step.kind]
    return Task(say(text, what=_subject(step)), _why(step, reason, now), part)


def _subject(step: Step) -> str:
    return step.what if isinstance(step.what, str) else words_of(step.what)


def _why(step: Step, why: str, now: datetime) -> str:
    if step.window is None:
        return say(why)
    if step.window.opens.utc <= now:
        return say("“{window}” is open.", window=step.window.title) + " " + say(why)
    opens = say("“{window}” opens {when}.", window=step.window.title, when=distance(step.window.opens.utc - now))
    return opens + " " + say(why)


def _windows(
    caller: Caller, runs: Mapping[str, Mapping[str, int]], released: Mapping[str, str]
) -> Iterator[WindowLine]:
    _, campaign = caller.here
    for one in campaign.windows:
        states = runs.get(one.id, {})
        yield WindowLine(
            one.id,
            one.title,
            "coming" if caller.now < one.opens.utc else "open" if caller.now < one.closes.utc else "past",
            one.opens.utc,
            one.closes.utc,
            is_blind(one),
            states.get("scored", 0),
            states.get("invalid", 0),
            states.get("failed", 0),
            sum(states.get(name, 0) for name in ON_ITS_WAY),
            released.get(one.id, ""),
        )
