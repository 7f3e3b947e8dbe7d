"""What is worth annotating next, by the queries of a task: texts, and statements that are missing in them (R-46).

A query needs annotation the more, the fewer answers the annotations have. How likely a text answers it is estimated
from annotated texts that are like it, and before there are any from the words of the query. A text that is like one
that is already annotated, or chosen before it, teaches less.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from basanite.reading.gold.derivation import Book
from basanite.reading.package.checks import package_rules
from basanite.reading.package.documents import Document
from basanite.reading.package.model import Package
from basanite.reading.patterns import Pattern, Variable
from basanite.reading.provenance import Assertion
from basanite.reading.queries import QueryLimitError, StatementIndex, answers, has_answer
from basanite.reading.query import Query
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.terms import Iri

PRIOR: Final = 1.0
"""How many annotated texts the words of a query weigh as much as."""
MOST_TEXTS: Final = 20_000
MOST_MISSING: Final = 3
"""Answers of a query without their last statement that are listed for one text."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

Vector = Mapping[str, float]


@dataclass(frozen=True)
class QueryNeed:
    """How well a query is annotated."""

    query: str
    question: str
    answers: int
    documents: int
    """Annotated texts that answer it."""

    @property
    def weight(self) -> float:
        """How much another text with an answer is worth: the more answers there are, the less."""
        return 1 / (1 + self.answers)


@dataclass(frozen=True)
class TextNeed:
    """A text that nobody has annotated, and what annotating it is expected to bring."""

    document: str
    worth: float
    queries: tuple[tuple[str, float], ...]
    """The queries that it may answer, the most useful first, with the estimated probability."""
    likest: str
    """The annotated or chosen text that it is most like; "" if there is none."""


@dataclass(frozen=True)
class StatementNeed:
    """A statement that an annotated text lacks, and with which it would answer a query."""

    document: str
    query: str
    missing: str
    known: tuple[str, ...]
    """What is annotated already."""


@dataclass(frozen=True)
class Needs:
    """What to annotate next for a task."""

    queries: tuple[QueryNeed, ...]
    texts: tuple[TextNeed, ...]
    statements: tuple[StatementNeed, ...]
    annotated: int
    left: int


def needs(package: Package, part: str, queries: Sequence[Query], *, show: int) -> Needs:
    """The texts and statements of a part that are worth annotating next."""
    documents = package.documents(part)
    said: dict[str, list[Assertion]] = {}
    for assertion in package.assertions(part, documents):
        said.setdefault(assertion.document, []).append(assertion)
    reasoner = Reasoner(package_rules(package), package.ontology)
    books = {name: Book(reasoner, found) for name, found in said.items()}
    found = {name: {query.id: len(book.answers(query)) for query in queries} for name, book in books.items()}
    told = tuple(
        QueryNeed(
            query.id,
            query.question,
            sum(one[query.id] for one in found.values()),
            sum(bool(one[query.id]) for one in found.values()),
        )
        for query in queries
    )
    missing = [one for name, book in sorted(books.items()) for one in _missing(package, name, book, queries)]
    texts = _Texts(package, documents, queries, found).chosen(told, show)
    weights = {need.query: need.weight for need in told}
    missing.sort(key=lambda one: (-weights[one.query], one.document, one.query))
    return Needs(told, texts, tuple(missing[:show]), len(books), len(documents) - len(books))


def _missing(package: Package, document: str, book: Book, queries: Sequence[Query]) -> Iterator[StatementNeed]:
    """Where all but one of a query's statements are there, and the last would be a person's to annotate."""
    index = StatementIndex(book.inference.statements())
    for query in queries:
        for at, goal in enumerate(query.goals):
            rest = _rest_of(query, at)
            if isinstance(goal, Pattern) and _is_stated(package, goal) and rest.patterns:
                yield from list(_lacking(package, rest, goal, (document, index)))[:MOST_MISSING]


def _rest_of(query: Query, place: int) -> Query:
    """A query without one of its goals, and without comparisons of what nothing binds any more."""
    left = [goal for at, goal in enumerate(query.goals) if at != place]
    bound = {name for goal in left if isinstance(goal, Pattern) for name in goal.variables}
    return Query(query.id, tuple(goal for goal in left if isinstance(goal, Pattern) or bound >= set(goal.variables)))


def _is_stated(package: Package, goal: Pattern) -> bool:
    """Whether people annotate such a statement: classes follow from forms, and what is only inferred from rules."""
    property_ = package.ontology.properties.get(goal.predicate) if isinstance(goal.predicate, Iri) else None
    return property_ is not None and property_.mark == "target"


