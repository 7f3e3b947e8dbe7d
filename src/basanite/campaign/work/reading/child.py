"""The limited child of the reading services: what its works start from, and the command that runs an order (X-8).

Packages, statements, rules, queries and answers are parsed here alone. Limits come first where no sandbox is around it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from basanite.canonical import dumps
from basanite.errors import BasaniteError, InvalidInputError
from basanite.metrics.answers import Bindings
from basanite.problems import Findings, Problem
from basanite.reading.package import Package, read_package
from basanite.reading.package.model import package_root
from basanite.sandbox.child import GIVEN, OUT, serve_request

REFUSED: Final = "refused.json"
"""What is written where the caller can fix something."""
TASK: Final = "reading"


class RefusalError(BasaniteError):
    """Something asked for cannot be done, for one reason that the caller can fix."""

    def __init__(self, rule: str, message: str, fix: str, *, status: int = 422, line: int | None = None) -> None:
        self.problem, self.status = Problem(rule, "", line, None, message, fix), status
        super().__init__(f"{message}. Fix: {fix}")


@dataclass(frozen=True)
class Desk:
    """One order."""

    data: Mapping[str, Any]
    files: Mapping[str, Path]
    out: Path

    def write(self, name: str, data: Any) -> None:
        """Write an answer as JSON."""
        (self.out / name).write_text(dumps(data), encoding="utf-8", newline="")

    def root(self) -> Path:
        """The package of the order, unpacked into a folder that is gone with the child."""
        return unpack_package(self.files["package"], Path(tempfile.mkdtemp()))

    def package(self, root: Path | None = None) -> Package:
        """The package of the order, which was checked when it was added."""
        findings = Findings()
        package = read_package(root or self.root(), findings)
        if package is None:
            raise InvalidInputError(TASK, findings)
        return package


def unpack_package(archive: Path, folder: Path) -> Path:
    """The root of a package from its archive; what is wrong with the archive is refused."""
    findings = Findings()
    root = package_root(archive, folder, findings)
    if root is None:
        raise InvalidInputError(TASK, findings)
    return root


def plain(bindings: Bindings) -> list[Any]:
    """Variables with a sorted list of names, or a literal.

    >>> plain((("G", frozenset({"b", "a"})), ("N", "5")))
    [['G', ['a', 'b']], ['N', '5']]
    """
    return [[name, sorted(bound) if isinstance(bound, frozenset) else bound] for name, bound in bindings]


def read_bindings(found: Sequence[Any]) -> Bindings:
    """The other way round."""
    return tuple((str(name), frozenset(value) if isinstance(value, list) else str(value)) for name, value in found)


def digest(query: str, document: str, bindings: Bindings) -> str:
    """The name of an answer, no matter who gives it."""
    return hashlib.sha256(json.dumps([query, document, plain(bindings)], ensure_ascii=False).encode()).hexdigest()


def lay_gold(desk: Desk, root: Path) -> None:
    """Put versions of the gold beside those that the package came with."""
    (root / "gold").mkdir(exist_ok=True)
    for role, path in desk.files.items():
        if role.startswith("gold_"):
            shutil.copyfile(path, root / "gold" / f"{role.removeprefix('gold_')}.ndjson")


WORKS: Final[Mapping[str, tuple[str, str]]] = {
    "prepare": ("child_packages", "prepare"),
    "task": ("child_packages", "make"),
    "reason": ("child_reasoner", "reason"),
    "sparql": ("child_sparql", "ask"),
    "graph": ("child_sparql", "make_graph"),
    "answers": ("child_runs", "take"),
    "score": ("child_runs", "score"),
    "explain": ("child_reasoner", "explain"),
    "repack": ("child_packages", "repack"),
}
"""Each work with the module and function that do it; only that module is loaded, for somebody is waiting."""


def main() -> int:
    """Carry out the order; what is wrong with it is written down as problems."""
    return serve_request(_carry_out, _refuse)


def _carry_out(order: Mapping[str, Any]) -> None:
    desk = Desk(order["data"], {role: GIVEN / path for role, path in order["files"].items()}, OUT)
    module, function = WORKS[order["work"]]
    getattr(import_module(f"basanite.campaign.work.reading.{module}"), function)(desk)


def _refuse(error: BasaniteError) -> int:
    """Write down what is wrong and end well: what a process writes that ends otherwise is not taken over."""
    found = [one.as_dict() for one in _problems(error)]
    status = error.status if isinstance(error, RefusalError) else 422
    (OUT / REFUSED).write_text(json.dumps({"status": status, "problems": found}), encoding="utf-8")
    return 0


def _problems(error: BasaniteError) -> list[Problem]:
    if isinstance(error, InvalidInputError):
        return list(error.findings.problems)
    if isinstance(error, RefusalError):
        return [error.problem]
    message, _, fix = str(error).partition(". ")
    return [Problem("R-23", "", None, None, message.removesuffix("."), fix or "change the request")]


if __name__ == "__main__":
    # The works import this module by its name: what they raise are the errors of that copy, not those of `__main__`.
    from basanite.campaign.work.reading import child

    sys.exit(child.main())
