"""Queries as values: components of words, hints and marks, and the kind and subtype that follow from their form.

A query is printed exactly as it was read, since the language leaves no freedom in blanks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["lexical", "conceptual", "hybrid"]
Subtype: TypeAlias = Literal[
    "lexical", "morphological", "extended-morphological", "conceptual", "example-of", "extended-example-of"
]
HintKind: TypeAlias = Literal["syn", "hyp", "evf"]
Role: TypeAlias = Literal["word", "morphology", "constituent", "example"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SUBTYPES: Final[tuple[Subtype, ...]] = get_args(Subtype)
"""From the plainest to the most special (M39)."""
HINTS: Final[dict[HintKind, str]] = {"syn": "synonym", "hyp": "hypernym", "evf": "event frame"}

_MARKS: Final[dict[Role, tuple[str, str]]] = {
    "word": ("", ""),
    "morphology": ("<", ">"),
    "constituent": ("(", ")"),
    "example": ("EXAMPLE_OF(", ")"),
}


@dataclass(frozen=True, slots=True)
class Hint:
    """What is meant by the words it follows: `[syn:..]`, `[hyp:..]` or `[evf:..]`."""

    kind: HintKind
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"[{self.kind}:{' '.join(self.words)}]"


@dataclass(frozen=True, slots=True)
class Element:
    """A word, or words with one mark around them: `<..>` keeps the morphology, `(..)` belongs together."""

    role: Role
    words: tuple[str, ...]
    hint: Hint | None = None

    def __str__(self) -> str:
        before, after = _MARKS[self.role]
        return f"{before}{' '.join(self.words)}{after}{self.hint or ''}"


@dataclass(frozen=True, slots=True)
class Component:
    """One of the things a query asks for: words to be found, or a concept."""

    elements: tuple[Element, ...]
    quoted: bool = False
    plus: bool = False
    """Whether `+` asks for the concept instead of the words."""
    outer_hint: Hint | None = None
    """A hint that stands after the whole component."""

    @property
    def kind(self) -> Kind:
        """Lexical or conceptual."""
        return "conceptual" if self.plus or self._has("example") else "lexical"

    @property
    def subtype(self) -> Subtype:
        """Which of the six forms this is (M39)."""
        if self._has("example"):
            return "extended-example-of" if self.quoted else "example-of"
        if self._has("morphology"):
            return "extended-morphological" if self.quoted else "morphological"
        return "conceptual" if self.plus else "lexical"

    @property
    def words(self) -> tuple[str, ...]:
        """The words in their order; those of hints only explain and are not among them."""
        return tuple(word for element in self.elements for word in element.words)

    @property
    def hint(self) -> Hint | None:
        """The hint, wherever it stands; there is at most one."""
        return next(self.hints(), None)

    @property
    def morphology(self) -> tuple[str, ...]:
        """The words whose form must be kept."""
        return self._words_of("morphology")

    @property
    def constituent(self) -> tuple[str, ...]:
        """The words that belong together."""
        return self._words_of("constituent")

    @property
    def example(self) -> tuple[str, ...]:
        """The class of which an example is wanted."""
        return self._words_of("example")

    def hints(self) -> Iterator[Hint]:
        """All hints, inner ones first."""
        yield from (element.hint for element in self.elements if element.hint)
        if self.outer_hint:
            yield self.outer_hint

    def _has(self, role: Role) -> bool:
        return any(element.role == role for element in self.elements)

    def _words_of(self, role: Role) -> tuple[str, ...]:
        return next((element.words for element in self.elements if element.role == role), ())

    def __str__(self) -> str:
        quote = '"' if self.quoted else ""
        inside = " ".join(map(str, self.elements))
        return f"{quote}{inside}{quote}{'+' if self.plus else ''}{self.outer_hint or ''}"


@dataclass(frozen=True, slots=True)
class Query:
    """A query string that was understood."""

    components: tuple[Component, ...]

    @property
    def kind(self) -> Kind:
        """Lexical, conceptual, or hybrid where one component of each is joined (M39)."""
        kinds = {component.kind for component in self.components}
        return "hybrid" if len(kinds) > 1 else kinds.pop()

    @property
    def subtypes(self) -> tuple[Subtype, ...]:
        """The subtype of each component."""
        return tuple(component.subtype for component in self.components)

    @property
    def subtype(self) -> Subtype:
        """The subtype of the query: that of its most special component, so that there are six and no more (C40)."""
        return max(self.subtypes, key=SUBTYPES.index)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all components; `len` of it is the factor `words` (M73)."""
        return tuple(word for component in self.components for word in component.words)

    def __str__(self) -> str:
        return ",".join(map(str, self.components))
