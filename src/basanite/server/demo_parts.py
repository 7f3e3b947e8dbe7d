"""Parts of the demo that are made while people look around: how far each is, kept in the demo's folder.

The demo writes it, the tour reads it. A part that was ready stays ready; one that was interrupted is gone on with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.server.catalogue import sentence

FOLDER: Final = "parts"
LARGEST: Final = 10_000
State = Literal["waiting", "working", "ready", "failed"]


@dataclass(frozen=True)
class Part:
    """What is made, and the files that come of it, each with what it is."""

    title: str
    about: str
    files: Mapping[str, str]


PARTS: Final[Mapping[str, Part]] = {
    "harness": Part(
        sentence("A harness run"),
        sentence("Two teams' learners on a table with hidden traits: six conditions, folds, claims and verdicts."),
        {"report.html": sentence("Report"), "report.pptx": sentence("Slides")},
    ),
    "representation": Part(
        sentence("Representation analysis"),
        sentence("Compares the features of a network on digits from known and from new sources."),
        {"features.html": sentence("Features"), "shift.html": sentence("Domain shift")},
    ),
}


@dataclass(frozen=True)
class Progress:
    """How far a part is."""

    key: str
    state: State = "waiting"
    done: int = 0
    of: int = 0
    reason: str = ""
    """Why it failed."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it while this server runs."""
        return self.state in ("ready", "failed")


def place(data: Path, key: str) -> Path:
    """The folder with the files of a part."""
    return data / FOLDER / key


def progress(data: Path) -> tuple[Progress, ...]:
    """How far every part is."""
    return tuple(_read(data, key) for key in PARTS)


def _read(data: Path, key: str) -> Progress:
    try:
        return Progress(**json.loads(read_bounded(_file(data, key), LARGEST)))
    except (UnreadableError, ValueError, TypeError):
        return Progress(key)


def write(data: Path, told: Progress) -> None:
    """Say how far a part is; no matter who reads sees the old words or the new ones, never half of them."""
    path = _file(data, told.key)
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(asdict(told)), encoding="utf-8")
    draft.replace(path)


def _file(data: Path, key: str) -> Path:
    return data / FOLDER / f"{key}.json"
