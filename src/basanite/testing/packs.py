"""A retrieval pack of six queries with a key, and three submissions: perfect, silent and invalid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from basanite.synthetic.clir import Spec, key_members, write_key, write_lists, write_members, write_metadata

SPEC = Spec(queries=6, documents=30, seed=3)


@dataclass(frozen=True)
class SmallPack:
    """Where the files of the small pack lie."""

    key: Path
    """A folder, one file a query."""
    documents: Path
    queries: Path
    metadata: tuple[Path, Path]
    perfect: Path
    """Says yes where the key does: AQWV 1."""
    silent: Path
    """Says no to everything: AQWV 0."""
    invalid: Path
    """Confidences without decimals, which M29 forbids."""


def small_pack(folder: Path, spec: Spec = SPEC) -> SmallPack:
    """Write the small pack into a folder; the same bytes each time."""
    write_key(spec, folder / "key")
    documents, queries = write_lists(spec, folder)
    archives = {name: folder / f"{name}.tgz" for name in ("perfect", "silent", "invalid")}
    write_members(_answers(spec, lambda mark: mark + ("\t1.0" if mark == "Y" else "\t0.0")), archives["perfect"])
    write_members(_answers(spec, lambda mark: "N\t0.0"), archives["silent"])
    write_members(_answers(spec, lambda mark: f"{mark}\t1"), archives["invalid"])
    return SmallPack(folder / "key", documents, queries, write_metadata(spec, folder / "metadata"), **archives)


def _answers(spec: Spec, answer: Callable[[str], str]) -> Iterator[tuple[str, bytes]]:
    """Answers made from the key: each document keeps its line, and its Y or N becomes an answer."""
    for name, data in key_members(spec):
        rows = (line.split("\t") for line in data.decode().splitlines())
        yield name, "".join(f"{document}\t{answer(mark)}\n" for document, mark in rows).encode()
