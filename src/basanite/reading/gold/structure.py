"""Things that a text never names, matched by what is said of them: the best assignment inside each document (R-31).

Statements about one thing each make it a linear assignment, which is exact. Statements that connect several things make
it an integer program: its best answer after `MOST_NODES` branches is taken, exact where the search ends before.
Where there are more than `MOST_LINKED` of them, each thing is judged on its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import nlargest
from typing import Final, TypeAlias

import numpy as np

from basanite.metrics.answers import LEAST, SLACK, Bindings, Bound, Credit, GoldIndex
from basanite.reading.gold.answers import Answer, is_own, without_own

MOST_LINKED: Final = 2_000
"""Links of a document that the integer program takes; above, a link is shared out evenly among its things."""
MOST_NODES: Final = 5_000
"""Branches that it looks at: a bound in steps and not in time, so that the same input has the same outcome."""

Pair: TypeAlias = tuple[int, int]
"""A thing of the answers and one of the gold, each by its number."""


@dataclass(frozen=True)
class Link:
    """An answer that says what a line of the gold says, if its things are the things of the line."""

    answer: int
    line: int
    credit: float
    pairs: tuple[Pair, ...]


def best_assignment(links: Sequence[Link], bonus: Mapping[Pair, float]) -> dict[int, int]:
    """The assignment with the most credit; `bonus` settles ties between pairs.

    >>> best_assignment([Link(0, 0, 1.0, ((0, 0),)), Link(1, 1, 1.0, ((0, 1),)), Link(2, 0, 1.0, ((1, 0),))], {})
    {0: 1, 1: 0}
    """
    linked = any(len(link.pairs) > 1 for link in links)
    pairs = _search_assignment(links, bonus) if linked and len(links) <= MOST_LINKED else None
    return dict(sorted(_linear(_weights(links, bonus)) if pairs is None else pairs))


def _weights(links: Iterable[Link], bonus: Mapping[Pair, float]) -> dict[Pair, float]:
    """What each pair is worth by itself; what several things have in common is shared out evenly."""
    shares: dict[Pair, list[Link]] = defaultdict(list)
    for link in links:
        for pair in link.pairs:
            shares[pair].append(link)
    return {pair: _most_credit(found) + bonus.get(pair, 0.0) for pair, found in shares.items()}


def _most_credit(links: Sequence[Link]) -> float:
    """The most credit that answers have if each counts for one line, and each line for one answer."""
    answers, lines = {link.answer for link in links}, {link.line for link in links}
    if len(answers) == len(lines) == len(links):
        return sum(link.credit / len(link.pairs) for link in links)
    rows, columns = _numbers(answers), _numbers(lines)
    matrix = np.zeros((len(rows), len(columns)))
    for link in links:
        matrix[rows[link.answer], columns[link.line]] = link.credit / len(link.pairs)
    return float(matrix[_assignment(matrix)].sum())


def _linear(weights: Mapping[Pair, float]) -> list[Pair]:
    """The assignment with the largest sum of weights, exactly."""
    columns = _numbers(golden for _, golden in weights)
    by_column: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for (thing, golden), weight in weights.items():
        by_column[golden].append((weight, -thing))
    # A column never needs more rows than there are columns: of its best ones, the others leave at least one free.
    best = {golden: nlargest(len(columns), found) for golden, found in by_column.items()}
    rows = _numbers(-thing for found in best.values() for _, thing in found)
    matrix = np.zeros((len(rows), len(columns)))
    for golden, found in best.items():
        for weight, thing in found:
            matrix[rows[-thing], columns[golden]] = weight
    things, golds = list(rows), list(columns)
    places = zip(*_assignment(matrix), strict=True)
    return [(things[row], golds[column]) for row, column in places if matrix[row, column] > 0]


def _assignment(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.optimize import linear_sum_assignment  # here, because it is slow to load

    rows, columns = linear_sum_assignment(matrix, maximize=True)
    return rows, columns


def _numbers(found: Iterable[int]) -> dict[int, int]:
    return {one: at for at, one in enumerate(sorted(set(found)))}


def _search_assignment(links: Sequence[Link], bonus: Mapping[Pair, float]) -> list[Pair] | None:
    """The best assignment found as an integer program: a link counts if all its pairs are chosen; None if none is."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    pairs = sorted({pair for link in links for pair in link.pairs})
    at = {pair: place for place, pair in enumerate(pairs)}
    rows = [
        [(at[pair], 1.0) for pair in pairs if pair[side] == one] for side in (0, 1) for one in {p[side] for p in pairs}
    ]
    size = len(pairs) + len(links)
    for name in ("answer", "line"):
        groups: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, link in enumerate(links, start=len(pairs)):
            groups[getattr(link, name)].append((place, 1.0))
        rows += groups.values()
    most = [1.0] * len(rows)
    for place, link in enumerate(links, start=len(pairs)):
        rows += [[(place, 1.0), (at[pair], -1.0)] for pair in link.pairs]
        most += [0.0] * len(link.pairs)
    worth = np.array([bonus.get(pair, 0.0) for pair in pairs] + [link.credit for link in links])
    cells = [(number, place, value) for number, row in enumerate(rows) for place, value in row]
    numbers, places, values = zip(*cells, strict=True)
    matrix = csr_array((values, (numbers, places)), shape=(len(rows), size))
    whole = np.r_[np.ones(len(pairs)), np.zeros(len(links))]
    found = milp(
        -worth,
        integrality=whole,
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, ub=np.array(most)),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    used = {pair for place, link in enumerate(links, start=len(pairs)) if found.x[place] > 0.5 for pair in link.pairs}
    return [pair for place, pair in enumerate(pairs) if found.x[place] > 0.5 and pair in used]


