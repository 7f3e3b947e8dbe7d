"""Reading tasks: documents, queries and annotated examples as one RDF graph that is written as it is made (R-12, R-23).

The name of a task is a hash of all it holds, so it is known before the first line is written, and the same choice from
the same package is the same task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Final, Literal

from basanite.canonical import canonical_digest
from basanite.errors import SettingError
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.documents import Document
from basanite.reading.package.model import ONTOLOGY, Package
from basanite.reading.prov_rdf import assertion_rows, document_node, document_rows
from basanite.reading.queries import Choice, all_queries, answerable, choose
from basanite.reading.query import GENERATED_TYPES, Query, sparql
from basanite.reading.rdf import Graphed, write_rdf
from basanite.reading.terms import QUERY, TASK, TS, TYPE, Iri, Statement, names
from basanite.reading.terms import Literal as Value
from basanite.registry import suggestion

Source = Literal["all", "package", "generated"]
BLOCK: Final = 2**20
READING_TASK, QUERY_CLASS, PACKAGE, VERSION, PART, PHASE = names(
    TS, "ReadingTask", "Query", "package", "version", "part", "phase"
)
ASKS, READS, NAME, KIND, TAG, QUESTION, FIND, SPARQL, ONTOLOGY_HASH = names(
    TS, "query", "document", "name", "type", "capability", "question", "find", "sparql", "ontology"
)


@dataclass(frozen=True)
class TaskSpec:
    """What a reading task should hold."""

    part: str
    choice: Choice = field(default_factory=Choice)
    phase: str = ""
    source: Source = "all"
    unanswered: bool = False
    """Also keep queries without an answer in the annotations."""
    texts: bool = True
    annotations: bool = True


@dataclass(frozen=True)
class ReadingTask:
    """The documents and queries of one task, and what is shown of them."""

    package: Package
    spec: TaskSpec
    documents: dict[str, Document]
    queries: tuple[Query, ...]

    @cached_property
    def id(self) -> str:
        """The hash of everything that the graph holds."""
        manifest, root = self.package.manifest, self.package.root
        prefixes = manifest.prefixes
        shown = self.shows_annotations
        parts = {
            "package": [manifest.name, manifest.version, self.spec.part, self.spec.phase],
            "ontology": _hash(root / ONTOLOGY),
            "documents": [[name, document.sha256] for name, document in sorted(self.documents.items())],
            "queries": [[q.id, q.type, q.lines(prefixes), sorted(q.capabilities), q.question] for q in self.queries],
            "annotations": _hash(annotation_path(root, self.spec.part)) if shown else "",
            "texts": self.spec.texts,
        }
        return canonical_digest(parts)

    @property
    def shows_annotations(self) -> bool:
        """Whether annotated examples go with it; those of a sealed part never do."""
        has_some = annotation_path(self.package.root, self.spec.part).is_file()
        return has_some and self.spec.annotations and not self.package.manifest.part(self.spec.part).sealed

    @property
    def node(self) -> Iri:
        """The name of the task in its graph."""
        return Iri(TASK + self.id)

    def rows(self) -> Iterator[Graphed]:
        """The whole graph, as it comes: the task, its queries, its documents, and the annotated examples."""
        yield from map(Graphed, self._head())
        for query in self.queries:
            yield from map(Graphed, self._query(query))
        for document in self.documents.values():
            yield Graphed(Statement(self.node, READS, document_node(document.name)))
            yield from map(Graphed, document_rows(document, text=self.spec.texts))
        if self.shows_annotations:
            for assertion in self.package.assertions(self.spec.part, self.documents):
                yield from assertion_rows(assertion)

    def write(self, out: IO[bytes], format_: str) -> None:
        """Write the graph; memory does not grow with the number of annotations."""
        write_rdf(self.rows(), out, format_, prefixes=self.package.manifest.prefixes.all)

    def _head(self) -> Iterator[Statement]:
        manifest = self.package.manifest
        yield Statement(self.node, TYPE, READING_TASK)
        yield Statement(self.node, PACKAGE, Value(manifest.name))
        yield Statement(self.node, VERSION, Value(manifest.version))
        yield Statement(self.node, PART, Value(self.spec.part))
        yield Statement(self.node, ONTOLOGY_HASH, Value(_hash(self.package.root / ONTOLOGY)))
        if self.spec.phase:
            yield Statement(self.node, PHASE, Value(self.spec.phase))

    def _query(self, query: Query) -> Iterator[Statement]:
        prefixes = self.package.manifest.prefixes
        lines = "\n".join(query.lines(prefixes))
        node = Iri(QUERY + hashlib.sha256(f"{query.id}\n{lines}".encode()).hexdigest())
        yield Statement(self.node, ASKS, node)
        yield Statement(node, TYPE, QUERY_CLASS)
        yield Statement(node, NAME, Value(query.id))
        yield Statement(node, KIND, Value(query.type))
        yield from (Statement(node, TAG, Value(tag)) for tag in sorted(query.capabilities))
        yield Statement(node, QUESTION, Value(query.question))
        yield Statement(node, FIND, Value(lines))
        yield Statement(node, SPARQL, Value(sparql(query, prefixes)))


def make_task(package: Package, spec: TaskSpec) -> ReadingTask:
    """The task that a choice from a package makes."""
    part = package.manifest.part(spec.part)
    if not package.has(part):
        raise SettingError(f"Part {part.name} is sealed and not in this copy of the package. Choose an open part.")
    known = {*GENERATED_TYPES, *(query.type for query in package.queries)}
    for name in sorted(spec.choice.types - known):
        raise SettingError(f"No query is of the type {name!r}. {suggestion(name, sorted(known))}")
    documents = package.documents(part.name)
    scope = package.manifest.phase(spec.phase).in_scope if spec.phase else spec.choice.capabilities
    wanted = replace(spec.choice, capabilities=scope, sample=None)
    candidates = choose(_candidates(package, spec), wanted, package.ontology)
    if not spec.unanswered and annotation_path(package.root, part.name).is_file():
        statements = (said for _, said in package.statements(part.name, documents))
        candidates = answerable(candidates, statements, package.ontology)
    sampled = choose(candidates, Choice(sample=spec.choice.sample, seed=spec.choice.seed), package.ontology)
    return ReadingTask(package, spec, documents, tuple(sampled))


def _candidates(package: Package, spec: TaskSpec) -> list[Query]:
    """Queries of the package first, then generated ones that none of them asks already."""
    own = list(package.queries_for(spec.part)) if spec.source != "generated" else []
    made = all_queries(package.ontology) if spec.source != "package" else []
    asked = {frozenset(_shape(query)) for query in own}
    return own + [query for query in made if frozenset(_shape(query)) not in asked]


def _shape(query: Query) -> list[str]:
    """The goals of a query with its variables numbered, so that the same question is known by any names."""
    numbers = {name: str(number) for number, name in enumerate(query.variables)}
    found = []
    for goal in query.goals:
        words = [f"?{numbers.get(word[1:], word)}" if word.startswith("?") else word for word in str(goal).split(" ")]
        found.append(" ".join(words))
    return found


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
