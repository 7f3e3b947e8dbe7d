"""`basanite domains`: the catalogue of domains, or one of them in full."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table
from rich.text import Text

from basanite.cli.options import PATH, Command, as_json, console, example, show_findings
from basanite.formats.packs.domains import Catalogue, Domain, load_domains, shipped_domains
from basanite.problems import Findings, visible
from basanite.reports.formats import json_output


def catalogue_option(command: Command) -> Command:
    """Add `--catalogue`."""
    return click.option("--catalogue", type=PATH, help="A catalogue of domains of your own.")(command)


@click.command(epilog=example("basanite domains GOV"))
@click.argument("code", required=False)
@catalogue_option
@as_json
def domains(code: str | None, catalogue: Path | None, as_json: bool) -> None:
    """Show the domains, or one of them in full: definition, what belongs to it, and annotators' notes."""
    known = chosen_catalogue(catalogue, json=as_json)
    shown = [known.domain(code.upper())] if code else list(known.domains.values())
    if as_json:
        sys.stdout.write(json_output.dumps(_object(shown, known)))
    elif code:
        _show_domain(shown[0], known)
    else:
        console().print(_table(shown, known))


def chosen_catalogue(path: Path | None, *, json: bool) -> Catalogue:
    """The user's catalogue, or the shipped one; a bad file ends the command with its problems."""
    if path is None:
        return shipped_domains()
    findings = Findings()
    catalogue = load_domains(path, findings)
    if catalogue is None:
        show_findings(findings, "domains", json=json)
        raise click.exceptions.Exit(1)
    return catalogue


def _object(shown: Sequence[Domain], catalogue: Catalogue) -> dict[str, Any]:
    stages = {
        language: {stage: sorted(codes) for stage, codes in stages.items()}
        for language, stages in catalogue.stages.items()
    }
    return {"domains": [asdict(domain) for domain in shown], "stages": stages}


def _table(shown: Sequence[Domain], catalogue: Catalogue) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("code", "name", "languages", "definition"):
        table.add_column(column, overflow="fold")
    for domain in shown:
        cells = (domain.code, domain.name, ", ".join(_languages(domain, catalogue)), domain.definition)
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table


def _languages(domain: Domain, catalogue: Catalogue) -> list[str]:
    """Language and stage at which a domain was made known."""
    return [
        f"{language} {stage}"
        for language, stages in catalogue.stages.items()
        for stage, codes in stages.items()
        if domain.code in codes
    ]


def _show_domain(domain: Domain, catalogue: Catalogue) -> None:
    shown = console()
    shown.print(Text(visible(f"{domain.code}: {domain.name}"), style="bold"))
    shown.print(Text(visible(domain.definition)))
    parts = {
        "In scope": domain.in_scope,
        "Out of scope": domain.out_of_scope,
        "Notes of annotators": domain.notes,
        "Subdomains": domain.subdomains,
        "Languages and stages": tuple(_languages(domain, catalogue)),
    }
    for title, lines in parts.items():
        if lines:
            shown.print(Text(f"\n{title}", style="bold"))
            for line in lines:
                shown.print(Text(visible(f"• {line}")))
