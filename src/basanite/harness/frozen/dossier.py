"""The papers of a frozen entry: what must be there, what is missing, and where the report finds the rest (H-30)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded

LARGEST: Final = 2**20
FEWEST_WORDS: Final = 20
"""Prose is at least so many words beside pictures and code."""
FENCED: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
WORD: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Part:
    """One thing that a dossier must have: its name, how its file is called, and what to do if it is missing."""

    name: str
    pattern: str
    fix: str
    prose: bool = False
    code: bool = False


PARTS: Final = (
    Part("source", r"(source|src)(/.*|\.(tar\.gz|tgz|zip))", "put the source into source/"),
    Part("build instructions", r"(build|install)(ing)?\.(md|txt)", "say in build.md how it is built", prose=True),
    Part("dependencies", r"(dependencies|requirements)\.(md|txt|toml|lock)", "list what it needs in dependencies.txt"),
    Part("architecture figure", r"architecture\.(png|svg|pdf|jpe?g)", "draw the architecture as architecture.svg"),
    Part("architecture in prose", r"architecture\.(md|txt)", "describe the figure in architecture.md", prose=True),
    Part("pseudocode", r"pseudocode\.(md|txt)", "write the algorithm into pseudocode.md as a fenced block", code=True),
    Part("pseudocode in prose", r"pseudocode\.(md|txt)", "explain the algorithm in pseudocode.md in words", prose=True),
    Part("worked example", r"example(s)?(/.*|\.(md|txt))", "show in example.md what goes in and what comes out"),
)  # fmt: skip


@dataclass(frozen=True)
class Dossier:
    """What a dossier holds: the file of each part, and what is missing with what to do about it."""

    folder: str
    found: Mapping[str, str]
    missing: Mapping[str, str]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing

    def canonical(self) -> dict[str, Any]:
        """As it stands in the manifest, where the report finds what to link."""
        return {"folder": self.folder, "found": dict(self.found), "missing": dict(self.missing)}


def read_dossier(folder: Path, shown: str) -> Dossier:
    """Look through a dossier; a folder that is not there lacks everything."""
    files = (
        sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        if folder.is_dir()
        else []
    )
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for part in PARTS:
        path = next((path for path in files if _fits(part, path, folder)), None)
        if path is None:
            missing[part.name] = part.fix
        else:
            found[part.name] = path.relative_to(folder).as_posix()
    return Dossier(shown, found, missing)


def _fits(part: Part, path: Path, folder: Path) -> bool:
    inside = path.relative_to(folder).as_posix()
    if not re.fullmatch(part.pattern, inside, re.IGNORECASE) or path.stat().st_size == 0:
        return False
    if not (part.prose or part.code):
        return True
    try:
        text = read_bounded(path, LARGEST).decode("utf-8", "replace")
    except UnreadableError:
        return False
    prose = len(WORD.findall(FENCED.sub("", text))) >= FEWEST_WORDS
    return (prose or not part.prose) and (bool(FENCED.search(text)) or not part.code)
