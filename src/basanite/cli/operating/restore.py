"""`basanite restore`: a backup put back to an empty place, checked before anything has its name."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from basanite.cli.locks import damage_told, key_option, lock_from
from basanite.cli.operating.office import data_option, read_settings
from basanite.cli.options import PATH, as_json, example, say
from basanite.reports.formats import json_output


@click.command(epilog=example("basanite restore old.backup --key old.key --data restored"))
@click.argument("backup", type=PATH)
@key_option
@click.option("--vault-from", type=PATH, help="The vault's own copy; without it names, references and keys stay shut.")
@click.option("--without-vault", is_flag=True, help="Restore although the vault is lost: what it opens stays closed.")
@click.option("--vault-key", type=PATH, help="The key of the vault's copy. [default: that of the backup]")
@data_option
@as_json
def restore(
    backup: Path, key: Path | None, vault_from: Path | None, vault_key: Path | None, data: Path | None, **given: bool
) -> None:
    """Restore BACKUP to the folder and database of the settings, which must be empty.

    Digests of all files, the chain and the head of the event log, and the number of rows are checked. If anything is
    wrong, nothing is left behind. Exit code 1: the backup cannot be used, with the reason. If the vault is in its place
    already, it is used; else its copy is needed for people, references and receipts.
    """
    settings = read_settings(data)
    with damage_told():
        from basanite.campaign.keeping.restore import restore as put_back

        lock = lock_from(key)
        vault = (vault_from, lock_from(vault_key) if vault_key else lock) if vault_from else None
        restored = put_back(backup, lock, settings, vault, without_vault=given["without_vault"])
    if given["as_json"]:
        sys.stdout.write(json_output.dumps(restored.as_dict()))
        return
    saved = restored.saved
    click.echo(
        f"{settings.data}: {sum(saved.rows.values())} rows, {saved.files + saved.sealed} files, "
        f"the log up to event {saved.sequence}, whole."
    )
    if restored.without_vault:
        say("Without the vault's copy: names, references and signing keys stay closed (--vault-from FILE).")
