"""A reading package in memory: what is small is kept, what may be large is read as it comes.

One that comes as an archive is unpacked into a folder of its own first, with every check that archives get (X-8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.errors import UnreadableError
from basanite.formats.archives.archive import open_source
from basanite.problems import Findings
from basanite.reading.ontology import Ontology
from basanite.reading.ontology_file import read_ontology
from basanite.reading.package.annotations import Line, annotation_path, by_document, read_annotations
from basanite.reading.package.documents import Document, read_documents
from basanite.reading.package.manifest import FILE, Manifest, Part, read_manifest
from basanite.reading.package.ndjson import LineFaults
from basanite.reading.provenance import Assertion
from basanite.reading.queries import read_queries
from basanite.reading.query import Query
from basanite.reading.terms import Statement

ONTOLOGY: Final = "ontology.ttl"


@dataclass(frozen=True)
class Package:
    """Manifest, ontology and queries of a package, and the way to the rest."""

    root: Path
    manifest: Manifest
    ontology: Ontology
    queries: tuple[Query, ...]

    def has(self, part: Part) -> bool:
        """Whether the texts of a part are here; those of a sealed part may not be."""
        return (self.root / "corpus" / part.name).is_dir()

    def documents(self, part: str, findings: Findings | None = None) -> dict[str, Document]:
        """The documents of a part by name."""
        return read_documents(self.root, part, Findings() if findings is None else findings)

    def assertions(
        self, part: str, documents: dict[str, Document], findings: Findings | None = None
    ) -> Iterator[Assertion]:
        """The annotated statements of a part as they come."""
        return (line.assertion for line in self._lines(part, documents, findings))

    def statements(self, part: str, documents: dict[str, Document]) -> Iterator[tuple[str, list[Statement]]]:
        """The annotated statements of each document of a part that has some, one document at a time."""
        path = annotation_path(self.root, part)
        for name, lines in by_document(path, self._lines(part, documents)) if path.is_file() else ():
            yield name, [line.assertion.statement for line in lines]

    def _lines(self, part: str, documents: dict[str, Document], findings: Findings | None = None) -> Iterator[Line]:
        path = annotation_path(self.root, part)
        faults = LineFaults(f"annotations/{path.name}", "R-8", Findings() if findings is None else findings)
        return read_annotations(path, self.manifest.prefixes, documents, faults) if path.is_file() else iter(())

    def queries_for(self, part: str) -> tuple[Query, ...]:
        """The queries that are asked of a part: all but those in files named after another part."""
        others = {f"{other.name}.yaml" for other in self.manifest.parts if other.name != part}
        return tuple(query for query in self.queries if query.file not in others)


def require_package(root: Path) -> None:
    """Refuse a folder that is no package at all."""
    if not (root / FILE).is_file():
        raise UnreadableError(f"{root} is not a reading package: {FILE} is missing. Give the folder that contains it.")


def read_package(root: Path, findings: Findings) -> Package | None:
    """Manifest, ontology and queries of a package; nothing, with problems, if the first two cannot be had."""
    require_package(root)
    with LineFaults(FILE, "R-7", findings).unreadable():
        manifest = read_manifest(root, findings)
        if manifest is not None and (root / ONTOLOGY).is_file():
            ontology = read_ontology(root / ONTOLOGY, manifest.prefixes, findings)
            return Package(root, manifest, ontology, tuple(_queries(root, ontology, manifest, findings)))
    return None


def query_files(root: Path) -> list[Path]:
    """The files of queries, those without a part first."""
    return sorted((root / "queries").glob("*.yaml"), key=lambda path: (path.name != "queries.yaml", path.name))


def _queries(root: Path, ontology: Ontology, manifest: Manifest, findings: Findings) -> Iterator[Query]:
    taken: dict[str, str] = {}
    for path in query_files(root):
        faults = LineFaults(f"queries/{path.name}", "R-12", findings)
        found: tuple[Query, ...] = ()
        with faults.unreadable():
            found = read_queries(path, ontology, manifest.capabilities, findings)
        for query in found:
            if query.id in taken:
                fix = f"rename it; {taken[query.id]} has it, too"
                faults.add(query.line, f"the query {query.id!r} appears twice", fix)
            else:
                taken[query.id] = path.name
                yield query


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


def package_root(archive: Path, folder: Path, findings: Findings) -> Path | None:
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