def _lacking(
    package: Package, rest: Query, goal: Pattern, where: tuple[str, StatementIndex]
) -> Iterator[StatementNeed]:
    """The other statements of a query that are there, where nothing matches the last one."""
    document, index = where
    short = package.ontology.prefixes.short
    seen = set()
    try:
        found = answers(rest, index)
    except QueryLimitError:  # too many to try: other queries say enough about this text
        return
    for one in found:
        lacking = goal.bind(dict(one.bindings))
        bound = not isinstance(lacking.subject, Variable) or not isinstance(lacking.object, Variable)
        if bound and lacking not in seen and not has_answer(Query(rest.id, (lacking,)), index):
            seen.add(lacking)
            words = " ".join(short(term) for term in lacking.terms)
            known = tuple(" ".join(map(short, (said.subject, said.predicate, said.object))) for said in one.statements)
            yield StatementNeed(document, rest.id, words, known)


@dataclass(frozen=True)
class _Texts:
    """The texts of a part as weighted words, and which queries the annotated ones answer."""

    package: Package
    documents: Mapping[str, Document]
    queries: Sequence[Query]
    found: Mapping[str, Mapping[str, int]]
    """For each annotated text how many answers each query has in it."""

    @cached_property
    def counts(self) -> dict[str, Counter[str]]:
        """The words of each text, with how often they occur."""
        return {name: Counter(_words(one.text)) for name, one in list(self.documents.items())[:MOST_TEXTS]}

    @cached_property
    def rarity(self) -> dict[str, float]:
        """How much a word tells: the more, the fewer texts have it."""
        spread = Counter(word for words in self.counts.values() for word in words)
        return {word: math.log(1 + len(self.counts) / number) for word, number in spread.items()}

    @cached_property
    def vectors(self) -> dict[str, Vector]:
        """Each text as its words, weighted by how rare they are, of length 1."""
        return {
            name: _unit({word: (1 + math.log(n)) * self.rarity[word] for word, n in words.items()})
            for name, words in self.counts.items()
        }

    @cached_property
    def words_of_queries(self) -> dict[str, dict[str, float]]:
        """What people call the things that each query asks about; a word of many queries tells little of each."""
        every = {query.id: self._words_of(query) for query in self.package.queries}
        every |= {query.id: self._words_of(query) for query in self.queries}
        spread = Counter(word for words in every.values() for word in words)
        common = {word: math.log(1 + len(every) / number) for word, number in spread.items()}
        return {
            query.id: {word: self.rarity[word] * common[word] for word in sorted(every[query.id] & self.rarity.keys())}
            for query in self.queries
        }

    def _words_of(self, query: Query) -> frozenset[str]:
        labels = " ".join(one.label or one.name for one in query.elements(self.package.ontology))
        return frozenset(_words(labels) or _words(query.question))

    def _share(self, name: str, words: Mapping[str, float]) -> float:
        """How much of a query's words a text has, rare ones counting more."""
        whole = math.fsum(words.values())
        held = math.fsum(weight for word, weight in words.items() if word in self.counts[name])
        return held / whole if whole else 0.0

    def chosen(self, told: Sequence[QueryNeed], show: int) -> tuple[TextNeed, ...]:
        """The most useful texts, one after the other: each counts as annotated for those after it."""
        likely = {name: self._probabilities(name) for name in self.vectors if name not in self.found}
        likeness = {name: self._likest(name, self.found) for name in likely}
        chosen: list[TextNeed] = []
        while likely and len(chosen) < show:
            worth = {
                name: (1 - likeness[name][0]) * sum(need.weight * one[need.query] for need in told)
                for name, one in likely.items()
            }
            best = max(sorted(worth), key=worth.__getitem__)
            by_use = sorted(told, key=lambda need: (-need.weight * likely[best][need.query], need.query))
            reasons = tuple((need.query, likely[best][need.query]) for need in by_use[:3])
            chosen.append(TextNeed(best, worth[best], reasons, likeness[best][1]))
            del likely[best]
            for name in likely:
                likeness[name] = max(likeness[name], (_cosine(self.vectors[name], self.vectors[best]), best))
        return tuple(chosen)

    def _probabilities(self, name: str) -> dict[str, float]:
        """How likely a text answers each query: the share of texts like it that do, with the query's words as one."""
        vector = self.vectors[name]
        near = [(_cosine(vector, self.vectors[other]), found) for other, found in self.found.items()]
        weight = PRIOR + sum(likeness for likeness, _ in near)
        return {
            query: (PRIOR * self._share(name, words) + sum(like for like, one in near if one[query])) / weight
            for query, words in self.words_of_queries.items()
        }

    def _likest(self, name: str, others: Mapping[str, object]) -> tuple[float, str]:
        return max(((_cosine(self.vectors[name], self.vectors[other]), other) for other in others), default=(0.0, ""))


def _words(text: str) -> list[str]:
    """The words of a text; names in capitals inside a word stand for several words.

    >>> _words("hasOvertimePlay: five periods")
    ['has', 'overtime', 'play', 'five', 'periods']
    """
    return [word.casefold() for word in _WORD.findall(_HUMPS.sub(" ", text))]


def _unit(weights: Mapping[str, float]) -> Vector:
    length = math.sqrt(math.fsum(weight**2 for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()} if length else {}


def _cosine(one: Vector, other: Vector) -> float:
    small, large = sorted((one, other), key=len)
    return math.fsum(weight * large[word] for word, weight in small.items() if word in large)
