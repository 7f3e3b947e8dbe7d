"""`basanite compare`: which of several systems differ, from their submissions, saved results or tables of units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from basanite.analysis.results import Analysis
from basanite.cli.options import (
    PATH,
    as_json,
    dask_option,
    example,
    gather_options,
    on,
    parsed_settings,
    run_or_exit,
    say,
    settings_option,
    show_findings,
    show_report,
    task_argument,
    write_reports,
)
from basanite.cli.positions import files_argument, judged_systems, named_systems, reference_and_systems, split_name
from basanite.cli.scoring import (
    RunOptions,
    check_outputs,
    reference_option,
    run_options,
    units_option,
    write_table_of_units,
)
from basanite.cli.terminal import Progress
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.unit_tables import is_unit_table
from basanite.reports.comparison import comparison_report
from basanite.reports.report import Report
from basanite.scoring import Scorer, build_comparison_report, find_task
from basanite.tasks import Inputs
from basanite.tasks.settings import values_design

if TYPE_CHECKING:
    from basanite.clusters.address import Cluster

OF_SUBMISSIONS = (
    "task",
    "files",
    "units",
    "submissions",
    "references",
    "metadata",
    "queries",
    "judgements",
    "human",
    "draws",
    "gain",
    "seed",
    "workers",
    "cluster",
    "dask",
    "settings",
)


@click.command(epilog=example("basanite compare clir key/ A=Alpha.tgz B=Beta.tgz"))
@task_argument(required=False)
@files_argument("[REF] [[NAME=]HYP]...", plain=True)
@click.option("--submission", "submissions", multiple=True, metavar="[NAME=]PATH", help="Can be repeated.")
@reference_option
@run_options
@click.option(
    "--result",
    "results",
    multiple=True,
    metavar="[NAME=]FILE",
    help="In place of TASK, REF and HYP: what `score --json` printed, or a table of --units. Can be repeated.",
)
@units_option
@click.option(
    "--judgements",
    multiple=True,
    metavar="NAME=FILE",
    help="Judgments of one system's summaries (e2e). Repeat for each system.",
)
@click.option("--human", type=PATH, help="Human answers (reading) to compare against.")
@click.option("--force", is_flag=True, help="Show results side by side even if they were not computed the same way.")
@dask_option
@settings_option
@as_json
@click.pass_context
@gather_options(RunOptions, "run")
def compare(
    ctx: click.Context,
    task: str | None,
    files: tuple[str, ...],
    submissions: tuple[str, ...],
    judgements: tuple[str, ...],
    run: RunOptions,
    results: tuple[str, ...],
    units: Path | None,
    force: bool,
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Compare two or more submissions to TASK: differences, groups, rank ranges.

    REF is the reference and each HYP a submission, as with --reference and --submission; for a task that needs no
    reference, two files are two submissions. With --result, saved results are shown side by side, without tests, and
    systems of tables of units are tested on the means of their units.
    """
    tables = bool(results) and all(is_unit_table(split_name(text)[1]) for text in results)
    check_usage(ctx, OF_SUBMISSIONS if not tables else OF_SUBMISSIONS_ALONE)
    if task is not None:
        references, submissions = reference_and_systems(files, run.references, submissions, find_task(task))
        run = replace(run, references=references)
    check_outputs(run.reports, units, [*(split_name(text)[1] for text in (*submissions, *results, *judgements))])
    if tables:
        report = of_unit_tables(results, run, json=as_json)
    elif results or task is None:
        report = of_results(results, run.metrics, run.primary, force=force)
    else:
        shared = run.inputs()
        with on(dask) as executor:
            scorer = run.scorer(task, Progress(), executor)
            analyses = of_submissions(scorer, submissions, shared, judged_systems(judgements), json=as_json)
            report = build_comparison_report(scorer.task, scorer.comparison(analyses))
            write_table_of_units(analyses, units)
    write_reports(report, run.reports)  # first, for anyone who reads our output may leave early
    show_report(report, json=as_json)


OF_SUBMISSIONS_ALONE = tuple(name for name in OF_SUBMISSIONS if name not in ("draws", "seed", "settings"))
"""What tables of units go without: their systems are tested, so they take what tests take."""


def check_usage(ctx: click.Context, alone: Sequence[str]) -> None:
    """Either submissions with a task and a reference, or results; nothing that would be silently left aside."""
    given = {name for name in ctx.params if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE}
    if "results" in given:
        mixed = ", ".join(name for name in alone if name in given)
        if mixed:
            raise click.UsageError(f"--result goes without these: {mixed}. A result is shown as it was made.")
    elif "force" in given:
        raise click.UsageError("--force goes with --result only: submissions are always scored the same way.")
    elif "task" not in given or not (ctx.params["files"] or "submissions" in given):
        raise click.UsageError(
            "Give TASK REF HYP HYP, or TASK with --reference and two --submission or more, or two --result or more."
        )


def of_submissions(
    scorer: Scorer, submissions: tuple[str, ...], shared: Inputs, judged: Mapping[str, Path], *, json: bool
) -> list[Analysis]:
    """Score all submissions, each with its own judgements if there are any."""
    systems = named_systems(submissions)
    stray = sorted(judged.keys() - systems.keys())
    if stray:
        raise SettingError(f"--judgements names {stray[0]!r}, which is not a system here: {', '.join(systems)}.")
    analyses = [
        one
        for name, path in systems.items()
        for one in _analyses(scorer, replace(shared, submission=path, judgements=judged.get(name)), name, json)
    ]
    if isinstance(scorer.progress, Progress):
        scorer.progress.close()
    return analyses


def of_results(results: tuple[str, ...], metrics: tuple[str, ...], primary: str | None, *, force: bool) -> Report:
    """Show results that were written down side by side."""
    systems = named_systems(results, "result").items()
    from basanite.reports.result_files import read_result, side_by_side  # only results of earlier runs need them

    found = [read_result(path, name) for name, path in systems]
    return side_by_side(found, metrics=metrics, primary=primary, force=force)


def of_unit_tables(results: tuple[str, ...], run: RunOptions, *, json: bool) -> Report:
    """Compare the systems of tables of units by the means of their units."""
    named = [text for text in results if split_name(text)[1] != Path(text)]
    if named:
        raise SettingError(f"--result {named[0]!r}: a table of units names its systems itself. Give the file alone.")
    from basanite.functions import compare_unit_tables  # only tables need it

    design = values_design(parsed_settings(run.settings), draws=run.draws, seed=run.seed)
    paths = [Path(text) for text in results]
    found = run_or_exit(
        lambda: compare_unit_tables(paths, design, metrics=run.metrics, primary=run.primary), json=json, plain=True
    )
    return comparison_report(found)


def _analyses(scorer: Scorer, inputs: Inputs, name: str, json: bool) -> list[Analysis]:
    try:
        return scorer.analyses_of(inputs, system=name)
    except InvalidInputError as invalid:
        if not json:
            say(f"{name} ({inputs.submission}):")
        show_findings(invalid.findings, invalid.task, json=json)
        raise click.exceptions.Exit(1) from None
