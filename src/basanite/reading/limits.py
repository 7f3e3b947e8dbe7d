"""Limits on what reasoning may cost: strangers write rules and statements, and some never come to an end (X-13).

Reaching a limit is no mistake of ours and no answer either: the work stops, and the result says `undecided` and which
limit it was. Nothing that was derived so far is shown, for part of an answer would look like all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from basanite.errors import BasaniteError, SettingError
from basanite.registry import suggestion

LARGEST = 10**12


@dataclass(frozen=True)
class Limits:
    """How much one call may do; every field can be set with `--limit name=number`."""

    statements: int = 2_000_000
    """Statements, given and derived together."""
    bindings: int = 50_000_000
    """Ways to match the patterns of rules and queries that are tried."""
    firings: int = 5_000_000
    terms_per_rule: int = 100_000
    """New values that the built-ins of one rule compute."""
    digits: int = 1000
    """Digits of a number, read or computed."""
    text: int = 100_000
    """Characters of a string, read or computed."""
    depth: int = 1000
    """Steps of a derivation, one on top of the other."""
    answers: int = 100_000
    worlds: int = 100_000
    contexts: int = 1000
    nesting: int = 64
    """Brackets inside brackets in a file of rules."""
    rules: int = 10_000
    seconds: int = 60
    """CPU time of the solver that looks for contexts, which runs as a process of its own."""
    megabytes: int = 2048
    """Memory of that process."""


class LimitReachedError(BasaniteError):
    """A limit of the reasoner was reached; what was asked stays undecided."""

    def __init__(self, limit: str, most: int, rule: str = "") -> None:
        self.limit, self.most, self.rule = limit, most, rule
        where = f" in rule {rule}" if rule else ""
        super().__init__(f"Undecided: the limit on {limit}, {most}, was reached{where}. {cure(limit)}")


def cure(limit: str) -> str:
    """What to do about a limit that was reached."""
    return f"Give less input, or allow more by the limit {limit}=NUMBER."


@dataclass(frozen=True, order=True)
class Undecided:
    """Something that got no answer: an instance of a rule that blocks itself, or whatever a limit stopped."""

    rule: str
    bindings: tuple[tuple[str, str], ...] = ()
    limit: str = ""
    most: int = 0

    @classmethod
    def by_limit(cls, reached: LimitReachedError) -> Undecided:
        """What a limit left undecided."""
        return cls(reached.rule, (), reached.limit, reached.most)

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` lists."""
        if self.limit:
            return {"limit": self.limit, "most": self.most, "rule": self.rule or None}
        return {"rule": self.rule, "bindings": dict(self.bindings)}


def chosen_limits(texts: Iterable[str], limits: Limits | None = None) -> Limits:
    """The limits with some of them set by `name=number` texts.

    >>> chosen_limits(["depth=5"]).depth
    5
    """
    known = asdict(limits or Limits())
    for text in texts:
        name, _, number = text.partition("=")
        if name not in known:
            raise SettingError(f"There is no limit {name!r}. {suggestion(name, tuple(known))}")
        if not (number.isascii() and number.isdigit() and 0 < int(number[:15]) <= LARGEST):
            raise SettingError(f"--limit {text!r} cannot be read: write a whole number from 1 to {LARGEST}.")
        known[name] = int(number)
    return replace(limits or Limits(), **known)
