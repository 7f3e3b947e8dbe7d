"""Instructions that teams write for judges: text with a few harmless tags, made safe for a web page (M50, M51, X-9).

The result is built from an allow-list and from escaped text only, so whatever is not understood can at worst be read.
There are no links, images or styles; colour is the one attribute, and it is always written `<font color="...">`.
"""

from __future__ import annotations

import html
import re

COMPONENTS = ("component_1", "component_2", "domain")
"""The parts of a summary's own instructions; anything else is not shown."""
LONGEST = 4000
"""Characters, tags included: judges read instructions, they do not study them."""
DEEPEST = 16

PLAIN_TAGS = frozenset({"b", "i", "ul", "li"})
COLOUR_TAGS = frozenset({"font", "span"})

_DROPPED = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b([^<>]*)>")
_COLOUR = r"(#[0-9a-fA-F]{6}|#[0-9a-fA-F]{3}|[a-zA-Z]{3,20})"
_FONT_COLOUR = re.compile(rf"""\bcolor\s*=\s*["']?\s*{_COLOUR}\s*(?:["'\s/]|\Z)""", re.IGNORECASE)
_STYLE_COLOUR = re.compile(
    rf"""\bstyle\s*=\s*["']?(?:[^"']*;)?\s*color\s*:\s*{_COLOUR}\s*(?:[;"'\s/]|\Z)""", re.IGNORECASE
)
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Control characters, marks that change the direction of reading, and halves of characters (X-14)."""


def sanitize_instructions(text: str, *, limit: int = LONGEST) -> str:
    """The same instructions as HTML that is safe to show: allowed tags in balance, everything else plain text.

    >>> sanitize_instructions('<B onclick=x>bold<script>alert(1)</script> & <a href="y">link')
    '<b>bold &amp; link</b>'
    """
    page = _Page()
    at, text = 0, _DROPPED.sub("", text[:limit])
    for tag in _TAG.finditer(text):
        page.write(text[at : tag.start()])
        page.tag(tag[2].lower(), tag[3], closing=bool(tag[1]))
        at = tag.end()
    page.write(text[at:])
    return "".join([*page.parts, *(f"</{name}>" for name in reversed(page.open))])


class _Page:
    """Safe HTML in the making, and the tags still open in it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.open: list[str] = []

    def write(self, text: str) -> None:
        """Add text as text."""
        self.parts.append(html.escape(_HIDDEN.sub("", html.unescape(text))))

    def tag(self, name: str, attributes: str, *, closing: bool) -> None:
        """Add a tag if it is one of the few that judges may see."""
        if name == "br":
            self.parts.append("<br>")
        elif name in PLAIN_TAGS or name in COLOUR_TAGS:
            name = "font" if name in COLOUR_TAGS else name
            if closing:
                self._close(name)
            elif len(self.open) < DEEPEST:
                self._open(name, attributes)

    def _open(self, name: str, attributes: str) -> None:
        colour = _FONT_COLOUR.search(attributes) or _STYLE_COLOUR.search(attributes) if name == "font" else None
        self.parts.append(f'<{name} color="{colour[1].lower()}">' if colour else f"<{name}>")
        self.open.append(name)

    def _close(self, name: str) -> None:
        while name in self.open:
            last = self.open.pop()
            self.parts.append(f"</{last}>")
            if last == name:
                return
