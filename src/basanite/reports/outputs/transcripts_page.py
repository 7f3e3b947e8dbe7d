"""Transcripts as one page: every call of one system or of several side by side, to search and filter (L-4).

As in the error explorer, rows stand in the page as data, and only its own script, named by its hash, can run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from basanite import __version__
from basanite.reports import theme
from basanite.reports.outputs.explorer_page import policy
from basanite.reports.outputs.html import asset, embed_json, environment, favicon
from basanite.reports.wording import printable

STILL: Final = 50
"""Rows that a reader without scripts sees."""


def render(systems: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The page; a row has `item`, `repeat`, `prompt`, and in `calls` one call for each system, or None."""
    style = f"{theme.embedded_typeface()}\n{theme.css()}\n{asset('report.css')}{asset('explorer.css')}"
    style += asset("transcripts.css")
    script, shown = asset("transcripts.js"), [_printable(row) for row in rows]
    names = [printable(name) for name in systems]
    page = (
        environment()
        .get_template("transcripts.html")
        .render(
            systems=names,
            still=shown[:STILL],
            total=len(shown),
            data=embed_json({"systems": names, "rows": shown}),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            favicon=favicon(),
            version=__version__,
        )
    )
    return (page.rstrip() + "\n").encode()


def _printable(content: Any) -> Any:
    """The same with every text made safe to read: no sign of direction or control can hide anything (X-14)."""
    if isinstance(content, str):
        return "\n".join(printable(line) for line in content.split("\n"))
    if isinstance(content, Mapping):
        return {name: _printable(value) for name, value in content.items()}
    return [_printable(one) for one in content] if isinstance(content, list) else content
