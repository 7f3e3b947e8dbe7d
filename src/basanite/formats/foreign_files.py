"""Files of other programs: what kind a file is, which command reads it, and what its conversion left behind (P-32)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from zipfile import is_zipfile

from basanite.formats.file_kinds import folder_kind, text_kind
from basanite.formats.kinds.kind import Beginning
from basanite.formats.single_file import archive_kind, beginning_of
from basanite.problems import Problem, shortened

NAMED: Final = ("*.ann", "samples_*.jsonl")
"""Files by whose names a folder is recognized."""
RULE: Final = "P-32"
KEEP_IT: Final = "keep the original if you need it"


@dataclass
class Losses:
    """What could not be kept, counted by kind: each kind is told once, with how often and an example."""

    file: str
    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, example: str = "") -> None:
        """Something is left behind."""
        self.found.setdefault(what, []).append(example)

    def problems(self) -> Iterator[Problem]:
        """As warnings, the most frequent first."""
        for what, examples in sorted(self.found.items(), key=lambda item: (-len(item[1]), item[0])):
            words = f"not kept: {what}" if len(examples) == 1 else f"not kept, {len(examples)} times: {what}"
            shown = next((one for one in examples if one), "")
            yield Problem(RULE, self.file, None, None, words, KEEP_IT, shortened(shown), severity="warn")


def recognize_file(path: Path) -> tuple[str, list[str]] | None:
    """What a file or folder of another program is, and the commands that read it; None if that is not known."""
    if path.is_dir():
        kind = folder_kind(Beginning("", members=tuple(one.name for ending in NAMED for one in path.glob(ending))))
    elif is_zipfile(path):
        kind = archive_kind(path)
    else:
        start = beginning_of(path)
        kind = text_kind(start) if start.text and "\0" not in start.text else None
    if kind is None or not kind.commands:
        return None
    imports_first = sorted(kind.commands, key=lambda command: command.startswith("score"))
    return kind.name, [command.replace("{path}", str(path)) for command in imports_first]
