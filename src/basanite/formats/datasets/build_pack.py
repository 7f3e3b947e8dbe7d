"""Build packs: what teams train speech recognition and translation with, counted and checked from header bytes (M90).

A build pack describes the language, holds transcribed conversations (24-bit .wav, 8-bit a-law .sph) in parts such as
training and dev, and sentence pairs with English translations. No sound is decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from basanite.errors import UnreadableError
from basanite.formats.datasets.audio_headers import AudioHeader, audio_header
from basanite.formats.datasets.dataset_tree import Report
from basanite.formats.datasets.pack_names import TreeName, tree_name
from basanite.problems import Findings

CONVERSATIONS = "conversational"
AUDIO, TRANSCRIPTS = "audio", "transcription"
WANTED = {"wav": ("pcm", 24), "sph": ("alaw", 8)}
"""The coding and the bits of a sample that each kind of file must have."""
DESCRIPTIONS = (".pdf", ".txt", ".doc", ".docx", ".html", ".md")
DESCRIBING = ("language", "lsdd", "lsp")
"""Words in the names of documents that describe the language."""


@dataclass(frozen=True)
class Conversations:
    """The conversations of one part: how many files of which kind, how long, how many with a transcript."""

    part: str
    kinds: Mapping[str, int]
    seconds: float
    transcribed: int

    @property
    def files(self) -> int:
        """How many sound files there are."""
        return sum(self.kinds.values())


@dataclass(frozen=True)
class Bitext:
    """Sentences with their English translations: how many pairs, and how many words on each side."""

    pairs: int = 0
    source_words: int = 0
    english_words: int = 0


@dataclass(frozen=True)
class BuildPack:
    """What a build pack holds."""

    root: Path
    name: TreeName | None
    descriptions: tuple[str, ...]
    parts: tuple[Conversations, ...]
    bitext: Bitext

    @property
    def hours(self) -> float:
        """How much sound there is in all."""
        return sum(part.seconds for part in self.parts) / 3600


def is_build_pack(path: Path) -> bool:
    """Whether a folder is a build pack, by its name or by what is in it."""
    name = tree_name(path.name)
    return (name is not None and name.pack == "BUILD") or (path / CONVERSATIONS).is_dir()


def read_build_pack(path: Path, findings: Findings) -> BuildPack:
    """Count and check a build pack."""
    if not path.is_dir():
        raise UnreadableError(f"{path} is not a folder. Give the folder of a build pack.")
    root = path.resolve()
    report = Report(root, findings, rule="M90")
    descriptions = _descriptions(root, report)
    parts = tuple(_conversations(part, report) for part in _parts(root, report))
    return BuildPack(root, tree_name(root.name), descriptions, parts, _bitext(root, report))


def _descriptions(root: Path, report: Report) -> tuple[str, ...]:
    """The documents that describe the language, at the top or in a folder of documents."""
    places = [root, *(folder for folder in (root / "docs", root / CONVERSATIONS / "docs") if folder.is_dir())]
    found = [
        path
        for place in places
        for path in sorted(place.iterdir())
        if path.suffix.lower() in DESCRIPTIONS
        and path.is_file()
        and any(word in path.stem.lower() for word in DESCRIBING)
    ]
    if not found:
        fix = "add a document about the language's family, dialects and writing, named like language_design.pdf"
        report.add(root, "nothing describes the language", fix)
    return tuple(path.relative_to(root).as_posix() for path in found)


def _parts(root: Path, report: Report) -> list[Path]:
    folder = root / CONVERSATIONS
    parts = [path.parent for path in sorted(folder.glob(f"*/{AUDIO}")) if path.is_dir()]
    if not parts:
        fix = f"put them in {CONVERSATIONS}/training/{AUDIO} and {CONVERSATIONS}/dev/{AUDIO}"
        report.add(root, "there are no conversations", fix)
    return parts


def _conversations(part: Path, report: Report) -> Conversations:
    headers = {path.stem: header for path, header in _headers(part / AUDIO, report)}
    transcripts = {path.stem: path for path in sorted((part / TRANSCRIPTS).glob("*.txt"))}
    for name in sorted(transcripts.keys() - headers.keys()):
        report.add(transcripts[name], "there is no sound for this transcript", "add the sound, or remove it")
    for name in sorted(headers.keys() - transcripts.keys()):
        fix = f"add {TRANSCRIPTS}/{name}.txt"
        report.add(part / AUDIO, "this conversation has no transcript", fix, found=name, severity="warn")
    for path in transcripts.values():
        if not any(True for _ in report.lines(path)):
            report.add(path, "the transcript is empty", "write what is said")
    return Conversations(
        part.name,
        Counter(header.container for header in headers.values()),
        sum(header.seconds for header in headers.values()),
        len(headers.keys() & transcripts.keys()),
    )


def _headers(folder: Path, report: Report) -> Iterator[tuple[Path, AudioHeader]]:
    """Each sound file with its header; those that are no sound, or sound of another kind, are problems."""
    for path in sorted(folder.iterdir()):
        header = audio_header(path) if path.is_file() and not path.is_symlink() else "is not a plain file"
        if isinstance(header, str):
            report.add(path, f"this file {header}", "store sound as 24-bit .wav or 8-bit a-law .sph")
            continue
        if path.suffix.lower() != f".{header.container}":
            report.add(path, f"the content is {header.container}", f"name it .{header.container}")
        elif (header.coding, header.bits) != WANTED[header.container]:
            coding, bits = WANTED[header.container]
            fix = f"store .{header.container} as {bits}-bit {coding}"
            report.add(path, "sound of another kind than build packs have", fix, found=str(header))
        yield path, header


def _bitext(root: Path, report: Report) -> Bitext:
    """Pairs of all files named *bitext*: an identifier or nothing, then source and English, between tabs."""
    files = [path for path in sorted(root.rglob("*bitext*")) if path.is_file() and path.suffix in (".txt", ".tsv")]
    if not files:
        report.add(root, "there is no bitext", "add bitext.txt: identifier TAB sentence TAB English")
    pairs = source = english = 0
    for first, second in (pair for path in files for pair in _pairs(path, report)):
        pairs, source, english = pairs + 1, source + len(first.split()), english + len(second.split())
    return Bitext(pairs, source, english)


def _pairs(path: Path, report: Report) -> Iterator[tuple[str, str]]:
    for line, text in report.lines(path):
        cells = text.split("\t")
        if len(cells) not in (2, 3) or not (cells[-1].strip() and cells[-2].strip()):
            fix = "write [identifier TAB] sentence TAB English"
            report.add(path, "this line is not a pair of sentences", fix, line=line, found=text)
        else:
            yield cells[-2], cells[-1]
