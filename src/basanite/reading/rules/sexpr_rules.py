"""Rules and graphs as s-expressions: `(rule name "comment" :if … :if-not … :then …)`, and as published, unnamed (R-10).

Nothing recurses here, and brackets inside brackets are counted before anything is built (X-13).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final, TypeAlias

from basanite.problems import Findings, Problem, shortened
from basanite.reading.limits import Limits
from basanite.reading.patterns import Goal, Pattern, PatternError, Prefixes, Token, parse_term, pattern_of
from basanite.reading.rules.tree import NAMESPACE, Place, Rule, RuleSet, as_head
from basanite.reading.terms import Literal, Statement
from basanite.registry import suggestion

_PIECE: Final = re.compile(
    r"(?P<blank>\s+|;[^\n]*)|(?P<open>\()|(?P<close>\))|"
    r'(?P<string>"(?:[^"\\]|\\.)*+"(?:\^\^(?:<[^<>\s]*>|[\w.\-]*:[\w.\-]+)|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?)|'
    r"(?P<iri><[^<>\s\"{}|^`\\]+>)|(?P<sign><=|>=|!=|<|>|=)|(?P<bare>[^\s\"<>();]+)",
    re.DOTALL,
)


class SyntaxFaultError(ValueError):
    """A text is no series of s-expressions; the reader of the file makes a problem of it."""

    def __init__(self, line: int, message: str, fix: str) -> None:
        self.line, self.message, self.fix = line, message, fix
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Atom:
    """A word, a value or a text, as it was written."""

    token: Token
    line: int

    @property
    def text(self) -> str:
        """As it was written."""
        return self.token.text


@dataclass(slots=True)
class Form:
    """What stands between two brackets."""

    line: int
    items: list[Atom | Form] = field(default_factory=list)

    @property
    def triple(self) -> bool:
        """Whether it holds atoms only."""
        return bool(self.items) and all(isinstance(item, Atom) for item in self.items)

    def tokens(self) -> list[Token]:
        """Its atoms, for the parser of triples."""
        return [item.token for item in self.items if isinstance(item, Atom)]


Item: TypeAlias = Atom | Form


def read_forms(text: str, *, limits: Limits | None = None) -> list[Form]:
    """All forms of a text.

    >>> [form.tokens()[2].text for form in read_forms("(?g type NFLGame) ; a game")]
    ['NFLGame']
    """
    limits = limits or Limits()
    open_: list[Form] = []
    done: list[Form] = []
    for kind, piece, line, column in _pieces(text):
        if kind == "open":
            if len(open_) >= limits.nesting:
                raise SyntaxFaultError(line, f"brackets are nested more than {limits.nesting} deep", "write it flat")
            open_.append(Form(line))
        elif not open_:
            raise SyntaxFaultError(line, f"{piece[:40]!r} is outside of brackets", "put it inside ( and )")
        elif kind == "close":
            _close(open_, done)
        else:
            open_[-1].items.append(Atom(Token(kind, piece, column), line))
    if open_:
        raise SyntaxFaultError(open_[-1].line, "a bracket is never closed", "write ) where it ends")
    return done


def _close(open_: list[Form], done: list[Form]) -> None:
    form = open_.pop()
    if open_:
        open_[-1].items.append(form)
    else:
        done.append(form)


def _pieces(text: str) -> Iterator[tuple[str, str, int, int]]:
    place, line, start = 0, 1, 0
    while place < len(text):
        match = _PIECE.match(text, place)
        if match is None:
            fix = "close the quotes" if text[place] == '"' else "write <…> around a full IRI"
            raise SyntaxFaultError(line, f"nothing can be read at {text[place : place + 20]!r}", fix)
        kind, piece = str(match.lastgroup), match[0]
        if kind != "blank":
            yield kind, piece, line, place - start + 1
        breaks = piece.count("\n")
        if breaks:
            line, start = line + breaks, place + piece.rindex("\n") + 1
        place = match.end()


FORMAT: Final = "basanite-rules/1"
PARTS: Final = (":if", ":if-not", ":then", ":probability")
FORMS: Final = ("rule", "namespace", "prefix", "format")


@dataclass
class Reading:
    """A file of rules while it is read: where problems go, and the short names declared so far."""

    file: str
    findings: Findings
    prefixes: Prefixes
    limits: Limits
    unnamed: int = 0

    def fault(self, line: int | None, message: str, fix: str, *, rule: str = "", column: int | None = None) -> None:
        """Report a problem, with the name of the rule that it stands in."""
        words = f"rule {rule}: {message}" if rule else message
        self.findings.add(
            Problem("R-10", self.file, line, None, shortened(words, 300), fix, column=column, where="reference")
        )


def parse_rules(
    text: str, file: str, findings: Findings, *, prefixes: Prefixes | None = None, limits: Limits | None = None
) -> RuleSet:
    """The rules of a text; whatever is wrong becomes problems, and the rules around it are read all the same.

    >>> rules = parse_rules('(rule r "why" :if (?g overtime true) :then (?g periods 5))', "x.rules", Findings())
    >>> rules.rules[0].name, rules.rules[0].variables
    ('r', ('g',))
    """
    reading = Reading(file, findings, prefixes or Prefixes(NAMESPACE), limits or Limits())
    try:
        forms = read_forms(text, limits=reading.limits)
    except SyntaxFaultError as fault:
        reading.fault(fault.line, fault.message, fault.fix)
        return RuleSet((), reading.prefixes)
    rules = tuple(rule for form in forms if (rule := _form(form, reading)) is not None)
    return RuleSet(rules, reading.prefixes)


def _form(form: Form, reading: Reading) -> Rule | None:
    first = form.items[0].text if form.items and isinstance(form.items[0], Atom) else ""
    if first in PARTS:
        reading.unnamed += 1
        return _rule(f"rule-{reading.unnamed}", "", form, form.items, reading)
    if first == "rule":
        return _named_rule(form, reading)
    if first in _DECLARATIONS:
        _DECLARATIONS[first](form, reading)
    else:
        reading.fault(form.line, f"{first or 'a form without a word'!r} begins no form", suggestion(first, FORMS))
    return None


def _named_rule(form: Form, reading: Reading) -> Rule | None:
    items = form.items[1:]
    name = items[0] if items else None
    if not isinstance(name, Atom) or name.token.kind != "bare" or name.text in PARTS:
        reading.fault(form.line, "a rule has no name", 'write (rule name "what it says" :if …)')
        return None
    comment, rest = "", items[1:]
    if rest and isinstance(rest[0], Atom) and rest[0].token.kind == "string":
        comment, rest = _text(rest[0], reading), rest[1:]
    return _rule(name.text, comment, form, rest, reading)


def _text(atom: Atom, reading: Reading) -> str:
    try:
        term = parse_term(atom.text.replace("\n", "\\n").replace("\r", "\\r"), reading.prefixes)
    except PatternError as error:
        reading.fault(atom.line, error.message, error.fix)
        return ""
    return term.lexical if isinstance(term, Literal) else ""


def _rule(name: str, comment: str, form: Form, items: list[Atom | Form], reading: Reading) -> Rule | None:
    parts = dict(_parts(items, name, reading))
    bad = reading.findings.counts.total()
    goals = {part: [*_goals(forms, part, name, reading)] for part, forms in parts.items() if part != ":probability"}
    probability = _probability(parts.get(":probability", []), name, form, reading)
    if not parts.get(":then"):
        reading.fault(form.line, "there is nothing after :then", "write what follows: :then (?g p 5)", rule=name)
    if reading.findings.counts.total() > bad:
        return None
    ordered = [goals.get(part, []) for part in PARTS[:3]]
    if_, if_not, then = (tuple(goal for goal, _ in part) for part in ordered)
    lines = tuple(line for part in ordered for _, line in part)
    return Rule(name, comment, if_, if_not, then, probability, Place(reading.file, form.line), lines)


def _parts(items: list[Atom | Form], name: str, reading: Reading) -> Iterator[tuple[str, list[Atom | Form]]]:
    """What stands after each keyword; the same one twice is one list."""
    found: dict[str, list[Atom | Form]] = {}
    part = ""
    for item in items:
        if isinstance(item, Atom) and item.text.startswith(":"):
            part = item.text if item.text in PARTS else ""
            if not part:
                reading.fault(item.line, f"{item.text} is not part of a rule", suggestion(item.text, PARTS), rule=name)
            found.setdefault(part, [])
        elif part or "" in found:
            found[part].append(item)
        else:
            reading.fault(item.line, "there is something before :if", "write :if first", rule=name)
    found.pop("", None)
    yield from found.items()


def _goals(items: list[Atom | Form], part: str, name: str, reading: Reading) -> Iterator[tuple[Goal, int]]:
    for item in items:
        if isinstance(item, Form) and item.triple:
            yield from _goal(item, part, name, reading)
        else:
            reading.fault(item.line, f"{part} holds something that is no triple", "write (?g p ?x)", rule=name)


def _goal(form: Form, part: str, name: str, reading: Reading) -> Iterator[tuple[Goal, int]]:
    try:
        goal = pattern_of(form.tokens(), reading.prefixes)
    except PatternError as error:
        reading.fault(form.line, error.message, error.fix, rule=name, column=error.column)
        return
    yield (as_head(goal, reading.prefixes) if part == ":then" else goal), form.line


def _probability(items: list[Atom | Form], name: str, form: Form, reading: Reading) -> Decimal | None:
    if not items:
        return None
    text = items[0].text if isinstance(items[0], Atom) and len(items) == 1 else ""
    return probability_of(text, lambda message, fix: reading.fault(form.line, message, fix, rule=name))


def probability_of(text: str, fault: Callable[[str, str], None]) -> Decimal | None:
    """A probability above 0 and up to 1."""
    plain = len(text) <= 30 and text.replace(".", "", 1).isdigit() and text.isascii()
    if plain and 0 < Decimal(text) <= 1:
        return Decimal(text)
    fault(f"the probability {text[:40]!r} is not a number above 0 and up to 1", "write one like 0.97")
    return None


def _namespace(form: Form, reading: Reading) -> None:
    iri = _declared_iri(form, 1, reading)
    if iri:
        reading.prefixes = replace(reading.prefixes, namespace=iri)


def _prefix(form: Form, reading: Reading) -> None:
    iri = _declared_iri(form, 2, reading)
    name = form.items[1].text.rstrip(":") if iri and isinstance(form.items[1], Atom) else ""
    if iri:
        reading.prefixes = replace(reading.prefixes, names={**reading.prefixes.names, name: iri})


def _declared_iri(form: Form, place: int, reading: Reading) -> str:
    tokens = form.tokens()
    if form.triple and len(tokens) == place + 1 and tokens[place].kind == "iri" and ":" in tokens[place].text:
        return tokens[place].text[1:-1]
    fix = "write (namespace <https://…#>) or (prefix nfl <https://…#>)"
    reading.fault(form.line, "a declaration has no full IRI at its end", fix)
    return ""


def _format(form: Form, reading: Reading) -> None:
    texts = [token.text for token in form.tokens()[1:]]
    if texts != [FORMAT]:
        fix = f"write (format {FORMAT}), or use a newer Basanite"
        reading.fault(form.line, f"the format {' '.join(texts)[:40]!r} is not known", fix)


_DECLARATIONS: Final[Mapping[str, Callable[[Form, Reading], None]]] = {
    "namespace": _namespace,
    "prefix": _prefix,
    "format": _format,
}


def parse_graph(text: str, file: str, findings: Findings, prefixes: Prefixes) -> tuple[Goal, ...]:
    """A graph as the paper writes it, a bracketed list of triples; brackets around it may be left out.

    >>> len(parse_graph("((?G type NFLGame) (?G numberOfPeriods ?N))", "query", Findings(), Prefixes("urn:n:")))
    2
    """
    return tuple(goal for goal, _ in _graph_goals(text, Reading(file, findings, prefixes, Limits())))


def _graph_goals(text: str, reading: Reading) -> Iterator[tuple[Goal, int]]:
    try:
        forms = read_forms(text)
    except SyntaxFaultError as fault:
        reading.fault(fault.line, fault.message, fault.fix)
        return
    for form in forms:
        items: list[Atom | Form] = [form] if form.triple or not form.items else form.items
        yield from _goals(items, "the graph", "", reading)


EMPTY_GRAPH: Final = re.compile(r"\s*\(\s*\)\s*")
"""A graph without a triple says nothing, as an empty file does; a query must ask something."""


def graph_statements(text: str, file: str, findings: Findings, prefixes: Prefixes) -> list[Statement]:
    """The statements of a graph that is written as a bracketed list of triples."""
    reading = Reading(file, findings, prefixes, Limits())
    found: list[Statement] = []
    for goal, line in () if EMPTY_GRAPH.fullmatch(text) else _graph_goals(text, reading):
        if isinstance(goal, Pattern) and not goal.variables:
            found.append(goal.statement({}))
        else:
            reading.fault(line, "a variable or a comparison is not a statement", "write names and values only")
    return found
