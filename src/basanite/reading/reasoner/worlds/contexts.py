"""Consistent contexts: the largest parts of contradictory input that contradict nothing (R-25).

The rules are made ground here, over everything that could follow; the solver only gets numbers, in a process of its
own. Input that no contradiction depends on is in every context and never reaches it. What the solver returns is
reasoned through again with the ontology; a context that turns out inconsistent becomes one more thing to avoid.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations as choose
from typing import Any, Final, Literal

from basanite.errors import MissingExtraError
from basanite.reading.limits import LimitReachedError, Undecided
from basanite.reading.ontology import Fault, check_statements
from basanite.reading.patterns import Pattern, Variable
from basanite.reading.reasoner.calculator import Calculator
from basanite.reading.reasoner.chaining import Chained, Fact, chain_possible
from basanite.reading.reasoner.inference import Firing, Inference, Reasoner
from basanite.reading.reasoner.store import SHIFT, Terms, loaded, match
from basanite.reading.terms import Statement

Which = Literal["largest", "maximal"]
MOST_ROUNDS: Final = 50
CHILD: Final = "basanite.reading.reasoner.worlds.clingo_child"


@dataclass(frozen=True)
class Context:
    """A consistent part of the input: what is left out of it, and how likely everything is that follows from it."""

    left_out: tuple[Statement, ...]
    size: int
    probability: float | None
    inference: Inference


@dataclass(frozen=True)
class Contexts:
    """All contexts of the wanted kind, the most likely first; or the limit that was reached."""

    contexts: tuple[Context, ...]
    undecided: tuple[Undecided, ...] = ()


def contexts(reasoner: Reasoner, statements: Iterable[Statement], *, which: Which = "maximal") -> Contexts:
    """The consistent contexts of some statements: all that cannot be enlarged, or only the largest."""
    given = list(dict.fromkeys(statements))
    try:
        found = _Search(reasoner, given).contexts(which)
    except LimitReachedError as reached:
        return Contexts((), (Undecided.by_limit(reached),))
    return Contexts(tuple(sorted(found, key=_rank)))


def _rank(context: Context) -> tuple[float, int, list[str]]:
    chance = -1.0 if context.probability is None else -context.probability
    return chance, -context.size, [str(statement) for statement in context.left_out]


@dataclass
class _Ground:
    """The rules over everything that could follow, as far as contradictions depend on it."""

    reasoner: Reasoner
    state: Chained
    given: set[Fact]
    rows: list[str] = field(default_factory=list)
    atoms: dict[Fact, int] = field(default_factory=dict)
    done: set[tuple[Fact, int | None]] = field(default_factory=set)

    def atom(self, fact: Fact) -> int:
        """The number of a fact."""
        return self.atoms.setdefault(fact, len(self.atoms))

    def forbid(self, groups: Iterable[Sequence[Fact]]) -> None:
        """Say that not all facts of a group can be there."""
        for facts in groups:
            self.rows.append(f":- {', '.join(f'h({self.atom(fact)})' for fact in facts)}.")
            for fact in facts:
                self.explain(fact)

    def explain(self, fact: Fact) -> None:
        """Add every rule that leads to a fact, and what those rules depend on."""
        waiting: list[Fact] = [fact]
        while waiting:
            one = waiting.pop()
            if (one, None) in self.done:
                continue
            self.done.add((one, None))
            if one in self.given:
                self.rows.append(f"{{in({self.atom(one)})}}. h({self.atom(one)}) :- in({self.atom(one)}).")
            for firing in self.supports.get(one, ()):
                self.rows.append(f"h({self.atom(one)}) :- f({self._body(firing, waiting)}).")

    def _body(self, firing: Firing, waiting: list[Fact]) -> int:
        """The number of a firing, whose conditions are added when it is first met."""
        known = len(self.numbers)
        number = self.numbers.setdefault(firing, known)
        if number == known:
            facts, blockers = self.conditions(firing)
            waiting += [*facts, *blockers]
            body = [f"h({self.atom(fact)})" for fact in facts] + [
                f"not {self._other(f, firing.at, waiting)}" for f in blockers
            ]
            self.rows.append(f"f({number}){' :- ' + ', '.join(body) if body else ''}.")
        return number

    def _other(self, fact: Fact, at: int, waiting: list[Fact]) -> str:
        """That a fact is there by other means than one rule: no rule is blocked by what only it supports."""
        own = [firing for firing in self.supports.get(fact, ()) if firing.at == at]
        if not own:
            return f"h({self.atom(fact)})"
        name = f"o({self.atom(fact)},{at})"
        if (fact, at) not in self.done:
            self.done.add((fact, at))
            if fact in self.given:
                self.rows.append(f"{name} :- in({self.atom(fact)}).")
            for firing in self.supports.get(fact, ()):
                if firing.at != at:
                    self.rows.append(f"{name} :- f({self._body(firing, waiting)}).")
        return name

    def conditions(self, firing: Firing) -> tuple[list[Fact], list[Fact]]:
        """The facts that a firing needs, and those that would block it."""
        inference = Inference(self.reasoner, self.state)
        blockers: dict[Fact, None] = {}
        for goal in inference.absent(firing):
            if isinstance(goal, Pattern):
                blockers.update(dict.fromkeys(self._matching(goal)))
        return inference.antecedents(firing), list(blockers)

    def _matching(self, pattern: Pattern) -> Iterator[Fact]:
        find = self.state.terms.find
        numbers = [None if isinstance(term, Variable) else find(term) for term in pattern.terms]
        if any(n is None and not isinstance(t, Variable) for n, t in zip(numbers, pattern.terms, strict=True)):
            return
        same = [
            (a, b)
            for a, b in choose(range(3), 2)
            if isinstance(pattern.terms[a], Variable) and pattern.terms[a] == pattern.terms[b]
        ]
        for row in match(self.state.sure, *numbers):
            if all(row[a] == row[b] for a, b in same):
                yield row[1], row[0] << SHIFT | row[2]

    def __post_init__(self) -> None:
        self.numbers: dict[Firing, int] = {}
        self.supports: dict[Fact, list[Firing]] = {}
        for firing in Inference(self.reasoner, self.state).firings():
            for head in self.reasoner.program.compiled[firing.at].heads:
                self.supports.setdefault(head.fact(firing.binding), []).append(firing)


class _Search:
    """One search: ground once, then ask the solver until what it returns is consistent."""

    def __init__(self, reasoner: Reasoner, given: Sequence[Statement]) -> None:
        self.reasoner, self.given = reasoner, given
        terms = Terms(reasoner.program.terms)
        calculator = Calculator(terms, reasoner.limits)
        store = loaded(given, terms)
        facts = set(store.triples())
        self.state = chain_possible(reasoner.program, store, calculator)
        self.ground = _Ground(reasoner, self.state, facts)
        self.everything = Inference(reasoner, self.state)

    def contexts(self, which: Which) -> list[Context]:
        """Ask, check, forbid what is still inconsistent, and ask again."""
        self._forbid_rules()
        self.ground.forbid(self._groups(self._faults(self.everything)))
        for _ in range(MOST_ROUNDS):
            found = [self._context(out) for out in self._ask(which)]
            broken = [context for context in found if context.inference.contradictions]
            if not broken:
                return found
            faults = (fault for context in broken for fault in self._faults(context.inference))
            self.ground.forbid(self._groups(faults))
        raise LimitReachedError("contexts", self.reasoner.limits.contexts)

    def _faults(self, inference: Inference) -> list[Fault]:
        ontology = self.reasoner.ontology
        if ontology is None:
            return []
        faults = check_statements(ontology, sorted(inference.statements(), key=str))
        return [fault for fault in faults if fault.severity == "violation"]

    def _forbid_rules(self) -> None:
        for at, rule in enumerate(self.reasoner.program.rules):
            for binding in self.state.firings[at] if rule.contradiction else ():
                waiting: list[Fact] = []
                self.ground.rows.append(f":- f({self.ground._body(Firing(at, binding), waiting)}).")
                for fact in waiting:
                    self.ground.explain(fact)

    def _groups(self, faults: Iterable[Fault]) -> Iterator[list[Fact]]:
        """The sets of facts that cannot be together; of too many values any that are one too many."""
        for fault in faults:
            facts = [fact for fact in map(self.everything.fact, fault.statements) if fact is not None]
            most = self._most(fault)
            if most is not None and 0 < most < len(facts) <= 12:
                yield from map(list, choose(facts, most + 1))
            else:
                yield facts

    def _most(self, fault: Fault) -> int | None:
        """How many values are allowed, where values differ as terms."""
        ontology = self.reasoner.ontology
        if fault.kind != "too-many" or ontology is None:
            return None
        most = [limit.most for limit in ontology.limits.get(fault.element, ()) if limit.most is not None]
        return min(most, default=None) if f"has {len(fault.statements)} values" in fault.message else None

    def _ask(self, which: Which) -> list[set[Fact]]:
        """The sets of inputs that are left out."""
        chosen = {number: fact for fact, number in self.ground.atoms.items() if fact in self.ground.given}
        choices = {number for number, fact in chosen.items() if (fact, None) in self.ground.done}
        program = "\n".join([*self.ground.rows, "#show in/1."])
        which = which if choices else "maximal"  # where nothing is to be chosen nothing is largest either
        if which == "largest":
            program += "\n#maximize { 1,X : in(X) }."
        result = _solved(program, which, self.reasoner)
        return [{chosen[number] for number in choices.difference(inside)} for inside in result]

    def _context(self, out: set[Fact]) -> Context:
        left_out = tuple(sorted(map(self.everything.statement, out), key=str))
        without = set(left_out)
        kept = [statement for statement in self.given if statement not in without]
        inference = self.reasoner.infer(kept)
        if inference.stopped is not None:
            raise LimitReachedError(inference.stopped.limit, inference.stopped.most, inference.stopped.rule)
        return Context(left_out, len(kept), self._probability(inference), inference)

    def _probability(self, inference: Inference) -> float | None:
        """How likely it is that every conclusion of a context holds: the product over its uncertain firings."""
        rules = self.reasoner.program.rules
        if all(rule.probability is None for rule in rules):
            return None
        whole = 1.0
        for at, rule in enumerate(rules):
            if rule.probability is not None:
                whole *= float(rule.probability) ** len(inference.state.firings[at])
        return whole


def _solved(program: str, which: Which, reasoner: Reasoner) -> list[list[int]]:
    """Run the solver in a process of its own, within limits."""
    if find_spec("clingo") is None:
        raise MissingExtraError("Contexts need clingo, which is not installed: pip install -r requirements/reading.txt")
    limits = reasoner.limits
    task = {"program": program, "which": which, "most": limits.contexts, "seconds": limits.seconds}
    words = json.dumps({**task, "megabytes": limits.megabytes})
    command = [sys.executable, "-I", "-m", CHILD]
    try:
        done = subprocess.run(
            command, input=words.encode(), capture_output=True, timeout=2 * limits.seconds, check=False
        )
        result: dict[str, Any] = json.loads(done.stdout or json.dumps({"limit": _ended_by(done.returncode)}))
    except subprocess.TimeoutExpired:
        result = {"limit": "seconds"}
    if "limit" in result:
        raise LimitReachedError(result["limit"], getattr(limits, result["limit"]))
    if result["cut"]:
        raise LimitReachedError("contexts", limits.contexts)
    return [list(inside) for inside in result["sets"]]


def _ended_by(code: int) -> str:
    """The limit that ended a process which printed nothing: it ran out of time, or else of memory."""
    return "seconds" if -code in (getattr(signal, "SIGXCPU", 0), getattr(signal, "SIGKILL", 0)) else "megabytes"
