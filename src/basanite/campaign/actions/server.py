"""What operators look at: state, jobs, storage, users, backups, settings in effect and the log of the server (P-44).

All of it only reads. Secrets are never part of an answer: of a setting that holds one it is said whether it is set.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel
from sqlalchemy import String, cast, func, or_, select, text

from basanite import __version__
from basanite.campaign.actions.registry import Arguments, At, Option, Outcome, action, list_outcome, rows_of
from basanite.campaign.archive.backup_record import past_backups
from basanite.campaign.people import roles
from basanite.campaign.people.persons import personal
from basanite.campaign.store import schema
from basanite.campaign.store.tables import (
    Account,
    CampaignRow,
    Event,
    Message,
    PackFile,
    Person,
    Session,
    Submission,
    Team,
    Worker,
)

MOST: Final = 200
"""So many rows a list has."""
RUNNING: Final = ("received", "validating", "accepted", "scoring")
SECRET_WORDS: Final = ("password", "secret", "token")
SEARCHED: Final = 20_000
"""So many people are looked through for a name: names are sealed, and the database cannot search them."""


class UsersWanted(Arguments):
    """Which people are listed."""

    find: Annotated[str, Option("A part of the name or address.")] = ""


class LogWanted(Arguments):
    """Which entries of the log are listed."""

    kind: Annotated[str, Option("The beginning of the kind, like `submission`.")] = ""
    find: Annotated[str, Option("A text in the subject, the actor or the facts.")] = ""
    before: Annotated[int, Option("Only entries with a smaller number.")] = 0


@action("server status", role="administrator", reads=True, hint="--data season")
def show_status(at: At, given: Arguments) -> Outcome:
    """Show versions, and how much there is of everything."""
    count = {kind: at.session.scalar(select(func.count()).select_from(kind)) for kind in (CampaignRow, Person, Team)}
    states = at.session.execute(select(Submission.state, func.count()).group_by(Submission.state))
    found = {
        "basanite": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "database": at.office.database.engine.dialect.name,
        "schema": schema.version(at.office.database) or "",
        "schema of this program": schema.newest(),
        "address": at.office.address,
        "campaigns": count[CampaignRow],
        "people": count[Person],
        "teams": count[Team],
        **{f"submissions {state}": number for state, number in sorted((state, number) for state, number in states)},
    }
    rows = [{"what": name, "value": value} for name, value in found.items()]
    return list_outcome("status", rows, ("what", "value"), "")


@action("server jobs", role="administrator", reads=True, hint="--data season")
def list_jobs(at: At, given: Arguments) -> Outcome:
    """List submissions that are being worked on, and those that failed on the server, newest first."""
    query = select(Submission, Team.name, CampaignRow.slug).join(Team, Team.id == Submission.team_id)
    query = query.join(CampaignRow, CampaignRow.id == Submission.campaign_id)
    wanted = query.where(Submission.state.in_((*RUNNING, "failed"))).order_by(Submission.received.desc()).limit(MOST)
    rows = [
        {"campaign": slug, "team": team, "number": one.number, "task": one.task, "state": one.state}
        | {"received": one.received, "submission": one.id}
        for one, team, slug in at.session.execute(wanted)
    ]
    columns = ("campaign", "team", "number", "task", "state", "received", "submission")
    return list_outcome("jobs", rows, columns, "Nothing is being worked on, and nothing has failed.")


@action("server workers", role="administrator", reads=True, hint="--data season")
def list_workers(at: At, given: Arguments) -> Outcome:
    """List the worker processes, and when each was last heard of."""
    columns = ("id", "version", "process", "started", "seen", "stopped")
    found = at.session.scalars(select(Worker).order_by(Worker.seen.desc()).limit(MOST))
    return list_outcome("workers", rows_of(found, columns), columns, "No worker has run yet.")


@action("server mail", role="administrator", reads=True, hint="--data season")
def list_mail(at: At, given: Arguments) -> Outcome:
    """List how many mails and webhook calls were sent, wait, or were given up, with the last error of each kind."""
    columns = (Message.kind, Message.template, Message.state)
    facts = (func.count(), func.max(Message.made), func.max(Message.error))
    query = select(*columns, *facts).group_by(*columns).order_by(*columns)
    names = ("kind", "template", "state", "count", "newest", "error")
    rows = [dict(zip(names, row, strict=True)) for row in at.session.execute(query)]
    return list_outcome("mail", rows, names, "Nothing has been sent yet.")


@action("server storage", role="administrator", reads=True, hint="--data season")
def show_storage(at: At, given: Arguments) -> Outcome:
    """Show how much room submissions, packs and the database take, and how much is left."""
    disk, (runs, run_bytes) = shutil.disk_usage(at.office.settings.data), _sum(at, Submission)
    files, file_bytes = _sum(at, PackFile)
    rows: list[dict[str, Any]] = [
        {"what": "submissions", "count": runs, "bytes": run_bytes},
        {"what": "files of data packs", "count": files, "bytes": file_bytes},
        {"what": "database", "count": None, "bytes": _database_size(at)},
        {"what": "free on the disk of the data folder", "count": None, "bytes": disk.free},
        {"what": "size of that disk", "count": None, "bytes": disk.total},
    ]
    return list_outcome("storage", rows, ("what", "count", "bytes"), "")


@action("server users", role="administrator", reads=True, hint="--find kim --data season")
def list_users(at: At, given: UsersWanted) -> Outcome:
    """List people with their server-wide roles and last visit, newest first; --find looks in names and addresses."""
    rows: list[dict[str, Any]] = []
    wanted = given.find.strip().casefold()
    people = select(Person).where(Person.erased.is_(None)).order_by(Person.made.desc(), Person.id)
    for person in at.session.scalars(people.limit(SEARCHED if wanted else MOST)):
        known = personal(at.session, at.office, person.id)
        if wanted in f"{known.name}\n{known.mail}".casefold() and len(rows) < MOST:
            rows.append({"person": person.id, "name": known.name, "mail": known.mail} | _account(at, person.id))
    columns = ("name", "mail", "roles", "seen", "second_factor", "closed", "person")
    return list_outcome("users", rows, columns, "There is nobody like that.")


@action("server backups", role="administrator", reads=True, hint="--data season")
def list_backups(at: At, given: Arguments) -> Outcome:
    """List the backups that were written from this data folder, newest first."""
    columns = ("at", "file", "bytes", "files", "sequence", "missing")
    rows = [{name: one.get(name) for name in columns} for one in past_backups(at.office.settings.data)[::-1][:MOST]]
    return list_outcome("backups", rows, columns, "No backup has been written from this data folder.")


@action("server settings", role="administrator", reads=True, hint="--data season")
def list_settings(at: At, given: Arguments) -> Outcome:
    """List the settings in effect, without secrets."""
    rows = [{"setting": name, "value": value} for name, value in _flat(at.office.settings)]
    return list_outcome("settings", rows, ("setting", "value"), "")


@action("server log", role="administrator", reads=True, hint="--kind role --find judge --data season")
def search_log(at: At, given: LogWanted) -> Outcome:
    """Search the log of the whole server, newest first; --before goes on from the number of the last entry."""
    query = select(Event, CampaignRow.slug).outerjoin(CampaignRow, CampaignRow.id == Event.campaign_id)
    if given.kind:
        query = query.where(Event.kind.startswith(given.kind, autoescape=True))
    if given.find:
        places = (Event.subject, Event.actor, cast(Event.data, String))
        query = query.where(or_(*(place.contains(given.find, autoescape=True) for place in places)))
    if given.before:
        query = query.where(Event.sequence < given.before)
    found = at.session.execute(query.order_by(Event.sequence.desc()).limit(MOST))
    rows = [
        {"number": one.sequence, "at": one.at, "campaign": slug or "", "kind": one.kind, "actor": one.actor}
        | {"subject": one.subject, "data": json.dumps(one.data, ensure_ascii=False, sort_keys=True)}
        for one, slug in found
    ]
    columns = ("number", "at", "campaign", "kind", "actor", "subject", "data")
    return list_outcome("log", rows, columns, "The log has no such entry.")


def _sum(at: At, table: Any) -> tuple[int, int]:
    row = at.session.execute(select(func.count(), func.coalesce(func.sum(table.size), 0)).select_from(table)).one()
    return int(row[0]), int(row[1])


def _database_size(at: At) -> int:
    sqlite = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    asked = sqlite if at.office.database.is_sqlite else "SELECT pg_database_size(current_database())"
    return int(at.session.scalar(text(asked)) or 0)


def _account(at: At, person: str) -> dict[str, Any]:
    account = at.session.get(Account, person)
    seen = at.session.scalar(select(func.max(Session.seen)).where(Session.person_id == person))
    return {
        "roles": sorted(roles.viewer(at.session, None, person).roles),
        "seen": seen,
        "second_factor": account is not None and account.second_factor is not None,
        "closed": None if account is None else account.closed,
    }


def _flat(model: BaseModel, before: str = "") -> Iterator[tuple[str, str]]:
    """Every setting by its name with dots; of one that is a secret, whether it is set."""
    for name, info in type(model).model_fields.items():
        value, where = getattr(model, name), f"{before}{name}"
        if isinstance(value, BaseModel):
            yield from _flat(value, f"{where}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            for number, part in enumerate(value):
                yield from _flat(part, f"{where}[{number}].")
        elif info.repr is False or any(word in name for word in SECRET_WORDS):
            yield where, "(set)" if value else "(not set)"
        else:
            yield where, _words_of_setting(value)


def _words_of_setting(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return ", ".join(map(str, value))
    return {None: "", True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
