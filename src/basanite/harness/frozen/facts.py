"""What the manifest tells of what was frozen: log, dossiers, trained systems, one code for all tasks, and notes.

Of a system that its team trained, a declaration says what it was trained on, held against the partitions (H-28):

TRAINED/TASK/SPLIT/declaration.json   data and partition digests, seed, protocol version, hash of the state
TRAINED/TASK/SPLIT/state/             what the program's `fit` would have left there; `shallow/` for the one-layer mode
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.harness.data.tables import BUILTIN
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.programs import TRAINED, surroundings, tree_digest
from basanite.harness.frozen.freeze import code_facts, log_of, parameter_digest, parts
from basanite.harness.modules.weights import is_weights
from basanite.harness.plan import FORMAT as PROTOCOL
from basanite.harness.plan import Plan, System, chosen_modules

FORMAT: Final = "basanite-trained/1"
DECLARATION: Final = "declaration.json"
LARGEST_DECLARATION: Final = 2**20


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
        found = json.loads(read_bounded(folder / DECLARATION, LARGEST_DECLARATION))
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
        wrong.append("its state differs from the declared one")
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
                        "declared": _shown_declaration(evaluation, told),
                        "faults": wrong,
                    }
                )
    return found


def _shown_declaration(evaluation: Evaluation, told: dict[str, Any]) -> dict[str, Any]:
    """A declaration as outsiders may see it: digests of sealed things only under the nonce (X-1)."""
    hidden = ("data", "partition") if evaluation.seal else ()
    return {
        name: evaluation.seal.keyed_digest(str(value)) if evaluation.seal and name in hidden else value
        for name, value in told.items()
    }


LARGEST: Final = 2**20
FEWEST_WORDS: Final = 20
"""Prose is at least so many words beside pictures and code."""
FENCED: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
WORD: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Part:
    """One thing that a dossier must have: its name, how its file is called, and what to do if it is missing."""

    name: str
    pattern: str
    fix: str
    prose: bool = False
    code: bool = False


PARTS: Final = (
    Part("source", r"(source|src)(/.*|\.(tar\.gz|tgz|zip))", "put the source into source/"),
    Part("build instructions", r"(build|install)(ing)?\.(md|txt)", "say in build.md how it is built", prose=True),
    Part("dependencies", r"(dependencies|requirements)\.(md|txt|toml|lock)", "list what it needs in dependencies.txt"),
    Part("architecture figure", r"architecture\.(png|svg|pdf|jpe?g)", "draw the architecture as architecture.svg"),
    Part("architecture in prose", r"architecture\.(md|txt)", "describe the figure in architecture.md", prose=True),
    Part("pseudocode", r"pseudocode\.(md|txt)", "write the algorithm into pseudocode.md as a fenced block", code=True),
    Part("pseudocode in prose", r"pseudocode\.(md|txt)", "explain the algorithm in pseudocode.md in words", prose=True),
    Part("worked example", r"example(s)?(/.*|\.(md|txt))", "show in example.md what goes in and what comes out"),
)  # fmt: skip


@dataclass(frozen=True)
class Dossier:
    """What a dossier holds: the file of each part, and what is missing with what to do about it."""

    folder: str
    found: Mapping[str, str]
    missing: Mapping[str, str]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing

    def canonical(self) -> dict[str, Any]:
        """As it stands in the manifest, where the report finds what to link."""
        return {"folder": self.folder, "found": dict(self.found), "missing": dict(self.missing)}


def read_dossier(folder: Path, shown: str) -> Dossier:
    """Look through a dossier; a folder that is not there lacks everything."""
    files = (
        sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        if folder.is_dir()
        else []
    )
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for part in PARTS:
        path = next((path for path in files if _fits(part, path, folder)), None)
        if path is None:
            missing[part.name] = part.fix
        else:
            found[part.name] = path.relative_to(folder).as_posix()
    return Dossier(shown, found, missing)


def _fits(part: Part, path: Path, folder: Path) -> bool:
    inside = path.relative_to(folder).as_posix()
    if not re.fullmatch(part.pattern, inside, re.IGNORECASE) or path.stat().st_size == 0:
        return False
    if not (part.prose or part.code):
        return True
    try:
        text = read_bounded(path, LARGEST).decode("utf-8", "replace")
    except UnreadableError:
        return False
    prose = len(WORD.findall(FENCED.sub("", text))) >= FEWEST_WORDS
    return (prose or not part.prose) and (bool(FENCED.search(text)) or not part.code)


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
    """The hashes of all systems, and the log they were checked against."""
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
    told = {
        "head": log.head,
        "entries": len(log.entries),
        "started": log.has_started,
        "signatures_checked": log.checked,
    }
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
    for name in dict.fromkeys(choice.module for choice in chosen_modules(evaluation.plan)):
        if is_weights(name):
            yield f"{name} was trained before: whether it has seen items of the test sets is not known"
    if not around.uses_sandbox:
        yield "programs of teams ran WITHOUT a sandbox, because the plan says so: they could read this machine"
    elif not around.hosts:
        yield "teams' Python modules ran in the main processes: only programs ran in a sandbox"
