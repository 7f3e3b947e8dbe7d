"""A reader of the documentation: one shell for a page, in which its commands are typed one after the other."""

from __future__ import annotations

import doctest
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.cli.running import warm_commands
from tools.markdown_pages import steps

ROOT = Path(__file__).resolve().parent.parent
COMMAND_LIMIT = 120
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Shell:
    """One bash process: what a command leaves behind (its folder, variables, files) is there for the next one.

    It is set up as docs/install.md says: `basanite` is on the path, and BASANITE names the clone. It starts in a folder
    of its own; `mktemp` makes its folders in `scratch`.
    """

    def __init__(self, folder: Path, scratch: Path, commands: Path | None = None):
        binaries = os.pathsep.join(map(str, (commands or warm_commands(), Path(sys.executable).parent)))
        terminal = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
        found = {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "BASANITE": str(ROOT), "TMPDIR": str(scratch)}
        self.folder = folder
        self._outputs = tempfile.TemporaryDirectory(prefix="basanite-reader-")
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env={**os.environ, **terminal, **found},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # with what the page left running
        self._process.communicate()
        self._outputs.cleanup()

    def run(self, command: str) -> tuple[int, str]:
        """Type a command; its exit code and what it printed, with the errors last."""
        printed, errors = (Path(self._outputs.name) / name for name in ("printed", "errors"))
        assert self._process.stdin is not None
        self._process.stdin.write(f'{{\n{command}\n}} >"{printed}" 2>"{errors}" </dev/null\necho "$? $PWD"\n')
        self._process.stdin.flush()
        code, _, folder = self._answer(command).partition(" ")
        self.folder = Path(folder)
        text = printed.read_text(encoding="utf-8") + errors.read_text(encoding="utf-8")
        return int(code), text

    def _answer(self, command: str) -> str:
        with selectors.DefaultSelector() as waiting:
            assert self._process.stdout is not None
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            assert waiting.select(COMMAND_LIMIT), f"$ {command}\nhas not ended after {COMMAND_LIMIT} s"
        answer = self._process.stdout.readline().strip()
        assert answer, f"$ {command}\nended the reader's shell"
        return answer


def run_console(text: str, shell: Shell, *, place: str) -> None:
    """Type the commands of a block and compare what they print with what the page shows."""
    for step in steps(text):
        if step.command.split()[0] == "make":
            continue
        code, printed = shell.run(step.command)
        if step.expected.strip() not in ("", "..."):
            matches = doctest.OutputChecker().check_output(step.expected + "\n", printed, OPTIONS)
            assert matches, f"{place}: $ {step.command}\nthe page says:\n{step.expected}\nit printed:\n{printed}"
        else:
            assert code == 0, f"{place}: $ {step.command}\nexit {code}\n{printed}"


def run_python(text: str, namespace: dict[str, object], *, place: str) -> None:
    """Run a block, as a doctest if it is written as a session."""
    if ">>> " not in text:
        exec(compile(text, place, "exec"), namespace)
        return
    session = doctest.DocTestParser().get_doctest(text, namespace, place, place, 0)
    complaints: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(session, out=complaints.append, clear_globs=False)
    namespace.update(session.globs)
    assert not complaints, "".join(complaints)
