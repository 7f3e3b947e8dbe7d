"""What the manifest tells of what was frozen: log, dossiers, trained systems, one code for all tasks, and notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from basanite.harness.data.loading import BUILTIN
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.surroundings import surroundings
from basanite.harness.frozen.dossier import read_dossier
from basanite.harness.frozen.freezing import code_facts, log_of, parameter_digest, parts
from basanite.harness.frozen.trained import trained_facts
from basanite.harness.plan.model import Plan

PUBLIC: Final = "labels are public: contamination not excluded"


def frozen_facts(evaluation: Evaluation) -> dict[str, Any]:
    """Entries of the manifest, by name."""
    return {
        "frozen": _frozen(evaluation),
        "dossiers": dossiers(evaluation),
        "trained": trained_facts(evaluation),
        "one_code": one_code(evaluation.plan),
        "notes": list(notes(evaluation)),
    }


def _frozen(evaluation: Evaluation) -> dict[str, Any]:
    """The hashes of all systems, and the log they were held against."""
    systems = {
        part.name: {"code": code_facts(part)["code"], "parameters": parameter_digest(part.choice)}
        for part in parts(evaluation.plan)
    }
    if not evaluation.plan.freeze:
        return {"log": None, "systems": systems}
    log = log_of(evaluation.plan, evaluation.folder)
    changes = [
        {"number": entry.number, "signer": entry.signer, "reason": entry.reason, "systems": sorted(entry.frozen)}
        for entry in log.entries
        if entry.kind == "change"
    ]
    told = {"head": log.head, "entries": len(log.entries), "started": log.started, "signatures_checked": log.checked}
    return {"log": {**told, "changes": changes}, "systems": systems}


def dossiers(evaluation: Evaluation) -> dict[str, Any]:
    """The dossier of each system by `team/task`, complete or not; a system without one lacks everything (H-30)."""
    return {
        f"{team.letter}/{task}": read_dossier(
            evaluation.folder / (system.dossier or "no dossier"), system.dossier
        ).canonical()
        for team in evaluation.plan.teams
        for task, system in team.systems.items()
    }


def one_code(plan: Plan) -> dict[str, Any]:
    """Whether one code serves all of a team's tasks, role by role (H-32)."""
    found: dict[str, Any] = {}
    for team in plan.teams:
        hashes: dict[str, dict[str, str]] = {}
        for part in parts(plan, team.letter):
            hashes.setdefault(part.role, {})[part.task] = code_facts(part)["code"]
        learners = set(hashes.get("learner", {}).values())
        found[team.letter] = {"one_learner": len(learners) == 1, "tasks": len(team.systems), "hashes": hashes}
    return found


def notes(evaluation: Evaluation) -> Iterator[str]:
    """What must be said beside the results."""
    around = surroundings()
    for task in evaluation.plan.tasks.values():
        if task.data.get("reader") in BUILTIN:
            yield f"{task.name}: {PUBLIC}"
    if not around.boxed:
        yield "programs of teams ran WITHOUT a sandbox, because the plan says so: they could read this machine"
    elif not around.hosts:
        yield "teams' Python modules ran in our own processes: only programs were boxed"
