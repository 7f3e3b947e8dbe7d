"""What follows from statements, and whether they are consistent: the reasoner's first two services (R-9).

A `Reasoner` is made once for a theory; it compiles the rules and then works through any number of documents. The
classes of an ontology become rules, its constraints become contradictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from basanite.reading.axioms import DIFFERENT, same_as_rules
from basanite.reading.limits import LimitReachedError, Limits, Undecided
from basanite.reading.ontology import Ontology
from basanite.reading.ontology_checks import Fault, check_statements
from basanite.reading.patterns import Goal, Pattern, Variable
from basanite.reading.reasoner.chaining import Chained, Fact, Program, chain, compile_rules
from basanite.reading.reasoner.plans import Binding
from basanite.reading.reasoner.store import MASK, SHIFT, Calculator, Store, Terms, load_store
from basanite.reading.rules.tree import Rule, RuleSet, short
from basanite.reading.terms import SAME_AS, TYPE, Iri, Statement, Term
from basanite.reading.terms import Literal as Value


class Firing(NamedTuple):
    """A rule, by its place in the theory, and what its variables are bound to, by number."""

    at: int
    binding: Binding


@dataclass(frozen=True)
class Contradiction:
    """Statements that cannot all be true, and the rule or constraint that says so."""

    rule: str
    bindings: Mapping[str, Term]
    antecedents: tuple[Statement, ...]
    """What the rule matched or the constraint is about; the tree leads from there to the input."""
    message: str = ""
    firing: Firing | None = None
    """Nothing where a constraint of the ontology is broken."""


@dataclass(frozen=True)
class Reasoner:
    """A theory ready to reason with: rules, and perhaps an ontology."""

    rules: RuleSet
    ontology: Ontology | None = None
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def program(self) -> Program:
        """The rules as plans, those of the ontology's classes and axioms among them."""
        return compile_rules(self._all_rules)

    @cached_property
    def program_with_names(self) -> Program:
        """The rules for statements in which things have several names: slower, so only used there."""
        return compile_rules((*self._all_rules, *same_as_rules()))

    @cached_property
    def _all_rules(self) -> tuple[Rule, ...]:
        axioms = self.ontology.axioms if self.ontology else ()
        return (*self.rules.rules, *class_rules(self.ontology), *axioms)

    @cached_property
    def _concludes_same(self) -> bool:
        return any(head.predicate in (SAME_AS, DIFFERENT) for rule in self._all_rules for head in rule.heads)

    @property
    def facts(self) -> tuple[Statement, ...]:
        """What the ontology itself states about individuals."""
        return self.ontology.facts if self.ontology else ()

    def program_for(self, statements: Iterable[Statement]) -> Program:
        """The rules that these statements need: those about names only where something is said to be the same."""
        same = self._concludes_same or any(one.predicate == SAME_AS for one in statements)
        return self.program_with_names if same else self.program

    def infer(self, statements: Iterable[Statement]) -> Inference:
        """Everything that follows; where a limit is reached, nothing but that (X-13)."""
        program, terms = self.program, Terms(self.program.terms)
        try:
            given = tuple(self._within_limits((*self.facts, *statements)))
            program = self.program_for(given)
            terms = Terms(program.terms)
            calculator = Calculator(terms, self.limits)
            store = load_store(given, terms)
            calculator.grown(len(store))
            state = chain(program, store, calculator)
        except LimitReachedError as reached:
            nothing: list[dict[Binding, None]] = [{} for _ in program.rules]
            state = Chained(terms, Store(), Store(), nothing, nothing)
            return Inference(self, program, state, Undecided.by_limit(reached))
        return Inference(self, program, state)

    def _within_limits(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        for number, statement in enumerate(statements):
            if number >= self.limits.statements:
                raise LimitReachedError("statements", self.limits.statements)
            if isinstance(statement.object, Value) and len(statement.object.lexical) > self.limits.text:
                raise LimitReachedError("text", self.limits.text)
            yield statement


def class_rules(ontology: Ontology | None) -> Iterator[Rule]:
    """One rule for each class that lies below another: its things are things of that class too."""
    for iri, found in sorted(ontology.classes.items()) if ontology else ():
        for parent in found.parents:
            member = Variable("thing")
            head, body = Pattern(member, TYPE, parent), Pattern(member, TYPE, iri)
            above = ontology.classes[parent].name if ontology and parent in ontology.classes else parent.value
            yield Rule(f"ontology:{found.name}-is-{above}", f"Every {found.name} is a {above}.", (body,), (), (head,))


@dataclass(frozen=True)
class Inference:
    """The result of one run. Nothing in it is partial: where a limit was reached, it holds nothing else."""

    reasoner: Reasoner
    program: Program
    """The rules that ran."""
    state: Chained
    stopped: Undecided | None = None

    @property
    def complete(self) -> bool:
        """Whether no limit was reached."""
        return self.stopped is None

    def term(self, number: int) -> Term:
        """The term of a number."""
        return self.state.terms.terms[number]

    def statement(self, fact: Fact) -> Statement:
        """The statement of a fact."""
        predicate, subject = self.term(fact[0]), self.term(fact[1] >> SHIFT)
        assert isinstance(predicate, Iri)
        assert not isinstance(subject, Value)
        return Statement(subject, predicate, self.term(fact[1] & MASK))

    def fact(self, statement: Statement) -> Fact | None:
        """The fact of a statement, if all its terms are known here."""
        find = self.state.terms.find
        numbers = find(statement.subject), find(statement.predicate), find(statement.object)
        subject, predicate, object_ = numbers
        if subject is None or predicate is None or object_ is None:
            return None
        return predicate, subject << SHIFT | object_

    def holds(self, statement: Statement) -> bool:
        """Whether a statement was given or follows."""
        fact = self.fact(statement)
        return fact is not None and self.state.sure.holds(*fact)

    def is_derived(self, fact: Fact) -> bool:
        """Whether a fact follows and was not given: what is stated is explicit, whatever else leads to it."""
        return fact[1] in self.state.derived.get(fact[0], ())

    def kind(self, statement: Statement) -> Literal["explicit", "inferred"]:
        """Whether a statement was given or only follows."""
        fact = self.fact(statement)
        return "inferred" if fact is not None and self.is_derived(fact) else "explicit"

    @cached_property
    def derived(self) -> tuple[Statement, ...]:
        """What follows and was not given, sorted."""
        facts = ((predicate, pair) for predicate, pairs in self.state.derived.items() for pair in pairs)
        return tuple(sorted(map(self.statement, facts), key=str))

    def statements(self) -> Iterator[Statement]:
        """All statements, given and derived."""
        return map(self.statement, self.state.sure.triples())

    def bindings(self, firing: Firing) -> dict[str, Term]:
        """What the variables of a firing's rule stand for."""
        names = self.program.rules[firing.at].variables
        return {name: self.term(number) for name, number in zip(names, firing.binding, strict=True)}

    def antecedents(self, firing: Firing) -> list[Fact]:
        """The facts that a firing matched."""
        makers = self.program.compiled[firing.at].antecedents
        return list(dict.fromkeys(maker.fact(firing.binding) for maker in makers))

    def absent(self, firing: Firing) -> list[Goal]:
        """What a firing found absent, with the values that it was looked for with."""
        bound = self.bindings(firing)
        return [_bound_goal(goal, bound) for goal in self.program.rules[firing.at].if_not]

    def tests(self, firing: Firing) -> list[Goal]:
        """The comparisons and calculations of a firing, with their values."""
        bound = self.bindings(firing)
        return [_bound_goal(goal, bound) for goal in self.program.rules[firing.at].builtins]

    def firings(self) -> Iterator[Firing]:
        """Every firing, rule by rule."""
        for at, found in enumerate(self.state.firings):
            for binding in found:
                yield Firing(at, binding)

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Where rules or the ontology say that statements cannot all be true, in a stable order."""
        by_ontology = (
            Contradiction(f"ontology:{fault.kind}", {"subject": fault.subject}, fault.statements, fault.message)
            for fault in self._faults
            if fault.severity == "violation"
        )
        found = [*self._by_rules(), *by_ontology]
        return tuple(sorted(found, key=lambda one: (one.rule, str(one.bindings), one.message)))

    @cached_property
    def incomplete(self) -> tuple[Fault, ...]:
        """Things that lack a value the ontology wants: no contradiction, a warning."""
        return tuple(fault for fault in self._faults if fault.severity == "incomplete")

    @cached_property
    def _faults(self) -> list[Fault]:
        ontology = self.reasoner.ontology
        return check_statements(ontology, sorted(self.statements(), key=str)) if ontology and self.complete else []

    def _by_rules(self) -> Iterator[Contradiction]:
        for at, rule in enumerate(self.program.rules):
            for binding in self.state.firings[at] if rule.contradiction else ():
                firing = Firing(at, binding)
                facts = tuple(map(self.statement, self.antecedents(firing)))
                yield Contradiction(rule.name, self.bindings(firing), facts, rule.comment, firing)

    @cached_property
    def undecided(self) -> tuple[Undecided, ...]:
        """What has no answer: the limit that was reached, or instances of rules that block each other."""
        if self.stopped is not None:
            return (self.stopped,)
        prefixes = self.reasoner.rules.prefixes
        doubts = (
            Undecided(rule.name, tuple((f"?{n}", short(t, prefixes)) for n, t in self.bindings(Firing(at, b)).items()))
            for at, rule in enumerate(self.program.rules)
            for b in self.state.doubtful[at]
        )
        return tuple(sorted(doubts))

    @property
    def consistent(self) -> bool | None:
        """Whether nothing contradicts; not known where a limit was reached."""
        return not self.contradictions if self.complete else None


def _bound_goal(goal: Goal, bindings: Mapping[str, Term]) -> Goal:
    if isinstance(goal, Pattern):
        return goal.bind(bindings)
    terms = (bindings.get(term.name, term) if isinstance(term, Variable) else term for term in goal.arguments)
    return type(goal)(goal.name, tuple(terms))
