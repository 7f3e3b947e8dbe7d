"""Writes what the commands of docs/gallery.md print, up to the end of their first table: `python -m tools.gallery`.

The commands and the words around them are written by hand. Type it in an environment with Basanite when commands
print something else; tests/test_docs.py compares the page with a fresh run.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery.md"
RULE = " ──"
PLAIN = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "BASANITE": str(ROOT)}


def shown(printed: str) -> list[str]:
    """The first lines of an output, to the end of its first table, and dots for the rest.

    >>> shown("Alpha\\n\\n Metric\\n ──────\\n aqwv\\n \\nmore\\n")
    ['Alpha', '', ' Metric', ' ──────', ' aqwv', '...']
    """
    kept: list[str] = []
    in_table = False
    for line in printed.strip().splitlines():
        if in_table and not line.strip():
            return [*kept, "..."]
        in_table = in_table or line.startswith(RULE)
        kept.append(line.rstrip())
    return kept


def renewed(page: str, folder: Path) -> Iterator[str]:
    """The lines of the page, with new output below each command of Basanite."""
    in_output = False
    for line in page.splitlines():
        if line.startswith(("$ ", "```")):
            in_output = False
        if not in_output:
            yield line
        if line.startswith("$ basanite "):
            in_output = True
            done = subprocess.run(
                ["bash", "-c", line[2:]],
                cwd=folder,
                env=os.environ | PLAIN,
                capture_output=True,
                text=True,
                check=False,
            )
            yield from shown(done.stdout + done.stderr)


def main() -> None:
    """Write the page again."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        lines = list(renewed(PAGE.read_text(encoding="utf-8"), Path(folder)))
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
