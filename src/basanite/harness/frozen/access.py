"""Which files a preprocessor reads: it runs on some rows in a box without network, and what it opens is listed (H-29).

In the box there are the rows, the interpreter, the module's own package or folder, and the files that it declares
(`declares: {"files": [...]}`). Whatever else it tries to open is not there, and is flagged for sign-off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from basanite.harness.data.dataset import taken
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.modules import declared_files, foreign_system
from basanite.harness.foreign.programs import is_program, tree_digest
from basanite.harness.foreign.surroundings import planned
from basanite.harness.plan.model import ModuleChoice

ROWS: Final = 32


@dataclass(frozen=True)
class Access:
    """What a preprocessor read beside the rows given."""

    module: str
    declared: dict[str, str]
    """Declared files with their hashes; None of them need be opened."""
    opened: tuple[str, ...]
    outside: tuple[str, ...]
    """What it tried to open though nobody declared it: to be signed off by the evaluation team."""

    def canonical(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "module": self.module,
            "declared": self.declared,
            "opened": list(self.opened),
            "outside": list(self.outside),
        }


def observed(evaluation: Evaluation, task: str, choice: ModuleChoice) -> Access:
    """Run a preprocessor on a few training rows in a box and list what it opened."""
    around = replace(planned(evaluation.folder, evaluation.plan.limits, sealed=bool(evaluation.seal)), boxing="all")
    system = foreign_system(choice.module, around)
    made = system.made(choice.parameters, 0)
    split = next(iter(evaluation.partitions[task].values()))
    rows = taken(evaluation.data[task].items, np.sort(np.concatenate(split.folds))[:ROWS])
    made.fit(rows)
    made.transform(rows)
    declared = {str(path): tree_digest(path) for path in declared_files(system.described, around) if path.exists()}
    opened = tuple(sorted(made.opened))
    return Access(choice.module, declared, opened, tuple(path for path in opened if path not in declared))


def preprocessors(evaluation: Evaluation) -> Iterator[tuple[str, str, ModuleChoice]]:
    """Every team's preprocessors, with letter and task; ours are not strangers' and need not be watched."""
    for team in evaluation.plan.teams:
        for task, system in team.systems.items():
            if system.preprocessor:
                yield team.letter, task, system.preprocessor


def watched_by(module: str) -> str:
    """How the listing came about, in words."""
    return (
        "its own folder and the sandbox's list of mounts" if is_program(module) else "an audit hook inside the sandbox"
    )
