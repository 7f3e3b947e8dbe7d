"""RDF in and out through pyoxigraph, streamed both ways; what a stranger's file could do to a parser is refused first.

Things without a name leave as IRIs of our own and come back as what they were, so that a round trip changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from basanite.errors import SettingError
from basanite.extras import required_module
from basanite.formats.bounded import check_regular, read_bounded
from basanite.formats.strict_json import DEEPEST, too_deep
from basanite.problems import Findings, Problem, shortened
from basanite.reading.terms import NODE, Iri, Literal, Node, Statement, Term
from basanite.registry import suggestion

LARGEST: Final = 256 * 2**20
"""Bytes of a file with nesting, which is looked through before it is parsed."""
MOST_KNOWN: Final = 10_000
FORMATS: Final = {
    "turtle": "TURTLE",
    "rdfxml": "RDF_XML",
    "jsonld": "JSON_LD",
    "nquads": "N_QUADS",
    "ntriples": "N_TRIPLES",
    "trig": "TRIG",
}
ENDINGS: Final = {
    ".ttl": "turtle",
    ".rdf": "rdfxml",
    ".owl": "rdfxml",
    ".xml": "rdfxml",
    ".jsonld": "jsonld",
    ".json": "jsonld",
    ".nq": "nquads",
    ".nt": "ntriples",
    ".trig": "trig",
}
QUADS: Final = frozenset({"nquads", "trig", "jsonld"})
LINES: Final = frozenset({"nquads", "ntriples"})

NO_BASE: Final = "https://no-base.invalid/"
"""Against this base JSON-LD is read where none is given: without one, the parser leaves relative names out silently."""
NEEDS_BASE: Final = "give --base with the IRI that relative names are resolved against, or write names in full"
RELATIVE: Final = ("No scheme found", "relative IRI")
"""What the parser says of a name that needs a base."""
_BASE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"{}|\\^`]+")
_TURTLE_PIECE: Final = re.compile(
    rb"""\"{3}(?:[^"\\]|\\.|"(?!""))*+(?:\"{3})?|'{3}(?:[^'\\]|\\.|'(?!''))*+(?:'{3})?"""
    rb"""|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|<<|<[^<>\s]*+>|\#[^\n]*+|[][(){}]""",
    re.DOTALL,
)
"""What can hide a bracket, or is one. A string that is not closed takes the rest, so that no text takes long."""
_XML_PIECE: Final = re.compile(
    rb"""<!--(?:.*?-->|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)|<\?(?:.*?\?>|.*)|<(/?)[^\s<>!?"'/](?:"[^"]*+"|'[^']*+'|[^<>"'])*+>""",
    re.DOTALL,
)
_XMLNS: Final = re.compile(rb"""\bxmlns(?::([\w.\-]+))?\s*=\s*["']([^"'<>&\s]+)["']""")
_DOCTYPE: Final = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


class Graphed(NamedTuple):
    """A statement and the graph it stands in, if any."""

    statement: Statement
    graph: Iri | None = None


def oxigraph() -> Any:
    """The library that reads and writes RDF; without it, the line to type."""
    return required_module("pyoxigraph")


def format_of(path: Path, name: str | None = None) -> str:
    """The format that is asked for by name, or else by the ending of a file.

    >>> format_of(Path("ontology.ttl"))
    'turtle'
    """
    if name is not None and name not in FORMATS:
        raise SettingError(f"No RDF format is called {name!r}. {suggestion(name, tuple(FORMATS))}")
    found = name or ENDINGS.get(path.suffix.lower())
    if found is None:
        raise SettingError(
            f"The ending of {path.name} is not one of RDF. Use one of {', '.join(ENDINGS)}, or --format."
        )
    return found


