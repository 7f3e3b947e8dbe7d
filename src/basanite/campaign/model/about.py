"""The face of a campaign: what its public page says about it, in the table `[about]` of its file (P-36)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from basanite.formats.config_file import Section
from basanite.formats.toml_file import Table

LINK: Final = re.compile(r"(?:https?://|mailto:)[^\s<>\"]{3,500}")


@dataclass(frozen=True)
class About(Section):
    """What the public page of a campaign says about it (P-36); texts are Markdown, and nothing of it is frozen."""

    summary: str = ""
    """One sentence for lists of campaigns."""
    description: str = ""
    """What is evaluated, and why."""
    organizers: str = ""
    """Who organizes it."""
    contact: str = ""
    """An email or web address for questions."""
    participation: str = ""
    """How to take part, step by step."""
    data: str = ""
    """What the data are, and where they come from."""
    terms: str = ""
    """Terms of taking part, in short; rules to be accepted are `[[rules]]`."""
    tasks: Mapping[str, str] = field(default_factory=dict)
    """A text about each task, by the task's name."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Addresses of other pages, by what they are called."""

    def check(self, table: Table) -> About:
        """The texts, with links that lead to pages or mailboxes."""
        for name, address in self.links.items():
            if not LINK.fullmatch(address):
                fix = "write an address that begins with https://, http:// or mailto:"
                table.add(f"the link {name!r} is no web address", fix, key=("links", name), found=address, rule="P-36")
        for key in ("summary", "contact"):
            if "\n" in getattr(self, key):
                table.add(f"`{key}` of {table.place} has several lines", "write one line", key=key, rule="P-36")
        return self
