"""Graph patterns and the one-line way to write them, shared by rules, queries, annotations and gold.

Every literal is typed here, from what stands in the text, and never by YAML or JSON: those would turn `no` into a truth
value and `12:30` into 750.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeAlias

from basanite.errors import BasaniteError
from basanite.reading.terms import KNOWN_PREFIXES, MRQ, TYPE, XSD, Iri, Literal, Node, Statement, Term
from basanite.registry import suggestion

LONGEST: Final = 10_000
"""Characters of one line, and of one term in it (X-13)."""

SIGNS: Final = {
    "<": "lessThan",
    "<=": "lessThanOrEqualTo",
    ">": "greaterThan",
    ">=": "greaterThanOrEqualTo",
    "=": "equalTo",
    "!=": "notEqualTo",
}
MEMBERSHIP: Final = ("type", "a")
"""How `rdf:type` may be written in the place of a property."""
SIGN_OF: Final = {name: sign for sign, name in SIGNS.items()}

_LOCAL = r"[^\W_](?:[\w.\-]*[\w\-])?|_[\w.\-]*[\w\-]"
_STRING = r'"(?:[^"\\\n\r]|\\.)*+"'
_TOKEN: Final = re.compile(
    rf"(?P<string>{_STRING}(?:\^\^(?:<[^<>\s]*>|[\w.\-]*:[\w.\-]+)|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?)|"
    r"(?P<iri><[^<>\s\x00-\x20\"{}|^`\\]+>)|(?P<sign><=|>=|!=|<|>|=)|(?P<bare>[^\s\"<>()]+)"
)
_NUMBERS: Final = (
    (re.compile(r"[+-]?\d+", re.ASCII), XSD + "integer"),
    (re.compile(r"[+-]?\d*\.\d+", re.ASCII), XSD + "decimal"),
    (re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+", re.ASCII), XSD + "double"),
    (re.compile(r"true|false", re.ASCII), XSD + "boolean"),
    (re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII), XSD + "date"),
    (re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?", re.ASCII), XSD + "dateTime"),
)
_VARIABLE: Final = re.compile(r"\?[^\W\d]\w*")
_NODE: Final = re.compile(r"_:[^\W_](?:[\w.\-]*[\w\-])?")
_NAME: Final = re.compile(_LOCAL)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


class PatternError(BasaniteError):
    """A term or triple on one line cannot be read; `column` counts from 1 and `fix` says what to write."""

    def __init__(self, message: str, fix: str, *, column: int | None = None, found: str = "") -> None:
        self.message, self.fix, self.column, self.found = message, fix, column, found
        super().__init__(f"{message}. Fix: {fix}")


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """A name that stands for any term; written with a question mark, kept without."""

    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


PatternTerm: TypeAlias = Term | Variable
Bindings: TypeAlias = Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple in which variables may stand."""

    subject: PatternTerm
    predicate: PatternTerm
    object: PatternTerm

    @property
    def terms(self) -> tuple[PatternTerm, PatternTerm, PatternTerm]:
        """Subject, predicate and object."""
        return (self.subject, self.predicate, self.object)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its variables in their order, each once."""
        return tuple(dict.fromkeys(term.name for term in self.terms if isinstance(term, Variable)))

    def bind(self, bindings: Bindings) -> Pattern:
        """The pattern with the variables that are bound replaced by their terms."""
        return Pattern(*(bindings.get(t.name, t) if isinstance(t, Variable) else t for t in self.terms))

    def statement(self, bindings: Bindings) -> Statement:
        """The statement that the pattern becomes once every variable is bound."""
        subject, predicate, object_ = self.bind(bindings).terms
        if isinstance(subject, Iri | Node) and isinstance(predicate, Iri) and not isinstance(object_, Variable):
            return Statement(subject, predicate, object_)
        raise PatternError(
            f"{subject} {predicate} {object_} is not a statement",
            "bind every variable; literals are allowed only as objects",
        )

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))


@dataclass(frozen=True, slots=True)
class Builtin:
    """A comparison or a calculation, by the local name of its `mrq:` property; the first argument stands before it."""

    name: str
    arguments: tuple[PatternTerm, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its variables in their order, each once."""
        return tuple(dict.fromkeys(term.name for term in self.arguments if isinstance(term, Variable)))

    def __str__(self) -> str:
        first, *others = self.arguments
        return " ".join(map(str, (first, f"<{MRQ}{self.name}>", *others)))


Goal: TypeAlias = Pattern | Builtin


