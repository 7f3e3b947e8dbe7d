"""`basanite power`: how many units, and judges, are enough, and what difference the present ones can show."""

from __future__ import annotations

import click
from click.core import ParameterSource

from basanite.analysis.power import Spread
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    gather_options,
    run_or_exit,
    settings_option,
    show_report,
    task_argument,
    write_reports,
)
from basanite.cli.positions import judged_systems, named_systems, split_name
from basanite.cli.scoring import RunOptions, reference_option, run_options
from basanite.cli.terminal import Progress
from basanite.reports.power import power_report
from basanite.scoring import power_goal, stated_power

STATED = ("variance", "judge_variance", "judges", "units")


@click.command(epilog=example("basanite power clir --reference key/ --submission Alpha.tgz --half-width 0.05"))
@task_argument(required=False)
@click.option("--submission", "submissions", multiple=True, metavar="[NAME=]PATH", help="One or more systems.")
@reference_option
@run_options
@click.option("--judgements", multiple=True, metavar="NAME=FILE", help="Judgments of one system's summaries (e2e).")
@click.option("--human", type=PATH, help="Human answers (reading) to compare against.")
@click.option("--difference", type=float, help="The difference to detect. [default: the observed one]")
@click.option("--half-width", type=float, help="The required half-width of the interval.")
@click.option(
    "--power",
    "share",
    type=float,
    default=0.8,
    show_default=True,
    help="The share of cases in which the difference is detected.",
)
@click.option("--variance", type=float, help="In place of TASK and files: the variance of one unit.")
@click.option("--judge-variance", type=float, help="With --variance: the variance of single judges inside a unit.")
@click.option("--judges", type=float, default=1, show_default=True, help="Judges per unit in --variance.")
@click.option("--units", type=click.IntRange(1), help="With --variance: how many units there are.")
@settings_option
@as_json
@click.pass_context
@gather_options(RunOptions, "run")
def power(
    ctx: click.Context,
    task: str | None,
    submissions: tuple[str, ...],
    judgements: tuple[str, ...],
    run: RunOptions,
    difference: float | None,
    half_width: float | None,
    share: float,
    variance: float | None,
    judge_variance: float | None,
    judges: float,
    units: int | None,
    as_json: bool,
) -> None:
    """Estimate how many units show a difference or reach a half-width, and what the present units can show.

    The variance is estimated from submissions to TASK (of the difference, if there are two or more) or given by
    --variance. The level of the test is `--set alpha=…`, divided by the number of pairs.
    """
    check_usage(ctx)
    check_reports(run.reports, [split_name(text)[1] for text in (*submissions, *judgements)])
    goal = power_goal(run.task_settings, share=share, difference=difference, half_width=half_width)
    if variance is not None:
        found = [stated_power(goal, Spread(variance, judge_variance, judges), units, run.task_settings)]
    else:
        shown = Progress()
        scorer, shared = run.scorer(task or "", shown), run.inputs()
        systems, judged = named_systems(submissions), judged_systems(judgements)
        found = scorer.power(run_or_exit(lambda: scorer.analyses(shared, systems, judged), json=as_json), goal)
        shown.close()
    report = power_report(found, task=task or "")
    write_reports(report, run.reports)
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
