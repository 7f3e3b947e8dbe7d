"""What the commands of an organiser share: their office, who acts, and how answers and refusals are shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from basanite import canonical
from basanite.cli.office import data_option, open_office
from basanite.cli.options import as_json, gather_options, problem_line, say
from basanite.errors import BasaniteError, InvalidInputError
from basanite.problems import Problem, visible
from basanite.reports.wording import moment

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from basanite.campaign.actions.plans import Plan
    from basanite.campaign.actions.registry import At
    from basanite.campaign.office import Actor, Office

NEWEST = "newest"
"""What stands for an id where the last one is meant."""
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Desk:
    """An office, a transaction in it, and who acts."""

    office: Office
    session: Session
    actor: Actor

    def at(self, slug: str) -> At:
        """Where an action happens, in the campaign of this slug; it may be empty where there is one only."""
        from basanite.campaign.actions.registry import At

        return At(self.office, self.session, self.actor, slug)

    def plan(self, slug: str) -> Plan:
        """The campaign of a slug, as it stands."""
        return self.at(slug).plan

    def person(self, mail: str) -> str:
        """The id of the person with a mail address, or with this id."""
        return self.at("").person(mail)

    def team(self, campaign_id: str, name: str) -> str:
        """The id of the team of a name in a campaign."""
        return self.at(campaign_id).team(name)


@dataclass(frozen=True)
class AdminOptions:
    """What every command of an organiser takes: in which office, as whom, and how to print."""

    data: Path | None
    mail: str | None
    as_json: bool


def admin_options(command: Command) -> Command:
    """Add what every command of an organiser takes; the command gets it as one argument `admin`."""
    who = "Act as the person with this email address; without it the log says `command`."
    whole = gather_options(AdminOptions, "admin")(command)
    return as_json(data_option(click.option("--as", "mail", metavar="MAIL", help=who)(whole)))


def campaign_option(command: Command) -> Command:
    """Add `--campaign`, which may be left out where there is one only."""
    text = "The slug of the campaign; may be left out if there is one only."
    return click.option("--campaign", default="", metavar="SLUG", help=text)(command)


def reason_option(command: Command) -> Command:
    """Add `--reason`, which those concerned will read."""
    return click.option("--reason", default="", help="The reason; logged, and shown to the people concerned.")(command)


@contextmanager
def at_desk(admin: AdminOptions) -> Iterator[Desk]:
    """A transaction in the office: all of it is kept, or nothing; a refusal ends with its problems and exit code 1."""
    with refusals(json=admin.as_json), open_office(admin.data) as office, office.writing() as session:
        yield Desk(office, session, _actor(session, office, admin.mail))


@contextmanager
def refusals(*, json: bool) -> Iterator[None]:
    """Show what was refused, with rules and cures, and end with exit code 1."""
    try:
        yield
    except InvalidInputError as invalid:
        _refuse(invalid.findings.problems, json=json)
    except BasaniteError as error:
        problems = getattr(error, "problems", None)
        if problems is None:
            raise
        _refuse(problems, json=json)


def _refuse(problems: Iterable[Problem], *, json: bool) -> None:
    listed = list(problems)
    if json:
        sys.stdout.write(canonical.dumps({"done": False, "problems": [problem.as_dict() for problem in listed]}))
    for problem in [] if json else listed:
        where = f"line {problem.line}: " if problem.line else ""
        said = f"{where}{problem.message} [{problem.rule}]. Fix: {problem.fix}"
        say(problem_line(problem) if problem.file else said)
    raise click.exceptions.Exit(1)


def the_campaign(desk: Desk, slug: str) -> Plan:
    """The campaign that is meant: the one named, or the only one there is."""
    return desk.at(slug).plan


def _actor(session: Session, office: Office, mail: str | None) -> Actor:
    from basanite.campaign.actions.registry import At
    from basanite.campaign.office import COMMAND, Actor

    return COMMAND if mail is None else Actor(At(office, session, COMMAND).person(mail), COMMAND.door)


def newest(rows: Sequence[Any], what: str) -> str:
    """The id of the last of some rows; refused if there is none."""
    from basanite.campaign.actions.registry import newest as last_of

    return last_of(rows, what)


def show(data: Mapping[str, Any], words: Iterable[str], *, json: bool) -> None:
    """Print an answer: one JSON object, or words; no stranger's text can hide or act in them (X-14)."""
    if json:
        sys.stdout.write(canonical.dumps(plain(data)))
        return
    for line in words:
        click.echo(visible(line))


def plain(value: Any) -> Any:
    """Any answer in the types of JSON; moments as text in UTC."""
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    return value


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, empty: str) -> list[str]:
    """Rows as lines with aligned columns.

    >>> table([{"id": "dev", "left": 3}], ["id", "left"], empty="none")
    ['id   left', 'dev  3']
    """
    if not rows:
        return [empty]
    cells = [list(columns), *([_cell(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cell(value: Any) -> str:
    if value is None or isinstance(value, datetime):
        return moment(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else visible(str(value))
