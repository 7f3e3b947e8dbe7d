"""Data-set trees on disk: packs of collected or made-up documents, their lists, and what only organisers may see.

A document without a file of its own gets a tiny one of the right kind: made-up words, or noise with a real header.
What teams must not know (language, domains and source of each document) is written beside the tree, never into it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from basanite.errors import SettingError
from basanite.formats.packs.dataset_listing import file_digest
from basanite.formats.packs.dataset_tree import MODE_LEVELS
from basanite.formats.packs.pack_names import all_domains, domains_of, family
from basanite.formats.packs.raw_documents import COLUMNS, UNDATED, RawDocument
from basanite.formats.packs.usage_rules import rules_for
from basanite.synthetic.clir import GENRES, chosen, write_lines
from basanite.synthetic.files.pack_builder import Packs, Placed
from basanite.synthetic.files.sounds import sphere_bytes, wav_bytes

ONSETS, VOWELS = tuple("bdfgklmnpstw"), tuple("aeiou")
ENGLISH = ("the", "a", "river", "market", "minister", "school", "rain", "road", "family", "price", "law", "village")
WORDS = 12
FIRST_DAY = datetime(2015, 1, 1)
DAYS = 900

Relevance = Sequence[tuple[str, str]]
"""Pairs of a query and the source of a document that is relevant to it."""


@dataclass(frozen=True)
class RawSpec:
    """A made-up collection: how many documents, in which language, how many of them in others."""

    documents: int
    language: str = "1A"
    seed: int = 0
    distractors: tuple[str, ...] = ("swc", "lin")
    distracting: float = 0.05
    """Share of documents in other languages."""


def raw_documents(spec: RawSpec) -> list[RawDocument]:
    """A made-up collection: genres in the usual shares, half the documents relevant to one domain or two."""
    rng = np.random.default_rng([spec.seed, spec.documents])
    genres = chosen(rng, spec.documents, GENRES)
    codes = domains_of(spec.language) or all_domains()
    draws = rng.random((spec.documents, 5)).tolist()
    return [
        _raw(number, genre, draw, codes, spec) for number, (genre, draw) in enumerate(zip(genres, draws, strict=True))
    ]


def _raw(number: int, genre: str, draw: Sequence[float], codes: Sequence[str], spec: RawSpec) -> RawDocument:
    foreign = draw[0] < spec.distracting and spec.distractors
    language = spec.distractors[number % len(spec.distractors)] if foreign else spec.language
    picked = {codes[int(draw[at] * 2 * len(codes))] for at in (1, 2) if draw[at] < 0.5}
    date = None if genre == UNDATED else FIRST_DAY + timedelta(days=int(draw[3] * DAYS), minutes=int(draw[4] * 1440))
    domains = () if genre == UNDATED else tuple(sorted(picked))
    return RawDocument(f"collected-{number:06d}", genre, date, language, domains)


def write_raw_table(documents: Iterable[RawDocument], path: Path) -> None:
    """Write a collection as the table that `basanite dataset build` reads."""
    rows = (
        (one.source, one.genre, one.date.isoformat() if one.date else "", one.language, " ".join(one.domains))
        for one in documents
    )
    write_lines(path, [COLUMNS, *rows])


def write_tree(
    packs: Packs, out: Path, *, names: Iterable[str] | None = None, relevance: Relevance = (), joint: str = "-"
) -> Path:
    """Write these packs, or all, as a tree below `out`; the tree's folder is returned (M81).

    `joint` is what stands before the period in the folder's name: the plan has a hyphen, releases an underscore.
    """
    wanted = tuple(packs.names if names is None else names)
    root = _new_folder(out / f"IARPA_MATERIAL{joint}{packs.spec.period}-{packs.spec.language}")
    for document in packs.of(*wanted):
        _write_document(document, root / document.pack, packs.spec.seed)
    for pack in wanted:
        _write_metadata(packs.of(pack), root / pack)
    for path, rows in annotation_tables(packs, relevance, wanted):
        write_lines(root / path, rows)
    _write_lists(packs, wanted, root)
    return root


def write_secrets(packs: Packs, folder: Path) -> tuple[Path, Path]:
    """Write what only organisers may see: factors of all documents, and where each comes from."""
    factors, sources = folder / "documents.tsv", folder / "sources.tsv"
    rows = ((one.name, one.raw.genre, _mode(one.raw), one.pack, one.raw.language) for one in packs.placed)
    write_lines(factors, [("document", "genre", "mode", "pack", "language"), *rows])
    origins = ((one.name, one.raw.source, " ".join(one.raw.domains)) for one in packs.placed)
    write_lines(sources, [("document", "source", "domains"), *origins])
    return factors, sources


def annotation_tables(
    packs: Packs, relevance: Relevance, names: Iterable[str]
) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """What is told about ANALYSIS packs, by the file it is released in.

    Domains come with their pack. Relevance to queries comes with them, too, but for the first pack, whose relevance
    is released with the first queries (M91). DEV and EVAL are never annotated here.
    """
    for pack in (name for name in names if family(name) == "ANALYSIS"):
        number = pack.removeprefix("ANALYSIS")
        members = {document.raw.source: document for document in packs.of(pack)}
        domains = [(one.name, code) for one in members.values() for code in one.raw.domains]
        yield f"ANALYSIS_ANNOTATION{number}/domain_annotation.tsv", [("docid", "domain_id"), *domains]
        pairs = sorted((query, members[source].name) for query, source in relevance if source in members)
        if pairs:
            place = "QUERY1" if number == "1" else f"ANALYSIS_ANNOTATION{number}"
            yield f"{place}/query_annotation.tsv", [("query_id", "docid"), *pairs]


def _mode(raw: RawDocument) -> str:
    return MODE_LEVELS["audio" if raw.is_audio else "text"]


def _new_folder(path: Path) -> Path:
    if path.exists():
        raise SettingError(f"{path} exists already. Choose another folder: nothing is ever written over.")
    path.mkdir(parents=True)
    return path


def _write_document(document: Placed, pack: Path, seed: int) -> None:
    """Write the source, and for ANALYSIS packs what was said and what it means, where the source is made up."""
    raw, rng = document.raw, np.random.default_rng([seed, int(document.name[-8:])])
    place = pack / ("audio" if raw.is_audio else "text")
    ending = raw.file.suffix if raw.file else ".wav" if raw.is_audio else ".txt"
    source = place / "src" / (document.name + ending)
    source.parent.mkdir(parents=True, exist_ok=True)
    if raw.file:
        shutil.copyfile(raw.file, source)
        return
    spoken = _sentence(rng, _word)
    source.write_bytes(wav_bytes(rng, channels=2 if raw.genre == UNDATED else 1) if raw.is_audio else spoken)
    if family(document.pack) == "ANALYSIS":
        files = {"translation": (".translation.eng.txt", _sentence(rng, _english))}
        files |= {"transcription": (".transcription.txt", spoken)} if raw.is_audio else {}
        for role, (suffix, text) in files.items():
            (place / role).mkdir(exist_ok=True)
            (place / role / (document.name + suffix)).write_bytes(text)


def _sentence(rng: np.random.Generator, word: Callable[[np.random.Generator], str]) -> bytes:
    return (" ".join(word(rng) for _ in range(WORDS)).capitalize() + ".\n").encode()


def _word(rng: np.random.Generator) -> str:
    return "".join(str(rng.choice(ONSETS)) + str(rng.choice(VOWELS)) for _ in range(rng.integers(2, 4)))


def _english(rng: np.random.Generator) -> str:
    return str(rng.choice(ENGLISH))


def _write_metadata(documents: Sequence[Placed], pack: Path) -> None:
    """Write the genre of each file, as released packs tell it; nothing that gives a distractor away."""
    for mode in ("audio", "text"):
        files = {path.stem: path.name for path in (pack / mode / "src").glob("*")}
        rows = [(files[one.name], one.raw.genre) for one in documents if one.name in files]
        if rows:
            write_lines(pack / mode / "metadata" / "metadata.tsv", [("filename", "genre_id"), *rows])


def _write_lists(packs: Packs, names: Sequence[str], root: Path) -> None:
    """Write README.TXT, index.txt and, last because it lists all others, file.tbl."""
    write_lines(root / "index.txt", [("docid",), *((one.name,) for one in packs.of(*names))])
    (root / "README.TXT").write_bytes(_readme(packs, names, root.name).encode())
    files = sorted(path for path in root.rglob("*") if path.is_file())
    rows = (
        (path.relative_to(root).as_posix(), str(path.stat().st_size), file_digest(path, "sha256")) for path in files
    )
    write_lines(root / "file.tbl", [("path", "bytes", "sha256"), *rows])


def _readme(packs: Packs, names: Sequence[str], title: str) -> str:
    """What is here, and what may be done with each pack."""
    lines = [f"{title}", "", "index.txt lists the documents, file.tbl all files with size and SHA-256.", ""]
    for name in names:
        rules = rules_for(name)
        lines += [f"{name}: {len(packs.of(name))} documents"]
        lines += [f"  {'may' if rule.allowed else 'must not'}: {rule.action}" for rule in rules] + [""]
    return "\n".join(lines)


@dataclass(frozen=True)
class BuildSpec:
    """A made-up build pack: how many conversations of each kind and part, how many pairs of sentences."""

    language: str = "1A"
    period: str = "BASE"
    seed: int = 0
    conversations: int = 2
    pairs: int = 10


def write_build_pack(spec: BuildSpec, out: Path) -> Path:
    """Write a build pack: description, transcribed conversations (.wav and .sph), bitext (M90)."""
    rng = np.random.default_rng([spec.seed, 4])
    name = f"MATERIAL_{spec.period}-{spec.language}-BUILD"
    root = _new_folder(out / f"IARPA_{name}_v1.0")
    (root / "language_design.txt").write_bytes(b"Family, dialects and writing of a language that nobody speaks.\n")
    for part in ("training", "dev"):
        for number in range(spec.conversations):
            _write_conversation(root / "conversational" / part, f"{name}_{part}_{number}", rng)
    (root / "bitext").mkdir()
    lines = (f"{number}\t{_line(rng, _word)}\t{_line(rng, _english)}\n" for number in range(spec.pairs))
    (root / "bitext" / f"{name}_bitext.txt").write_bytes("".join(lines).encode())
    return root


def _line(rng: np.random.Generator, word: Callable[[np.random.Generator], str]) -> str:
    return _sentence(rng, word).decode().rstrip("\n")


def _write_conversation(part: Path, name: str, rng: np.random.Generator) -> None:
    for folder in (part / "audio", part / "transcription"):
        folder.mkdir(parents=True, exist_ok=True)
    for kind, content in (("wav", wav_bytes(rng)), ("sph", sphere_bytes(rng))):
        (part / "audio" / f"{name}_{kind}.{kind}").write_bytes(content)
        (part / "transcription" / f"{name}_{kind}.txt").write_bytes(_sentence(rng, _word))
