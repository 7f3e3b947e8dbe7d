"""`basanite score`: score a submission against a reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite import spine
from basanite.cli.dask_option import dask_option, on
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
from basanite.interface import Work
from basanite.tasks import Inputs

if TYPE_CHECKING:
    from basanite.clusters.address import Cluster


@click.command(epilog=example("basanite score clir --reference key/ --submission Alpha.tgz --report alpha.html"))
@task_argument()
@click.option("--submission", type=PATH, required=True, help="The submission: a .tgz, a folder or one file.")
@reference_option
@click.option("--judgements", type=PATH, help="What judges said of the summaries (e2e): TSV or CSV.")
@click.option("--human", type=PATH, help="What people answered (reading), to be measured against.")
@run_options
@dask_option
@settings_option
@as_json
def score(
    task: str,
    submission: Path,
    references: tuple[Path, ...],
    metadata: tuple[Path, ...],
    queries: Path | None,
    judgements: Path | None,
    human: Path | None,
    metrics: tuple[str, ...],
    primary: str | None,
    draws: int | None,
    seed: int,
    workers: int,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    cluster: str | None,
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Score one submission to TASK: values with intervals, breakdowns, curves."""
    check_reports(reports)
    progress = Progress()
    inputs = Inputs(submission, None, None, queries, metadata, judgements, human).against(references)
    with on(dask) as executor:
        work = Work(
            task,
            with_options(parsed_settings(settings), primary=primary, cluster=cluster),
            draws=draws,
            seed=seed,
            workers=workers,
            metrics=metrics,
            progress=progress,
            executor=executor,
        )
        analysis = guarded(lambda: work.analysis(inputs), json=as_json)
    progress.close()
    report = spine.report(work.task, analysis)
    write_reports(report, reports)  # first, for whoever reads our output may leave early
    show_report(report, json=as_json)
