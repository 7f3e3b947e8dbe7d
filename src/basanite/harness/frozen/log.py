"""The change log of an evaluation: entries that only ever are added, each signed and bound to the one before (A36).

One JSON object a line. `previous` is the hash of the line before, so nothing can be taken out or changed without all
that follows; `signature` is the evaluation team's, so nothing can be added without its key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.errors import BasaniteError
from basanite.formats.bounded import read_bounded
from basanite.harness.frozen.keys import SigningKey, digest

FORMAT: Final = "basanite-freeze/1"
LARGEST: Final = 64 * 2**20
START: Final = "sha256:" + "0" * 64
KINDS: Final = ("code", "start", "change")
KEYS: Final = {"format", "number", "kind", "signer", "reason", "frozen", "previous", "signature"}


class LogError(BasaniteError):
    """A change log cannot be trusted; the message names the line."""


@dataclass(frozen=True)
class Entry:
    """One entry: the code that was frozen, the parameters at the start, or a change with its reason."""

    number: int
    kind: str
    signer: str
    reason: str
    frozen: Mapping[str, Any] = field(default_factory=dict)
    """What is frozen now, by `team/task/role`: code, parameters, schema."""
    previous: str = START
    signature: str = ""

    def said(self) -> dict[str, Any]:
        """What is signed."""
        plain = {"number": self.number, "kind": self.kind, "signer": self.signer, "reason": self.reason}
        return {"format": FORMAT, **plain, "frozen": dict(self.frozen), "previous": self.previous}

    def line(self) -> dict[str, Any]:
        """The entry as it stands in the file."""
        return {**self.said(), "signature": self.signature}


@dataclass(frozen=True)
class Log:
    """All entries in order."""

    entries: tuple[Entry, ...] = ()
    checked: bool = False
    """Whether every signature was checked with the evaluation team's key."""

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return digest(self.entries[-1].line()) if self.entries else START

    @property
    def started(self) -> bool:
        """Whether the evaluation has begun, and parameters are frozen too."""
        return any(entry.kind == "start" for entry in self.entries)

    def now(self) -> dict[str, dict[str, Any]]:
        """What is frozen after all entries, by `team/task/role`."""
        found: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            for name, facts in entry.frozen.items():
                found[name] = {**found.get(name, {}), **facts}
        return found


def appended(
    path: Path, log: Log, kind: str, frozen: Mapping[str, Any], *, signer: str, reason: str, key: SigningKey
) -> Log:
    """Add a signed entry to the file; a signer and a reason are needed."""
    if not signer.strip() or not reason.strip():
        raise LogError("An entry of the change log needs who signs it and why: give --signer NAME --reason TEXT.")
    plain = Entry(len(log.entries) + 1, kind, signer.strip(), reason.strip(), frozen, log.head)
    entry = Entry(**{**vars(plain), "signature": key.signature(plain.said())})
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry.line(), sort_keys=True, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return Log((*log.entries, entry), log.checked)


def read_log(path: Path, key: SigningKey | None) -> Log:
    """The log in a file, with its chain checked, and its signatures if the key is at hand."""
    if not path.exists():
        return Log((), key is not None)
    try:
        lines = [json.loads(line) for line in read_bounded(path, LARGEST).decode().splitlines()]
    except (ValueError, RecursionError) as error:
        raise LogError(f"{path} is no change log: {error}.") from error
    entries: list[Entry] = []
    for number, line in enumerate(lines, start=1):
        entries.append(_entry(path, number, line, entries, key))
    return Log(tuple(entries), key is not None)


def _entry(path: Path, number: int, line: Any, before: Sequence[Entry], key: SigningKey | None) -> Entry:
    if not isinstance(line, dict) or set(line) != KEYS or line["format"] != FORMAT or line["kind"] not in KINDS:
        raise LogError(f"{path}:{number}: this is no entry of format {FORMAT!r}.")
    entry = Entry(**{name: value for name, value in line.items() if name != "format"})
    wanted = digest(before[-1].line()) if before else START
    if entry.number != number or entry.previous != wanted:
        raise LogError(f"{path}:{number}: the chain is broken: a line was changed, added or taken out.")
    if key is not None and not key.signed(entry.said(), entry.signature):
        raise LogError(f"{path}:{number}: the evaluation team has not signed this entry.")
    return entry
