"""Transcripts: one line a call, appended once its answer is there, so that a killed run loses and repeats nothing.

The first line says which system and items the others are about. A line that was cut off by a crash is cut away when the
file is opened again; every other line that cannot be read, or whose check is that of other bytes, is refused, for
somebody has edited it. Where an item was asked again after an error, its last line counts; where the system reads
answers in another way than before, another first line is appended.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from basanite.canonical import canonical_digest, canonical_line
from basanite.errors import SettingError, UnreadableError
from basanite.formats.model_answers import FORMAT, is_edited, sealed_line
from basanite.models.requests import Items
from basanite.models.system_file import System

NAME: Final = "transcripts.jsonl"
LONGEST: Final = 64 << 20
"""A longer line is none of ours."""


@dataclass(frozen=True)
class Turn:
    """One call and what came of it."""

    item: str
    repeat: int
    request: str
    """The digest of what was sent."""
    prompt: str
    text: str = ""
    finish: str = ""
    refused: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    latency: float | None = None
    attempts: int = 1
    cached: bool = False
    error: str = ""
    """Why there is no answer; empty where there is one."""

    @property
    def key(self) -> tuple[str, int]:
        """The item and the repeat."""
        return self.item, self.repeat

    @property
    def tokens(self) -> int | None:
        """The tokens of prompt and answer."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return self.tokens_in + self.tokens_out


FIELDS: Final = frozenset(field.name for field in fields(Turn))


def header_of(system: System, items: Items) -> dict[str, Any]:
    """The first line: what the run is about, without anything secret."""
    about = {"name": system.name, "model": system.endpoint.model, "url": system.endpoint.url}
    return {
        "format": FORMAT,
        "system": {**about, "identity": system.identity},
        "answer": asdict(system.answer),
        "data": _content_digest(items),
    }


def _content_digest(items: Items) -> str:
    """The items' content: another order or spelling of the file is the same data."""
    return canonical_digest(dict(zip(items.names, items.fields, strict=True)))


class Transcripts:
    """The transcripts of one run, open for this process alone."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self.header = path, header
        self.turns: dict[tuple[str, int], Turn] = {}
        self.paid = Paid()
        self.cut = 0
        self.file: IO[bytes]

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.path.open("a+b")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.file.close()
            raise SettingError(
                f"{self.path} is being written by another run. Wait for it, or name another --out."
            ) from (error)
        try:
            self._read()
        except BaseException:
            self.file.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()

    def add(self, turn: Turn) -> None:
        """Append a call; it is out of this process before the next one begins."""
        self._write(asdict(turn))
        self._count(turn)

    def _write(self, content: Mapping[str, Any]) -> None:
        self.file.write(sealed_line(canonical_line(content)))
        self.file.flush()

    def _count(self, turn: Turn) -> None:
        self.turns[turn.key] = turn
        self.paid.add(turn)

    def _read(self) -> None:
        self.file.seek(0)
        end, answer = 0, None
        for number, line in enumerate(_lines(self.file), start=1):
            if not line.endswith(b"\n"):
                self.cut = len(line)
                break
            end += len(line)
            if number == 1:
                self._check_header(line)
            if number == 1 or _is_header(line):
                answer = (_parse_object(line) or {}).get("answer")
            else:
                self._count(parse_turn(line, self.path, number))
        self.file.seek(end)
        self.file.truncate()
        if end == 0 or answer != self.header["answer"]:
            self._write(self.header)

    def _check_header(self, line: bytes) -> None:
        found = _parse_object(line)
        if found is None or found.get("format") != FORMAT:
            raise UnreadableError(f"{self.path}:1: these are no transcripts. Name another folder with --out.")
        before, now = found.get("system"), self.header["system"]
        identity = before.get("identity") if isinstance(before, dict) else None
        changed = [
            *(["model, prompt or decoding"] if identity != now["identity"] else []),
            *(["items"] if found.get("data") != self.header["data"] else []),
        ]
        if changed:
            raise SettingError(
                f"{self.path} holds a run with other {' and other '.join(changed)}. Name another folder with --out, "
                "so that answers to different questions never stand side by side."
            )


@dataclass
class Paid:
    """What the calls of a run have taken so far, the ones that failed after an answer too."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def add(self, turn: Turn) -> None:
        """Count one call; what came from a cache was paid before."""
        if not turn.error and not turn.cached:
            self.calls += 1
            self.tokens += turn.tokens or 0
            self.cost += turn.cost or 0.0


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LONGEST):
        yield line


def _is_header(line: bytes) -> bool:
    return FORMAT.encode() in line and (_parse_object(line) or {}).get("format") == FORMAT


def _parse_object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def parse_turn(line: bytes, path: Path, number: int) -> Turn:
    """The call of a line; one that was edited into something else is refused with its place."""
    found = _parse_object(line)
    if found is not None:
        found.pop("check", None)
    if (
        is_edited(line)
        or found is None
        or not {"item", "repeat", "request"} <= found.keys() <= FIELDS
        or not _has_types(found)
    ):
        raise UnreadableError(
            f"{path}:{number}: this line was not written by `basanite run`, or was edited. Restore it from a copy, or "
            "remove the line: its item is then asked again."
        )
    return Turn(**{name: value for name, value in found.items() if name in FIELDS})


def _has_types(found: Mapping[str, Any]) -> bool:
    texts = all(
        isinstance(found.get(name, ""), str) for name in ("item", "request", "prompt", "text", "finish", "error")
    )
    numbers = all(
        found.get(name) is None or (isinstance(found[name], int | float) and 0 <= found[name] < 2**53)
        for name in ("tokens_in", "tokens_out", "cost", "latency", "attempts")
    )
    repeat = found.get("repeat")
    return texts and numbers and isinstance(repeat, int) and not isinstance(repeat, bool) and repeat >= 1
