"""What several commands share: options, settings, and the way results and problems are shown.

What shows them is loaded when there is something to show: help and completion of every command come through here.

A command is a function that click calls with one named argument for each of its arguments and options, so that commands
may have more than six. What several commands share is one noun (`gather_options`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from basanite.cli.terminal import wants_colour
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings, Problem, place_problem, shortened, visible
from basanite.registry import names

if TYPE_CHECKING:
    from rich.console import Console

    from basanite.reports.report import Report
if TYPE_CHECKING:
    from concurrent.futures import Executor

    from basanite.clusters.address import Cluster

Command = TypeVar("Command", bound=Callable[..., Any])
Result = TypeVar("Result")

PATH = click.Path(path_type=Path)
PLAIN_WIDTH = 120
OF_LOGS: Final = "scores"
"""The task of logs that say what they are, so that nobody has to name it."""
FIRST_FILE: Final = "basanite.first_file"
INPUTS = ("files", "submission", "references", "judgements", "human", "queries", "metadata")


def example(command: str) -> str:
    """The end of a command's help: an example on a line of its own, which can be copied and run."""
    return f"\b\nExample:\n  {command}"


def as_json(command: Command) -> Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")(command)


def settings_option(command: Command) -> Command:
    """Add `--set key=value`."""
    text = "Set an option of the task; `basanite tasks` lists them. Can be repeated."
    return click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=text)(command)


def gather_options(noun: type[Any], name: str) -> Callable[[Command], Command]:
    """Give a command the options that are fields of a dataclass as one argument of this name."""
    parts = [part.name for part in fields(noun)]

    def gather(command: Command) -> Command:
        @wraps(command)
        def call(*args: Any, **given: Any) -> Any:
            whole = noun(**{part: given.pop(part) for part in parts})
            return command(*args, **{name: whole}, **given)

        return cast(Command, call)

    return gather


def task_argument(*, required: bool = True) -> Callable[[Command], Command]:
    """Add TASK, which a shell completes."""
    return click.argument(
        "task",
        required=required,
        callback=_check_task,
        shell_complete=lambda ctx, param, start: [name for name in names("tasks") if name.startswith(start)],
    )


