"""What every work in the child starts from: the data of its order, its files, and the folder for what it writes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import BasaniteError, InvalidInputError
from basanite.problems import Findings, Problem
from basanite.reading.package import Package, read_package, unpacking
from basanite.reading.package.checks import rule_files
from basanite.reading.rules.checks import check_rules
from basanite.reading.rules.files import read_all_rules
from basanite.reading.rules.tree import RuleSet

GIVEN, OUT, ORDER = Path("in"), Path("out"), "order.json"
REFUSED: Final = "refused.json"
"""What is written where the caller can mend something."""
OUT_OF_MEMORY: Final = 4
"""An exit code, the same as that of the child that scores."""
TASK: Final = "reading"


class RefusalError(BasaniteError):
    """Something asked for cannot be done, for one reason that the caller can mend."""

    def __init__(self, rule: str, message: str, fix: str, *, status: int = 422, line: int | None = None) -> None:
        self.problem, self.status = Problem(rule, "", line, None, message, fix), status
        super().__init__(f"{message}. To do: {fix}")


@dataclass(frozen=True)
class Desk:
    """One order."""

    data: Mapping[str, Any]
    files: Mapping[str, Path]
    out: Path

    def write(self, name: str, data: Any) -> None:
        """Write an answer as JSON."""
        from basanite.reports.formats import json_output  # the reports load much that most works never need

        (self.out / name).write_text(json_output.dumps(data), encoding="utf-8", newline="")

    def root(self) -> Path:
        """The package of the order, unpacked into a folder that is gone with the child."""
        return unpacked(self.files["package"], Path(tempfile.mkdtemp()))

    def package(self, root: Path | None = None) -> Package:
        """The package of the order, which was checked when it was added."""
        findings = Findings()
        package = read_package(root or self.root(), findings)
        if package is None:
            raise InvalidInputError(TASK, findings)
        return package


def unpacked(archive: Path, folder: Path) -> Path:
    """The root of a package from its archive; what is wrong with the archive is refused."""
    findings = Findings()
    root = unpacking.unpacked(archive, folder, findings)
    if root is None:
        raise InvalidInputError(TASK, findings)
    return root


def package_rules(package: Package) -> RuleSet:
    """The rules of a package."""
    findings = Findings()
    rules = read_all_rules(tuple(rule_files(package.root)), findings, prefixes=package.manifest.prefixes)
    check_rules(rules, package.ontology, findings)
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    return rules
