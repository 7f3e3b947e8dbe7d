"""The demo on disk: made once and opened again, how to sign in to it, and how many of what it holds."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from basanite.campaign.jobs import worker
from basanite.campaign.office import Clock, Office, utc_now
from basanite.campaign.settings import DEMO_MARK, Accounts, Limits, Mail, Retention, Settings, Tls
from basanite.campaign.store import schema
from basanite.campaign.store.tables import (
    Appeal,
    Approval,
    Batch,
    LeadRequest,
    Membership,
    Person,
    Question,
    Release,
    Signature,
    Submission,
    Team,
)
from basanite.demo import season
from basanite.demo.stage import SIDE_BY_SIDE, SLUG, Login, Say, Stage, fresh_password
from basanite.demo.warm import warm
from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.testing.season import SetClock

ACCOUNTS: Final = Accounts(tries="60/minute", time_cost=1, memory_kib=8 * 1024, lanes=1)
"""Anyone who tries the demo is one person after the other, from one machine; the password is printed anyway, so that
guessing it need not be made slow."""
FORMAT: Final = "basanite-demo/1"
LARGEST_MARK: Final = 100_000
STALE_DAYS: Final = 4
"""After so many days the week that was open when the demo was made is over."""


@dataclass(frozen=True)
class Demo:
    """A demo that stands: where, since when, and how to sign in."""

    folder: Path
    made: datetime
    logins: tuple[Login, ...]

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The demo in a folder, if there is one."""
        mark = folder / DEMO_MARK
        if mark.is_symlink() or not mark.is_file():
            return None
        try:
            kept = json.loads(read_bounded(mark, LARGEST_MARK))
            logins = tuple(Login(**one) for one in kept["logins"])
            found, tables = cls(folder, datetime.fromisoformat(kept["made"]), logins), kept.get("tables")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SettingError(f"{mark} cannot be read. Create it again with --reset.") from None
        if tables != schema.fingerprint():
            raise SettingError(
                f"The demo in {folder} was made by another version of Basanite. Create it again with --reset."
            )
        return found

    def stale(self, now: datetime) -> bool:
        """Whether the season has gone on so far that little is open."""
        return (now - self.made).days >= STALE_DAYS

    def login(self, key: str) -> Login:
        """How one of the people signs in."""
        return {one.key: one for one in self.logins}[key]


def settings_of(folder: Path) -> Settings:
    """The settings of a demo: none is taken from a file or the environment, so that no real server is touched."""
    limits = Limits(seconds=120.0, poll_seconds=0.2, duty_seconds=2.0, box="best")
    parts: dict[str, Any] = {"mail": Mail(), "limits": limits, "retention": Retention(), "accounts": ACCOUNTS}
    parts |= {"database": "", "vault": folder / "vault", "drop": None, "plugins": (), "zone": "UTC", "workers": 2}
    parts |= {"demo": True, "encrypt_references": False, "loopback_webhooks": False, "proxies": (), "tls": Tls()}
    return Settings(data=folder, address="", **parts)


@contextmanager
def open_demo(folder: Path, address: str = "", clock: Clock = utc_now) -> Iterator[Office]:
    """The office of a demo, its tables up to date; `address` is where it is served from now on."""
    office = Office.open(settings_of(folder), clock)
    if address:
        office.remember_address(address)
    try:
        schema.upgrade(office.database)
        yield office
    finally:
        office.close()


def make(folder: Path, say: Say, *, reset: bool = False, now: datetime | None = None, address: str = "") -> Demo:
    """The demo in a folder: the one that is there, or a new one, whose mails lead to `address`."""
    check_place(folder, reset=reset)
    if reset and (folder / DEMO_MARK).is_file():
        _check_idle(folder)
    there = None if reset else Demo.read(folder)
    return there or _make_demo(folder, say, now or utc_now(), address)


def check_place(folder: Path, *, reset: bool) -> None:
    """Refuse a place that is not ours: nothing that the demo did not make is ever deleted or written over."""
    if not os.path.lexists(folder):
        return
    inside = Path.cwd().is_relative_to(folder.resolve())
    if folder.is_symlink() or not folder.is_dir() or (reset and inside):
        raise SettingError(f"{folder} is not a folder that a demo can use. Choose another with --data.")
    if any(folder.iterdir()) and not (folder / DEMO_MARK).is_file():
        raise SettingError(f"{folder} was not made by the demo, so it is left alone. Choose another with --data.")


def _check_idle(folder: Path) -> None:
    """Refuse to throw a demo away under a server that is running."""
    settings = settings_of(folder)
    with open_demo(folder) as office, office.reading() as session:
        if worker.alive(session, utc_now(), settings.limits.silent_seconds):
            raise SettingError(f"The demo in {folder} is running. Stop it first; or choose another with --data.")


def _make_demo(folder: Path, say: Say, now: datetime, address: str) -> Demo:
    """Make it beside its place, and put it there when it is whole."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as space:
            draft = Path(space) / "data"
            _mark(draft, now, _play_season(draft, Path(space) / "files", say, now, address))
            if folder.exists():
                shutil.rmtree(folder)
            draft.replace(folder)
    except OSError as error:
        words = f"{folder} cannot be made: {error.strerror or error}. Choose another folder with --data."
        raise UnreadableError(words) from error
    made = Demo.read(folder)
    if made is None:
        raise SettingError(f"{folder} was taken away while the demo was made. Try again.")
    return made


def _play_season(draft: Path, files: Path, say: Say, now: datetime, address: str) -> list[Login]:
    clock = SetClock(now)
    files.mkdir()
    with warm(SIDE_BY_SIDE) as run, open_demo(draft, address, clock) as office:
        return season.play(Stage(replace(office, run=run), clock, now, files, say), fresh_password())


def _mark(draft: Path, now: datetime, logins: list[Login]) -> None:
    """Passwords lie beside the data, for this user alone."""
    kept: dict[str, Any] = {"format": FORMAT, "campaign": SLUG, "made": now.isoformat(), "tables": schema.fingerprint()}
    kept["logins"] = [one.as_dict() for one in logins]
    path = os.open(draft / DEMO_MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=2)
        file.write("\n")


def facts(office: Office) -> dict[str, Any]:
    """People, teams, submissions by state, what was released, and what waits for somebody."""
    with office.reading() as session:
        states = select(Submission.state, func.count()).group_by(Submission.state).order_by(Submission.state)
        released = select(Release.window, Release.level).order_by(Release.at)
        return {
            "people": _count(session, select(Person.id)),
            "teams": list(session.scalars(select(Team.name).order_by(Team.name))),
            "submissions": {row[0]: row[1] for row in session.execute(states)},
            "released": [f"{window}: {level}" for window, level in session.execute(released)],
            "appeals": list(session.scalars(select(Appeal.state))),
            "rescored": list(session.scalars(select(Batch.state))),
            "waiting": _waiting(session),
        }


def _waiting(session: Session) -> dict[str, int]:
    return {
        "teams to be led": _count(session, select(LeadRequest.id).where(LeadRequest.state == "asked")),
        "places in teams": _count(session, select(Membership.id).where(Membership.state == "asked")),
        "signatures": _count(session, select(Signature.id).where(Signature.state == "uploaded")),
        "acts of two": _count(session, select(Approval.id).where(Approval.state == "waiting")),
        "questions": _count(session, select(Question.id).where(Question.answered.is_(None))),
    }


def _count(session: Session, question: Select[Any]) -> int:
    return session.scalar(select(func.count()).select_from(question.subquery())) or 0
