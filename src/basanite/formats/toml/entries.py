"""Entries of a TOML file, each taken with its type and bounds; what is wrong becomes a problem with its line."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Self

from basanite.formats.toml.lines import Path, line_of
from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""Names become folders, files and parts of addresses."""


@dataclass(frozen=True)
class Entries:
    """One table of a file and where it stands; asking for a key gives its value, or a problem and the default."""

    rule: ClassVar[str] = "X-8"
    whole_file: ClassVar[str] = "the file"
    """What messages call the table that holds all others."""

    values: Mapping[str, Any]
    path: Path
    file: str
    lines: Mapping[Path, int]
    findings: Findings = field(default_factory=Findings)

    @property
    def place(self) -> str:
        """The table in words."""
        return ".".join(map(str, self.path)) or self.whole_file

    def add(self, message: str, fix: str, *, key: str = "", found: Any = "", rule: str = "") -> None:
        """Report a problem of this table, or of one of its keys."""
        path = (*self.path, key) if key else self.path
        line, said = line_of(self.lines, path), found if isinstance(found, str) else repr(found)
        problem = Problem(rule or self.rule, self.file, line, None, message, fix, shortened(said), where="metadata")
        self.findings.add(problem)

    def known(self, keys: Collection[str]) -> None:
        """Report keys that nobody reads, since they are mostly misspelt ones."""
        for key in self.values:
            if key not in keys:
                self.add(f"{self.place} has an unknown key `{key}`", suggestion(key, tuple(keys)), key=key, found=key)

    def table(self, key: str, *, needed: bool = True) -> Self:
        """A table inside this one; an empty one, with a problem, if it is something else."""
        value = self.values.get(key, {})
        if not isinstance(value, Mapping) or (needed and not value):
            self.add(f"{self.place} has no table `{key}`", f"write [{key}] above its keys", key=key, found=value)
            value = {}
        return replace(self, values=value, path=(*self.path, key))

    def tables(self, key: str) -> list[Self]:
        """The tables of an array of tables."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
            self.add(f"`{key}` is no list of tables", f"write [[{key}]] above the keys of each", key=key, found=value)
            return []
        return [replace(self, values=entry, path=(*self.path, key, at)) for at, entry in enumerate(value)]

    def text(self, key: str, default: str | None = None) -> str:
        """A text; one that is needed has no default."""
        value = self.values.get(key, default)
        if isinstance(value, str) and (value.strip() or default is not None):
            return value
        self.add(f"{self.place} has no text `{key}`", f'write {key} = "…"', key=key, found=value)
        return default or ""

    def name(self, key: str) -> str:
        """A text that can be part of a file's name."""
        value = self.text(key)
        if value and not NAME.fullmatch(value):
            self.add(f"`{key}` cannot be part of a file's name", NAME_FIX, key=key, found=value)
        return value

    def choice(self, key: str, allowed: Collection[str], default: str | None = None) -> str:
        """One of some texts."""
        value = self.text(key, default)
        if value and value not in allowed:
            self.add(f"`{key}` of {self.place} is unknown", suggestion(value, tuple(allowed)), key=key, found=value)
        return value

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self.values.get(key, default)
        if isinstance(value, bool):
            return value
        self.add(f"`{key}` of {self.place} is neither true nor false", f"write {key} = true", key=key, found=value)
        return default

    def whole(self, key: str, default: int | None, low: int, high: int = 2**53) -> int | None:
        """A whole number between bounds."""
        value = self.values.get(key, default)
        if value is default or (isinstance(value, int) and not isinstance(value, bool) and low <= value <= high):
            return value
        bounds = f"from {low} to {high}" if high < 2**53 else f"from {low} on"
        fix = f"write {key} = {low if default is None else default}"
        self.add(f"`{key}` of {self.place} is no whole number {bounds}", fix, key=key, found=value)
        return default

    def number(self, key: str, default: float | None, low: float, high: float) -> float | None:
        """A number strictly between bounds."""
        value = self.values.get(key, default)
        if value is default or (_is_number(value) and low < value < high):
            return None if value is None else float(value)
        self.add(
            f"`{key}` of {self.place} is no number between {low:g} and {high:g}",
            f"write {key} = …",
            key=key,
            found=value,
        )
        return default

    def pair(self, key: str) -> tuple[float, float] | None:
        """Two rising numbers, or nothing."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)) and value[0] < value[1]:
            return float(value[0]), float(value[1])
        self.add(f"`{key}` of {self.place} is not two rising numbers", f"write {key} = [1, 5]", key=key, found=value)
        return None

    def names(self, key: str) -> tuple[str, ...]:
        """A list of different names."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and NAME.fullmatch(item) for item in value):
            self.add(
                f"`{key}` of {self.place} is no list of names", f'write {key} = ["…"]. {NAME_FIX}', key=key, found=value
            )
            return ()
        if len(set(value)) < len(value):
            self.add(f"`{key}` of {self.place} names something twice", "name each once", key=key, found=value)
        return tuple(dict.fromkeys(value))


NAME_FIX: Final = "use letters, digits, `_`, `-` and `.`, at most 64, and begin with a letter or digit"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
