"""The query language: `parse` gives a `Query`, or a `QueryFault`; it never raises.

A query is a value: components of words, hints and marks, and the kind and subtype that follow from their form. It is
printed exactly as it was read, since the language leaves no freedom in blanks. The grammar lies beside this file. It
has no recursion, so trees are shallow whatever the input; the length of a string is bounded as well, so hostile strings
cost no more than long ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias, cast, get_args

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedToken

from basanite.formats.retrieval.query_faults import QueryFault, unexpected_character, unexpected_token
from basanite.registry import suggestion

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
LONGEST: Final = 1000
"""Characters that a query string may have."""
_JOINED: Final = 2
_ONLY_ONE: Final = {"morphology": "<..>", "constituent": "(..)", "example": "EXAMPLE_OF"}
_Node = Tree[Token]


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


def parse(text: str) -> Query | QueryFault:
    """The query that a string means, or why it means none.

    >>> query = parse('bribing+,"panel of judges"')
    >>> query.kind, query.subtypes, len(query.words)
    ('hybrid', ('conceptual', 'lexical'), 4)
    >>> parse('"music"').fix
    'write music without quotation marks'
    """
    if len(text) > LONGEST:
        message = f"the query has {len(text)} characters, {LONGEST} are allowed"
        return QueryFault(LONGEST + 1, message, "shorten it")
    try:
        tree = _grammar().parse(text)
    except UnexpectedCharacters as unexpected:
        return unexpected_character(text, unexpected.pos_in_stream or 0)
    except UnexpectedToken as unexpected:
        token = unexpected.token
        return unexpected_token(text, token.start_pos or 0, token.type, unexpected.accepts or set())
    fault = min(_faults(tree), key=lambda fault: fault.column, default=None)
    return fault or Query(tuple(map(_component, _nodes(tree, "component"))))


@cache
def _grammar() -> Lark:
    return Lark.open_from_package(
        __name__, "query_language.lark", start="query", parser="lalr", lexer="basic", propagate_positions=True
    )


def _component(node: _Node) -> Component:
    phrase = _phrase(node)
    elements = _nodes(phrase, "element") if phrase else (node,)
    outer = _hint(node)
    return Component(
        tuple(_element(element, hinted=phrase is not None) for element in elements),
        quoted=phrase is not None,
        plus=bool(_token(node, "PLUS")),
        outer_hint=outer,
    )


def _element(node: _Node, *, hinted: bool) -> Element:
    """The element of a phrase, or the one that is a component by itself: then its hint is the component's."""
    marked = _mark_of(node)
    return Element(_role(marked), tuple(_words(marked)), _hint(node) if hinted else None)


def _hint(node: _Node) -> Hint | None:
    for hint in _nodes(node, "hint"):
        kind, *words = _words(hint)
        return Hint(cast(HintKind, kind), tuple(words))
    return None


def _faults(tree: _Node) -> Iterator[QueryFault]:
    """What the grammar allows and the language does not."""
    components = _nodes(tree, "component")
    for node in components:
        for check in _CHECKS:
            yield from check(node)
    if len(components) > _JOINED:
        yield _fault(components[_JOINED], "a query has at most two components", "delete this one and its comma")
    elif all(_component(node).kind == "conceptual" for node in components) and len(components) == _JOINED:
        message = "two conceptual components may not be joined"
        yield _fault(components[1], message, "make one of them lexical, or two queries of it")


def _repeated_marks(node: _Node) -> Iterator[QueryFault]:
    """At most one of each mark and one hint in a component."""
    marks = [_mark_of(element) for element in _elements(node)]
    for role, mark in _ONLY_ONE.items():
        for second in [mark for mark in marks if mark.data == role][1:2]:
            yield _fault(second, f"a second {mark} in one phrase", "keep one")
    hints = [*(hint for element in _elements(node) for hint in _nodes(element, "hint")), *_outer_hints(node)]
    for second in hints[1:2]:
        yield _fault(second, "a second hint in one phrase", "keep one")


