"""What a task asks of a package: documents, queries, kinds, and one version of the gold of exactly these (R-17)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.reading.gold.answers import KINDS, Answer, GoldAnswer, Known, read_gold
from basanite.reading.gold.counts import gold_for
from basanite.reading.package.manifest import Phase
from basanite.reading.package.model import Package, read_package
from basanite.reading.query import Query
from basanite.registry import suggestion

_VERSION: Final = re.compile(r"v([0-9]{1,6})")


def versions(root: Path) -> dict[str, Path]:
    """The gold files of a package by version, oldest first."""
    found = {path.stem: path for path in (root / "gold").glob("v*.ndjson") if _VERSION.fullmatch(path.stem)}
    return dict(sorted(found.items(), key=lambda item: int(item[0][1:])))


def version_path(root: Path, wanted: str | None) -> tuple[str, Path]:
    """One version and its file; without a wish, the newest."""
    known = versions(root)
    if not known:
        raise SettingError(f"{root} has no gold: it needs a file gold/v1.ndjson.")
    name = wanted or next(reversed(known))
    if name not in known:
        raise SettingError(f"The package has no gold {name!r}. {suggestion(name, tuple(known))}")
    return name, known[name]


@dataclass(frozen=True)
class Truth:
    """What a task asks of one part of a package, and its gold."""

    package: Package
    version: str
    path: Path
    documents: tuple[str, ...]
    queries: Mapping[str, Query]
    kinds: frozenset[str]
    known: Known
    gold: tuple[GoldAnswer, ...]
    phase: Phase | None

    @property
    def capabilities(self) -> frozenset[str] | None:
        """What is in scope; None for everything."""
        return self.phase.in_scope if self.phase else None

    def asks(self, answer: Answer) -> bool:
        """Whether this task asks what an answer is about: all else is neither right nor wrong (R-24, R-30)."""
        return answer.query in self.queries and answer.document in self._documents

    @cached_property
    def _documents(self) -> frozenset[str]:
        return frozenset(self.documents)


def read_truth(root: Path, settings: Mapping[str, Any], findings: Findings) -> Truth | None:
    """The documents, queries and kinds that a task asks about, and the gold of exactly these."""
    package = read_package(root, findings)
    if package is None:
        return None
    manifest, part = package.manifest, settings["part"]
    manifest.part(part)
    phase = manifest.phase(settings["phase"]) if settings["phase"] else None
    documents = package.documents(part, findings)
    queries = {query.id: query for query in package.queries_for(part)}
    _require("query", settings["queries"], queries)
    _require("type", settings["types"], {query.type for query in queries.values()})
    _require("document", settings["documents"], documents)
    asked = {
        name: query
        for name, query in queries.items()
        if name in (settings["queries"] or queries)
        and (not settings["types"] or query.type in settings["types"])
        and (phase is None or query.in_scope(phase.in_scope))
    }
    names = tuple(sorted(settings["documents"] or documents))
    # The documents of every part, so that a name of another part is no mistake in the gold.
    parts = (one.name for one in manifest.parts if package.has(one))
    known = Known.of(package, frozenset(documents).union(*map(package.documents, parts)))
    version, path = version_path(root, settings["gold"])
    kinds = frozenset(settings["kinds"] or KINDS)
    truth = Truth(package, version, path, names, asked, kinds, known, (), phase)
    gold = tuple(one for one in read_gold(path, known, findings) if truth.asks(one.answer))
    if findings.valid and not gold_for(gold, truth.capabilities, kinds).size:
        raise SettingError(_nothing(part, version, path, known))
    return replace(truth, gold=gold)


def _require(what: str, wanted: Sequence[str] | None, known: Iterable[str]) -> None:
    """Refuse a name that nothing has: someone who mistypes one would be scored on something else."""
    names = sorted(known)
    for name in wanted or ():
        if name not in names:
            raise SettingError(f"This part has no {what} {name!r}. {suggestion(name, names)}")


def _nothing(part: str, version: str, path: Path, known: Known) -> str:
    """What is said where the gold covers nothing that is asked: a score of 0 would blame the answers for it (R-30)."""
    covered = {one.answer.document for one in read_gold(path, known, Findings())}
    about = f"It covers {len(covered)} documents of other parts or choices. " if covered else ""
    return (
        f"The gold {version} covers nothing that is asked of part {part!r}: there is nothing to score against. {about}"
        "Choose another part, gold, queries, documents or kinds, or add gold for these."
    )
