"""An evaluation that is ready to run: the plan with its data at hand, its seeds, and every split made (H-4, H-13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from basanite.harness.data.dataset import Dataset
from basanite.harness.data.seals import Seal, read_seal
from basanite.harness.data.splits import facts, partition_digest, splits
from basanite.harness.data.tables import load_data
from basanite.harness.plan import Plan
from basanite.harness.plan_file import load_plan
from basanite.harness.protocol import Partition, Seeds


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
        return (
            {name: self.seal.keyed_digest(f"{name} {digest}") for name, digest in plain.items()} if self.seal else plain
        )

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
    return evaluation_of(load_plan(path), path.parent, seal=seal)


def evaluation_of(plan: Plan, folder: Path, *, seal: Seal | None = None) -> Evaluation:
    """The evaluation of a plan whose paths start in a folder."""
    data = {name: load_data(task, folder) for name, task in plan.tasks.items()}
    # Targets and ranges are as the data have them, where the plan does not name its own.
    ranges = {name: data[name].range if task.metric == "mrmse" else None for name, task in plan.tasks.items()}
    tasks = {
        name: replace(task, targets=task.targets or tuple(data[name].targets), range=task.range or ranges[name])
        for name, task in plan.tasks.items()
    }
    plan = replace(plan, tasks=tasks)
    held = seal or (read_seal(folder / plan.seal) if plan.seal else None)
    seeds = held.seeds if held else Seeds.from_number(plan.seed or 0)
    partitions = {name: splits(task, data[name], seeds) for name, task in plan.tasks.items()}
    return Evaluation(plan, folder, data, seeds, partitions, held)
