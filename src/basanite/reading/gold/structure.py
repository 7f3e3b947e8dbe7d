"""Things that a text never names, matched by what is said of them: the best assignment inside each document (R-31).

A gold entity with an id like `_:game-1` among its names is such a thing. Which thing of the answers it is, is told by
the statements about it: the assignment with the most credit is taken. Where the gold connects a thing with names or
values, at least one of these statements must be right. Ids never decide; descriptions settle ties.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from basanite.metrics.answers import LEAST, SLACK, Bindings, Bound, Credit, GoldIndex
from basanite.reading.gold.answers import Answer, is_own, without_own
from basanite.reading.gold.assignment import Link, Pair, best_assignment

SOMETHING: Final = frozenset({"_: "})
"""Any thing without a name; no answer can say this, because names are read without blanks around them."""
MOST_LINKS: Final = 100_000
"""Possible agreements of a document about several things at once that are looked at."""
WORTH_OF_A_NAME: Final = 1e-6
"""What a shared description adds to a pair: it settles ties and nothing else."""


def own_id(bound: Bound) -> str:
    """The id of a thing without a name; "" for everything else.

    >>> own_id(frozenset({"_:g1", "the game"})), own_id(frozenset({"jets"})), own_id("5")
    ('_:g1', '', '')
    """
    return next((one for one in bound if is_own(one)), "") if isinstance(bound, frozenset) else ""


def resolve(answers: Sequence[Answer], gold: Sequence[Iterable[Answer]], credit: Credit) -> list[Answer]:
    """The answers with each thing that is recognized by its structure called as the gold calls it.

    `gold` is what is asked for, and then what else is known; things are looked for there in this order.
    """
    documents: dict[str, list[int]] = defaultdict(list)
    for place, answer in enumerate(answers):
        documents[answer.document].append(place)
    parts: list[dict[str, list[Answer]]] = [defaultdict(list) for _ in gold]
    for part, lines in zip(parts, gold, strict=True):
        for line in lines:
            part[line.document].append(line)
    found = list(answers)
    for document, places in documents.items():
        lines_of = [part.get(document, []) for part in parts]
        renamed = _renamed([answers[place] for place in places], lines_of, credit)
        for place, bindings in zip(places, renamed, strict=True):
            if bindings != found[place].bindings:
                found[place] = replace(found[place], bindings=bindings)
    return found


def _renamed(answers: Sequence[Answer], gold: Sequence[Sequence[Answer]], credit: Credit) -> Iterator[Bindings]:
    """The bindings of one document's answers, with the gold's strings for things that are recognized."""
    called = {
        (line.query, name, own_id(bound)): bound
        for part in gold
        for line in part
        for name, bound in line.bindings
        if own_id(bound)
    }
    things = _things(answers, [line for part in gold for line in part]) if called else {}
    taken: dict[str, str] = {}
    for part in filter(None, gold if things else ()):
        left = {place: thing for place, thing in things.items() if thing not in taken}
        lines = [line for line in part if not {own_id(bound) for _, bound in line.bindings} & set(taken.values())]
        taken |= _Document(answers, left, lines, credit).assigned()
    for number, answer in enumerate(answers):
        golden = {name: taken.get(things.get((number, name), ""), "") for name, _ in answer.bindings}
        plain = without_own(answer.bindings)
        yield tuple((name, called.get((answer.query, name, golden[name]), bound)) for name, bound in plain)


def _things(answers: Sequence[Answer], gold: Sequence[Answer]) -> dict[tuple[int, str], str]:
    """The thing at each place of the answers where the gold has one without a name: what shares a string is one thing.

    What has the name of a named entity of the gold in the same place is that entity, and is left out.
    """
    named: dict[tuple[str, str], set[str]] = defaultdict(set)
    places = set()
    for line in gold:
        for name, bound in line.bindings:
            if own_id(bound):
                places.add((line.query, name))
            elif isinstance(bound, frozenset):
                named[line.query, name] |= bound
    groups, at, others = _Groups(), dict[tuple[int, str], str](), list[str]()
    for number, answer in enumerate(answers):
        for name, bound in answer.bindings:
            if isinstance(bound, frozenset) and bound and (answer.query, name) in places:
                at[number, name] = groups.joined(bound)
                others += [at[number, name]] if bound & named[answer.query, name] else []
    left_out = {groups.root(text) for text in others}
    return {place: root for place, text in at.items() if (root := groups.root(text)) not in left_out}


class _Groups:
    """Strings that belong to one thing, by way of the sets in which they stand together."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}

    def root(self, text: str) -> str:
        """The string that stands for the group of another."""
        while (parent := self.parents.setdefault(text, text)) != text:
            self.parents[text] = self.parents.setdefault(parent, parent)
            text = parent
        return text

    def joined(self, texts: frozenset[str]) -> str:
        """One of some strings that are one thing: its id if it has one, which says more than what it is called."""
        first, *others = [text for text in texts if is_own(text)] or sorted(texts)
        for text in others:
            self.parents[self.root(text)] = self.root(first)
        return first


@dataclass(frozen=True)
class _Told:
    """An answer about things without a name: its number, the number of its masked form, and its things by variable."""

    answer: int
    form: int
    things: Mapping[str, str]


