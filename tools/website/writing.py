"""Markdown written by a program: tables whose cells cannot break them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cell(text: object) -> str:
    """Text as it may stand in a table: on one line, and nothing in it taken for markup.

    >>> cell("a | b\\n<c>")
    'a \\\\| b &lt;c&gt;'
    """
    plain = " ".join(str(text).split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|")


def code(text: object) -> str:
    """A name or a value set as code; nothing for nothing.

    >>> code("a_b"), code("a|b"), code("")
    ('`a_b`', '<code>a&#124;b</code>', '')
    """
    shown = str(text)
    if "|" not in shown and "`" not in shown:
        return f"`{shown}`" if shown else ""
    shown = cell(shown)
    for mark, entity in (("\\|", "&#124;"), ("*", "&#42;"), ("_", "&#95;")):
        shown = shown.replace(mark, entity)
    return f"<code>{shown}</code>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are ready to stand in one; nothing where there are no rows.

    >>> print(table(["a"], [["1"]]))
    | a |
    |---|
    | 1 |
    """
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *lines]) if lines else ""


def page(*parts: str) -> str:
    """Parts with a blank line between each two; empty ones are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
