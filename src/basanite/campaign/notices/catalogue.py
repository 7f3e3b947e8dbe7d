"""The catalogue of mails: subject and body of each kind in one file, with the few words that are filled in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template as Words
from typing import Any
from urllib.parse import quote

from basanite.errors import UnknownNameError
from basanite.registry import suggestion

SHIPPED = Path(__file__).with_name("catalogue.toml")
FILLED_IN = frozenset({"campaign", "slug", "address", "page"})
"""Words that are always there."""
LONGEST_WORD = 4000
_WORD = re.compile(r"\$([a-z_]+)")


@dataclass(frozen=True)
class Template:
    """One kind of mail."""

    name: str
    subject: str
    body: str
    page: str = ""
    """The path of what the mail is about; empty where the body has a link that works once instead (D-9)."""
    id: str = ""
    """The word of the data that a webhook is told; empty: no webhook hears of it."""

    @property
    def words(self) -> frozenset[str]:
        """What must be in the data."""
        return frozenset(_WORD.findall(f"{self.subject}\n{self.page}\n{self.body}")) - FILLED_IN

    def path(self, slug: str, data: Mapping[str, Any]) -> str:
        """The path of the page for this data, whatever characters its ids hold.

        >>> template_named("submission_valid").path("small", {"submission": "a/b"})
        '/campaigns/small/submissions/a%2Fb'
        """
        return Words(self.page).substitute(
            {key: quote(str(value), safe="") for key, value in data.items()} | {"slug": slug}
        )

    def checked(self, data: Mapping[str, Any]) -> dict[str, str | int]:
        """The data as it is kept: short words, whole numbers and ids; anything else is a fault of ours.

        A number with decimals could be a score, which no mail may hold (M68), so it is never taken.
        """
        wrong = [key for key, value in data.items() if not isinstance(value, str | int)]
        if wrong or (absent := self.words - data.keys()):
            raise ValueError(
                f"mail {self.name!r}: {', '.join(wrong) or ', '.join(sorted(absent))} is missing or no word"
            )
        return {key: value if isinstance(value, int) else value[:LONGEST_WORD] for key, value in data.items()}


@cache
def catalogue() -> Mapping[str, Template]:
    """All kinds of mail by name."""
    entries = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    return {
        name: Template(name, **{key: text.strip() for key, text in entry.items()}) for name, entry in entries.items()
    }


def template_named(name: str) -> Template:
    """The mail of this name.

    >>> template_named("join_refused").subject
    'Your request to join $team'
    """
    if name not in catalogue():
        raise UnknownNameError(f"No mail is called {name!r}. {suggestion(name, tuple(catalogue()))}")
    return catalogue()[name]


def webhook_kinds() -> tuple[str, ...]:
    """The kinds of events that a webhook can ask for."""
    return tuple(sorted(name for name, template in catalogue().items() if template.id))
