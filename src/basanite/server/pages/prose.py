"""Texts of organizers in Markdown: safe to stand in a page, whatever is written in them (P-36).

HTML in a text is shown as text, never run; links lead to the web or to a mailbox, and pictures are not loaded from
elsewhere. Headings begin below those of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from basanite.reports.wording import printable

FIRST_HEADING = 3
PROTOCOLS = ("https://", "http://", "mailto:")


@lru_cache(maxsize=256)
def markdown(text: str) -> Markup:
    """A text in Markdown as HTML.

    >>> markdown("*Good* <script>bad()</script>")
    Markup('<p><em>Good</em> &lt;script&gt;bad()&lt;/script&gt;</p>\\n')
    """
    tokens = _parser().parse("\n".join(map(printable, text.replace("\r\n", "\n").split("\n"))))
    return Markup(_parser().renderer.render(list(map(_lowered_heading, tokens)), _parser().options, {}))


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table").disable("image")
    made.validateLink = _leads_out  # type: ignore[method-assign, assignment]
    made.add_render_rule("link_open", _link)
    return made


def _leads_out(address: str) -> bool:
    return address.strip().lower().startswith(PROTOCOLS)


def _lowered_heading(token: Token) -> Token:
    """A heading below those of the page."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(int(token.tag[1]) + FIRST_HEADING - 1, 6)}"
    return token


def _link(renderer: Any, tokens: Sequence[Token], index: int, options: Any, environment: Any) -> str:
    tokens[index].attrSet("rel", "noopener nofollow ugc")
    found: str = renderer.renderToken(tokens, index, options, environment)
    return found
