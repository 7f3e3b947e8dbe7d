"""Passwords: hashed with argon2id at the cost that the settings name, and never cut, trimmed or logged."""

from __future__ import annotations

import functools
from itertools import pairwise

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from basanite.campaign.settings import Accounts
from basanite.problems import Problem

SHORTEST, LONGEST = 12, 1024
"""Length is what makes a password strong; the upper bound keeps hashing cheap for us."""
FEWEST_CHARACTERS = 5


@functools.cache
def _hasher(time_cost: int, memory_kib: int, lanes: int) -> PasswordHash:
    return PasswordHash((Argon2Hasher(time_cost=time_cost, memory_cost=memory_kib, parallelism=lanes),))


def _of(settings: Accounts) -> PasswordHash:
    return _hasher(settings.time_cost, settings.memory_kib, settings.lanes)


@functools.cache
def _nobody(time_cost: int, memory_kib: int, lanes: int) -> str:
    return _hasher(time_cost, memory_kib, lanes).hash("nobody has this password")


def hashed(settings: Accounts, password: str) -> str:
    """The hash to keep."""
    return _of(settings).hash(password)


def matches(settings: Accounts, password: str, kept: str | None) -> bool:
    """Whether this is the password; as much work is done where there is none, so that time tells nothing."""
    missing = kept is None or len(password) > LONGEST
    against = _nobody(settings.time_cost, settings.memory_kib, settings.lanes) if kept is None else kept
    right: bool = _of(settings).verify(password[:LONGEST], against)
    return right and not missing


def outdated(settings: Accounts, password: str, kept: str) -> str | None:
    """A new hash if the kept one was made at another cost."""
    return _of(settings).verify_and_update(password, kept)[1]


def weaknesses(password: str) -> list[Problem]:
    """What is wrong with a new password; length counts, not decoration.

    >>> [problem.message for problem in weaknesses("short")]
    ['the password has 5 characters']
    >>> weaknesses("correct horse battery")
    []
    """
    if not SHORTEST <= len(password) <= LONGEST:
        fix = f"take {SHORTEST} to {LONGEST} characters; a few words in a row are easy to keep in mind"
        return [Problem("P-11", "", None, None, f"the password has {len(password)} characters", fix)]
    if len(set(password.casefold())) < FEWEST_CHARACTERS or _is_a_run(password):
        return [Problem("P-11", "", None, None, "the password is easy to guess", "take a few words in a row")]
    return []


def _is_a_run(password: str) -> bool:
    """Whether each character follows the one before, as in 1234567890123."""
    steps = {(ord(second) - ord(first)) % 10 for first, second in pairwise(password)}
    return len(steps) == 1
