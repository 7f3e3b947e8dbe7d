"""Queries from YAML files: every fault is found with its line, and names that the ontology lacks with the nearest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.ontology.model import Ontology
from basanite.reading.patterns import Goal, Pattern, PatternError, Variable, parse_pattern
from basanite.reading.queries.evaluation import COMPARISONS
from basanite.reading.queries.model import Query
from basanite.reading.queries.wording import question
from basanite.reading.strict_yaml import LARGEST, Faults, YamlMap, YamlText, read_yaml
from basanite.reading.terms import Iri
from basanite.reading.vocabulary import TYPE
from basanite.registry import suggestion

FORMAT: Final = "basanite-queries/1"
RULE: Final = "R-12"
KEYS: Final = frozenset({"query", "type", "capabilities", "question", "find", "select"})


def read_queries(path: Path, ontology: Ontology, capabilities: frozenset[str], findings: Findings) -> tuple[Query, ...]:
    """The queries of a file; those that cannot be read are left out, with their problems."""
    faults = Faults(f"{path.parent.name}/{path.name}", RULE, findings)
    before = findings.counts.total()
    document = read_yaml(read_bounded(path, LARGEST), faults)
    if not isinstance(document, YamlMap) or faults.text(document, "format") != FORMAT:
        if findings.counts.total() == before:
            faults.add(1, f"the file does not say format: {FORMAT}", f"write format: {FORMAT} first")
        return ()
    faults.unknown_keys(document, frozenset({"format", "queries"}))
    reader = _Reader(path.name, faults, ontology, capabilities)
    return tuple(query for entry in faults.maps(document, "queries") for query in reader.query(entry))


class _Reader:
    """What entries of a file are read with, and the names that are taken."""

    def __init__(self, file: str, faults: Faults, ontology: Ontology, capabilities: frozenset[str]) -> None:
        self.file, self.faults, self.ontology, self.capabilities = file, faults, ontology, capabilities
        self.taken: dict[str, int] = {}

    def query(self, entry: YamlMap) -> Iterator[Query]:
        """The query of an entry, if it has everything it needs."""
        self.faults.unknown_keys(entry, KEYS)
        name = self.faults.text(entry, "query", needed=True)
        if name in self.taken:
            self.faults.add(entry.line, f"the query {name!r} stands twice", f"rename it; see line {self.taken[name]}")
            return
        self.taken[name] = entry.line
        lines = self.faults.texts(entry, "find")
        goals = tuple(goal for line in lines for goal in self._goal(line))
        if not lines:
            self.faults.add(entry.line, f"the query {name!r} finds nothing", 'write find: ["?G type NFLGame"]')
        if name and lines and len(goals) == len(lines):
            yield self._completed(entry, Query(name, goals, file=self.file, line=entry.line))

    def _completed(self, entry: YamlMap, query: Query) -> Query:
        own = frozenset(tag.text for tag in self.faults.texts(entry, "capabilities"))
        for tag in sorted(own - self.capabilities):
            fix = f"{suggestion(tag, sorted(self.capabilities))} Or add it to `capabilities` in package.toml."
            self.faults.add(entry.lines["capabilities"], f"the capability {tag!r} is not known", fix, rule="R-24")
        derived = frozenset(tag for element in query.elements(self.ontology) for tag in element.capabilities)
        kind = self.faults.text(entry, "type") or "property"
        told = self._select(entry, query)
        made = replace(
            query,
            type=kind,
            select=told,
            capabilities=own | derived,
            question=self.faults.text(entry, "question"),
        )
        worded = replace(made, question=question(made, self.ontology))
        if not worded.question and all(self.ontology.element(iri) for iri in query.names()):
            fix = "write question: … ; the templates cannot word it"
            self.faults.add(entry.line, f"the query {query.id!r} has no question for people", fix)
        self._check_comparisons(entry, worded)
        return worded

    def _select(self, entry: YamlMap, query: Query) -> tuple[str, ...]:
        told = self.faults.texts(entry, "select")
        for text in told:
            if text.text.removeprefix("?") not in query.variables:
                near = suggestion(text.text, [f"?{name}" for name in query.variables])
                self.faults.add(text.line, f"{text.text} is no variable of the triples", near, found=text.text)
        return tuple(text.text.removeprefix("?") for text in told) or query.variables

    def _check_comparisons(self, entry: YamlMap, query: Query) -> None:
        for builtin in query.builtins:
            if builtin.name not in COMPARISONS or len(builtin.arguments) != 2:
                fix = suggestion(builtin.name, tuple(COMPARISONS))
                self.faults.add(entry.line, f"mrq:{builtin.name} is no comparison of two terms", fix)
            for name in builtin.variables:
                if name not in query.variables:
                    fix = "let it stand in a triple as well"
                    self.faults.add(entry.line, f"?{name} stands in a comparison only", fix)

    def _goal(self, line: YamlText) -> Iterator[Goal]:
        try:
            goal = parse_pattern(line.text, self.ontology.prefixes)
        except PatternError as error:
            self.faults.add(line.line, f"{line.text[:60]!r}: {error.message}", error.fix, found=line.text)
            return
        if isinstance(goal, Pattern):
            self._check_names(line, goal)
        yield goal

    def _check_names(self, line: YamlText, pattern: Pattern) -> None:
        predicate, short = pattern.predicate, self.ontology.prefixes.short
        if predicate == TYPE and isinstance(pattern.object, Iri):
            if pattern.object not in self.ontology.classes:
                near = suggestion(short(pattern.object), [short(iri) for iri in self.ontology.classes])
                self.faults.add(line.line, f"{short(pattern.object)} is no class of the ontology", near)
        elif not isinstance(predicate, Variable) and predicate not in self.ontology.properties and predicate != TYPE:
            near = suggestion(short(predicate), [short(iri) for iri in self.ontology.properties])
            self.faults.add(line.line, f"{short(predicate)} is no property of the ontology", near)
