"""From collected documents to packs: who goes into DEV, which ANALYSIS pack, which epoch of EVAL, under which number.

DEV and ANALYSIS have about as many documents of each domain; the packs of ANALYSIS follow the stages at which domains
are announced. The rest is EVAL, cut into epochs by date of origin within each genre, conversations at random, and with
it all documents in other languages. Everything follows from the documents and the seed, whatever their order (M91).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from basanite.errors import SettingError
from basanite.formats.packs.pack_names import DATASET, LANGUAGE, PERIOD, domains_of, family, superset
from basanite.formats.packs.raw_documents import UNDATED, RawDocument
from basanite.synthetic.clir import distinct, shuffle

IDS = 10**8
STAGES = "XYZ"


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
    own = _shuffled([document for document in ordered if document.language == spec.language], spec, 1)
    _check_spec(own, spec)
    chosen = {"DEV": _balanced(own, [code for stage in stages for code in stage], spec.dev, spec.dev_irrelevant)}
    left = _without(own, chosen["DEV"])
    for number, (stage, size) in enumerate(zip(stages, _stage_sizes(stages, spec.analysis), strict=True), start=1):
        pack = chosen[f"ANALYSIS{number}"] = _balanced(left, stage, size, spec.analysis_irrelevant)
        left = _without(left, pack)
    distractors = [document for document in ordered if document.language != spec.language]
    chosen |= _epochs([*left, *distractors], spec)
    return Packs(spec, _named(chosen, ordered, spec))


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


def _shuffled(documents: Sequence[RawDocument], spec: PackSpec, stream: int) -> list[RawDocument]:
    order = shuffle(np.random.default_rng([spec.seed, stream]), len(documents))
    return [documents[at] for at in order]


def _without(documents: Iterable[RawDocument], taken: Iterable[RawDocument]) -> list[RawDocument]:
    sources = {document.source for document in taken}
    return [document for document in documents if document.source not in sources]


def _balanced(
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
        ordered = _shuffled(sorted(members, key=_origin), spec, 2) if undated else sorted(members, key=_origin)
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


def _named(
    chosen: Mapping[str, Sequence[RawDocument]], ordered: Sequence[RawDocument], spec: PackSpec
) -> tuple[Placed, ...]:
    """Documents under random numbers of eight digits, which follow neither pack nor genre nor date."""
    numbers = distinct(np.random.default_rng([spec.seed, 3]), len(ordered), IDS)
    prefix = f"MATERIAL_{spec.period}-{spec.language}_"
    names = {one.source: f"{prefix}{number:08d}" for one, number in zip(ordered, numbers, strict=True)}
    placed = (Placed(names[one.source], pack, one) for pack, members in chosen.items() for one in members)
    return tuple(sorted(placed, key=lambda document: document.name))
