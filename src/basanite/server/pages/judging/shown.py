"""What a judge sees of an item: blocks with language and direction, not whose they are (M52, X-9, P-33)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from basanite.formats.packs.domains import Domain, shipped_domains
from basanite.formats.summaries.instructions import sanitised
from basanite.judging.items import Block
from basanite.judging.scheme import Scheme
from basanite.server.catalogue import say, sentence

TITLES = {
    "query": sentence("Query"),
    "domain": sentence("Domain"),
    "text": sentence("Text"),
    "image": sentence("Summary"),
    "document": sentence("The whole document"),
    "context": sentence("What stands around it"),
}
PARTS = {
    "general": sentence("in general"),
    "component_1": sentence("on the first part of the query"),
    "component_2": sentence("on the second part of the query"),
    "domain": sentence("on the domain"),
}
"""Which part of a summary a team's instructions are about (M50, M51)."""
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
NOTHING, UNREADABLE = "\u200b", "\ufffd"


@dataclass(frozen=True)
class Shown:
    """One block as it stands on the page."""

    id: str
    kind: str
    title: str
    text: Markup
    lang: str = ""
    dir: str = "auto"
    image: str = ""
    """The address of a picture."""
    domain: Domain | None = None
    """What the catalogue says of it (M87)."""
    side: bool = False
    """One of a pair."""
    marked: str = ""
    """The question whose errors are marked in it."""


def shown_blocks(scheme: Scheme, blocks: Sequence[Block], base: str) -> tuple[Shown, ...]:
    """The blocks of an item, ready for the page."""
    made = [_shown(block, number, base) for number, block in enumerate(blocks, 1)]
    for question in scheme.questions:
        places = [at for at, block in enumerate(blocks) if block.kind == question.on]
        if question.widget == "spans" and places:
            made[places[0]] = replace(made[places[0]], marked=question.id)
    return tuple(_sides(made)) if scheme.pairwise else tuple(made)


def _sides(made: list[Shown]) -> Iterable[Shown]:
    pair = [at for at, one in enumerate(made) if one.kind in ("text", "image")][-2:]
    return [replace(one, side=True) if at in pair else one for at, one in enumerate(made)]


def _shown(block: Block, number: int, base: str) -> Shown:
    plain = Shown(f"b{number}", block.kind, _title(block), escape(quiet(block.value)), block.lang, block.dir)
    if block.kind == "instructions":
        return replace(plain, text=Markup(sanitised(block.value)))  # built from an allow-list (M51)
    if block.kind == "image":
        return replace(plain, text=Markup(""), image=f"{base}/images/{block.value}")
    if block.kind == "domain":
        return _domain(plain, block.value)
    return plain


def _title(block: Block) -> str:
    if block.kind == "instructions":
        return str(say(PARTS[block.title])) if block.title in PARTS else block.title
    return block.title or str(say(TITLES[block.kind]))


def _domain(plain: Shown, value: str) -> Shown:
    """A domain by code or name, with its definition where the catalogue knows it (M87)."""
    catalogue = shipped_domains()
    known = catalogue.domains.get(catalogue.codes.get(value, value))
    if known is None:
        return plain
    name = known.name if value == known.code else value
    return replace(plain, text=escape(name.replace("-", " ")), domain=known)


def told(instructions: str) -> Markup:
    """An organiser's instructions: text with a few tags, as those of teams (M51)."""
    return Markup(sanitised(instructions, limit=len(instructions)))


def flowing(text: str) -> str:
    """Text of a file whose lines are broken for its editor: paragraphs and lists stay, other lines join.

    >>> flowing("one\\ntwo\\n\\n- three\\n- four\\n")
    'one two\\n\\n- three\\n- four'
    """
    return re.sub(r"(?<!\n)\n(?![\n*•-]|\d+[.)])", " ", text.replace("\r\n", "\n").strip())


def quiet(text: str) -> str:
    """The same text, as long as before, without what turns lines around or cannot be seen (X-14).

    Offsets of marked errors stay true, for each character is replaced by one.

    >>> quiet("a" + chr(0x202E) + "b" + chr(27)) == "a" + NOTHING + "b" + UNREADABLE
    True
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_quiet, text))


def _quiet(char: str) -> str:
    if char in "\n\t":
        return char
    if char in TURNING or char == "\r":
        return NOTHING
    if char in "\u2028\u2029":
        return "\n"
    return UNREADABLE if unicodedata.category(char) in ("Cc", "Cs") else char