def write_rdf(
    rows: Iterable[Graphed | Statement], out: IO[bytes], format_: str, *, prefixes: Mapping[str, str] | None = None
) -> None:
    """Write statements as they come: memory does not grow with their number."""
    library = oxigraph()
    writer = _Writer(library)
    convert = writer.quad if format_ in QUADS else writer.triple
    library.serialize(
        (convert(row if isinstance(row, Graphed) else Graphed(row)) for row in rows),
        out,
        getattr(library.RdfFormat, FORMATS[format_]),
        prefixes=dict(prefixes or {}) if format_ not in LINES else None,
    )


@dataclass
class Names:
    """How the names of a file are read: what relative ones are resolved against, and the prefixes that it declares."""

    base: str | None = None
    prefixes: dict[str, str] = field(default_factory=dict)
    """Filled when the file has been read."""


def checked_base(base: str) -> str:
    """A base for relative names, if it is a full IRI."""
    if not _BASE.fullmatch(base):
        raise SettingError(
            f"The base {base[:80]!r} is not a full IRI. Write for example --base https://example.org/data/"
        )
    return base


def read_rdf(
    path: Path, findings: Findings, *, format_: str | None = None, rule: str = "R-8", names: Names | None = None
) -> Iterator[Graphed]:
    """The statements of a file as they come; faults are found as problems, with their line, and end the reading."""
    library, name = oxigraph(), format_of(path, format_)
    check_regular(path)
    if name in LINES:
        with path.open("rb") as file:
            yield from _parse_quads(library, file, name, _Place(path.name, rule, findings), Names())
        return
    data = read_bounded(path, LARGEST)
    yield from parse_rdf(data, name, path.name, findings, rule=rule, names=names)


def parse_rdf(
    data: bytes, format_: str, file: str, findings: Findings, *, rule: str = "R-8", names: Names | None = None
) -> Iterator[Graphed]:
    """The statements of some bytes; document types and deep nesting are refused before anything is parsed (X-8)."""
    place = _Place(file, rule, findings)
    refusal = _refusal(data, format_)
    if refusal:
        place.add(None, *refusal, rule="X-8")
        return
    names = names or Names()
    if format_ == "rdfxml":
        names.prefixes.update(_xml_prefixes(data))
    yield from _parse_quads(oxigraph(), data, format_, place, names)


class _Place(NamedTuple):
    """Where problems of one file go."""

    file: str
    rule: str
    findings: Findings

    def add(self, line: int | None, message: str, fix: str, *, rule: str = "") -> None:
        """Report a problem."""
        self.findings.add(
            Problem(rule or self.rule, self.file, line, None, shortened(message, 200), fix, where="reference")
        )


def _parse_quads(library: Any, source: Any, format_: str, place: _Place, names: Names) -> Iterator[Graphed]:
    base = names.base or (NO_BASE if format_ == "jsonld" else None)
    try:
        parser = library.parse(source, getattr(library.RdfFormat, FORMATS[format_]), base_iri=base)
        for quad in parser:
            row = _graph_row(library, quad)
            if base == NO_BASE and NO_BASE in str(quad):
                place.add(None, "the file contains a relative name", NEEDS_BASE)
                return
            if row is None:
                place.add(None, "there is a triple inside a triple", "name the statement with rdf:Statement instead")
                return
            yield row
        names.prefixes.update(parser.prefixes)
    except SyntaxError as error:
        if "remote context" in str(error.msg):
            place.add(None, "the @context lies elsewhere", "write the context into the file: nothing is fetched")
        else:
            fix = "fix the syntax of this line"
            if names.base is None and any(words in str(error.msg) for words in RELATIVE):
                fix = NEEDS_BASE
            place.add(error.lineno, f"cannot be read as {format_}: {error.msg}", fix)
    except (ValueError, OSError) as error:
        place.add(None, f"cannot be read as {format_}: {error}", "save it as UTF-8 in one of the RDF formats")


def _xml_prefixes(data: bytes) -> Iterator[tuple[str, str]]:
    """The prefixes of RDF/XML, which the parser does not tell, from its outermost element."""
    root = next((match[0] for match in _XML_PIECE.finditer(data) if match[1] is not None), b"")
    for match in _XMLNS.finditer(root):
        yield (match[1] or b"").decode("utf-8", "replace"), match[2].decode("utf-8", "replace")


