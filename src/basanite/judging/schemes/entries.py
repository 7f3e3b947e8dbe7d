"""Entries of a scheme's file: those of any TOML file, under the rule of judging, and the lists that schemes have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from basanite.formats.toml.entries import Entries
from basanite.formats.toml.lines import line_of
from basanite.problems import Problem, shortened

RULE: Final = "R-2"
LONGEST_TEXT: Final = 20_000
MOST_ENTRIES: Final = 200


@dataclass(frozen=True)
class SchemeEntries(Entries):
    """One table of a scheme."""

    rule: ClassVar[str] = RULE
    whole_file: ClassVar[str] = "the scheme"

    @property
    def place(self) -> str:
        """The table in words: a question by its id, since that is how its writer knows it."""
        name = self.values.get("id")
        if len(self.path) == 2 and isinstance(name, str) and name:
            return f"{str(self.path[0]).removesuffix('s')} {name!r}"
        return ".".join(str(part + 1 if isinstance(part, int) else part) for part in self.path) or self.whole_file

    def add(self, message: str, fix: str, *, key: str = "", found: Any = "", rule: str = "") -> None:
        """Report a problem; what is missing altogether is reported at the top of the file."""
        path = (*self.path, key) if key else self.path
        line, said = line_of(self.lines, path) or 1, found if isinstance(found, str) else repr(found)
        self.findings.add(
            Problem(rule or self.rule, self.file, line, None, message, fix, shortened(said), where="metadata")
        )

    def words(self, key: str, default: str = "") -> str:
        """A text that may be missing, and that is no book."""
        value = self.text(key, default)
        if len(value) > LONGEST_TEXT:
            self.add(f"`{key}` of {self.place} has {len(value)} characters", f"at most {LONGEST_TEXT} fit", key=key)
        return value[:LONGEST_TEXT]

    def one_of(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """One of some words; the default where another stands, which is reported."""
        value = self.choice(key, allowed, default)
        return value if value in allowed else default

    def amount(self, key: str, default: float, low: float, high: float) -> float:
        """A number from `low` to `high`, both allowed."""
        found = self.number(key, default, low - 1e-12, high + 1e-12)
        return default if found is None else found

    def size(self, key: str, default: int, low: int, high: int) -> int:
        """A whole number within bounds."""
        found = self.whole(key, default, low, high)
        return default if found is None else found

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of different texts, or one text alone."""
        value = self.values.get(key, list(default))
        value = [value] if isinstance(value, str) and value else value
        if value == "":
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            self.add(f"`{key}` of {self.place} is no list of texts", f'write {key} = ["…"]', key=key, found=value)
            return default
        if len(set(value)) < len(value):
            self.add(f"`{key}` of {self.place} names something twice", "name each once", key=key, found=value)
        return tuple(dict.fromkeys(value))

    def several(self, key: str) -> list[SchemeEntries]:
        """The tables of a list, not more than anybody could use."""
        found = self.tables(key)
        if len(found) > MOST_ENTRIES:
            self.add(f"{len(found)} entries in `{key}` of {self.place}", f"at most {MOST_ENTRIES} are read", key=key)
        return found[:MOST_ENTRIES]
