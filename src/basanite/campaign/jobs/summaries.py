"""Summaries out of a team's archive for judges, in the limited child: strangers' images are decoded only here (X-9).

Each image is decoded and rewritten as a plain PNG: whatever else was in the file stays behind. What comes out is one
file of pictures and a list that says where each begins; a large archive takes several runs, each going on where the
last one ended.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from basanite.formats.archives.archive import open_source
from basanite.formats.archives.members import GIB, MIB, Limits, Member
from basanite.formats.retrieval.detection_key import SUFFIX
from basanite.formats.retrieval.detection_key import SUFFIX as ROWS
from basanite.formats.retrieval.image_header import HEIGHT, WIDTH, check_image
from basanite.formats.retrieval.instructions import COMPONENTS
from basanite.formats.retrieval.summary_metadata import LARGEST, SummaryName
from basanite.formats.retrieval.summary_metadata import SUFFIX as METADATA
from basanite.formats.retrieval.trec import rank_documents, read_run
from basanite.formats.retrieval.trec_conversion import answers_of
from basanite.formats.retrieval.trec_lines import Reader
from basanite.formats.strict_json import parse
from basanite.problems import Findings

PICTURES: Final = "pictures.bin"
LISTED: Final = "summaries.json"
AT_ONCE: Final = 96 * MIB
"""Bytes of pictures that one run writes at most."""
ARCHIVE: Final = Limits(members=1_000_000, total_bytes=256 * GIB)
IMAGES: Final = (".png", ".jpg")


@dataclass(frozen=True)
class Shown:
    """One summary: what it is of, the team's words for judges, and where its picture lies."""

    query: str
    document: str
    instructions: Mapping[str, str]
    source: str
    """sha256 of the image as the team sent it."""
    start: int = 0
    length: int = 0
    width: int = 0
    height: int = 0
    fault: str = ""
    """Why there is no picture."""


@dataclass
class _Folder:
    """What was seen of the folders of an archive: which documents were returned, and their metadata."""

    returned: set[tuple[str, str]] = field(default_factory=set)
    words: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    images: dict[tuple[str, str], str] = field(default_factory=dict)


def write_summaries(archive: Path, out: Path, *, after: int = 0, most: int = AT_ONCE) -> dict[str, Any]:
    """Write the pictures of the returned pairs from number `after` on; says what was written and where to go on."""
    folder = _read(archive)
    wanted = {name: pair for pair, name in folder.images.items() if pair in folder.returned}
    members = (one for one in _members(archive) if one.name in wanted)
    written: list[dict[str, Any]] = []
    used = 0
    with (out / PICTURES).open("wb") as file:
        for member in islice(members, after, None):
            if used >= most:
                break
            one = _write_picture(file, used, wanted[member.name], folder, member)
            used += one.length
            written.append(asdict(one))
    at = after + len(written)
    return {"summaries": written, "next": at if at < len(wanted) else None, "returned": len(folder.returned)}


def _members(archive: Path) -> Iterator[Member]:
    """The files of an archive, which was found to be valid before; never unpacked."""
    return open_source(archive, limits=ARCHIVE, depth=2).members(Findings(), hashed=False)


def _read(archive: Path) -> _Folder:
    """One pass over everything but the pictures."""
    found = _Folder()
    for member in _members(archive):
        query, _, name = member.name.rpartition("/")
        if name == query + ROWS:
            found.returned |= {(query, document) for document in _returned_documents(member.data)}
        elif name.endswith(METADATA) and (parts := SummaryName.parse(name)) is not None:
            found.words[query, parts.document] = _words(member.data)
        elif name.endswith(IMAGES) and (parts := SummaryName.parse(name.rpartition(".")[0] + METADATA)) is not None:
            found.images[query, parts.document] = member.name
    return found


def _returned_documents(data: bytes) -> Iterator[str]:
    """The documents that a query's rows return."""
    for line in data.split(b"\n"):
        cells = line.split(b"\t")
        if len(cells) > 1 and cells[1] == b"Y":
            yield cells[0].decode("utf-8", "backslashreplace")


def _words(data: bytes) -> dict[str, str]:
    """The team's instructions of the parts that are known; anything else is left out (M50)."""
    read = parse(data, limit=LARGEST, rule="M43").value
    given = read.get("instructions") if isinstance(read, dict) else None
    if not isinstance(given, dict):
        return {}
    return {name: given[name] for name in COMPONENTS if isinstance(given.get(name), str) and given[name]}


def _write_picture(file: BinaryIO, at: int, pair: tuple[str, str], folder: _Folder, member: Member) -> Shown:
    facts = (*pair, dict(folder.words.get(pair, {})), hashlib.sha256(member.data).hexdigest())
    picture, width, height, fault = plain_picture(member)
    if fault:
        return Shown(*facts, fault=fault)
    file.write(picture)
    return Shown(*facts, at, len(picture), width, height)


def plain_picture(member: Member) -> tuple[bytes, int, int, str]:
    """An image decoded and encoded again as PNG, its size, and why that cannot be done if so.

    Its header is looked at first: a picture of a billion pixels is refused before a byte of it is decoded.
    """
    from PIL import Image, UnidentifiedImageError

    problem = next((one.message for one in check_image(member.name, member.data)), "")
    if problem:
        return b"", 0, 0, problem
    try:
        with Image.open(io.BytesIO(member.data), formats=("PNG", "JPEG")) as opened:
            if opened.width * opened.height > WIDTH * HEIGHT:  # as Pillow reads the header, which is what it decodes by
                return b"", 0, 0, f"it has {opened.width} x {opened.height} pixels"
            opened.load()
            plain = Image.new("RGB", opened.size, "white")
            rgba = opened.convert("RGBA")
            plain.paste(rgba, mask=rgba.getchannel("A"))
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        return b"", 0, 0, f"it cannot be decoded ({type(error).__name__})"
    made = io.BytesIO()
    plain.save(made, "PNG", optimize=False)
    return made.getvalue(), plain.width, plain.height, ""


RANKED: Final = "ranked.json"
RUNS: Final = frozenset({"ranking"})
"""Tasks whose submissions are TREC runs; those of all others here are archives with a table for each query."""


def first_documents(submission: Path, task: str, depth: int, findings: Findings) -> dict[str, list[str]]:
    """For each query its first documents by falling score; the run was found valid before, so nothing should be."""
    if task not in RUNS:
        return dict(_of_archive(submission, depth, findings))
    run = read_run(Reader(submission, findings, "submission", names_files=False))
    return {query: rank_documents(scores)[:depth] for query, scores in run.items()}


def _of_archive(path: Path, depth: int, findings: Findings) -> Iterator[tuple[str, list[str]]]:
    for member in open_source(path, limits=ARCHIVE, depth=2).members(findings, hashed=False):
        if member.name.endswith(SUFFIX):
            found = answers_of(member, findings)
            yield found.query, rank_documents(dict(zip(found.documents, found.confidence, strict=True)))[:depth]