def _unknown_hints(node: _Node) -> Iterator[QueryFault]:
    for hint in node.find_data("hint"):
        kind = _words(hint)[0]
        if kind not in HINTS:
            known = ", ".join(f"{name} ({meaning})" for name, meaning in HINTS.items())
            message = f"{kind} is not a kind of hint; there are {known}"
            yield QueryFault(_column(hint) + 1, message, suggestion(kind, tuple(HINTS)))


def _misplaced_plus(node: _Node) -> Iterator[QueryFault]:
    plus = _token(node, "PLUS")
    roles = {_role(_mark_of(element)) for element in _elements(node)}
    if plus and "example" in roles:
        yield _fault(plus, "EXAMPLE_OF asks for a concept already", "delete the +")
    elif plus and "morphology" in roles:
        yield _fault(plus, "a concept has no morphology to keep", "delete the + or the <..>")


def _lonely_words(node: _Node) -> Iterator[QueryFault]:
    """Quotation marks hold a phrase, parentheses several words."""
    elements = _elements(node)
    phrase = _phrase(node)
    if phrase and len(elements) == 1:
        yield _fault(phrase, "quotation marks hold a phrase of several words", _without_quotes(node))
    for marked in map(_mark_of, elements):
        if marked.data == "constituent" and len(_words(marked)) == 1:
            yield _fault(marked, "parentheses hold at least two words", "delete the parentheses")


def _without_quotes(node: _Node) -> str:
    """What to write for a phrase of one element."""
    (element,) = _component(node).elements
    if element.role == "constituent":
        return f'write "{" ".join(element.words)}"'
    return f"write {element} without quotation marks"


def _example_faults(node: _Node) -> Iterator[QueryFault]:
    """Beside EXAMPLE_OF stand plain words, on one side of it, and its hint follows it."""
    elements = _elements(node)
    roles = [_role(_mark_of(element)) for element in elements]
    if not _phrase(node) or "example" not in roles:
        return
    for element, role in zip(elements, roles, strict=True):
        if role in ("morphology", "constituent"):
            yield _fault(element, "only plain words are allowed beside EXAMPLE_OF", "delete the marks around the words")
        if role == "word" and _nodes(element, "hint"):
            yield _fault(_nodes(element, "hint")[0], "the hint belongs to EXAMPLE_OF", "write it after EXAMPLE_OF(..)")
    if 0 < roles.index("example") < len(roles) - 1:
        yield _fault(elements[-1], "there are words on both sides of EXAMPLE_OF", "keep those before or those after it")
    for hint in _outer_hints(node):
        yield _fault(
            hint, "the hint belongs to EXAMPLE_OF", "write it after EXAMPLE_OF(..), inside the quotation marks"
        )


_CHECKS: Final[tuple[Callable[[_Node], Iterator[QueryFault]], ...]] = (
    _repeated_marks,
    _unknown_hints,
    _misplaced_plus,
    _lonely_words,
    _example_faults,
)


def _fault(place: _Node | Token, message: str, fix: str) -> QueryFault:
    return QueryFault(_column(place), message, fix)


def _column(place: _Node | Token) -> int:
    start = place.start_pos if isinstance(place, Token) else place.meta.start_pos
    return (start or 0) + 1


def _nodes(node: _Node, name: str) -> Sequence[_Node]:
    return [child for child in node.children if isinstance(child, Tree) and child.data == name]


def _phrase(component: _Node) -> _Node | None:
    return next(iter(_nodes(component, "phrase")), None)


def _elements(component: _Node) -> Sequence[_Node]:
    phrase = _phrase(component)
    return _nodes(phrase, "element") if phrase else [component]


def _outer_hints(component: _Node) -> Sequence[_Node]:
    """The hints after a phrase; a bare component's own hint is counted with its element."""
    return _nodes(component, "hint") if _phrase(component) else []


def _mark_of(element: _Node) -> _Node:
    """The word, `<..>`, `(..)` or EXAMPLE_OF of an element: its first child."""
    return cast(_Node, element.children[0])


def _role(marked: _Node) -> Role:
    return cast(Role, str(marked.data))


def _words(node: _Node) -> list[str]:
    return [str(token) for token in node.children if isinstance(token, Token) and token.type == "WORD"]


def _token(node: _Node, kind: str) -> Token | None:
    return next((token for token in node.children if isinstance(token, Token) and token.type == kind), None)
