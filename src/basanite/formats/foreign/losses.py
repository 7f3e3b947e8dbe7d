"""What was left behind on the way from one format to another: counted, and said once for each kind (P-32)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from basanite.problems import Problem, shortened

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
