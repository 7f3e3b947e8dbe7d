"""Queries answered by statements, read from YAML files, made from an ontology, and chosen among (R-12).

Answering joins over an index, in an order that depends on nothing but the input. In files every fault is found with its
line, and names that the ontology lacks with the nearest.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Final

from basanite.errors import BasaniteError, SettingError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.builtins import OPERATIONS
from basanite.reading.ontology import Ontology, OntologyClass, Property
from basanite.reading.patterns import Bindings, Builtin, Goal, Pattern, PatternError, Variable, parse_pattern
from basanite.reading.query import Query, question
from basanite.reading.strict_yaml import LARGEST, Faults, YamlMap, YamlText, read_yaml
from basanite.reading.terms import TYPE, Iri, Node, Statement, Term
from basanite.registry import suggestion

MOST_TRIED: Final = 5_000_000
COMPARISONS: Final = {name: operation.test for name, operation in OPERATIONS.items() if operation.test is not None}
"""The built-ins that hold or do not; queries calculate nothing."""


class QueryLimitError(BasaniteError):
    """A query tries more bindings than the limit allows, so it has no answer that is known to be whole (X-13)."""


@dataclass(frozen=True)
class Answer:
    """What a query's variables stand for, and the statements that the answer rests on."""

    bindings: tuple[tuple[str, Term], ...]
    statements: tuple[Statement, ...]

    def __getitem__(self, name: str) -> Term:
        return dict(self.bindings)[name]


class StatementIndex:
    """Statements by property, and by property with subject or object."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.all = list(dict.fromkeys(statements))
        self.by_predicate: dict[Iri, list[Statement]] = {}
        self.by_subject: dict[tuple[Iri, Iri | Node], list[Statement]] = {}
        self.by_object: dict[tuple[Iri, Term], list[Statement]] = {}
        for statement in self.all:
            self.by_predicate.setdefault(statement.predicate, []).append(statement)
            self.by_subject.setdefault((statement.predicate, statement.subject), []).append(statement)
            self.by_object.setdefault((statement.predicate, statement.object), []).append(statement)

    def candidates(self, pattern: Pattern) -> Sequence[Statement]:
        """Statements that may match, from the smallest list that must hold all that do."""
        if not isinstance(pattern.predicate, Iri):
            return self.all
        lists = [self.by_predicate.get(pattern.predicate, [])]
        if isinstance(pattern.subject, Iri | Node):
            lists.append(self.by_subject.get((pattern.predicate, pattern.subject), []))
        if not isinstance(pattern.object, Variable):
            lists.append(self.by_object.get((pattern.predicate, pattern.object), []))
        return min(lists, key=len)


@dataclass
class _Search:
    """One run of a query: what is looked through, and how much may still be tried."""

    index: StatementIndex
    left: int
    query: Query

    def solve(self, goals: Sequence[Goal], bindings: dict[str, Term]) -> Iterator[dict[str, Term]]:
        """Every way to meet the goals that are left."""
        if not goals:
            yield bindings
            return
        goal = min(goals, key=lambda goal: self._cost(goal, bindings))
        others = [other for other in goals if other is not goal]
        if isinstance(goal, Builtin):
            if holds(goal, bindings):
                yield from self.solve(others, bindings)
            return
        pattern = goal.bind(bindings)
        for statement in self.index.candidates(pattern):
            self._count()
            found = match_statement(pattern, statement)
            if found is not None:
                yield from self.solve(others, {**bindings, **found})

    def _cost(self, goal: Goal, bindings: Bindings) -> int:
        """How many statements would be tried; a comparison costs nothing once its variables are bound."""
        if isinstance(goal, Builtin):
            return -1 if all(name in bindings for name in goal.variables) else len(self.index.all) + 1
        return len(self.index.candidates(goal.bind(bindings)))

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise QueryLimitError(
                f"The query {self.query.id!r} is undecided: it tries more bindings than allowed. Ask for fewer things "
                "at once, or join them by a shared variable."
            )


def answers(
    query: Query, statements: Iterable[Statement] | StatementIndex, *, most_tried: int = MOST_TRIED
) -> list[Answer]:
    """All answers of a query, each once, sorted; of several ways to find one, the statements that sort first are kept.

    >>> from basanite.reading.patterns import Prefixes, parse_pattern, parse_statement
    >>> nfl = Prefixes("urn:nfl:", {"nfl": "urn:nfl:"})
    >>> query = Query("periods", (parse_pattern("?G numberOfPeriods ?N", nfl),), select=("G", "N"))
    >>> [nfl.short(answer["N"]) for answer in answers(query, [parse_statement(["g1", "numberOfPeriods", "5"], nfl)])]
    ['5']
    """
    index = statements if isinstance(statements, StatementIndex) else StatementIndex(statements)
    search = _Search(index, most_tried, query)
    told = query.select or query.variables
    found: dict[tuple[Term, ...], Answer] = {}
    for bindings in search.solve(query.goals, {}):
        terms = tuple(bindings[name] for name in told)
        behind = tuple(dict.fromkeys(pattern.statement(bindings) for pattern in query.patterns))
        if terms not in found or _order(behind) < _order(found[terms].statements):
            found[terms] = Answer(tuple(zip(told, terms, strict=True)), behind)
    return [found[terms] for terms in sorted(found, key=_order)]


def _order(parts: Iterable[Term | Statement]) -> tuple[str, ...]:
    return tuple(map(str, parts))


def has_answer(query: Query, index: StatementIndex, *, most_tried: int = MOST_TRIED) -> bool:
    """Whether a query has any answer; looks no further than the first."""
    return next(_Search(index, most_tried, query).solve(query.goals, {}), None) is not None


def match_statement(pattern: Pattern, statement: Statement) -> dict[str, Term] | None:
    """What the variables of a pattern stand for if it is this statement; nothing if it isn't."""
    found: dict[str, Term] = {}
    for wanted, term in zip(pattern.terms, (statement.subject, statement.predicate, statement.object), strict=True):
        if isinstance(wanted, Variable):
            if found.setdefault(wanted.name, term) != term:
                return None
        elif wanted != term:
            return None
    return found


