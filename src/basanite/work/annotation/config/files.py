"""Files that a configuration names: plain ones, beside it or in its package, and nowhere else (X-8)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem, Severity, shortened
from basanite.reading.package.model import Package
from basanite.reading.strict_yaml import LARGEST, Faults

RULE: Final = "R-14"
SHOWN: Final = 200
"""Files of a folder among which the one that was meant is looked for."""


@dataclass(frozen=True)
class Warned(Faults):
    """Faults of a YAML file, and warnings, which stop nobody."""

    def warn(self, line: int | None, message: str, fix: str, *, found: str = "") -> None:
        """Report something that is allowed and yet seldom meant."""
        severity: Severity = "warn"
        problem = Problem(
            self.rule, self.file, line, None, message, fix, shortened(found), severity=severity, where="reference"
        )
        self.findings.add(problem)


@dataclass(frozen=True)
class Beside:
    """Where files are looked for, in this order."""

    folders: Sequence[Path]
    faults: Warned
    package: Package | None = None
    """The reading package among the folders, if it has been read."""

    def find(self, name: str, line: int | None) -> Path | None:
        """The file of a name; a name that leads elsewhere, or to nothing, is a problem."""
        parts = PurePosixPath(name).parts
        if not name or "\\" in name or "\0" in name or name.startswith("/") or ".." in parts or len(name) > 200:
            self.faults.add(line, f"{name[:80]!r} leads elsewhere", "name a file of this folder", rule="X-8")
            return None
        for folder in self.folders:
            path = folder / name
            if any((folder / Path(*parts[:count])).is_symlink() for count in range(1, len(parts) + 1)):
                self.faults.add(line, f"{name} is a link", "put the file itself there", rule="X-8")
                return None
            if path.is_file():
                return path
        near = difflib.get_close_matches(name, self._names(), n=1)
        words = f"Did you mean {near[0]!r}?" if near else "put it beside this file, or give the package that has it"
        self.faults.add(line, f"there is no file {name}", words, found=name)
        return None

    def read(self, name: str, line: int | None) -> str | None:
        """The text of a file; nothing, with a problem, if it cannot be had."""
        path = self.find(name, line)
        if path is None:
            return None
        try:
            return read_bounded(path, LARGEST).decode("utf-8-sig")
        except UnreadableError as error:
            self.faults.add(line, str(error), "give a plain file of the usual size", rule="X-8")
        except UnicodeDecodeError:
            self.faults.add(line, f"{name} is not UTF-8", "save it as UTF-8")
        return None

    def of(self, name: str) -> Warned:
        """Where the problems of such a file go."""
        return Warned(name, self.faults.rule, self.faults.findings)

    def _names(self) -> list[str]:
        found = (path.name for folder in self.folders if folder.is_dir() for path in folder.iterdir())
        return sorted(set(found))[:SHOWN]


def faults_of(file: str, findings: Findings) -> Warned:
    """Where the problems of a configuration go."""
    return Warned(file, RULE, findings)
