"""What organizers do, declared once: command, API call, form, confirmation, log entry and help follow from it (P-37).

    @action("window extend", hint='week --to "2018-04-10 24:00 AoE" --reason "a storm"', logs="window.extended")
    def extend(at: At, given: Extension) -> Outcome:
        '''Extend the window NAME; the change is logged, and every team member gets the reason by mail.'''

`given` is a pydantic model; the annotations of its fields say how a command asks for them (`Argument`, `Option`), and
what the API tells of them. `at` is where it happens: transaction, actor, campaign. The roles, second persons and log
entries are those of the functions that an action calls; the door checks the declared role before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Annotated, Any, Final, Literal, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.actions.plans import Plan
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import RefusedError, missing, problem, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import by_mail
from basanite.campaign.store.tables import CampaignRow, Person, Team

NEWEST: Final = "newest"
"""What stands for an id where the last one is meant."""
ORGANIZER: Final = Viewer(roles=frozenset({"evaluation"}))
MODULES: Final = (
    *("calendar", "campaigns", "references", "packs", "people", "teams", "announcements"),
    *("submissions", "rescoring", "releases", "appeals", "approvals", "keys", "annotation", "server"),
)
"""The modules that declare actions."""


@dataclass(frozen=True)
class Argument:
    """A field that a command takes by its place."""

    help: str = ""
    metavar: str = ""
    file: bool = False
    """Whether a command is given the name of a file that holds it."""
    choices: tuple[str, ...] = ()
    """What it may be; the action itself refuses anything else, in words that fit."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """The schema of the field with what it is for."""
        shown: dict[str, Any] = handler(schema)
        told = {"description": self.help, "enum": list(self.choices)}
        return shown | {name: value for name, value in told.items() if value}


@dataclass(frozen=True)
class Option(Argument):
    """A field that a command takes by name: its own, or another that people would rather type."""

    name: str = ""
    """For a choice of two, both joined by a slash: `uphold/refuse`."""
    required: bool = False
    show_default: bool = False
    least: int | None = None
    most: int | None = None
    inverted: bool = False
    """Whether the flag means that the field is false: `no-mail`."""


Reason = Annotated[str, Option("The reason; logged, and shown to the people concerned.")]


class Arguments(BaseModel):
    """What an action is given; other fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class At:
    """Where an action happens: a transaction in the office, who acts, and in which campaign."""

    office: Office
    session: Session
    actor: Actor
    slug: str = ""
    """The campaign that is named; commands may leave it out where there is only one."""
    bound: bool = False
    """Whether the address names the campaign: then nothing of another campaign exists, no matter who asks (P-5)."""

    @property
    def who(self) -> tuple[Session, Office, Actor]:
        """What every act is called with first."""
        return self.session, self.office, self.actor

    @cached_property
    def plan(self) -> Plan:
        """The campaign that is meant: the one named, or the only one there is."""
        if self.slug:
            return plans.current(self.session, self.slug)
        slugs = list(self.session.scalars(select(CampaignRow.slug).order_by(CampaignRow.slug).limit(10)))
        if len(slugs) == 1:
            return plans.current(self.session, slugs[0])
        message = "there are several campaigns" if slugs else "there is no campaign yet"
        hint = (
            "name it: --campaign, one of " + ", ".join(slugs) if slugs else "add one: basanite admin campaign add FILE"
        )
        raise refused("P-7", message, hint, status=404)

    @property
    def campaign_id(self) -> str:
        """The id of the campaign that is meant."""
        return self.plan.row.id

    def check_here(self, campaign_id: str | None, what: str) -> None:
        """Refuse what belongs to another campaign than the address names."""
        if self.bound and campaign_id != self.campaign_id:
            raise missing(what)

    def person(self, mail: str) -> str:
        """The id of the person with a mail address, or with this id."""
        row = by_mail(self.session, self.office, mail) if "@" in mail else self.session.get(Person, mail)
        if row is None and self.bound:
            fix = "check the address, or ask the person to sign up first"
            raise refused("P-34", "there is no account with this email address", fix, status=422)
        if row is None:
            hint = "add them: basanite admin people add"
            raise refused("P-21", "there is no person with this address", hint, status=404)
        return row.id

    def team(self, name: str) -> str:
        """The id of the team of a name, or with this id, in the campaign."""
        question = select(Team.id).where(Team.campaign_id == self.campaign_id, (Team.name == name) | (Team.id == name))
        team = self.session.scalars(question).first()
        if team is None:
            raise missing("team" if self.bound else f"team as {name!r}")
        return team


