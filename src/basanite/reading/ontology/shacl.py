"""The constraints of an ontology as SHACL shapes, for people who check statements with tools of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from basanite.reading.ontology.model import Cardinality, Datatype, Ontology, OntologyClass, Property
from basanite.reading.terms import XSD, Iri, Literal, Statement, Term, integer
from basanite.reading.vocabulary import SH, TS, TYPE, names

SHAPE: Final = TS + "shape:"
NODE_SHAPE, TARGET_CLASS, PROPERTY, PATH, CLASS, DATATYPE = names(
    SH, "NodeShape", "targetClass", "property", "path", "class", "datatype"
)
MIN_COUNT, MAX_COUNT, NOT, DISJOINT, NAME = names(SH, "minCount", "maxCount", "not", "disjoint", "name")


def shapes(ontology: Ontology) -> Iterator[Statement]:
    """One node shape a class, one property shape for each property of that class itself; the rest is inherited."""
    for found in ontology.classes.values():
        if found.mark != "query-only":
            yield from _class_shape(ontology, found)


def shape_of(*parts: Iri) -> Iri:
    """The name of the shape of a class, or of a property of a class."""
    digest = hashlib.sha256("\n".join(part.value for part in parts).encode()).hexdigest()
    return Iri(SHAPE + digest[:32])


def _class_shape(ontology: Ontology, found: OntologyClass) -> Iterator[Statement]:
    shape = shape_of(found.iri)
    yield Statement(shape, TYPE, NODE_SHAPE)
    yield Statement(shape, TARGET_CLASS, found.iri)
    for other in sorted(b for a, b in ontology.disjoint if a == found.iri):
        excluded = shape_of(found.iri, other)
        yield Statement(shape, NOT, excluded)
        yield Statement(excluded, TYPE, NODE_SHAPE)
        yield Statement(excluded, CLASS, other)
    for property_ in sorted(ontology.properties.values(), key=lambda p: p.iri):
        if property_.domain == found.iri:
            inner = shape_of(found.iri, property_.iri)
            yield Statement(shape, PROPERTY, inner)
            yield from _property_shape(ontology, property_, inner)


def _property_shape(ontology: Ontology, property_: Property, shape: Iri) -> Iterator[Statement]:
    yield Statement(shape, PATH, property_.iri)
    if property_.label:
        yield Statement(shape, NAME, Literal(property_.label))
    yield from (Statement(shape, name, value) for name, value in _range(ontology, property_.range))
    yield from (Statement(shape, DISJOINT, other) for other in property_.disjoint)
    for limit in ontology.limits.get(property_.iri, ()):
        yield from (Statement(shape, name, value) for name, value in _count(limit))


def _range(ontology: Ontology, range_: Iri | None) -> Iterator[tuple[Iri, Term]]:
    if range_ is None:
        return
    if range_ in ontology.classes:
        yield CLASS, range_
    elif range_ in ontology.datatypes:
        yield from _narrowed(ontology.datatypes[range_])
    elif range_.value.startswith(XSD):
        yield DATATYPE, range_


def _narrowed(datatype: Datatype) -> Iterator[tuple[Iri, Term]]:
    yield DATATYPE, datatype.base
    yield from ((Iri(SH + facet), bound) for facet, bound in datatype.bounds)


def _count(limit: Cardinality) -> Iterator[tuple[Iri, Term]]:
    if limit.least:
        yield MIN_COUNT, integer(limit.least)
    if limit.most is not None:
        yield MAX_COUNT, integer(limit.most)
