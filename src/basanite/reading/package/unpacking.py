"""A package that comes as an archive: unpacked into a folder of its own, with every check that archives get (X-8)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from basanite.formats.archives.archive import open_source
from basanite.problems import Findings
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
