"""`basanite audit`: which differences of a board hold, and what its items tell (Y-7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from basanite.analysis.boards import rank_board, rank_compared
from basanite.analysis.comparison import compare
from basanite.analysis.published import PublishedMean, published_claims
from basanite.cli.options import (
    as_json,
    check_reports,
    example,
    parsed_settings,
    run_or_exit,
    settings_option,
    show_report,
    with_options,
    write_reports,
)
from basanite.cli.positions import named_systems
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.records import Place
from basanite.formats.scores.means import Mean, holds_means, read_means
from basanite.problems import Findings
from basanite.reports.audit import Audit, audit_report, published_report
from basanite.reports.report import Report
from basanite.scoring import analyse_scores, find_task
from basanite.tasks.score_boards import board_scores, read_board
from basanite.tasks.settings import ANALYSIS, PRIMARY, analysis_design

MOST_COMPARED: Final = 12
"""Systems whose pairs are tested as `compare` tests them."""
T_TEST: Final = "paired t over whole {things}, Holm over all pairs"
SWAPS: Final = "swaps of the two systems on whole {things}, Holm over all pairs"
OF_ANALYSIS: Final = ("level", "alpha", "test_draws")


@click.command(epilog=example("basanite audit board.csv --primary pass^5 --report audit.html"))
@click.argument("results", nargs=-1, required=True, metavar="[NAME=]RESULTS...")
@click.option(
    "--primary", metavar="NAME", help="The metric that ranks systems: mean, pass@k or pass^k. [default: mean]"
)
@click.option("--cluster", metavar="COLUMN", help="Items with the same value in this column form a cluster.")
@click.option("--items", type=click.IntRange(1), help="The number of items behind published means.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the resamples.")
@click.option(
    "--report", "reports", type=click.Path(path_type=Path), multiple=True, help="Also write a report: .html .csv …"
)
@settings_option
@as_json
def audit(
    results: tuple[str, ...],
    primary: str | None,
    cluster: str | None,
    items: int | None,
    seed: int,
    reports: tuple[Path, ...],
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Test which claimed differences of a leaderboard hold, and list the ranks that remain possible.

    RESULTS are tables or logs of scores, each of one system or several. Means that were published without scores of
    items are audited too: what they show for any overlap of right answers, and what they cannot show.
    """
    files = named_systems(results, "result")
    check_reports(reports, list(files.values()))
    given = with_options(parsed_settings(settings), primary=primary, cluster=cluster)
    report = run_or_exit(lambda: audit_files(files, given, items, seed), json=as_json)
    write_reports(report, reports)
    show_report(report, json=as_json)


def audit_files(files: Mapping[str, Path], given: Mapping[str, Any], items: int | None, seed: int) -> Report:
    """Audit scores of items, or published means alone; the settings are those of the task `scores`."""
    alone = {name: holds_means(path) for name, path in files.items()}
    if all(alone.values()):
        return _audit_means(files, given, items)
    if any(alone.values()):
        means = next(name for name, one in alone.items() if one)
        raise SettingError(f"{means} has means alone, and other files have scores of items. Audit them apart.")
    return _audit_items(files, given, seed)


def _audit_items(files: Mapping[str, Path], given: Mapping[str, Any], seed: int) -> Report:
    general = {setting.name for setting in ANALYSIS} | {PRIMARY.name}
    settings = find_task("scores").read_settings({name: one for name, one in given.items() if name not in general})
    design = analysis_design({name: given[name] for name in OF_ANALYSIS if name in given}, draws=None, seed=seed)
    found = read_board(files, settings, primary=given.get("primary", ""), cluster=given.get("cluster", ""))
    board = found.board
    if len(board.systems) < 2:
        raise SettingError("A board has at least two systems: give results of another one.")
    thing = board.cluster if board.cluster.isalpha() else "item"
    if len(board.systems) <= MOST_COMPARED:
        analyses = [analyse_scores(one, design) for one in board_scores(board)]
        ranked, test = rank_compared(compare(analyses, [board.metric.name], design), board.metric), SWAPS
    else:
        ranked, test = rank_board(board, alpha=design.alpha, level=design.level), T_TEST
    told = Audit(
        ranked,
        found.facts,
        board.metric,
        len(board.units),
        thing,
        design.alpha,
        design.level,
        test.format(things=f"{thing}s"),
        found.notes,
    )
    return audit_report(told)


def _audit_means(files: Mapping[str, Path], given: Mapping[str, Any], items: int | None) -> Report:
    findings, means = Findings(), list[Mean]()
    for name, path in files.items():
        means += read_means(path, name, Place("submission", "Y-7"), findings)
    if not findings.valid:
        raise InvalidInputError("scores", findings)
    odd = sorted(set(given) - set(OF_ANALYSIS))
    if odd:
        raise SettingError(f"{odd[0]!r} cannot be used in an audit of means alone.")
    design = analysis_design(given, draws=None, seed=0)
    known = [PublishedMean(*one) for one in means]
    known = [replace(one, items=items) if one.items is None else one for one in known]
    if len(known) < 2:
        raise SettingError(f"There {'is one mean' if known else 'are no means'} in it, and an audit compares several.")
    twice = {(one.task, one.system) for one in known}
    if len(twice) < len(known):
        raise SettingError("A system has two means on one task. Give each once.")
    claims = published_claims(known, alpha=design.alpha)
    return published_report(known, claims, alpha=design.alpha, level=design.level)
