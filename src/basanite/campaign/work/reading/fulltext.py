"""Full-text search in memory: the same hits on every database, and sealed texts stay among the sealed files (R-27).

Words are found without regard to case and width; `"two words"` together, `touch*` by how they begin. In scripts that
put no space between words, a word is also found inside a longer run of letters.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

AROUND: Final = 60
"""Characters shown before and after what was found."""
MOST_TERMS: Final = 20
LONGEST: Final = 500
"""Characters of a question to the index."""
SATURATION, LENGTH_WEIGHT = 1.2, 0.75
"""The usual constants of BM25."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
_TERM: Final = re.compile(r'"([^"]*)"|(\S+)')


@dataclass(frozen=True)
class Hit:
    """A document in which something was found, and the first place of it; positions count code points."""

    document: str
    part: str
    start: int
    end: int
    before: str
    exact: str
    after: str
    count: int
    """Places in this document."""
    score: float


@dataclass(frozen=True)
class Term:
    """Something that must occur: words next to each other, the last perhaps only begun."""

    words: tuple[str, ...]
    begun: bool = False


@dataclass(frozen=True)
class Text:
    """A document as it is searched."""

    name: str
    part: str
    text: str

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where its words stand."""
        return [match.span() for match in _WORD.finditer(self.text)]


@dataclass(frozen=True)
class Index:
    """All words of some documents, and where they stand."""

    texts: tuple[Text, ...]
    places: Mapping[str, Mapping[int, Sequence[int]]]
    """Word to document to numbers of words."""
    words: Sequence[str] = field(default=())
    """All words, sorted."""

    @cached_property
    def mean_length(self) -> float:
        """Words of a document, on average."""
        return max(sum(len(text.spans) for text in self.texts) / max(len(self.texts), 1), 1.0)

    def search(self, question: str, *, parts: frozenset[str] | None = None, limit: int = 20) -> tuple[Hit, ...]:
        """The documents that hold every term, the best first; `parts` bounds where is looked."""
        asked = terms(question)
        if not asked or limit < 1:
            return ()
        found = [self._where(term) for term in asked]
        common = set(found[0]).intersection(*found[1:])
        inside = [at for at in common if parts is None or self.texts[at].part in parts]
        hits = [self._hit(at, [one[at] for one in found], [len(one) for one in found]) for at in inside]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.document))[:limit])

    def _where(self, term: Term) -> dict[int, list[tuple[int, int]]]:
        """Where a term stands: document to first and last word of each place."""
        *exact, last = [self._like(word, begun=False) for word in term.words[:-1]] + [
            self._like(term.words[-1], begun=term.begun)
        ]
        found: dict[int, list[tuple[int, int]]] = {}
        length = len(term.words)
        for document, ends in last.items():
            starts = [set(one.get(document, ())) for one in exact]
            whole = [at for at in ends if all(at - length + 1 + n in one for n, one in enumerate(starts))]
            if whole:
                found[document] = [(at - length + 1, at) for at in whole]
        return found

    def _like(self, word: str, *, begun: bool) -> Mapping[int, Sequence[int]]:
        if not begun and not _runs_together(word):
            return self.places.get(word, {})
        found: dict[int, list[int]] = defaultdict(list)
        for other in self._beginning(word) if begun else (one for one in self.words if word in one):
            for document, places in self.places[other].items():
                found[document].extend(places)
        return {document: sorted(places) for document, places in found.items()}

    def _beginning(self, start: str) -> Iterator[str]:
        at = bisect_left(self.words, start)
        while at < len(self.words) and self.words[at].startswith(start):
            yield self.words[at]
            at += 1

    def _hit(self, at: int, places: Sequence[Sequence[tuple[int, int]]], rarity: Sequence[int]) -> Hit:
        text = self.texts[at]
        rarest = min(range(len(places)), key=lambda n: (rarity[n], n))
        first, last = places[rarest][0]
        start, end = text.spans[first][0], text.spans[last][1]
        before, after = text.text[max(0, start - AROUND) : start], text.text[end : end + AROUND]
        score = sum(self._weight(len(one), rare, text) for one, rare in zip(places, rarity, strict=True))
        count = sum(map(len, places))
        return Hit(text.name, text.part, start, end, before, text.text[start:end], after, count, score)

    def _weight(self, often: int, rare: int, text: Text) -> float:
        """BM25: rare terms and short documents count for more."""
        idf = math.log(1 + (len(self.texts) - rare + 0.5) / (rare + 0.5))
        length = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(text.spans) / self.mean_length)
        return idf * often * (SATURATION + 1) / (often + length)


def index(texts: Iterator[Text] | Sequence[Text]) -> Index:
    """The index of some documents.

    >>> made = index([Text("a", "train", "The Jets fell in overtime."), Text("b", "train", "No overtime here.")])
    >>> [(hit.document, hit.exact, hit.after) for hit in made.search('"jets FELL" over*')]
    [('a', 'Jets fell', ' in overtime.')]
    """
    kept = tuple(texts)
    places: dict[str, dict[int, list[int]]] = {}
    for number, text in enumerate(kept):
        for at, (start, end) in enumerate(text.spans):
            places.setdefault(plain(text.text[start:end]), {}).setdefault(number, []).append(at)
    return Index(kept, places, sorted(places))


def terms(question: str) -> tuple[Term, ...]:
    """What a question asks for; what holds no word at all is left out.

    >>> terms('"Green Bay" touch*')
    (Term(words=('green', 'bay'), begun=False), Term(words=('touch',), begun=True))
    """
    found = []
    for quoted, word in _TERM.findall(question[:LONGEST])[:MOST_TERMS]:
        words = tuple(plain(match[0]) for match in _WORD.finditer(quoted or word))
        if words:
            found.append(Term(words, begun=not quoted and word.endswith("*")))
    return tuple(found)


def plain(word: str) -> str:
    """A word without regard to case and width.

    >>> plain("Ｊets"), plain("STRASSE") == plain("Straße")
    ('jets', True)
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())


def _runs_together(word: str) -> bool:
    """Whether it is of a script that puts no space between words: its letters have no case."""
    return any(unicodedata.category(char) == "Lo" for char in word)
