"""What is fuzzed: a reader of strangers' bytes, valid files to begin with, and how it is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from tests.fuzz.bending import bent

from basanite.errors import BasaniteError

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Target:
    """One reader; `read` gets the bytes and an empty folder, and may refuse by a `BasaniteError` alone."""

    name: str
    kind: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], object]
    cost: int = 1
    """How much dearer one call is than that of a plain reader: so many fewer are made."""

    @cached_property
    def files(self) -> list[bytes]:
        """The valid files."""
        return self.seeds()

    def case(self, seed: int) -> bytes:
        """The bytes of one try; the first of them are the valid files themselves."""
        if seed < len(self.files):
            return self.files[seed]
        dice = Random(f"{self.name}/{seed}")
        return bent(dice.choice(self.files), self.kind, dice)

    def try_(self, seed: int, place: Path) -> None:
        """Read one case; whatever is raised beyond a refusal goes through."""
        try:
            self.read(self.case(seed), place)
        except BasaniteError as refusal:
            str(refusal).encode()  # what it says can be printed


def shown(found: object) -> None:
    """Problems can be told: as text, and as the JSON that commands print."""
    for problem in found:  # type: ignore[attr-defined]
        json.dumps(problem.as_dict()).encode()
        problem.place().encode()


def example(*names: str) -> Callable[[], list[bytes]]:
    """Files of the examples, when they are wanted."""
    return lambda: [(EXAMPLES / name).read_bytes() for name in names]