def _check_task(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a task; a log of scores in its place is its own task, and any other file is answered (Y-6)."""
    path = Path(value or "")
    if value and "=" in value and not path.exists():
        path = Path(value.partition("=")[2])
    if value is None or value in names("tasks") or not path.exists():
        return value
    from basanite.formats.inspection import inspect_path  # only a refusal needs it

    found = inspect_path(path)
    if any(command.startswith(f"basanite score {OF_LOGS} ") for command in found.commands):
        ctx.meta[FIRST_FILE] = value
        return OF_LOGS
    line = f": {found.commands[0]}" if found.commands else ". `basanite tasks` lists them."
    name = shortened(visible(value))
    raise SettingError(f"{name} is a file ({found.name}), and the name of a task comes first{line}")


def key_option(command: Command) -> Command:
    """Add `--reference` for commands that take one key."""
    return click.option("--reference", type=PATH, required=True, help="The key: a folder or a .tgz.")(command)


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
    from basanite.reports.report import output_for

    for path in paths:
        output_for(path)
    check_places(paths, inputs)


def check_places(paths: Sequence[Path], inputs: Sequence[Path] = ()) -> None:
    """Find out whether files can be written at these places, and over no input of this run."""
    read = {path.resolve() for path in (*inputs, *_given_inputs())} if paths else set()
    for path in paths:
        if path.resolve() in read:
            raise SettingError(f"{path} is an input of this run, so no report is written over it. Choose another name.")
        if not path.resolve().parent.is_dir():
            raise SettingError(f"The folder of {path} does not exist. Make it first: mkdir -p {path.parent}")
        if path.is_dir():
            raise SettingError(f"{path} is a folder, so no report can be written there. Choose another name.")
        if not os.access(path if path.exists() else path.resolve().parent, os.W_OK):
            raise SettingError(f"{path} cannot be written. Check your permissions, or choose another place.")


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
    if not wants_colour(sys.stdout):
        return Console(width=width, color_system=None)
    return Console(width=width, force_terminal=True)


def show_report(report: Report, *, json: bool) -> None:
    """Print a result, as tables or as one JSON object."""
    from basanite import canonical
    from basanite.reports.outputs import terminal

    if json:
        sys.stdout.write(canonical.dumps(report.data))
    else:
        terminal.show(report, console(), brief=True)


def write_reports(report: Report, paths: Sequence[Path]) -> None:
    """Write the report in every way that was asked for, and say where."""
    from basanite.reports.report import write

    for path in paths:
        write(report, path)
        say(f"Report written to {path}")


def show_findings(findings: Findings, task: str, *, json: bool) -> None:
    """Print problems: in words to stderr, one per line as editors understand it, or as one JSON object to stdout."""
    from basanite import canonical
    from basanite.reports.report import validation_report

    if json:
        sys.stdout.write(canonical.dumps(findings.as_dict(task)))
    elif findings.problems:
        for problem in findings.problems:
            say(problem_line(problem))
        say(validation_report(findings, task).sentences[0])


def problem_line(problem: Problem) -> str:
    """One problem in one line: place, what is wrong, the rule, and what to do.

    >>> problem_line(Problem("M28", "query1.tsv", 5, 2, "decision 'y' is neither Y nor N", "write Y or N"))
    "query1.tsv:5:2: decision 'y' is neither Y nor N [M28]. Fix: write Y or N"
    """
    rule = problem.rule if problem.severity == "reject" else f"{problem.rule}, warning"
    where = "" if problem.where == "submission" else f"{problem.where} "
    place = f"{where}{problem.place()}: " if problem.place() else where
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{place}{problem.message} [{rule}]. Fix: {problem.fix}{hint}"


def run_or_exit(work: Callable[[], Result], *, json: bool, plain: bool = False) -> Result:
    """Do some work; if its input turns out invalid, print the problems and end with exit code 1.

    With `plain`, problems are in files that are no parts of a submission, so that their names say all.
    """
    try:
        return work()
    except InvalidInputError as invalid:
        findings = plain_findings(invalid.findings) if plain else invalid.findings
        show_findings(findings, invalid.task, json=json)
        raise click.exceptions.Exit(1) from None


def plain_findings(findings: Findings) -> Findings:
    """The same problems without the words for a submission's parts before their place."""
    findings.problems[:] = [place_problem(problem, "submission") for problem in findings]
    return findings


MODELS: Final = {
    "admin campaign": ("basanite.campaign.model.plan", "Campaign", "Campaign file", "basanite-campaign/1"),
    "harness": ("basanite.harness.plan", "Plan", "Harness plan", "basanite-plan/1"),
    "reading": (
        "basanite.reading.package.manifest",
        "PackageFile",
        "Package manifest",
        "basanite-reading-package/1",
    ),
    "judge": ("basanite.work.scheme", "Scheme", "Judging scheme", "basanite-judging/1"),
}
"""By group of commands: the module and class that read its files, their title and their `format` line."""


def schema_command(group: str) -> click.Command:
    """The command that prints the JSON Schema of a group's configuration files."""

    def schema(as_json: bool) -> None:
        from basanite import canonical
        from basanite.formats.config_schema import config_schema

        module, name, title, file_format = MODELS[group]
        model = getattr(import_module(module), name)
        sys.stdout.write(canonical.dumps(config_schema(model, title, file_format)))

    title = MODELS[group][2].lower()
    words = f"Print the JSON Schema of a {title}, for editors. The output is the same with and without --json."
    command = click.command("schema", help=words, epilog=example(f"basanite {group} schema --json"))
    return command(as_json(schema))


def dask_option(command: Command, *, names: tuple[str, ...] = ("--dask",)) -> Command:
    """Add `--dask` and `--dask-tls`; the command gets one value `dask`, checked, or None."""
    certificates = click.option(
        "--dask-tls",
        "--cluster-tls",
        type=PATH,
        envvar="BASANITE_CLUSTER_TLS",
        expose_value=False,
        is_eager=True,
        callback=_keep_folder,
        help="Your certificates for it: a folder with ca.pem, cert.pem and key.pem.",
    )
    address = click.option(
        *names,
        "dask",
        metavar="ADDRESS",
        envvar="BASANITE_CLUSTER",
        callback=_read_cluster,
        help="Do heavy work on this Dask cluster: tls://HOST:PORT, or tcp://127.0.0.1:PORT.",
    )
    return address(certificates(command))


def dask_or_cluster_option(command: Command) -> Command:
    """The same where `--cluster` is free: in `score` and `compare` it names a column (S-28)."""
    return dask_option(command, names=("--dask", "--cluster"))


def on(cluster: Cluster | None) -> AbstractContextManager[Executor | None]:
    """The executor of a cluster, each of its processes with one thread for linear algebra; None without one."""
    if cluster is None:
        return nullcontext()
    from basanite.clusters.executor import Ready, cluster_executor
    from basanite.clusters.threads import one_thread

    return cluster_executor(cluster, Ready(one_thread))


def _keep_folder(ctx: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
    ctx.meta["basanite.cluster_tls"] = value
    return value


def _read_cluster(ctx: click.Context, option: click.Parameter, value: str | None) -> Any:
    if not value:
        return None
    from basanite.clusters.address import Cluster

    return Cluster.of(value, ctx.meta.get("basanite.cluster_tls"))
