"""Comparisons, arithmetic, text and dates: what rules and queries can ask of values.

A test holds or not; a calculation gives its result as the last argument, which it binds or is compared with. Whole
numbers and decimals are exact, whatever their size up to the limit; numbers are never truth values; what cannot be
compared or calculated is simply no match. `mrq:` is the prefix that the published rules use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from types import MappingProxyType
from typing import Final, TypeAlias

from basanite.reading.limits import LimitReachedError, Limits
from basanite.reading.terms import XSD, Iri, Literal, Node, Term, integer
from basanite.reading.values import Value, compare, is_number, value_of

Number: TypeAlias = int | Decimal | float

QUOTIENT_DIGITS: Final = 34
"""Digits of a quotient that has no end, as 1/3."""


@dataclass(frozen=True)
class Operation:
    """A built-in: how many arguments it takes, and whether the last one is its result."""

    name: str
    says: str
    test: Callable[[Sequence[Term]], bool] | None = None
    calculate: Callable[[Sequence[Term], Limits], Term | None] | None = None
    least: int = 2
    most: int = 2

    @property
    def inputs(self) -> slice:
        """The arguments that must be bound."""
        return slice(None, -1) if self.calculate else slice(None)


def _comparison(*wanted: int) -> Callable[[Sequence[Term]], bool]:
    def test(terms: Sequence[Term]) -> bool:
        first, second = terms
        return isinstance(first, Literal) and isinstance(second, Literal) and compare(first, second) in wanted

    return test


def _equal(terms: Sequence[Term]) -> bool:
    first, second = terms
    if isinstance(first, Literal) and isinstance(second, Literal):
        return first == second or compare(first, second) == 0
    return first == second


def _unequal(terms: Sequence[Term]) -> bool:
    """Not equal, of what can be compared: names with names, values of one family with each other."""
    first, second = terms
    if isinstance(first, Literal) and isinstance(second, Literal):
        return compare(first, second) in (-1, 1)
    return not isinstance(first, Literal) and not isinstance(second, Literal) and first != second


def _texts(terms: Sequence[Term]) -> list[str] | None:
    """The texts of terms, names by their IRIs; nothing if one is neither."""
    found = [_text(term) for term in terms]
    return None if None in found else [text for text in found if text is not None]


def _text(term: Term) -> str | None:
    if isinstance(term, Iri):
        return term.value
    return term.lexical if isinstance(term, Literal) else None


def _about_texts(test: Callable[[str, str], bool]) -> Callable[[Sequence[Term]], bool]:
    def apply(terms: Sequence[Term]) -> bool:
        texts = _texts(terms)
        return texts is not None and test(texts[0], texts[1])

    return apply


def _numbers(terms: Sequence[Term], limits: Limits) -> list[Number] | None:
    """The numbers that terms are worth; all doubles if one is, all decimals if one is."""
    values: list[Number] = []
    for term in terms:
        value = value_of(term) if isinstance(term, Literal) and len(term.lexical) <= limits.digits + 2 else None
        if not is_number(value) or not isinstance(value, int | Decimal | float):
            return None
        values.append(value)
    if any(isinstance(value, float) for value in values):
        return [_float(value) for value in values]
    if any(isinstance(value, Decimal) for value in values):
        return [Decimal(value) for value in values]
    return values


def _float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _arithmetic(
    work: Callable[[Sequence[Number]], Number | None],
) -> Callable[[Sequence[Term], Limits], Term | None]:
    def calculate(terms: Sequence[Term], limits: Limits) -> Term | None:
        numbers = _numbers(terms, limits)
        if numbers is None:
            return None
        try:
            with localcontext(Context(prec=2 * limits.digits + 10)):
                result = work(numbers)
        except (OverflowError, InvalidOperation, ZeroDivisionError):
            return None
        return None if result is None else number_term(result, limits)

    return calculate


def number_term(number: Number, limits: Limits) -> Literal | None:
    """A number as the literal that is always written for it; none for nan; too many digits reach the limit (X-13).

    >>> number_term(Decimal("2.50"), Limits()).lexical, number_term(7, Limits()).lexical
    ('2.5', '7')
    """
    if isinstance(number, float):
        if number != number:
            return None
        text = repr(number).replace("inf", "INF")
        return Literal(text, XSD + "double")
    if isinstance(number, int):
        if number.bit_length() > 4 * limits.digits or len(str(number).lstrip("-")) > limits.digits:
            raise LimitReachedError("digits", limits.digits)
        return integer(number)
    if number and abs(number.adjusted()) > limits.digits:
        raise LimitReachedError("digits", limits.digits)
    whole, _, parts = format(number, "f").partition(".")
    if len(whole) + len(parts.rstrip("0")) > limits.digits:
        raise LimitReachedError("digits", limits.digits)
    return Literal(f"{whole}.{parts.rstrip('0') or '0'}", XSD + "decimal")


def _sum(numbers: Sequence[Number]) -> Number:
    return sum(numbers[1:], start=numbers[0])


def _difference(numbers: Sequence[Number]) -> Number:
    return numbers[0] - numbers[1]  # type: ignore[operator] # both of one kind


def _product(numbers: Sequence[Number]) -> Number:
    result = numbers[0]
    for number in numbers[1:]:
        result = result * number  # type: ignore[operator] # all of one kind
    return result


def _quotient(numbers: Sequence[Number]) -> Number | None:
    """Exact where it has an end in decimals, else to a fixed number of digits; nothing is divided by 0."""
    first, second = numbers
    if second == 0:
        return None
    if isinstance(first, float) or isinstance(second, float):
        return float(first) / float(second)
    exact = Fraction(first) / Fraction(second)
    if exact.denominator == 1:
        return exact.numerator if isinstance(first, int) else Decimal(exact.numerator)
    return _decimal(exact)


def _decimal(exact: Fraction) -> Decimal:
    rest = exact.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        return Decimal(exact.numerator) / Decimal(exact.denominator)
    return Context(prec=QUOTIENT_DIGITS).divide(Decimal(exact.numerator), Decimal(exact.denominator))


def _remainder(numbers: Sequence[Number]) -> Number | None:
    first, second = numbers
    return first % second if isinstance(first, int) and isinstance(second, int) and second else None


def _length(terms: Sequence[Term], limits: Limits) -> Term | None:
    texts = _texts(terms)
    return None if texts is None else integer(len(texts[0]))


def _text_change(change: Callable[[Sequence[str]], str]) -> Callable[[Sequence[Term], Limits], Term | None]:
    def calculate(terms: Sequence[Term], limits: Limits) -> Term | None:
        texts = _texts(terms)
        if texts is None:
            return None
        if sum(map(len, texts)) > limits.text:
            raise LimitReachedError("text", limits.text)
        return Literal(change(texts))

    return calculate


def _day(term: Term) -> date | None:
    value: Value | None = value_of(term) if isinstance(term, Literal) else None
    return value.date() if isinstance(value, datetime) else value if isinstance(value, date) else None


def _part_of_day(part: Callable[[date], int]) -> Callable[[Sequence[Term], Limits], Term | None]:
    def calculate(terms: Sequence[Term], limits: Limits) -> Term | None:
        day = _day(terms[0])
        return None if day is None else integer(part(day))

    return calculate


def _days_between(terms: Sequence[Term], limits: Limits) -> Term | None:
    first, second = map(_day, terms)
    return None if first is None or second is None else integer((second - first).days)


def _days_later(terms: Sequence[Term], limits: Limits) -> Term | None:
    day, numbers = _day(terms[0]), _numbers(terms[1:], limits)
    if day is None or numbers is None or not isinstance(numbers[0], int):
        return None
    try:
        return Literal((day + timedelta(days=numbers[0])).isoformat(), XSD + "date")
    except OverflowError:
        return None


_ALL: Final = (
    Operation("lessThan", "the first value is less than the second", _comparison(-1)),
    Operation("lessThanOrEqualTo", "the first value is less than the second or equal to it", _comparison(-1, 0)),
    Operation("greaterThan", "the first value is more than the second", _comparison(1)),
    Operation("greaterThanOrEqualTo", "the first value is more than the second or equal to it", _comparison(0, 1)),
    Operation("equalTo", "both are worth the same, or are the same name", _equal),
    Operation("notEqualTo", "both can be compared and differ", _unequal),
    Operation("identicalTo", "both are the same term, written the same", lambda terms: terms[0] == terms[1]),
    Operation("differentFrom", "the terms differ, if only in how they are written", lambda terms: terms[0] != terms[1]),
    Operation("plus", "the sum of all but the last", calculate=_arithmetic(_sum), least=3, most=10),
    Operation("minus", "the first less the second", calculate=_arithmetic(_difference), least=3, most=3),
    Operation("times", "the product of all but the last", calculate=_arithmetic(_product), least=3, most=10),
    Operation("dividedBy", "the first divided by the second", calculate=_arithmetic(_quotient), least=3, most=3),
    Operation("modulo", "what whole division leaves", calculate=_arithmetic(_remainder), least=3, most=3),
    Operation("least", "the least of all but the last", calculate=_arithmetic(min), least=3, most=10),
    Operation("most", "the most of all but the last", calculate=_arithmetic(max), least=3, most=10),
    Operation("contains", "the first text holds the second", _about_texts(lambda a, b: b in a)),
    Operation("startsWith", "the first text begins with the second", _about_texts(str.startswith)),
    Operation("endsWith", "the first text ends with the second", _about_texts(str.endswith)),
    Operation("concatenate", "the texts one after the other", calculate=_text_change("".join), least=3, most=10),
    Operation("lowerCase", "the text in small letters", calculate=_text_change(lambda texts: texts[0].lower())),
    Operation("upperCase", "the text in capital letters", calculate=_text_change(lambda texts: texts[0].upper())),
    Operation("lengthOf", "the number of characters", calculate=_length),
    Operation("yearOf", "the year of a date", calculate=_part_of_day(lambda day: day.year)),
    Operation("monthOf", "the month of a date, from 1", calculate=_part_of_day(lambda day: day.month)),
    Operation("dayOf", "the day of the month", calculate=_part_of_day(lambda day: day.day)),
    Operation("daysBetween", "the days from the first date to the second", calculate=_days_between, least=3, most=3),
    Operation("daysLater", "the date this many days later", calculate=_days_later, least=3, most=3),
    Operation("isLiteral", "the first is a value; the second is true", lambda t: isinstance(t[0], Literal)),
    Operation("isName", "the first is a thing; the second is true", lambda t: isinstance(t[0], Iri | Node)),
)

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({operation.name: operation for operation in _ALL})
