"""Captions as words, close to what the COCO evaluation does, without Java.

Lower case; the splitting of the Penn Treebank (`is n't`, `dog 's`, `can not`, `$ 5`); hyphens, slashes and dots inside
a word stay; then 17 marks are dropped: two quotes each way, round and curly brackets, and . ? ! , : - -- ... ;
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

DROPPED: Final = frozenset(["''", "'", "``", "`", "(", ")", "{", "}", ".", "?", "!", ",", ":", "-", "--", "...", ";"])

CACHED: Final = 50
"""Chunks shorter than this are remembered; longer ones are seldom words and never words with a clitic."""

_MARKS = r"\s!-/:-@\[-^`{-~¡«»¿€£¥\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
_IN = f"[^{_MARKS}]"  # a character of a word; marks that combine with one belong to it in every script
_TOKEN = re.compile(
    rf"""
      https?://\S+ | {_IN}+@{_IN}+(?:\.{_IN}+)+
    | (?<!{_IN})(?:mr|mrs|ms|dr|st|vs|etc|jr|sr|prof|no(?=\.\d))\.
    | (?<!{_IN})'(?:\d\ds|n')(?!{_IN})
    | (?<!{_IN}){_IN}{{1,2}}(?:\.[^{_MARKS}\d])+\.(?!{_IN})
    | (?:(?<!\S)-)?\.?\d+(?:[.,:]\d+)*(?!{_IN}|[-/'.]{_IN})
    | {_IN}+(?:(?:[-'./]|(?<=\d)[,:](?=\d)|&(?=[a-z](?!{_IN}))){_IN}+)*
    | [@\#](?!\d){_IN}+ | \.\.+ | --+ | [^\s]
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(.+?)(n't|'(?:s|re|ve|ll|d|m))((?:'.*)?)")
_TWO_WORDS = {
    "cannot": "can not",
    "gonna": "gon na",
    "wanna": "wan na",
    "gotta": "got ta",
    "lemme": "lem me",
    "gimme": "gim me",
}
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..."})

Tokeniser = Callable[[str], tuple[str, ...]]


def coco_words(caption: str) -> tuple[str, ...]:
    """The words of a caption as the COCO evaluation counts them, or nearly so.

    >>> coco_words('The man isn\\'t on a "black-and-white" bench, is he?')
    ('the', 'man', 'is', "n't", 'on', 'a', 'black-and-white', 'bench', 'is', 'he')
    """
    text = caption.lower()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_QUOTES))
    return tuple(word for chunk in text.split() for word in (_chunk(chunk) if len(chunk) < CACHED else _words(chunk)))


def split_words(caption: str) -> tuple[str, ...]:
    """The words of a caption that is tokenised already: what stands between white space.

    >>> split_words("a dog  's bone")
    ('a', 'dog', "'s", 'bone')
    """
    return tuple(caption.split())


def _words(chunk: str) -> tuple[str, ...]:
    """The words in what stands between white space."""
    return tuple(part for token in _TOKEN.findall(chunk) for part in _parts(token))


_chunk = lru_cache(maxsize=100_000)(_words)


def _parts(token: str) -> tuple[str, ...]:
    """A token without its clitics, and these; nothing if it is one of the marks that are dropped, or a row of them."""
    if token in DROPPED or token == '"' or not token.strip(".") or not token.strip("-"):
        return ()
    if token in _TWO_WORDS:
        return tuple(_TWO_WORDS[token].split())
    found = _CLITIC.fullmatch(token) if "'" in token and len(token) < CACHED else None
    if found is None:
        return (token,)
    return (found[1], found[2], *(_parts(found[3]) if found[3] else ()))


TOKENISERS: Final[dict[str, Tokeniser]] = {"coco": coco_words, "none": split_words}
