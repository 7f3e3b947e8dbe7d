"""Plans: the body of a rule as a function of whole numbers, made once for a theory and run on every document.

For each triple that a rule asks for there is one plan that starts from it: from everything at first, and from what is
new in every later round. The other triples are joined in the order in which most of their places are already bound;
built-ins and `if-not` follow as soon as what they need is known. A plan is a small Python function, made from the
numbers of terms and variables alone: no text of a user's ever becomes part of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from basanite.errors import BasaniteError
from basanite.reading.builtins import OPERATIONS
from basanite.reading.limits import LimitReachedError
from basanite.reading.patterns import Builtin, Goal, Pattern, PatternTerm, Variable
from basanite.reading.reasoner.store import MASK, SHIFT, Store, Terms, match

Binding: TypeAlias = tuple[int, ...]
Run: TypeAlias = Callable[[Iterable[Any], Store, Store, Any, list[Binding]], int]
"""rows to start from, statements, statements that `if-not` looks at, calculator, found bindings -> bindings tried."""

INDENT: Final = "    "


class UnboundError(BasaniteError):
    """A rule or query asks for a value that nothing gives; the checks of rules find this before it runs."""


@dataclass(frozen=True)
class Plan:
    """One way through the body of a rule, from one of its triples (or from none, if it asks for none)."""

    start: Pattern | None
    run: Run
    source: str


@dataclass
class Body:
    """What has to hold, with the numbers of its constants; `outputs` is what a binding consists of."""

    if_: tuple[Goal, ...]
    if_not: tuple[Goal, ...]
    outputs: tuple[str, ...]
    terms: Terms
    name: str = ""

    def plans(self) -> list[Plan]:
        """A plan from each triple."""
        patterns = [goal for goal in self.if_ if isinstance(goal, Pattern)]
        if not patterns:
            return [_Writer(self).plan(None)]
        return [_Writer(self).plan(at) for at in range(len(patterns))]


@dataclass
class _Writer:
    """Writes one plan, line by line."""

    body: Body
    lines: list[str] = field(default_factory=list)
    opening: list[str] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)
    """The variable of the plan that holds each variable of the rule."""
    operations: dict[str, Any] = field(default_factory=dict)
    depth: int = 2
    made: int = 0

    def plan(self, start: int | None) -> Plan:
        """The plan that starts from one of the triples."""
        patterns = [goal for goal in self.body.if_ if isinstance(goal, Pattern)]
        pending: list[Goal] = [goal for goal in self.body.if_ if isinstance(goal, Builtin)]
        first = patterns.pop(start) if start is not None else None
        self._start(first)
        negated = list(self.body.if_not)
        self._eager(patterns, pending, negated)
        while patterns:
            best = max(range(len(patterns)), key=lambda at: (self._score(patterns[at]), -at))
            self._join(patterns.pop(best))
            self._eager(patterns, pending, negated)
        if pending or any(name not in self.bound for name in self.body.outputs):
            raise UnboundError(f"Rule {self.body.name} needs a value that nothing in its :if part gives.")
        self._emit(f"out.append(({''.join(f'{self.bound[name]}, ' for name in self.body.outputs)}))")
        return self._compile(first)

    def _compile(self, first: Pattern | None) -> Plan:
        head = [
            "def run(rows, S, N, C, out):",
            *(INDENT + line for line in ("tried, most, room = 0, C.bindings_left, C.firings_left", *self.opening)),
        ]
        source = "\n".join([*head, *self.lines, INDENT + "return tried", ""])
        space: dict[str, Any] = {**self.operations, "match": match, "stop": _stop}
        exec(compile(source, "<plan>", "exec"), space)
        return Plan(first, space["run"], source)

    def _emit(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    def _skip_if(self, condition: str) -> None:
        self._emit(f"if {condition}: continue")

    def _new(self, kind: str = "v") -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def _number(self, term: PatternTerm) -> str | None:
        """What stands for a term in the plan; nothing for a variable that is not bound yet."""
        if isinstance(term, Variable):
            return self.bound.get(term.name)
        return str(self.body.terms.number(term))

    def _start(self, pattern: Pattern | None) -> None:
        if pattern is None:
            self.lines.append(INDENT + "for _ in (0,):")
            return
        self.opening.append("tried = len(rows)")
        self.opening.append("if tried > most: stop(C, tried, len(out))")
        if isinstance(pattern.predicate, Variable):
            self.lines.append(INDENT + "for property, pair in rows:")
            fields = (
                (pattern.subject, f"pair >> {SHIFT}"),
                (pattern.predicate, "property"),
                (pattern.object, f"pair & {MASK}"),
            )
        else:
            self.lines.append(INDENT + "for pair in rows:")
            fields = (pattern.subject, f"pair >> {SHIFT}"), (pattern.object, f"pair & {MASK}")  # type: ignore[assignment]
        for term, value in fields:
            self._take(term, value)

    def _take(self, term: PatternTerm, value: str) -> None:
        """Bind a variable to a value, or go on only if the term is that value."""
        known = self._number(term)
        if known is not None:
            self._skip_if(f"({value}) != {known}")
            return
        assert isinstance(term, Variable)
        self.bound[term.name] = self._new()
        self._emit(f"{self.bound[term.name]} = {value}")

    def _score(self, pattern: Pattern) -> int:
        """How much of a triple is bound: a bound subject is worth most, for most properties have few objects."""
        subject, predicate, object_ = (self._number(term) is not None for term in pattern.terms)
        return 4 * subject + 2 * object_ + (3 if predicate else 0)

    def _join(self, pattern: Pattern) -> None:
        if isinstance(pattern.predicate, Variable):
            self._join_any(pattern)
            return
        subject, object_ = self._number(pattern.subject), self._number(pattern.object)
        relation = f"S.get({self._number(pattern.predicate)})"
        if subject and object_:
            pairs = self._add_opening("p", f"{relation}.pairs")
            self._skip_if(f"({subject} << {SHIFT} | {object_}) not in {pairs}")
        elif subject:
            self._loop(self._add_opening("i", f"{relation}.subjects()") + f".get({subject})", pattern.object)
        elif object_:
            self._loop(self._add_opening("i", f"{relation}.objects()") + f".get({object_})", pattern.subject)
        else:
            self._loop(self._add_opening("p", f"{relation}.pairs"), None)
            self._take(pattern.subject, f"pair >> {SHIFT}")
            self._take(pattern.object, f"pair & {MASK}")

    def _add_opening(self, kind: str, expression: str) -> str:
        name = self._new(kind)
        self.opening.append(f"{name} = {expression}")
        return name

    def _loop(self, expression: str, term: PatternTerm | None) -> None:
        """A loop over some rows, each of which counts as a binding that was tried."""
        rows = self._new("r")
        self._emit(f"{rows} = {expression}")
        self._skip_if(f"not {rows}")
        self._emit(f"tried += len({rows})")
        self._emit("if tried > most or len(out) > room: stop(C, tried, len(out))")
        variable = "pair"
        if isinstance(term, Variable):
            variable = self.bound[term.name] = self._new()
        self._emit(f"for {variable} in {rows}:")
        self.depth += 1

    def _join_any(self, pattern: Pattern) -> None:
        """A triple whose property is a variable: slower, and rare."""
        subject, predicate, object_ = (self._number(term) for term in pattern.terms)
        names = [self._new() for _ in range(3)]
        self._emit(f"for {', '.join(names)} in match(S, {subject}, {predicate}, {object_}):")
        self.depth += 1
        self._emit("tried += 1")
        self._emit("if tried > most or len(out) > room: stop(C, tried, len(out))")
        for term, name in zip(pattern.terms, names, strict=True):
            self._take(term, name)

    def _eager(self, patterns: list[Pattern], pending: list[Goal], negated: list[Goal]) -> None:
        """Write whatever can be decided by now: triples without an open place, built-ins, then what must be absent."""
        for pattern in [one for one in patterns if all(self._number(term) is not None for term in one.terms)]:
            patterns.remove(pattern)
            self._join(pattern)
        progress = True
        while progress:
            ready = [goal for goal in pending if isinstance(goal, Builtin) and self._ready(goal)]
            progress = bool(ready)
            for builtin in ready:
                pending.remove(builtin)
                self._builtin(builtin)
        own = {name for goal in self.body.if_ for name in goal.variables}
        for goal in [goal for goal in negated if all(name in self.bound or name not in own for name in goal.variables)]:
            negated.remove(goal)
            self._absent(goal)

    def _ready(self, builtin: Builtin) -> bool:
        """Whether all operands are bound; a result that a triple gives too is waited for, then compared by value."""
        last = builtin.arguments[-1]
        if isinstance(last, Variable) and last.name not in self.bound:
            in_triples = {name for goal in self.body.if_ if isinstance(goal, Pattern) for name in goal.variables}
            if last.name in in_triples:
                return False
        return all(self._number(term) is not None for term in builtin.arguments[OPERATIONS[builtin.name].inputs])

    def _builtin(self, builtin: Builtin) -> None:
        operation = OPERATIONS[builtin.name]
        self.operations[f"op_{operation.name}"] = operation
        given = ", ".join(str(self._number(term)) for term in builtin.arguments[operation.inputs])
        if operation.test is not None:
            self._skip_if(f"not C.test(op_{operation.name}, {given})")
            return
        result, last = self._new(), builtin.arguments[-1]
        self._emit(f"{result} = C.calculate(op_{operation.name}, {given})")
        self._skip_if(f"{result} < 0")
        known = self._number(last)
        if known is not None:
            self._skip_if(f"not C.same({result}, {known})")
        elif isinstance(last, Variable):
            self.bound[last.name] = result

    def _absent(self, goal: Goal) -> None:
        """Skip where something matches a pattern of the `if-not` part; its other variables are its own."""
        if isinstance(goal, Builtin):
            operation = OPERATIONS[goal.name]
            if operation.test is None:
                raise UnboundError(f"Rule {self.body.name}: only comparisons are allowed after :if-not.")
            self.operations[f"op_{operation.name}"] = operation
            self._skip_if(
                f"C.test(op_{operation.name}, {', '.join(str(self._number(term)) for term in goal.arguments)})"
            )
            return
        subject, predicate, object_ = (self._number(term) for term in goal.terms)
        repeated = [term for term in goal.terms if isinstance(term, Variable) and goal.terms.count(term) > 1]
        if predicate is None or any(self._number(term) is None for term in repeated):
            self._skip_if(f"C.any_match(N, {subject}, {predicate}, {object_}, {_same_places(goal)})")
        elif subject and object_:
            pairs = self._add_opening("n", f"N.get({predicate}).pairs")
            self._skip_if(f"({subject} << {SHIFT} | {object_}) in {pairs}")
        elif subject or object_:
            side, index = (subject, "subjects") if subject else (object_, "objects")
            self._skip_if(f"{side} in {self._add_opening('n', f'N.get({predicate}).{index}()')}")
        else:
            self._skip_if(self._add_opening("n", f"N.get({predicate}).pairs"))


def _same_places(pattern: Pattern) -> tuple[tuple[int, int], ...]:
    """The places of a pattern that hold one variable."""
    terms = pattern.terms
    pairs = ((0, 1), (0, 2), (1, 2))
    return tuple((a, b) for a, b in pairs if isinstance(terms[a], Variable) and terms[a] == terms[b])


def _stop(calculator: Any, tried: int, found: int) -> None:
    if tried > calculator.bindings_left:
        raise LimitReachedError("bindings", calculator.limits.bindings, calculator.rule)
    raise LimitReachedError("firings", calculator.limits.firings, calculator.rule)


def start_rows(plan: Plan, store: Store, terms: Terms) -> Sequence[Any] | set[int]:
    """Everything that a plan can start from, narrowed by the constants of its first triple."""
    pattern = plan.start
    if pattern is None:
        return (0,)
    if isinstance(pattern.predicate, Variable):
        return list(store.triples())
    relation, narrowed = store.get(terms.number(pattern.predicate)), _candidate_numbers(pattern, store, terms)
    if narrowed is None:
        return relation.pairs
    if not isinstance(pattern.object, Variable):
        object_ = terms.number(pattern.object)
        return [subject << SHIFT | object_ for subject in narrowed]
    assert not isinstance(pattern.subject, Variable)
    subject = terms.number(pattern.subject)
    return [subject << SHIFT | other for other in narrowed]


def _candidate_numbers(pattern: Pattern, store: Store, terms: Terms) -> Sequence[int] | None:
    """The subjects of a fixed object, or the objects of a fixed subject; nothing if neither is fixed."""
    assert not isinstance(pattern.predicate, Variable)
    relation = store.get(terms.number(pattern.predicate))
    if not isinstance(pattern.object, Variable):
        return relation.objects().get(terms.number(pattern.object), ())
    if not isinstance(pattern.subject, Variable):
        return relation.subjects().get(terms.number(pattern.subject), ())
    return None


def _size(plan: Plan, store: Store, terms: Terms) -> int:
    if plan.start is None:
        return 1
    if isinstance(plan.start.predicate, Variable):
        return len(store)
    narrowed = _candidate_numbers(plan.start, store, terms)
    return len(store.get(terms.number(plan.start.predicate)).pairs if narrowed is None else narrowed)


def cheapest(plans: Sequence[Plan], store: Store, terms: Terms) -> Plan:
    """The plan with the fewest statements to start from."""
    return plans[0] if len(plans) == 1 else min(plans, key=lambda plan: _size(plan, store, terms))
