"""Passages on their way from the pool to a panel, and the log of what happened to each."""

from __future__ import annotations

from dataclasses import dataclass

TRAIN, TEST = "train", "test"


@dataclass(frozen=True)
class Passage:
    """A piece of text with its genre and topic; split and round are given at the end."""

    name: str
    text: str
    genre: str
    topic: str = ""
    source: str = ""
    split: str = ""
    round: str = ""


@dataclass(frozen=True)
class Removed:
    """A surface mark that was taken out of a passage: by which rule, how often, and the first of them."""

    passage: str
    rule: str
    times: int
    first: str


@dataclass(frozen=True)
class Dropped:
    """A passage that was left out: at which step and why."""

    passage: str
    genre: str
    step: str
    reason: str


@dataclass(frozen=True)
class Prepared:
    """A set of passages ready to be judged, with everything that was changed or left out on the way."""

    passages: tuple[Passage, ...]
    removed: tuple[Removed, ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...] = ()
