"""Systems that their team trained: a declaration of what they were trained on, held against the partitions (H-28).

TRAINED/TASK/SPLIT/declaration.json   data and partition digests, seed, protocol version, hash of the state
TRAINED/TASK/SPLIT/state/             what the program's `fit` would have left there; `shallow/` for the one-layer mode
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.programs import TRAINED, tree_digest
from basanite.harness.plan.model import FORMAT as PROTOCOL
from basanite.harness.plan.model import System

FORMAT: Final = "basanite-trained/1"
DECLARATION: Final = "declaration.json"
LARGEST: Final = 2**20


def trained_name(system: System, task: str, split: str, module: str) -> str:
    """The name of a learner with its trained state: used always, or if training takes too long."""
    kind = TRAINED[0] if system.use_trained else TRAINED[1]
    return f"{kind}{system.trained}/{task}/{split}:{module}"


def declaration(evaluation: Evaluation, task: str, split: str, state: Path, *, seed: int) -> dict[str, Any]:
    """What a team declares about a state that it trained on a partition of this evaluation."""
    return {"format": FORMAT, **_facts(evaluation, task, split), "seed": seed, "state": tree_digest(state)}


def _facts(evaluation: Evaluation, task: str, split: str) -> dict[str, Any]:
    data, partition = evaluation.data[task].digest, evaluation.digests()[f"{task}/{split}"]
    return {"protocol": PROTOCOL, "task": task, "split": split, "data": data, "partition": partition}


def read_declaration(folder: Path) -> dict[str, Any]:
    """The declaration in a folder; an empty one if there is none that can be read."""
    try:
        found = json.loads(read_bounded(folder / DECLARATION, LARGEST))
    except (UnreadableError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def trained_faults(evaluation: Evaluation, task: str, split: str, system: System) -> list[str]:
    """What of a trained system's declaration does not hold; nothing if all of it does."""
    folder = evaluation.folder / system.trained / task / split
    told = read_declaration(folder)
    if told.get("format") != FORMAT:
        return [f"there is no {DECLARATION} of format {FORMAT!r} for {task}/{split}"]
    wanted = _facts(evaluation, task, split)
    wrong = [f"it declares another {name}" for name, value in wanted.items() if told.get(name) != value]
    if type(told.get("seed")) is not int:
        wrong.append("it declares no seed")
    if not (folder / "state").is_dir() or told.get("state") != tree_digest(folder / "state"):
        wrong.append("its state is another one than it declares")
    return wrong


def trained_facts(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Every trained system of a plan with its declaration and what does not hold, as the manifest shows it."""
    found = []
    for team in evaluation.plan.teams:
        for task, system in team.systems.items():
            for split in evaluation.partitions[task] if system.trained else ():
                told = read_declaration(evaluation.folder / system.trained / task / split)
                wrong = trained_faults(evaluation, task, split, system)
                use = "always" if system.use_trained else "if training takes too long"
                found.append(
                    {
                        "team": team.letter,
                        "task": task,
                        "split": split,
                        "used": use,
                        "declared": _shown(evaluation, told),
                        "faults": wrong,
                    }
                )
    return found


def _shown(evaluation: Evaluation, told: dict[str, Any]) -> dict[str, Any]:
    """A declaration as outsiders may see it: digests of sealed things only under the nonce (X-1)."""
    hidden = ("data", "partition") if evaluation.seal else ()
    return {
        name: evaluation.seal.keyed(str(value)) if evaluation.seal and name in hidden else value
        for name, value in told.items()
    }
