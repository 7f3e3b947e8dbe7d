"""A made-up end-to-end evaluation: rows that name summaries, their metadata and images, and what judges said of them.

Decisions are those of `clir`; everything else follows from them and the seed. Files come one after the other, so that
archives of any size are written with the memory of one query. A judge finds the truth as often as is declared.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

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
from basanite.synthetic.files.pictures import text_picture

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


def returned(system: Summarised, query: int) -> tuple[str, ...]:
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
        for document in returned(system, number):
            path = f"{query}/{system.base(query, document)}"
            yield f"{path}.json", metadata_text(system, query, document)
            yield f"{path}.png", image(system, query, document)


def judgement_rows(system: Summarised) -> Iterator[tuple[str, str, str, str]]:
    """Judge, query, document and verdict for every vote."""
    names, judges = catalogue(system.spec), tuple(system.judges)
    for number, query in enumerate(names.queries):
        rng = dice(system.spec, 7, stream_of(system.quality), number)
        truth = dict(zip(names.documents, relevance(system.spec, number).tolist(), strict=True))
        for document in returned(system, number):
            for at in sorted(shuffle(rng, len(judges))[: system.votes].tolist()):
                right = rng.random() < system.judges[judges[at]]
                yield judges[at], query, document, "R" if truth[document] == right else "N"


def write_summaries(system: Summarised, out: Path) -> None:
    """Write a submission as a folder or, if `out` ends in `.tgz`, as an archive."""
    write_members(summary_members(system), out)


def write_judgements(system: Summarised, out: Path) -> None:
    """Write what the judges said as a table."""
    write_lines(out, [("judge", "query", "document", "verdict"), *judgement_rows(system)])
