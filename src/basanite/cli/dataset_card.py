"""`basanite dataset card`: Croissant metadata, a datasheet and a folder to deposit for a DOI (L-11)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from basanite import canonical
from basanite.cli.options import PATH, as_json, example, run_or_exit
from basanite.errors import InvalidInputError
from basanite.models.cards import Card, PackFile, check_license, pack_files, read_card, write_card
from basanite.problems import Findings
from basanite.reports.wording import plural


@click.command(epilog=example("basanite dataset card answers --about card.toml --out deposit"))
@click.argument("pack", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--about", type=PATH, required=True, help="The card (TOML): title, creators, license, datasheet.")
@click.option("--out", type=PATH, required=True, help="A new folder for the deposit.")
@as_json
def card(pack: Path, about: Path, out: Path, as_json: bool) -> None:
    """Write a deposit of the folder PACK: its files, Croissant metadata, datasheet, license, DataCite and checksums.

    Nothing is uploaded: give the folder to a repository that registers DOIs.
    """
    found, files = run_or_exit(lambda: _read(pack, about), json=as_json, plain=True)
    written = write_card(found, pack, files, out)
    if as_json:
        sys.stdout.write(canonical.dumps({"files": len(files), "written": [str(path) for path in written]}))
        return
    click.echo(f"{found.title} {found.version}: {plural('file', len(files))}, license {found.license}")
    for path in written:
        click.echo(f"• {path}")


def _read(pack: Path, about: Path) -> tuple[Card, tuple[PackFile, ...]]:
    """The card and the files; all problems are reported at once."""
    findings = Findings(limit=20)
    found = read_card(about, findings)
    files = pack_files(pack, findings)
    if found is None or not findings.valid:
        raise InvalidInputError("card", findings)
    check_license(found, files)
    return found, files
