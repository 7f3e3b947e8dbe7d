"""`basanite explore`: a page of misses and false alarms, on a key that the user holds."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    guarded,
    key_option,
    parsed_settings,
    say,
    settings_option,
    show_report,
    task_argument,
)
from basanite.cli.progress import Progress
from basanite.cli.scoring.held_key import HeldKeyWork
from basanite.errors import InvalidInputError, UnreadableError
from basanite.interface import system_name
from basanite.problems import Findings
from basanite.reports.kinds.explorer import render
from basanite.reports.kinds.exploring import errors_report
from basanite.tasks import Inputs, Opened
from basanite.tasks.detecting.error_kinds import ErrorKinds, read_error_kinds
from basanite.tasks.detecting.outcomes import mistakes_of, remembering, with_images, with_strings
from basanite.tasks.detecting.queries import QueryRun

ONLY_HTML = "The page is HTML, so --out must end in .html."


@click.command(epilog=example("basanite explore clir --reference key/ --submission Alpha.tgz --out errors.html"))
@task_argument()
@click.option("--submission", type=PATH, required=True, help="The submission: a .tgz or a folder.")
@key_option
@click.option("--metadata", type=PATH, multiple=True, help="A table of factors of documents or queries.")
@click.option("--queries", type=PATH, help="The query pack: what each query asks for, its kind and domain.")
@click.option("--domains", type=PATH, help="A DomainID key: tells false alarms in the right domain from others.")
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
    """List the misses and false alarms of a submission to TASK, the worst first, and make a page to explore them.

    They are single documents of the key: keep the page where the key is kept.
    """
    check_page(out)
    progress = Progress()
    work = HeldKeyWork(task, parsed_settings(settings), workers=workers, progress=progress)
    inputs = Inputs(submission, reference, None, queries, metadata)
    run = guarded(lambda: work.run(inputs, remembering), json=as_json)
    progress.close()
    kinds = guarded(lambda: kinds_of(run, task, domains, strings), json=as_json)
    mistakes = with_strings(mistakes_of(run, system_name(submission), kinds), queries)
    listed = mistakes.worst(most)
    if out is not None:
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
