"""S-expressions as the published rules are written: forms in round brackets, each with its line (R-10).

Nothing recurses here, and brackets inside brackets are counted before anything is built (X-13).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from basanite.reading.limits import Limits
from basanite.reading.patterns import Token

_PIECE: Final = re.compile(
    r"(?P<blank>\s+|;[^\n]*)|(?P<open>\()|(?P<close>\))|"
    r'(?P<string>"(?:[^"\\]|\\.)*+"(?:\^\^(?:<[^<>\s]*>|[\w.\-]*:[\w.\-]+)|@[A-Za-z]+(?:-[A-Za-z0-9]+)*)?)|'
    r"(?P<iri><[^<>\s\"{}|^`\\]+>)|(?P<sign><=|>=|!=|<|>|=)|(?P<bare>[^\s\"<>();]+)",
    re.DOTALL,
)


class SyntaxFaultError(ValueError):
    """A text is no series of s-expressions; the reader of the file makes a problem of it."""

    def __init__(self, line: int, message: str, fix: str) -> None:
        self.line, self.message, self.fix = line, message, fix
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Atom:
    """A word, a value or a text, as it was written."""

    token: Token
    line: int

    @property
    def text(self) -> str:
        """As it was written."""
        return self.token.text


@dataclass(slots=True)
class Form:
    """What stands between two brackets."""

    line: int
    items: list[Atom | Form] = field(default_factory=list)

    @property
    def triple(self) -> bool:
        """Whether it holds atoms only."""
        return bool(self.items) and all(isinstance(item, Atom) for item in self.items)

    def tokens(self) -> list[Token]:
        """Its atoms, for the parser of triples."""
        return [item.token for item in self.items if isinstance(item, Atom)]


Item: TypeAlias = Atom | Form


def read_forms(text: str, *, limits: Limits | None = None) -> list[Form]:
    """All forms of a text.

    >>> [form.tokens()[2].text for form in read_forms("(?g type NFLGame) ; a game")]
    ['NFLGame']
    """
    limits = limits or Limits()
    open_: list[Form] = []
    done: list[Form] = []
    for kind, piece, line, column in _pieces(text):
        if kind == "open":
            if len(open_) >= limits.nesting:
                raise SyntaxFaultError(line, f"brackets are nested more than {limits.nesting} deep", "write it flat")
            open_.append(Form(line))
        elif not open_:
            raise SyntaxFaultError(line, f"{piece[:40]!r} stands outside of brackets", "put it inside ( and )")
        elif kind == "close":
            _close(open_, done)
        else:
            open_[-1].items.append(Atom(Token(kind, piece, column), line))
    if open_:
        raise SyntaxFaultError(open_[-1].line, "a bracket is never closed", "write ) where it ends")
    return done


def _close(open_: list[Form], done: list[Form]) -> None:
    form = open_.pop()
    if open_:
        open_[-1].items.append(form)
    else:
        done.append(form)


def _pieces(text: str) -> Iterator[tuple[str, str, int, int]]:
    place, line, start = 0, 1, 0
    while place < len(text):
        match = _PIECE.match(text, place)
        if match is None:
            fix = "close the quotes" if text[place] == '"' else "write <…> around a full IRI"
            raise SyntaxFaultError(line, f"nothing can be read at {text[place : place + 20]!r}", fix)
        kind, piece = str(match.lastgroup), match[0]
        if kind != "blank":
            yield kind, piece, line, place - start + 1
        breaks = piece.count("\n")
        if breaks:
            line, start = line + breaks, place + piece.rindex("\n") + 1
        place = match.end()
