"""Forward chaining: rules run layer by layer until nothing new follows, and every firing is kept.

A firing is the rule and what its variables are bound to; its antecedents, what was absent and its conclusions are the
rule's own patterns with those values, so that full provenance costs one tuple a firing. Recursive layers start each
round from what was new in the last (semi-naive evaluation). Layers with no order get the well-founded semantics by
alternating fixpoint: from below with all that is possible as obstacle, from above with all that is sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from basanite.reading.limits import LimitReachedError
from basanite.reading.patterns import Pattern, PatternTerm, Variable
from basanite.reading.reasoner.plans import Binding, Body, Plan, cheapest, start_rows
from basanite.reading.reasoner.store import MASK, SHIFT, Calculator, Store, Terms
from basanite.reading.rules.layers import Layer, layers, negates_itself
from basanite.reading.rules.tree import Rule
from basanite.reading.terms import Iri, Literal

Firings: TypeAlias = dict[Binding, None]
Fact: TypeAlias = tuple[int, int]
"""The number of a property, and the pair of subject and object."""


@dataclass(frozen=True)
class Maker:
    """A triple of a rule as places in a binding; below 0 it is a constant, the complement of its number."""

    subject: int
    predicate: int
    object: int

    @classmethod
    def of(cls, triple: Pattern, rule: Rule, terms: Terms) -> Maker:
        """The maker of a triple whose variables a firing binds."""

        def at(term: PatternTerm) -> int:
            return rule.variables.index(term.name) if isinstance(term, Variable) else ~terms.number(term)

        return cls(at(triple.subject), at(triple.predicate), at(triple.object))

    def fact(self, binding: Binding) -> Fact:
        """The statement that the triple becomes."""
        s, p, o = self.subject, self.predicate, self.object
        subject = binding[s] if s >= 0 else ~s
        return binding[p] if p >= 0 else ~p, subject << SHIFT | (binding[o] if o >= 0 else ~o)


@dataclass(frozen=True)
class Compiled:
    """A rule with its plans and the makers of its conclusions."""

    rule: Rule
    plans: tuple[Plan, ...]
    antecedents: tuple[Maker, ...]
    heads: tuple[Maker, ...]
    self_negating: bool

    @property
    def predicates(self) -> set[int] | None:
        """The properties of its conclusions; none means any."""
        if any(head.predicate >= 0 for head in self.heads):
            return None
        return {~head.predicate for head in self.heads}


@dataclass(frozen=True)
class Program:
    """Rules ready to run: compiled once, used for every document."""

    rules: tuple[Rule, ...]
    terms: Terms
    compiled: tuple[Compiled, ...]
    layers: tuple[Layer, ...]


def compile_rules(rules: Sequence[Rule]) -> Program:
    """Make the plans of all rules, and their layers."""
    terms = Terms()
    return Program(tuple(rules), terms, tuple(_compile_rule(rule, terms) for rule in rules), tuple(layers(rules)))


def _compile_rule(rule: Rule, terms: Terms) -> Compiled:
    plans = tuple(Body(rule.if_, rule.if_not, rule.variables, terms, rule.name).plans())
    asked, heads = (tuple(Maker.of(part, rule, terms) for part in parts) for parts in (rule.patterns, rule.heads))
    return Compiled(rule, plans, asked, heads, negates_itself(rule))


@dataclass
class Chained:
    """What a run found: what is sure, what is possible, which of it was derived, and every firing."""

    terms: Terms
    sure: Store
    possible: Store
    """The same store as `sure`, unless something is undecided."""
    firings: list[Firings]
    doubtful: list[Firings]
    """Firings that are possible but not sure, by rule."""
    derived: dict[int, set[int]] = field(default_factory=dict)


@dataclass
class _Chainer:
    """One run over one store."""

    program: Program
    calculator: Calculator
    derived: dict[int, set[int]]

    def layer(self, layer: Layer, state: Chained) -> None:
        """Finish one layer."""
        if not layer.ordered or state.possible is not state.sure:
            self._well_founded(layer, state)
            return
        views = {at: self._frozen(at, state.sure) for at in layer.rules if layer.recursive and self._own(at)}
        self.fixpoint(layer, state.sure, lambda at: views.get(at, state.sure), state.firings, keep=True)

    def _own(self, at: int) -> bool:
        return self.program.compiled[at].self_negating

    def _frozen(self, at: int, store: Store) -> Store:
        """The store as it is now, for a rule that must not be blocked by what it adds."""
        return store.fork(self.program.compiled[at].predicates)

    def fixpoint(
        self, layer: Layer, store: Store, absent: Callable[[int], Store], firings: list[Firings], *, keep: bool
    ) -> None:
        """Run the rules of a layer until nothing new follows; conclusions enter the store as they come."""
        new = self._round(layer, store, absent, firings, None, keep=keep)
        rounds = 1
        while new and layer.recursive:
            rounds += 1
            if rounds > self.calculator.limits.depth:
                raise LimitReachedError("depth", self.calculator.limits.depth, self.calculator.rule)
            new = self._round(layer, store, absent, firings, new, keep=keep)

    def _round(
        self,
        layer: Layer,
        store: Store,
        absent: Callable[[int], Store],
        firings: list[Firings],
        news: dict[int, list[int]] | None,
        *,
        keep: bool,
    ) -> dict[int, list[int]]:
        added: dict[int, list[int]] = {}
        for at in layer.rules:
            found = self._run(at, store, absent(at), news)
            if found:
                self._conclude(at, found, store, firings[at], added, keep=keep)
        return added

    def _run(self, at: int, store: Store, absent: Store, news: dict[int, list[int]] | None) -> list[Binding]:
        compiled, terms, out = self.program.compiled[at], self.program.terms, []  # type: ignore[var-annotated]
        self.calculator.rule = compiled.rule.name
        if news is None:
            plan = cheapest(compiled.plans, store, terms)
            rows = start_rows(plan, store, terms)
            if rows:
                self.calculator.spend(plan.run(rows, store, absent, self.calculator, out))
            return out
        for plan in compiled.plans:
            fresh = _fresh(plan, news, terms)
            if fresh:
                self.calculator.spend(plan.run(fresh, store, absent, self.calculator, out))
        return out

    def _conclude(
        self,
        at: int,
        found: list[Binding],
        store: Store,
        firings: Firings,
        added: dict[int, list[int]],
        *,
        keep: bool,
    ) -> None:
        new = [binding for binding in found if binding not in firings]
        firings.update(dict.fromkeys(new))
        self.calculator.count_firings(len(new))
        before = sum(map(len, added.values()))
        for predicate, pair in self.facts(at, new):
            if store.add(predicate, pair):
                added.setdefault(predicate, []).append(pair)
                if keep:
                    self.derived.setdefault(predicate, set()).add(pair)
        self.calculator.grown(sum(map(len, added.values())) - before)

    def facts(self, at: int, bindings: Iterable[Binding]) -> Iterator[Fact]:
        """What a rule concludes; a value is no subject and only a name a property, so that is no statement at all."""
        terms = self.calculator.terms.terms
        for head in self.program.compiled[at].heads:
            for binding in bindings:
                fact = head.fact(binding)
                if type(terms[fact[1] >> SHIFT]) is not Literal and type(terms[fact[0]]) is Iri:
                    yield fact

    def _well_founded(self, layer: Layer, state: Chained) -> None:
        """The alternating fixpoint of one layer, given what is sure and what is possible below it."""
        sure, sure_firings = state.sure, self._none()
        size = -1
        while True:
            possible, possible_firings = self._pass(layer, state.possible, state.sure, sure, sure_firings)
            sure, sure_firings = self._pass(layer, state.sure, state.possible, possible, possible_firings)
            count = sum(len(sure_firings[at]) for at in layer.rules)
            if count == size:
                break
            size = count
        self._settle(layer, state, (sure, sure_firings), (possible, possible_firings))

    def _none(self) -> list[Firings]:
        return [{} for _ in self.program.compiled]

    def _pass(
        self, layer: Layer, base: Store, below: Store, obstacle: Store, obstacle_firings: list[Firings]
    ) -> tuple[Store, list[Firings]]:
        """All that follows from `base` where `if-not` looks at `obstacle`, of which `below` was there before."""
        store, firings = base.fork(self._predicates(layer.rules)), self._none()
        views = {at: self._without_own(at, layer, below, obstacle_firings) for at in layer.rules if self._own(at)}
        self.fixpoint(layer, store, lambda at: views.get(at, obstacle), firings, keep=False)
        return store, firings

    def _without_own(self, at: int, layer: Layer, below: Store, firings: list[Firings]) -> Store:
        """The statements that are there without this rule: what lies below and what the others conclude."""
        view = below.fork(self._predicates(layer.rules))
        for other in layer.rules:
            if other != at:
                for fact in self.facts(other, firings[other]):
                    view.add(*fact)
        return view

    def _predicates(self, rules: Iterable[int]) -> set[int] | None:
        found: set[int] = set()
        for at in rules:
            predicates = self.program.compiled[at].predicates
            if predicates is None:
                return None
            found |= predicates
        return found

    def _settle(
        self,
        layer: Layer,
        state: Chained,
        sure: tuple[Store, list[Firings]],
        possible: tuple[Store, list[Firings]],
    ) -> None:
        for at in layer.rules:
            state.firings[at] = sure[1][at]
            state.doubtful[at] = {binding: None for binding in possible[1][at] if binding not in sure[1][at]}
            for predicate, pair in self.facts(at, sure[1][at]):
                if not state.sure.holds(predicate, pair):
                    self.derived.setdefault(predicate, set()).add(pair)
        doubt = state.possible is not state.sure or any(state.doubtful[at] for at in layer.rules)
        state.sure = sure[0]
        state.possible = possible[0] if doubt else sure[0]


def _fresh(plan: Plan, news: dict[int, list[int]], terms: Terms) -> list[int] | list[Fact]:
    """What is new among the statements that a plan starts from."""
    if plan.start is None:
        return []
    if isinstance(plan.start.predicate, Variable):
        return [(predicate, pair) for predicate, pairs in news.items() for pair in pairs]
    pairs = news.get(terms.number(plan.start.predicate), [])
    if pairs and not isinstance(plan.start.object, Variable):
        object_ = terms.number(plan.start.object)
        return [pair for pair in pairs if pair & MASK == object_]
    return pairs


def chain(program: Program, store: Store, calculator: Calculator) -> Chained:
    """Run all layers over a store, which grows; a limit that is reached raises."""
    state = Chained(calculator.terms, store, store, [{} for _ in program.rules], [{} for _ in program.rules])
    chainer = _Chainer(program, calculator, state.derived)
    for layer in program.layers:
        chainer.layer(layer, state)
    return state


def chain_possible(program: Program, store: Store, calculator: Calculator) -> Chained:
    """Everything that could follow if nothing were ever in the way: every instance of a rule that can matter."""
    state = Chained(calculator.terms, store, store, [{} for _ in program.rules], [{} for _ in program.rules])
    chainer = _Chainer(program, calculator, state.derived)
    whole = Layer(tuple(range(len(program.rules))), recursive=True, ordered=True)
    empty = Store()
    chainer.fixpoint(whole, store, lambda at: empty, state.firings, keep=True)
    return state
