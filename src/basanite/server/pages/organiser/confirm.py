"""Before something that cannot be undone: what will happen, to what, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ConfirmPage:
    """One act, said in full; its form leads to the same address."""

    title: str
    words: tuple[str, ...]
    """What it does."""
    action: str
    button: str
    back: str
    facts: tuple[tuple[str, str], ...] = ()
    reason: bool = True
    """Whether a reason is asked for."""
    given: str = ""
    """A reason that was typed before."""
    two: bool = False
    """Whether a second organiser must agree."""
    safe: bool = False
    """Whether nothing is lost by it."""
