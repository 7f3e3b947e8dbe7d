"""Running the command line as users do: as a process of its own, or in this one where that is quicker."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from basanite.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "clir"
FEATURES = ROOT / "examples" / "features"
READING = ROOT / "examples" / "reading"
HARNESS = ROOT / "examples" / "harness"
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


def process(*words: str | Path, cwd: Path, **environment: str) -> Ended:
    """Run `python -m basanite` as a process of its own."""
    command = [sys.executable, "-m", "basanite", *map(str, words)]
    given = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **environment}
    done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, timeout=LIMIT, check=False)
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def here(*words: str | Path, cwd: Path = EXAMPLE) -> Ended:
    """Run the command line in this process, from its first line to its exit code."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["basanite", *map(str, words)]
    with chdir(cwd), patch.object(sys, "argv", argv), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            return Ended(int(end.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("the command line did not end with an exit code")


def typed(line: str, cwd: Path) -> Ended:
    """Run a line as it would be typed: `basanite …`, at its end perhaps `> FILE`."""
    program, *words = shlex.split(line)
    assert program == "basanite", line
    if ">" not in words:
        return process(*words, cwd=cwd)
    *words, _, file = words
    ended = process(*words, cwd=cwd)
    (cwd / file).write_text(ended.stdout, encoding="utf-8")
    return ended