def holds(builtin: Builtin, bindings: Bindings) -> bool:
    """Whether a comparison holds: values by their worth, things by their name; what cannot be compared never does."""
    terms = [bindings[term.name] if isinstance(term, Variable) else term for term in builtin.arguments]
    return COMPARISONS[builtin.name](terms)


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
            self.faults.add(entry.line, f"the query {name!r} appears twice", f"rename it; see line {self.taken[name]}")
            return
        self.taken[name] = entry.line
        lines = self.faults.texts(entry, "find")
        goals = tuple(goal for line in lines for goal in self._goal(line))
        if not lines:
            self.faults.add(entry.line, f"the query {name!r} finds nothing", 'write find: ["?G type NFLGame"]')
        if name and lines and len(goals) == len(lines):
            yield self._complete_query(entry, Query(name, goals, file=self.file, line=entry.line))

    def _complete_query(self, entry: YamlMap, query: Query) -> Query:
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
                self.faults.add(text.line, f"{text.text} is not a variable of the triples", near, found=text.text)
        return tuple(text.text.removeprefix("?") for text in told) or query.variables

    def _check_comparisons(self, entry: YamlMap, query: Query) -> None:
        for builtin in query.builtins:
            if builtin.name not in COMPARISONS or len(builtin.arguments) != 2:
                fix = suggestion(builtin.name, tuple(COMPARISONS))
                self.faults.add(entry.line, f"mrq:{builtin.name} is not a comparison of two terms", fix)
            for name in builtin.variables:
                if name not in query.variables:
                    fix = "use it in a triple as well"
                    self.faults.add(entry.line, f"?{name} is only used in a comparison", fix)

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
                self.faults.add(line.line, f"{short(pattern.object)} is not a class of the ontology", near)
        elif not isinstance(predicate, Variable) and predicate not in self.ontology.properties and predicate != TYPE:
            near = suggestion(short(predicate), [short(iri) for iri in self.ontology.properties])
            self.faults.add(line.line, f"{short(predicate)} is not a property of the ontology", near)


X, Y, Z = Variable("x"), Variable("y"), Variable("z")


@dataclass(frozen=True)
class Choice:
    """Which queries are wanted; what is left empty does not restrict."""

    types: frozenset[str] = frozenset()
    classes: frozenset[Iri] = frozenset()
    capabilities: frozenset[str] | None = None
    sample: int | None = None
    seed: int = 0


