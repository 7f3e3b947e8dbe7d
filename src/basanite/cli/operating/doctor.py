"""`basanite doctor`: look at everything a server needs, and say what to do about what is wrong."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from basanite.cli.operating.office import data_option, read_settings
from basanite.cli.options import as_json, example, say
from basanite.problems import visible
from basanite.reports.formats import json_output

MARKS = {"good": "ok  ", "note": "note", "bad": "BAD "}


@click.command(epilog=example("basanite doctor --data season"))
@data_option
@as_json
def doctor(data: Path | None, as_json: bool) -> None:
    """Examine settings, database, files, keys, the box for scoring, mail, space and clock.

    Ends with 1 if something is bad; each finding has its cure.
    """
    settings = read_settings(data)
    from basanite.campaign.office import Office
    from basanite.server.checkup import examine

    office = Office.open(settings)
    try:
        findings = examine(office)
    finally:
        office.close()
    bad = any(finding.state == "bad" for finding in findings)
    if as_json:
        sys.stdout.write(json_output.dumps({"healthy": not bad, "findings": [asdict(one) for one in findings]}))
    for finding in () if as_json else findings:
        click.echo(visible(f"{MARKS[finding.state]}  {finding.name}: {finding.words}"))
        if finding.cure:
            say(f"      {finding.name}: {finding.cure}")
    if bad:
        raise click.exceptions.Exit(1)