SOMETHING: Final = frozenset({"_: "})
"""Any thing without a name; no answer can say this, because names are read without blanks around them."""
MOST_LINKS: Final = 100_000
"""Possible agreements of a document about several things at once that are looked at."""
WORTH_OF_A_NAME: Final = 1e-6
"""What a shared description adds to a pair: it settles ties and nothing else."""


@lru_cache(maxsize=65_536)  # the same names are asked about for every line and every pair
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
        renamed = _renamed_bindings([answers[place] for place in places], lines_of, credit)
        for place, bindings in zip(places, renamed, strict=True):
            if bindings != found[place].bindings:
                found[place] = replace(found[place], bindings=bindings)
    return found


def _renamed_bindings(
    answers: Sequence[Answer], gold: Sequence[Sequence[Answer]], credit: Credit
) -> Iterator[Bindings]:
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
        taken |= _Document(answers, left, lines, credit).assignment()
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
                at[number, name] = groups.join(bound)
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

    def join(self, texts: frozenset[str]) -> str:
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
        self.theirs = _thing_numbers((line, _gold_things(line)) for line in self.gold)
        self.candidates: list[list[tuple[int, float]]] = []
        """For each masked form of an answer the lines of the gold that it may say, with its credit."""
        self.told = list(self._read(credit))
        self.mine = self._without_copies(_thing_numbers((answers[one.answer], one.things) for one in self.told))

    def assignment(self) -> dict[str, str]:
        """Which thing of the answers is which of the gold."""
        linked = sum(len(self.candidates[one.form]) for one in self.told if len(one.things) > 1)
        # What connects several things is left out where that has too many possible meanings.
        usable = self.told if linked <= MOST_LINKS else [one for one in self.told if len(one.things) == 1]
        links = [link for one in usable for link in self._links(one)]
        anchored = {line for line, told in enumerate(self.gold) if len(_gold_things(told)) < len(told.bindings)}
        names = self._shared_names()
        allowed = names.union(*(link.pairs for link in links if link.line in anchored))
        bound = {self.theirs[thing] for line in anchored for thing in _gold_things(self.gold[line]).values()}
        kept = [link for link in links if all(pair in allowed or pair[1] not in bound for pair in link.pairs)]
        chosen = best_assignment(kept, dict.fromkeys(names, WORTH_OF_A_NAME))
        mine, theirs = {at: thing for thing, at in self.mine.items()}, list(self.theirs)
        return {mine[thing]: theirs[golden] for thing, golden in chosen.items()}

    def _read(self, credit: Credit) -> Iterator[_Told]:
        """The answers that may say what the gold says of such things; what is said twice counts once."""
        indexes = {query: self._index(query) for query in {line.query for line in self.gold}}
        forms: dict[tuple[str, Bindings], int] = {}
        seen = set()
        for number, answer in enumerate(self.answers):
            things = {name: self.things[number, name] for name, _ in answer.bindings if (number, name) in self.things}
            if not things or answer.query not in indexes:
                continue
            key = answer.query, _masked_bindings(answer, things)
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
        return lines, GoldIndex(
            [_masked_bindings(self.gold[number], _gold_things(self.gold[number])) for number in lines]
        )

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


def _masked_bindings(answer: Answer, things: Mapping[str, str]) -> Bindings:
    return tuple((name, SOMETHING if name in things else bound) for name, bound in answer.bindings)


def _thing_numbers(told: Iterable[tuple[Answer, Mapping[str, str]]]) -> dict[str, int]:
    """Things with their numbers, in an order that depends on what is said of them; ids come last."""
    said: dict[str, list[str]] = defaultdict(list)
    for answer, things in told:
        rest = [
            (name, sorted(bound) if isinstance(bound, frozenset) else bound)
            for name, bound in _masked_bindings(answer, things)
        ]
        for name, thing in things.items():
            said[thing].append(repr((answer.query, name, rest)))
    order = sorted(said, key=lambda thing: (sorted(said[thing]), thing))
    return {thing: number for number, thing in enumerate(order)}
