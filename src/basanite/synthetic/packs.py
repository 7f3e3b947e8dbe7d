"""From collected or made-up documents to packs, and to trees on disk (M91).

DEV and ANALYSIS have about as many documents of each domain; the packs of ANALYSIS follow the stages at which domains
are announced. The rest is EVAL, cut into epochs by date of origin within each genre, conversations at random, and with
it all documents in other languages. Everything follows from the documents and the seed, whatever their order.

A document without a file of its own gets a tiny one of the right kind: made-up words, or noise with a real header, RIFF
(.wav) or NIST SPHERE (.sph). What teams must not know (language, domains and source of each document) is written beside
the tree, never into it.
"""

from __future__ import annotations

import shutil
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

from basanite.errors import SettingError
from basanite.formats.datasets.dataset_tree import MODE_LEVELS, file_digest
from basanite.formats.datasets.pack_names import DATASET, LANGUAGE, PERIOD, all_domains, domains_of, family, superset
from basanite.formats.datasets.raw_documents import COLUMNS, UNDATED, RawDocument
from basanite.formats.datasets.usage_rules import rules_for
from basanite.synthetic.clir import GENRES, chosen, distinct, shuffle, write_lines

RATE = 8000
SPHERE_HEADER = 1024
ONSETS, VOWELS = tuple("bdfgklmnpstw"), tuple("aeiou")
ENGLISH = ("the", "a", "river", "market", "minister", "school", "rain", "road", "family", "price", "law", "village")
WORDS = 12
FIRST_DAY = datetime(2015, 1, 1)
DAYS = 900

Relevance = Sequence[tuple[str, str]]
"""Pairs of a query and the source of a document that is relevant to it."""
IDS = 10**8
STAGES = "XYZ"


def wav_bytes(rng: np.random.Generator, *, samples: int = 80, channels: int = 1, bits: int = 24) -> bytes:
    """Uncompressed noise of so many samples in each channel."""
    block = channels * bits // 8
    data = bytes(rng.integers(0, 256, samples * block, dtype=np.uint8))
    form = struct.pack("<HHIIHH", 1, channels, RATE, RATE * block, block, bits)
    body = b"WAVE" + _chunk(b"fmt ", form) + _chunk(b"data", data)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def sphere_bytes(rng: np.random.Generator, *, samples: int = 80, channels: int = 1, coding: str = "alaw") -> bytes:
    """Noise in 8-bit samples, a-law unless said otherwise."""
    fields = (
        f"channel_count -i {channels}",
        f"sample_rate -i {RATE}",
        "sample_n_bytes -i 1",
        f"sample_count -i {samples}",
        f"sample_coding -s{len(coding)} {coding}",
        "end_head",
    )
    header = "\n".join(("NIST_1A", f"{SPHERE_HEADER:7d}", *fields, ""))
    return header.encode().ljust(SPHERE_HEADER) + bytes(rng.integers(0, 256, samples * channels, dtype=np.uint8))


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


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
    rows = (
        (one.name, one.raw.genre, MODE_LEVELS["audio" if one.raw.is_audio else "text"], one.pack, one.raw.language)
        for one in packs.placed
    )
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


def _new_folder(path: Path) -> Path:
    if path.exists():
        raise SettingError(f"{path} already exists. Choose another folder: existing files are never overwritten.")
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


@dataclass(frozen=True)
class PackSpec:
    """How to divide documents; the sizes are numbers of documents."""

    language: str
    dev: int
    analysis: int
    period: str = "BASE"
    seed: int = 0
    epochs: int = 3
    stages: tuple[tuple[str, ...], ...] = ()
    """The domains that each pack of ANALYSIS adds; by default those of the language's stages."""
    dev_irrelevant: float = 0.2
    """Share of DEV that is relevant to none of the domains."""
    analysis_irrelevant: float = 0.4
    """The same of ANALYSIS, which has more of them."""


