"""Pictures of text as PNG files, written byte by byte: no imaging library, and the same bytes on every machine.

Pixels are black or white and stored without compression, since compressors differ from machine to machine. A band of
noise gives a picture the size that a photographed or many-coloured one would have inside an archive.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

WIDTH = 1024
SCALE = 3
"""Pixels for each dot of a letter."""
CELL = 6 * SCALE
LINE = 9 * SCALE
BLOCK = 65_535
"""The longest block that deflate can store."""

COLUMNS = (
    "7E1111117E 7F49494936 3E41414122 7F4141221C 7F49494941 7F09090901 3E4149497A 7F0808087F 00417F4100 2040413F01 "
    "7F08142241 7F40404040 7F020C027F 7F0408107F 3E4141413E 7F09090906 3E4151215E 7F09192946 4649494931 01017F0101 "
    "3F4040403F 1F2040201F 3F4038403F 6314081463 0708700807 6151494543"
)
LETTERS = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", COLUMNS.split(), strict=True))
"""Five columns of seven dots for each letter, the lowest bit on top."""

Pixels = NDArray[np.uint8]


def text_picture(words: Iterable[str], *, noise: bytes = b"") -> bytes:
    """A PNG of words, black on white, above a band of noise (a row for every 128 bytes).

    >>> text_picture(["SECRET", "PAYMENT"])[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    lines = list(_lines(words))
    pixels = np.ones((len(lines) * LINE + SCALE, WIDTH), np.uint8)
    for number, line in enumerate(lines):
        for place, letter in enumerate(line):
            _draw(pixels, letter, number * LINE + SCALE, place * CELL + SCALE)
    band = np.frombuffer(noise[: len(noise) // (WIDTH // 8) * (WIDTH // 8)], np.uint8).reshape(-1, WIDTH // 8)
    return png(np.concatenate([np.packbits(pixels, axis=1), band]))


def png(rows: Pixels) -> bytes:
    """A PNG file of rows of packed pixels, one bit each."""
    header = struct.pack(">IIBBBBB", 8 * rows.shape[1], len(rows), 1, 0, 0, 0, 0)
    filtered = np.concatenate([np.zeros((len(rows), 1), np.uint8), rows], axis=1)
    chunks = {b"IHDR": header, b"IDAT": _stored(filtered.tobytes()), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks.items())


def _lines(words: Iterable[str]) -> Iterator[str]:
    """Words in capitals, in lines as long as the picture is wide."""
    line = ""
    for word in words:
        if line and (len(line) + 1 + len(word)) * CELL > WIDTH - 2 * SCALE:
            yield line
            line = ""
        line = f"{line} {word}".strip().upper()
    yield line


def _draw(pixels: Pixels, letter: str, top: int, left: int) -> None:
    columns = np.frombuffer(bytes.fromhex(LETTERS.get(letter, "0000000000")), np.uint8)
    dots = np.unpackbits(columns[:, None], axis=1, bitorder="little")[:, :7].T
    large = np.repeat(np.repeat(dots, SCALE, axis=0), SCALE, axis=1)
    pixels[top : top + 7 * SCALE, left : left + 5 * SCALE] -= large


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _stored(data: bytes) -> bytes:
    """A zlib stream in which nothing is compressed."""
    blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
    last = len(blocks) - 1
    heads = (struct.pack("<BHH", at == last, len(block), len(block) ^ 0xFFFF) for at, block in enumerate(blocks))
    body = b"".join(head + block for head, block in zip(heads, blocks, strict=True))
    return b"\x78\x01" + body + struct.pack(">I", zlib.adler32(data))
