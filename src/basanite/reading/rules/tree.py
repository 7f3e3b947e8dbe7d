"""The syntax tree of rules: what both ways of writing them become, and what the reasoner runs.

Below are its terms and triples as people write them; read back, they are the same terms.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final

from basanite.reading.patterns import (
    SIGN_OF,
    Builtin,
    Goal,
    Pattern,
    PatternError,
    PatternTerm,
    Prefixes,
    Variable,
    parse_term,
)
from basanite.reading.terms import TS, TYPE, Iri, Statement, Term

CONTRADICTS: Final = Iri(TS + "contradicts")
"""The property of a head that concludes nothing but that the input contradicts the theory."""
NAMESPACE: Final = "urn:basanite:name:"
"""Where bare names live in a file that declares no namespace."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule stands."""

    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Rule:
    """What must be there (`if`), what must not (`if-not`), and what then follows (`then`)."""

    name: str
    comment: str
    if_: tuple[Goal, ...]
    if_not: tuple[Goal, ...]
    then: tuple[Goal, ...]
    probability: Decimal | None = None
    """How likely the conclusion is where the rule fires; the rest is not known (R-11)."""
    place: Place = field(default=Place(), compare=False)
    lines: tuple[int, ...] = field(default=(), compare=False)
    """The line of every goal, in the order if, if-not, then."""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The triples that must be there."""
        return tuple(goal for goal in self.if_ if isinstance(goal, Pattern))

    @property
    def builtins(self) -> tuple[Builtin, ...]:
        """The comparisons and calculations of the `if` part."""
        return tuple(goal for goal in self.if_ if isinstance(goal, Builtin))

    @property
    def contradiction(self) -> bool:
        """Whether the rule finds a contradiction instead of concluding statements."""
        return any(is_contradiction(goal) for goal in self.then)

    @property
    def heads(self) -> tuple[Pattern, ...]:
        """The statements that follow."""
        return tuple(goal for goal in self.then if isinstance(goal, Pattern) and not is_contradiction(goal))

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the `if` part in their order: what a firing binds."""
        return tuple(dict.fromkeys(name for goal in self.if_ for name in goal.variables))

    def located_goals(self) -> Iterator[tuple[str, Goal, int]]:
        """Every goal with its part and its line."""
        parts = [("if", goal) for goal in self.if_] + [("if-not", goal) for goal in self.if_not]
        parts += [("then", goal) for goal in self.then]
        lines = self.lines or (self.place.line,) * len(parts)
        for (part, goal), line in zip(parts, lines, strict=True):
            yield part, goal, line

    @property
    def version(self) -> str:
        """A hash of what the rule says, so that provenance names exactly this wording of it."""
        goals = [(part, str(goal)) for part, goal, _ in self.located_goals()]
        return hashlib.sha256(repr((self.name, goals, str(self.probability))).encode()).hexdigest()


@dataclass(frozen=True)
class RuleSet:
    """The rules of one or several files, with the short names that they were written in."""

    rules: tuple[Rule, ...]
    prefixes: Prefixes = field(default=Prefixes(NAMESPACE), compare=False)

    def __add__(self, other: RuleSet) -> RuleSet:
        return RuleSet(self.rules + other.rules, self.prefixes if self.rules else other.prefixes)

    def rule(self, name: str) -> Rule | None:
        """The rule of that name."""
        return next((rule for rule in self.rules if rule.name == name), None)


def is_contradiction(goal: Goal) -> bool:
    """Whether a head says that the input contradicts the theory."""
    return isinstance(goal, Pattern) and goal.predicate == CONTRADICTS


def as_head(goal: Goal, prefixes: Prefixes) -> Goal:
    """A goal in the place of a head, where a bare `contradicts` has its fixed meaning, as in the published rules."""
    bare = Iri(prefixes.namespace + "contradicts")
    if isinstance(goal, Pattern) and goal.predicate == bare:
        return Pattern(goal.subject, CONTRADICTS, goal.object)
    return goal


def free_in_head(rule: Rule, goal: Goal) -> tuple[Variable, ...]:
    """Variables of a head that nothing in the `if` part binds; the graph that a contradiction names is no such."""
    if is_contradiction(goal):
        return ()
    return tuple(Variable(name) for name in goal.variables if name not in rule.variables)


def short(term: PatternTerm, prefixes: Prefixes) -> str:
    """A term in its shortest form: a bare name where the namespace gives it its meaning.

    >>> short(Iri("urn:n:Game-1"), Prefixes("urn:n:")), short(Iri("urn:other"), Prefixes("urn:n:"))
    ('Game-1', '<urn:other>')
    """
    if isinstance(term, Iri) and term.value.startswith(prefixes.namespace):
        local = term.value[len(prefixes.namespace) :]
        if _reads_as(local, term, prefixes.namespace):
            return local
    return prefixes.short(term)


@lru_cache(maxsize=65_536)
def _reads_as(local: str, term: Iri, namespace: str) -> bool:
    try:
        return parse_term(local, Prefixes(namespace)) == term
    except PatternError:
        return False


def triple(statement: Statement, prefixes: Prefixes) -> list[str]:
    """A statement as three texts."""
    return [
        short(statement.subject, prefixes),
        property_name(statement.predicate, prefixes),
        short(statement.object, prefixes),
    ]


def property_name(term: PatternTerm, prefixes: Prefixes) -> str:
    """A term in the place of a property."""
    name = "type" if term == TYPE else short(term, prefixes)
    return str(term) if name in ("type", "a") and term != TYPE else name


def goal_text(goal: Goal, prefixes: Prefixes) -> str:
    """A triple or built-in on one line."""
    if isinstance(goal, Builtin):
        name = SIGN_OF.get(goal.name, f"mrq:{goal.name}")
        first, *others = (short(term, prefixes) for term in goal.arguments)
        return " ".join((first, name, *others))
    return " ".join(
        (short(goal.subject, prefixes), property_name(goal.predicate, prefixes), short(goal.object, prefixes))
    )


def named_bindings(bindings: dict[str, Term], prefixes: Prefixes) -> dict[str, str]:
    """Bindings as texts, by the variable with its question mark."""
    return {f"?{name}": short(term, prefixes) for name, term in bindings.items()}
