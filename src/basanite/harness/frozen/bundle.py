"""A plan as a folder that runs at a team's site: plan, parameters, data, the team's own system, and a key (H-35).

Other teams' systems are left out. The seed and the folds are given out when the evaluation begins (H-4), so the bundle
of a sealed plan holds its seal, and is made only then. The key signs the result; the evaluation team keeps a copy.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError
from basanite.harness.foreign.programs import PREFIX, is_program, surroundings, tree_digest
from basanite.harness.frozen.signatures import SigningKey, write_key
from basanite.harness.module_entry import ModuleChoice
from basanite.harness.modules.weights import is_weights, weights_files, weights_path
from basanite.harness.plan import Plan
from basanite.harness.plan_file import load_plan
from basanite.harness.results import write_json

FORMAT: Final = "basanite-bundle/1"
KEY: Final = "signing.key"


def bundle(path: Path, out: Path, team: str, *, begun: bool, key: SigningKey, kept: Path) -> dict[str, Any]:
    """Write the bundle of one team; gives what it holds."""
    plan = load_plan(path)
    _check(plan, out, team, begun=begun)
    out.mkdir(parents=True, exist_ok=True)
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    document["teams"] = [entry for entry in document["teams"] if entry["letter"] == team]
    (out / path.name).write_text(as_toml(document), encoding="utf-8")
    for name in sorted(set(_files(document, plan, team))):
        _copy(path.parent / name, out / name)
    write_key(kept, key)
    write_key(out / KEY, key)
    told = {
        "format": FORMAT,
        "plan": path.name,
        "team": team,
        "whole_plan_digest": plan.digest(),
        "plan_digest": load_plan(out / path.name).digest(),
        "key": key.name,
        "content": tree_digest(out),
    }
    write_json(out / "bundle.json", told)
    return told


def _check(plan: Plan, out: Path, team: str, *, begun: bool) -> None:
    if team not in {found.letter for found in plan.teams}:
        letters = ", ".join(found.letter for found in plan.teams)
        raise SettingError(f"There is no team {team!r} in the plan. There are: {letters}.")
    if plan.seal and not begun:
        raise SettingError("The plan is sealed, and a bundle would open it. Say --begun when the evaluation has begun.")
    if out.exists() and any(out.iterdir()):
        raise SettingError(f"{out} is not empty. Choose another folder for the bundle.")


def _files(document: Mapping[str, Any], plan: Plan, team: str) -> Iterator[str]:
    """Every file and folder that the plan of one team needs, as the plan names them."""
    yield from (plan.seal,) if plan.seal else ()
    yield from (plan.freeze,) if plan.freeze else ()
    for task in plan.tasks.values():
        yield from (str(task.data["path"]),) if task.data.get("path") else ()
        yield from _weights(filter(None, (task.features, task.strong)))
    yield from _values_named(document, "parameters_file")
    for found in plan.teams:
        for system in found.systems.values() if found.letter == team else ():
            yield from filter(None, (system.trained, system.dossier))
            chosen = [choice for choice in (system.preprocessor, system.learner, system.linear) if choice]
            yield from (c.module.removeprefix(PREFIX).partition(":")[0] for c in chosen if is_program(c.module))
            yield from _weights(chosen)


def _weights(choices: Iterable[ModuleChoice]) -> Iterator[str]:
    """Folders of weights, and files of weights with what lies beside them about their inputs."""
    for choice in choices:
        if is_weights(choice.module):
            whole = weights_path(choice.module, surroundings())
            named = whole.relative_to(surroundings().folder).parent
            yield from (str(named / path.name) for path in weights_files(whole))


def _values_named(value: Any, wanted: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from [str(part)] if name == wanted else _values_named(part, wanted)
    elif isinstance(value, list):
        for part in value:
            yield from _values_named(part, wanted)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or folder of the plan; one that lies elsewhere would not be found at the team's site."""
    if source == target or ".." in target.parts:
        raise SettingError(f"{source} lies outside the folder of the plan, so it cannot go into a bundle.")
    if not source.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def as_toml(document: Mapping[str, Any]) -> str:
    """Plain data as TOML, one line for each key at the top.

    >>> print(as_toml({"name": "x", "tasks": {"t": {"n": 5, "range": [1, 2.5]}}}), end="")
    name = "x"
    tasks = { "t" = { "n" = 5, "range" = [1, 2.5] } }
    """
    return "".join(f"{name} = {_value(value)}\n" for name, value in document.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_text(name)} = {_value(part)}" for name, part in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(value: str) -> str:
    """A text as TOML writes it; JSON's escapes are among TOML's, but for the character 127."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
