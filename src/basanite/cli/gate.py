"""`basanite gate`: let a new version through only if it is shown to be no worse than a baseline by a margin (Y-8)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from basanite.cli.options import (
    FIRST_FILE,
    PATH,
    as_json,
    check_places,
    check_reports,
    example,
    gather_options,
    run_or_exit,
    say,
    settings_option,
    show_report,
    task_argument,
    write_reports,
)
from basanite.cli.positions import input_path, split_name
from basanite.cli.scoring import RunOptions, reference_option, run_options
from basanite.cli.terminal import Progress
from basanite.errors import SettingError
from basanite.reports.gate import UNFINISHED_MARKDOWN, gate_junit, gate_markdown, gate_report, unfinished_junit

NOT_PASSED = 4


@click.command(epilog=example("basanite gate --baseline main.eval --now branch.eval --no-worse-than 0.01"))
@task_argument(required=False)
@click.option("--baseline", required=True, metavar="[NAME=]PATH", help="The baseline.")
@click.option("--now", required=True, metavar="[NAME=]PATH", help="The new version.")
@click.option(
    "--no-worse-than",
    "margins",
    required=True,
    multiple=True,
    metavar="[METRIC=]MARGIN",
    help="The smallest loss that is not acceptable, for the primary metric or for METRIC. Repeat for more metrics.",
)
@reference_option
@run_options
@click.option("--human", type=PATH, help="Human answers (reading) to compare against.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write the result as JUnit XML.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), help="Write a summary in Markdown.")
@settings_option
@as_json
@click.pass_context
@gather_options(RunOptions, "run")
def gate(
    ctx: click.Context,
    task: str | None,
    baseline: str,
    now: str,
    margins: tuple[str, ...],
    junit: Path | None,
    markdown: Path | None,
    run: RunOptions,
    as_json: bool,
) -> None:
    """Pass only if a new version is shown to be worse than a baseline by less than a margin, if at all.

    Exit code 0: the one-sided 95% upper bound of the loss is below the margin. 4: it is not, because the new version is
    worse or the data cannot decide. Without TASK, logs of scores are compared.
    """
    if FIRST_FILE in ctx.meta:
        raise click.UsageError("Give files by --baseline and --now.")
    files = dict(zip(("baseline", "now"), map(split_name, (baseline, now)), strict=True))
    inputs = [path for _, path in files.values()]
    check_reports(run.reports, inputs)
    check_places([path for path in (junit, markdown) if path], inputs)
    write_summaries((junit, unfinished_junit(task or "scores")), (markdown, UNFINISHED_MARKDOWN))
    wanted = read_margins(margins)
    progress = Progress()
    named = tuple(name for name in wanted if name)
    scorer = replace(run, metrics=(*run.metrics, *named)).scorer(task or "scores", progress)
    shared = run.inputs()
    systems = {name: input_path(path) for name, path in distinct(files).items()}
    analyses = run_or_exit(lambda: scorer.analyses(shared, systems, {}), json=as_json)
    found = scorer.gate(analyses, wanted)
    progress.close()
    for path in write_summaries((junit, gate_junit(found)), (markdown, gate_markdown(found))):
        say(f"Summary written to {path}")
    report = gate_report(found)
    write_reports(report, run.reports)
    show_report(report, json=as_json)
    if found.verdict != "passed":
        ctx.exit(NOT_PASSED)


def write_summaries(*summaries: tuple[Path | None, str]) -> list[Path]:
    """Write each text that has a place; returns the places."""
    wanted = {path: text for path, text in summaries if path is not None}
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return [*wanted]


def distinct(files: Mapping[str, tuple[str, Path]]) -> dict[str, Path]:
    """Both files by the names of their systems; where these are the same, by what they are in the gate."""
    same = len({name for name, _ in files.values()}) < len(files)
    return {role if same else name: path for role, (name, path) in files.items()}


def read_margins(texts: tuple[str, ...]) -> dict[str, float]:
    """Margins by metric; "" is the primary one.

    >>> read_margins(("0.01", "cost=0.5"))
    {'': 0.01, 'cost': 0.5}
    """
    margins: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            margin = float(number)
        except ValueError:
            margin = math.nan
        if not (math.isfinite(margin) and margin >= 0):
            raise SettingError(
                f"--no-worse-than {text!r} cannot be read: write a number of 0 or more, or METRIC=NUMBER."
            )
        if name in margins:
            raise SettingError(f"The margin of {name or 'the primary metric'} is given twice. Give it once.")
        margins[name] = margin
    return margins
