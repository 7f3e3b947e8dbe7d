"""Keys and passphrases for files that are encrypted: from a file, from the environment, or asked for."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from basanite.cli.options import PATH, say
from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded

if TYPE_CHECKING:
    from basanite.campaign.sealing import Lock

Command = TypeVar("Command", bound=Callable[..., Any])
PASSPHRASE = "BASANITE_PASSPHRASE"


def key_option(command: Command) -> Command:
    """Add `--key`."""
    text = f"The file of the key, 64 hex digits; without it a passphrase is asked for (or taken from {PASSPHRASE})."
    return click.option("--key", type=PATH, help=text)(command)


def lock_from(key: Path | None, *, make: bool = False) -> Lock:
    """The lock that the user means; a key file that is not there is made if the command may."""
    from basanite.campaign.sealing import Lock

    if key is not None:
        if make and not key.exists():
            make_key(key)
        return Lock.from_file(read_bounded(key, 1000))
    words = os.environ.get(PASSPHRASE) or click.prompt(
        "Passphrase", hide_input=True, confirmation_prompt=make, err=True
    )
    if len(words) < 8:
        raise SettingError("A passphrase has at least 8 characters; a key file is better: --key FILE.")
    return Lock(words.encode(), passphrase=True)


@contextmanager
def damage_told() -> Iterator[None]:
    """A file that cannot be opened is a fault of the input, told in words: exit code 1."""
    from basanite.campaign.sealing import SealedError

    try:
        yield
    except SealedError as error:
        say(f"Refused: {error}")
        raise click.exceptions.Exit(1) from None


def make_key(path: Path) -> None:
    """Write a new key that only its owner can read, and say where it is."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32) + "\n")
    say(f"A new key: {path}. Keep it apart from what it opens, and lose it never.")
