"""A run against the gold: the same code as `basanite score reading`, the same bytes (R-19, S-21)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from basanite.campaign.answering.inside.deriving import WHY
from basanite.campaign.answering.inside.desk import Desk, package_rules
from basanite.campaign.answering.inside.golding import lay_gold
from basanite.interface import Work
from basanite.reading.gold.deriving import Book
from basanite.reading.gold.versions import versions
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.model import Package
from basanite.reading.provenance import Assertion
from basanite.reading.queries.generation import all_queries
from basanite.reading.queries.model import Query
from basanite.reading.reasoner.inference import Reasoner
from basanite.reports.formats import json_output
from basanite.tasks import Inputs


def score(desk: Desk) -> None:
    """Score the answers of a run against one version of the gold; write `result.json`."""
    root = desk.root()
    lay_gold(desk, root)
    package = desk.package(root)
    generated = [query for query in all_queries(package.ontology) if query.id in set(desk.data["generated"])]
    if generated:
        add_queries(package, generated, desk.data["part"])
    settings = {"part": desk.data["part"], "queries": ",".join(desk.data["queries"])}
    settings |= {"gold": desk.data["gold"]} if desk.data["gold"] else {}
    work = Work("reading", settings | desk.data["settings"], draws=desk.data["draws"], seed=desk.data["seed"])
    human = desk.files.get("human")
    inputs = Inputs(desk.files["answers"], None, None, None, (), None, human).against([root])
    analysis = work.analysis(inputs, system=desk.data["system"])
    desk.write("result.json", json_output.score_object(analysis))


def add_queries(package: Package, queries: Sequence[Query], part: str) -> None:
    """Let generated queries be asked, and add to each version of the gold what annotations say to them (R-12, R-17)."""
    entries = [_entry(query, package) for query in queries]
    text = json.dumps({"format": "basanite-queries/1", "queries": entries}, ensure_ascii=True)
    (package.root / "queries" / "zz-generated.yaml").write_text(text, encoding="utf-8")
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _derived(package, queries, part))
    for path in versions(package.root).values():
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)


def _entry(query: Query, package: Package) -> dict[str, Any]:
    return {
        "query": query.id,
        "type": query.type,
        "question": query.question or query.id,
        "find": query.lines(package.manifest.prefixes),
        "select": [f"?{name}" for name in query.select or query.variables],
    }


def _derived(package: Package, queries: Sequence[Query], part: str) -> Iterator[dict[str, Any]]:
    if not annotation_path(package.root, part).is_file():
        return
    documents = package.documents(part)
    reasoner = Reasoner(package_rules(package), package.ontology)
    said: dict[str, list[Assertion]] = {}
    for assertion in package.assertions(part, documents):
        said.setdefault(assertion.document, []).append(assertion)
    for name, found in sorted(said.items()):
        book = Book(reasoner, found)
        for query in queries:
            yield from book.lines(query, name, WHY)