def all_queries(ontology: Ontology) -> list[Query]:
    """Every query of one or two steps, in a stable order: classes, properties, chains, forks."""
    asked = sorted((c for c in ontology.classes.values() if c.mark != "query-only"), key=lambda c: c.iri)
    owned = [p for p in ontology.properties.values() if p.mark != "query-only" and p.domain in ontology.classes]
    properties = sorted(owned, key=lambda p: p.iri)
    single = (Query(f"property/{one.name}", (*_kind(one), Pattern(X, one.iri, Y)), "property") for one in properties)
    made = (*_classes(asked), *single, *_chains(ontology, properties), *_forks(properties))
    return [_with_question(query, ontology) for query in made]


def choose(queries: Iterable[Query], choice: Choice, ontology: Ontology) -> list[Query]:
    """The queries that are wanted, in their order; a sample depends on the seed and nothing else."""
    kept = [query for query in queries if _is_chosen(query, choice, ontology)]
    if choice.sample is None or choice.sample >= len(kept):
        return kept
    drawn = sorted(random.Random(choice.seed).sample(range(len(kept)), choice.sample))
    return [kept[place] for place in drawn]


def answerable(queries: Sequence[Query], documents: Iterable[Sequence[Statement]], ontology: Ontology) -> list[Query]:
    """The queries that have an answer in at least one document; a thing is also what its class lies below."""
    open_ = {query.id: query for query in queries}
    for statements in documents:
        index = StatementIndex((*statements, *ontology.supertypes(statements)))
        for query in [query for query in open_.values() if has_answer(query, index)]:
            del open_[query.id]
        if not open_:
            break
    return [query for query in queries if query.id not in open_]


def class_named(name: str, ontology: Ontology) -> Iri:
    """The class of a short or full name; an unknown one is answered with the nearest."""
    known: Mapping[str, Iri] = {
        written: iri
        for iri, found in ontology.classes.items()
        for written in (found.name, ontology.prefixes.short(iri), iri.value)
    }
    if name not in known:
        plain = [found.name for found in ontology.classes.values()]
        raise SettingError(f"The ontology has no class {name!r}. {suggestion(name, plain)}")
    return known[name]


def _is_chosen(query: Query, choice: Choice, ontology: Ontology) -> bool:
    of_type = not choice.types or query.type in choice.types
    in_scope = choice.capabilities is None or query.in_scope(choice.capabilities)
    about = not choice.classes or any(
        ontology.is_a(mine, wanted) for mine in query.classes(ontology) for wanted in choice.classes
    )
    return of_type and in_scope and about


def _with_question(query: Query, ontology: Ontology) -> Query:
    tags = frozenset(tag for element in query.elements(ontology) for tag in element.capabilities)
    tagged = replace(query, capabilities=tags, select=query.variables)
    return replace(tagged, question=question(tagged, ontology))


def _classes(found: Iterable[OntologyClass]) -> Iterator[Query]:
    for one in found:
        yield Query(f"class/{one.name}", (Pattern(X, TYPE, one.iri),), "class")


def _chains(ontology: Ontology, properties: Sequence[Property]) -> Iterator[Query]:
    """Along a relation to a property of what it leads to."""
    for first in properties:
        for second in properties if first.range in ontology.classes else ():
            leads_to, owner = first.range, second.domain
            if leads_to and owner and (ontology.is_a(leads_to, owner) or ontology.is_a(owner, leads_to)):
                goals = (*_kind(first), Pattern(X, first.iri, Y), Pattern(Y, second.iri, Z))
                yield Query(f"chain/{first.name}/{second.name}", goals, "chain")


def _forks(properties: Sequence[Property]) -> Iterator[Query]:
    """Two properties of one thing."""
    for first, second in combinations(properties, 2):
        if first.domain == second.domain:
            goals = (*_kind(first), Pattern(X, first.iri, Y), Pattern(X, second.iri, Z))
            yield Query(f"fork/{first.name}/{second.name}", goals, "fork")


def _kind(property_: Property) -> Iterator[Pattern]:
    if property_.domain is not None:
        yield Pattern(X, TYPE, property_.domain)