@dataclass(frozen=True)
class Prefixes:
    """How short names become full ones: where bare names live, and what each prefix stands for."""

    namespace: str
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> dict[str, str]:
        """Every prefix there is, the user's own first."""
        return {**self.names, **{name: iri for name, iri in KNOWN_PREFIXES.items() if name not in self.names}}

    def with_names(self, names: Mapping[str, str]) -> Prefixes:
        """The same with the prefixes of a file; those that are known already keep their meaning."""
        return replace(self, names={**names, **self.names}) if names else self

    def short(self, term: PatternTerm) -> str:
        """A term as people write it: the shortest form that is read back as the same term.

        >>> prefixes = Prefixes("urn:nfl:", {"nfl": "urn:nfl:"})
        >>> prefixes.short(Iri("urn:nfl:NFLGame")), prefixes.short(Literal("5", XSD + "integer"))
        ('nfl:NFLGame', '5')
        """
        if isinstance(term, Iri):
            return self._short_iri(term)
        return self._short_literal(term) if isinstance(term, Literal) else str(term)

    def _short_iri(self, iri: Iri) -> str:
        for name, namespace in self.all.items():
            if iri.value.startswith(namespace) and _NAME.fullmatch(iri.value[len(namespace) :]):
                return f"{name}:{iri.value[len(namespace) :]}"
        bare = iri.value.removeprefix(self.namespace)
        plain = bare != iri.value and _NAME.fullmatch(bare) and not _number_literal(bare) and bare not in MEMBERSHIP
        return bare if plain else str(iri)

    def _short_literal(self, literal: Literal) -> str:
        if not literal.language and _number_literal(literal.lexical) == literal:
            return literal.lexical
        if literal.language or literal.datatype == XSD + "string":
            return str(literal)
        quoted = str(Literal(literal.lexical))
        return f"{quoted}^^{self._short_iri(Iri(literal.datatype))}"


class Token(NamedTuple):
    """One term as it was written, its kind, and the column where it begins, counted from 1."""

    kind: str
    text: str
    column: int


def tokens(text: str) -> list[Token]:
    """The terms of a line as they were written; what is none raises.

    >>> [token.text for token in tokens('?g nfl:teamName "New York Jets" .')]
    ['?g', 'nfl:teamName', '"New York Jets"', '.']
    """
    if len(text) > LONGEST:
        raise PatternError(f"the line has {len(text)} characters", f"write at most {LONGEST}", found=text[:40])
    return list(_scan(text))


def parse_pattern(text: str, prefixes: Prefixes) -> Goal:
    """The triple or built-in that a line holds; brackets around it and a final full stop may be written.

    >>> nfl = Prefixes("urn:nfl:")
    >>> parse_pattern("?g hasOvertimePlay true", nfl).object
    Literal(lexical='true', datatype='http://www.w3.org/2001/XMLSchema#boolean', language='')
    >>> parse_pattern("(?n mrq:lessThanOrEqualTo 4)", nfl) == parse_pattern("?n <= 4", nfl)
    True
    """
    bare = text.strip()
    inner = bare[1:-1] if bare.startswith("(") and bare.endswith(")") else bare
    offset = text.index(bare) + (inner is not bare)
    found = [token._replace(column=token.column + offset) for token in tokens(inner)]
    return pattern_of(found[:-1] if found and found[-1].text == "." else found, prefixes)


def pattern_of(found: Sequence[Token], prefixes: Prefixes) -> Goal:
    """The triple or built-in that some tokens make."""
    if len(found) < 3:
        raise PatternError(f"a triple has three terms, here are {len(found)}", "write subject, property and object")
    name = _builtin_name(found[1], prefixes)
    terms = [
        term_of(token, prefixes, property_=place == 1) for place, token in enumerate(found) if place != 1 or not name
    ]
    if name:
        return Builtin(name, tuple(terms))
    if len(found) > 3:
        extra = found[3]
        raise PatternError("a triple has three terms, here are more", "put text between quotes", column=extra.column)
    return _check_pattern(Pattern(*terms), found)


def parse_term(text: str, prefixes: Prefixes, *, property_: bool = False) -> Term:
    """One term that is no variable.

    >>> parse_term("2005-01-15", Prefixes("urn:nfl:")).datatype.rpartition("#")[2]
    'date'
    """
    found = tokens(text)
    if len(found) != 1:
        raise PatternError(f"{text[:80]!r} is not one term", "put text between quotes", column=1)
    term = term_of(found[0], prefixes, property_=property_)
    if isinstance(term, Variable):
        raise PatternError(f"{term} is a variable", "write a name or a value", column=1, found=text[:80])
    return term


def parse_statement(parts: Sequence[str], prefixes: Prefixes) -> Statement:
    """The statement that three texts make.

    >>> str(parse_statement(["Game-1", "type", "NFLGame"], Prefixes("urn:n:")))
    '<urn:n:Game-1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:n:NFLGame> .'
    """
    return statement_of([parse_term(part, prefixes, property_=place == 1) for place, part in enumerate(parts)])


def statement_of(terms: Sequence[Term]) -> Statement:
    """The statement that three terms make."""
    if len(terms) != 3:
        raise PatternError(f"a statement has three terms, here are {len(terms)}", "write subject, property and object")
    return Pattern(*terms).statement({})


