"""From items to features: fitted on training and validation rows without labels, once for all who need it (A25)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from basanite.harness.data.dataset import items_of, taken
from basanite.harness.plan.modules import find_module
from basanite.harness.steps.layout import blocks, gathered


def prepare(items: Mapping[str, Any], function: str) -> Mapping[str, Any]:
    """What can be done with each item alone, done once for all splits and modules."""
    place, _, name = function.partition(":")
    found: Mapping[str, Any] = getattr(import_module(place), name)(items_of(items))
    return found


def preprocessed(
    items: Mapping[str, Any],
    rows: Mapping[str, Any],
    module: str,
    parameters: Mapping[str, Any],
    seed: int,
    seen: int,
) -> dict[str, Any]:
    """The features of all rows of a split, by a preprocessor that was fitted on those before the test rows."""
    kind, order = find_module(module), rows["rows"]
    held = kind.prepared(items) if kind.prepare else items_of(items)
    made = kind.make(parameters, seed)
    made.fit(taken(held, order[:seen]))

    def parts() -> Iterator[Any]:
        for block in blocks(0, len(order)):
            yield made.transform(taken(held, order[block]))

    return {"features": gathered(parts(), len(order), module)}