class _Document:
    """The answers about one document with their things, and the lines of the gold with theirs."""

    def __init__(
        self, answers: Sequence[Answer], things: Mapping[tuple[int, str], str], gold: Sequence[Answer], credit: Credit
    ) -> None:
        self.answers, self.things = answers, things
        self.gold = [line for line in gold if _gold_things(line)]
        self.theirs = _ordered((line, _gold_things(line)) for line in self.gold)
        self.candidates: list[list[tuple[int, float]]] = []
        """For each masked form of an answer the lines of the gold that it may say, with its credit."""
        self.told = list(self._read(credit))
        self.mine = self._without_copies(_ordered((answers[one.answer], one.things) for one in self.told))

    def assigned(self) -> dict[str, str]:
        """Which thing of the answers is which of the gold."""
        links = [link for one in self._usable() for link in self._links(one)]
        anchored = {line for line, told in enumerate(self.gold) if len(_gold_things(told)) < len(told.bindings)}
        names = self._shared_names()
        allowed = names.union(*(link.pairs for link in links if link.line in anchored))
        bound = {self.theirs[thing] for line in anchored for thing in _gold_things(self.gold[line]).values()}
        kept = [link for link in links if all(pair in allowed or pair[1] not in bound for pair in link.pairs)]
        chosen = best_assignment(kept, dict.fromkeys(names, WORTH_OF_A_NAME))
        mine, theirs = {at: thing for thing, at in self.mine.items()}, list(self.theirs)
        return {mine[thing]: theirs[golden] for thing, golden in chosen.items()}

    def _usable(self) -> list[_Told]:
        """What is said of things; without what connects several where that has too many possible meanings (X-13)."""
        linked = sum(len(self.candidates[one.form]) for one in self.told if len(one.things) > 1)
        return self.told if linked <= MOST_LINKS else [one for one in self.told if len(one.things) == 1]

    def _read(self, credit: Credit) -> Iterator[_Told]:
        """The answers that may say what the gold says of such things; what is said twice is told once."""
        indexes = {query: self._index(query) for query in {line.query for line in self.gold}}
        forms: dict[tuple[str, Bindings], int] = {}
        seen = set()
        for number, answer in enumerate(self.answers):
            things = {name: self.things[number, name] for name, _ in answer.bindings if (number, name) in self.things}
            if not things or answer.query not in indexes:
                continue
            key = answer.query, _masked(answer, things)
            if key not in forms:
                forms[key] = len(forms)
                lines, index = indexes[answer.query]
                found = index.candidates(key[1], credit)
                self.candidates.append([(lines[at], value) for at, value in found if value >= LEAST - SLACK])
            same = forms[key], tuple(things.values())
            if self.candidates[forms[key]] and same not in seen:
                seen.add(same)
                yield _Told(number, forms[key], things)

    def _index(self, query: str) -> tuple[list[int], GoldIndex]:
        lines = [number for number, line in enumerate(self.gold) if line.query == query]
        return lines, GoldIndex([_masked(self.gold[number], _gold_things(self.gold[number])) for number in lines])

    def _without_copies(self, things: Mapping[str, int]) -> dict[str, int]:
        """The things, of those about which the very same is said only as many as the gold has: more change nothing."""
        forms: dict[str, list[int]] = defaultdict(list)
        several = set[str]()
        for one in self.told:
            for thing in one.things.values():
                forms[thing].append(one.form)
            several.update(one.things.values() if len(one.things) > 1 else ())
        copies = Counter[tuple[int, ...]]()
        kept = {}
        for thing, number in things.items():
            profile = tuple(sorted(forms[thing]))
            copies[profile] += 1
            if thing in several or copies[profile] <= len(self.theirs):
                kept[thing] = number
        return kept

    def _links(self, one: _Told) -> Iterator[Link]:
        if all(thing in self.mine for thing in one.things.values()):
            for line, credit in self.candidates[one.form]:
                golden = _gold_things(self.gold[line])
                pairs = {(self.mine[thing], self.theirs[golden[name]]) for name, thing in one.things.items()}
                if len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs}):
                    yield Link(one.answer, line, credit, tuple(sorted(pairs)))

    def _shared_names(self) -> set[Pair]:
        """Pairs of things that are described by the same words."""
        words: dict[str, set[int]] = defaultdict(set)
        for line in self.gold:
            for name, bound in without_own(line.bindings):
                for word in bound if name in _gold_things(line) else ():
                    words[word].add(self.theirs[_gold_things(line)[name]])
        return {
            (self.mine[thing], golden)
            for one in self.told
            for name, bound in self.answers[one.answer].bindings
            if (thing := one.things.get(name, "")) in self.mine
            for word in bound
            for golden in words.get(word, ())
        }


def _gold_things(line: Answer) -> dict[str, str]:
    """The things without a name in a line of the gold, by variable."""
    return {name: thing for name, bound in line.bindings if (thing := own_id(bound))}


def _masked(answer: Answer, things: Mapping[str, str]) -> Bindings:
    return tuple((name, SOMETHING if name in things else bound) for name, bound in answer.bindings)


def _ordered(told: Iterable[tuple[Answer, Mapping[str, str]]]) -> dict[str, int]:
    """Things with their numbers, in an order that depends on what is said of them; ids come last."""
    said: dict[str, list[str]] = defaultdict(list)
    for answer, things in told:
        rest = [
            (name, sorted(bound) if isinstance(bound, frozenset) else bound) for name, bound in _masked(answer, things)
        ]
        for name, thing in things.items():
            said[thing].append(repr((answer.query, name, rest)))
    order = sorted(said, key=lambda thing: (sorted(said[thing]), thing))
    return {thing: number for number, thing in enumerate(order)}
