"""A package that comes as an archive: unpacked into a folder of its own, with every check that archives get (X-8)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from basanite.formats.archives.archive import open_source
from basanite.problems import Findings, Problem
from basanite.reading.package.manifest import FILE

DEPTH: Final = 4
"""Folders in folders that a package has."""
ENDINGS: Final = (".tgz", ".tar.gz")
GZIP: Final = b"\x1f\x8b"


def is_archive(path: Path) -> bool:
    """Whether a path is an archive and no folder.

    >>> is_archive(Path("nfl.tgz")), is_archive(Path("nfl"))
    (True, False)
    """
    return path.name.endswith(ENDINGS) and not path.is_dir()


def unpacked(archive: Path, folder: Path, findings: Findings) -> Path | None:
    """The root of a package from its archive; one folder around everything is passed through. None with problems."""
    source = open_source(archive, depth=DEPTH, where="reference")
    for member in source.members(findings, hashed=False):
        path = folder / member.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(member.data)
    if not source.complete or not findings.valid:
        return None
    inside = list(folder.iterdir())
    if not (folder / FILE).is_file() and len(inside) == 1 and inside[0].is_dir():
        return inside[0]
    return folder


def answer_file(path: Path, folder: Path, findings: Findings) -> Path | None:
    """The answers inside an archive of one file; bytes that are no archive are lines, whatever they are called."""
    with path.open("rb") as file:
        if file.read(2) != GZIP:
            target = folder / "answers.ndjson"
            shutil.copyfile(path, target)
            return target
    members = list(open_source(path, depth=DEPTH).members(findings, hashed=False))
    if len(members) != 1:
        words, fix = f"the archive holds {len(members)} files", "pack one file of answers, as answers.ndjson"
        findings.add(Problem("R-19", path.name, None, None, words, fix))
        return None
    target = folder / Path(members[0].name).name
    target.write_bytes(members[0].data)
    return target
