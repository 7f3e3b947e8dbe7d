"""Keys of the keyboard: letters and digits are the configuration's, everything else is the page's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from basanite.annotation.config.files import Warned

PAGE_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "?": "shows all keys",
        "/": "searches the corpus",
        "[": "goes to the object before",
        "]": "goes to the next object",
        "*": "marks every occurrence",
        "+": "adds a piece to the words that are marked",
        "-": "takes away what is chosen",
        "=": "ticks inferred",
        " ": "presses the button in focus",
    }
)
"""What the page itself does at a key; the rest of the keys that are no letters or digits are kept for it as well."""


class Keys:
    """The keys that are taken in one place, and by what."""

    def __init__(self, faults: Warned) -> None:
        self.faults = faults
        self.taken: dict[str, tuple[str, int | None]] = {}

    def take(self, key: str, owner: str, line: int | None) -> str:
        """Take a key for something; one that is taken, reserved or no key is a problem, and gives none."""
        if not key:
            return ""
        if len(key) != 1 or not key.isalnum():
            use = PAGE_KEYS.get(key, "belongs to the page")
            words = f"the key {key[:20]!r} {use}" if len(key) == 1 else f"{key[:20]!r} is no key"
            self.faults.add(line, words, "write one letter or digit; a capital is the letter with shift", found=key)
            return ""
        if key in self.taken:
            other, where = self.taken[key]
            self.faults.add(line, f"the key {key!r} is {other}'s already", f"take another; see line {where}", found=key)
            return ""
        self.taken[key] = owner, line
        return key
