"""A package as a bundle for others: licence, citation and checksums inside, sealed parts left out (R-28).

Only what a package is known to hold goes in, so nothing leaves because somebody put it in the folder. Answers about
sealed documents, and queries of sealed parts, stay behind as well. The same package is the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from basanite.errors import InvalidInputError, SettingError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.effort import FILE as EFFORT
from basanite.reading.package.checks import RULE_FILES, check_package
from basanite.reading.package.documents import document_paths
from basanite.reading.package.manifest import FILE
from basanite.reading.package.model import ONTOLOGY, Package, query_files, read_package
from basanite.reading.package.ndjson import LineFaults, records

LARGEST: Final = 2 * 2**30
SINGLE: Final = (FILE, ONTOLOGY, "guidelines.md", "README.md", "LICENSE", "LICENCE", EFFORT)
TASK: Final = "reading-package"


@dataclass(frozen=True)
class Bundle:
    """What went into a bundle and what did not."""

    name: str
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    """Sealed parts, and files that no package is known to hold."""
    answers_left_out: int


def release(root: Path, out: Path) -> Bundle:
    """Check a package and write its bundle as a .tgz; an invalid package is not released, and no file written over."""
    if out.exists():
        raise SettingError(f"{out} already exists. Choose another name: existing files are never overwritten.")
    if not out.name.endswith((".tgz", ".tar.gz")) or out.resolve().is_relative_to(root.resolve()):
        raise SettingError(f"{out} cannot be the bundle: its name ends in .tgz, and it lies outside the package.")
    findings = Findings()
    check_package(root, findings)
    package = read_package(root, Findings())
    if package is None or not findings.valid:
        raise InvalidInputError(TASK, findings)
    unfinished = out.with_name(out.name + ".part")
    try:
        with unfinished.open("xb") as file:
            bundle = write_bundle(package, file)
        unfinished.rename(out)
    finally:
        unfinished.unlink(missing_ok=True)
    return bundle


def write_bundle(package: Package, file: IO[bytes]) -> Bundle:
    """Write the bundle of a package that has been checked."""
    manifest = package.manifest
    folder = f"{manifest.name}-{manifest.version}"
    sums: list[str] = []
    gold, dropped = _open_gold(package)
    with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in _contents(package, gold):
            _add(archive, f"{folder}/{name}", data)
            sums.append(f"{hashlib.sha256(data).hexdigest()}  {name}")
        _add(archive, f"{folder}/SHA256SUMS", ("\n".join(sums) + "\n").encode())
    names = [line.partition("  ")[2] for line in sums]
    return Bundle(folder, (*names, "SHA256SUMS"), tuple(_left_out(package, set(names))), dropped)


def open_files(package: Package) -> list[Path]:
    """The files of a package that may be shown: known kinds, of parts that are not sealed, and no links."""
    root = package.root
    sealed = {part.name for part in package.manifest.parts if part.sealed}
    found = [root / name for name in SINGLE]
    found += sorted(path for path in (root / "rules").rglob("*") if path.suffix in RULE_FILES)
    found += sorted((root / "theories").glob("*.toml"))
    found += [path for path in query_files(root) if path.stem not in sealed]
    for part in package.manifest.parts:
        if not part.sealed:
            found += [*document_paths(root, part.name), root / "corpus" / f"{part.name}.sha256"]
            found.append(root / "annotations" / f"{part.name}.ndjson")
    found += sorted(path for path in (root / "background").rglob("*") if path.is_file())
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _contents(package: Package, gold: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    manifest = package.manifest
    shown = {path.relative_to(package.root).as_posix(): path for path in open_files(package)}
    written = {
        "CITATION.txt": f"{manifest.citation}\n".encode(),
        "LICENCE.txt": f"{manifest.title} {manifest.version} is licensed under {manifest.licence}.\n".encode(),
        **gold,
    }
    for name in sorted(shown.keys() | written.keys()):
        yield name, written[name] if name in written else read_bounded(shown[name], LARGEST)


def _open_gold(package: Package) -> tuple[dict[str, bytes], int]:
    """The gold about documents and queries that are shown; how many answers are left out."""
    sealed = {part.name for part in package.manifest.parts if part.sealed}
    documents = {
        path.stem
        for part in package.manifest.parts
        if not part.sealed
        for path in document_paths(package.root, part.name)
    }
    queries = {query.id for query in package.queries if Path(query.file).stem not in sealed}
    found: dict[str, bytes] = {}
    dropped = 0
    for path in sorted((package.root / "gold").glob("*.ndjson")):
        lines = read_bounded(path, LARGEST).split(b"\n")
        kept = io.BytesIO()
        for number, record in records(path, LineFaults(path.name, "R-17", Findings())):
            shown = record.get("document") in documents and record.get("query") in queries
            kept.write(lines[number - 1] + b"\n" if shown else b"")
            dropped += not shown
        found[f"gold/{path.name}"] = kept.getvalue()
    return found, dropped


def _left_out(package: Package, shown: set[str]) -> Iterator[str]:
    sealed = [part.name for part in package.manifest.parts if part.sealed]
    yield from (f"part {name} (sealed)" for name in sealed)
    of_sealed = {f"{folder}/{name}" for name in sealed for folder in ("corpus", "annotations", "queries")}
    for folder, _, files in sorted(os.walk(package.root)):
        for file in sorted(files):
            name = (Path(folder) / file).relative_to(package.root).as_posix()
            known = name in shown or any(name.startswith((f"{start}/", f"{start}.")) for start in of_sealed)
            if not known:
                yield name


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o644
    archive.addfile(entry, io.BytesIO(data))
