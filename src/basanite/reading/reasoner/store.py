"""Statements as whole numbers: every term has a number, every property a table of pairs, indexed where plans ask.

Equal terms have equal numbers, so joins compare whole numbers and never strings, and `1` cannot be mistaken for `true`.
A pair of subject and object is one whole number, which takes a third of the memory of a tuple. The calculator of a run
applies built-ins to the numbers and holds the account of what was spent against the limits (X-13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from basanite.reading.builtins import OPERATIONS, Operation
from basanite.reading.limits import LimitReachedError, Limits
from basanite.reading.terms import Iri, Literal, Node, Statement, Term

SHIFT: Final = 28
MASK: Final = (1 << SHIFT) - 1
MOST_TERMS: Final = MASK


class Terms:
    """All terms of a run by number; those of the rules come first and have the same numbers in every run."""

    __slots__ = ("known", "names", "terms")

    def __init__(self, base: Terms | None = None) -> None:
        self.terms: list[Term] = list(base.terms) if base else []
        self.known: dict[tuple[str, ...], int] = dict(base.known) if base else {}
        """Values and nameless things by their parts."""
        self.names: dict[str, int] = dict(base.names) if base else {}
        """Names by their text, which is hashed once and for all."""

    def number(self, term: Term) -> int:
        """The number of a term, which is new if the term is."""
        if type(term) is Iri:
            found = self.names.get(term.value)
            if found is None:
                found = self.names[term.value] = len(self.terms)
                self.terms.append(term)
            return found
        key = _parts(term)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.terms)
            self.terms.append(term)
        return found

    def find(self, term: Term) -> int | None:
        """The number of a term, if it has one."""
        return self.names.get(term.value) if isinstance(term, Iri) else self.known.get(_parts(term))


def _parts(term: Term) -> tuple[str, ...]:
    """What tells a value or a nameless thing from all others; strings are hashed faster than our own classes."""
    if type(term) is Literal:
        return term.lexical, term.datatype, term.language
    assert isinstance(term, Node)
    return (term.label,)


class Relation:
    """The pairs of one property; indexes are made when first asked for and kept up from then on."""

    __slots__ = ("_objects", "_subjects", "pairs")

    def __init__(self, pairs: Iterable[int] = ()) -> None:
        self.pairs: set[int] = set(pairs)
        self._subjects: dict[int, list[int]] | None = None
        self._objects: dict[int, list[int]] | None = None

    def subjects(self) -> dict[int, list[int]]:
        """The objects of each subject."""
        if self._subjects is None:
            found: dict[int, list[int]] = {}
            for pair in self.pairs:
                subject = pair >> SHIFT
                if subject in found:
                    found[subject].append(pair & MASK)
                else:
                    found[subject] = [pair & MASK]
            self._subjects = found
        return self._subjects

    def objects(self) -> dict[int, list[int]]:
        """The subjects of each object."""
        if self._objects is None:
            found: dict[int, list[int]] = {}
            for pair in self.pairs:
                object_ = pair & MASK
                if object_ in found:
                    found[object_].append(pair >> SHIFT)
                else:
                    found[object_] = [pair >> SHIFT]
            self._objects = found
        return self._objects

    def add(self, pair: int) -> bool:
        """Add a pair; whether it is new."""
        if pair in self.pairs:
            return False
        self.pairs.add(pair)
        if self._subjects is not None:
            self._subjects.setdefault(pair >> SHIFT, []).append(pair & MASK)
        if self._objects is not None:
            self._objects.setdefault(pair & MASK, []).append(pair >> SHIFT)
        return True


EMPTY: Final = Relation()
"""The table of a property that nothing is said with; nobody adds to it."""


class Store:
    """One relation for each property, by the number of the property."""

    __slots__ = ("relations",)

    def __init__(self, relations: dict[int, Relation] | None = None) -> None:
        self.relations = relations if relations is not None else {}

    def get(self, predicate: int) -> Relation:
        """The pairs of a property, to look at."""
        return self.relations.get(predicate, EMPTY)

    def add(self, predicate: int, pair: int) -> bool:
        """Add a statement; whether it is new."""
        relation = self.relations.get(predicate)
        if relation is None:
            relation = self.relations[predicate] = Relation()
        return relation.add(pair)

    def holds(self, predicate: int, pair: int) -> bool:
        """Whether a statement is there."""
        return pair in self.get(predicate).pairs

    def fork(self, changing: Iterable[int] | None) -> Store:
        """A store that can grow in some properties (all if none are named) while this one stays as it is."""
        touched = self.relations.keys() if changing is None else self.relations.keys() & set(changing)
        copies = {predicate: Relation(self.relations[predicate].pairs) for predicate in touched}
        return Store({**self.relations, **copies})

    def triples(self) -> Iterator[tuple[int, int]]:
        """All statements, as property and pair."""
        for predicate, relation in self.relations.items():
            for pair in relation.pairs:
                yield predicate, pair

    def __len__(self) -> int:
        return sum(len(relation.pairs) for relation in self.relations.values())


def load_store(statements: Iterable[Statement], terms: Terms) -> Store:
    """A store of statements; the same one twice is one."""
    names, known, number = terms.names, terms.known, terms.number
    tables: dict[str, set[int]] = {}
    for statement in statements:
        subject, object_, predicate = statement.subject, statement.object, statement.predicate.value
        first = names.get(subject.value) if type(subject) is Iri else None
        if type(object_) is Iri:
            second = names.get(object_.value)
        else:
            second = (
                known.get((object_.lexical, object_.datatype, object_.language)) if type(object_) is Literal else None
            )
        if first is None:
            first = number(subject)
        if second is None:
            second = number(object_)
        if predicate not in tables:
            tables[predicate] = set()
        tables[predicate].add(first << SHIFT | second)
    store = Store()
    for predicate, pairs in tables.items():
        relation = store.relations[number(Iri(predicate))] = Relation()
        relation.pairs = pairs
    return store


def match(
    store: Store, subject: int | None, predicate: int | None, object_: int | None
) -> Iterator[tuple[int, int, int]]:
    """All statements that fit what is given, as subject, property and object."""
    chosen = store.relations.items() if predicate is None else [(predicate, store.get(predicate))]
    for number, relation in list(chosen):
        for pair in _pairs(relation, subject, object_):
            yield pair >> SHIFT, number, pair & MASK


def _pairs(relation: Relation, subject: int | None, object_: int | None) -> Iterable[int]:
    if subject is not None and object_ is not None:
        pair = subject << SHIFT | object_
        return (pair,) if pair in relation.pairs else ()
    if subject is not None:
        return [subject << SHIFT | other for other in relation.subjects().get(subject, ())]
    if object_ is not None:
        return [other << SHIFT | object_ for other in relation.objects().get(object_, ())]
    return list(relation.pairs)


_EQUAL = OPERATIONS["equalTo"]
REMEMBERED = 100_000
"""Results that are kept, of tests and of calculations: most counts are small and meet again and again."""


@dataclass
class Calculator:
    """Applies built-ins for plans and counts what they cost."""

    terms: Terms
    limits: Limits
    rule: str = ""
    """The rule that is running, to be named where a limit is reached."""
    bindings_left: int = 0
    firings_left: int = 0
    statements_left: int = 0
    made: dict[str, int] = field(default_factory=dict)
    """New terms by rule."""
    _tested: dict[tuple[str, tuple[int, ...]], bool] = field(default_factory=dict)
    _calculated: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bindings_left, self.firings_left = self.limits.bindings, self.limits.firings
        self.statements_left = self.limits.statements

    def test(self, operation: Operation, *numbers: int) -> bool:
        """Whether a comparison holds."""
        key = (operation.name, numbers)
        found = self._tested.get(key)
        if found is None:
            assert operation.test is not None
            terms = self.terms.terms
            found = operation.test([terms[number] for number in numbers])
            if len(self._tested) < REMEMBERED:
                self._tested[key] = found
        return found

    def calculate(self, operation: Operation, *numbers: int) -> int:
        """The number of the result's term; -1 if there is none."""
        key = (operation.name, numbers)
        found = self._calculated.get(key)
        if found is None:
            found = self._calculate(operation, numbers)
            if len(self._calculated) < REMEMBERED:
                self._calculated[key] = found
        return found

    def _calculate(self, operation: Operation, numbers: tuple[int, ...]) -> int:
        assert operation.calculate is not None
        terms = self.terms.terms
        try:
            result = operation.calculate([terms[number] for number in numbers], self.limits)
        except LimitReachedError as reached:
            raise LimitReachedError(reached.limit, reached.most, self.rule) from None
        if result is None:
            return -1
        before = len(terms)
        number = self.terms.number(result)
        if number == before:
            self._count_new()
        return number

    def same(self, one: int, other: int) -> bool:
        """Whether two terms are worth the same."""
        return one == other or self.test(_EQUAL, one, other)

    def any_match(
        self,
        store: Store,
        subject: int | None,
        predicate: int | None,
        object_: int | None,
        same: tuple[tuple[int, int], ...],
    ) -> bool:
        """Whether any statement fits, with one variable in several places or as the property."""
        for row in match(store, subject, predicate, object_):
            self.spend(1)
            if all(row[a] == row[b] for a, b in same):
                return True
        return False

    def spend(self, bindings: int) -> None:
        """Count bindings that were tried."""
        self.bindings_left -= bindings
        if self.bindings_left < 0:
            raise LimitReachedError("bindings", self.limits.bindings, self.rule)

    def count_firings(self, times: int) -> None:
        """Count firings."""
        self.firings_left -= times
        if self.firings_left < 0:
            raise LimitReachedError("firings", self.limits.firings, self.rule)

    def grown(self, statements: int) -> None:
        """Count statements, given or derived."""
        self.statements_left -= statements
        if self.statements_left < 0:
            raise LimitReachedError("statements", self.limits.statements, self.rule)

    def _count_new(self) -> None:
        made = self.made[self.rule] = self.made.get(self.rule, 0) + 1
        if made > self.limits.terms_per_rule:
            raise LimitReachedError("terms_per_rule", self.limits.terms_per_rule, self.rule)
        if len(self.terms.terms) >= MOST_TERMS:
            raise LimitReachedError("statements", self.limits.statements, self.rule)
