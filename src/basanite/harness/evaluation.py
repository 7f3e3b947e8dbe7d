"""An evaluation that is ready to run: the plan with its data at hand, its seeds, and every split made (H-4, H-13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from basanite.harness.data.dataset import Dataset
from basanite.harness.data.loading import load_data
from basanite.harness.data.sealing import Seal, read_seal
from basanite.harness.data.splits import facts, partition_digest, splits
from basanite.harness.plan.model import Plan, TaskPlan
from basanite.harness.plan.reading import load_plan
from basanite.harness.protocol import Partition
from basanite.harness.seeds import Seeds


@dataclass(frozen=True)
class Evaluation:
    """A plan with its targets written out, the data of each task, and the partitions of each split."""

    plan: Plan
    folder: Path
    data: Mapping[str, Dataset]
    seeds: Seeds
    partitions: Mapping[str, Mapping[str, Partition]]
    seal: Seal | None = None

    def digests(self) -> dict[str, str]:
        """The digest of every partition by `task/split`; for the evaluation team only while the seed is sealed."""
        return {
            f"{task}/{name}": partition_digest(made)
            for task, parts in self.partitions.items()
            for name, made in parts.items()
        }

    def shown_digests(self) -> dict[str, str]:
        """The same as outsiders may see them: HMACs under the nonce if the evaluation is sealed (X-1)."""
        plain = self.digests()
        return {name: self.seal.keyed(f"{name} {digest}") for name, digest in plain.items()} if self.seal else plain

    def seed_facts(self) -> dict[str, Any]:
        """What is written down about the seed: the number that was typed in, or the commitment to the sealed one."""
        if self.seal is None:
            return {"sealed": False, "seed": self.plan.seed}
        return {"sealed": True, **self.seal.commitment(self.plan.digest(), self.digests())}

    def split_facts(self) -> dict[str, Any]:
        """Sizes, values in each fold and the overlap of groups, for every split."""
        return {
            task: {
                name: facts(self.plan.tasks[task], self.data[task], name, made).canonical()
                for name, made in parts.items()
            }
            for task, parts in self.partitions.items()
        }


def ready(path: Path, *, seal: Seal | None = None) -> Evaluation:
    """The evaluation of a plan file, with the seal that it names or the one that is given."""
    plan, folder = load_plan(path), path.parent
    data = {name: load_data(task, folder) for name, task in plan.tasks.items()}
    plan = _completed(plan, data)
    held = seal or (read_seal(folder / plan.seal) if plan.seal else None)
    seeds = held.seeds if held else Seeds.typed(plan.seed or 0)
    partitions = {name: splits(task, data[name], seeds) for name, task in plan.tasks.items()}
    return Evaluation(plan, folder, data, seeds, partitions, held)


def _completed(plan: Plan, data: Mapping[str, Dataset]) -> Plan:
    """The plan with targets and ranges as the data have them, where it does not name its own."""
    tasks = {name: _completed_task(task, data[name]) for name, task in plan.tasks.items()}
    return replace(plan, tasks=tasks)


def _completed_task(task: TaskPlan, data: Dataset) -> TaskPlan:
    known = data.range if task.metric == "mrmse" else None
    return replace(task, targets=task.targets or tuple(data.targets), range=task.range or known)
