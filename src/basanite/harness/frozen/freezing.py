"""Two freezes: a team's code first, its parameters at the start of the evaluation; later changes need a reason (H-11).

What runs is held against the log: another code, or after the start other parameters, is refused until the evaluation
team has signed a new entry. A parameter that selects the architecture is refused from the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from basanite.errors import BasaniteError
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.programs import environment_digest, is_program, tree_digest
from basanite.harness.foreign.surroundings import surroundings
from basanite.harness.frozen.keys import SigningKey, digest, read_key
from basanite.harness.frozen.log import Log, read_log
from basanite.harness.plan.model import ModuleChoice, Plan
from basanite.harness.plan.modules import code_digest, find_module

ROLES: Final = ("preprocessor", "learner", "linear")
KEY_SUFFIX: Final = ".key"
ARCHITECTURE: Final = re.compile(
    r"(^|_)(architecture|topology|network|net|algorithm|model|backbone|depth|n_?layers|num_?layers|layers|layer_?(type|kind)s?|"
    r"hidden_?layers|kind|variant)(_|$)",
    re.IGNORECASE,
)
"""Names of parameters that choose another system and not another setting of the same one."""
MARK: Final = "selects"
"""A schema may also say so itself: {"selects": "architecture"}."""


class FrozenError(BasaniteError):
    """Something that was frozen is another one now; the message names it and what to do."""


class Frozen(NamedTuple):
    """One part of a team's system."""

    team: str
    task: str
    role: str
    choice: ModuleChoice

    @property
    def name(self) -> str:
        """Its name in the log."""
        return f"{self.team}/{self.task}/{self.role}"


def parts(plan: Plan, team: str = "") -> Iterator[Frozen]:
    """Every part of every team's systems, or of one team's."""
    for found in plan.teams:
        for task, system in found.systems.items() if team in ("", found.letter) else ():
            for role in ROLES:
                if choice := getattr(system, role):
                    yield Frozen(found.letter, task, role, choice)


def code_facts(part: Frozen) -> dict[str, Any]:
    """What is frozen of a part's code: the hash of its tree, its environment, and what parameters it permits."""
    module = find_module(part.choice.module)
    environment = {} if is_program(part.choice.module) else {"environment": environment_digest()}
    return {
        "module": part.choice.module,
        "code": code_digest(part.choice.module),
        **environment,
        "schema": dict(module.schema),
        "declares": dict(module.declares),
        "files": _files(part),
    }


def _files(part: Frozen) -> dict[str, str]:
    """Outside data that a part declares, with hashes: whoever signs the entry signs them off (H-29)."""
    declared = find_module(part.choice.module).declares.get("files", [])
    places = {str(name): surroundings().folder / str(name) for name in declared if isinstance(declared, list)}
    return {name: tree_digest(path) if path.exists() else "missing" for name, path in places.items()}


def parameter_facts(part: Frozen) -> dict[str, Any]:
    """What is frozen of a part's parameters."""
    return {"parameters": parameter_digest(part.choice)}


def parameter_digest(choice: ModuleChoice) -> str:
    """The hash of the parameters, however the file with them is written."""
    return digest(choice.parameters)


def schema_faults(name: str, schema: Mapping[str, Any]) -> list[str]:
    """Why a schema of permitted parameters is refused: it selects the architecture, or permits anything (H-11).

    >>> schema_faults("a/t/learner", {"additionalProperties": False, "properties": {"layers": {"type": "integer"}}})
    ['a/t/learner: the parameter `layers` selects the architecture']
    """
    found = (
        []
        if schema.get("additionalProperties") is False or not schema
        else [f"{name}: its schema permits any parameter; say additionalProperties: false"]
    )
    if "patternProperties" in schema:
        found.append(f"{name}: its schema permits parameters by pattern; name each")
    for parameter, rule in schema.get("properties", {}).items():
        if ARCHITECTURE.search(parameter) or (isinstance(rule, Mapping) and rule.get(MARK) == "architecture"):
            found.append(f"{name}: the parameter `{parameter}` selects the architecture")
    return found


def log_of(plan: Plan, folder: Path, key: SigningKey | None = None) -> Log:
    """The log of a plan; signatures are checked if the key lies beside it or is given."""
    path = folder / plan.freeze
    beside = path.with_suffix(KEY_SUFFIX)
    return read_log(path, key or (read_key(beside) if beside.is_file() else None))


def check_frozen(evaluation: Evaluation) -> None:
    """Refuse to run what is not as it was frozen; a plan without a log has nothing frozen."""
    if not evaluation.plan.freeze:
        return
    log = log_of(evaluation.plan, evaluation.folder)
    wrong = differences(evaluation.plan, log)
    if wrong:
        raise FrozenError(
            f"The evaluation does not run: {'; '.join(wrong)}. The evaluation team can sign a change with its reason: "
            "basanite harness freeze PLAN --change --signer NAME --reason TEXT."
        )
    if evaluation.seal and not log.checked:
        raise FrozenError(
            f"The log {evaluation.plan.freeze} cannot be trusted without the key that signs it, and this evaluation is "
            f"sealed. Put the key beside it as {Path(evaluation.plan.freeze).with_suffix(KEY_SUFFIX).name}."
        )


def differences(plan: Plan, log: Log) -> list[str]:
    """What of a plan's systems is not as the log says."""
    now = log.now()
    return [fault for part in parts(plan) for fault in _part_faults(part, now.get(part.name), started=log.started)]


def _part_faults(part: Frozen, frozen: Mapping[str, Any] | None, *, started: bool) -> list[str]:
    if frozen is None:
        return [f"{part.name} was never frozen"]
    now = code_facts(part)
    found = schema_faults(part.name, now["schema"])
    if now["files"] != frozen.get("files", {}):
        found.append(f"the outside data of {part.name} were not signed off as they are")
    found += (
        [f"the code of {part.name} is another one than the frozen one"] if now["code"] != frozen.get("code") else []
    )
    if now.get("environment") != frozen.get("environment"):
        found.append(f"the installed packages for {part.name} are others than the frozen ones")
    if started and parameter_digest(part.choice) != frozen.get("parameters"):
        found.append(f"the parameters of {part.name} are others than at the start of the evaluation")
    return found
