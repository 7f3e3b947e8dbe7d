"""`basanite validate`: find all problems of a submission, each with its place and its cure."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.options import (
    PATH,
    as_json,
    example,
    parsed_settings,
    say,
    settings_option,
    show_findings,
    task_argument,
)
from basanite.cli.progress import Progress
from basanite.formats.archives.archive import open_source
from basanite.formats.archives.repair import write_repaired
from basanite.interface import Work
from basanite.problems import visible
from basanite.tasks import Inputs


@click.command(
    epilog=example("basanite validate clir --submission Alpha.tgz --documents documents.txt --queries queries.txt")
)
@task_argument()
@click.option("--submission", type=PATH, required=True, help="The submission: a .tgz, a folder or one file.")
@click.option("--reference", "references", type=PATH, multiple=True, help="The truth, if you have it.")
@click.option("--documents", type=PATH, help="The pack's list of documents, one a line (without a key).")
@click.option("--queries", type=PATH, help="The pack's list of queries, one a line (without a key).")
@click.option("--metadata", type=PATH, multiple=True, help="A table of factors to check as well.")
@click.option("--judgements", type=PATH, help="What judges said of the summaries (e2e), to be checked as well.")
@click.option("--human", type=PATH, help="What people answered (reading), to be checked as well.")
@click.option("--fix", "repaired", type=PATH, help="Write a repaired copy: line ends, byte order mark, parent folder.")
@click.option("--all", "every", is_flag=True, help="List every problem, not only the first 20 of each rule.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@settings_option
@as_json
def validate(
    task: str,
    submission: Path,
    references: tuple[Path, ...],
    documents: Path | None,
    queries: Path | None,
    metadata: tuple[Path, ...],
    judgements: Path | None,
    human: Path | None,
    repaired: Path | None,
    every: bool,
    workers: int,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find all problems of a submission to TASK. Exit code 0: valid; 1: not."""
    progress = Progress()
    work = Work(task, parsed_settings(settings), workers=workers, progress=progress)
    inputs = Inputs(submission, None, documents, queries, metadata, judgements, human).against(references)
    findings = work.findings(inputs, every=every)
    progress.close()
    show_findings(findings, task, json=as_json)
    if repaired is not None:
        _repair(submission, repaired, work.task.depth)
    if not as_json and findings.valid:
        warned = " Warnings are listed above." if findings.problems else ""
        click.echo(f"{visible(submission.name or str(submission))} is valid.{warned}")
    if not findings.valid:
        raise click.exceptions.Exit(1)


def _repair(submission: Path, repaired: Path, depth: int) -> None:
    changes = write_repaired(open_source(submission, depth=depth), repaired)
    for change in changes:
        say(change)
    what = f"{len(changes)} changes" if changes else "nothing needed to be changed"
    say(f"Copy written to {repaired} ({what}). Validate it next.")
