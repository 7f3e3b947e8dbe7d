"""The query language, read by its grammar: `parse` gives a `Query`, or a `QueryFault`; it never raises.

The grammar lies beside this file. It has no recursion, so trees are shallow whatever the input; the length of a string
is bounded as well, so hostile strings cost no more than long ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, cast

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedToken

from basanite.formats.queries.queries import HINTS, Component, Element, Hint, HintKind, Query, Role
from basanite.formats.queries.query_faults import QueryFault, caret, unexpected_character, unexpected_token
from basanite.registry import suggestion

__all__ = ["LONGEST", "Component", "Element", "Hint", "Query", "QueryFault", "caret", "parse"]

LONGEST: Final = 1000
"""Characters that a query string may have."""
_JOINED: Final = 2
_ONLY_ONE: Final = {"morphology": "<..>", "constituent": "(..)", "example": "EXAMPLE_OF"}

_Node = Tree[Token]


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
    marked = _marked(node)
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


def _repeated(node: _Node) -> Iterator[QueryFault]:
    """At most one of each mark and one hint in a component."""
    marks = [_marked(element) for element in _elements(node)]
    for role, mark in _ONLY_ONE.items():
        for second in [mark for mark in marks if mark.data == role][1:2]:
            yield _fault(second, f"a second {mark} in one phrase", "keep one")
    hints = [*(hint for element in _elements(node) for hint in _nodes(element, "hint")), *_outer_hints(node)]
    for second in hints[1:2]:
        yield _fault(second, "a second hint in one phrase", "keep one")


def _unknown_hint(node: _Node) -> Iterator[QueryFault]:
    for hint in node.find_data("hint"):
        kind = _words(hint)[0]
        if kind not in HINTS:
            known = ", ".join(f"{name} ({meaning})" for name, meaning in HINTS.items())
            message = f"{kind} is no kind of hint; there are {known}"
            yield QueryFault(_column(hint) + 1, message, suggestion(kind, tuple(HINTS)))


def _misplaced_plus(node: _Node) -> Iterator[QueryFault]:
    plus = _token(node, "PLUS")
    roles = {_role(_marked(element)) for element in _elements(node)}
    if plus and "example" in roles:
        yield _fault(plus, "EXAMPLE_OF asks for a concept already", "delete the +")
    elif plus and "morphology" in roles:
        yield _fault(plus, "a concept has no morphology to keep", "delete the + or the <..>")


def _lonely(node: _Node) -> Iterator[QueryFault]:
    """Quotation marks hold a phrase, parentheses several words."""
    elements = _elements(node)
    phrase = _phrase(node)
    if phrase and len(elements) == 1:
        yield _fault(phrase, "quotation marks hold a phrase of several words", _unquoted(node))
    for marked in map(_marked, elements):
        if marked.data == "constituent" and len(_words(marked)) == 1:
            yield _fault(marked, "parentheses hold at least two words", "delete the parentheses")


def _unquoted(node: _Node) -> str:
    """What to write for a phrase of one element."""
    (element,) = _component(node).elements
    if element.role == "constituent":
        return f'write "{" ".join(element.words)}"'
    return f"write {element} without quotation marks"


def _crowded_example(node: _Node) -> Iterator[QueryFault]:
    """Beside EXAMPLE_OF stand plain words, on one side of it, and its hint follows it."""
    elements = _elements(node)
    roles = [_role(_marked(element)) for element in elements]
    if not _phrase(node) or "example" not in roles:
        return
    for element, role in zip(elements, roles, strict=True):
        if role in ("morphology", "constituent"):
            yield _fault(element, "beside EXAMPLE_OF only plain words may stand", "delete the marks around the words")
        if role == "word" and _nodes(element, "hint"):
            yield _fault(_nodes(element, "hint")[0], "the hint belongs to EXAMPLE_OF", "write it after EXAMPLE_OF(..)")
    if 0 < roles.index("example") < len(roles) - 1:
        yield _fault(elements[-1], "words stand on both sides of EXAMPLE_OF", "keep those before or those after it")
    for hint in _outer_hints(node):
        yield _fault(
            hint, "the hint belongs to EXAMPLE_OF", "write it after EXAMPLE_OF(..), inside the quotation marks"
        )


_CHECKS: Final[tuple[Callable[[_Node], Iterator[QueryFault]], ...]] = (
    _repeated,
    _unknown_hint,
    _misplaced_plus,
    _lonely,
    _crowded_example,
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


def _marked(element: _Node) -> _Node:
    """The word, `<..>`, `(..)` or EXAMPLE_OF of an element: its first child."""
    return cast(_Node, element.children[0])


def _role(marked: _Node) -> Role:
    return cast(Role, str(marked.data))


def _words(node: _Node) -> list[str]:
    return [str(token) for token in node.children if isinstance(token, Token) and token.type == "WORD"]


def _token(node: _Node, kind: str) -> Token | None:
    return next((token for token in node.children if isinstance(token, Token) and token.type == kind), None)
