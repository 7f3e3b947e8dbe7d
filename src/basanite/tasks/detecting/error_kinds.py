"""Kinds of non-target: what is right and what is wrong about a document that should not have been returned (M86).

A query asks for a string in a domain. A domain key says which documents belong to each domain; a string key says where
the query's string alone is relevant. What follows from either is used where the other is not there. Conversational
speech has no domain and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.mistakes import NonTargets
from basanite.errors import SettingError
from basanite.formats.archives.archive import open_source
from basanite.formats.packs.domains import shipped_domains
from basanite.formats.retrieval.detection_key import Key, read_key_set
from basanite.formats.retrieval.documents import Documents
from basanite.problems import Findings
from basanite.tasks.detecting.queries import QueryRun

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
            raise SettingError(f"{option} names none of the documents of the reference. Is it the key of another set?")
    if kinds.domains is not None and not any(code in kinds.domains.key.queries for code in kinds.domain_of.values()):
        known = ", ".join(kinds.domains.key.queries[:8])
        raise SettingError(
            f"No query has a domain that --domains knows ({known}). Give --queries, or --metadata with a column domain."
        )
    if kinds.strings is not None and not set(kinds.strings.key.queries) & set(run.key.queries):
        raise SettingError("--strings names none of the queries of the reference. Is it the key of another set?")


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
