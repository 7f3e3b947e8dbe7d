"""`basanite explain`: a metric worked out on one unit, step by step, with its formula filled in (T-27)."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.options import (
    PATH,
    as_json,
    check_places,
    example,
    parsed_settings,
    run_or_exit,
    settings_option,
    show_report,
    task_argument,
    write_reports,
)
from basanite.cli.positions import files_argument, reference_and_submission
from basanite.cli.scoring import reference_option, submission_option
from basanite.errors import SettingError
from basanite.reports.explanation import explanation_report
from basanite.scoring import Scorer
from basanite.tasks import Inputs


@click.command(epilog=example("basanite explain clir aqwv key/ Alpha.tgz --unit query04276"))
@task_argument()
@click.argument("metric")
@files_argument("[REF] [HYP]")
@submission_option
@reference_option
@click.option("--unit", required=True, metavar="ID", help="The unit: a segment, query, sentence, image or item.")
@click.option("--html", "page", type=PATH, help="Also write it as a page.")
@settings_option
@as_json
def explain(
    task: str,
    metric: str,
    files: tuple[Path, ...],
    submission: Path | None,
    references: tuple[Path, ...],
    unit: str,
    page: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Explain METRIC of TASK on one unit, step by step, with the numbers filled into its formula.

    REF is the reference and HYP the submission, as in `score`. The result is the value that the metric has on this unit
    alone, which `score --units` writes too.
    """
    references, submission = reference_and_submission(files, references, submission)
    if page is not None:
        if page.suffix.lower() not in (".html", ".htm"):
            raise SettingError(f"{page} is a page by --html: name it .html.")
        check_places([page])
    scorer = Scorer(task, parsed_settings(settings))
    inputs = Inputs(submission).against(references)
    explained = run_or_exit(lambda: scorer.explanation(inputs, metric, unit), json=as_json)
    report = explanation_report(explained)
    write_reports(report, [page] if page is not None else [])
    show_report(report, json=as_json)
