"""A baseline reader for any package: `reader.yaml` says which words of a text mean which statements (R-37).

Each pattern is a regular expression with named groups, and triples in which the groups stand as variables. Matches of
all patterns are read in the order of the text, so that a later one can speak of the last thing of an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.gold.derivation import Book
from basanite.reading.gold.written_values import TEXTS, written_value
from basanite.reading.ontology import THING
from basanite.reading.package.checks import package_rules
from basanite.reading.package.documents import Document
from basanite.reading.package.model import Package
from basanite.reading.patterns import Pattern, PatternError, Variable, parse_pattern
from basanite.reading.provenance import KINDS, Assertion, Kind, Role, Span, document_statement, span_at
from basanite.reading.query import Query
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.strict_yaml import LARGEST, Faults, YamlMap, YamlText, read_yaml
from basanite.reading.terms import TYPE, XSD, Iri, Literal, Node, Statement, Term
from basanite.registry import suggestion

FILE: Final = "reader.yaml"
FORMAT: Final = "basanite-reader/1"
RULE: Final = "R-37"
NAME: Final = "baseline"
KEYS: Final = frozenset({"pattern", "match", "then", "last", "kind"})
MOST_PATTERNS: Final = 1_000
_WORD: Final = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")
_BLANKS: Final = re.compile(r"(?<![\\\[]) (?![*+?{])")


@dataclass(frozen=True)
class TextPattern:
    """What to look for in a text, and what it means."""

    name: str
    expression: re.Pattern[str]
    then: tuple[Pattern, ...]
    last: frozenset[str]
    """Things of earlier matches, as `_:deal` or `?person`: the last one is meant."""
    kind: Kind


@dataclass(frozen=True)
class PatternReader:
    """The patterns of a package, and what its ontology says of their variables."""

    package: Package
    patterns: tuple[TextPattern, ...]

    def read(self, document: Document) -> tuple[Assertion, ...]:
        """What a text says, in its order; each statement once."""
        found = [
            (match.start(), number, match)
            for number, pattern in enumerate(self.patterns)
            for match in pattern.expression.finditer(document.text)
        ]
        reading = _Reading(self.package, document)
        for _, number, match in sorted(found, key=lambda one: one[:2]):
            reading.take(self.patterns[number], match)
        return tuple(reading.said.values())

    def answers(self, documents: Iterable[Document], queries: Sequence[Query]) -> Iterator[dict[str, Any]]:
        """The answers of texts to queries, as lines of a submission; what rules add is inferred."""
        reasoner = Reasoner(package_rules(self.package), self.package.ontology)
        for document in documents:
            book = Book(reasoner, self.read(document))
            for query in queries:
                for line in book.lines(query, document.name, {}):
                    del line["capabilities"]
                    yield line


def read_patterns(package: Package) -> PatternReader:
    """The patterns of a package; what cannot be read raises, with every problem and its line."""
    path = package.root / FILE
    if not path.is_file():
        raise UnreadableError(f"{package.root} has no {FILE}. Write one: it says which words mean which statements.")
    findings = Findings()
    faults = Faults(FILE, RULE, findings)
    document = read_yaml(read_bounded(path, LARGEST), faults)
    found: tuple[TextPattern, ...] = ()
    if not isinstance(document, YamlMap) or faults.text(document, "format") != FORMAT:
        if findings.valid:
            faults.add(1, f"the file does not say format: {FORMAT}", f"write format: {FORMAT} first")
    else:
        faults.unknown_keys(document, frozenset({"format", "words", "patterns"}))
        found = tuple(_Patterns(package, faults, _words(document, faults)).read(document))
    if not findings.valid:
        raise InvalidInputError("reading", findings)
    return PatternReader(package, found)


def _words(document: YamlMap, faults: Faults) -> dict[str, str]:
    """Pieces of patterns by name; a piece may hold pieces that stand before it."""
    entry = document.entries.get("words")
    found: dict[str, str] = {}
    for name in entry.entries if isinstance(entry, YamlMap) else ():
        found[name] = _expand_words(faults.text(cast(YamlMap, entry), name, needed=True), found)
    return found


def _expand_words(text: str, words: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: f"(?:{words[match[1]]})" if match[1] in words else match[0], text)


@dataclass
class _Patterns:
    """What entries of the file are read with."""

    package: Package
    faults: Faults
    words: Mapping[str, str]
    things: set[str] = field(default_factory=set)
    """Everything that patterns so far can make."""

    def read(self, document: YamlMap) -> Iterator[TextPattern]:
        """The patterns that can be used."""
        for number, entry in enumerate(self.faults.maps(document, "patterns")):
            self.faults.unknown_keys(entry, KEYS)
            if number < MOST_PATTERNS and (found := self._pattern(entry)) is not None:
                yield found

    def _pattern(self, entry: YamlMap) -> TextPattern | None:
        name = self.faults.text(entry, "pattern", needed=True)
        expression = self._expression(entry)
        kind = self.faults.text(entry, "kind") or "explicit"
        if kind not in KINDS:
            self.faults.add(entry.line, f"the kind {kind[:40]!r} is not known", 'write "explicit" or "inferred"')
        then = [goal for line in self.faults.texts(entry, "then") if (goal := self._triple(line)) is not None]
        if not then:
            self.faults.add(entry.line, f"the pattern {name!r} says nothing", 'write then: ["?person bornIn ?place"]')
        last = frozenset(line.text for line in self.faults.texts(entry, "last"))
        if expression is None or kind not in KINDS:
            return None
        groups = {f"?{group}" for group in expression.groupindex}
        used = {str(term) for goal in then for term in goal.terms if isinstance(term, Variable | Node)}
        for unknown in sorted(used - groups - last - {one for one in used if one.startswith("_:")}):
            near = suggestion(unknown, sorted(groups | last))
            self.faults.add(entry.line, f"{unknown} is no group of the pattern {name!r}", near, found=unknown)
        for unknown in sorted(last - self.things):
            fix = "let an earlier pattern make it, or take it out of `last`"
            self.faults.add(entry.lines.get("last"), f"no pattern before makes {unknown[:60]}", fix, found=unknown)
        self.things |= used | groups
        return TextPattern(name, expression, tuple(then), last, cast(Kind, kind))

    def _expression(self, entry: YamlMap) -> re.Pattern[str] | None:
        text = self.faults.text(entry, "match", needed=True)
        line = entry.lines.get("match", entry.line)
        expanded = _expand_words(text, self.words)
        for unknown in _WORD.findall(expanded):
            self.faults.add(line, f"{{{unknown}}} is not among `words`", suggestion(unknown, sorted(self.words)))
        try:
            # A text may break its lines anywhere, so that every blank stands for any white space.
            return re.compile(_BLANKS.sub(r"\\s+", expanded)) if text else None
        except (re.error, OverflowError, RecursionError) as error:
            self.faults.add(line, f"not a regular expression: {error}", "fix this pattern", found=text)
            return None

    def _triple(self, line: YamlText) -> Pattern | None:
        ontology = self.package.ontology
        try:
            goal = parse_pattern(line.text, self.package.manifest.prefixes)
        except PatternError as error:
            self.faults.add(line.line, f"{line.text[:60]!r}: {error.message}", error.fix, found=line.text)
            return None
        if not isinstance(goal, Pattern) or isinstance(goal.predicate, Variable):
            self.faults.add(line.line, f"{line.text[:60]!r} is no statement", "write subject, property and object")
            return None
        known = {*ontology.properties, TYPE} if goal.predicate != TYPE else {*ontology.classes}
        name = goal.predicate if goal.predicate != TYPE else goal.object
        if isinstance(name, Iri) and name not in known:
            short = ontology.prefixes.short
            near = suggestion(short(name), sorted(short(one) for one in known))
            self.faults.add(line.line, f"{short(name)} is not in the ontology", near, found=line.text)
        return goal


Found = tuple[Term, Span | None]


@dataclass
class _Reading:
    """One text while it is read: the things that it has named so far, and what it says of them."""

    package: Package
    document: Document
    said: dict[Statement, Assertion] = field(default_factory=dict)
    named: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The words of each name, and the label of the thing that it names."""
    last: dict[str, Found] = field(default_factory=dict)
    made: int = 0

    def take(self, pattern: TextPattern, match: re.Match[str]) -> None:
        """Say what a match means; a triple with a part that the match or the text lacks is left out."""
        self.made += 1
        here: dict[str, Found | None] = {}
        for triple in pattern.then:
            subject = self._find_things(triple.subject, "subject", triple, (pattern, match), here)
            value = self._find_things(triple.object, "object", triple, (pattern, match), here)
            if subject is None or value is None or isinstance(subject[0], Literal):
                continue
            spans = tuple(one for one in (subject[1], value[1]) if one is not None)
            whole = span_at(self.document.text, *match.span())
            statement = Statement(subject[0], cast(Iri, triple.predicate), value[0])
            told = document_statement(statement, self.document.name)
            said = Assertion(told, self.document.name, pattern.kind, spans or (whole,), NAME)
            self.said.setdefault(told, said)
        self.last |= {name: one for name, one in here.items() if one is not None}

    def _find_things(
        self,
        term: Term | Variable,
        role: Role,
        triple: Pattern,
        at: tuple[TextPattern, re.Match[str]],
        here: dict[str, Found | None],
    ) -> Found | None:
        pattern, match = at
        name = str(term)
        if isinstance(term, Iri | Literal):
            return term, None
        if name in pattern.last:
            known = self.last.get(name)
            return (known[0], None) if known else None
        if isinstance(term, Node):
            here.setdefault(name, (Node(f"{term.label}-{self.made}"), None))
            return here[name]
        start, end = match.span(term.name)
        if start == end:
            return None
        span = span_at(self.document.text, start, end, role)
        range_ = self._range(triple) if role == "object" else THING
        if range_ != THING:
            value = self._value(span.exact, range_)
            return None if value is None else (value, span)
        if name not in here:
            here[name] = (Node(self._label(span.exact)), None)
        return cast(Found, here[name])[0], span

    def _range(self, triple: Pattern) -> str:
        """What a property leads to: a thing, or a type of values."""
        ontology = self.package.ontology
        property_ = ontology.properties.get(cast(Iri, triple.predicate))
        if property_ is None or property_.range is None or property_.range in ontology.classes:
            return THING
        return ontology.range_name(property_.range)

    def _value(self, words: str, range_: str) -> Literal | None:
        plain = " ".join(words.split())
        if range_ in TEXTS or not range_:
            return Literal(plain)
        value = written_value(plain, range_)
        return None if value is None else Literal(value, XSD + range_)

    def _label(self, words: str) -> str:
        """The thing that words name: one that was named so, or by a longer or shorter form of the same name."""
        name = tuple(word.strip(".,;:'’\"") for word in words.casefold().split())
        if name not in self.named:
            same = {label for other, label in self.named.items() if _is_within(name, other) or _is_within(other, name)}
            slug = re.sub(r"[^a-z0-9]+", "-", "-".join(name)).strip("-") or "thing"
            taken = set(self.named.values())
            self.named[name] = same.pop() if len(same) == 1 else slug if slug not in taken else f"{slug}-{len(taken)}"
        return self.named[name]


def _is_within(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether the words of a name stand in another one, in this order and next to each other."""
    return any(tuple(long[at : at + len(short)]) == tuple(short) for at in range(len(long) - len(short) + 1))


def read_with_patterns(root: Package, part: str) -> tuple[list[dict[str, Any]], int]:
    """The answers of the baseline to the queries of a part, and how many texts it read."""
    reader, documents = read_patterns(root), root.documents(part)
    return list(reader.answers(documents.values(), root.queries_for(part))), len(documents)


def checked_patterns(package: Package, findings: Findings) -> int:
    """How many patterns a package has; their problems are added, as `reading check` lists them."""
    if not (package.root / FILE).is_file():
        return 0
    try:
        return len(read_patterns(package).patterns)
    except InvalidInputError as error:
        findings.merge(error.findings)
        return 0
