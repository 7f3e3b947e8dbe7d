"""Guidelines as annotators read them: headings, lists and paragraphs of a Markdown file, everything else as it stands.

They come from a package, so nothing of them becomes HTML but what stands here (X-14).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_PLAIN = re.compile(r"(\*\*|__|`)(.+?)\1")


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph, or a list."""

    kind: str
    lines: tuple[str, ...]


def blocks(markdown: str) -> tuple[Block, ...]:
    """The parts of a text in order.

    >>> [block.kind for block in blocks("# Games\\n\\nMark each game.\\n\\n- once\\n- twice\\n")]
    ['heading', 'paragraph', 'list']
    """
    lines = ((_kind(line), line) for line in markdown.replace("\r\n", "\n").split("\n"))
    return tuple(
        block
        for kind, several in groupby(lines, key=lambda pair: pair[0])
        for block in _made(kind, [b for _, b in several])
    )


def _kind(line: str) -> str:
    if not line.strip():
        return ""
    if _HEADING.match(line):
        return "heading"
    return "list" if _ITEM.match(line) else "paragraph"


def _made(kind: str, lines: list[str]) -> Iterator[Block]:
    if kind == "heading":
        yield from (Block(kind, (_words(_HEADING.sub(r"\2", line)),)) for line in lines)
    elif kind == "list":
        yield Block(kind, tuple(_words(_ITEM.sub(r"\1", line)) for line in lines))
    elif kind:
        yield Block(kind, (_words(" ".join(line.strip() for line in lines)),))


def _words(text: str) -> str:
    return _PLAIN.sub(r"\2", text).strip()
