"""`basanite import`: a campaign that another server exported, with its history and nobody's rights."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from basanite.cli.operating.office import data_option, opened
from basanite.cli.options import PATH, as_json, example, say
from basanite.errors import SettingError
from basanite.formats.foreign.recognised import recognised
from basanite.problems import visible
from basanite.reports.formats import json_output


@click.command("import", epilog=example("basanite import exported.tgz --data elsewhere"))
@click.argument("export", type=PATH)
@data_option
@as_json
def import_(export: Path, data: Path | None, as_json: bool) -> None:
    """Import the campaign in EXPORT, a folder or a .tgz that `basanite admin export` wrote on another server.

    No account, role, token or key comes with it; people stay pseudonyms. Old receipts verify under the old server's
    key, marked foreign. It prints what it could not keep. Exit code 1: the export cannot be used, with the reasons.

    Files of other programs (WMT, TREC, STM, sacreBLEU, brat …) have commands of their own: give one, and it is named.
    """
    _name_other_door(export)
    from basanite.cli.admin.desk import refusals

    with refusals(json=as_json), opened(data) as office:
        from basanite.campaign.keeping.importing import import_campaign
        from basanite.campaign.office import COMMAND

        imported = import_campaign(office, COMMAND, export)
    if as_json:
        sys.stdout.write(json_output.dumps(imported.as_dict()))
        return
    rows = sum(imported.rows.values())
    click.echo(visible(f"{imported.slug}, from {imported.origin}: {rows} rows, {imported.files} files."))
    for line in imported.not_kept:
        say(f"Not kept: {line}")


def _name_other_door(path: Path) -> None:
    """A file of another program is read by a command of its own, which is told (P-32)."""
    found = recognised(path)
    if found:
        what, command = found
        raise SettingError(f"{path} looks like {what}, not like a campaign. Read it with: basanite {command}")
