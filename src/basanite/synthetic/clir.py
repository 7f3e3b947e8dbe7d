"""A made-up retrieval evaluation whose true result is known: key, systems, metadata and lists of any size.

Everything follows from a `Spec`: the same spec gives the same bytes. Only uniform draws and plain arithmetic are
used on whole arrays, so that results do not depend on the processor. A system's scores are logistic noise moved up
for relevant documents, less so for hard queries and for speech, and its decisions follow from one threshold.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.formats.archives.output import ARCHIVE_NAMES, write_archive

Bytes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.int64]
Order = Literal["shuffled", "fixed"]

GENRES: Mapping[str, float] = {"NT": 0.38, "TT": 0.20, "BT": 0.17, "NB": 0.10, "TB": 0.08, "CS": 0.07}
SPEECH = ("NB", "TB", "CS")
QUERY_TYPES: Mapping[tuple[str, str], float] = {
    ("lexical", "lexical"): 0.36,
    ("lexical", "morphological"): 0.12,
    ("lexical", "extended-morphological"): 0.08,
    ("conceptual", "conceptual"): 0.20,
    ("conceptual", "example-of"): 0.06,
    ("conceptual", "extended-example-of"): 0.04,
    ("hybrid", "conceptual"): 0.14,
}
DOMAINS: Mapping[str, tuple[str, ...]] = {
    "1A": ("GOV", "LIF", "BUS", "LAW", "SPO"),
    "1B": ("GOV", "LIF", "HEA", "MIL", "SPO"),
    "1S": ("GOV", "MIL", "LAW", "BUS", "REL"),
}
DOMAIN_SHARES = (0.27, 0.27, 0.155, 0.155, 0.15)
WORD_SHARES = (0.45, 0.35, 0.15, 0.05)
PRIOR = 1 / 600
FLOOR = -4.0
"""Where the scores of documents that are not relevant centre, in logits."""
ONE = 100_000
"""A score of 1.0 in the finest step that may be written."""


@dataclass(frozen=True)
class Spec:
    """What to make: the size, the seed and the naming of a data set."""

    queries: int
    documents: int
    seed: int
    language: str = "1A"
    period: str = "BASE"
    prevalence: float | None = None
    """Mean share of relevant documents; by default the published prior, but three documents at least."""
    empty: float = 0.15
    """Share of queries that no document is relevant to."""
    order: Order = "shuffled"
    """Whether each file lists the documents in an order of its own."""

    @property
    def prefix(self) -> str:
        """What every document's name begins with."""
        return f"MATERIAL_{self.period}-{self.language}_"


@dataclass(frozen=True)
class Quality:
    """How good a system is: what its scores can tell apart, and how well its threshold is set."""

    label: str
    separation: float
    """Logits between relevant and other text documents for an average query."""
    bias: float = 0.0
    """How far the threshold lies above (too strict) or below the best one, in logits."""
    speech: float = 0.6
    """Share of the separation that is left on speech."""
    beta: float = 20.0
    """The price of false alarms that the threshold was chosen for."""


@dataclass(frozen=True)
class Catalogue:
    """What all files of a spec have in common: names and properties of its documents and queries."""

    documents: tuple[str, ...]
    genres: tuple[str, ...]
    queries: tuple[str, ...]
    types: tuple[tuple[str, str], ...]
    domains: tuple[str, ...]
    words: tuple[str, ...]
    relevant: tuple[int, ...]
    ease: tuple[float, ...]
    """Factor on every system's separation: 0.6 for the hardest query to 1.4 for the easiest."""
    speech: Flags
    cells: Bytes
    """Documents' names as a matrix of characters."""


def dice(spec: Spec, *stream: int) -> np.random.Generator:
    """Random numbers of their own for each purpose, so that no file depends on which others are made."""
    return np.random.default_rng([spec.seed, *stream])


def shuffle(rng: np.random.Generator, count: int) -> Numbers:
    """A permutation made of uniform draws only."""
    return np.argsort(rng.random(count), kind="stable")


