"""`basanite doctor`: look at the installation and at everything a server needs, and say what to do about it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite.cli.colour import BAD, GOOD, NOTE, echo
from basanite.cli.operating.installation import Found, installation
from basanite.cli.operating.office import data_option, read_settings
from basanite.cli.options import as_json, example, say
from basanite.errors import MissingExtraError
from basanite.problems import visible
from basanite.reports.formats import json_output

if TYPE_CHECKING:
    from basanite.campaign.settings import Settings
    from basanite.server.checkup import Finding

MARKS = {"good": ("ok  ", GOOD), "note": ("note", NOTE), "bad": ("BAD ", BAD)}
NO_SEASON = Found(
    "season",
    "note",
    "none lies here, and scoring at home needs none",
    "`basanite demo` shows one; `basanite doctor --data FOLDER` looks at yours",
)
SETTINGS_FILE = Path("basanite.toml")


@click.command(epilog=example("basanite doctor --data season"))
@data_option
@as_json
def doctor(data: Path | None, as_json: bool) -> None:
    """Tell what is installed; then examine settings, database, files, keys, the box for scoring, mail, space and clock.

    Without --data, where no season lies, only the installation is looked at. Ends with 1 if something is bad; each
    finding has its cure.
    """
    findings = [*installation(), *_season(data)]
    bad = any(finding.state == "bad" for finding in findings)
    if as_json:
        sys.stdout.write(json_output.dumps({"healthy": not bad, "findings": [asdict(one) for one in findings]}))
    else:
        _show(findings)
    if bad:
        raise click.exceptions.Exit(1)


def _season(data: Path | None) -> Sequence[Finding | Found]:
    """What a server needs, if there is one to look at; looking makes none."""
    try:
        settings = read_settings(data)
    except MissingExtraError:
        if data is not None:
            raise
        return [NO_SEASON]
    if data is None and not settings.data.exists() and not SETTINGS_FILE.exists():
        return [NO_SEASON]
    return _examined(settings)


def _examined(settings: Settings) -> Sequence[Finding]:
    from basanite.campaign.office import Office
    from basanite.campaign.store.vault import Vault
    from basanite.server.checkup import examine

    if settings.encrypt_references is None and Vault(settings.vault_folder).is_empty():
        settings = settings.model_copy(update={"encrypt_references": False})  # looking makes no vault
    office = Office.open(settings)
    try:
        return examine(office)
    finally:
        office.close()


def _show(findings: Sequence[Finding | Found]) -> None:
    for finding in findings:
        mark, colour = MARKS[finding.state]
        echo(mark, colour, visible(f"  {finding.name}: {finding.words}"))
        if finding.cure:
            say(f"      {finding.name}: {finding.cure}")
