"""`basanite material queries` and `domains`: what a query pack holds, and the domains that queries belong to."""

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

from basanite import canonical
from basanite.cli.options import PATH, Command, as_json, console, example, show_findings
from basanite.formats.datasets.domains import Catalogue, Domain, load_domains, shipped_domains
from basanite.formats.retrieval.query_packs import PackedQuery, QueryPack, QueryProblem, read_query_pack
from basanite.problems import LISTED_PER_RULE, Findings, Problem, visible


def catalogue_option(command: Command) -> Command:
    """Add `--catalogue`."""
    return click.option("--catalogue", type=PATH, help="Your own catalog of domains.")(command)


@click.command(epilog=example("basanite material domains GOV"))
@click.argument("code", required=False)
@catalogue_option
@as_json
def domains(code: str | None, catalogue: Path | None, as_json: bool) -> None:
    """Show all domains, or one in full: definition, scope and annotators' notes."""
    known = chosen_catalogue(catalogue, json=as_json)
    shown = [known.domain(code.upper())] if code else list(known.domains.values())
    if as_json:
        sys.stdout.write(canonical.dumps(_domain_object(shown, known)))
    elif code:
        _show_domain(shown[0], known)
    else:
        console().print(_domain_table(shown, known))


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


def _domain_object(shown: Sequence[Domain], catalogue: Catalogue) -> dict[str, Any]:
    stages = {
        language: {stage: sorted(codes) for stage, codes in stages.items()}
        for language, stages in catalogue.stages.items()
    }
    return {"domains": [asdict(domain) for domain in shown], "stages": stages}


def _domain_table(shown: Sequence[Domain], catalogue: Catalogue) -> Table:
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


COLUMNS = ("query", "string", "kind", "subtype", "words", "domain")


@click.command(epilog=example("basanite material queries pack1/"))
@click.argument("pack", type=PATH)
@click.option("--all", "every", is_flag=True, help="List every problem, not only the first 20 of each rule.")
@catalogue_option
@as_json
def queries(pack: Path, every: bool, catalogue: Path | None, as_json: bool) -> None:
    """List the queries of PACK with kind, subtype, words and domain, and every problem.

    PACK is a folder with query_list.tsv, or a file. Exit code 0: valid; 1: not.
    """
    findings = Findings(limit=None if every else LISTED_PER_RULE)
    known = chosen_catalogue(catalogue, json=as_json)
    found = read_query_pack(pack, findings, known)
    if as_json:
        sys.stdout.write(canonical.dumps(_object(pack, found, findings)))
    else:
        _show(found, findings)
    if not findings.valid:
        raise click.exceptions.Exit(1)


def _object(path: Path, pack: QueryPack | None, findings: Findings) -> dict[str, Any]:
    """What `--json` prints: the queries, and the problems as `validate` lists them."""
    listed = [_row(query) for query in pack.queries] if pack else []
    data = findings.as_dict("queries")
    del data["task"]
    return {**data, "pack": visible(pack.name if pack else path.name), "queries": listed}


def _row(query: PackedQuery) -> dict[str, str | int]:
    levels = query.levels()
    return {"query": query.id, "string": query.string, **levels, "words": int(levels["words"])}


def _show(pack: QueryPack | None, findings: Findings) -> None:
    if pack and pack.queries:
        console().print(_table(pack))
    for problem in findings:
        click.echo(_words(problem), err=True)
    total = sum(findings.counts.values())
    more = f", {len(findings.problems)} listed (--all lists every one)" if len(findings.problems) < total else ""
    count = len(pack.queries) if pack else 0
    click.echo(f"Queries: {count}. Problems: {total}{more}.", err=not findings.valid)


def _table(pack: QueryPack) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="right" if column == "words" else "left", overflow="fold")
    for query in pack.queries:
        row = _row(query)
        table.add_row(*(Text(visible(str(row[column]))) for column in COLUMNS))
    return table


def _words(problem: Problem) -> str:
    """A problem as compilers write it: place, what is wrong, the picture, the cure."""
    picture = problem.picture.split("\n") if isinstance(problem, QueryProblem) else [visible(problem.found)]
    severity = "warning: " if problem.severity == "warn" else ""
    first = f"{problem.place()}: {problem.rule}: {severity}{visible(problem.message)}"
    return "\n    ".join([first, *filter(None, picture), f"fix: {visible(problem.fix)}"])
