"""Contexts and combinations as plain data for `--json`, and as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from basanite.reading.limits import cure
from basanite.reading.patterns import Prefixes
from basanite.reading.reasoner.worlds.combinations import Bounds, Combinations, World
from basanite.reading.reasoner.worlds.contexts import Contexts
from basanite.reading.reasoner.worlds.theory_file import Theory
from basanite.reading.rules.names import triple
from basanite.reports.wording import plural


def contexts_object(found: Contexts, prefixes: Prefixes) -> dict[str, Any]:
    """The object that `reading contexts --json` prints."""
    return {
        "contexts": [
            {
                "left_out": [triple(statement, prefixes) for statement in one.left_out],
                "size": one.size,
                "probability": one.probability,
                "derived": [triple(statement, prefixes) for statement in one.inference.derived],
            }
            for one in found.contexts
        ],
        "undecided": [one.as_dict() for one in found.undecided],
    }


def contexts_lines(data: Mapping[str, Any]) -> list[str]:
    """The contexts in words."""
    lines: list[str] = []
    for number, one in enumerate(data["contexts"], start=1):
        chance = "" if one["probability"] is None else f", probability {one['probability']:.4g}"
        lines.append(f"Context {number}: {plural('statement', one['size'])}, {len(one['left_out'])} left out{chance}")
        lines += [f"  without {' '.join(statement)}" for statement in one["left_out"]]
    for one in data["undecided"]:
        lines.append(f"Undecided: the limit on {one['limit']}, {one['most']}, was reached. {cure(one['limit'])}")
    return [*lines, f"Contexts: {len(data['contexts'])}."]


def combinations_object(theory: Theory, total: int, bounds: Bounds, found: Combinations) -> dict[str, Any]:
    """The object that `reading combinations --json` prints; probabilities are conditional on all that was stated."""
    stated = {"at_least": bounds.at_least, "at_most": bounds.at_most, "exactly": bounds.exactly}
    marginals = found.marginals()
    return {
        "theory": theory.name,
        "total": total,
        "stated": {name: dict(counts) for name, counts in stated.items()},
        "consistent": found.consistent,
        "worlds": [_world(theory, world) for world in found.worlds],
        "marginals": {name: {str(n): p for n, p in counts.items()} for name, counts in marginals.items()},
        "undecided": [one.as_dict() for one in found.undecided],
    }


def _world(theory: Theory, world: World) -> dict[str, Any]:
    """A world with the statements that it would make true."""
    told = [
        [theory.subject, event.property, str(world.counts[event.name])] for event in theory.events if event.property
    ]
    return {"counts": dict(world.counts), "probability": world.probability, "statements": told}


def combinations_lines(theory: Theory, total: int, found: Combinations, most: int) -> list[str]:
    """The combinations in words, the most likely first."""
    if found.undecided:
        one = found.undecided[0]
        return [f"Undecided: the limit on {one.limit}, {one.most}, was reached. {cure(one.limit)}"]
    if not found.worlds:
        return [f"Contradiction: no combination of events makes a total of {total} within what is stated."]
    lines = [f"{world.probability:8.4f}  {_counted(theory, world)}" for world in found.worlds[:most]]
    rest = sum(world.probability for world in found.worlds[most:])
    more = [f"{rest:8.4f}  {plural('other combination', len(found.worlds) - most)}"] if len(found.worlds) > most else []
    return [*lines, *more, f"Combinations: {len(found.worlds)}."]


def _counted(theory: Theory, world: World) -> str:
    parts = [plural(event.label, world.counts[event.name]) for event in theory.events if world.counts[event.name]]
    return ", ".join(parts) or "nothing"
