"""What a webhook's body looks like: our own JSON, or a line that Slack, Mattermost and Matrix show in a room (X-10).

The forms are those that the programs document for incoming webhooks: `text` with `<address|words>` for Slack, `text`
in Markdown for Mattermost, `text` and `html` for the generic webhooks of matrix-hookshot, which is how Matrix takes
them. A line says what happened in which campaign and links there; it holds no score, no name and no id.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from basanite.canonical import canonical_text

OWN: Final = "basanite"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~])")
_INVISIBLE = "\u200b"
"""After an @: a campaign called @all must not call everybody."""


@dataclass(frozen=True)
class Line:
    """What is shown in a room."""

    campaign: str
    """The campaign's title, on one line."""
    event: str
    address: str


def slack_body(line: Line) -> dict[str, str]:
    """What Slack takes: of its marks only &, < and > need to be escaped.

    >>> slack_body(Line("R&D <!channel>", "Results are released", "https://example.org/campaigns/x"))["text"]
    'R&amp;D &lt;!channel&gt;: Results are released. <https://example.org/campaigns/x|Open>'
    """
    words = f"{line.campaign}: {line.event}."
    for mark, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        words = words.replace(mark, escaped)
    return {"text": f"{words} <{line.address.replace('|', '%7C')}|Open>"}


def mattermost_body(line: Line) -> dict[str, str]:
    """What Mattermost takes: Markdown, in which a title must neither format anything nor call anybody.

    >>> mattermost_body(Line("*A* @all", "Results are released", "https://example.org/x"))["text"]
    '\\\\*A\\\\* @\\u200ball: Results are released. [Open](https://example.org/x)'
    """
    title = _MARKDOWN.sub(r"\\\1", line.campaign).replace("@", f"@{_INVISIBLE}")
    address = line.address.replace("(", "%28").replace(")", "%29")
    return {"text": f"{title}: {line.event}. [Open]({address})"}


def matrix_body(line: Line) -> dict[str, str]:
    """What a generic webhook of matrix-hookshot takes: the words, and the same as HTML.

    >>> matrix_body(Line("<A>", "Results are released", "https://example.org/x"))["html"]
    '&lt;A&gt;: Results are released. <a href="https://example.org/x">Open</a>'
    """
    words = f"{line.campaign}: {line.event}."
    linked = f'{html.escape(words)} <a href="{html.escape(line.address)}">Open</a>'
    return {"text": f"{words} {line.address}", "html": linked}


ROOMS: Final[Mapping[str, Callable[[Line], dict[str, str]]]] = MappingProxyType(
    {"slack": slack_body, "mattermost": mattermost_body, "matrix": matrix_body}
)
FORMS: Final = (OWN, *ROOMS)


def room_payload(form: str, line: Line) -> bytes:
    """The body for a room."""
    return canonical_text(ROOMS[form](line)).encode()
