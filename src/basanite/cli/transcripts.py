"""`basanite transcripts`: read what language models answered, in a terminal or on a page to search and compare."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from basanite import canonical
from basanite.cli.held_key import check_page, write_page
from basanite.cli.options import PATH, as_json, example, run_or_exit, say
from basanite.models.transcript_file import NAME
from basanite.models.transcript_page import STATES, CallSearch, call_rows, found_rows, read_page_calls, side_by_side
from basanite.problems import visible
from basanite.reports.wording import plural

SCORES = "scores.csv"
SHOWN = 400
"""Characters of a text that a terminal shows."""


@click.command(epilog=example("basanite transcripts answers/adder.jsonl answers/no-carry.jsonl --out compared.html"))
@click.argument("runs", nargs=-1, required=True, type=PATH, metavar="RUN...")
@click.option("--out", type=PATH, help="Write a page (.html) with all calls, side by side for several runs.")
@click.option("--search", "words", default="", help="Only calls that contain all of these words.")
@click.option("--state", type=click.Choice(STATES), help="Only calls that ended so.")
@click.option("--item", "items", multiple=True, help="Only this item. Can be repeated.")
@click.option(
    "--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Show at most this many calls."
)
@as_json
def transcripts(
    runs: tuple[Path, ...],
    out: Path | None,
    words: str,
    state: str | None,
    items: tuple[str, ...],
    limit: int,
    as_json: bool,
) -> None:
    """Show what language models were asked and answered in each RUN: a folder of `basanite run`, or its transcripts.

    The page holds prompts and answers in clear: keep it where the items are kept.
    """
    check_page(out)
    systems = run_or_exit(lambda: read_runs(runs), json=as_json, plain=True)
    if out is not None:
        from basanite.reports.outputs.transcripts_page import render  # only the page needs jinja2

        write_page(out, render(list(systems), side_by_side(systems)))
    wanted = CallSearch(words, state or "", items, 0, limit)
    found = {name: found_rows(rows, wanted) for name, rows in systems.items()}
    if as_json:
        about = [
            {"system": name, "total": len(systems[name]), "found": count, "calls": rows}
            for name, (rows, count) in found.items()
        ]
        sys.stdout.write(canonical.dumps({"systems": about}))
        return
    for name, (rows, count) in found.items():
        _show(name, systems[name], rows if out is None else (), count)


def read_runs(runs: Sequence[Path]) -> dict[str, list[dict[str, Any]]]:
    """The calls of each run by the name of its system, with scores where the run has some."""
    systems: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        path = run / NAME if run.is_dir() else run
        calls = read_page_calls(path)
        name = calls.system or path.parent.name
        name = name if name not in systems else f"{name} ({path.parent.name or len(systems)})"
        while name in systems:
            name += "'"
        scores = _scores_beside(path)
        systems[name] = [{**row, "score": scores.get((row["item"], row["repeat"]))} for row in call_rows(calls)]
    return systems


def _scores_beside(path: Path) -> dict[tuple[str, int], float]:
    """The scores that `basanite run` wrote beside the transcripts, if it did."""
    table = path.parent / SCORES
    if not table.is_file():
        return {}
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.get("score") and (row.get("repeat") or "").isdigit()]
    return {(row["item"], int(row["repeat"])): float(row["score"]) for row in rows}


def _show(name: str, rows: Sequence[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]], found: int) -> None:
    counts = Counter(row["state"] for row in rows)
    told = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    click.echo(visible(f"{name}: {plural('call', len(rows))} ({told})"))
    for row in shown:
        repeat = f", repeat {row['repeat']}" if row["repeat"] > 1 else ""
        score = "" if row["score"] is None else f", score {row['score']:g}"
        click.echo()
        click.echo(visible(f"{row['item']}{repeat}: {row['state']}{score}"))
        for line in f"{row['prompt'][:SHOWN]}\n{(row['text'] or row['error'])[:SHOWN]}".splitlines():
            click.echo(visible(f"  {line}"))
    if shown and found > len(shown):
        say(f"{len(shown)} of {found} shown; --limit shows more, --out writes a page with all.")
