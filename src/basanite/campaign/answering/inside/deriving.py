"""Gold that annotations and rules lead to, for parts that a package has no gold for: practice needs something to score.

Answers derived by the reasoner from annotated statements are gold (R-17).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from basanite.campaign.answering.inside.desk import package_rules
from basanite.problems import Findings
from basanite.reading.gold.deriving import Book
from basanite.reading.gold.versions import versions
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.model import Package
from basanite.reading.package.ndjson import LineFaults, records
from basanite.reading.provenance import Assertion
from basanite.reading.reasoner.inference import Reasoner

WHY: Final = {"by": "reasoner", "when": "1970-01-01", "why": "derived from annotated statements"}


def add_derived_gold(package: Package, parts: Sequence[str]) -> None:
    """Add to every version of the gold the answers of parts that it says nothing about; v1 is made if there is none."""
    known = versions(package.root) or {"v1": package.root / "gold" / "v1.ndjson"}
    for path in known.values():
        path.parent.mkdir(exist_ok=True)
        path.touch()
        spoken = _documents_in(path)
        silent = [part for part in parts if _annotated(package, part) and not spoken & _names(package, part)]
        lines = [json.dumps(one, ensure_ascii=False) for part in silent for one in derived(package, part)]
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))


def derived(package: Package, part: str) -> Iterator[dict[str, Any]]:
    """The answers of a part's annotations, document by document, as lines of gold."""
    documents = package.documents(part)
    reasoner = Reasoner(package_rules(package), package.ontology)
    by_document: dict[str, list[Assertion]] = {}
    for assertion in package.assertions(part, documents):
        by_document.setdefault(assertion.document, []).append(assertion)
    for name, said in sorted(by_document.items()):
        book = Book(reasoner, said)
        for query in package.queries_for(part):
            yield from book.lines(query, name, WHY)


def _documents_in(path: Path) -> set[str]:
    faults = LineFaults(path.name, "R-17", Findings())
    return {str(record.get("document")) for _, record in records(path, faults)}


def _names(package: Package, part: str) -> set[str]:
    return set(package.documents(part))


def _annotated(package: Package, part: str) -> bool:
    return annotation_path(package.root, part).is_file()