def distinct(rng: np.random.Generator, count: int, limit: int) -> Numbers:
    """Different random whole numbers below a limit, in random order."""
    if count > limit:
        raise SettingError(f"Only {limit} different names are possible; ask for at most that many, not {count}.")
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        drawn = (rng.random(count + 16) * limit).astype(np.int64)
        found = np.unique(np.concatenate([found, drawn]))
    return found[shuffle(rng, len(found))[:count]]


def pick(rng: np.random.Generator, count: int, shares: Iterable[float]) -> Numbers:
    """Indices drawn with the given shares."""
    edges = np.cumsum(np.array(list(shares)))
    return np.minimum(np.searchsorted(edges, rng.random(count), side="right"), len(edges) - 1)


def chosen(rng: np.random.Generator, count: int, shares: Mapping[str, float]) -> tuple[str, ...]:
    """Names drawn with the given shares."""
    names = list(shares)
    return tuple(names[index] for index in pick(rng, count, shares.values()))


def relevant_counts(spec: Spec) -> tuple[int, ...]:
    """How many documents are relevant to each query: none for some, few for most, many for a few."""
    draws = dice(spec, 3).random((spec.queries, 2))
    prevalence = spec.prevalence if spec.prevalence is not None else max(PRIOR, 3 / spec.documents)
    extra = max(prevalence * spec.documents / (1 - spec.empty) - 1, 0.0)
    most = max(spec.documents // 2, 1)
    counts = (min(1 + int(-math.log(1 - u) * extra), most) for u in draws[:, 1].tolist())
    return tuple(0 if u < spec.empty else count for u, count in zip(draws[:, 0].tolist(), counts, strict=True))


@lru_cache(maxsize=4)
def catalogue(spec: Spec) -> Catalogue:
    """Names and properties of all documents and queries of a spec."""
    rng = dice(spec, 1)
    documents = tuple(f"{spec.prefix}{number:08d}" for number in distinct(rng, spec.documents, 10**8))
    genres = chosen(rng, spec.documents, GENRES)
    rng = dice(spec, 2)
    numbers = np.sort(distinct(rng, spec.queries, 10**5))
    types = list(QUERY_TYPES)
    domains = DOMAINS.get(spec.language, DOMAINS["1A"])
    return Catalogue(
        documents=documents,
        genres=genres,
        queries=tuple(f"query{number:05d}" for number in numbers),
        types=tuple(types[index] for index in pick(rng, spec.queries, QUERY_TYPES.values())),
        domains=chosen(rng, spec.queries, dict(zip(domains, DOMAIN_SHARES, strict=True))),
        words=tuple(str(1 + index) for index in pick(rng, spec.queries, WORD_SHARES)),
        relevant=relevant_counts(spec),
        ease=tuple((0.6 + 0.8 * rng.random(spec.queries)).tolist()),
        speech=np.array([genre in SPEECH for genre in genres]),
        cells=np.frombuffer("".join(documents).encode(), dtype=np.uint8).reshape(spec.documents, -1),
    )


def relevance(spec: Spec, query: int) -> Flags:
    """Which documents are relevant to a query, in the order of the catalogue."""
    flags = np.zeros(spec.documents, dtype=np.bool_)
    count = catalogue(spec).relevant[query]
    if count:
        flags[np.argpartition(dice(spec, 4, query).random(spec.documents), count - 1)[:count]] = True
    return flags


def sigmoid(logit: float) -> float:
    """The logistic function of one number."""
    return 1 / (1 + math.exp(-logit))


@lru_cache(maxsize=64)
def threshold(quality: Quality) -> int:
    """The one threshold of a system, in steps of 0.00001: the best one expected, moved by its bias."""
    places = [quality.separation * (0.6 + 0.08 * step) for step in range(11)]
    centres = [(0.75, FLOOR + place) for place in places] + [(0.25, FLOOR + quality.speech * place) for place in places]

    def cost(cut: float) -> float:
        missed = sum(weight * sigmoid(cut - centre) for weight, centre in centres) / len(places)
        return missed + quality.beta * sigmoid(FLOOR - cut)

    best = min((step / 10 for step in range(-60, 81)), key=cost)
    return min(max(round(sigmoid(best + quality.bias) * ONE), 1), ONE)


def stream_of(quality: Quality) -> int:
    """A number of its own for each system's label, so that systems do not share their noise."""
    return zlib.crc32(quality.label.encode())


def scores(spec: Spec, quality: Quality, query: int) -> tuple[Numbers, Numbers]:
    """A system's scores for one query in steps of 0.00001, and with how many decimals each is written."""
    draws = dice(spec, 5, stream_of(quality), query).random((2, spec.documents))
    names = catalogue(spec)
    lift = quality.separation * names.ease[query]
    odds = np.full(spec.documents, math.exp(FLOOR))
    flags = relevance(spec, query)
    odds[flags & ~names.speech] = math.exp(FLOOR + lift)
    odds[flags & names.speech] = math.exp(FLOOR + lift * quality.speech)
    up = draws[0] * odds
    decimals = 1 + (draws[1] * 5).astype(np.int64)
    scale = 10**decimals
    steps = np.floor(up / (up + 1 - draws[0]) * scale + 0.5).astype(np.int64)
    return steps * (ONE // scale), decimals


def line_order(spec: Spec, query: int, *stream: int) -> Numbers | slice:
    """The order in which a file lists the documents."""
    return slice(None) if spec.order == "fixed" else shuffle(dice(spec, 6, *stream, query), spec.documents)


def marks(flags: Flags) -> Bytes:
    """Y where true, N elsewhere, as characters."""
    return np.where(flags, np.uint8(ord("Y")), np.uint8(ord("N")))


def key_text(spec: Spec, query: int) -> bytes:
    """The key's file for one query."""
    cells = catalogue(spec).cells
    width = cells.shape[1]
    lines = np.empty((spec.documents, width + 3), dtype=np.uint8)
    lines[:, :width] = cells
    lines[:, width:] = np.frombuffer(b"\tN\n", dtype=np.uint8)
    lines[:, width + 1] = marks(relevance(spec, query))
    return lines[line_order(spec, query)].tobytes()


def system_text(spec: Spec, quality: Quality, query: int) -> bytes:
    """A system's file for one query: lines of full width, of which the decimals not written are left out."""
    cells = catalogue(spec).cells
    width = cells.shape[1]
    steps, decimals = scores(spec, quality, query)
    lines = np.empty((spec.documents, width + 11), dtype=np.uint8)
    lines[:, :width] = cells
    lines[:, width:] = np.frombuffer(b"\tN\t0.00000\n", dtype=np.uint8)
    lines[:, width + 1] = marks(steps >= threshold(quality))
    lines[:, width + 3] += (steps == ONE).astype(np.uint8)
    for place in range(5):
        lines[:, width + 5 + place] += (steps // 10 ** (4 - place) % 10).astype(np.uint8)
    order = line_order(spec, query, stream_of(quality))
    kept = np.ones(lines.shape, dtype=np.bool_)
    kept[:, width + 5 : width + 10] = np.arange(5) < decimals[:, None]
    written: Bytes = lines[order][kept[order]]
    return written.tobytes()


def write_members(members: Iterable[tuple[str, bytes]], out: Path) -> None:
    """Write named contents into an archive if `out` is named like one, else into a folder."""
    if out.name.endswith(ARCHIVE_NAMES):
        out.parent.mkdir(parents=True, exist_ok=True)
        write_archive(members, out)
        return
    for name, content in members:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)


def key_members(spec: Spec) -> Iterator[tuple[str, bytes]]:
    """All files of the key, one after the other."""
    for query, name in enumerate(catalogue(spec).queries):
        yield f"{name}.tsv", key_text(spec, query)


def system_members(spec: Spec, quality: Quality) -> Iterator[tuple[str, bytes]]:
    """All files of a system, one after the other."""
    for query, name in enumerate(catalogue(spec).queries):
        yield f"{name}.tsv", system_text(spec, quality, query)


def write_key(spec: Spec, out: Path) -> None:
    """Write the key as a folder or, if `out` ends in `.tgz`, as an archive."""
    write_members(key_members(spec), out)


def write_system(spec: Spec, quality: Quality, out: Path) -> None:
    """Write a system's submission as a folder or, if `out` ends in `.tgz`, as an archive."""
    write_members(system_members(spec, quality), out)


def write_lines(path: Path, lines: Iterable[Sequence[str]]) -> None:
    """Write rows of cells as a table with tabs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join("\t".join(cells) + "\n" for cells in lines).encode())


def write_metadata(spec: Spec, folder: Path) -> tuple[Path, Path]:
    """Write the factors of documents and of queries as two tables; the paths are returned in that order."""
    names = catalogue(spec)
    documents, queries = folder / "documents.tsv", folder / "queries.tsv"
    modes = ["speech" if genre in SPEECH else "text" for genre in names.genres]
    rows = sorted(zip(names.documents, names.genres, modes, strict=True))
    write_lines(documents, [("document", "genre", "mode"), *rows])
    kinds, subtypes = zip(*names.types, strict=True) if names.types else ((), ())
    columns = zip(names.queries, kinds, subtypes, names.domains, names.words, strict=True)
    write_lines(queries, [("query", "kind", "subtype", "domain", "words"), *columns])
    return documents, queries


def write_lists(spec: Spec, folder: Path) -> tuple[Path, Path]:
    """Write the names of documents and of queries, one per line; the paths are returned in that order."""
    names = catalogue(spec)
    documents, queries = folder / "documents.txt", folder / "queries.txt"
    write_lines(documents, [(name,) for name in sorted(names.documents)])
    write_lines(queries, [(name,) for name in names.queries])
    return documents, queries


def counts(spec: Spec, quality: Quality, query: int) -> tuple[int, int, int, int]:
    """Of one query: relevant documents, those missed, other documents, false alarms."""
    flags = relevance(spec, query)
    returned = scores(spec, quality, query)[0] >= threshold(quality)
    relevant = int(flags.sum())
    missed, alarms = int((flags & ~returned).sum()), int((~flags & returned).sum())
    return relevant, missed, spec.documents - relevant, alarms


def ratio(part: int, whole: int) -> Fraction:
    """A share, which counts as 0 where there is nothing to share (M05, C44)."""
    return Fraction(part, whole) if whole else Fraction(0)


def mean(values: Sequence[Fraction]) -> Fraction | None:
    """The mean, or nothing at all of nothing."""
    return sum(values, Fraction(0)) / len(values) if values else None


def exact_value(spec: Spec, quality: Quality, beta: float = 20.0) -> dict[str, float | None]:
    """The three forms of AQWV of a system, in exact fractions up to the last step; None where undefined."""
    price = Fraction(str(beta))
    table = [counts(spec, quality, query) for query in range(spec.queries)]
    missed = [ratio(miss, relevant) for relevant, miss, _, _ in table]
    alarms = [price * ratio(alarm, others) for _, _, others, alarm in table]
    some = [relevant > 0 for relevant, *_ in table]
    losses = [miss + alarm for miss, alarm in zip(missed, alarms, strict=True)]
    misses = mean([miss for miss, kept in zip(missed, some, strict=True) if kept])
    third = None if misses is None else 1 - misses - (mean(alarms) or 0)
    second = mean([1 - loss for loss, kept in zip(losses, some, strict=True) if kept])
    first = mean([1 - loss for loss in losses])
    values = {"aqwv": third, "aqwv_all": first, "aqwv_relevant": second}
    return {name: None if value is None else float(value) for name, value in values.items()}
