"""`basanite admin token` and `vault`: tokens for programs of people, and the server's own keys (X-11, X-36)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite.cli.admin.desk import AdminOptions, admin_options, at_desk, show
from basanite.cli.office import data_option, open_office, read_settings
from basanite.cli.options import as_json, example
from basanite.errors import SettingError

if TYPE_CHECKING:
    from basanite.campaign.office import Office


@click.command(epilog=example("basanite admin token ada@people.example --label laptop --data season"))
@click.argument("who", metavar="MAIL")
@click.option("--label", required=True, help="What it is for.")
@click.option("--scope", "scopes", multiple=True, default=("read", "submit", "download"), show_default=True)
@click.option("--days", type=click.IntRange(1, 366), default=90, show_default=True, help="How many days it is valid.")
@admin_options
def token(who: str, label: str, scopes: tuple[str, ...], days: int, admin: AdminOptions) -> None:
    """Create an API token for the person with the address MAIL; it is printed only once.

    It allows what the person may do within its scopes: read, submit, download, organise.
    """
    with at_desk(admin) as desk:
        from basanite.server.accounts.tokens import NewToken, make_token

        lasts, person = timedelta(days=days), desk.person(who)
        made = make_token(
            desk.session, desk.office, desk.actor, NewToken(person_id=person, label=label, scopes=scopes, lasts=lasts)
        )
    show({"token": made.text, "expires": made.expires.isoformat()}, [made.text], json=admin.as_json)


@click.group(epilog=example("basanite admin vault show --data season"))
def vault() -> None:
    """Show the location of the server's keys, and move them out of the data folder."""


@vault.command("show", epilog=example("basanite admin vault show --data season"))
@data_option
@as_json
def show_vault(data: Path | None, as_json: bool) -> None:
    """Show the location and number of the keys, and whether they encrypt references."""
    with open_office(data) as office:
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
    """Move the vault of keys from the data folder to the location in the settings, or beside the data folder.

    Stop the server and all workers first: running processes would keep using the old location.
    """
    settings = read_settings(data)
    inside, outside = settings.vault_inside, settings.vault_outside
    if outside.resolve().is_relative_to(settings.data.resolve()):
        cure = "Name a folder outside it, or leave it out; existing keys move with their folder."
        raise SettingError(f"`vault` is {outside}, in the data folder. {cure}")
    if not inside.is_dir():
        show({"folder": str(outside), "moved": 0}, [f"Nothing to move: {outside} is in use."], json=as_json)
        return
    from basanite.campaign.store.vault import Vault

    with open_office(data, vault=inside) as office:
        _refuse_running(office)
        count = office.vault.move_to(Vault(outside))
    moved = f"{outside}: {count} {'secret' if count == 1 else 'secrets'} moved there."
    lines = [f"{moved} Back it up apart from the data: basanite backup --vault-to FILE"]
    show({"folder": str(outside), "moved": count}, lines, json=as_json)


def _refuse_running(office: Office) -> None:
    from basanite.server.connections import open_doors
    from basanite.server.telemetry import alive_workers

    with office.reading() as session:
        running = [*alive_workers(session, office), *map(str, open_doors(office.settings.data))]
    if running:
        raise SettingError(f"Servers or workers still run ({', '.join(running)}). Stop them, and try again.")
