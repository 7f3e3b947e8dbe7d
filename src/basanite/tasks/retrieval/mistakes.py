"""Runs that remember which documents were missed or returned in error; reading and checking stay those of the task.

Only mistakes are kept, as two numbers each. A server never makes such a run (M72).

Kinds of non-target: what is right and what is wrong about a document that should not have been returned (M86).

A query asks for a string in a domain. A domain key says which documents belong to each domain; a string key says where
the query's string alone is relevant. What follows from either is used where the other is not there. Conversational
speech has no domain and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.mistakes import Mistakes, NonTargets, Places
from basanite.errors import SettingError
from basanite.figures import Image
from basanite.formats.archives.archive import open_source
from basanite.formats.datasets.domains import shipped_domains
from basanite.formats.factors import FactorTable
from basanite.formats.retrieval.detection_files import SCALE, Answers, Documents
from basanite.formats.retrieval.detection_key import Key, read_key_set
from basanite.formats.retrieval.image_header import PNG, check_image, image_header
from basanite.formats.retrieval.query_packs import read_query_pack
from basanite.formats.retrieval.summary_metadata import IMAGE_SUFFIXES, SummaryName
from basanite.formats.retrieval.summary_metadata import SUFFIX as METADATA
from basanite.problems import Findings
from basanite.tasks import Opened
from basanite.tasks.clir import ClirRun
from basanite.tasks.e2e import E2eRun, PairsCounted
from basanite.tasks.retrieval.queries import Counted, QueryRun

RIGHT_STRING = "right string, wrong domain"
RIGHT_DOMAIN = "right domain, wrong string"
NEITHER = "neither"
WRONG_DOMAIN, WRONG_STRING = "wrong domain", "wrong string"
CONTRADICTION = "right string and domain"
"""The keys contradict each other: such a document should be relevant."""
KINDS = (RIGHT_STRING, RIGHT_DOMAIN, NEITHER, WRONG_DOMAIN, WRONG_STRING, CONTRADICTION)
UNKNOWN, NO, YES = -1, 0, 1
LEFT_OUT = "CS"

States = NDArray[np.int8]

WITH_BOTH = {(YES, NO): RIGHT_STRING, (NO, YES): RIGHT_DOMAIN, (NO, NO): NEITHER, (YES, YES): CONTRADICTION}
"""By string and domain."""
BY_DOMAIN = {YES: RIGHT_DOMAIN, NO: WRONG_DOMAIN}
BY_STRING = {YES: RIGHT_STRING, NO: WRONG_STRING}


@dataclass(frozen=True)
class Annotation:
    """A key over other targets or documents, lined up with the documents of a run."""

    key: Key
    place: NDArray[np.int64]
    """Where the key has each document of the run; -1 where it does not."""

    @classmethod
    def of(cls, key: Key, documents: Documents) -> Annotation:
        """Line a key up with these documents."""
        known = key.documents.position
        return cls(key, np.array([known.get(name, UNKNOWN) for name in documents.names], dtype=np.int64))

    def states(self, target: str) -> States:
        """Yes, no or unknown for every document of the run."""
        if target not in self.key.queries:
            return np.full(len(self.place), UNKNOWN, np.int8)
        found = self.key.relevant(target).astype(np.int8)[self.place]
        return np.where(self.place == UNKNOWN, np.int8(UNKNOWN), found)


@dataclass(frozen=True)
class ErrorKinds:
    """What tells the kind of a non-target."""

    domains: Annotation | None
    strings: Annotation | None
    domain_of: Mapping[str, str]
    """By query: the code of its domain."""
    left_out: NDArray[np.bool_]
    """Documents that have no domain by nature (genre CS)."""

    def of(self, query: str) -> States:
        """For every document the place of its kind among `KINDS`, if it is a non-target of this query; or -1."""
        strings = None if self.strings is None else self.strings.states(query)
        domains = None if self.domains is None else self.domains.states(self.domain_of.get(query, ""))
        found = np.full(len(self.left_out), UNKNOWN, np.int8)
        for kind, holds in _each_kind(strings, domains):
            found[holds & ~self.left_out] = KINDS.index(kind)
        return found


def _each_kind(strings: States | None, domains: States | None) -> list[tuple[str, NDArray[np.bool_]]]:
    """Each kind with the documents it holds for; where a query has no string key, its domain alone must do."""
    if domains is None:
        return [] if strings is None else [(kind, strings == state) for state, kind in BY_STRING.items()]
    alone = [(kind, domains == state) for state, kind in BY_DOMAIN.items()]
    if strings is None:
        return alone
    both = [(kind, (strings == string) & (domains == domain)) for (string, domain), kind in WITH_BOTH.items()]
    return [*((kind, holds & (strings == UNKNOWN)) for kind, holds in alone), *both]


def read_error_kinds(
    run: QueryRun, domains: Path | None, strings: Path | None, findings: Findings
) -> ErrorKinds | None:
    """Read the annotations that were given; None if there are none, or if they cannot be trusted (see findings)."""
    read = {
        name: _annotation(run, path, findings) for name, path in (("domains", domains), ("strings", strings)) if path
    }
    if not read or not findings.valid:
        return None
    kinds = ErrorKinds(read.get("domains"), read.get("strings"), _domains_of_queries(run), _left_out(run))
    _check(kinds, run)
    return kinds


def _annotation(run: QueryRun, path: Path, findings: Findings) -> Annotation | None:
    key = read_key_set(open_source(path, where="reference"), run.layout.pattern, findings)
    return None if key is None else Annotation.of(key, run.key.documents)


def _domains_of_queries(run: QueryRun) -> dict[str, str]:
    """The code of each query's domain; a table may have written its name."""
    codes = shipped_domains().codes
    known = (table.levels["domain"] for table in run.unit_tables if "domain" in table.levels)
    return {query: codes.get(level, level) for levels in known for query, level in levels.items()}


