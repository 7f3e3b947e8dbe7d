"""A zip archive unpacked into a folder of ours: bounded, and nothing outside of the folder is ever written (X-8)."""

from __future__ import annotations

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final

from basanite.errors import UnreadableError
from basanite.formats.archives.members import Limits

PIECE: Final = 1 << 20


def unpack_zip(archive: Path, folder: Path, limits: Limits) -> None:
    """Write the files of an archive into a folder; an archive that is no plain set of files is refused as a whole."""
    try:
        with zipfile.ZipFile(archive) as packed:
            listed = [one for one in packed.infolist() if not one.is_dir()]
            if len(listed) > limits.members:
                raise UnreadableError(f"The archive has {len(listed)} files. Pack at most {limits.members}.")
            left = limits.total_bytes
            for one in listed:
                left -= _write(packed, one, folder, min(left, limits.member_bytes))
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise UnreadableError(f"The archive cannot be read: {error}. Pack it again as a plain .zip.") from error


def _write(packed: zipfile.ZipFile, one: zipfile.ZipInfo, folder: Path, most: int) -> int:
    name = PurePosixPath(one.filename.replace("\\", "/"))
    link = stat.S_ISLNK(one.external_attr >> 16)
    if link or name.is_absolute() or ".." in name.parts or "\0" in one.filename or len(one.filename) > 200:
        raise UnreadableError(f"The archive holds {one.filename[:60]!r}, which leads elsewhere. Pack plain files.")
    path, size = folder / name, 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with packed.open(one) as source, path.open("xb") as target:
        while piece := source.read(PIECE):
            size += len(piece)
            if size > most:
                raise UnreadableError("The archive is too large when it is unpacked. Upload it in parts.")
            target.write(piece)
    return size
