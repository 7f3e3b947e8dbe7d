"""Files of Basanite's own: results, plans, schemes and receipts say in a line `format` what they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from basanite.formats.kinds.kind import Beginning, Kind

_FORMAT: Final = re.compile(
    r"""(?:^|[{,])\s*["']?format["']?\s*[=:]\s*["']basanite-([a-z-]{1,40})/[0-9]{1,4}["']""", re.MULTILINE
)
_CONFIGURATION: Final = re.compile(r"^annotation:\s+\S", re.MULTILINE)


def _says(name: str) -> Callable[[Beginning], bool]:
    """A test of a beginning for this name of a format; for any but that of transcripts, where it is empty."""

    def test(start: Beginning) -> bool:
        found = _FORMAT.search(start.text)
        return found is not None and (found[1] == name or (not name and found[1] != "transcripts"))

    return test


def _own(name: str, what: str, *commands: str) -> Kind:
    return Kind(
        what,
        _says(name),
        (".toml", ".json"),
        "give the files of the task",
        commands=commands,
        sign=f"a line `format` with `basanite-{name}/1`" if name else "a line `format` with `basanite-`",
        record="line",
    )


OWN: Final = (
    _own("plan", "a harness plan", "harness check {path}", "harness run {path}"),
    _own(
        "campaign",
        "a campaign file",
        "admin campaign add {path} --data FOLDER",
        "admin rehearse {path} --at 'YYYY-MM-DD HH:MM'",
    ),
    _own("judging", "a judging scheme", "judge check {path}"),
    _own("receipt", "a receipt", "verify {path} --key KEYS.json"),
    Kind(
        "an annotation configuration",
        lambda start: bool(_CONFIGURATION.search(start.text)) and "\ncategories:" in start.text,
        (".yaml", ".yml"),
        "give the files of the task",
        commands=("annotation check {path} --package PACKAGE",),
        sign="a line `annotation` with a name, and a line `categories:`",
        record="line",
    ),
    _own("", "a file of Basanite"),
)
"""In the order in which they are tried; the last is for all formats that no command reads by itself."""
