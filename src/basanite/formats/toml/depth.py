"""How deep a TOML text nests, told before it is parsed: strangers' files must not exhaust the parser (X-8)."""

from __future__ import annotations

import re
from typing import Final

DEEPEST: Final = 64
_TEXT: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""' r"|'''.*?'''" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'" r"|#[^\n]*", re.DOTALL
)
_DOTTED: Final = re.compile(r"(?:[\w-]+\s*\.\s*){64}")


def too_deep(text: str) -> bool:
    """Whether lists, braces or dotted names nest deeper than any file of ours does.

    >>> too_deep("a = [[1]]"), too_deep("a = " + "[" * 65 + "]" * 65)
    (False, True)
    """
    bare = _TEXT.sub("t", text)
    depth = 0
    for char in re.findall(r"[\[\]{}]", bare):
        depth = depth + 1 if char in "[{" else max(depth - 1, 0)
        if depth > DEEPEST:
            return True
    return bool(_DOTTED.search(bare))
