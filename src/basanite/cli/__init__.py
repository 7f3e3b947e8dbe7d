"""The command line: one file a command, loaded only when that command is called.

Exit codes: 0 done or valid; 1 the input has problems, which are listed; 2 misuse; 3 our own fault.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from importlib import import_module

import click

from basanite import __version__
from basanite.errors import BasaniteError, InvalidInputError
from basanite.problems import visible
from basanite.registry import suggestion

OUR_FAULT = 3

COMMANDS = {
    "validate": "Find all problems of a submission, each with its place and its cure.",
    "score": "Score a submission against a reference, with intervals and breakdowns.",
    "compare": "Tell which of several systems differ, with groups and rank ranges.",
    "advise": "Tell which threshold would have been best, on a key that you hold.",
    "explore": "List misses and false alarms and make a page of them, on a key that you hold.",
    "pack": "Make a submission archive with the right name.",
    "dataset": "Check a released data set, and build packs from a table of documents.",
    "queries": "List the queries of a pack with kind, subtype and domain, and all its problems.",
    "domains": "Show the domains: definition, what belongs to each, and annotators' notes.",
    "convert": "Turn files of TREC, WMT, STM, CTM, trec_eval and sacreBLEU into ours, and back.",
    "pool": "Choose which documents of several runs to have judged, and weigh each run's part.",
    "judge": "Judging by people: schemes, rounds, crowd batches, agreement, judged systems.",
    "harness": "Run evaluation plans: sealed splits, six conditions, teams' systems, claims.",
    "measure": "Tell how well features represent data: measures, shift, comparison, a monitor.",
    "reading": "Machine reading: check packages, reason with rules, and make reading tasks.",
    "annotation": "Check the configuration of an annotation tool, compare versions, migrate records.",
    "submit": "Send a submission to a server; resume, wait for the answer, keep the receipt.",
    "serve": "Run the server of a season, with its worker beside it or elsewhere.",
    "worker": "Run jobs of a season: validate, score, compare, send mail.",
    "doctor": "Find what could keep a server from working, each with its cure.",
    "verify": "Check a receipt offline by keys you hold, and make its score again.",
    "decrypt": "Open a file of a pack that was handed out encrypted, once its key is out.",
    "backup": "Write everything a server holds into one encrypted file, the vault apart.",
    "restore": "Put a backup back to an empty place, checked before it counts.",
    "import": "Read a campaign that another server exported: its history, nobody's rights.",
    "publish": "Make a static site of what a campaign has released.",
    "admin": "Organise a season: plan, people, data, truth, releases, appeals, the log.",
    "demo": "Start a small season on this machine, with people to sign in as.",
    "tasks": "List the tasks, each with its settings.",
    "metrics": "List the metrics, each with its citation.",
    "plugins": "List everything that is registered, and by which package.",
}
FILES = {
    "validate": "scoring.validate",
    "score": "scoring.score",
    "compare": "scoring.compare",
    "advise": "scoring.advise",
    "explore": "scoring.explore",
    "pack": "scoring.pack",
    "pool": "scoring.pool",
    "dataset": "data.dataset",
    "queries": "data.queries",
    "domains": "data.domains",
    "serve": "operating.serve",
    "worker": "operating.worker",
    "doctor": "operating.doctor",
    "backup": "operating.backup",
    "restore": "operating.restore",
    "publish": "operating.publish",
    "import": "operating.import_campaign",
    "tasks": "scoring.listing",
    "metrics": "scoring.listing",
    "plugins": "scoring.listing",
}
"""Where a command is that has no folder or file of its own name here."""
NAMES = {"import": "import_"}
"""Commands whose names are words of Python."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; an unknown one is answered with the nearest."""
        if cmd_name not in COMMANDS:
            ctx.fail(f"There is no command {cmd_name!r}. {suggestion(cmd_name, tuple(COMMANDS))}")
        module = FILES.get(cmd_name, cmd_name)
        command: click.Command = getattr(import_module(f"basanite.cli.{module}"), NAMES.get(cmd_name, cmd_name))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="basanite")
def app() -> None:
    """Run evaluations of AI systems, from a sealed test set to a report that people can trust.

    \b
    Example:
      basanite score clir --reference key/ --submission Alpha.tgz --report alpha.html
    """


def main() -> None:
    """Run the command line; no mistake of a user's ends in a stack trace."""
    _speak_utf8()
    try:
        code = app(standalone_mode=False) or 0  # click hands back the code of `Exit`
        sys.stdout.flush()
        sys.exit(code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as misuse:
        _show_misuse(misuse)
    except InvalidInputError as invalid:
        click.echo(str(invalid), err=True)
        sys.exit(1)
    except BasaniteError as error:
        _show_error(error)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        _drop_output()
        sys.exit(0)
    except OSError as error:  # a name too long, a full disk: what the system refuses is not our fault
        _show_refusal(error)
    except Exception:  # noqa: BLE001 - the last resort: whatever is left is a fault of ours
        _our_fault()


def _show_error(error: BasaniteError) -> None:
    """A refusal lists its problems and ends with 1, as input with problems does; anything else is misuse."""
    from basanite.cli.options import problem_line

    problems = getattr(error, "problems", ())
    for problem in problems:
        click.echo(visible(problem_line(problem)), err=True)
    if not problems:
        click.echo(f"Error: {visible(str(error))}", err=True)
    sys.exit(1 if problems else 2)


def _harmless(text: str) -> str:
    """Text of several lines in which no name of a stranger's can hide or act (X-14)."""
    return "\n".join(map(visible, text.split("\n")))


def _speak_utf8() -> None:
    """Print every character wherever we run: a terminal or pipe of another encoding must not stop us."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Let what is still to be printed go nowhere, so that the end of the process does not fail over it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_refusal(error: OSError) -> None:
    click.echo(f"Error: {visible(str(error))}", err=True)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    sys.exit(2)


def _show_misuse(misuse: click.ClickException) -> None:
    words = io.StringIO()
    misuse.show(words)
    click.echo(_harmless(words.getvalue()), err=True, nl=False)
    sys.exit(2)


def _our_fault() -> None:
    click.echo(_harmless(traceback.format_exc()), err=True)
    click.echo(
        f"\nThis is a fault of Basanite {__version__}, not yours. Please send us the lines above, the command you "
        "typed, and if you may the files it read.",
        err=True,
    )
    sys.exit(OUR_FAULT)
