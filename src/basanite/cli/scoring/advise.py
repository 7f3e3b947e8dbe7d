"""`basanite advise`: which threshold would have been best, on a key that the user holds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    guarded,
    key_option,
    parsed_settings,
    settings_option,
    show_report,
    task_argument,
    with_options,
    write_reports,
)
from basanite.cli.progress import Progress
from basanite.cli.scoring.held_key import HeldKeyWork
from basanite.interface import system_name
from basanite.metrics.retrieval.calibration import CALIBRATIONS
from basanite.reports.kinds.advising import advice_report
from basanite.tasks import Inputs
from basanite.tasks.detecting.threshold_advice import Method
from basanite.tasks.detecting.threshold_advice import advise as advise_on


@click.command(epilog=example("basanite advise clir --reference key/ --submission Alpha.tgz"))
@task_argument()
@click.option("--submission", type=PATH, required=True, help="The submission: a .tgz or a folder.")
@key_option
@click.option("--metadata", type=PATH, multiple=True, help="A table of factors; only checked here.")
@click.option("--folds", type=click.IntRange(2, 100), help="Folds of queries. [default: 10]")
@click.option(
    "--calibration",
    type=click.Choice(tuple(CALIBRATIONS)),
    default="isotonic",
    show_default=True,
    help="How confidences become probabilities.",
)
@click.option(
    "--count",
    type=click.Choice(("probabilities", "queries")),
    default="probabilities",
    show_default=True,
    help="How many documents a query has: by its own probabilities, or as other queries.",
)
@click.option("--draws", type=click.IntRange(1), help="Draws of the bootstrap. [default: 1000]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …")
@settings_option
@as_json
def advise(
    task: str,
    submission: Path,
    reference: Path,
    metadata: tuple[Path, ...],
    folds: int | None,
    calibration: str,
    count: Literal["probabilities", "queries"],
    draws: int | None,
    seed: int,
    workers: int,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell which threshold would have been best for a submission to TASK, judged on queries that did not choose it.

    Without a clear gain the advice is to keep the submitted decisions.
    """
    check_reports(reports)
    progress = Progress()
    work = HeldKeyWork(
        task,
        with_options(parsed_settings(settings), folds=folds),
        draws=draws,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    inputs = Inputs(submission, reference, metadata=metadata)
    run = guarded(lambda: work.run(inputs), json=as_json)
    progress.close()
    advice = advise_on(run, system_name(submission), work.design, Method(calibration, count))
    report = advice_report(advice)
    show_report(report, json=as_json)
    write_reports(report, reports)
