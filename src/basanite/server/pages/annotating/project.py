"""One annotation project for its organisers: who has which texts, how far they are, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.annotation.exchange.formats import format_named
from basanite.campaign.annotating import assigning, looking, setting_up, sharing
from basanite.campaign.annotating.finding import configs, documents, project_named
from basanite.campaign.annotating.looking import Progress, TextProgress
from basanite.campaign.model.refusals import refused
from basanite.campaign.organising.references import Place
from basanite.campaign.people.roles import holders
from basanite.server.catalogue import said
from basanite.server.pages.annotating.projects import ADDRESS
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import Organiser, at, done, name_of, person_with
from basanite.server.pages.organiser.plan.references import places, words_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
PROJECT = f"{ADDRESS}/{{project}}"
SHOWN = 500
"""Texts that are listed."""
MOST_PEOPLE = 100
TITLES = {
    "turtle": "RDF: Turtle",
    "rdfxml": "RDF/XML",
    "jsonld": "RDF: JSON-LD",
    "nquads": "RDF: N-Quads",
    "annotations": "annotations.ndjson",
    "pairs": said("pairs of assertion and text"),
    "records": said("records with all events"),
}
FORMATS = tuple((name, TITLES.get(name) or format_named(name).title) for name in sharing.ALL)


@dataclass(frozen=True)
class PersonLine:
    """One person's share of the work."""

    name: str
    role: str
    waiting: int
    working: int
    done: int
    minutes: float


@dataclass(frozen=True)
class VersionLine:
    """One version of the configuration."""

    version: int
    made: datetime
    by: str
    reason: str
    changes: tuple[str, ...]


@dataclass(frozen=True)
class ProjectPage:
    """A project as its organisers see it."""

    title: str
    id: str
    name: str
    state: str
    per_document: int
    tasks: int
    done: int
    adjudicated: int
    people: tuple[PersonLine, ...]
    texts: tuple[TextProgress, ...]
    total: int
    versions: tuple[VersionLine, ...]
    parts: tuple[tuple[str, str], ...]
    adjudicators: tuple[str, ...] = ()
    people_given: str = ""
    formats: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    """What a version of the truth can be for."""


@ROUTER.get(PROJECT)
def look(request: Request, caller: Organiser, project: str) -> Response:
    """The page."""
    return show(request, caller, asked(caller, project))


@ROUTER.post(f"{PROJECT}/assign")
def assign(request: Request, caller: Organiser, project: str, form: Filled) -> Response:
    """Give texts to people, named by their mail addresses; what they have already counts."""

    def act(session: Session) -> object:
        found = project_named(session, caller.here[0].id, project)
        persons = [person_with(session, caller, mail) for mail in _mails(form.text("people"))]
        wanted = form.text("per_document")
        number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 3 else None
        who = (session, caller.office, caller.actor, found.id)
        return assigning.assign(*who, persons, part=form.text("part") or None, per_document=number)

    return _done(request, caller, project, act, said("The texts are given out."), form.text("people"))


@ROUTER.post(f"{PROJECT}/adjudicators")
def adjudicator(request: Request, caller: Organiser, project: str, form: Filled) -> Response:
    """Let somebody adjudicate in this campaign."""

    def act(session: Session) -> None:
        project_named(session, caller.here[0].id, project)
        person = person_with(session, caller, form.text("mail"))
        assigning.enrol(session, caller.office, caller.actor, caller.here[0].id, person, "adjudicator")

    return _done(request, caller, project, act, said("This person may adjudicate now."))


@ROUTER.post(f"{PROJECT}/state")
def state(request: Request, caller: Organiser, project: str, form: Filled) -> Response:
    """Close the project, or open it again."""
    act_on = setting_up.close_project if form.text("state") == "closed" else setting_up.open_project

    def act(session: Session) -> object:
        found = project_named(session, caller.here[0].id, project)
        return act_on(session, caller.office, caller.actor, found.id, reason=form.text("reason"))

    return _done(request, caller, project, act, said("Done."))


def _mails(text: str) -> list[str]:
    found = list(dict.fromkeys(text.replace(",", " ").replace(";", " ").split()))
    if not found or len(found) > MOST_PEOPLE:
        raise refused("R-15", said("nobody is named"), said("write mail addresses, one in a line"), status=422)
    return found


def _done(
    request: Request, caller: Caller, project: str, act: Callable[[Session], object], words: str, given: str = ""
) -> Response:
    again = lambda: asked(caller, project, given)  # noqa: E731
    return done(request, caller, act, again, at(caller, f"/annotation/{project}"), words)


def asked(caller: Caller, name: str, given: str = "") -> ProjectPage:
    """The project of an id or a name, if it is one of this campaign."""
    campaign = caller.here[0].id
    with caller.office.reading() as session:
        project = project_named(session, campaign, name)
        told = looking.progress(session, caller.office, caller.actor, project.id)
        versions = tuple(
            VersionLine(one.version, one.made, name_of(session, caller, one.by), one.reason, tuple(map(str, one.diff)))
            for one in reversed(configs(session, project.id))
        )
        parts = sorted({one.part for one in documents(session, project.id)})
        judges = tuple(name_of(session, caller, one) for one in holders(session, campaign, ("adjudicator",)))
        people = _people(session, caller, told)
    return ProjectPage(
        project.title or project.name,
        project.id,
        project.name,
        project.state,
        project.per_document,
        told.tasks,
        told.done,
        told.adjudicated,
        people,
        told.texts[:SHOWN],
        len(told.texts),
        versions,
        (("", said("all parts")), *((part, part) for part in parts)),
        judges,
        given,
        FORMATS,
        tuple((key, words_of(place)) for key, place in reading_places(caller).items()),
    )


def reading_places(caller: Caller) -> dict[str, Place]:
    """The places of this campaign's plan that a reading package can be the reference of."""
    return {key: place for key, place in places(caller.here[1]).items() if place.task.lower() == "reading"}


def _people(session: Session, caller: Caller, told: Progress) -> tuple[PersonLine, ...]:
    return tuple(
        PersonLine(
            name_of(session, caller, one.person_id), one.role, one.waiting, one.working, one.done, round(one.minutes, 1)
        )
        for one in told.people
    )