def _left_out(run: QueryRun) -> NDArray[np.bool_]:
    names = run.key.documents.texts()
    left = np.zeros(len(names), dtype=np.bool_)
    for table in run.item_tables:
        if "genre" in table.levels:
            left |= table.column("genre", names) == LEFT_OUT
    return left


def _check(kinds: ErrorKinds, run: QueryRun) -> None:
    """Refuse annotations that tell nothing about this run, for a table of zeros would look like a result."""
    for option, annotation in (("--domains", kinds.domains), ("--strings", kinds.strings)):
        if annotation is not None and (annotation.place == UNKNOWN).all():
            raise SettingError(
                f"{option} names none of the documents of the reference. Is it the reference of another set?"
            )
    if kinds.domains is not None and not any(code in kinds.domains.key.queries for code in kinds.domain_of.values()):
        known = ", ".join(kinds.domains.key.queries[:8])
        raise SettingError(
            f"No query has a domain that --domains knows ({known}). Give --queries, or --metadata with a column domain."
        )
    if kinds.strings is not None and not set(kinds.strings.key.queries) & set(run.key.queries):
        raise SettingError("--strings names none of the queries of the reference. Is it the reference of another set?")


class KindCounts:
    """How many non-targets of each kind there are, and how many of them were returned."""

    def __init__(self) -> None:
        self.documents = np.zeros(len(KINDS), dtype=np.int64)
        self.returned = np.zeros(len(KINDS), dtype=np.int64)

    def add(self, kinds: States, relevant: NDArray[np.bool_], alarms: NDArray[np.int64]) -> None:
        """Count one query in: the kinds of all documents, which are targets, and where the false alarms are."""
        others = kinds[~relevant]
        self.documents += np.bincount(others[others >= 0], minlength=len(KINDS))
        found = kinds[alarms]
        self.returned += np.bincount(found[found >= 0], minlength=len(KINDS))

    def table(self) -> tuple[NonTargets, ...]:
        """The kinds that occur among the documents."""
        total = int(self.returned.sum())
        return tuple(
            NonTargets(kind, returned, documents, _share(returned, total), _share(returned, documents))
            for kind, returned, documents in zip(KINDS, self.returned.tolist(), self.documents.tolist(), strict=True)
            if documents
        )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


Pair = tuple[str, str]
LARGEST_IMAGE = 2**20
LARGEST_IMAGES = 24 * 2**20
"""A page that holds more than this in pictures is slow to open."""


@dataclass(frozen=True)
class Wrong:
    """The mistakes of one query: the places of the documents, their scores, and which of them are misses."""

    places: Places
    scores: NDArray[np.int32]
    missed: NDArray[np.bool_]

    @classmethod
    def of(cls, truth: NDArray[np.bool_], answers: Answers) -> Wrong:
        """The documents on which truth and decision differ."""
        places = np.flatnonzero(truth != answers.returned)
        return cls(places, answers.score[places], truth[places])


@dataclass(frozen=True)
class RememberedQuery(Counted):
    """One query as CLIR counts it, and its mistakes."""

    wrong: Wrong


@dataclass(frozen=True)
class RememberedPairs(PairsCounted):
    """One query as the end-to-end task counts it, and its mistakes."""

    wrong: Wrong


class ClirOutcomes(ClirRun):
    """A CLIR run that remembers mistakes."""

    wrong: dict[str, Wrong]

    @classmethod
    def like(cls, run: ClirRun) -> ClirOutcomes:
        """The same run, about to read the same submission."""
        made = cls(run.key, run.source, run.layout, run.tables, run._limit)
        made.settings, made.wrong = run.settings, {}
        return made

    def count(self, target: str, truth: NDArray[np.bool_], answers: Answers) -> RememberedQuery:
        """What the task counts, and the mistakes."""
        return RememberedQuery(**vars(super().count(target, truth, answers)), wrong=Wrong.of(truth, answers))

    def keep(self, target: str, counted: Counted) -> None:
        """Keep one query and its mistakes."""
        super().keep(target, counted)
        assert isinstance(counted, RememberedQuery), "counted by this very class"
        self.wrong[target] = counted.wrong


