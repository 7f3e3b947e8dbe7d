"""What one run spends and computes: built-ins on the numbers of terms, and the account against the limits (X-13)."""

from __future__ import annotations

from dataclasses import dataclass, field

from basanite.reading.builtins import OPERATIONS, Operation
from basanite.reading.limits import LimitReachedError, Limits
from basanite.reading.reasoner.store import MOST_TERMS, Store, Terms, match

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

    def fired(self, times: int) -> None:
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
