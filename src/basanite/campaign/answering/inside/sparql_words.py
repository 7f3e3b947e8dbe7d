"""Looking through a SPARQL query before it runs: what would reach out or change anything is refused (X-3).

The tokens of SPARQL are regular, so the words that stand alone can be told exactly from those inside strings, names,
variables and comments. Escaped characters outside of strings could spell a word that is not there to be seen; a query
that has any is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 100_000
DEEPEST: Final = 64
REFUSED: Final = {
    "SERVICE": "ask this store alone",
    "FROM": "leave FROM out: the store holds what you may see, by GRAPH you choose among it",
    **dict.fromkeys(
        ("LOAD", "INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH", "USING"),
        "use SELECT, ASK, CONSTRUCT or DESCRIBE: this store is read-only",
    ),
}
"""Words that no query may hold; what to do instead."""
FORMS: Final = frozenset({"SELECT", "ASK", "CONSTRUCT", "DESCRIBE"})

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|\#[^\n\r]*)
    |(?P<string>\"{3}(?:(?:"|"")?(?:[^"\\]|\\.))*"{3}|'{3}(?:(?:'|'')?(?:[^'\\]|\\.))*'{3}
        |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
    |(?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    |(?P<variable>[?$]\w+)
    |(?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<name>(?:[^\W\d_](?:[\w.\-]*[\w\-])?|_)?:(?:[\w:%\-.]|\\.)*)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\[uU]")


def fault(query: str) -> tuple[str, str] | None:
    """What is wrong with a query and what to do; None if it only asks, and only this store.

    >>> fault("SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }")[0]
    'SERVICE is not allowed'
    >>> fault('SELECT ?service { ?service ex:from "LOAD" } # DROP ALL') is None
    True
    """
    if len(query) > LONGEST:
        return f"the query has {len(query)} characters", f"write at most {LONGEST}"
    if _ESCAPE.search(query):
        return "the query has escaped characters", "write the characters themselves"
    words = [word.upper() for word in _words(query)]
    for word in words:
        if word in REFUSED:
            return f"{word} is not allowed", REFUSED[word]
    if not FORMS & set(words):
        return "this is no query", "use SELECT, ASK, CONSTRUCT or DESCRIBE"
    return _too_deep(query)


def _words(query: str) -> Iterator[str]:
    """The words that stand alone: keywords, `a`, and names of functions."""
    for match in _TOKEN.finditer(query):
        if match.lastgroup == "word":
            yield match[0]


def _too_deep(query: str) -> tuple[str, str] | None:
    level = 0
    for match in _TOKEN.finditer(query):
        if match.lastgroup == "sign":
            level += (match[0] in "{([") - (match[0] in "})]")
        if level > DEEPEST:
            return f"nested more than {DEEPEST} deep", "ask in smaller steps"
    return None
