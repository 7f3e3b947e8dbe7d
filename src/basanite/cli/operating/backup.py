"""`basanite backup`: everything a server holds, in one encrypted file; the vault apart."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from basanite.cli.locks import damage_told, key_option, lock_from
from basanite.cli.operating.office import data_option, opened
from basanite.cli.options import PATH, as_json, example, say
from basanite.reports.formats import json_output


@click.command(epilog=example("basanite backup season.backup --data season --key backup.key"))
@click.argument("out", type=PATH)
@key_option
@click.option("--vault-to", type=PATH, help="Also write the vault's own copy. Keep it at another place.")
@click.option("--vault-key", type=PATH, help="The key of the vault's copy. [default: that of the backup]")
@data_option
@as_json
def backup(
    out: Path, key: Path | None, vault_to: Path | None, vault_key: Path | None, data: Path | None, as_json: bool
) -> None:
    """Write a backup of the whole server to OUT, while it goes on working.

    It holds every row and every file as of one moment, encrypted. It does not hold the vault: without the vault's copy
    it shows no name, no mail address and no answer key, and nobody can sign with it. After erasing a person, replace
    the older copies of the vault by a new one.
    """
    with damage_told(), opened(data) as office:
        from basanite.campaign.keeping.backup import back_up, back_up_vault

        lock = lock_from(key, make=True)
        other = lock_from(vault_key, make=True) if vault_key else lock
        saved = back_up(office, lock, out)
        secrets = back_up_vault(office.vault, other, vault_to) if vault_to else None
    if as_json:
        sys.stdout.write(json_output.dumps(saved.as_dict() | {"secrets": secrets}))
        return
    click.echo(
        f"{out}: {sum(saved.rows.values())} rows, {saved.files + saved.sealed} files, "
        f"the log up to event {saved.sequence}."
    )
    for digest in saved.missing:
        say(f"Not there, and so not in the backup: the file {digest}")
    if vault_to is None:
        say("The vault is not in it. Keep a copy of it elsewhere: --vault-to FILE")
