"""Pools: which documents to have judged when several systems retrieved more than anybody can read (M95).

The pool of a query is the union of the first k documents of every run. A document that many runs found is judged once.
Runs have a precedence: what the first ones found is judged before what only later ones did, so that a budget that does
not reach for all reaches for those. What was pooled but not judged has grade -1, which is not the same as 0; what is
in no pool has no grade at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from basanite.formats.retrieval.trec import Graded, Scored, rank_documents

UNJUDGED = -1
HEADER = "order\tquery\tdocument\tgrade\n"


@dataclass(frozen=True)
class PooledRun:
    """A run that takes part: its name, its precedence (1 is judged first) and the ranking of each query."""

    name: str
    scores: Scored
    rankings: Mapping[str, Sequence[str]]
    precedence: int = 1

    @classmethod
    def of(cls, name: str, scores: Scored, precedence: int = 1) -> PooledRun:
        """A run from its scores, ties as in trec_eval."""
        return cls(name, scores, {query: rank_documents(found) for query, found in scores.items()}, precedence)


@dataclass(frozen=True)
class Pooled:
    """A document in the pool of one query: the best place that any run gave it, and the runs that brought it."""

    document: str
    precedence: int
    rank: int
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Pool:
    """The documents to be judged for each query, in the order in which to judge them."""

    depth: int
    queries: Mapping[str, tuple[Pooled, ...]]

    @property
    def size(self) -> int:
        """How many pairs of query and document there are."""
        return sum(map(len, self.queries.values()))

    def brought_by(self, run: str, *, alone: bool = False) -> dict[str, set[str]]:
        """For each query the documents that a run brought, or that it alone did."""
        return {
            query: {one.document for one in pooled if run in one.runs and (len(one.runs) == 1 or not alone)}
            for query, pooled in self.queries.items()
        }


def pool_of(runs: Sequence[PooledRun], *, depth: int, sample: str | None = None) -> Pool:
    """The pool of some runs; by precedence, then rank, or with `sample` in an order drawn from that seed.

    >>> one, other = (PooledRun.of(name, {"q": scores}) for name, scores in
    ...               (("A", {"x": 2.0, "y": 1.0}), ("B", {"z": 3.0, "x": 1.0})))
    >>> [pooled.document for pooled in pool_of([one, other], depth=2).queries["q"]]
    ['x', 'z', 'y']
    """
    queries = sorted({query for run in runs for query in run.rankings})
    return Pool(depth, {query: tuple(_query_pool(query, runs, depth, sample)) for query in queries})


def _query_pool(query: str, runs: Sequence[PooledRun], depth: int, sample: str | None) -> list[Pooled]:
    places: dict[str, list[tuple[int, int, str]]] = {}
    for run in runs:
        for rank, document in enumerate(run.rankings.get(query, ())[:depth], start=1):
            places.setdefault(document, []).append((run.precedence, rank, run.name))
    merged = [
        Pooled(document, *min(found)[:2], tuple(name for *_, name in found)) for document, found in places.items()
    ]
    if sample is not None:
        return sorted(merged, key=lambda pooled: _dice(sample, query, pooled.document))
    return sorted(merged, key=lambda pooled: (pooled.precedence, pooled.rank, pooled.document))


def _dice(seed: str, query: str, document: str) -> bytes:
    """A number that looks random and is the same everywhere."""
    return hashlib.sha256("\0".join((seed, query, document)).encode("utf-8", "surrogatepass")).digest()


def to_judge(pool: Pool, judged: Graded, *, budget: int | None = None) -> list[tuple[str, str]]:
    """The pairs that still need a judgement: the first of every query, then the second of every query, and so on."""
    waiting = {
        query: [one.document for one in pooled if judged.get(query, {}).get(one.document, UNJUDGED) < 0]
        for query, pooled in pool.queries.items()
    }
    rounds = range(max(map(len, waiting.values()), default=0))
    pairs = ((query, found[turn]) for turn in rounds for query, found in waiting.items() if turn < len(found))
    return list(islice(pairs, budget))


def judging_lines(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A list to judge from; it does not say which run found what, for judges must not know."""
    yield HEADER
    for order, (query, document) in enumerate(pairs, start=1):
        yield f"{order}\t{query}\t{document}\t\n"


def qrels_of(pool: Pool, judged: Graded) -> Graded:
    """All pooled documents with their grades, -1 for those not judged; grades from outside the pool are kept."""
    queries = sorted({*pool.queries, *judged})
    return {
        query: {one.document: UNJUDGED for one in pool.queries.get(query, ())} | judged.get(query, {})
        for query in queries
    }


def qrels_lines(qrels: Graded) -> Iterator[str]:
    """Lines of qrels, queries and documents in order."""
    for query in sorted(qrels):
        for document, grade in sorted(qrels[query].items()):
            yield f"{query} 0 {document} {grade}\n"


@dataclass(frozen=True)
class LeftOut:
    """What becomes of a run if it had not helped to make the pool."""

    run: str
    unique: int
    """Documents in the pool that no other run brought."""
    unique_relevant: int
    value: float
    value_without: float
    rank: int
    rank_without: int


Score = Callable[[PooledRun, Graded], float]


def leave_one_out(
    runs: Sequence[PooledRun], pool: Pool, judged: Graded, score: Score, *, least: int = 1
) -> list[LeftOut]:
    """For each run its value and rank with all judgements, and without those that only it brought into the pool."""
    values = {run.name: score(run, judged) for run in runs}
    found = []
    for run in runs:
        alone = pool.brought_by(run.name, alone=True)
        graded = [judged.get(query, {}).get(name, UNJUDGED) for query, names in alone.items() for name in names]
        rest = {
            query: {name: grade for name, grade in grades.items() if name not in alone.get(query, ())}
            for query, grades in judged.items()
        }
        without = {other.name: score(other, rest) for other in runs}
        ranks = place_of(run.name, values), place_of(run.name, without)
        relevant = sum(grade >= least for grade in graded)
        found.append(LeftOut(run.name, len(graded), relevant, values[run.name], without[run.name], *ranks))
    return found


def place_of(name: str, values: Mapping[str, float]) -> int:
    """The rank of one among several, 1 for the highest; equals share the better one.

    >>> place_of("b", {"a": 0.5, "b": 0.4, "c": 0.4})
    2
    """
    return 1 + sum(value > values[name] for value in values.values())
