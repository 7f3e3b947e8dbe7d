"""`basanite compare`: tell which of several systems differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from basanite import spine
from basanite.analysis.results import Analysis
from basanite.cli.dask_option import dask_option, on
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    parsed_settings,
    reference_option,
    run_options,
    say,
    settings_option,
    show_findings,
    show_report,
    task_argument,
    with_options,
    write_reports,
)
from basanite.cli.progress import Progress
from basanite.errors import InvalidInputError, SettingError
from basanite.interface import Work, system_name
from basanite.reports.kinds.results import read_result, side_by_side
from basanite.reports.model import Report
from basanite.tasks import Inputs

if TYPE_CHECKING:
    from basanite.clusters.address import Cluster

OF_SUBMISSIONS = (
    "task",
    "submissions",
    "references",
    "metadata",
    "queries",
    "judgements",
    "human",
    "draws",
    "seed",
    "workers",
    "cluster",
    "dask",
    "settings",
)


@click.command(
    epilog=example("basanite compare clir --reference key/ --submission A=Alpha.tgz --submission B=Beta.tgz")
)
@task_argument(required=False)
@click.option("--submission", "submissions", multiple=True, metavar="[NAME=]PATH", help="Repeat it.")
@reference_option
@run_options
@click.option(
    "--result",
    "results",
    multiple=True,
    metavar="[NAME=]FILE",
    help="In place of TASK, --reference and --submission: what `score --json` printed. Repeat it.",
)
@click.option(
    "--judgements",
    multiple=True,
    metavar="NAME=FILE",
    help="What judges said of the summaries of one system (e2e). Repeat it for each.",
)
@click.option("--human", type=PATH, help="What people answered (reading), to be measured against.")
@click.option("--force", is_flag=True, help="Show results side by side even if they were not made alike.")
@dask_option
@settings_option
@as_json
@click.pass_context
def compare(
    ctx: click.Context,
    task: str | None,
    submissions: tuple[str, ...],
    references: tuple[Path, ...],
    metadata: tuple[Path, ...],
    queries: Path | None,
    judgements: tuple[str, ...],
    human: Path | None,
    metrics: tuple[str, ...],
    primary: str | None,
    draws: int | None,
    seed: int,
    workers: int,
    reports: tuple[Path, ...],
    results: tuple[str, ...],
    force: bool,
    settings: tuple[str, ...],
    cluster: str | None,
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Compare two or more submissions to TASK: differences, groups, rank ranges.

    With --result, results that were written down are shown side by side; nothing is tested then.
    """
    check_usage(ctx)
    check_reports(reports, [*(split_name(text)[1] for text in (*submissions, *results, *judgements))])
    if results or task is None:
        report = of_results(results, metrics, primary, force=force)
    else:
        shared = Inputs(Path(), None, None, queries, metadata, human=human).against(references)
        with on(dask) as executor:
            work = Work(
                task,
                with_options(parsed_settings(settings), primary=primary, cluster=cluster),
                draws=draws,
                seed=seed,
                workers=workers,
                metrics=metrics,
                progress=Progress(),
                executor=executor,
            )
            report = of_submissions(work, submissions, shared, judged_systems(judgements), json=as_json)
    write_reports(report, reports)  # first, for whoever reads our output may leave early
    show_report(report, json=as_json)


def check_usage(ctx: click.Context) -> None:
    """Either submissions with a task and a reference, or results; nothing that would be silently left aside."""
    given = {name for name in ctx.params if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE}
    if "results" in given:
        mixed = ", ".join(name for name in OF_SUBMISSIONS if name in given)
        if mixed:
            raise click.UsageError(f"--result goes without these: {mixed}. A result is shown as it was made.")
    elif "force" in given:
        raise click.UsageError("--force goes with --result only: submissions are always scored alike.")
    elif not {"task", "submissions"} <= given:
        raise click.UsageError("Give TASK, --reference and two --submission or more, or two --result or more.")


def of_submissions(
    work: Work, submissions: tuple[str, ...], shared: Inputs, judged: Mapping[str, Path], *, json: bool
) -> Report:
    """Score all submissions, each with its own judgements if there are any, and compare them."""
    systems = named_systems(submissions)
    stray = sorted(judged.keys() - systems.keys())
    if stray:
        raise SettingError(f"--judgements names {stray[0]!r}, which is no system here: {', '.join(systems)}.")
    analyses = [
        _analysis(work, replace(shared, submission=path, judgements=judged.get(name)), name, json)
        for name, path in systems.items()
    ]
    if isinstance(work.progress, Progress):
        work.progress.close()
    return spine.compare_report(work.task, work.comparison(analyses))


def judged_systems(texts: tuple[str, ...]) -> dict[str, Path]:
    """Judgements by the name of their system: summaries differ, so each system has its own."""
    for text in texts:
        if "=" not in text:
            raise SettingError(f"--judgements {text!r} does not say of which system: write NAME=FILE.")
    return {name: Path(path) for name, _, path in (text.partition("=") for text in texts)}


def of_results(results: tuple[str, ...], metrics: tuple[str, ...], primary: str | None, *, force: bool) -> Report:
    """Show results that were written down side by side."""
    systems = named_systems(results, "result").items()
    found = [read_result(path, name) for name, path in systems]
    return side_by_side(found, metrics=metrics, primary=primary, force=force)


def _analysis(work: Work, inputs: Inputs, name: str, json: bool) -> Analysis:
    try:
        return work.analysis(inputs, system=name)
    except InvalidInputError as invalid:
        if not json:
            say(f"{name} ({inputs.submission}):")
        show_findings(invalid.findings, invalid.task, json=json)
        raise click.exceptions.Exit(1) from None


def named_systems(texts: tuple[str, ...], option: str = "submission") -> dict[str, Path]:
    """Systems by name, from `NAME=PATH` or `PATH`."""
    systems: dict[str, Path] = {}
    for text in texts:
        name, path = split_name(text)
        if name in systems:
            raise SettingError(f"Two systems are called {name!r}. Give them names: --{option} NAME=PATH.")
        systems[name] = path
    return systems


def split_name(text: str) -> tuple[str, Path]:
    """A name and a path; a path that exists as it stands is no `NAME=PATH`, whatever it contains."""
    name, sign, path = text.partition("=")
    if sign and name and not Path(text).exists():
        return name, Path(path)
    return system_name(Path(text)).removesuffix(".json"), Path(text)
