"""`basanite admin vault`: where a server's keys lie, and how they get out of its data folder (X-36)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite.cli.admin.desk import show
from basanite.cli.operating.office import data_option, opened, read_settings
from basanite.cli.options import as_json, example
from basanite.errors import SettingError

if TYPE_CHECKING:
    from basanite.campaign.office import Office


@click.group(epilog=example("basanite admin vault show --data season"))
def vault() -> None:
    """See where the server's keys lie, and move them out of the data folder."""


@vault.command("show", epilog=example("basanite admin vault show --data season"))
@data_option
@as_json
def show_vault(data: Path | None, as_json: bool) -> None:
    """Tell where the keys lie, how many, and whether references are encrypted with one of them."""
    with opened(data) as office:
        keys = office.vault
        count = sum(len(keys.names(kind)) for kind in keys.kinds())
        inside = keys.folder.resolve().is_relative_to(office.settings.data.resolve())
        facts = {"folder": str(keys.folder), "secrets": count, "inside": inside}
        facts["encrypts_references"] = office.sealed.lock is not None
    where = "in the data folder: move it out" if inside else "outside the data folder"
    show(facts, [f"{keys.folder}: {count} {'secret' if count == 1 else 'secrets'}, {where}."], json=as_json)


@vault.command("move", epilog=example("basanite admin vault move --data season"))
@data_option
@as_json
def move(data: Path | None, as_json: bool) -> None:
    """Move the keys from the data folder to where the settings say, or beside it.

    Stop the server and all workers before: a process that runs would go on with the old place.
    """
    settings = read_settings(data)
    inside, outside = settings.vault_inside, settings.vault_outside
    if outside.resolve().is_relative_to(settings.data.resolve()):
        cure = "Name a folder outside it, or leave it out; keys that are there already move with their folder."
        raise SettingError(f"`vault` is {outside}, in the data folder. {cure}")
    if not inside.is_dir():
        show({"folder": str(outside), "moved": 0}, [f"Nothing to move: {outside} is in use."], json=as_json)
        return
    from basanite.campaign.store.vault import Vault

    with opened(data, vault=inside) as office:
        _refuse_running(office)
        count = office.vault.move_to(Vault(outside))
    moved = f"{outside}: {count} {'secret' if count == 1 else 'secrets'} moved there."
    lines = [f"{moved} Back it up apart from the data: basanite backup --vault-to FILE"]
    show({"folder": str(outside), "moved": count}, lines, json=as_json)


def _refuse_running(office: Office) -> None:
    from basanite.server.listening import doors
    from basanite.server.observing import alive

    with office.reading() as session:
        running = [*alive(session, office), *map(str, doors(office.settings.data))]
    if running:
        raise SettingError(f"Servers or workers still run ({', '.join(running)}). Stop them, and try again.")
