"""The page of all formats that are recognized, from the one list of kinds and layouts."""

from __future__ import annotations

from collections.abc import Sequence

from basanite.formats.file_kinds import FOLDERS, KINDS, TEXTS
from basanite.formats.kinds.general import BINARY, PLAIN, TABLE
from basanite.formats.kinds.kind import Kind
from basanite.formats.kinds.own import OWN
from basanite.formats.kinds.tables import LAYOUTS
from tools.website.writing import cell, code, page, table

HEADS = ["format", "usual endings", "recognized by", "one item", "read by"]


def formats_page() -> str:
    """Every kind of file: how it is recognized, what is counted, which commands read it."""
    others = [kind for kind in KINDS if kind not in (*TEXTS, *FOLDERS, *BINARY, *OWN)]
    binary = ", ".join(cell(kind.name) for kind in BINARY)
    layouts = (
        [cell(one.name), code(", ".join(one.columns)), cell(one.record), _lines(one.commands) or cell(one.fix)]
        for one in LAYOUTS
    )
    return page(
        "# All formats",
        "What `basanite inspect` tells apart. The content decides, in the order of these tables; endings "
        "are only a hint. `FILE` is the file itself, other words in capitals are your other files.",
        "## Texts",
        _kinds(TEXTS),
        "## Tables",
        "Columns of CSV, TSV, JSON lines and Parquet; a table may have more columns than these.",
        table(["what it holds", "columns", "one item", "read by"], layouts),
        "## Folders and archives",
        _kinds(FOLDERS),
        "## Files of Basanite",
        _kinds(OWN),
        "## Others",
        _kinds(others),
        f"Told by their first bytes and unpacked or refused: {binary}.",
    )


def _kinds(kinds: Sequence[Kind]) -> str:
    return table(HEADS, map(_row, kinds))


def _row(kind: Kind) -> list[str]:
    reads = kind.commands or (("any task of items",) if kind in (TABLE, PLAIN) else ())
    return [
        cell(kind.name),
        code(" ".join(kind.endings)),
        _with_code(kind.sign),
        cell(kind.record),
        _lines(kind.commands) or cell(reads[0] if reads else kind.fix),
    ]


def _with_code(text: str) -> str:
    """A sentence for a cell; what stands between backticks is code, and no sign in it means anything else."""
    return "".join(code(part) if at % 2 else cell(f"|{part}|")[2:-2] for at, part in enumerate(text.split("`")))


def _lines(commands: Sequence[str]) -> str:
    return "<br>".join(code(one.replace("{path}", "FILE")) for one in commands)
