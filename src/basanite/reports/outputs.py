"""Where a report goes: an output's name is the suffix of the files it writes, so `--report FILE.html` finds it.

Outputs are plug-ins of the entry-point group `basanite.outputs`; the built-in ones are registered the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from basanite import registry
from basanite.errors import UnknownNameError, UnreadableError
from basanite.reports.model import Report

GROUP = "outputs"


@dataclass(frozen=True)
class Output:
    """One way to show a report, as the bytes of a file."""

    name: str
    summary: str
    media_type: str
    render: Callable[[Report], bytes]


def output_for(path: Path) -> Output:
    """The output whose name is the path's suffix."""
    name, known = path.suffix.lower().removeprefix("."), sorted(registry.names(GROUP))
    if name not in known:
        raise UnknownNameError(_unknown(path, name, known))
    output: Output = registry.load(GROUP, name)
    return output


def write(report: Report, path: Path) -> None:
    """Write the report in the way the path's suffix asks for."""
    content = output_for(path).render(report)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error


def _unknown(path: Path, name: str, known: list[str]) -> str:
    suffixes = ", ".join(f".{suffix}" for suffix in known)
    return f"No output writes {path.suffix or 'a file without a suffix'}. Choose one of {suffixes} for {path.name!r}."
