"""Two freezes: a team's code first, its parameters at the start of the evaluation; later changes need a reason (H-11).

What runs is held against the log: another code, or after the start other parameters, is refused until the evaluation
team has signed a new entry. A parameter that selects the architecture is refused from the beginning.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from basanite.errors import BasaniteError, SettingError
from basanite.formats.bounded import read_bounded
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.programs import environment_digest, is_program, surroundings, tree_digest
from basanite.harness.frozen.signatures import SigningKey, digest, read_key
from basanite.harness.module_entry import ModuleChoice
from basanite.harness.modules.catalogue import code_digest, find_module
from basanite.harness.plan import Plan

FORMAT: Final = "basanite-freeze/1"
LARGEST: Final = 64 * 2**20
START: Final = "sha256:" + "0" * 64
KINDS: Final = ("code", "start", "change")
KEYS: Final = {"format", "number", "kind", "signer", "reason", "frozen", "previous", "signature"}


class LogError(BasaniteError):
    """A change log cannot be trusted; the message names the line."""


@dataclass(frozen=True)
class Entry:
    """One entry: the code that was frozen, the parameters at the start, or a change with its reason."""

    number: int
    kind: str
    signer: str
    reason: str
    frozen: Mapping[str, Any] = field(default_factory=dict)
    """What is frozen now, by `team/task/role`: code, parameters, schema."""
    previous: str = START
    signature: str = ""

    def signed_content(self) -> dict[str, Any]:
        """What is signed."""
        plain = {"number": self.number, "kind": self.kind, "signer": self.signer, "reason": self.reason}
        return {"format": FORMAT, **plain, "frozen": dict(self.frozen), "previous": self.previous}

    def line(self) -> dict[str, Any]:
        """The entry as it stands in the file."""
        return {**self.signed_content(), "signature": self.signature}


@dataclass(frozen=True)
class Log:
    """All entries in order."""

    entries: tuple[Entry, ...] = ()
    checked: bool = False
    """Whether every signature was checked with the evaluation team's key."""

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return digest(self.entries[-1].line()) if self.entries else START

    @property
    def has_started(self) -> bool:
        """Whether the evaluation has begun, and parameters are frozen too."""
        return any(entry.kind == "start" for entry in self.entries)

    def now(self) -> dict[str, dict[str, Any]]:
        """What is frozen after all entries, by `team/task/role`."""
        found: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            for name, facts in entry.frozen.items():
                found[name] = {**found.get(name, {}), **facts}
        return found


def append_entry(path: Path, log: Log, plain: Entry, key: SigningKey) -> Log:
    """Sign an entry and add it to the file."""
    entry = Entry(**{**vars(plain), "signature": key.signature(plain.signed_content())})
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry.line(), sort_keys=True, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return Log((*log.entries, entry), log.checked)


@dataclass(frozen=True)
class SignedChange:
    """What the evaluation team signs: a kind of entry, for one team's systems or all, by whom and why."""

    kind: str
    team: str
    signer: str
    reason: str


def sign_change(plan: Plan, folder: Path, asked: SignedChange, key: SigningKey | None) -> list[str]:
    """Write an entry into the plan's log; or tell what of it would freeze something that is not permitted."""
    log, chosen = log_of(plan, folder, key), list(parts(plan, asked.team))
    if not chosen:
        raise SettingError(f"No team {asked.team!r} has a system in this plan.")
    if asked.kind == "code" and any(part.name in log.now() for part in chosen):
        raise SettingError("This code is frozen already: another one is signed off with --change.")
    if asked.kind == "start" and log.has_started:
        raise SettingError("The evaluation has begun already: other parameters are signed off with --change.")
    facts = {part.name: {} if asked.kind == "start" else code_facts(part) for part in chosen}
    wrong = [fault for name, told in facts.items() for fault in schema_faults(name, told.get("schema", {}))]
    if wrong or key is None:
        return wrong
    if asked.kind == "start" or log.has_started:
        facts = {part.name: {**facts[part.name], "parameters": parameter_digest(part.choice)} for part in chosen}
    signer, reason = asked.signer.strip(), asked.reason.strip()
    if not signer or not reason:
        raise LogError("An entry of the change log needs who signs it and why: give --signer NAME --reason TEXT.")
    entry = Entry(len(log.entries) + 1, asked.kind, signer, reason, facts, log.head)
    append_entry(folder / plan.freeze, log, entry, key)
    return []


def read_log(path: Path, key: SigningKey | None) -> Log:
    """The log in a file, with its chain checked, and its signatures if the key is at hand."""
    if not path.exists():
        return Log((), key is not None)
    try:
        lines = [json.loads(line) for line in read_bounded(path, LARGEST).decode().splitlines()]
    except (ValueError, RecursionError) as error:
        raise LogError(f"{path} is not a change log: {error}.") from error
    entries: list[Entry] = []
    for number, line in enumerate(lines, start=1):
        entries.append(_entry(path, number, line, entries, key))
    return Log(tuple(entries), key is not None)


def _entry(path: Path, number: int, line: Any, before: Sequence[Entry], key: SigningKey | None) -> Entry:
    if not isinstance(line, dict) or set(line) != KEYS or line["format"] != FORMAT or line["kind"] not in KINDS:
        raise LogError(f"{path}:{number}: this is not an entry of format {FORMAT!r}.")
    entry = Entry(**{name: value for name, value in line.items() if name != "format"})
    wanted = digest(before[-1].line()) if before else START
    if entry.number != number or entry.previous != wanted:
        raise LogError(f"{path}:{number}: the chain is broken: a line was changed, added or taken out.")
    if key is not None and not key.verify(entry.signed_content(), entry.signature):
        raise LogError(f"{path}:{number}: the evaluation team has not signed this entry.")
    return entry


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
    """Outside data that a part declares, with hashes: anyone who signs the entry signs them off (H-29)."""
    declared = find_module(part.choice.module).declares.get("files", [])
    places = {str(name): surroundings().folder / str(name) for name in declared if isinstance(declared, list)}
    return {name: tree_digest(path) if path.exists() else "missing" for name, path in places.items()}


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
    return [fault for part in parts(plan) for fault in _part_faults(part, now.get(part.name), started=log.has_started)]


def _part_faults(part: Frozen, frozen: Mapping[str, Any] | None, *, started: bool) -> list[str]:
    if frozen is None:
        return [f"{part.name} was never frozen"]
    now = code_facts(part)
    found = schema_faults(part.name, now["schema"])
    if now["files"] != frozen.get("files", {}):
        found.append(f"the outside data of {part.name} were not signed off as they are")
    found += [f"the code of {part.name} differs from the frozen one"] if now["code"] != frozen.get("code") else []
    if now.get("environment") != frozen.get("environment"):
        found.append(f"the installed packages for {part.name} differ from the frozen ones")
    if started and parameter_digest(part.choice) != frozen.get("parameters"):
        found.append(f"the parameters of {part.name} differ from those at the start of the evaluation")
    return found
