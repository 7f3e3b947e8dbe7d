"""A sitting with the reasoner: rules, ontology and statements read from files, checked, and reasoned through once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from basanite.errors import InvalidInputError, SettingError, UnknownNameError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.limits import Limits
from basanite.reading.ontology_file import read_ontology
from basanite.reading.package.checks import rule_files
from basanite.reading.package.manifest import CAPABILITIES, FILE, read_manifest
from basanite.reading.package.model import ONTOLOGY, require_package
from basanite.reading.patterns import Builtin, Goal, PatternError, Prefixes, parse_pattern
from basanite.reading.queries import read_queries
from basanite.reading.query import Query
from basanite.reading.rdf import Names, checked_base
from basanite.reading.reasoner.answers import Answered, answer
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.given import GRAPHS, Given, read_statements
from basanite.reading.reasoner.inference import Inference, Reasoner
from basanite.reading.rules.checks import check_query, check_rules
from basanite.reading.rules.files import read_all_rules
from basanite.reading.rules.sexpr_rules import parse_graph
from basanite.reading.rules.tree import short
from basanite.reading.terms import Literal, Statement

LARGEST_QUERY = 2**20
QUERIES = (".yaml", ".yml")
LONGEST_NAME = 200
"""Characters of a text that may be the name of a file."""


@dataclass(frozen=True)
class Choice:
    """Which files to reason with, and which part of them."""

    rules: Sequence[Path]
    statements: Path | None
    ontology: Path | None = None
    document: str | None = None
    explicit: bool = False
    base: str | None = None
    """What relative names of RDF files are resolved against."""


@dataclass
class Session:
    """What was read, and what follows from it."""

    reasoner: Reasoner
    given: Given
    capabilities: frozenset[str] = field(default=CAPABILITIES)

    @property
    def prefixes(self) -> Prefixes:
        """The short names of the rules."""
        return self.reasoner.rules.prefixes

    @cached_property
    def inference(self) -> Inference:
        """What follows."""
        return self.reasoner.infer(self.given.statements)

    @cached_property
    def explainer(self) -> Explainer:
        """Why it follows."""
        return Explainer(self.inference)

    def query(self, text: str) -> tuple[Goal, ...]:
        """The triples of a query, from a file or as typed; raises an error if it has problems."""
        findings = Findings()
        if (path := _path(text)) is not None and path.suffix.lower() in QUERIES:
            raise SettingError(f"{path} is a file of queries: `reading answer` takes it. Here, write triples.")
        typed = (read_bounded(path, LARGEST_QUERY).decode("utf-8", "replace") if path else "") or text
        goals = _goals(typed, self.prefixes, findings)
        if findings.valid:
            check_query(goals, findings)
        if not findings.valid:
            raise InvalidInputError("reading", findings)
        return goals

    def queries(self, text: str) -> tuple[Query, ...]:
        """The queries of a file, checked against the ontology, or one query as it was typed."""
        path = _path(text)
        if path is None or path.suffix.lower() not in QUERIES:
            return (Query("query", self.query(text)),)
        if self.reasoner.ontology is None:
            raise SettingError(f"{path} is a file of queries, which are held against an ontology: give --ontology.")
        findings = Findings()
        found = read_queries(path, self.reasoner.ontology, self.capabilities, findings)
        if not findings.valid:
            raise InvalidInputError("reading", findings)
        return found

    def statement(self, text: str) -> Statement:
        """A statement as it was typed; problems raise."""
        try:
            goal = parse_pattern(text, self.prefixes)
            if isinstance(goal, Builtin):
                raise PatternError("a comparison is not a statement", "write subject, property and object")
            return goal.statement({})
        except PatternError as error:
            findings = Findings()
            findings.add(Problem("R-9", "--statement", None, None, error.message, error.fix, column=error.column))
            raise InvalidInputError("reading", findings) from error


def open_session(choice: Choice, findings: Findings, *, limits: Limits) -> Session | None:
    """Read and check everything; nothing if there are problems."""
    paths = tuple(path for given in choice.rules for path in _rule_paths(given))
    rules = read_all_rules(paths, findings, prefixes=_package_prefixes(choice, findings), limits=limits)
    names = Names(checked_base(choice.base) if choice.base else None)
    inside = next((one / ONTOLOGY for one in choice.rules if one.is_dir()), None)
    path = choice.ontology or inside
    may_be_open = choice.ontology is not None
    ontology = read_ontology(path, rules.prefixes, findings, names=names, may_be_open=may_be_open) if path else None
    if findings.valid:
        check_rules(rules, ontology, findings)
    given = Given()
    if choice.statements is not None:
        path, prefixes, document, explicit = choice.statements, rules.prefixes, choice.document, choice.explicit
        given = read_statements(path, prefixes, findings, document=document, explicit=explicit, names=names)
    rules = replace(rules, prefixes=rules.prefixes.with_names(names.prefixes))
    if choice.document is not None and findings.valid and not given.statements:
        raise UnknownNameError(f"{choice.statements} has no statements of the document {choice.document!r}.")
    return Session(Reasoner(rules, ontology, limits), given) if findings.valid else None


def _rule_paths(given: Path) -> Sequence[Path]:
    """A file of rules, or those of a package."""
    if not given.is_dir():
        return (given,)
    require_package(given)
    return rule_files(given)


def _package_prefixes(choice: Choice, findings: Findings) -> Prefixes | None:
    """The short names of the package that the rules lie in, or else the ontology or the statements (R-32)."""
    given = (*choice.rules, *(path for path in (choice.ontology, choice.statements) if path is not None))
    folders = (folder for path in given for folder in (path, *path.absolute().parents[:2]))
    root = next((folder for folder in folders if (folder / FILE).is_file()), None)
    manifest = read_manifest(root, findings) if root else None
    return manifest.prefixes if manifest else None


def _goals(text: str, prefixes: Prefixes, findings: Findings) -> tuple[Goal, ...]:
    """Bracketed triples, or one per line."""
    if "(" in text:
        return parse_graph(text, "--query", findings, prefixes)
    goals = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        try:
            goals.append(parse_pattern(line, prefixes))
        except PatternError as error:
            findings.add(Problem("R-12", "--query", number, None, error.message, error.fix, column=error.column))
    return tuple(goals)


def _path(text: str) -> Path | None:
    if len(text) > LONGEST_NAME or "?" in text or "\n" in text or "\0" in text:
        return None
    path = Path(text)
    if path.suffix.lower() in (*QUERIES, *GRAPHS) and not path.is_file():
        raise UnreadableError(f"{text} is not a file. Check the path, or write the triples themselves.")
    return path if path.is_file() else None


def answered_rows(session: Session, queries: Sequence[Query]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The answers of all queries in every document, and what stayed undecided."""
    rows: list[dict[str, Any]] = []
    undecided: list[dict[str, Any]] = []
    for document, statements in by_document(session.given):
        inference = session.reasoner.infer(statements)
        explainer = Explainer(inference)
        for query in queries:
            found = answer(inference, query.goals, select=query.select, explainer=explainer)
            undecided += [{**one.as_dict(), "query": query.id, "document": document} for one in found.undecided]
            rows += [_row(query.id, document, one, explainer, session) for one in found.answers]
    return rows, undecided


