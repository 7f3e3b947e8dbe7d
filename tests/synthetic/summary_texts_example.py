"""The example of summaries: `python -m tests.synthetic.summary_texts_example FOLDER` makes it again, byte for byte."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

SEED, TEXTS = 21, 40
PLACES = ("Arlen", "Bexley", "Corvo", "Dunmar", "Esk", "Farrow", "Glint", "Hollin")
WHO = ("the council", "a group of farmers", "the school", "residents", "the harbor office")
DID = ("approved", "rejected", "delayed", "discussed", "celebrated")
WHAT = ("a new bridge", "the plan for a market", "higher fares", "the old tower", "a second ferry")
WHY = (
    "after months of debate",
    "because of the costs",
    "to widespread surprise",
    "despite heavy rain",
    "for a second time",
)
NEXT = (
    "Work begins in spring.",
    "A vote follows next week.",
    "The mayor declined to comment.",
    "Costs are not yet known.",
)
GENRES = ("local", "business")
SYSTEMS = {"Alpha": 0.75, "Beta": 0.45}


def story(dice: random.Random) -> tuple[str, ...]:
    """Who did what, where, why, and what follows."""
    return tuple(dice.choice(words) for words in (PLACES, WHO, DID, WHAT, WHY, NEXT))


def told(parts: Sequence[str], *, short: bool) -> str:
    """A story in two sentences, or in other words."""
    place, who, did, what, why, after = parts
    if short:
        return f"In {place}, {who} {did} {what}.\n{after}"
    return f"{what.capitalize()} in {place} was {did} by {who} {why}.\n{after}"


def mistaken(parts: Sequence[str], quality: float, dice: random.Random) -> tuple[str, ...]:
    """The story as a system has it: some parts are those of another one."""
    return tuple(part if dice.random() < quality else other for part, other in zip(parts, story(dice), strict=True))


def write_example(folder: Path) -> None:
    """Write two summaries of people for each text, and those of two systems."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(SEED)
    stories = [story(dice) for _ in range(TEXTS)]
    people = [
        {"id": f"t{at:02}", "references": [told(one, short=True), told(one, short=False)], "genre": dice.choice(GENRES)}
        for at, one in enumerate(stories, start=1)
    ]
    _write(folder / "reference.jsonl", people)
    for name, quality in SYSTEMS.items():
        texts = [told(mistaken(one, quality, dice), short=dice.random() < 0.6) for one in stories]
        _write(folder / f"{name}.jsonl", [{"id": f"t{at:02}", "text": text} for at, text in enumerate(texts, start=1)])


def _write(path: Path, rows: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