@dataclass(frozen=True)
class Listing:
    """Rows of a list with the columns that a table shows."""

    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str]
    empty: str


@dataclass(frozen=True)
class Outcome:
    """What came of an action: the same facts for programs, and sentences for a terminal."""

    data: Mapping[str, Any]
    words: tuple[str, ...] = ()
    listing: Listing | None = None
    after: tuple[str, ...] = ()
    """Sentences below the list."""
    hint: str = ""
    """What to type next, for a terminal alone (D-8): ends the last sentence, or stands below after a line break."""
    json: bool = False
    """Whether a terminal, too, shows it as one JSON object."""
    waits: str | None = None
    """The request that waits for a second person; nothing is done before somebody else agrees (X-4)."""


def list_outcome(
    name: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], empty: str, **more: Any
) -> Outcome:
    """The outcome of a list: its rows under a name, and the columns of a table."""
    return Outcome({name: rows, **more}, listing=Listing(rows, columns, empty))


def rows_of(found: Iterable[Any], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Some columns of each thing."""
    return [{name: getattr(one, name) for name in columns} for one in found]


@dataclass(frozen=True)
class Confirmation:
    """What a page asks before it is done, and what it says afterwards."""

    title: str
    words: str
    button: str
    done: str
    safe: bool = False
    """Whether nothing is lost by it."""


Run = Callable[[At, Any], Outcome]
Function = TypeVar("Function", bound=Run)


@dataclass(frozen=True)
class Action:
    """One declared action."""

    name: str
    """As commands are typed: `window extend`."""
    run: Run
    arguments: type[Arguments]
    hint: str = ""
    """An example of its arguments, for a terminal."""
    reads: bool = False
    """Whether it changes nothing."""
    role: Literal["evaluation", "administrator"] = "evaluation"
    """Who may do it through the API: of the campaign, or of the whole server."""
    names_campaign: bool = False
    """Whether its arguments say which campaign it is about, so that a command has no option for that."""
    two: str = ""
    """What it is called where the campaign's file lets it take two people."""
    confirm: Confirmation | None = None
    ask: str = ""
    """What a command asks before; with its arguments in braces."""
    logs: tuple[str, ...] = ()
    """The kinds of events that it writes."""
    programs: bool = True
    """Whether the API offers it."""

    @property
    def slug(self) -> str:
        """Its name in an address."""
        return self.name.replace(" ", "-")

    @property
    def help(self) -> str:
        """What it does: the description of its function."""
        return (self.run.__doc__ or "").strip()

    @property
    def in_campaign(self) -> bool:
        """Whether it belongs to one campaign."""
        return self.role == "evaluation"

    def parse(self, given: Mapping[str, Any]) -> Arguments:
        """The arguments, checked; every one that cannot be used is refused."""
        try:
            return self.arguments(**given)
        except ValidationError as error:
            found = [
                problem("P-37", f"{'.'.join(map(str, one['loc'])) or 'the arguments'}: {one['msg']}", "correct it")
                for one in error.errors()
            ]
            raise RefusedError(found, status=422) from None


ACTIONS: Final[dict[str, Action]] = {}
"""All actions of the modules that are loaded, by name, in the order of their declaration."""


def action(name: str, *, logs: str = "", **facts: Any) -> Callable[[Function], Function]:
    """Declare a function as an action; `facts` are the fields of `Action`."""

    def declare(run: Function) -> Function:
        arguments = get_type_hints(run)["given"]
        ACTIONS[name] = Action(name, run, arguments, logs=tuple(logs.split()), **facts)
        return run

    return declare


@cache
def every_action() -> Mapping[str, Action]:
    """All actions."""
    for module in MODULES:
        import_module(f"basanite.campaign.actions.{module}")
    return ACTIONS


def newest(rows: Sequence[Any], what: str) -> str:
    """The id of the last of some rows; refused if there is none."""
    if not rows:
        raise missing(what)
    return str(rows[-1].id)