def _refusal(data: bytes, format_: str) -> tuple[str, str] | None:
    if len(data) > LARGEST:
        return f"{len(data)} bytes; at most {LARGEST} are read", "split the file"
    if format_ == "rdfxml" and (b"\0" in data or data[:2] in (b"\xfe\xff", b"\xff\xfe")):
        return "the XML is not UTF-8", "save it as UTF-8"
    if format_ == "rdfxml" and _DOCTYPE.search(data):
        return "a document type (DOCTYPE) is not allowed", "remove it and write IRIs out"
    if format_ in ("turtle", "trig") and b"<<" in data and b"<<" in {m[0] for m in _TURTLE_PIECE.finditer(data)}:
        return "there is a triple inside a triple", "name the statement with rdf:Statement instead"
    if _nested_too_deep(data, format_):
        return f"nested more than {DEEPEST} deep", "give inner things names of their own"
    return None


def _nested_too_deep(data: bytes, format_: str) -> bool:
    if format_ == "jsonld":
        return too_deep(data)
    if format_ == "rdfxml":
        tags = (match for match in _XML_PIECE.finditer(data) if match[1] is not None)
        return _deepest(-1 if tag[1] else 1 for tag in tags if not tag[0].endswith(b"/>"))
    if format_ in LINES or data.count(b"[") + data.count(b"(") + data.count(b"{") <= DEEPEST:
        return False
    pieces = (match[0] for match in _TURTLE_PIECE.finditer(data))
    return _deepest(1 if piece in b"[({" else -1 for piece in pieces if len(piece) == 1 and piece != b"#")


def _deepest(steps: Iterable[int]) -> bool:
    level = 0
    for step in steps:
        level += step
        if level > DEEPEST:
            return True
    return False


class _Writer:
    """Our values as the library's. Names of properties, classes and types come again and again and are kept."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.known: dict[str, Any] = {}

    def triple(self, row: Graphed) -> Any:
        """A statement without its graph."""
        subject, predicate, object_ = row.statement.subject, row.statement.predicate, row.statement.object
        return self.library.Triple(self.term(subject), self.name(predicate.value), self.term(object_))

    def quad(self, row: Graphed) -> Any:
        """A statement in its graph."""
        triple = self.triple(row)
        graph = self.name(row.graph.value) if row.graph else self.library.DefaultGraph()
        return self.library.Quad(triple.subject, triple.predicate, triple.object, graph)

    def name(self, iri: str) -> Any:
        """A name that will come again."""
        found = self.known.get(iri)
        if found is None:
            found = self.library.NamedNode(iri)
            if len(self.known) < MOST_KNOWN:
                self.known[iri] = found
        return found

    def term(self, term: Term) -> Any:
        """Any term."""
        if isinstance(term, Iri):
            return self.library.NamedNode(term.value)
        if isinstance(term, Node):
            return self.library.NamedNode(NODE + term.label)
        if term.language:
            return self.library.Literal(term.lexical, language=term.language)
        return self.library.Literal(term.lexical, datatype=self.name(term.datatype))


def _graph_row(library: Any, quad: Any) -> Graphed | None:
    subject, object_ = _in(library, quad.subject), _in(library, quad.object)
    if isinstance(subject, Literal) or subject is None or object_ is None:
        return None
    graph = getattr(quad, "graph_name", None)
    name = Iri(graph.value) if isinstance(graph, library.NamedNode | library.BlankNode) else None
    return Graphed(Statement(subject, Iri(quad.predicate.value), object_), name)


def _in(library: Any, term: Any) -> Term | None:
    if isinstance(term, library.NamedNode):
        return Node(term.value[len(NODE) :]) if term.value.startswith(NODE) else Iri(term.value)
    if isinstance(term, library.BlankNode):
        return Node(term.value)
    if isinstance(term, library.Literal):
        return Literal(term.value, term.datatype.value, (term.language or "").lower())
    return None
