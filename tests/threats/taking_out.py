"""Defences taken out of a copy of the source, one at a time, to see that a test notices."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCE = ROOT / "src" / "basanite"
SECONDS = 280
THREATS = [f"X-{number}" for number in range(1, 37)]
"""Those of the threat model in the documentation; each has a defence."""


@dataclass(frozen=True)
class Defence:
    """A piece of the source that stands against a threat, what is left without it, and the test that notices."""

    threat: str
    what: str
    file: str
    stands: str
    without: str
    test: str

    @property
    def path(self) -> Path:
        """The file that it stands in."""
        return SOURCE / self.file


def defences() -> tuple[Defence, ...]:
    """All that are listed."""
    with (HERE / "defences.toml").open("rb") as file:
        return tuple(Defence(**entry) for entry in tomllib.load(file)["defences"])


def without(defence: Defence, folder: Path) -> Path:
    """A copy of the source in which the defence is missing; gives what to put on the path."""
    shutil.copytree(SOURCE, folder / "basanite", ignore=shutil.ignore_patterns("__pycache__"))
    place = folder / "basanite" / defence.file
    place.write_text(place.read_text("utf-8").replace(defence.stands, defence.without), encoding="utf-8")
    return folder


def run(test: str, path: Path) -> subprocess.CompletedProcess[str]:
    """One test by a Python that finds the package under `path`."""
    environment = os.environ | {"PYTHONPATH": str(path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", test]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
