"""`basanite queries`: what the queries of a pack ask for, and where a query string goes wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table
from rich.text import Text

from basanite.cli.data.domains import catalogue_option, chosen_catalogue
from basanite.cli.options import PATH, as_json, console, example
from basanite.formats.queries.pack_lines import QueryProblem
from basanite.formats.queries.query_packs import PackedQuery, QueryPack, read_query_pack
from basanite.problems import LISTED_PER_RULE, Findings, Problem, visible
from basanite.reports.formats import json_output

COLUMNS = ("query", "string", "kind", "subtype", "words", "domain")


@click.command(epilog=example("basanite queries pack1/"))
@click.argument("pack", type=PATH)
@click.option("--all", "every", is_flag=True, help="List every problem, not only the first 20 of each rule.")
@catalogue_option
@as_json
def queries(pack: Path, every: bool, catalogue: Path | None, as_json: bool) -> None:
    """List the queries of PACK with kind, subtype, words and domain, and all its problems.

    PACK is a folder with query_list.tsv, or a file. Exit code 0: valid; 1: not.
    """
    findings = Findings(limit=None if every else LISTED_PER_RULE)
    known = chosen_catalogue(catalogue, json=as_json)
    found = read_query_pack(pack, findings, known)
    if as_json:
        sys.stdout.write(json_output.dumps(_object(pack, found, findings)))
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
