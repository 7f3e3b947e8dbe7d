"""The texts and queries of a package as pages need them: plain data that the limited child wrote when it was added.

Read once for each package and kept in memory; whoever asks says whether sealed parts may be among what is told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from basanite.campaign.answering.fulltext import Index, Text, index
from basanite.campaign.answering.inside.bindings import bound
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Office
from basanite.campaign.store.files import Files
from basanite.campaign.store.tables import ReadingPackage
from basanite.metrics.answers import Bindings
from basanite.reading.patterns import Prefixes

IN_MEMORY: Final = 4
"""Packages whose texts are held at a time."""


@dataclass(frozen=True)
class Document:
    """A text of the corpus."""

    name: str
    part: str
    text: str


@dataclass(frozen=True)
class Asked:
    """A query as people and programs are asked it."""

    id: str
    type: str
    question: str
    variables: tuple[str, ...]
    literals: frozenset[str]
    """The variables whose values are numbers, dates or other literals; all others are things with names."""
    part: str
    """The part that it is asked of; "" for every part."""
    lines: tuple[str, ...]
    capabilities: tuple[str, ...]
    labels: Mapping[str, str]
    """What people call the things that variables stand for."""
    ranges: Mapping[str, str]
    """What its variables stand for, as far as the ontology knows: `thing` or a type of values."""
    generated: bool = False
    """Whether it comes from the ontology and stands in no file of the package."""


@dataclass(frozen=True)
class GoldLine:
    """An answer of the gold that the package came with."""

    query: str
    document: str
    bindings: Bindings
    kind: str
    verdict: str
    line: str
    """As it stands in its file."""


@dataclass(frozen=True)
class Corpus:
    """All of a package that is shown to people."""

    documents: Mapping[str, Document]
    queries: Mapping[str, Asked]
    sealed: frozenset[str]
    """The names of sealed parts."""
    gold: Mapping[str, tuple[GoldLine, ...]]
    """The versions of the gold that the package came with, oldest first."""
    prefixes: Prefixes

    @cached_property
    def index(self) -> Index:
        """The texts, to be searched."""
        return index([Text(one.name, one.part, one.text) for one in self.documents.values()])

    def parts(self, *, sealed: bool) -> frozenset[str]:
        """The parts that may be looked at, sealed ones only if so."""
        every = frozenset(one.part for one in self.documents.values())
        return every if sealed else every - self.sealed

    def document(self, name: str, *, sealed: bool) -> Document:
        """A text; one that may not be seen does not exist."""
        found = self.documents.get(name)
        if found is None or (found.part in self.sealed and not sealed):
            raise missing("document")
        return found


def corpus(office: Office, package: ReadingPackage) -> Corpus:
    """The texts and queries of a package; refused where they stayed behind when the campaign was exported (X-15)."""
    if not office.sealed.has(package.index_digest):
        fix = "export the campaign with its references, or add the package again"
        raise refused("X-15", "the sealed files of this package are not on this server", fix, status=409)
    return _read(office.sealed, package.index_digest)


@lru_cache(maxsize=IN_MEMORY)
def _read(files: Files, digest: str) -> Corpus:
    data = json.loads(files.read(digest))
    return Corpus(
        {one["name"]: Document(**one) for one in data["documents"]},
        {one["id"]: _asked(one) for one in data["queries"]},
        frozenset(data["sealed"]),
        {name: tuple(map(_gold, lines)) for name, lines in data["gold"].items()},
        Prefixes(data["namespace"], data["prefixes"]),
    )


def _asked(one: Mapping[str, Any]) -> Asked:
    return Asked(
        one["id"],
        one["type"],
        one["question"],
        tuple(one["variables"]),
        frozenset(one["literals"]),
        one["part"],
        tuple(one["lines"]),
        tuple(one["capabilities"]),
        one["labels"],
        one.get("ranges", {}),  # packages that were added before answers were read by their ranges have none
        one["generated"],
    )


def _gold(one: Mapping[str, Any]) -> GoldLine:
    return GoldLine(one["query"], one["document"], bound(one["bindings"]), one["kind"], one["verdict"], one["line"])
