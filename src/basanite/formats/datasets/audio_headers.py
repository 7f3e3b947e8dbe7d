"""What the first bytes of a sound file say about it: RIFF (.wav) and NIST SPHERE (.sph) headers, nothing decoded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HEADER_BYTES = 64 * 2**10
"""How far into a file its header is looked for; what stands before the samples is far shorter."""

RIFF_CODINGS = {1: "pcm", 3: "float", 6: "alaw", 7: "ulaw"}
EXTENSIBLE = 0xFFFE
SPHERE_FIELD = re.compile(rb"^(?P<name>\w+) -(?:i|r|s\d+) (?P<value>[^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AudioHeader:
    """How sound is stored in a file, and how much of it."""

    container: Literal["wav", "sph"]
    coding: str
    channels: int
    rate: int
    bits: int
    """Bits of one sample."""
    samples: int
    """Samples of each channel."""

    @property
    def seconds(self) -> float:
        """How long the sound is."""
        return self.samples / self.rate

    def __str__(self) -> str:
        return f"{self.bits}-bit {self.coding}, {self.channels} channels, {self.rate} Hz"


def audio_header(path: Path) -> AudioHeader | str:
    """The header of a sound file, or what is wrong with it."""
    with path.open("rb") as file:
        start = file.read(HEADER_BYTES)
    return parse_header(start, path.stat().st_size)


def parse_header(start: bytes, size: int) -> AudioHeader | str:
    """The header in the first bytes of a file of this size, or what is wrong with it."""
    if start.startswith(b"RIFF") and start[8:12] == b"WAVE":
        return _riff(start, size)
    if start.startswith(b"NIST_1A\n"):
        return _sphere(start, size)
    return "is neither RIFF (.wav) nor NIST SPHERE (.sph)"


def _riff(start: bytes, size: int) -> AudioHeader | str:
    chunks = dict(_chunks(start))
    if b"fmt " not in chunks or b"data" not in chunks:
        return "has no fmt or no data chunk"
    at, length = chunks[b"fmt "]
    if length < 16 or at + length > len(start):
        return "has a fmt chunk that is too short"
    code, channels, rate, block, bits = (_number(start, at + offset, width) for offset, width in FORMAT_FIELDS)
    if code == EXTENSIBLE and length >= 26:
        code = _number(start, at + 24, 2)
    if not (channels and rate and block):
        return "has a fmt chunk without channels or rate"
    data, length = chunks[b"data"]
    if data + length > size:
        return f"ends after {size} bytes; its header promises {data + length}"
    return AudioHeader("wav", RIFF_CODINGS.get(code, f"coding {code}"), channels, rate, bits, length // block)


FORMAT_FIELDS = ((0, 2), (2, 2), (4, 4), (12, 2), (14, 2))
"""Offset and width of code, channels, rate, bytes of one sample of all channels, and bits."""


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "little")


def _chunks(start: bytes) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Each chunk's name with the place and length of its content, up to the samples."""
    at = 12
    while at + 8 <= len(start):
        name, length = start[at : at + 4], _number(start, at + 4, 4)
        yield name, (at + 8, length)
        if name == b"data":
            return
        at += 8 + length + length % 2


def _sphere(start: bytes, size: int) -> AudioHeader | str:
    length = start[8:16].strip()
    end = start.find(b"end_head")
    if not length.isdigit() or end < 0:
        return "has a SPHERE header without length or end"
    fields = {match["name"].decode(): match["value"].decode("ascii", "replace") for match in _fields(start[:end])}
    try:
        numbers = {name: int(fields[name]) for name in SPHERE_NUMBERS}
    except (KeyError, ValueError):
        return f"has a SPHERE header without one of {', '.join(SPHERE_NUMBERS)}"
    channels, rate, width, samples = numbers.values()
    if min(channels, rate, width) < 1 or samples < 0:
        return "has a SPHERE header without channels or rate"
    promised = int(length) + channels * width * samples
    coding = fields.get("sample_coding", "pcm")
    if "shorten" not in coding and promised > size:
        return f"ends after {size} bytes; its header promises {promised}"
    return AudioHeader("sph", coding.split(",")[0], channels, rate, 8 * width, samples)


SPHERE_NUMBERS = ("channel_count", "sample_rate", "sample_n_bytes", "sample_count")


def _fields(header: bytes) -> Iterator[re.Match[bytes]]:
    return SPHERE_FIELD.finditer(header)
