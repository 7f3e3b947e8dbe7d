"""The office that a command works in: its settings read, its mistakes told as a user's, its connections given back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from basanite.errors import SettingError
from basanite.extras import named_extras

if TYPE_CHECKING:
    from basanite.campaign.office import Clock, Office
    from basanite.campaign.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class GivenClock:
    """A clock handed in with the command (`app(obj=GivenClock(clock))`): how a season is played in minutes."""

    clock: Clock


def data_option(command: Command) -> Command:
    """Add `--data`, the folder in which a season lives."""
    text = "The folder with the server's data. [default: basanite-data, or what basanite.toml says]"
    return click.option("--data", type=click.Path(path_type=Path, file_okay=False), help=text)(command)


def read_settings(data: Path | None = None, **given: Any) -> Settings:
    """The settings from `basanite.toml`, the environment, and what was given on the command line, which wins."""
    from pydantic import ValidationError

    with named_extras():
        from basanite.campaign.settings import Settings
    chosen = {name: value for name, value in {"data": data, **given}.items() if value is not None}
    try:
        return Settings(**chosen)
    except ValidationError as wrong:
        raise SettingError("; ".join(map(_in_words, wrong.errors()))) from None
    except ValueError as wrong:
        raise SettingError(f"basanite.toml cannot be read: {wrong}") from None


@contextmanager
def open_office(data: Path | None = None, **given: Any) -> Iterator[Office]:
    """An office with its database up to date, closed at the end."""
    settings = read_settings(data, **given)
    from basanite.campaign.office import Office

    refuse_lost_keys(settings)
    context = click.get_current_context(silent=True)
    given_clock = context.find_object(GivenClock) if context else None
    office = Office.open(settings, given_clock.clock) if given_clock else Office.open(settings)
    try:
        prepare(office)
        yield office
    finally:
        office.close()


def refuse_lost_keys(settings: Settings) -> None:
    """Make no new vault for people whose keys lie in another one: what they sealed would stay closed (X-36)."""
    from basanite.campaign.store.database import Database
    from basanite.campaign.store.personal import keys_are_missing
    from basanite.campaign.store.vault import Vault

    if not settings.database and not (settings.data / "basanite.sqlite").exists():
        return
    database = Database(settings.database_url)
    try:
        with database.reading() as session:
            missing = keys_are_missing(session, Vault(settings.vault_folder))
    finally:
        database.close()
    if missing:
        cure = 'Put their vault there, or name its folder: vault = "..." in basanite.toml.'
        if settings.vault_inside.is_dir() and settings.vault_inside != settings.vault_folder:
            cure = "If they are still in the data folder: basanite admin vault move."
        raise SettingError(f"The keys of the people in this database are not in {settings.vault_folder}. {cure}")


def prepare(office: Office) -> None:
    """Make the tables, or bring them up to date."""
    from basanite.campaign.store import schema

    schema.upgrade(office.database)


def _in_words(error: Any) -> str:
    """A wrong setting by its name; its value is not repeated, for it may be a secret."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"There is no setting {name!r}. docs/how-to/run-a-server.md names those that there are."
    return f"The setting {name!r} cannot be used: {error['msg']}"
