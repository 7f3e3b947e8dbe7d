"""`basanite material advise` and `explore`: the best threshold, and a page of errors, on a reference that you hold.

Commands on such a key look at single documents. They work on files at home only: a server never tells which documents
were hit or missed (M72).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click

from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    key_option,
    parsed_settings,
    run_or_exit,
    say,
    settings_option,
    show_report,
    task_argument,
    with_options,
    write_reports,
)
from basanite.cli.terminal import Progress
from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.system_names import system_name
from basanite.metrics.retrieval.calibration import CALIBRATIONS
from basanite.problems import Findings
from basanite.reports.advice import advice_report
from basanite.reports.explorer import errors_report
from basanite.scoring import Scorer
from basanite.tasks import Inputs, Opened
from basanite.tasks.retrieval.mistakes import (
    ErrorKinds,
    mistakes_of,
    read_error_kinds,
    remembering,
    with_images,
    with_strings,
)
from basanite.tasks.retrieval.queries import QueryRun
from basanite.tasks.retrieval.threshold_advice import Method
from basanite.tasks.retrieval.threshold_advice import advise as advise_on

Change = Callable[[Opened], Opened]


class HeldKeyScorer(Scorer):
    """The scorer of one command on one submission and its key."""

    def run(self, inputs: Inputs, change: Change = lambda run: run) -> Opened:
        """The run of a valid submission; `change` may put one in its place that remembers more."""
        self.task = replace(self.task, open=_opener_with_change(self.task.open, change))
        findings = Findings()
        opened = self.open_submission(inputs, findings, scored=True)
        if opened is None or not findings.valid:
            raise InvalidInputError(self.task.name, findings)
        return opened


def _opener_with_change(open_run: Callable[..., Opened | None], change: Change) -> Callable[..., Opened | None]:
    def open_with_change(inputs: Inputs, settings: Mapping[str, Any], *others: Any) -> Opened | None:
        run = open_run(inputs, settings, *others)
        return None if run is None else change(run)

    return open_with_change


@click.command(epilog=example("basanite material advise clir --reference key/ --submission Alpha.tgz"))
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
@click.option("--draws", "--resamples", type=click.IntRange(1), help="Number of bootstrap resamples. [default: 1000]")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the resamples.")
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
    """Find the best decision threshold for a submission to TASK, evaluated on queries that were not used to choose it.

    Without a significant gain, the advice is to keep the submitted decisions.
    """
    check_reports(reports)
    progress = Progress()
    work = HeldKeyScorer(
        task,
        with_options(parsed_settings(settings), folds=folds),
        draws=draws,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    inputs = Inputs(submission, reference, metadata=metadata)
    run = run_or_exit(lambda: work.run(inputs), json=as_json)
    progress.close()
    advice = advise_on(run, system_name(submission), work.design, Method(calibration, count))
    report = advice_report(advice)
    show_report(report, json=as_json)
    write_reports(report, reports)


ONLY_HTML = "The page is HTML, so --out must end in .html."


@click.command(
    epilog=example("basanite material explore clir --reference key/ --submission Alpha.tgz --out errors.html")
)
@task_argument()
@click.option("--submission", type=PATH, required=True, help="The submission: a .tgz or a folder.")
@key_option
@click.option("--metadata", type=PATH, multiple=True, help="A table of factors of documents or queries.")
@click.option("--queries", type=PATH, help="The query pack: what each query asks for, its kind and domain.")
@click.option("--domains", type=PATH, help="A DomainID key: separates false alarms in the right domain from others.")
@click.option("--strings", type=PATH, help="A key of the query strings alone, whatever the domain.")
@click.option("--most", type=click.IntRange(1), default=2000, show_default=True, help="Rows to list, the worst.")
@click.option("--images", type=click.IntRange(0), default=60, show_default=True, help="Summary images to embed (e2e).")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@click.option("--out", type=PATH, help="Write the page here: one .html file that needs no network.")
@settings_option
@as_json
def explore(
    task: str,
    submission: Path,
    reference: Path,
    metadata: tuple[Path, ...],
    queries: Path | None,
    domains: Path | None,
    strings: Path | None,
    most: int,
    images: int,
    workers: int,
    out: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """List the misses and false alarms of a submission to TASK, worst first, and write a page to explore them.

    The page shows single documents of the reference: protect it as you protect the reference.
    """
    check_page(out)
    progress = Progress()
    work = HeldKeyScorer(task, parsed_settings(settings), workers=workers, progress=progress)
    inputs = Inputs(submission, reference, None, queries, metadata)
    run = run_or_exit(lambda: work.run(inputs, remembering), json=as_json)
    progress.close()
    kinds = run_or_exit(lambda: kinds_of(run, task, domains, strings), json=as_json)
    mistakes = with_strings(mistakes_of(run, system_name(submission), kinds), queries)
    listed = mistakes.worst(most)
    if out is not None:
        from basanite.reports.outputs.explorer_page import render  # only the page needs jinja2

        write_page(out, render(with_images(mistakes, run, listed, most=images), listed))
    show_report(errors_report(mistakes, listed), json=as_json)


def kinds_of(run: Opened, task: str, domains: Path | None, strings: Path | None) -> ErrorKinds | None:
    """What tells the kinds of non-targets; an annotation with problems ends the command with them."""
    assert isinstance(run, QueryRun), "`remembering` lets no other run through"
    findings = Findings()
    kinds = read_error_kinds(run, domains, strings, findings)
    if not findings.valid:
        raise InvalidInputError(task, findings)
    return kinds


def check_page(out: Path | None) -> None:
    """Find out before the work whether the page can be written."""
    if out is not None:
        if out.suffix.lower() != ".html":
            raise click.UsageError(ONLY_HTML)
        check_reports([out])


def write_page(out: Path, page: bytes) -> None:
    """Write the page and say where."""
    try:
        out.write_bytes(page)
    except OSError as error:
        raise UnreadableError(f"{out} cannot be written: {error.strerror}. Choose another place.") from error
    say(f"Page written to {out}")
