"""`basanite validate` and `score`: find problems and score; what `compare` and `power` take as well."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite.analysis.results import Analysis
from basanite.cli.options import (
    PATH,
    Command,
    as_json,
    check_places,
    check_reports,
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
    with_options,
    write_reports,
)
from basanite.cli.positions import (
    INPUT,
    files_argument,
    reference_and_submission,
)
from basanite.cli.terminal import Progress
from basanite.errors import SettingError
from basanite.problems import visible
from basanite.registry import names
from basanite.reports.wording import plural
from basanite.scoring import (
    Scorer,
    build_report,
)
from basanite.tasks import Inputs

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from basanite.clusters.address import Cluster
    from basanite.reports.report import Section


ADDRESS = re.compile(r"[a-z]+://.*|[\w.-]+:\d+")


@dataclass(frozen=True)
class RunOptions:
    """What every command takes that scores submissions."""

    references: tuple[Path, ...]
    metadata: tuple[Path, ...]
    queries: Path | None
    human: Path | None
    metrics: tuple[str, ...]
    primary: str | None
    gain: str | None
    cluster: str | None
    draws: int | None
    seed: int
    workers: int
    reports: tuple[Path, ...]
    settings: tuple[str, ...]

    @property
    def task_settings(self) -> dict[str, str]:
        """The settings, with those that have options of their own."""
        given = parsed_settings(self.settings)
        return with_options(given, primary=self.primary, gain=self.gain, cluster=self.cluster)

    def inputs(self, submission: Path = Path(), judgements: Path | None = None) -> Inputs:
        """The files of one submission, or what several have in common."""
        shared = Inputs(submission, None, None, self.queries, self.metadata, judgements, self.human)
        return shared.against(self.references)

    def scorer(self, task: str, progress: Progress, executor: Executor | None = None) -> Scorer:
        """What scores by these options."""
        return Scorer(
            task,
            self.task_settings,
            draws=self.draws,
            seed=self.seed,
            workers=self.workers,
            metrics=self.metrics,
            progress=progress,
            work=progress.work,
            executor=executor,
        )


def _metric_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The metrics that a shell may offer; one that is called `labels.map` is asked for as `map`."""
    short = {name.rpartition(".")[2] for name in names("metrics")}
    return sorted(name for name in short if name.startswith(incomplete))


