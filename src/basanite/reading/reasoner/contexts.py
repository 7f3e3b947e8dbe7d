"""Consistent contexts: the largest parts of contradictory input that contradict nothing (R-25, R-35).

The rules are made ground here, over everything that could follow; the solver only gets numbers, in a process of its
own. Input that no contradiction depends on is in every context and never reaches it. Contradictions that share nothing
are solved apart from each other, so their repairs add up and never multiply. What the solver returns is reasoned
through again with the ontology; a context that turns out inconsistent becomes one more thing to avoid.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations as choose
from itertools import product
from math import prod
from typing import Any, Final, Literal

from basanite.extras import missing_extra
from basanite.reading.limits import LimitReachedError, Undecided
from basanite.reading.ontology_checks import Fault, check_statements
from basanite.reading.patterns import Pattern, Variable
from basanite.reading.reasoner.chaining import Fact, chain_possible
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.inference import Firing, Inference, Reasoner
from basanite.reading.reasoner.store import SHIFT, Calculator, Terms, load_store, match
from basanite.reading.terms import Statement

Which = Literal["largest", "maximal"]
MOST_ROUNDS: Final = 50
MOST_COMBINED: Final = 100
"""Combinations of repairs of several conflicts that are listed; of more, only the best one."""
MOST_SETS: Final = 1000
LONGEST_SET: Final = 200
_NAME: Final = re.compile(r"\b(?:h|f|in|o)\([\d,]+\)")
CHILD: Final = "basanite.reading.reasoner.clingo_child"


@dataclass(frozen=True)
class Context:
    """A consistent part of the input: what is left out of it, and how likely everything is that follows from it."""

    left_out: tuple[Statement, ...]
    size: int
    probability: float | None
    inference: Inference


@dataclass(frozen=True)
class Conflict:
    """Contradictions that hang together: what is in conflict, and what can be left out to end it."""

    sets: tuple[tuple[Statement, ...], ...]
    """Statements that cannot all be true; without any one of them, the others of the set can."""
    repairs: tuple[tuple[Statement, ...], ...]
    """Each leaves out as little as it can, the best first."""
    complete: bool
    """Whether there are no other repairs."""
    exact: bool
    """Whether no repair leaves out fewer statements than the smallest of these."""


@dataclass(frozen=True)
class Contexts:
    """The contexts of the wanted kind, the most likely first; with many conflicts only the best one."""

    contexts: tuple[Context, ...]
    undecided: tuple[Undecided, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    best: Context | None = None
    """The best repair of each conflict together."""

    @property
    def exact(self) -> bool:
        """Whether no consistent context is larger than the best one, as far as conflicts are independent."""
        return self.best is not None and all(one.exact for one in self.conflicts)


def contexts(reasoner: Reasoner, statements: Iterable[Statement], *, which: Which = "maximal") -> Contexts:
    """The consistent contexts of some statements: all that cannot be enlarged, or only the largest."""
    given = list(dict.fromkeys(statements))
    try:
        return _Search(reasoner, given).contexts(which)
    except LimitReachedError as reached:
        return Contexts((), (Undecided.by_limit(reached),))


def _rank(context: Context) -> tuple[float, int, list[str]]:
    chance = -1.0 if context.probability is None else -context.probability
    return chance, -context.size, [str(statement) for statement in context.left_out]


@dataclass
class _Ground:
    """The rules over everything that could follow, as far as contradictions depend on it."""

    everything: Inference
    """All that could follow if nothing were in the way."""
    given: set[Fact]
    """Input, which may be left out."""
    fixed: set[Fact]
    """What the ontology states, which may not."""
    rows: list[str] = field(default_factory=list)
    atoms: dict[Fact, int] = field(default_factory=dict)
    done: set[tuple[Fact, int | None]] = field(default_factory=set)

    def atom(self, fact: Fact) -> int:
        """The number of a fact."""
        return self.atoms.setdefault(fact, len(self.atoms))

    def programs(self) -> list[str]:
        """One program for each group of lines that hang together; what is always true connects nothing."""
        named = [(text, [name for name in _NAME.findall(text) if name not in self.certain]) for text in self.rows]
        heads: dict[str, str] = {}

        def head(name: str) -> str:
            while (above := heads.setdefault(name, name)) != name:
                heads[name] = heads[above]  # halve the way for the next time
                name = above
            return name

        for _, names in named:
            for name in names[1:]:
                heads[head(name)] = head(names[0])
        common = [text for text, names in named if not names]
        groups: dict[str, list[str]] = {}
        for text, names in named:
            if names:
                groups.setdefault(head(names[0]), []).append(text)
        return ["\n".join([*common, *lines, "#show in/1."]) for lines in groups.values()]

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
            if one in self.fixed:
                self.certain.add(f"h({self.atom(one)})")
                self.rows.append(f"h({self.atom(one)}).")
            elif one in self.given:
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
            if fact in self.fixed:
                self.rows.append(f"{name}.")
            elif fact in self.given:
                self.rows.append(f"{name} :- in({self.atom(fact)}).")
            for firing in self.supports.get(fact, ()):
                if firing.at != at:
                    self.rows.append(f"{name} :- f({self._body(firing, waiting)}).")
        return name

    def conditions(self, firing: Firing) -> tuple[list[Fact], list[Fact]]:
        """The facts that a firing needs, and those that would block it."""
        inference = self.everything
        blockers: dict[Fact, None] = {}
        for goal in inference.absent(firing):
            if isinstance(goal, Pattern):
                blockers.update(dict.fromkeys(self._matching(goal)))
        return inference.antecedents(firing), list(blockers)

    def _matching(self, pattern: Pattern) -> Iterator[Fact]:
        find = self.everything.state.terms.find
        numbers = [None if isinstance(term, Variable) else find(term) for term in pattern.terms]
        if any(n is None and not isinstance(t, Variable) for n, t in zip(numbers, pattern.terms, strict=True)):
            return
        same = [
            (a, b)
            for a, b in choose(range(3), 2)
            if isinstance(pattern.terms[a], Variable) and pattern.terms[a] == pattern.terms[b]
        ]
        for row in match(self.everything.state.sure, *numbers):
            if all(row[a] == row[b] for a, b in same):
                yield row[1], row[0] << SHIFT | row[2]

    def __post_init__(self) -> None:
        self.certain: set[str] = set()
        self.numbers: dict[Firing, int] = {}
        self.supports: dict[Fact, list[Firing]] = {}
        for firing in self.everything.firings():
            for head in self.everything.program.compiled[firing.at].heads:
                self.supports.setdefault(head.fact(firing.binding), []).append(firing)


@dataclass(frozen=True)
class _Solved:
    """What the solver found for one group of contradictions."""

    choices: set[Fact]
    repairs: Sequence[frozenset[Fact]]
    stopped: str
    """The limit at which not all repairs were found."""
    exact: bool


class _Search:
    """One search: ground once, then ask the solver until what it returns is consistent."""

    def __init__(self, reasoner: Reasoner, given: Sequence[Statement]) -> None:
        self.reasoner, self.given = reasoner, given
        program = reasoner.program_for((*reasoner.facts, *given))
        terms = Terms(program.terms)
        calculator = Calculator(terms, reasoner.limits)
        store = load_store((*reasoner.facts, *given), terms)
        self.everything = Inference(reasoner, program, chain_possible(program, store, calculator))
        fixed, chosen = (
            {fact for fact in map(self.everything.fact, statements) if fact is not None}
            for statements in (reasoner.facts, given)
        )
        self.ground = _Ground(self.everything, chosen - fixed, fixed)

    def contexts(self, which: Which) -> Contexts:
        """Ask, check, forbid what is still inconsistent, and ask again."""
        self._forbid_rules()
        self.ground.forbid(self._groups(self._faults(self.everything)))
        for _ in range(MOST_ROUNDS):
            solved = self._ask(which)
            base = [min(one.repairs, key=self._size_and_text) for one in solved]
            checked = [
                [self._context(self._with(base, at, out)) for out in one.repairs] for at, one in enumerate(solved)
            ]
            broken = [context for found in checked for context in found if context.inference.contradictions]
            if not broken:
                return self._together(solved, checked)
            self.ground.forbid(self._groups(fault for one in broken for fault in self._faults(one.inference)))
        raise LimitReachedError("contexts", self.reasoner.limits.contexts)

    def _size_and_text(self, out: frozenset[Fact]) -> tuple[int, list[str]]:
        return len(out), sorted(str(self.everything.statement(fact)) for fact in out)

    def _with(self, base: Sequence[frozenset[Fact]], at: int, out: frozenset[Fact]) -> frozenset[Fact]:
        """What is left out with one repair of a conflict and the smallest repairs of all others."""
        return out.union(*(one for place, one in enumerate(base) if place != at))

    def _together(self, solved: Sequence[_Solved], checked: Sequence[Sequence[Context]]) -> Contexts:
        """The result: all combinations of repairs where they are few, and the best one."""
        ordered = [
            sorted(zip(one.repairs, found, strict=True), key=lambda pair: _rank(pair[1]))
            for one, found in zip(solved, checked, strict=True)
        ]
        best = self._context(frozenset().union(*(pairs[0][0] for pairs in ordered)))
        stopped = {one.stopped: None for one in solved if one.stopped}
        undecided = tuple(Undecided("", (), name, getattr(self.reasoner.limits, name)) for name in stopped)
        conflicts = self._conflicts(solved, ordered)
        most = min(self.reasoner.limits.contexts, MOST_COMBINED if len(solved) > 1 else self.reasoner.limits.contexts)
        if undecided or prod(map(len, ordered)) > most:
            return Contexts((), undecided, conflicts, best)
        outs = [
            frozenset[Fact]().union(*choice) for choice in product(*([out for out, _ in pairs] for pairs in ordered))
        ]
        listed = ordered[0] if len(ordered) == 1 else [(out, self._context(out)) for out in outs]
        return Contexts(tuple(sorted((context for _, context in listed), key=_rank)), (), conflicts, best)

    def _conflicts(
        self, solved: Sequence[_Solved], ordered: Sequence[Sequence[tuple[frozenset[Fact], Context]]]
    ) -> tuple[Conflict, ...]:
        """The conflicts with their minimal sets, in the order of their statements."""
        found = []
        sets = self._minimal_sets() if solved else []
        for one, pairs in zip(solved, ordered, strict=True):
            inside = {self.everything.statement(fact) for fact in one.choices}
            repairs = tuple(tuple(sorted(map(self.everything.statement, out), key=str)) for out, _ in pairs)
            mine = tuple(group for group in sets if inside.issuperset(group))
            if any(repairs):
                found.append(Conflict(mine, repairs, not one.stopped, one.exact))
        return tuple(sorted(found, key=lambda one: [*map(str, one.repairs[0])]))

    def _minimal_sets(self) -> list[tuple[Statement, ...]]:
        """Sets of input that contradict themselves, each without a part that could be spared."""
        inference = self.reasoner.infer(self.given)
        explainer, given = Explainer(inference), set(self.given)
        found: dict[tuple[Statement, ...], None] = {}
        for contradiction in inference.contradictions[:MOST_SETS]:
            behind = [one for one in explainer.behind(contradiction) if one in given]
            found[self._shrunk(behind)] = None
        return list(found)

    def _shrunk(self, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """Leave out, one by one, whatever the contradiction does not need."""
        kept = list(statements)
        for one in statements if len(statements) <= LONGEST_SET else ():
            fewer = [other for other in kept if other != one]
            if self.reasoner.infer(fewer).contradictions:
                kept = fewer
        return tuple(kept)

    def _faults(self, inference: Inference) -> list[Fault]:
        ontology = self.reasoner.ontology
        if ontology is None:
            return []
        faults = check_statements(ontology, sorted(inference.statements(), key=str))
        return [fault for fault in faults if fault.severity == "violation"]

    def _forbid_rules(self) -> None:
        for at, rule in enumerate(self.everything.program.rules):
            for binding in self.everything.state.firings[at] if rule.contradiction else ():
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

    def _ask(self, which: Which) -> list[_Solved]:
        """For each group of contradictions, the sets of inputs that may be left out."""
        named = {f"in({number})": fact for fact, number in self.ground.atoms.items() if fact in self.ground.given}
        asked = []
        for text in self.ground.programs():
            choices = {named[name] for name in _NAME.findall(text) if name in named}
            if choices:
                asked.append((text, choices))
        results = _solve([text for text, _ in asked], which, self.reasoner)
        solved = []
        for (_, choices), result in zip(asked, results, strict=True):
            insides = [{named[f"in({number})"] for number in inside} for inside in result["sets"]]
            if not insides:
                stopped = result["stopped"] or "contexts"
                raise LimitReachedError(stopped, getattr(self.reasoner.limits, stopped))
            repairs = [frozenset(choices - inside) for inside in insides]
            solved.append(_Solved(choices, repairs, result["stopped"], result["exact"]))
        return solved

    def _context(self, out: frozenset[Fact]) -> Context:
        left_out = tuple(sorted(map(self.everything.statement, out), key=str))
        without = set(left_out)
        kept = [statement for statement in self.given if statement not in without]
        inference = self.reasoner.infer(kept)
        if inference.stopped is not None:
            raise LimitReachedError(inference.stopped.limit, inference.stopped.most, inference.stopped.rule)
        return Context(left_out, len(kept), self._probability(inference), inference)

    def _probability(self, inference: Inference) -> float | None:
        """How likely it is that every conclusion of a context holds: the product over its uncertain firings."""
        rules = inference.program.rules
        if all(rule.probability is None for rule in rules):
            return None
        whole = 1.0
        for at, rule in enumerate(rules):
            if rule.probability is not None:
                whole *= float(rule.probability) ** len(inference.state.firings[at])
        return whole


def _solve(programs: Sequence[str], which: Which, reasoner: Reasoner) -> list[dict[str, Any]]:
    """Run the solver in a process of its own, within limits."""
    if not programs:
        return []
    if find_spec("clingo") is None:
        raise missing_extra("clingo", area="reading")
    limits = reasoner.limits
    task = {"programs": programs, "which": which, "most": limits.contexts, "seconds": limits.seconds}
    words = json.dumps({**task, "megabytes": limits.megabytes})
    command = [sys.executable, "-I", "-m", CHILD]
    result: dict[str, Any]
    try:
        done = subprocess.run(
            command, input=words.encode(), capture_output=True, timeout=4 * limits.seconds, check=False
        )
        # A process that printed nothing ran out of time, or else of memory.
        late = -done.returncode in (getattr(signal, "SIGXCPU", 0), getattr(signal, "SIGKILL", 0))
        result = json.loads(done.stdout) if done.stdout else {"limit": "seconds" if late else "megabytes"}
    except subprocess.TimeoutExpired:
        result = {"limit": "seconds"}
    if "limit" in result:
        raise LimitReachedError(result["limit"], getattr(limits, result["limit"]))
    return list(result["parts"])
