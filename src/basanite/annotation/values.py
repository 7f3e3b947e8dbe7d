"""What annotators type, as values of the types that the ontology has; what is no such value is nothing."""

from __future__ import annotations

import re
from typing import Final

from basanite.reading.ontology import Ontology
from basanite.reading.ontology.model import ANY_LITERAL
from basanite.reading.terms import XSD, Iri, Literal
from basanite.reading.values import INTEGER_BOUNDS, MOST_DIGITS, value_of

TRUTHS: Final = {"yes": "true", "no": "false"}
TYPES: Final = {
    "text": "string",
    "choice": "string",
    "count": "integer",
    "integer": "integer",
    "decimal": "decimal",
    "date": "date",
    "yes-no": "boolean",
}
"""The type of a value where the ontology says nothing of it."""
WANTED: Final = {
    "count": "write a whole number, 0 or more",
    "integer": "write a whole number",
    "decimal": "write a number such as 2.5",
    "date": "write year-month-day, such as 2005-01-15",
    "yes-no": "choose yes or no",
    "choice": "choose one of the list",
}
_NAME: Final = re.compile(r"[^\W_](?:[\w.\-]*[\w\-])?")


def value_fault(value: str, kind: str) -> str:
    """What to write instead of a value that is none of its kind; "" where it is one.

    >>> value_fault("17", "count"), value_fault("seventeen", "count")
    ('', 'write a whole number, 0 or more')
    """
    if kind not in ("count", "integer", "decimal", "date", "yes-no"):
        return ""
    literal = _typed(value, kind, TYPES[kind])
    bad = literal is None or (kind == "count" and literal.lexical.startswith("-"))
    return WANTED[kind] if bad else ""


def literal_of(value: str, kind: str, range_: Iri | None, ontology: Ontology) -> Literal | Iri | None:
    """The term that a typed or chosen value stands for where a property wants values of a range; nothing if none.

    Where the range is a class, the value names a thing of the ontology's namespace.
    """
    if range_ is not None and range_ in ontology.classes:
        named = kind in ("choice", "text") and _NAME.fullmatch(value) is not None
        return Iri(ontology.prefixes.namespace + value) if named else None
    base = _base(range_, ontology)
    literal = _typed(value, kind, base.removeprefix(XSD) if base else TYPES.get(kind, "string"))
    if literal is None or (range_ is not None and not ontology.in_range(literal, range_)):
        return None
    return literal


def _base(range_: Iri | None, ontology: Ontology) -> str:
    """The type of XML Schema that a range comes down to; "" where it is open."""
    for _ in range(len(ontology.datatypes) + 1):
        if range_ is None or range_ not in ontology.datatypes:
            break
        range_ = ontology.datatypes[range_].base
    return "" if range_ is None or range_ == ANY_LITERAL else range_.value


def _typed(value: str, kind: str, name: str) -> Literal | None:
    """A literal in its shortest form, so that equal values are equal terms."""
    text = value.strip()
    if len(text) > MOST_DIGITS and name != "string":
        return None
    if kind == "yes-no" or name == "boolean":
        text = TRUTHS.get(text, text)
    literal = Literal(text, XSD + name)
    worth = value_of(literal)
    if worth is None:
        return None
    if name in INTEGER_BOUNDS:
        return Literal(str(worth), XSD + ("integer" if name == "integer" else name))
    return Literal(str(worth).lower(), XSD + name) if name == "boolean" else literal
