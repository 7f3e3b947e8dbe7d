"""A made-up end-to-end evaluation: rows that name summaries, their metadata and images, and what judges said of them.

Decisions are those of `clir`; everything else follows from them and the seed. Files come one after the other, so that
archives of any size are written with the memory of one query. A judge finds the truth as often as is declared.

Images are pictures of text as PNG files, written byte by byte: no imaging library, and the same bytes on every machine.
Pixels are black or white and stored without compression, since compressors differ from machine to machine. A band of
noise gives a picture the size that a photographed or many-colored one would have inside an archive.
"""

from __future__ import annotations

import json
import struct
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from basanite.synthetic.clir import (
    Quality,
    Spec,
    catalogue,
    dice,
    relevance,
    shuffle,
    stream_of,
    system_text,
    write_lines,
    write_members,
)

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
VOCABULARY = (
    "adviser alliance border bridge budget campaign capital charter citizen claim convoy council court credit crowd "
    "debate deputy drought election embassy envoy export factory farmer fever fishing forest garden harbour harvest "
    "hospital island judge league letter market meeting minister mosque museum nurse office panel payment permit "
    "petition police prayer prison protest railway refugee report rescue school secret senate shelter soldier storm "
    "strike student summit teacher temple treaty union vaccine village voter water wedding witness worker"
)
WORDS = tuple(VOCABULARY.split())
RUN = "2018-11-26T09:00:00-05:00"
JUDGES: Mapping[str, float] = {"judge1": 0.95, "judge2": 0.9, "judge3": 0.85, "judge4": 0.8, "judge5": 0.7}


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
    chunks = {b"IHDR": header, b"IDAT": _uncompressed_stream(filtered.tobytes()), b"IEND": b""}
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


def _uncompressed_stream(data: bytes) -> bytes:
    """A zlib stream in which nothing is compressed."""
    blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
    last = len(blocks) - 1
    heads = (struct.pack("<BHH", at == last, len(block), len(block) ^ 0xFFFF) for at, block in enumerate(blocks))
    body = b"".join(head + block for head, block in zip(heads, blocks, strict=True))
    return b"\x78\x01" + body + struct.pack(">I", zlib.adler32(data))


@dataclass(frozen=True)
class Summarised:
    """One system with its summaries and its judges."""

    spec: Spec
    quality: Quality
    team: str = "FLAIR"
    words: int = 12
    """Words in each summary."""
    noise: tuple[int, int] = (0, 0)
    """The least and the most bytes of noise in an image."""
    judges: Mapping[str, float] = field(default_factory=lambda: JUDGES)
    """By judge: how often the verdict is the truth."""
    votes: int = 3
    """How many judges see each summary."""

    def base(self, query: str, document: str) -> str:
        """What metadata and image of a summary are called, without their extensions."""
        return f"{self.team}.{self.quality.label}.{query}.{document}"


def returned_documents(system: Summarised, query: int) -> tuple[str, ...]:
    """The documents that were returned for a query, in the order of its rows."""
    lines = system_text(system.spec, system.quality, query).split(b"\n")
    return tuple(line.partition(b"\t")[0].decode() for line in lines if b"\tY\t" in line)


def rows_text(system: Summarised, query: int) -> bytes:
    """A query's rows; those not returned have three fields, or for every other query an empty fourth (C21)."""
    name, empty = catalogue(system.spec).queries[query], b"\t" if query % 2 else b""
    lines = system_text(system.spec, system.quality, query).splitlines()
    for at, line in enumerate(lines):
        document = line.partition(b"\t")[0].decode()
        lines[at] = line + (f"\t{system.base(name, document)}.json".encode() if b"\tY\t" in line else empty)
    return b"".join(line + b"\n" for line in lines)


def content(system: Summarised, base: str) -> list[str]:
    """The words of a summary, by its name alone."""
    seed = sha256(f"{system.spec.seed} {base}".encode()).digest()
    return [WORDS[seed[at % len(seed)] * (at + 1) % len(WORDS)] for at in range(system.words)]


def metadata_text(system: Summarised, query: str, document: str) -> bytes:
    """The metadata of one summary."""
    base = system.base(query, document)
    values = {
        "team_id": system.team,
        "sys_label": system.quality.label,
        "uuid": str(uuid.UUID(bytes=sha256(base.encode()).digest()[:16], version=4)),
        "query_id": query,
        "document_id": document,
        "run_name": f"{system.quality.label} made up",
        "run_date_time": RUN,
        "image_filename": f"{base}.png",
        "content_list": content(system, base),
    }
    return json.dumps(values, indent=1).encode() + b"\n"


def image(system: Summarised, query: str, document: str) -> bytes:
    """The image of one summary, as large as is asked for."""
    base, (least, most) = system.base(query, document), system.noise
    rng = dice(system.spec, 8, *sha256(base.encode()).digest()[:8])
    noise = rng.bytes(least + int(rng.random() * (most - least))) if most else b""
    return text_picture(content(system, base), noise=noise)


def summary_members(system: Summarised) -> Iterator[tuple[str, bytes]]:
    """All files of a submission, one after the other: each query's rows, then metadata and image of each summary."""
    for number, query in enumerate(catalogue(system.spec).queries):
        yield f"{query}/{query}.tsv", rows_text(system, number)
        for document in returned_documents(system, number):
            path = f"{query}/{system.base(query, document)}"
            yield f"{path}.json", metadata_text(system, query, document)
            yield f"{path}.png", image(system, query, document)


def judgement_rows(system: Summarised) -> Iterator[tuple[str, str, str, str]]:
    """Judge, query, document and verdict for every vote."""
    names, judges = catalogue(system.spec), tuple(system.judges)
    for number, query in enumerate(names.queries):
        rng = dice(system.spec, 7, stream_of(system.quality), number)
        truth = dict(zip(names.documents, relevance(system.spec, number).tolist(), strict=True))
        for document in returned_documents(system, number):
            for at in sorted(shuffle(rng, len(judges))[: system.votes].tolist()):
                right = rng.random() < system.judges[judges[at]]
                yield judges[at], query, document, "R" if truth[document] == right else "N"


def write_summaries(system: Summarised, out: Path) -> None:
    """Write a submission as a folder or, if `out` ends in `.tgz`, as an archive."""
    write_members(summary_members(system), out)


def write_judgements(system: Summarised, out: Path) -> None:
    """Write what the judges said as a table."""
    write_lines(out, [("judge", "query", "document", "verdict"), *judgement_rows(system)])
