"""Steps whose values the data layer lays into the store, under the digest of their content; nothing computes them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from basanite.harness.engine.graph import Step
from basanite.harness.engine.store import Store
from basanite.harness.steps.layout import ModuleError


def given(kind: str, digest: str) -> dict[str, Any]:
    """Never called for data that were laid down: whoever runs a plan does that first."""
    raise ModuleError(f"the {kind} {digest} are not in the store: run the plan with its data at hand")


@dataclass(frozen=True)
class Given:
    """A part of the data: the step that stands for it, and its value."""

    step: Step
    value: Mapping[str, Any]

    def lay(self, store: Store) -> None:
        """Put the value into the store unless it is there; files that have been moved are noted where they lie now."""
        if "folder" in self.value and store.has(self.step.key) and self._elsewhere(store):
            shutil.rmtree(store.path(self.step.key))
        if not store.has(self.step.key):
            store.save(self.step.key, self.value)

    def _elsewhere(self, store: Store) -> bool:
        return bool(store.load(self.step.key)["folder"] != self.value["folder"])


def part(name: str, kind: str, digest: str, value: Mapping[str, Any]) -> Given:
    """A part of the data under the digest of its content."""
    return Given(Step(name, given, parameters={"kind": kind, "digest": digest}), value)
