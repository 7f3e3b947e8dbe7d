"""Terms and statements: the formal side of reading, as values that are equal only if they are the same RDF term.

A literal keeps its text and its datatype, so `1`, `01` and `true` are three different terms; values are compared by
built-ins only. (In Python `1 == True`, which would unify a count with a truth value.) A statement's id is a hash of
its N-Triples line, so one statement has one id in every document. Below are the namespaces that every reading package
knows, and the names in them that our own RDF uses.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True, order=True)
class Iri:
    """A name in the world: a class, a property, an entity."""

    value: str

    # Terms are looked up all the time: comparing and hashing the text itself takes half of what a dataclass takes.
    def __eq__(self, other: object) -> bool:
        return other.__class__ is Iri and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A thing without a name of its own (a blank node), known by a label inside its document."""

    label: str

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Node and self.label == other.label

    def __hash__(self) -> int:
        return hash(self.label)

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """A value as it was written, with its datatype and, for text in a language, the language."""

    lexical: str
    datatype: str = XSD + "string"
    language: str = ""

    def __hash__(self) -> int:
        return hash(self.lexical)

    def __str__(self) -> str:
        quoted = f'"{self.lexical.translate(ESCAPES)}"'
        if self.language:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == XSD + "string" else f"{quoted}^^<{self.datatype}>"


Term: TypeAlias = Iri | Node | Literal


@dataclass(frozen=True, slots=True)
class Statement:
    """A subject, a property and an object: what a text says, or what follows from it."""

    subject: Iri | Node
    predicate: Iri
    object: Term

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object} ."

    @property
    def id(self) -> str:
        """The hash of the N-Triples line.

        >>> Statement(Iri("urn:g"), Iri("urn:periods"), integer(5)).id[:12]
        'bc395f2cd332'
        """
        return hashlib.sha256(str(self).encode()).hexdigest()


def integer(number: int) -> Literal:
    """A whole number as a literal."""
    return Literal(str(number), XSD + "integer")


def boolean(truth: bool) -> Literal:
    """A truth value as a literal.

    >>> str(boolean(True))
    '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
    """
    return Literal("true" if truth else "false", XSD + "boolean")


RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
PROV: Final = "http://www.w3.org/ns/prov#"
OA: Final = "http://www.w3.org/ns/oa#"
SH: Final = "http://www.w3.org/ns/shacl#"
TS: Final = "urn:basanite:reading:"
"""Marks of the ontology, and what provenance needs beyond PROV-O and Web Annotation."""
MRQ: Final = "urn:basanite:builtin:"
"""Built-in comparisons and arithmetic, under the prefix that the published example uses."""
STATEMENT: Final = "urn:basanite:statement:"
ASSERTION: Final = "urn:basanite:assertion:"
PIECE: Final = "urn:basanite:piece:"
DOCUMENT: Final = "urn:basanite:document:"
NODE: Final = "urn:basanite:node:"
"""Things without a name get one here on the way out, so that they come back as the same things."""
PERSON: Final = "urn:basanite:person:"
FIRING: Final = "urn:basanite:firing:"
RULE: Final = "urn:basanite:rule:"
TASK: Final = "urn:basanite:reading-task:"
QUERY: Final = "urn:basanite:query:"

KNOWN_PREFIXES: Final = MappingProxyType(
    {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "prov": PROV, "oa": OA, "sh": SH, "ts": TS, "mrq": MRQ}
)

TYPE: Final = Iri(RDF + "type")
SAME_AS: Final = Iri(OWL + "sameAs")


def names(namespace: str, *locals_: str) -> tuple[Iri, ...]:
    """Several names of one namespace.

    >>> names("urn:x:", "a", "b")[1]
    Iri(value='urn:x:b')
    """
    return tuple(Iri(namespace + local) for local in locals_)
