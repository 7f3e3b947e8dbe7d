"""Runs as they are published: as they were submitted, or packed again where names must not appear (P-25)."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
from pathlib import Path

from basanite.campaign.keeping.publishing.gathering import System
from basanite.formats.archives.archive import Source, open_source
from basanite.formats.archives.members import Member
from basanite.problems import Findings


def publish_run(system: System, stored: Path, folder: Path) -> str | None:
    """Write the archive of a system into a folder; gives its name there, or None if it would name its maker.

    A team that is named gets its file as it came, which its receipt names. Any other is packed again: the names and
    owners in an archive's heads and the name in gzip's own are gone, the files and their digest are the same.
    """
    if not stored.is_file():
        return None
    name = f"{system.slug}{_ending(system.archive)}"
    if system.named and not system.unnamed.names:
        shutil.copyfile(stored, folder / name)
        return name
    source = open_source(stored, depth=2)
    members = list(source.members(Findings(), hashed=False))
    if not source.complete or any(_names(system, member) for member in members):
        return None
    _pack(source, members, stored, folder / name)
    return name


def _names(system: System, member: Member) -> bool:
    return system.unnamed.hides(member.name) or system.unnamed.in_bytes(member.data)


def _pack(source: Source, members: list[Member], stored: Path, out: Path) -> None:
    if source.kind != "archive":
        shutil.copyfile(stored, out)
        return
    with (
        out.open("xb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for member in sorted(members, key=lambda one: one.name):
            head = tarfile.TarInfo(member.name)
            head.size, head.mode = len(member.data), 0o644
            tar.addfile(head, io.BytesIO(member.data))


def _ending(name: str) -> str:
    return ".tgz" if name.endswith((".tgz", ".tar.gz")) else Path(name).suffix
