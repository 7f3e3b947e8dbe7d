"""A sitting with the reasoner: rules, ontology and statements read from files, checked, and reasoned through once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from basanite.errors import InvalidInputError, SettingError, UnknownNameError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.limits import Limits
from basanite.reading.ontology import read_ontology
from basanite.reading.package.checks import rule_files
from basanite.reading.package.manifest import CAPABILITIES, FILE, read_manifest
from basanite.reading.package.model import ONTOLOGY, require_package
from basanite.reading.patterns import Builtin, Goal, PatternError, Prefixes, parse_pattern
from basanite.reading.queries.file import read_queries
from basanite.reading.queries.model import Query
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.given import GRAPHS, Given, read_statements
from basanite.reading.reasoner.inference import Inference, Reasoner
from basanite.reading.rules.checks import check_query, check_rules
from basanite.reading.rules.files import read_all_rules
from basanite.reading.rules.sexpr_rules import parse_graph
from basanite.reading.terms import Statement

LARGEST_QUERY = 2**20
QUERIES = (".yaml", ".yml")
LONGEST_NAME = 200
"""Characters of a text that may be the name of a file."""


@dataclass(frozen=True)
class Choice:
    """Which files to reason with, and which part of them."""

    rules: Sequence[Path]
    statements: Path
    ontology: Path | None = None
    document: str | None = None
    explicit: bool = False


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
        """The triples of a query, from a file or as they were typed; problems raise."""
        findings = Findings()
        if (path := _path(text)) is not None and path.suffix.lower() in QUERIES:
            raise SettingError(f"{path} is a file of queries: `reading answer` takes it. Here, write triples.")
        typed = _file_text(text) or text
        goals = _goals(typed, self.prefixes, findings)
        if findings.valid:
            check_query(goals, findings)
        if not findings.valid:
            raise InvalidInputError("reading", findings)
        return goals

    def queries(self, text: str) -> tuple[Query, ...]:
        """The queries of a file, which is held against the ontology, or one query as it was typed."""
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
                raise PatternError("a comparison is no statement", "write subject, property and object")
            return goal.statement({})
        except PatternError as error:
            findings = Findings()
            findings.add(Problem("R-9", "--statement", None, None, error.message, error.fix, column=error.column))
            raise InvalidInputError("reading", findings) from error


def open_session(choice: Choice, findings: Findings, *, limits: Limits) -> Session | None:
    """Read and check everything; nothing if there are problems."""
    paths = tuple(path for given in choice.rules for path in _rule_paths(given))
    rules = read_all_rules(paths, findings, prefixes=_package_prefixes(choice, findings), limits=limits)
    path = choice.ontology or next((one / ONTOLOGY for one in choice.rules if one.is_dir()), None)
    ontology = read_ontology(path, rules.prefixes, findings) if path else None
    if findings.valid:
        check_rules(rules, ontology, findings)
    given = read_statements(
        choice.statements, rules.prefixes, findings, document=choice.document, explicit=choice.explicit
    )
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
    given = (*choice.rules, *([choice.ontology] if choice.ontology else []), choice.statements)
    folders = (folder for path in given for folder in (path, *path.absolute().parents[:2]))
    root = next((folder for folder in folders if (folder / FILE).is_file()), None)
    manifest = read_manifest(root, findings) if root else None
    return manifest.prefixes if manifest else None


def _goals(text: str, prefixes: Prefixes, findings: Findings) -> tuple[Goal, ...]:
    """Bracketed triples, or one a line."""
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
        raise UnreadableError(f"{text} is no file. Check the path, or write the triples themselves.")
    return path if path.is_file() else None


def _file_text(text: str) -> str:
    path = _path(text)
    return read_bounded(path, LARGEST_QUERY).decode("utf-8", "replace") if path else ""
