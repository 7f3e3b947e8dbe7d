"""Running the command line as users do: as a process of its own; where that is quicker, forked, or in this process."""

from __future__ import annotations

import atexit
import functools
import io
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.cli import warm

from basanite.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "clir"
FEATURES = ROOT / "examples" / "features"
ANNOTATION = ROOT / "examples" / "annotation"
JUDGING = ROOT / "examples" / "judging"
READING = ROOT / "examples" / "reading"
HARNESS = ROOT / "examples" / "harness"
IMPORT = ROOT / "examples" / "import"
SPEECH = ROOT / "examples" / "speech"
LIMIT = 240


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def data(self) -> Any:
        """The JSON object that was printed."""
        return json.loads(self.stdout)


def plain() -> dict[str, str]:
    """The environment of every command: a terminal of one width, and all characters."""
    return {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}


def moved(words: tuple[str | Path, ...], cwd: Path) -> dict[str, str]:
    """Where the season in the data folder of a command lies, if the tests run elsewhere; a demo lies in its folder."""
    said = list(map(str, words))
    if "BASANITE_TESTS_ON" not in os.environ or "--data" not in said or said[0] == "demo":
        return {}
    from tests.offices import engines

    return engines.empty_place(cwd / said[said.index("--data") + 1]).environment()


def process(*words: str | Path, cwd: Path, **environment: str) -> Ended:
    """Run `python -m basanite` as a process of its own."""
    command = [sys.executable, "-m", "basanite", *map(str, words)]
    given = {**plain(), **moved(words, cwd), **environment}
    done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, timeout=LIMIT, check=False)
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


PLAIN_CORE = {"x86_64": "Prescott", "AMD64": "Prescott"}.get(platform.machine(), "ARMV8")
"""A core type of OpenBLAS without fused multiplication: the last digits differ from those of any newer one."""


@functools.cache
def warm_door(core: str = "") -> str:
    """The socket of a server that forks commands; one for each test process and core type, ending with the process."""
    folder = tempfile.TemporaryDirectory(prefix="basanite-warm-")
    door = f"{folder.name}/door"
    command = [sys.executable, warm.__file__, "serve", door]
    environment = os.environ | ({"OPENBLAS_CORETYPE": core} if core else {})
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=-1, env=environment)
    atexit.register(folder.cleanup)
    atexit.register(server.communicate)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return door


@functools.cache
def warm_commands() -> Path:
    """A folder with a `basanite` for shells, which has the server fork what it is asked for."""
    door = Path(warm_door())
    words = shlex.join([sys.executable, "-I", "-S", warm.__file__, str(door), "basanite"])
    (script := door.parent / "basanite").write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return door.parent


def forked(*words: str | Path, cwd: Path, core: str = "") -> Ended:
    """The same as `process`, in a process that has imported everything before, perhaps for another core type."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(os.devnull, "rb") as nothing:
        files = (nothing.fileno(), out.fileno(), err.fileno())
        given = plain() | moved(words, cwd)
        code = warm.ask(warm_door(core), ["basanite", *map(str, words)], str(cwd), given, files, limit=LIMIT)
        out.seek(0), err.seek(0)
        return Ended(code, out.read().decode(), err.read().decode())


def here(*words: str | Path, cwd: Path = EXAMPLE) -> Ended:
    """Run the command line in this process, from its first line to its exit code."""
    out, err = io.StringIO(), io.StringIO()
    argv, elsewhere = ["basanite", *map(str, words)], patch.dict(os.environ, moved(words, cwd))
    with chdir(cwd), elsewhere, patch.object(sys, "argv", argv), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            return Ended(int(end.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("the command line did not end with an exit code")


def typed(line: str, cwd: Path, run: Callable[..., Ended] = process) -> Ended:
    """Run a line as it would be typed: `basanite …`, at its end perhaps `> FILE`."""
    program, *words = shlex.split(line)
    assert program == "basanite", line
    if ">" not in words:
        return run(*words, cwd=cwd)
    *words, _, file = words
    ended = run(*words, cwd=cwd)
    (cwd / file).write_text(ended.stdout, encoding="utf-8")
    return ended
