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

from basanite.cli.operating.office import data_option, opened
from basanite.cli.options import as_json, problem_line, say
from basanite.errors import BasaniteError, InvalidInputError
from basanite.problems import Problem, visible
from basanite.reports.formats import json_output

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from basanite.campaign.office import Actor, Office
    from basanite.campaign.organising.plans import Plan

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Desk:
    """An office, a transaction in it, and who acts."""

    office: Office
    session: Session
    actor: Actor

    def plan(self, slug: str) -> Plan:
        """The campaign of a slug, as it stands."""
        from basanite.campaign.organising import plans

        return plans.current(self.session, slug)

    def person(self, mail: str) -> str:
        """The id of the person with a mail address, or with this id."""
        return person_of(self.session, self.office, mail)

    def team(self, campaign_id: str, name: str) -> str:
        """The id of the team of a name in a campaign."""
        from sqlalchemy import select

        from basanite.campaign.model.refusals import missing
        from basanite.campaign.store.tables import Team

        found = select(Team.id).where(Team.campaign_id == campaign_id, (Team.name == name) | (Team.id == name))
        team = self.session.scalars(found).first()
        if team is None:
            raise missing(f"team as {name!r}")
        return team


def admin_options(command: Command) -> Command:
    """Add what every command of an organiser takes: where, who, and how to print."""
    who = "Act as the person with this mail address; without it the log says `command`."
    return as_json(data_option(click.option("--as", "mail", metavar="MAIL", help=who)(command)))


def campaign_option(command: Command) -> Command:
    """Add `--campaign`, which may be left out where there is one only."""
    text = "The slug of the campaign; may be left out if there is one only."
    return click.option("--campaign", default="", metavar="SLUG", help=text)(command)


def reason_option(command: Command) -> Command:
    """Add `--reason`, which those concerned will read."""
    return click.option("--reason", default="", help="Why: logged, and told to those concerned.")(command)


@contextmanager
def at_desk(data: Path | None, mail: str | None, *, json: bool = False) -> Iterator[Desk]:
    """A transaction in the office: all of it is kept, or nothing; a refusal ends with its problems and exit code 1."""
    with refusals(json=json), opened(data) as office, office.writing() as session:
        yield Desk(office, session, _actor(session, office, mail))


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
        sys.stdout.write(json_output.dumps({"done": False, "problems": [problem.as_dict() for problem in listed]}))
    for problem in [] if json else listed:
        say(problem_line(problem) if problem.file else f"{problem.message} ({problem.rule}). To do: {problem.fix}")
    raise click.exceptions.Exit(1)


def the_campaign(desk: Desk, slug: str) -> Plan:
    """The campaign that is meant: the one named, or the only one there is."""
    from sqlalchemy import select

    from basanite.campaign.model.refusals import refused
    from basanite.campaign.store.tables import CampaignRow

    if slug:
        return desk.plan(slug)
    slugs = list(desk.session.scalars(select(CampaignRow.slug).order_by(CampaignRow.slug).limit(10)))
    if len(slugs) == 1:
        return desk.plan(slugs[0])
    fix = f"name it: --campaign, one of {', '.join(slugs)}" if slugs else "add one: basanite admin campaign add FILE"
    raise refused("P-7", "there are several campaigns" if slugs else "there is no campaign yet", fix, status=404)


def _actor(session: Session, office: Office, mail: str | None) -> Actor:
    from basanite.campaign.office import COMMAND, Actor

    return COMMAND if mail is None else Actor(person_of(session, office, mail), COMMAND.door)


def person_of(session: Session, office: Office, mail: str) -> str:
    """The id of the person with this mail address, or with this id."""
    from basanite.campaign.model.refusals import refused
    from basanite.campaign.people.persons import by_mail
    from basanite.campaign.store.tables import Person

    person = by_mail(session, office, mail) if "@" in mail else session.get(Person, mail)
    if person is None:
        raise refused("P-21", "there is no person with this address", "add them: basanite admin people add", status=404)
    return person.id


def show(data: Mapping[str, Any], words: Iterable[str], *, json: bool) -> None:
    """Print an answer: one JSON object, or words; no stranger's text can hide or act in them (X-14)."""
    if json:
        sys.stdout.write(json_output.dumps(plain(data)))
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


def moment(value: datetime | None) -> str:
    """A moment as people read it.

    >>> from datetime import UTC
    >>> moment(datetime(2018, 5, 19, 4, tzinfo=UTC)), moment(None)
    ('2018-05-19 04:00 UTC', '-')
    """
    return "-" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


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
