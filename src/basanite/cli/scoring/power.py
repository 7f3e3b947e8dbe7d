"""`basanite power`: how many units, and judges, are enough, and what difference the present ones can show."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from basanite.analysis.power import Spread
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    guarded,
    parsed_settings,
    reference_option,
    run_options,
    settings_option,
    show_report,
    task_argument,
    with_options,
    write_reports,
)
from basanite.cli.progress import Progress
from basanite.cli.scoring.compare import judged_systems, named_systems, split_name
from basanite.interface import Work, power_goal, stated_power
from basanite.reports.kinds.power import power_report
from basanite.tasks import Inputs

STATED = ("variance", "judge_variance", "judges", "units")


@click.command(epilog=example("basanite power clir --reference key/ --submission Alpha.tgz --half-width 0.05"))
@task_argument(required=False)
@click.option("--submission", "submissions", multiple=True, metavar="[NAME=]PATH", help="One system, or several.")
@reference_option
@run_options
@click.option("--judgements", multiple=True, metavar="NAME=FILE", help="What judges said of one system (e2e).")
@click.option("--human", type=PATH, help="What people answered (reading), to be measured against.")
@click.option("--difference", type=float, help="The difference to be shown. [default: the observed one]")
@click.option("--half-width", type=float, help="Half the width that the interval is to have.")
@click.option("--power", "share", type=float, default=0.8, show_default=True, help="In which share of cases.")
@click.option("--variance", type=float, help="In place of TASK and files: the variance of one unit.")
@click.option("--judge-variance", type=float, help="With --variance: the variance of single judges inside a unit.")
@click.option("--judges", type=float, default=1, show_default=True, help="Judges a unit has in --variance.")
@click.option("--units", type=click.IntRange(1), help="With --variance: how many units there are.")
@settings_option
@as_json
@click.pass_context
def power(
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
    cluster: str | None,
    draws: int | None,
    seed: int,
    workers: int,
    difference: float | None,
    half_width: float | None,
    share: float,
    variance: float | None,
    judge_variance: float | None,
    judges: float,
    units: int | None,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell how many units are enough to show a difference or to reach a half-width, and what the present ones can show.

    The variance comes from submissions to TASK (of the difference, where there are two or more), or is stated by
    --variance. The level of the test is `--set alpha=…`, divided by the number of pairs.
    """
    check_usage(ctx)
    check_reports(reports, [split_name(text)[1] for text in (*submissions, *judgements)])
    told = with_options(parsed_settings(settings), primary=primary, cluster=cluster)
    goal = power_goal(told, share=share, difference=difference, half_width=half_width)
    if variance is not None:
        found = [stated_power(goal, Spread(variance, judge_variance, judges), units, told)]
    else:
        work = Work(
            task or "", told, draws=draws, seed=seed, workers=workers, metrics=metrics, progress=(shown := Progress())
        )
        shared = Inputs(Path(), None, None, queries, metadata, human=human).against(references)
        systems, judged = named_systems(submissions), judged_systems(judgements)
        found = work.power(guarded(lambda: work.analyses(shared, systems, judged), json=as_json), goal)
        shown.close()
    report = power_report(found, task=task or "")
    write_reports(report, reports)
    show_report(report, json=as_json)


def check_usage(ctx: click.Context) -> None:
    """Either a task with files, or a stated variance; nothing that would be silently left aside."""
    given = {name for name in ctx.params if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE}
    stated = [f"--{name.replace('_', '-')}" for name in STATED if name in given]
    if "task" in given and stated:
        raise click.UsageError(f"{', '.join(stated)} goes without TASK: the variance is that of the submissions.")
    if "task" in given and "submissions" not in given:
        raise click.UsageError("Give at least one --submission, or --variance without TASK.")
    if "task" not in given and "variance" not in given:
        raise click.UsageError("Give TASK, --reference and --submission, or the variance of one unit by --variance.")
    if "task" not in given and "submissions" in given:
        raise click.UsageError("Say by which TASK the submissions are scored.")
    if "variance" in given and not {"difference", "half_width", "units"} & given:
        raise click.UsageError("Say what is wanted: --difference, --half-width, or --units for what they can show.")
