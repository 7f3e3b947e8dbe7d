"""XML from strangers: no document type, no entities, nothing deep or endless; every element knows its line (X-8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn
from xml.parsers import expat

from basanite.problems import Findings, Problem, Where

DEEPEST: Final = 64
MOST_ELEMENTS: Final = 1_000_000
LARGEST: Final = 256 << 20
RULE: Final = "X-8"


@dataclass
class Element:
    """One element: its name, attributes, the line it begins on, and what is in it, in order."""

    tag: str
    attributes: dict[str, str]
    line: int
    content: list[str | Element] = field(default_factory=list)

    @property
    def elements(self) -> list[Element]:
        """The elements in it."""
        return [part for part in self.content if isinstance(part, Element)]

    @property
    def text(self) -> str:
        """All text in it, marked up or not."""
        return "".join(part if isinstance(part, str) else part.text for part in self.content)

    def walk(self) -> Iterator[Element]:
        """It and all elements below it."""
        yield self
        for part in self.elements:
            yield from part.walk()


class _RefusedError(ValueError):
    """The bytes are XML, but of a kind that nobody needs and that can do harm. Never leaves this module."""


class _Builder:
    """Builds the elements as the parser tells of them, within bounds."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.open: list[Element] = []
        self.root: Element | None = None
        self.number = 0

    def doctype(self, *_: Any) -> NoReturn:
        """A document type can declare entities that grow or read other files: none is let in."""
        raise _RefusedError("a document type (DOCTYPE) is not allowed")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.number += 1
        if len(self.open) >= DEEPEST:
            raise _RefusedError(f"nested more than {DEEPEST} deep")
        if self.number > MOST_ELEMENTS:
            raise _RefusedError(f"more than {MOST_ELEMENTS} elements")
        made = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].content.append(made)
        else:
            self.root = made
        self.open.append(made)

    def end(self, _: str) -> None:
        """An element ends."""
        self.open.pop()

    def characters(self, text: str) -> None:
        """Text in the innermost element."""
        self.open[-1].content.append(text)


def parse_xml(data: bytes, file: str, findings: Findings, *, rule: str, where: Where) -> Element | None:
    """The outermost element of an XML text; None, and a problem with its line, if it cannot be had."""
    builder = _Builder()
    try:
        builder.parser.Parse(data, True)
    except _RefusedError as error:
        fix = "remove it and write characters out" if "DOCTYPE" in str(error) else "is it the right file?"
        line = builder.parser.CurrentLineNumber
        findings.add(Problem(RULE, file, line, None, str(error), fix, where=where))
    except expat.ExpatError as error:
        words = f"not XML: {expat.ErrorString(error.code)}"
        findings.add(Problem(rule, file, error.lineno, None, words, "write well-formed XML in UTF-8", where=where))
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        findings.add(Problem(rule, file, 1, None, f"not XML: {error}", "write well-formed XML in UTF-8", where=where))
    return builder.root if findings.valid else None