@dataclass(frozen=True)
class Placed:
    """A document under its new name, in its pack."""

    name: str
    pack: str
    raw: RawDocument


@dataclass(frozen=True)
class Packs:
    """All documents in their packs, by name."""

    spec: PackSpec
    placed: tuple[Placed, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The packs, sorted."""
        return tuple(sorted({document.pack for document in self.placed}))

    def of(self, *packs: str) -> tuple[Placed, ...]:
        """The documents of these packs."""
        return tuple(document for document in self.placed if document.pack in packs)

    def cumulative(self, pack: str) -> tuple[str, ...]:
        """The packs that are scored together when this one is the newest: EVAL1 and EVAL2 for EVAL2 (M63)."""
        return superset(pack, [name for name in self.names if family(name) == family(pack) and name <= pack])

    def balance(self, pack: str) -> Counter[str]:
        """How many documents of a pack are relevant to each domain."""
        return Counter(domain for document in self.of(pack) for domain in document.raw.domains)

    def epochs(self) -> dict[str, dict[str, tuple[datetime, datetime]]]:
        """By genre and pack of EVAL: the first and the last date of origin."""
        spans: dict[str, dict[str, tuple[datetime, datetime]]] = {}
        for document in self.placed:
            date = document.raw.date
            if family(document.pack) == "EVAL" and document.raw.genre != UNDATED and date is not None:
                span = spans.setdefault(document.raw.genre, {})
                first, last = span.get(document.pack, (date, date))
                span[document.pack] = min(first, date), max(last, date)
        return spans


def build_packs(documents: Iterable[RawDocument], spec: PackSpec) -> Packs:
    """Divide documents into packs and give them numbers that tell nothing."""
    ordered = sorted(documents, key=lambda document: document.source)
    stages = spec.stages or _stages(ordered, spec.language)
    own = _shuffle_documents([document for document in ordered if document.language == spec.language], spec, 1)
    _check_spec(own, spec)
    chosen = {"DEV": _balanced_pack(own, [code for stage in stages for code in stage], spec.dev, spec.dev_irrelevant)}
    left = _without(own, chosen["DEV"])
    for number, (stage, size) in enumerate(zip(stages, _stage_sizes(stages, spec.analysis), strict=True), start=1):
        pack = chosen[f"ANALYSIS{number}"] = _balanced_pack(left, stage, size, spec.analysis_irrelevant)
        left = _without(left, pack)
    distractors = [document for document in ordered if document.language != spec.language]
    chosen |= _epochs([*left, *distractors], spec)
    return Packs(spec, _place_documents(chosen, ordered, spec))


def _stages(documents: Sequence[RawDocument], language: str) -> tuple[tuple[str, ...], ...]:
    """The stages of a language that is known, or one stage with all domains that are there."""
    known = tuple(domains_of(language, stage) for stage in STAGES) if domains_of(language) else ()
    found = sorted({code for document in documents for code in document.domains})
    return known or (tuple(found),)


def _check_spec(own: Sequence[RawDocument], spec: PackSpec) -> None:
    if not (LANGUAGE.fullmatch(spec.language) and PERIOD.fullmatch(spec.period)):
        raise SettingError(f"{spec.period}-{spec.language} cannot name a data set. Write codes like BASE and 1A.")
    if not own:
        raise SettingError(f"No document is in language {spec.language!r}. Set the language of the evaluation.")
    if spec.dev + spec.analysis > len(own) or min(spec.dev, spec.analysis) < 0:
        raise SettingError(
            f"DEV with {spec.dev} and ANALYSIS with {spec.analysis} documents cannot be taken from {len(own)} in "
            f"{spec.language}. Ask for fewer."
        )
    if not DATASET.fullmatch(f"EVAL{spec.epochs}"):
        raise SettingError(f"There is no pack EVAL{spec.epochs}. Ask for 1 to 3 epochs.")


def _stage_sizes(stages: Sequence[Sequence[str]], total: int) -> list[int]:
    """Sizes of the packs of ANALYSIS, by how many domains each adds, so that every domain has its share."""
    weights = np.cumsum([len(stage) for stage in stages]) / max(sum(len(stage) for stage in stages), 1)
    edges = [0, *(round(total * float(weight)) for weight in weights)]
    return [end - start for start, end in pairwise(edges)]


def _shuffle_documents(documents: Sequence[RawDocument], spec: PackSpec, stream: int) -> list[RawDocument]:
    order = shuffle(np.random.default_rng([spec.seed, stream]), len(documents))
    return [documents[at] for at in order]


def _without(documents: Iterable[RawDocument], taken: Iterable[RawDocument]) -> list[RawDocument]:
    sources = {document.source for document in taken}
    return [document for document in documents if document.source not in sources]


def _balanced_pack(
    documents: Sequence[RawDocument], domains: Sequence[str], size: int, irrelevant: float
) -> list[RawDocument]:
    """The first documents that keep the domains level, then such as are relevant to none of them."""
    picked: dict[str, RawDocument] = {}
    counts = dict.fromkeys(domains, 0)
    queues = {code: iter([one for one in documents if code in one.domains]) for code in domains}
    while queues and len(picked) < size - round(size * irrelevant):
        scarce = min(queues, key=lambda code: (counts[code], code))
        found = next((one for one in queues[scarce] if one.source not in picked), None)
        if found is None:
            del queues[scarce]
            continue
        picked[found.source] = found
        for code in set(found.domains) & counts.keys():
            counts[code] += 1
    rest = [one for one in documents if one.source not in picked]
    rest.sort(key=lambda one: bool(set(one.domains) & counts.keys()))  # stable: those relevant to none come first
    return [*picked.values(), *rest[: size - len(picked)]]


def _epochs(documents: Sequence[RawDocument], spec: PackSpec) -> dict[str, list[RawDocument]]:
    """EVAL packs: within each genre the earliest documents first; what has no date falls where it falls."""
    epochs: dict[str, list[RawDocument]] = {f"EVAL{number + 1}": [] for number in range(spec.epochs)}
    for genre in sorted({document.genre for document in documents}):
        members = [document for document in documents if document.genre == genre]
        undated = genre == UNDATED
        ordered = _shuffle_documents(sorted(members, key=_origin), spec, 2) if undated else sorted(members, key=_origin)
        edges = [_edge(ordered, number, spec.epochs, dated=not undated) for number in range(spec.epochs + 1)]
        for pack, (start, end) in zip(epochs, pairwise(edges), strict=True):
            epochs[pack] += ordered[start:end]
    return epochs


def _origin(document: RawDocument) -> tuple[datetime, str]:
    return document.date or datetime.min, document.source


def _edge(ordered: Sequence[RawDocument], number: int, epochs: int, *, dated: bool) -> int:
    """Where an epoch begins: documents of one moment stay together."""
    edge = round(number * len(ordered) / epochs)
    while dated and 0 < edge < len(ordered) and ordered[edge].date == ordered[edge - 1].date:
        edge += 1
    return edge


def _place_documents(
    chosen: Mapping[str, Sequence[RawDocument]], ordered: Sequence[RawDocument], spec: PackSpec
) -> tuple[Placed, ...]:
    """Documents under random numbers of eight digits, which follow neither pack nor genre nor date."""
    numbers = distinct(np.random.default_rng([spec.seed, 3]), len(ordered), IDS)
    prefix = f"MATERIAL_{spec.period}-{spec.language}_"
    names = {one.source: f"{prefix}{number:08d}" for one, number in zip(ordered, numbers, strict=True)}
    placed = (Placed(names[one.source], pack, one) for pack, members in chosen.items() for one in members)
    return tuple(sorted(placed, key=lambda document: document.name))