def by_document(given: Given) -> Iterator[tuple[str, list[Statement]]]:
    """The statements of each document; those of none go together."""
    groups: dict[str, list[Statement]] = {}
    for statement in given.statements:
        groups.setdefault(given.documents.get(statement, ""), []).append(statement)
    yield from sorted(groups.items())


def _row(query: str, document: str, one: Answered, explainer: Explainer, session: Session) -> dict[str, Any]:
    row: dict[str, Any] = {
        "query": query,
        "document": document,
        "answer": {
            f"?{name}": term.lexical if isinstance(term, Literal) else [short(term, session.prefixes)]
            for name, term in one.bindings
        },
        "kind": one.kind,
        "provenance": list(_provenance(one, explainer, session.given)),
    }
    return row if one.probability is None else {**row, "probability": one.probability}


def _provenance(one: Answered, explainer: Explainer, given: Given) -> Iterator[dict[str, Any]]:
    """The words that the given statements behind an answer rest on."""
    facts = (explainer.inference.fact(statement) for statement in one.statements)
    for statement in explainer.inputs(fact for fact in facts if fact is not None):
        for mention in given.mentions.get(statement, ()):
            for span in mention.spans:
                yield {"document": mention.document, "start": span.start, "end": span.end, "exact": span.exact}


def ndjson(rows: Iterable[dict[str, Any]]) -> bytes:
    """Rows as one JSON object per line."""
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows).encode()
