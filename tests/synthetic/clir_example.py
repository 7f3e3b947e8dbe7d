"""The small retrieval example: `python -m tests.synthetic.clir_example FOLDER` makes it again, byte for byte.

It has a key, factors, three systems (a good one, a weaker one, and one whose threshold is too low) and a folder with
one instance of each mistake that people make most.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from basanite.synthetic.clir import (
    Quality,
    Spec,
    system_members,
    write_key,
    write_lists,
    write_members,
    write_metadata,
    write_system,
)

SPEC = Spec(queries=20, documents=60, seed=2)
SYSTEMS = (Quality("Alpha", 9.0), Quality("Beta", 6.5), Quality("Gamma", 9.0, bias=-2.0))
UNKNOWN = b"MATERIAL_BASE-1A_00000000"


def at_line(number: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """A change of one line of a file, counted from 1, which is given with its line feed."""

    def changed(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        lines[number - 1] = change(lines[number - 1])
        return b"".join(lines)

    return changed


def cell(number: int, text: bytes) -> Callable[[bytes], bytes]:
    """A change of one cell of a line, counted from 1."""

    def changed(line: bytes) -> bytes:
        cells = line.removesuffix(b"\n").split(b"\t")
        cells[number - 1] = text
        return b"\t".join(cells) + b"\n"

    return changed


def repeated(data: bytes) -> bytes:
    """The first line again in place of the second: one document twice, one missing."""
    lines = data.splitlines(keepends=True)
    return b"".join([lines[0], lines[0], *lines[2:]])


MISTAKES: Mapping[str, Callable[[bytes], bytes]] = {
    "a confidence without decimals on line 3 (M29)": at_line(3, cell(3, b"1")),
    "a confidence with an exponent on line 4 (M29)": at_line(4, cell(3, b"5.0e-2")),
    "a decision in lower case on line 5 (M28)": at_line(5, cell(2, b"y")),
    "only two fields on line 6 (M27)": at_line(6, lambda line: line.rsplit(b"\t", 1)[0] + b"\n"),
    "blanks in place of tabs on line 7 (M21)": at_line(7, lambda line: line.replace(b"\t", b" ")),
    "invalid UTF-8 on line 8 (M21)": at_line(8, cell(1, b"MATERIAL_BASE-1A_1234\xff678")),
    "lines that end in carriage returns (M22)": lambda data: data.replace(b"\n", b"\r\n"),
    "a byte order mark (M22)": lambda data: b"\xef\xbb\xbf" + data,
    "a blank line 9 (M23)": at_line(9, lambda line: b"\n" + line),
    "a last line that is not ended, which is a warning only (M23)": lambda data: data.removesuffix(b"\n"),
    "a header (M24)": lambda data: b"document\tdecision\tconfidence\n" + data,
    "line 1 again on line 2, in place of another document (M26)": repeated,
    "a document that is not in the set on line 11 (M26)": at_line(10, lambda line: line + UNKNOWN + b"\tN\t0.1\n"),
    "no line for one document (M26)": at_line(11, lambda line: b""),
    "a document's name with too few digits on line 12 (M33)": at_line(12, cell(1, b"MATERIAL_BASE-1A_123")),
}
"""By what is wrong: how to spoil a file. The first query gets the first mistake, and so on; a file whose name is
padded differently and one that is left out (M25) follow."""


def write_broken(folder: Path) -> list[tuple[str, str]]:
    """Write Alpha's answers with one mistake in each of the first files; returns the files and what is wrong."""
    members = list(system_members(SPEC, SYSTEMS[0]))
    spoilt = [(name, change(data)) for (name, data), change in zip(members, MISTAKES.values(), strict=False)]
    (padded, data), (absent, _), *rest = members[len(MISTAKES) :]
    stranger = padded.replace("query", "query0")
    write_members([*spoilt, (stranger, data), *rest], folder)
    told = [(name, words) for (name, _), words in zip(members, MISTAKES, strict=False)]
    return [*told, (stranger, f"should be called {padded} (M25)"), (absent, "is not there (M25)")]


def write_example(folder: Path) -> None:
    """Write the whole example into a folder; archives that are there are made again."""
    write_key(SPEC, folder / "key")
    write_metadata(SPEC, folder / "metadata")
    write_lists(SPEC, folder)
    write_broken(folder / "broken")
    for quality in SYSTEMS:
        archive = folder / f"{quality.label}.tgz"
        archive.unlink(missing_ok=True)
        write_system(SPEC, quality, archive)


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
