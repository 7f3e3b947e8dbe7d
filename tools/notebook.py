"""Run a notebook cell by cell, and keep or compare what its cells print and show.

    python -m tools.notebook docs/how-to/tables-in-a-notebook.ipynb     write the outputs again

A test runs it in the same way and compares, so that no notebook shows what the code no longer gives.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

RICH: Final = {"text/html": "_repr_html_"}
Cell = dict[str, Any]


def run_notebook(notebook: dict[str, Any], folder: Path) -> list[list[Cell]]:
    """The outputs of every code cell, run in order in one namespace, with `folder` as the working folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder)
    try:
        return [_run_cell(cell, namespace) for cell in code_cells(notebook)]
    finally:
        os.chdir(before)


def code_cells(notebook: dict[str, Any]) -> list[Cell]:
    """The cells that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def source_of(cell: Cell) -> str:
    """The text of a cell, which notebooks store by lines."""
    return "".join(cell["source"])


def _run_cell(cell: Cell, namespace: dict[str, Any]) -> list[Cell]:
    """Run a cell; its last expression, if it ends in one, is shown."""
    tree = ast.parse(source_of(cell))
    last = next((ast.Expression(end.value) for end in tree.body[-1:] if isinstance(end, ast.Expr)), None)
    tree.body = tree.body[:-1] if last is not None else tree.body
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), namespace)
        shown = None if last is None else eval(compile(last, "<cell>", "eval"), namespace)
    outputs: list[Cell] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if shown is not None:
        outputs.append({"data": _data(shown), "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _data(shown: Any) -> dict[str, list[str]]:
    rich = {kind: getattr(shown, name)() for kind, name in RICH.items() if hasattr(shown, name)}
    return {kind: _lines(text) for kind, text in {"text/plain": repr(shown), **rich}.items()}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main(path: Path) -> None:
    """Write the outputs of a notebook again."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    root = Path(__file__).resolve().parent.parent
    for cell, outputs in zip(code_cells(notebook), run_notebook(notebook, root), strict=True):
        cell["outputs"] = outputs
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
