"""`basanite decrypt`: open a file of a pack that was handed out encrypted, once its key is out (M89)."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from pathlib import Path

import click

from basanite.cli.locks import damage_told, key_option, lock_from
from basanite.cli.options import PATH, as_json, example
from basanite.errors import SettingError
from basanite.formats.bounded import check_regular
from basanite.problems import visible
from basanite.reports.formats import json_output


@click.command(epilog=example("basanite decrypt docs.tgz.sealed --key pack.key"))
@click.argument("file", type=PATH)
@key_option
@click.option("--out", type=PATH, help="Where it goes. [default: the name without .sealed]")
@as_json
def decrypt(file: Path, key: Path | None, out: Path | None, as_json: bool) -> None:
    """Decrypt FILE, which was sealed in the format basanite-sealed/1, with the key that the campaign has published.

    The result is there whole or not at all. Exit code 1: the key is wrong, or the file was cut off or changed.
    """
    target = out or _beside(file)
    if target.exists():
        raise SettingError(f"{target} is there already. Choose another name: --out FILE")
    check_regular(file)
    with damage_told():
        size, digest = _opened(file, target, key)
    if as_json:
        sys.stdout.write(json_output.dumps({"file": str(target), "sha256": digest, "size": size}))
    else:
        click.echo(visible(f"{target}: {size} bytes, sha256 {digest}"))


def _beside(file: Path) -> Path:
    if file.suffix != ".sealed":
        raise SettingError("Say where the content goes: --out FILE")
    return file.with_suffix("")


def _opened(file: Path, target: Path, key: Path | None) -> tuple[int, str]:
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
