"""`basanite doctor` and `basanite completion`: look at what is installed and what a server needs, and help a shell.

A shell asks the program itself at every press of the key, so that what it offers is never out of date; commands are
known by name and one is loaded only when its options are asked for.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from basanite import __version__, canonical
from basanite.cli.office import data_option, read_settings
from basanite.cli.options import as_json, example, say
from basanite.cli.terminal import BAD, GOOD, NOTE, echo
from basanite.errors import MissingExtraError
from basanite.extras import EXTRAS, install_line
from basanite.problems import visible

if TYPE_CHECKING:
    from basanite.campaign.settings import Settings
    from basanite.server.checkup import Finding


@dataclass(frozen=True)
class Found:
    """One thing that was looked at: how it is, and what to do about it."""

    name: str
    state: str
    words: str
    cure: str = ""


def installation() -> list[Found]:
    """What is installed, and what the machine has."""
    words = f"version {__version__}, with Python {platform.python_version()}"
    return [Found("basanite", "good", words), _machine(), _user(), *map(_extra, EXTRAS)]


def _machine() -> Found:
    cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Found("machine", "good", f"{cores} cores, {memory:.0f} GiB of memory")


def _user() -> Found:
    """Whether a fault in a reader, a plug-in or a library would reach the whole machine (X-25)."""
    if os.geteuid() == 0:
        words = "running as root: a fault in any package or plug-in affects the whole machine"
        return Found(
            "user", "note", words, "run it as a user of its own: useradd --system basanite; see deploy/systemd"
        )
    return Found("user", "good", "an ordinary one")


def _extra(name: str) -> Found:
    extra = EXTRAS[name]
    missing = extra.missing()
    if not missing:
        return Found(f"extra {name}", "good", f"installed, for {extra.purpose}")
    listed = f"{', '.join(missing[:3])}{' …' if len(missing) > 3 else ''}"
    return Found(
        f"extra {name}", "note", f"not installed ({listed}), only needed for {extra.purpose}", install_line(name)
    )


MARKS = {"good": ("ok  ", GOOD), "note": ("note", NOTE), "bad": ("BAD ", BAD)}
NO_SEASON = Found(
    "season",
    "note",
    "no data folder here; offline scoring needs none",
    "`basanite demo` starts an example; `basanite doctor --data FOLDER` checks yours",
)
SETTINGS_FILE = Path("basanite.toml")


@click.command(epilog=example("basanite doctor --data season"))
@data_option
@as_json
def doctor(data: Path | None, as_json: bool) -> None:
    """Check the installation, then settings, database, files, keys, the scoring sandbox, mail, disk space and clock.

    Without --data and without a data folder here, only the installation is checked. Exit code 1: problems were
    found, each with its fix.
    """
    findings = [*installation(), *_season(data)]
    bad = any(finding.state == "bad" for finding in findings)
    if as_json:
        sys.stdout.write(canonical.dumps({"healthy": not bad, "findings": [asdict(one) for one in findings]}))
    else:
        _show(findings)
    if bad:
        raise click.exceptions.Exit(1)


def _season(data: Path | None) -> Sequence[Finding | Found]:
    """What a server needs, if there is one to look at; looking makes none."""
    try:
        settings = read_settings(data)
    except MissingExtraError:
        if data is not None:
            raise
        return [NO_SEASON]
    if data is None and not settings.data.exists() and not SETTINGS_FILE.exists():
        return [NO_SEASON]
    return _examine_season(settings)


def _examine_season(settings: Settings) -> Sequence[Finding]:
    from basanite.campaign.office import Office
    from basanite.campaign.store.vault import Vault
    from basanite.server.checkup import examine

    if settings.encrypt_references is None and Vault(settings.vault_folder).is_empty():
        settings = settings.model_copy(update={"encrypt_references": False})  # looking makes no vault
    office = Office.open(settings)
    try:
        return examine(office)
    finally:
        office.close()


def _show(findings: Sequence[Finding | Found]) -> None:
    for finding in findings:
        mark, colour = MARKS[finding.state]
        echo(mark, colour, visible(f"  {finding.name}: {finding.words}"))
        if finding.cure:
            say(f"      {finding.name}: {finding.cure}")


PROGRAM, VARIABLE = "basanite", "_BASANITE_COMPLETE"
SETUP = {
    "bash": "echo 'eval \"$(basanite completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(basanite completion zsh)\"' >> ~/.zshrc",
    "fish": "basanite completion fish > ~/.config/fish/completions/basanite.fish",
}
"""What to type once, for each shell."""


@click.command(epilog=example("basanite completion bash"))
@click.argument("shell", type=click.Choice(list(SETUP)))
@as_json
def completion(shell: str, as_json: bool) -> None:
    """Print the completion script of your SHELL for commands, options, tasks and files.

    \b
    Run once, for your shell:
      echo 'eval "$(basanite completion bash)"' >> ~/.bashrc
      echo 'eval "$(basanite completion zsh)"' >> ~/.zshrc
      basanite completion fish > ~/.config/fish/completions/basanite.fish
    """
    script = script_of(shell, click.get_current_context().find_root().command)
    if as_json:
        sys.stdout.write(canonical.dumps({"script": script, "setup": SETUP[shell], "shell": shell}))
    else:
        click.echo(script, nl=False)


def script_of(shell: str, command: click.Command) -> str:
    """The script of a shell; it asks the program for what may come next."""
    known = get_completion_class(shell)
    if known is None:  # the choice above allows only those that there are
        raise click.UsageError(f"No completion is known for {shell}.")
    maker = known(command, {}, PROGRAM, VARIABLE)
    return maker.source_template % maker.source_vars()
