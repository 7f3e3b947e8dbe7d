"""Log-probabilities of sentences: of every token, or their sum with the number of tokens.

A probability of 0 has no number in JSON: it is written `"-inf"`. `null` is refused, because some programs write it for
a token that they gave no probability at all, which is another thing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from basanite.formats.items import ContentError

ZERO = ("-inf", "-Inf", "-infinity", "-Infinity")
LEAST = -1e100
"""No sentence is less probable than this (base e): sums of such numbers stay numbers."""
MOST_TOKENS = 10**9
ROUNDING = 1e-6
"""How far above 0 a log-probability may lie and still be 0 with the error of 32-bit numbers."""


@dataclass(frozen=True)
class Likelihood:
    """A sentence: the sum of its finite log-probabilities (base e), its tokens, and how many had probability 0."""

    log_probability: float
    tokens: int
    zeros: int


def likelihood(fields: Mapping[str, Any], *, base: float, end_counts: bool) -> Likelihood:
    """The likelihood that a record tells, by `logprobs` or by `logprob` and `tokens`.

    >>> likelihood({"logprobs": [-1, -2.5, "-inf"]}, base=math.e, end_counts=True)
    Likelihood(log_probability=-3.5, tokens=3, zeros=1)
    """
    listed, summed = fields.get("logprobs") is not None, fields.get("logprob") is not None
    if listed == summed:
        what = "both logprobs and logprob are there" if listed else "there are neither logprobs nor a logprob"
        raise ContentError(what, 'write "logprobs": [-1.2, …], or "logprob": -9.5 with "tokens": 7')
    if summed:
        return _summed(fields, base, end_counts=end_counts)
    return _listed(fields["logprobs"], base, end_counts=end_counts)


def token_count(fields: Mapping[str, Any]) -> int:
    """How many tokens of a sentence count."""
    found = fields.get("tokens")
    number = found
    if isinstance(found, str) and found.isdecimal() and len(found) <= len(str(MOST_TOKENS)):
        number = int(found)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MOST_TOKENS:
        raise ContentError("tokens is no number of tokens", 'write "tokens": 7', "" if found is None else found)
    return number


def _listed(values: Any, base: float, *, end_counts: bool) -> Likelihood:
    if not isinstance(values, list):
        raise ContentError("logprobs is no list", 'write "logprobs": [-1.2, -0.5]', values)
    if not end_counts and not values:
        raise ContentError("there is no token for the end of the sentence to leave out", "write its logprob last")
    numbers = [_number(value, place) for place, value in enumerate(values if end_counts else values[:-1], start=1)]
    finite = [number for number in numbers if number > -math.inf]
    return Likelihood(_natural(finite, base), len(numbers), len(numbers) - len(finite))


def _natural(numbers: Sequence[float], base: float) -> float:
    """The sum of logarithms, to base e."""
    try:
        total = math.fsum(numbers) * math.log(base)
    except OverflowError:
        total = -math.inf
    if total < LEAST:
        fix = 'write logarithms of probabilities; one of 0 is written "-inf"'
        raise ContentError(f"log-probabilities of a sentence add up to less than {LEAST:g}", fix, min(numbers))
    return total


def _summed(fields: Mapping[str, Any], base: float, *, end_counts: bool) -> Likelihood:
    if not end_counts:
        fix = "write the logprobs of all tokens, the last one that of the end, or set eos=counted"
        raise ContentError("a sum does not tell the end of the sentence apart", fix)
    number, tokens = _number(fields["logprob"], None), token_count(fields)
    if not tokens and number:
        raise ContentError("no token has a probability other than 1", "say how many tokens there are", number)
    zero = number == -math.inf
    return Likelihood(0.0 if zero else _natural([number], base), tokens, int(zero))


def _number(value: Any, place: int | None) -> float:
    where = "logprob" if place is None else f"logprob {place}"
    if isinstance(value, str) and value in ZERO:
        return -math.inf
    if value is None:
        raise ContentError(f"{where} is null", 'leave the token out, or write "-inf" if its probability is 0')
    number = _float(value)
    if math.isnan(number):
        raise ContentError(f"{where} is no number", 'write a number of at most 0, or "-inf"', value)
    if number > ROUNDING:
        fix = "write logarithms of probabilities, not probabilities or costs"
        raise ContentError(f"{where} is {number:g}, and no probability is more than 1", fix, value)
    return min(number, 0.0)


def _float(value: Any) -> float:
    """A number, nan for what is none; a table's cell is text."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
