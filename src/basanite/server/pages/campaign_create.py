"""The first administrator by a link that the server prints, and new campaigns from templates (P-35)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite import registry
from basanite.campaign.actions.registry import At, every_action
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.model.starters import STARTERS
from basanite.errors import InvalidInputError
from basanite.server.accounts import authentication, first_administrator, registration
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.guard import count_try
from basanite.server.pages import frame, times
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_frame import refusal
from basanite.server.pages.sign_in import let_in
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
NEW_ADDRESS = "/new-campaign"
WORDS = {
    "shared-task": (
        sentence("Shared task"),
        sentence("Development data with full feedback, then one blind evaluation week"),
    ),
    "blind": (sentence("Blind evaluation"), sentence("One window; scores stay hidden until you release them")),
    "leaderboard": (
        sentence("Leaderboard without end"),
        sentence("Always open, with limited feedback on sealed test data; the best run of each team counts"),
    ),
    "judged": (sentence("Judged evaluation"), sentence("Blind submissions that people judge in panels")),
    "annotation": (
        sentence("Annotation"),
        sentence("People annotate texts first; systems are then scored on what they annotated"),
    ),
    "reading": (
        sentence("Reading"),
        sentence("Questions about texts, answered by systems with limited feedback"),
    ),
}
"""What each template is called, and what it is for."""


@dataclass(frozen=True)
class SetupPage:
    """The form of the first administrator."""

    template = "account/setup.html"
    title: str
    secret: str = field(repr=False)
    name: str = ""
    mail: str = ""
    shortest: int = authentication.SHORTEST_PASSWORD


@ROUTER.get("/setup/{secret}")
def show_setup(request: Request, caller: Annotated[Caller, allow("visitor")], secret: str) -> Response:
    """The form, if the link still works."""
    with caller.office.reading() as session:
        first_administrator.check_link(session, caller.office, secret)
    return show(request, caller, SetupPage(say("Set up this server"), secret))


@ROUTER.post("/setup/{secret}")
def set_up(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm, secret: str) -> Response:
    """Create the administrator's account, sign in, and go on to the second factor."""
    count_try(request, "setup")
    name, mail = form.text("name"), form.text("mail")
    zone = request.cookies.get(frame.ZONE_COOKIE, "UTC")
    newcomer = registration.SignUp(name, mail, form.raw("password"), zone)
    try:
        with caller.office.writing() as session:
            person = first_administrator.make(session, caller.office, secret, newcomer)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, SetupPage(say("Set up this server"), secret, name, mail), error)
    return let_in(request, caller, person, f"/account/second-factor?then={NEW_ADDRESS}")


@dataclass(frozen=True)
class Offer:
    """One template to start from."""

    name: str
    title: str
    words: str


@dataclass(frozen=True)
class NewCampaignPage:
    """The form of a new campaign."""

    template = "account/new_campaign.html"
    title: str
    offers: tuple[Offer, ...]
    tasks: tuple[tuple[str, str], ...]
    zones: tuple[str, ...]
    values: dict[str, str]
    """What was typed, by field."""


@ROUTER.get(NEW_ADDRESS)
def show_new_campaign(request: Request, caller: Annotated[Caller, allow("administrator")]) -> Response:
    """The form, with dates from now on."""
    zone = frame.clocks_of(request, caller).viewer
    now = caller.office.clock().astimezone(times.zone(zone)).replace(minute=0, second=0)
    values = {
        "template": "shared-task",
        "zone": zone,
        "opens": f"{now:%Y-%m-%dT%H:%M}",
        "closes": f"{now + timedelta(days=28):%Y-%m-%dT%H:%M}",
    }
    return show(request, caller, _page(values))


@ROUTER.post(NEW_ADDRESS)
def create_campaign(request: Request, caller: Annotated[Caller, allow("administrator")], form: PostedForm) -> Response:
    """Make a draft from the template, and go on to its checklist."""
    action = every_action()["campaign create"]
    try:
        with caller.office.writing() as session:
            at = At(caller.office, session, caller.actor)
            slug = action.run(at, action.parse(_given_fields(form))).data["slug"]
    except InvalidInputError as error:
        return refuse(request, caller, _page(_typed_fields(form)), refusal(error))
    except RefusedError as error:
        return refuse(request, caller, _page(_typed_fields(form)), error)
    words = say_plain("The draft is ready. Only organizers see it until you publish it.")
    return go(caller, f"/campaigns/{slug}/organise", words)


FIELDS = ("template", "title", "slug", "task", "opens", "closes", "zone", "description")


def _typed_fields(form: Form) -> dict[str, str]:
    return {name: form.text(name) for name in FIELDS}


def _given_fields(form: Form) -> dict[str, str]:
    typed = _typed_fields(form)
    return typed | {name: typed[name].replace("T", " ") for name in ("opens", "closes")}


def _page(values: dict[str, str]) -> NewCampaignPage:
    offers = tuple(Offer(name, *map(say, WORDS[name])) for name in STARTERS)
    tasks = tuple((name, name) for name in sorted(registry.names("tasks")))
    blank = dict.fromkeys(FIELDS, "")
    return NewCampaignPage(say("New campaign"), offers, tasks, tuple(times.zones()), blank | values)
