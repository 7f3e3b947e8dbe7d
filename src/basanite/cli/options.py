"""What several commands share: options, settings, and the way results and problems are shown.

What shows them is loaded when there is something to show: help and completion of every command come through here.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from basanite.cli.colour import coloured
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings, Problem, visible
from basanite.registry import names

if TYPE_CHECKING:
    from rich.console import Console

    from basanite.reports.model import Report

Command = TypeVar("Command", bound=Callable[..., Any])
Result = TypeVar("Result")

PATH = click.Path(path_type=Path)
PLAIN_WIDTH = 120
ADDRESS = re.compile(r"[a-z]+://.*|[\w.-]+:\d+")
INPUTS = ("submission", "references", "judgements", "human", "queries", "metadata")


def example(command: str) -> str:
    """The end of a command's help: an example on a line of its own, which can be copied and run."""
    return f"\b\nExample:\n  {command}"


def as_json(command: Command) -> Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")(command)


def settings_option(command: Command) -> Command:
    """Add `--set key=value`."""
    text = "Set something about the task; `basanite tasks` lists what. May be repeated."
    return click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=text)(command)


def task_argument(*, required: bool = True) -> Callable[[Command], Command]:
    """Add TASK, which a shell completes."""
    return click.argument("task", required=required, shell_complete=_task_names)


def _task_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The tasks that a shell may offer."""
    return [name for name in names("tasks") if name.startswith(incomplete)]


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
            help="Only these metrics and the primary one. Repeat it.",
        ),
        click.option(
            "--primary",
            metavar="NAME",
            shell_complete=_metric_names,
            help="The metric that is the headline, ranks and is drawn. [default: the task's own]",
        ),
        click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws."),
        click.option("--draws", type=click.IntRange(1), help="Draws of the bootstrap. [default: 1000; for bca 5000]"),
        click.option(
            "--cluster",
            metavar="COLUMN",
            callback=_column,
            help="Units with the same cell in this column are resampled together; none: every unit by itself.",
        ),
        click.option("--queries", type=PATH, help="The query pack: its kinds, domains and words become factors."),
        click.option(
            "--metadata", type=PATH, multiple=True, help="A table of factors of items (by id), documents or queries."
        ),
        click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …"),
    ):
        command = option(command)
    return command


def key_option(command: Command) -> Command:
    """Add `--reference` for commands that take one key."""
    return click.option("--reference", type=PATH, required=True, help="The key: a folder or a .tgz.")(command)


def reference_option(command: Command) -> Command:
    """Add `--reference`, which may be repeated where items have several."""
    text = "The truth: a folder, a .tgz or a file. Repeat it for further references of the same items."
    return click.option("--reference", "references", type=PATH, multiple=True, help=text)(command)


def parsed_settings(texts: Sequence[str]) -> dict[str, str]:
    """`key=value` texts as a mapping."""
    settings: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise SettingError(f"--set {text!r} cannot be read: write --set key=value.")
        if name in settings:
            raise SettingError(f"{name!r} is set twice: {settings[name]!r} and {value!r}. Set it once.")
        settings[name] = value
    return settings


def with_options(settings: dict[str, str], **given: object) -> dict[str, str]:
    """Settings with those that have options of their own: `--primary NAME` is `--set primary=NAME`, written shorter."""
    wanted = {name: str(value) for name, value in given.items() if value is not None}
    for name in wanted:
        if name in settings:
            raise SettingError(f"{name} is given twice: by --{name} and by --set. Give it once.")
    return {**settings, **wanted}


def check_reports(paths: Sequence[Path], inputs: Sequence[Path] = ()) -> None:
    """Find out before the work, not after it, whether reports can be written, and over no input of this run."""
    from basanite.reports.outputs import output_for

    read = {path.resolve() for path in (*inputs, *_given_inputs())} if paths else set()
    for path in paths:
        output_for(path)
        if path.resolve() in read:
            raise SettingError(f"{path} is an input of this run, so no report is written over it. Choose another name.")
        if not path.resolve().parent.is_dir():
            raise SettingError(f"The folder of {path} does not exist. Make it first: mkdir -p {path.parent}")
        if path.is_dir():
            raise SettingError(f"{path} is a folder, so no report can be written there. Choose another name.")
        if not os.access(path if path.exists() else path.resolve().parent, os.W_OK):
            raise SettingError(f"{path} cannot be written. Check your rights, or choose another place.")


def _given_inputs() -> list[Path]:
    """The files that the options of the running command name as inputs."""
    context = click.get_current_context(silent=True)
    values = [context.params.get(name) for name in INPUTS] if context else []
    flat = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    return [part for part in flat if isinstance(part, Path)]


def say(words: str) -> None:
    """Tell the user something beside the result; nothing in a stranger's file name can hide or act (X-14)."""
    click.echo(visible(words), err=True)


def console() -> Console:
    """Where tables go: as wide as the terminal, and wide enough for a table where no terminal listens."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    if not coloured(sys.stdout):
        return Console(width=width, color_system=None)
    return Console(width=width, force_terminal=True)


def show_report(report: Report, *, json: bool) -> None:
    """Print a result, as tables or as one JSON object."""
    from basanite.reports.formats import json_output, terminal

    if json:
        sys.stdout.write(json_output.dumps(report.data))
    else:
        terminal.show(report, console(), brief=True)


def write_reports(report: Report, paths: Sequence[Path]) -> None:
    """Write the report in every way that was asked for, and say where."""
    from basanite.reports.outputs import write

    for path in paths:
        write(report, path)
        say(f"Report written to {path}")


def show_findings(findings: Findings, task: str, *, json: bool) -> None:
    """Print problems: in words to stderr, one a line as editors understand it, or as one JSON object to stdout."""
    from basanite.reports.formats import json_output
    from basanite.reports.kinds.validating import validation_report

    if json:
        sys.stdout.write(json_output.dumps(findings.as_dict(task)))
    elif findings.problems:
        for problem in findings.problems:
            say(problem_line(problem))
        say(validation_report(findings, task).sentences[0])


def problem_line(problem: Problem) -> str:
    """One problem in one line: place, what is wrong, the rule, and what to do.

    >>> problem_line(Problem("M28", "query1.tsv", 5, 2, "decision 'y' is neither Y nor N", "write Y or N"))
    "query1.tsv:5:2: decision 'y' is neither Y nor N (M28). To do: write Y or N"
    """
    rule = problem.rule if problem.severity == "reject" else f"{problem.rule}, warning"
    where = "" if problem.where == "submission" else f"{problem.where} "
    place = f"{where}{problem.place()}: " if problem.place() else where
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{place}{problem.message} ({rule}). To do: {problem.fix}{hint}"


def guarded(work: Callable[[], Result], *, json: bool) -> Result:
    """Do some work; if its input turns out invalid, print the problems and end with exit code 1."""
    try:
        return work()
    except InvalidInputError as invalid:
        show_findings(invalid.findings, invalid.task, json=json)
        raise click.exceptions.Exit(1) from None
