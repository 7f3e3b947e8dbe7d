"""`basanite harness analyse`, `compare`, `progress` and `report`: what a result folder says, and how it is shown."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite import canonical
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    console,
    dask_or_cluster_option,
    example,
    run_or_exit,
    say,
    show_report,
    write_reports,
)
from basanite.errors import SettingError
from basanite.problems import visible
from basanite.reports.wording import number, plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from basanite.clusters.address import Cluster
    from basanite.harness.analysis.model import HarnessAnalysis
    from basanite.harness.analysis.run_analysis import Options
    from basanite.harness.results import ResultFolder
    from basanite.harness.running import Places

STATE_NAMES = ("draft", "team comments", "revised", "released")


def draws_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--draws` and `--seed`."""
    draws = click.option(
        "--draws",
        "--resamples",
        type=click.IntRange(100),
        help="Number of resamples of the crossed bootstrap. [default: the plan's, else 10,000]",
    )
    seed = click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the resamples.")
    return draws(seed(command))


@click.command(epilog=example("basanite harness analyse quick-result --draws 200"))
@click.argument("result", type=PATH)
@click.option("--plan", type=PATH, help="The plan of this result, needed for --curves, --layers and --invariance.")
@click.option("--curves", is_flag=True, help="Learning curves: by unlabelled rows, and by labels.")
@click.option("--layers", is_flag=True, help="What each layer contributes and has learned.")
@click.option("--invariance", is_flag=True, help="Inspect learners: what training changed, and invariance.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@dask_or_cluster_option
@draws_option
@as_json
def analyse(
    result: Path,
    plan: Path | None,
    curves: bool,
    layers: bool,
    invariance: bool,
    workers: int,
    dask: Cluster | None,
    draws: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Analyse the result folder RESULT: values, verdicts on every claim and team, rankings. Writes analysis.json.

    With --plan, the plan's table [analysis] can ask for curves, layers and invariance too. They are computed
    once and kept in the folder.
    """
    from basanite.harness.analysis.run_analysis import Options, write_analysis
    from basanite.harness.report.report import harness_report
    from basanite.harness.report.states import read_state
    from basanite.harness.running import Places

    folder = _open_results(result)
    if (curves or layers or invariance) and plan is None:
        raise SettingError("Curves, layers and invariance need the data: give --plan PLAN.toml of this result.")
    options = Options.of(folder, draws, seed)
    asked = {"curves": curves, "layers": layers, "invariance": invariance}
    found = _analyse_folder(folder, options)
    if plan is not None:
        found = replace(found, extras=_extras(folder, plan, options, asked, Places(workers, dask), json=as_json))
    write_analysis(folder, found)
    if as_json:
        sys.stdout.write(canonical.dumps(found.as_dict()))
    else:
        show_report(harness_report(folder, found, read_state(folder)), json=False)
    say(f"Analysis written to {folder.path / 'analysis.json'}")


@click.command(epilog=example("basanite harness report quick-result --draws 200 --html report.html"))
@click.argument("result", type=PATH)
@click.option("--html", type=PATH, help="Write the report as one page.")
@click.option("--pptx", type=PATH, help="Write the report as slides.")
@click.option("--report", "reports", type=PATH, multiple=True, help="Write another format: .csv .json .txt …")
@click.option("--state", type=click.Choice(STATE_NAMES), help="Set the state of the report; it only moves forward.")
@click.option(
    "--comment", "comments", type=(str, str), multiple=True, metavar="TEAM TEXT", help="Store a team's comment."
)
@click.option("--times", is_flag=True, help="Show how long steps took, and the machine.")
@draws_option
@as_json
def report(
    result: Path,
    html: Path | None,
    pptx: Path | None,
    reports: tuple[Path, ...],
    state: str | None,
    comments: tuple[tuple[str, str], ...],
    times: bool,
    draws: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Write the report of RESULT. Without a file name, report.html and report.pptx are written to the folder.

    Curves and layers are taken from the analysis.json that `harness analyse` wrote.
    """
    from basanite.harness.analysis.run_analysis import Options
    from basanite.harness.report.report import harness_report

    folder = _open_results(result)
    named = [path for path in (html, pptx, *reports) if path]
    paths = named or [folder.path / "report.html", folder.path / "report.pptx"]
    check_reports(paths)
    found = _with_kept_extras(folder, _analyse_folder(folder, Options.of(folder, draws, seed)))
    told = _keep_state(folder, found, state, comments)
    times = times or bool(folder.manifest["plan"].get("analysis", {}).get("speed"))
    made = harness_report(folder, found, told, times=times)
    write_reports(made, paths)
    if as_json:
        sys.stdout.write(canonical.dumps(made.data))
    else:
        click.echo("\n".join(visible(line) for line in (*(f"! {flag}" for flag in made.flags), *made.sentences)))


@click.command(epilog=example("basanite harness compare quick-result quick-result"))
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=1e-6,
    show_default=True,
    help="The allowed difference between two sites.",
)
@as_json
def compare(first: Path, second: Path, tolerance: float, as_json: bool) -> None:
    """Compare two result folders of one plan, such as the evaluation team's and a team's own.

    A run differs if its means are further apart than the tolerance, or than twice the deviation between seeds if both
    have several. Exit code 0: the results agree; 1: a run differs.
    """
    from basanite.harness.analysis.comparison import compare_folders

    found = compare_folders(_open_results(first), _open_results(second), tolerance=tolerance)
    if as_json:
        sys.stdout.write(canonical.dumps(found.as_dict()))
    else:
        _show_comparison(found)
    if found.beyond:
        raise click.exceptions.Exit(1)


@click.command(epilog=example("basanite harness progress quick-result quick-result --draws 200"))
@click.argument("before", type=PATH)
@click.argument("after", type=PATH)
@draws_option
@as_json
def progress(before: Path, after: Path, draws: int | None, seed: int, as_json: bool) -> None:
    """Compare two evaluations of the same teams, run by run, with confidence intervals."""
    from basanite.harness.analysis.comparison import progress as progressed
    from basanite.harness.analysis.run_analysis import Options

    old, new = _open_results(before), _open_results(after)
    found = progressed(old, new, Options.of(new, draws, seed))
    if as_json:
        sys.stdout.write(canonical.dumps(found.as_dict()))
        return
    columns = ("task", "run", "before", "after", "gain", "low", "high", "verdict")
    rows = [
        (
            one.task,
            one.run,
            *map(number, (one.before, one.after, one.gain.value, one.gain.low, one.gain.high)),
            one.verdict,
        )
        for one in found.runs
    ]
    _table("Progress, with 95% CI", columns, rows)
    for line in (*found.notes, *(f"Only in one of them: {name}" for name in found.only)):
        click.echo(visible(line))


def _open_results(path: Path) -> ResultFolder:
    from basanite.harness.results import ResultFolder

    folder = ResultFolder(path)
    _ = folder.manifest  # what is no result folder is told at once
    return folder


def _analyse_folder(folder: ResultFolder, options: Options) -> HarnessAnalysis:
    from basanite.harness.analysis.run_analysis import analyse as analysed

    say(f"Analysing {plural('task', len(folder.tasks))} with {options.draws:,} draws")
    return analysed(folder, options)


def _extras(
    folder: ResultFolder, plan: Path, options: Options, asked: dict[str, bool], places: Places, *, json: bool
) -> dict[str, Any]:
    from basanite.cli.harness import Progress
    from basanite.harness.evaluation import ready
    from basanite.harness.extras import Asked, extras
    from basanite.harness.running import Watcher

    evaluation = run_or_exit(lambda: ready(plan), json=json)
    wanted = Asked.of(evaluation.plan.analysis, **asked)
    if not wanted.anything:
        return {}
    shown = Progress(places.workers)
    watcher = Watcher(shown.note_end, shown.note_start, shown.say_plan)
    found = extras(evaluation, folder, wanted, options=options, places=places, watcher=watcher)
    shown.close()
    return found


def _with_kept_extras(folder: ResultFolder, found: HarnessAnalysis) -> HarnessAnalysis:
    """The analysis with the extras that were computed before, if they belong to the same plan."""
    import json

    from basanite.formats.bounded import read_bounded

    path = folder.path / "analysis.json"
    if not path.is_file():
        return found
    try:
        kept = json.loads(read_bounded(path, 256 << 20))
        return replace(found, extras=kept["extras"]) if kept["plan_digest"] == found.plan_digest else found
    except (ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{path} cannot be read ({error}). Delete it, and analyse again.") from error


def _keep_state(
    folder: ResultFolder, found: HarnessAnalysis, state: str | None, comments: tuple[tuple[str, str], ...]
) -> Any:
    """The state of the report after what was asked for, which is kept."""
    from basanite.harness.report.states import STATES, read_state, write_state

    told = read_state(folder)
    for team, text in comments:
        if team not in found.teams:
            raise SettingError(f"There is no team {team!r}. The teams are {', '.join(found.teams)}.")
        told = told.add_comment(team, text)
    if state is not None:
        told = told.advance(STATES[STATE_NAMES.index(state)])
    if state is not None or comments:
        write_state(folder, told)
    return told


def _show_comparison(found: Any) -> None:
    columns = ("task", "run", "first", "second", "difference", "allowed", "rule", "largest", "")
    rows = [
        (
            one.task,
            one.run,
            *map(number, (one.first, one.second, one.difference, one.allowed)),
            one.rule,
            number(one.worst),
            "DIFFERS " + one.note if one.beyond else "",
        )
        for one in found.runs
    ]
    _table("Two result folders", columns, rows)
    _table("What the manifests say differently", ("where", "first", "second"), found.facts)
    count = len(found.beyond)
    click.echo(
        "They agree." if not count else f"{plural('run', count)} of {len(found.runs)} differ beyond what is allowed."
    )


def _table(title: str, columns: tuple[str, ...], rows: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    grid = Table(title=Text(title), title_justify="left")
    for column in columns:
        grid.add_column(column)
    for row in rows:
        grid.add_row(*(Text(visible(str(cell))) for cell in row))
    console().print(grid)
