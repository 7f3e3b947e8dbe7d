"""What a package holds for one part: its documents, queries and one version of the gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from basanite.problems import Findings
from basanite.reading.gold.answers import Answer, GoldAnswer, Known, read_gold
from basanite.reading.gold.versions import version_path
from basanite.reading.package.manifest import Phase
from basanite.reading.package.model import Package, read_package
from basanite.reading.queries.model import Query


@dataclass(frozen=True)
class Truth:
    """What a package holds for one part: its documents, queries and gold."""

    package: Package
    version: str
    path: Path
    documents: tuple[str, ...]
    queries: Mapping[str, Query]
    known: Known
    gold: tuple[GoldAnswer, ...]
    phase: Phase | None

    @property
    def capabilities(self) -> frozenset[str] | None:
        """What is in scope; None for everything."""
        return self.phase.in_scope if self.phase else None

    def asks(self, answer: Answer) -> bool:
        """Whether this part and phase ask what an answer is about: all else is neither right nor wrong (R-24)."""
        return answer.query in self.queries and answer.document in self._documents

    @cached_property
    def _documents(self) -> frozenset[str]:
        return frozenset(self.documents)


def read_truth(root: Path, settings: Mapping[str, Any], findings: Findings) -> Truth | None:
    """The documents, queries and gold of one part of a package."""
    package = read_package(root, findings)
    if package is None:
        return None
    manifest, part = package.manifest, settings["part"]
    manifest.part(part)
    phase = manifest.phase(settings["phase"]) if settings["phase"] else None
    documents = package.documents(part, findings)
    queries = {query.id: query for query in package.queries_for(part)}
    if phase:
        queries = {name: query for name, query in queries.items() if query.in_scope(phase.in_scope)}
    known = _known(package, documents)
    version, path = version_path(root, settings["gold"])
    gold = tuple(one for one in read_gold(path, known, findings) if one.answer.document in documents)
    gold = tuple(one for one in gold if one.answer.query in queries)
    return Truth(package, version, path, tuple(sorted(documents)), queries, known, gold, phase)


def _known(package: Package, documents: Mapping[str, object]) -> Known:
    """All queries and documents of the package, so that a name of another part is no mistake in the gold."""
    everything = {name for part in package.manifest.parts if package.has(part) for name in package.documents(part.name)}
    selected = {query.id: query.select or query.variables for query in package.queries}
    return Known(selected, frozenset(everything | set(documents)), package.manifest.prefixes)
