"""Runs that remember which documents were missed or returned in error; reading and checking stay those of the task.

Only mistakes are kept, as two numbers each. A server never makes such a run (M72).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.mistakes import Mistakes, Places
from basanite.errors import SettingError
from basanite.figures import Image
from basanite.formats.archives.archive import open_source
from basanite.formats.factors import FactorTable
from basanite.formats.queries.query_packs import read_query_pack
from basanite.formats.retrieval.detection import SCALE, Answers
from basanite.formats.summaries.image_header import PNG, check_image, image_header
from basanite.formats.summaries.summary_metadata import IMAGE_SUFFIXES, SummaryName
from basanite.formats.summaries.summary_metadata import SUFFIX as METADATA
from basanite.problems import Findings
from basanite.tasks import Opened
from basanite.tasks.clir import ClirRun
from basanite.tasks.detecting.error_kinds import KINDS, ErrorKinds, KindCounts
from basanite.tasks.detecting.queries import Counted
from basanite.tasks.e2e import E2eRun, PairsCounted

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
        document=_joined([one.places for one in wrong]),
        confidence=_joined([one.scores for one in wrong]) / SCALE,
        missed=_joined([one.missed for one in wrong]).astype(np.bool_),
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
    return replace(found, kinds=KINDS, kind=_joined(each), non_targets=counts.table())


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
        pair = _pictured(member.name)
        if pair in wanted and len(member.data) <= min(LARGEST_IMAGE, room):
            wanted = wanted - {pair}
            if not any(check_image(member.name, member.data)):
                room -= len(member.data)
                yield pair, _image(member.data, *pair)
        if not wanted:
            return


def _pictured(path: str) -> Pair | None:
    """The query and document that a file is an image of, by its name, which its metadata share (M46)."""
    base, dot, suffix = path.rpartition(".")
    name = SummaryName.parse(base + METADATA) if dot + suffix in IMAGE_SUFFIXES else None
    return None if name is None else (name.query, name.document)


def _image(data: bytes, query: str, document: str) -> Image:
    kind = "image/png" if image_header(data).kind == PNG else "image/jpeg"
    return Image(f"{query}, {document}", f"Summary of {document} for {query}", kind, data)


def _columns(tables: Sequence[FactorTable], names: Sequence[str]) -> dict[str, NDArray[np.str_]]:
    return {factor: table.column(factor, names) for table in tables for factor in table.levels}


def _joined(parts: Sequence[NDArray[np.generic]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)