def _column(ctx: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """The name of a column; an address was meant for what is called `--dask` now."""
    if value is not None and ADDRESS.fullmatch(value):
        raise SettingError(f"--cluster names a column. For the Dask cluster at {value}, write --dask {value}.")
    return value


def run_options(command: Command) -> Command:
    """Add what every scoring command takes."""
    for option in (
        click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use."),
        click.option(
            "--metric",
            "metrics",
            multiple=True,
            shell_complete=_metric_names,
            help="Only these metrics and the primary one. Can be repeated.",
        ),
        click.option(
            "--primary",
            metavar="NAME",
            shell_complete=_metric_names,
            help="The primary metric, used for headlines, rankings and charts. [default: the task's own]",
        ),
        click.option("--gain", metavar="GAINS", help="Gains of grades in nDCG (ranking): exp, or 1=3,2=9."),
        click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the resamples."),
        click.option(
            "--draws",
            "--resamples",
            type=click.IntRange(1),
            help="Number of bootstrap resamples. [default: 1000; for bca 5000]",
        ),
        click.option(
            "--cluster",
            metavar="COLUMN",
            callback=_column,
            help="Units with the same value in this column are resampled together; none: every unit separately.",
        ),
        click.option("--queries", type=PATH, help="The query pack: its kinds, domains and words become factors."),
        click.option(
            "--metadata", type=PATH, multiple=True, help="A table of factors of items (by id), documents or queries."
        ),
        click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …"),
    ):
        command = option(command)
    return command


def units_option(command: Command) -> Command:
    """Add `--units`, a table with the value of every unit (T-30)."""
    text = "Also write the value of every unit: .csv, .jsonl, .parquet, or .txt as trec_eval -q prints it."
    return click.option("--units", type=PATH, help=text)(command)


def explain_option(command: Command) -> Command:
    """Add `--explain`, which adds worked examples to reports (T-27)."""
    text = "Explain a metric on one unit in the reports, as `basanite explain` does. Can be repeated."
    return click.option("--explain", "examples", multiple=True, metavar="METRIC=UNIT", help=text)(command)


def worked_examples(run: RunOptions, task: str, inputs: Inputs, examples: Sequence[str]) -> tuple[Section, ...]:
    """A section of a report for each metric and unit that was asked for."""
    pairs = [text.partition("=") for text in examples]
    for text, (_, sign, unit) in zip(examples, pairs, strict=True):
        if not sign or not unit:
            raise SettingError(f"--explain {text!r} names no unit: write METRIC=UNIT, like bleu=s12.")
    from basanite.reports.explanation import explanation_section  # only where an example is asked for

    return tuple(
        explanation_section(Scorer(task, run.task_settings).explanation(inputs, metric, unit))
        for metric, _, unit in pairs
    )


def check_outputs(reports: Sequence[Path], units: Path | None, inputs: Sequence[Path] = ()) -> None:
    """Find out before the work whether reports and the table of units can be written, and over no input."""
    check_reports(reports, inputs)
    if units is not None:
        from basanite.reports.unit_files import check_ending  # only where a table is asked for

        check_ending(units)
        check_places([units], inputs)


def write_table_of_units(analyses: Sequence[Analysis], units: Path | None) -> None:
    """Write the table of units if it was asked for, and say where."""
    if units is not None:
        from basanite.reports.unit_files import write_units

        say(f"{plural('value', write_units(analyses, units))} of units written to {units}")


def reference_option(command: Command) -> Command:
    """Add `--reference`, which may be repeated where items have several."""
    text = "The reference: a folder, a .tgz or a file. Repeat for further references of the same items."
    return click.option("--reference", "references", type=INPUT, multiple=True, help=text)(command)


def submission_option(command: Command) -> Command:
    """Add `--submission`, which may be given by position too."""
    text = "The submission: a .tgz, a folder or one file; - reads standard input."
    return click.option("--submission", type=INPUT, help=text)(command)


@click.command(
    epilog=example("basanite validate clir --submission Alpha.tgz --documents documents.txt --queries queries.txt")
)
@task_argument()
@files_argument("[REF] [HYP]")
@submission_option
@click.option("--reference", "references", type=INPUT, multiple=True, help="The reference, if you have it.")
@click.option("--documents", type=PATH, help="The pack's list of documents, one per line (without a key).")
@click.option("--queries", type=PATH, help="The pack's list of queries, one per line (without a key).")
@click.option("--metadata", type=PATH, multiple=True, help="A table of factors to check as well.")
@click.option("--judgements", type=PATH, help="Judgments of the summaries (e2e) to check as well.")
@click.option("--human", type=PATH, help="Human answers (reading) to check as well.")
@click.option("--fix", "repaired", type=PATH, help="Write a repaired copy: line ends, byte order mark, parent folder.")
@click.option("--all", "every", is_flag=True, help="List every problem, not only the first 20 of each rule.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@settings_option
@as_json
def validate(
    task: str,
    files: tuple[Path, ...],
    submission: Path | None,
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
    """Check a submission to TASK and list every problem. Exit code 0: valid; 1: not valid.

    REF is the reference, if you have it, and HYP the submission, as with --reference and --submission.
    """
    references, submission = reference_and_submission(files, references, submission)
    progress = Progress()
    scorer = Scorer(task, parsed_settings(settings), workers=workers, progress=progress)
    inputs = Inputs(submission, None, documents, queries, metadata, judgements, human).against(references)
    findings = scorer.findings(inputs, every=every)
    progress.close()
    show_findings(findings, task, json=as_json)
    if repaired is not None:
        _repair(submission, repaired, scorer.task.depth)
    if not as_json and findings.valid:
        warned = " Warnings are listed above." if findings.problems else ""
        click.echo(f"{visible(submission.name or str(submission))} is valid.{warned}")
    if not findings.valid:
        raise click.exceptions.Exit(1)


def _repair(submission: Path, repaired: Path, depth: int) -> None:
    from basanite.formats.archives.archive import open_source  # only a repair needs them
    from basanite.formats.archives.output import write_repaired

    changes = write_repaired(open_source(submission, depth=depth), repaired)
    for change in changes:
        say(change)
    what = f"{len(changes)} changes" if changes else "nothing needed to be changed"
    say(f"Copy written to {repaired} ({what}). Validate it next.")


@click.command(epilog=example("basanite score clir key/ Alpha.tgz --report alpha.html"))
@task_argument()
@files_argument("[REF] [HYP]")
@submission_option
@reference_option
@click.option("--judgements", type=PATH, help="Judgments of the summaries (e2e): TSV or CSV.")
@click.option("--human", type=PATH, help="Human answers (reading) to compare against.")
@run_options
@units_option
@explain_option
@dask_option
@settings_option
@as_json
@gather_options(RunOptions, "run")
def score(
    task: str,
    files: tuple[Path, ...],
    submission: Path | None,
    judgements: Path | None,
    run: RunOptions,
    units: Path | None,
    examples: tuple[str, ...],
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Score a submission to TASK: values with confidence intervals, breakdowns, curves.

    REF is the reference and HYP the submission, as with --reference and --submission. One file alone is the submission,
    for tasks that need no reference. A file called - is standard input.
    """
    references, submission = reference_and_submission(files, run.references, submission)
    check_outputs(run.reports, units)
    progress = Progress()
    inputs = replace(run, references=references).inputs(submission, judgements)
    with on(dask) as executor:
        scorer = run.scorer(task, progress, executor)
        analysis = run_or_exit(lambda: scorer.analysis(inputs), json=as_json)
    progress.close()
    report = build_report(scorer.task, analysis)
    report = replace(report, sections=(*report.sections, *worked_examples(run, task, inputs, examples)))
    write_reports(report, run.reports)  # first, for anyone who reads our output may leave early
    write_table_of_units([analysis], units)
    show_report(report, json=as_json)
