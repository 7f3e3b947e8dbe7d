"""Which stored files the rows of a campaign, or of all, speak of; and whether they are there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Table, select

from basanite.campaign.keeping.rows import TABLES

DIGESTS: Mapping[str, tuple[str, ...]] = {
    "submissions": ("sha256", "problems_digest"),
    "results": ("digest", "figures"),
    "boards": ("digest",),
    "pack_files": ("digest",),
    "panel_images": ("digest",),
    "reading_scores": ("digest",),
    "reading_uploads": ("digest",),
    "signatures": ("copy_digest", "deletion_digest"),
}
"""Columns that name a file by its content."""
HEX = re.compile(r"[0-9a-f]{64}")


def is_digest(text: Any) -> bool:
    """Whether this is the name of a stored file and no path in disguise.

    >>> is_digest("ab" * 32), is_digest("../../etc/passwd"), is_digest(None)
    (True, False, False)
    """
    return isinstance(text, str) and HEX.fullmatch(text) is not None


def row_digests(table: str, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Store and digest of every file that one row speaks of."""
    if table == "references":
        yield from (("sealed", digest) for digest in reference_digests(row["files"]))
    if table == "crowd_batches":
        yield from (("sealed", str(digest)) for digest in row["raws"])
    if table == "annotation_projects":
        yield from ((str(store), str(digest)) for _, (store, digest) in sorted(row["files"].items()))
    if table == "annotation_documents":
        yield str(row["store"]), str(row["digest"])
    yield from reading_digests(table, row)
    for column in DIGESTS.get(table, ()):
        if row.get(column):
            yield "files", str(row[column])


SEALED: Mapping[str, tuple[str, ...]] = {
    "reading_packages": ("digest", "open_digest", "index_digest"),
    "reading_golds": ("digest", "human"),
}
"""Columns that name a file among the sealed ones."""


def reading_digests(table: str, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Store and digest of what packages, gold and reading tasks speak of."""
    yield from (("sealed", str(row[column])) for column in SEALED.get(table, ()) if row[column])
    if table == "reading_tasks":
        store = "sealed" if row["sealed"] else "files"
        yield from ((store, str(digest)) for _, digest in sorted(row["files"].items()))


def reference_digests(files: Mapping[str, Any]) -> Iterator[str]:
    """The digests of a reference's files, whatever their role."""
    for role, value in sorted(files.items()):
        if role != "names":
            yield from (str(digest) for digest in (value if isinstance(value, list) else [value]) if digest)


def spoken_of(connection: Connection) -> Iterator[tuple[str, str]]:
    """Store and digest of every file that any row speaks of."""
    for name in (
        *DIGESTS,
        *SEALED,
        "reading_tasks",
        "references",
        "crowd_batches",
        "annotation_projects",
        "annotation_documents",
    ):
        for row in connection.execute(select(_table(name))).mappings():
            yield from row_digests(name, dict(row))


def _table(name: str) -> Table:
    return TABLES[name]
