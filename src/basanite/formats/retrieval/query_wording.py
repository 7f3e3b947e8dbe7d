"""What a query string asks for in plain words, so that judges need not know the query language (M37, M39)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from basanite.formats.retrieval.query_language import Component, Element, Hint, Query

_FORM: Final = "in the same grammatical form, such as number or tense"
_HINTS: Final = {"syn": "means about the same as", "hyp": "is a kind of", "evf": "belongs to the situation"}


def query_in_words(query: Query) -> str:
    """What a document must have to be relevant to a query, component by component.

    >>> from basanite.formats.retrieval.query_language import parse
    >>> print(query_in_words(parse('bribing+')))
    The document must contain the concept “bribing”, whatever words it uses.
    >>> print(query_in_words(parse('"EXAMPLE_OF(fruit) juice"')))
    The document must contain the phrase “… juice”, where … is any example of “fruit”.
    """
    parts = [_component_in_words(component) for component in query.components]
    notes = [note for component in query.components for note in _notes(component)]
    if len(parts) == 1:
        return " ".join([f"The document must contain {parts[0]}.", *notes])
    return " ".join([f"The document must contain both. First: {parts[0]}. Second: {parts[1]}.", *notes])


def _component_in_words(component: Component) -> str:
    """One component as the object of a sentence, by its subtype."""
    words = _in_quotes(" ".join(component.words))
    match component.subtype:
        case "example-of":
            return f"any example of {words}"
        case "extended-example-of":
            example = " ".join(component.example)
            phrase = " ".join("…" if one.role == "example" else " ".join(one.words) for one in component.elements)
            return f"the phrase {_in_quotes(phrase)}, where … is any example of {_in_quotes(example)}"
        case "morphological":
            return f"a translation of {words} {_FORM}"
        case "extended-morphological":
            return f"a translation of the phrase {words}, with {_in_quotes(' '.join(component.morphology))} {_FORM}"
        case "conceptual":
            return f"the concept {words}, whatever words it uses"
        case _:
            return f"a translation of the {'phrase' if component.quoted else 'word'} {words}"


def _notes(component: Component) -> Iterator[str]:
    """What marks inside a component add: words that belong together, and what a hint says of which words."""
    if component.constituent:
        yield f"The words {_in_quotes(' '.join(component.constituent))} belong together."
    for element in component.elements:
        if element.hint:
            yield _hint_in_words(element, element.hint)
    if component.outer_hint:
        yield _hint_in_words(Element("word", component.words), component.outer_hint)


def _hint_in_words(element: Element, hint: Hint) -> str:
    return f"Here {_in_quotes(' '.join(element.words))} {_HINTS[hint.kind]} {_in_quotes(' '.join(hint.words))}."


def _in_quotes(words: str) -> str:
    return f"“{words}”"
