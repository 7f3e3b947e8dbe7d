"""The command line: one file a command, loaded only when that command is called.

Exit codes: 0 done or valid; 1 the input has problems, which are listed; 2 misuse; 3 our own fault; 4 a gate that
is not passed.
"""

from __future__ import annotations

import difflib
import gc
import io
import os
import select
import sys
from collections.abc import Sequence

import click

from basanite import __version__
from basanite.cli.groups import FORMER, SECTIONS, LazyGroup
from basanite.cli.terminal import BAD, echo
from basanite.errors import BasaniteError, InvalidInputError
from basanite.problems import visible

OUR_FAULT = 3
PRINTED = (1, 2)
"""Where output and messages go, as the system numbers them."""
CLOSE = 0.8
"""How like an option must be to what was typed to be the only one that is offered, from 0 to 1."""
VERSION_LINE = f"%(prog)s, version %(version)s (Python {sys.version.split()[0]})"
FEWER_ROUNDS = 20_000
"""New objects from which on garbage is looked for: the usual 700 is a tenth of the time of a short command."""


@click.group(cls=LazyGroup, sections=SECTIONS, former=FORMER, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="basanite", message=VERSION_LINE)
def app() -> None:
    """Run evaluations of AI systems, from sealed test sets to reports that people can trust.

    \b
    Example:
      basanite score clir --reference key/ --submission Alpha.tgz --report alpha.html
    """


def main() -> None:
    """Run the command line; no mistake of a user's ends in a stack trace, and a closed pipe is no error."""
    gc.set_threshold(FEWER_ROUNDS)
    _speak_utf8()
    try:
        _run()
    except BrokenPipeError as error:
        if not _drop_unread():
            _show_refusal(error)
        sys.exit(0)


def _run() -> None:
    try:
        code = app(standalone_mode=False) or 0  # click hands back the code of `Exit`
        sys.stdout.flush()
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
    except BrokenPipeError:
        raise
    except SystemExit as end:  # click and rich make an exit with 1 of a broken pipe
        sys.exit(0 if _drop_unread() or isinstance(end.__context__, BrokenPipeError) else OUR_FAULT)
    except ModuleNotFoundError as missing:
        _show_missing(missing)
    except OSError as error:  # a name too long, a full disk: what the system refuses is not our fault
        _show_refusal(error)
    except Exception:  # noqa: BLE001 - the last resort: whatever is left is a fault of ours
        _our_fault()
    else:
        sys.exit(code)


def _show_error(error: BasaniteError) -> None:
    """A refusal lists its problems and ends with 1, as input with problems does; anything else is misuse."""
    from basanite.cli.options import problem_line

    problems = getattr(error, "problems", ())
    for problem in problems:
        click.echo(visible(problem_line(problem)), err=True)
    if not problems:
        _say_error(str(error))
    sys.exit(1 if problems else 2)


def _show_missing(missing: ModuleNotFoundError) -> None:
    """A module of an extra is named with the line to type; any other that is missing is our fault."""
    from basanite.extras import error_of_extra

    error = error_of_extra(missing)
    if error is None:
        _our_fault()
    else:
        _show_error(error)


def _harmless(text: str) -> str:
    """Text of several lines in which no name of a stranger's can hide or act (X-14)."""
    return "\n".join(map(visible, text.split("\n")))


def _speak_utf8() -> None:
    """Print every character wherever we run: no other encoding must stop us, nor output that is closed."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


def _drop_unread() -> bool:
    """Whether nobody reads our output any more, as after `| head -1` (D-12); what is left of it then goes nowhere."""
    ways = select.poll()
    for way in PRINTED:
        ways.register(way, 0)  # that a reader has gone is told unasked
    closed = [way for way, _ in ways.poll(0)]
    for way in closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), way)
    return bool(closed)


def _say_error(words: str) -> None:
    echo("Error:", BAD, f" {visible(words)}", err=True)


def _show_refusal(error: OSError) -> None:
    place = "The output" if error.filename is None else str(error.filename)
    _say_error(f"{place} cannot be read or written: {error.strerror or error}.")
    try:
        sys.stdout.flush()
    except OSError:  # what is still to be printed goes nowhere, or the end of the process would fail over it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(2)


def _show_misuse(misuse: click.ClickException) -> None:
    if isinstance(misuse, click.NoSuchOption):
        near = _near(misuse.option_name, tuple(misuse.possibilities or ()))
        misuse = click.NoSuchOption(misuse.option_name, possibilities=near, ctx=misuse.ctx)
    words = io.StringIO()
    misuse.show(words)
    usage, mark, rest = _harmless(words.getvalue()).partition("Error:")
    click.echo(usage, err=True, nl=False)
    if mark:  # without a command there is only the help
        echo(mark, BAD, rest.rstrip("\n"), err=True)
    sys.exit(2)


def _near(option: str, known: Sequence[str]) -> list[str]:
    """The one option that must have been meant, if there is one, or all that are like it."""
    closest = difflib.get_close_matches(option, known, n=1, cutoff=CLOSE)
    return closest or list(known)


def _our_fault() -> None:
    import traceback  # only where one is shown

    click.echo(_harmless(traceback.format_exc()), err=True)
    click.echo(
        f"\nThis is a bug in Basanite {__version__}. Please send us the lines above, the command you "
        "typed, and if you may the files it read.",
        err=True,
    )
    sys.exit(OUR_FAULT)
