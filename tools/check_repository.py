"""Order in the tree: names that say nothing, files too big to keep, traces of one machine, and promises that must load.

Each check is a function that yields complaints; a clean tree yields none.
"""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from tools.conformance import REQUIREMENTS, ROOT, MalformedRequirementsError, load_requirements, source_files

KILOBYTE = 1024
LARGEST_FILE = 300 * KILOBYTE
LARGEST_SCREENSHOT = 500 * KILOBYTE
LARGEST_EXAMPLES = 3 * KILOBYTE * KILOBYTE
SAYS_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
LEFT_OUT = "torch"
"""The one dependency of ours that may be missing (`make test TORCH=no`)."""
PICTURES = {".png", ".jpg", ".jpeg", ".webp", ".svg", ".gif"}

# Spelt so that this file does not find itself.
TRACES = {
    "a path of one machine": re.compile(r"(?<![\w.:/~}*-])/(?:home|root|Users|work|workspace|mnt)/[\w.-]"),
    "a path outside the repository": re.compile(r"\.\./shared\b"),
    "the host of a package index": re.compile(
        r"https?://[^/\s]*(?:pypi|nexus|artifactory|registry|devpi)"
        r"|\bpypi\.org\b|python[h]osted"
        r"|\b(?:registry|nexus|artifactory|mirror)\.[a-z0-9-]+\.(?:org|com|net|io)\b"
        r"|--(?:extra-)?index-url|--trusted[-]host\b",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True)
class Tree:
    """The files of a checkout that are kept, by their paths from its root."""

    root: Path

    @cached_property
    def files(self) -> list[PurePosixPath]:
        """Everything tracked or about to be."""
        return [PurePosixPath(name) for name in source_files(self.root)]

    def size(self, file: PurePosixPath) -> int:
        """The size of a file in bytes."""
        return (self.root / file).stat().st_size

    def lines(self, file: PurePosixPath) -> list[str]:
        """The lines of a text file; none for any other."""
        content = (self.root / file).read_bytes()
        return [] if b"\0" in content else content.decode("utf-8", "replace").splitlines()


def names_that_say_nothing(tree: Tree) -> Iterator[str]:
    """No module or package is a drawer: a function lives with the noun it serves."""
    for file in tree.files:
        parts = {*file.parts[:-1], file.stem} if file.suffix == ".py" else set()
        if drawers := sorted(parts & SAYS_NOTHING):
            yield f"{file}: the name {drawers[0]!r} says nothing; put each function with the noun it serves"


def files_too_big(tree: Tree) -> Iterator[str]:
    """A clone stays small: one limit for files, a wider one for pictures in the docs, one for all examples."""
    for file in tree.files:
        limit = LARGEST_SCREENSHOT if _is_screenshot(file) else LARGEST_FILE
        if (size := tree.size(file)) > limit:
            yield f"{file}: {size // KILOBYTE} KB, the limit is {limit // KILOBYTE} KB"
    examples = sum(tree.size(file) for file in tree.files if file.parts[0] == "examples")
    if examples > LARGEST_EXAMPLES:
        yield f"examples: {examples // KILOBYTE} KB together, the limit is {LARGEST_EXAMPLES // KILOBYTE} KB"


def traces_of_a_machine(tree: Tree) -> Iterator[str]:
    """No text file names a path or package index that only one machine has."""
    for file in tree.files:
        for number, line in enumerate(tree.lines(file), start=1):
            for what, pattern in TRACES.items():
                if found := pattern.search(line):
                    yield f"{file}:{number}: {what}: {found[0]!r}"


def malformed_requirements(tree: Tree) -> Iterator[str]:
    """The file of requirements can be read and every entry is whole."""
    try:
        load_requirements(tree.root / REQUIREMENTS)
    except (OSError, tomllib.TOMLDecodeError, MalformedRequirementsError) as error:
        yield f"{REQUIREMENTS}: {error}"


def entry_points_that_fail(tree: Tree) -> Iterator[str]:
    """Every plug-in and command that pyproject.toml promises can be imported."""
    project = tomllib.loads((tree.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    for group, entries in groups.items():
        for name, target in entries.items():
            if fault := _import_fault(target):
                yield f"pyproject.toml: {group}.{name} = {target!r}: {fault}"


CHECKS = (
    names_that_say_nothing,
    files_too_big,
    traces_of_a_machine,
    malformed_requirements,
    entry_points_that_fail,
)


def complaints(root: Path) -> list[str]:
    """Everything that is out of order below a root."""
    tree = Tree(root)
    return [complaint for check in CHECKS for complaint in check(tree)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is out of order; 1 if anything is."""
    found = complaints(Path(arguments[0]) if arguments else ROOT)
    for complaint in found:
        print(complaint, file=sys.stderr)
    print(f"Repository: {len(found)} complaints" if found else "Repository: in order")
    return 1 if found else 0


def _is_screenshot(file: PurePosixPath) -> bool:
    return file.parts[0] == "docs" and file.suffix.lower() in PICTURES


def _import_fault(target: str) -> str:
    module, _, attribute = target.partition(":")
    try:
        getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        return "" if getattr(error, "name", None) == LEFT_OUT else str(error)
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
