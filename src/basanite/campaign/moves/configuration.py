"""A configuration in YAML: entries by key, those that nobody read listed as lost, and dates and numbers as written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from basanite.campaign.moves.bundle import Bundle
from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.strict_yaml import LARGEST, Faults, YamlList, YamlMap, YamlText, YamlValue, read_yaml

RULE: Final = "P-48"
DATES: Final = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%m-%d-%Y", "%m/%d/%Y", "%Y-%m-%dT%H:%M:%SZ")
TRUE: Final = frozenset({"true", "yes", "on", "1"})


@dataclass
class Entries:
    """One mapping of a configuration; it remembers what was asked for."""

    values: YamlMap
    place: str
    bundle: Bundle
    faults: Faults
    read: set[str] = field(default_factory=set)

    def raw(self, key: str) -> YamlValue | None:
        """What stands under a key."""
        self.read.add(key)
        return self.values.entries.get(key)

    def text(self, key: str, default: str = "") -> str:
        """The text under a key, on one line."""
        found = self.raw(key)
        return " ".join(found.text.split()) if isinstance(found, YamlText) and found.text.strip() else default

    def flag(self, key: str) -> bool:
        """Whether a key says yes."""
        return self.text(key).lower() in TRUE

    def count(self, key: str) -> int | None:
        """The whole number under a key; none where it is missing or no number from 0 to a million."""
        text = self.text(key)
        if not text:
            return None
        if text.isascii() and text.isdigit() and len(text) <= 6:
            return int(text)
        self.bundle.lose(f"`{key}` of {self.place}, which is no number: {text[:40]}")
        return None

    def moment(self, key: str) -> datetime | None:
        """The date under a key, in UTC; a date of another form is a problem."""
        text = self.text(key)
        if not text:
            return None
        for form in DATES:
            try:
                found = datetime.strptime(text.split("+")[0].strip(), form)
            except ValueError:
                continue
            if form == "%m-%d-%Y":
                self.bundle.lose(f"which way round {text} is: it was read as month, day, year")
            return found.replace(tzinfo=UTC, second=0)
        self.faults.add(
            self.values.lines.get(key), f"`{key}` of {self.place} is no date", "write 2026-03-01 12:00:00", found=text
        )
        return None

    def entries(self, key: str) -> Iterator[Entries]:
        """The mappings in the list under a key."""
        found = self.raw(key)
        for number, one in enumerate(found.items if isinstance(found, YamlList) else (), start=1):
            if isinstance(one, YamlMap):
                yield Entries(one, f"{key} {number}", self.bundle, self.faults)
            else:
                self.faults.add(one.line, f"entry {number} of `{key}` is no mapping", "write key: value lines")

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts listed under a key; a single one counts as a list."""
        found = self.raw(key)
        items = found.items if isinstance(found, YamlList) else [found] if found is not None else []
        return tuple(one.text for one in items if isinstance(one, YamlText))

    def inner(self, key: str) -> Entries | None:
        """The mapping under a key."""
        found = self.raw(key)
        return Entries(found, key, self.bundle, self.faults) if isinstance(found, YamlMap) else None

    def close(self, ignored: frozenset[str] = frozenset()) -> None:
        """List what nobody asked for, but for what means nothing here."""
        for key in self.values.entries:
            if key not in self.read and key not in ignored:
                self.bundle.lose(f"`{key}` of {self.place}")


def read_configuration(bundle: Bundle, names: tuple[str, ...]) -> Entries:
    """The configuration of a bundle: at its top, or in the only folder that its archive has."""
    tops = [bundle.folder, *(path for path in bundle.folder.iterdir() if path.is_dir())]
    path = next((top / name for top in tops for name in names if (top / name).is_file()), None)
    if path is None:
        raise UnreadableError(f"The archive holds no {names[0]} at its top. Is it the right bundle?")
    bundle.folder = path.parent
    findings = Findings()
    faults = Faults(path.name, RULE, findings)
    found = read_yaml(_read_small(path), faults)
    if found is not None and not isinstance(found, YamlMap):
        faults.add(1, "this is no mapping", "write title: … and so on")
    if not findings.valid or not isinstance(found, YamlMap):
        raise InvalidInputError(path.name, findings)
    return Entries(found, "the bundle", bundle, faults)


def check_problems(entries: Entries) -> None:
    """Refuse a configuration in which something is wrong."""
    if not entries.faults.findings.valid:
        raise InvalidInputError(entries.faults.file, entries.faults.findings)


def _read_small(path: Path) -> bytes:
    return read_bounded(path, LARGEST)