def term_of(token: Token, prefixes: Prefixes, *, property_: bool = False) -> PatternTerm:
    """The term that a token stands for; in the place of a property, `type` and `a` are `rdf:type`."""
    if property_ and token.text in MEMBERSHIP:
        return TYPE
    return _READERS[token.kind](token, prefixes)


def _scan(text: str) -> Iterator[Token]:
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        match = _TOKEN.match(text, place)
        if match is None:
            fix = "close the quotes" if text[place] == '"' else "write a name, a value, a variable or <an IRI>"
            raise PatternError(f"nothing can be read at {text[place : place + 20]!r}", fix, column=place + 1)
        yield Token(str(match.lastgroup), match[0], place + 1)
        place = match.end()


def _builtin_name(token: Token, prefixes: Prefixes) -> str:
    """The local name of a built-in, or nothing if the token is an ordinary property."""
    if token.kind == "sign":
        return SIGNS[token.text]
    if token.kind == "string" or token.text.startswith("?"):
        return ""
    term = term_of(token, prefixes, property_=True)
    return term.value[len(MRQ) :] if isinstance(term, Iri) and term.value.startswith(MRQ) else ""


def _check_pattern(pattern: Pattern, found: Sequence[Token]) -> Pattern:
    if isinstance(pattern.subject, Literal):
        raise PatternError(
            f"the value {found[0].text} is a subject", "values are allowed only as objects", column=found[0].column
        )
    if isinstance(pattern.predicate, Literal | Node):
        raise PatternError(f"{found[1].text} is not a property", "write the name of one", column=found[1].column)
    return pattern


def _iri(token: Token, prefixes: Prefixes) -> Iri:
    if ":" not in token.text:
        raise PatternError(f"{token.text} is not a full IRI", "write <https://…>", column=token.column)
    return Iri(token.text[1:-1])


def _string(token: Token, prefixes: Prefixes) -> Literal:
    end = token.text.rindex('"')
    lexical, tail = _unescape(token.text[1:end], token), token.text[end + 1 :]
    if tail.startswith("@"):
        return Literal(lexical, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", tail[1:].lower())
    if not tail:
        return Literal(lexical)
    datatype = term_of(Token("iri" if tail[2] == "<" else "bare", tail[2:], token.column + end + 3), prefixes)
    return Literal(lexical, datatype.value if isinstance(datatype, Iri) else XSD + "string")


def _unescape(text: str, token: Token) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code:
            number = int(code, 16)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                words = f"{number:X} is the number of no character"
                raise PatternError(words, "write one up to 10FFFF", column=token.column)
            return chr(number)
        if match[3] not in _ESCAPED:
            raise PatternError(f"\\{match[3]} means nothing", "write \\\\ for a backslash", column=token.column)
        return _ESCAPED[match[3]]

    return _ESCAPE.sub(one, text) if "\\" in text else text


def _bare(token: Token, prefixes: Prefixes) -> PatternTerm:
    text = token.text
    if text.startswith("?"):
        return _variable(token)
    if text.startswith("_:"):
        if not _NODE.fullmatch(text):
            raise PatternError(f"{text!r} is not a node", "write _: and a name", column=token.column)
        return Node(text[2:])
    if literal := _number_literal(text):
        return literal
    if ":" in text:
        return _full_iri(token, prefixes)
    if _NAME.fullmatch(text):
        return Iri(prefixes.namespace + text)
    raise PatternError(
        f"{text!r} is neither a name nor a value", 'write a name, or text between quotes: "…"', column=token.column
    )


def _variable(token: Token) -> Variable:
    if not _VARIABLE.fullmatch(token.text):
        fix = "write ? and a name of letters and digits"
        raise PatternError(f"{token.text!r} is not a variable", fix, column=token.column)
    return Variable(token.text[1:])


def _full_iri(token: Token, prefixes: Prefixes) -> Iri:
    prefix, _, local = token.text.partition(":")
    namespace = prefixes.names.get(prefix, KNOWN_PREFIXES.get(prefix))
    if namespace is None:
        known = suggestion(prefix, tuple(prefixes.all))
        raise PatternError(f"the prefix {prefix!r} is not known", f"declare it. {known}", column=token.column)
    if not _NAME.fullmatch(local):
        raise PatternError(f"{token.text!r} is not a name", "write <…> around the full IRI", column=token.column)
    return Iri(namespace + local)


def _number_literal(text: str) -> Literal | None:
    return next((Literal(text, datatype) for form, datatype in _NUMBERS if form.fullmatch(text)), None)


def _sign(token: Token, prefixes: Prefixes) -> PatternTerm:
    raise PatternError(f"{token.text} is in the wrong place", "write it between two terms", column=token.column)


_READERS: Final[Mapping[str, Callable[[Token, Prefixes], PatternTerm]]] = {
    "string": _string,
    "iri": _iri,
    "bare": _bare,
    "sign": _sign,
}
