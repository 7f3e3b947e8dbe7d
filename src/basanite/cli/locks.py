"""Keys and passphrases for encrypted files: from a file, the environment, or asked for; and `basanite decrypt`."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from basanite import canonical
from basanite.cli.options import PATH, as_json, example, say
from basanite.errors import SettingError
from basanite.formats.bounded import check_regular, read_bounded
from basanite.problems import visible

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
    say(f"A new key: {path}. Store it apart from the files that it opens, and do not lose it.")


@click.command(epilog=example("basanite decrypt docs.tgz.sealed --key pack.key"))
@click.argument("file", type=PATH)
@key_option
@click.option("--out", type=PATH, help="Where it goes. [default: the name without .sealed]")
@as_json
def decrypt(file: Path, key: Path | None, out: Path | None, as_json: bool) -> None:
    """Decrypt FILE, sealed in the format basanite-sealed/1, with the key that the campaign published.

    The output is written completely or not at all. Exit code 1: the key is wrong, or the file is truncated or changed.
    """
    target = out or _beside(file)
    if target.exists():
        raise SettingError(f"{target} already exists. Choose another name: --out FILE")
    check_regular(file)
    with damage_told():
        size, digest = _decrypt_file(file, target, key)
    if as_json:
        sys.stdout.write(canonical.dumps({"file": str(target), "sha256": digest, "size": size}))
    else:
        click.echo(visible(f"{target}: {size} bytes, sha256 {digest}"))


def _beside(file: Path) -> Path:
    if file.suffix != ".sealed":
        raise SettingError("Say where the content goes: --out FILE")
    return file.with_suffix("")


def _decrypt_file(file: Path, target: Path, key: Path | None) -> tuple[int, str]:
    from basanite.campaign.sealing import unseal

    fresh, digest, size = target.with_name(f".{target.name}.{secrets.token_hex(6)}"), hashlib.sha256(), 0
    try:
        with file.open("rb") as source, fresh.open("xb") as out:
            for piece in unseal(source, lock_from(key)):
                out.write(piece)
                digest.update(piece)
                size += len(piece)
        os.link(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return size, digest.hexdigest()
