"""Namespaces that every reading package knows, and the names in them that our own RDF uses."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from basanite.reading.terms import RDF, XSD, Iri

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