class E2eOutcomes(E2eRun):
    """An end-to-end run that remembers mistakes of retrieval."""

    wrong: dict[str, Wrong]

    @classmethod
    def like(cls, run: E2eRun) -> E2eOutcomes:
        """The same run, about to read the same submission."""
        made = cls(run.key, run.source, run.layout, run.tables, run._limit)
        made.settings, made.rules, made.wrong = run.settings, run.rules, {}
        return made

    def count(self, target: str, truth: NDArray[np.bool_], answers: Answers) -> RememberedPairs:
        """What the task counts, and the mistakes."""
        return RememberedPairs(**vars(super().count(target, truth, answers)), wrong=Wrong.of(truth, answers))

    def keep(self, target: str, counted: Counted) -> None:
        """Keep one query and its mistakes."""
        super().keep(target, counted)
        assert isinstance(counted, RememberedPairs), "counted by this very class"
        self.wrong[target] = counted.wrong


def remembering(run: Opened) -> Opened:
    """The same run with a memory for mistakes; refused for tasks that do not decide about documents for queries."""
    if isinstance(run, E2eRun):
        return E2eOutcomes.like(run)
    if isinstance(run, ClirRun):
        return ClirOutcomes.like(run)
    raise SettingError("Mistakes can be explored where queries have relevant documents: use the task clir or e2e.")


def mistakes_of(run: Opened, system: str, kinds: ErrorKinds | None = None) -> Mistakes:
    """All mistakes of a run that has been read and found valid, queries in the order of their names."""
    assert isinstance(run, ClirOutcomes | E2eOutcomes), "a run made by `remembering`"
    queries, documents = run.units(), run.key.documents.texts()
    wrong = [run.wrong[query] for query in queries]
    found = Mistakes(
        task="e2e" if isinstance(run, E2eOutcomes) else "clir",
        system=system,
        queries=queries,
        documents=documents,
        query=np.repeat(np.arange(len(wrong)), [len(one.places) for one in wrong]),
        document=_concatenate([one.places for one in wrong]),
        confidence=_concatenate([one.scores for one in wrong]) / SCALE,
        missed=_concatenate([one.missed for one in wrong]).astype(np.bool_),
        query_factors=_columns(run.unit_tables, queries),
        document_factors=_columns(run.item_tables, documents),
        digests={"submission": run.source.digest.value(), "reference": run.key.digest},
        settings=run.settings,
    )
    return found if kinds is None else _with_kinds(found, run, kinds)


def _with_kinds(found: Mistakes, run: ClirOutcomes | E2eOutcomes, kinds: ErrorKinds) -> Mistakes:
    """The same mistakes, each false alarm with its kind of non-target (M86)."""
    counts, each = KindCounts(), []
    for query in found.queries:
        kind, wrong = kinds.of(query), run.wrong[query]
        counts.add(kind, run.key.relevant(query), wrong.places[~wrong.missed])
        each.append(np.where(wrong.missed, -1, kind[wrong.places]))
    return replace(found, kinds=KINDS, kind=_concatenate(each), non_targets=counts.table())


def with_strings(found: Mistakes, pack: Path | None) -> Mistakes:
    """The same mistakes with what each query asks for, from its pack; problems of the pack have been told already."""
    read = None if pack is None else read_query_pack(pack, Findings())
    return found if read is None else replace(found, strings={query.id: query.full for query in read.queries})


def with_images(found: Mistakes, run: Opened, listed: Places, *, most: int) -> Mistakes:
    """The same mistakes with the summary images of listed false alarms, the worst first, as many as a page can bear."""
    if not isinstance(run, E2eOutcomes) or not most:
        return found
    alarms = listed[~found.missed[listed]][:most]
    wanted = {(found.queries[found.query[at]], found.documents[found.document[at]]) for at in alarms}
    return replace(found, images=dict(_images(run, wanted)))


def _images(run: E2eOutcomes, wanted: set[Pair]) -> Iterator[tuple[Pair, Image]]:
    """Real images only, read in a second pass: which are wanted is known when all queries have been seen."""
    source = open_source(run.source.path, limits=run.source.limits, depth=run.source.depth)
    room = LARGEST_IMAGES
    for member in source.members(Findings(), hashed=False):
        pair = _pictured_pair(member.name)
        if pair in wanted and len(member.data) <= min(LARGEST_IMAGE, room):
            wanted = wanted - {pair}
            if not any(check_image(member.name, member.data)):
                room -= len(member.data)
                yield pair, _image(member.data, *pair)
        if not wanted:
            return


def _pictured_pair(path: str) -> Pair | None:
    """The query and document that a file is an image of, by its name, which its metadata share (M46)."""
    base, dot, suffix = path.rpartition(".")
    name = SummaryName.parse(base + METADATA) if dot + suffix in IMAGE_SUFFIXES else None
    return None if name is None else (name.query, name.document)


def _image(data: bytes, query: str, document: str) -> Image:
    kind = "image/png" if image_header(data).kind == PNG else "image/jpeg"
    return Image(f"{query}, {document}", f"Summary of {document} for {query}", kind, data)


def _columns(tables: Sequence[FactorTable], names: Sequence[str]) -> dict[str, NDArray[np.str_]]:
    return {factor: table.column(factor, names) for table in tables for factor in table.levels}


def _concatenate(parts: Sequence[NDArray[np.generic]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)
