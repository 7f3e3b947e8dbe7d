"""From the name of a program, or of a stranger's Python module, to the module that a plan works with."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from basanite import registry
from basanite.harness.foreign.adapters import System
from basanite.harness.foreign.calling import Call, answered
from basanite.harness.foreign.description import Description, described
from basanite.harness.foreign.programs import (
    TRAINED,
    Program,
    environment_digest,
    found_program,
    hosted_program,
    is_program,
    tree_digest,
)
from basanite.harness.foreign.surroundings import Surroundings
from basanite.harness.modules.interfaces import Form, Module

OURS: Final = "basanite"
NEEDS: Final[dict[str, Form]] = {"features": "items", "preprocessor": "items"}
_described: dict[tuple[str, str, bool], Description] = {}
"""What programs said about themselves, by name, code and whether they were boxed: each is asked once in a process."""


def module_target(name: str) -> str:
    """Where a Python module is written: the name itself, or what its entry point names."""
    if ":" in name:
        return name
    found = [plugin.target for plugin in registry.plugins() if plugin.group == "modules" and plugin.name == name]
    return found[0] if found else ""


def is_foreign(name: str, around: Surroundings) -> bool:
    """Whether a module must run as a program: it is one, or it is a stranger's and these must run in a box."""
    if is_program(name) or not around.hosts:
        return is_program(name)
    target = module_target(name)
    return bool(target) and target.partition(".")[0].partition(":")[0] != OURS


def foreign_module(name: str, around: Surroundings) -> Module:
    """The module of a foreign name; it is asked to describe itself."""
    system = foreign_system(name, around)
    told = system.described
    return Module(
        name=told.name,
        role=told.role,
        summary=told.summary,
        make=system.made,
        needs=told.needs or NEEDS.get(told.role, "dense"),
        gives=told.gives,
        scale=told.scale,
        schema=told.schema,
        version=told.version,
        greedy=told.greedy,
        random=told.random,
        declares=told.declares,
    )


def foreign_system(name: str, around: Surroundings) -> System:
    """The program behind a name, with what it says of itself and a trained state, if the name brings one."""
    kind = next((kind for kind in TRAINED if name.startswith(kind)), "")
    if kind:
        folder, _, inner = name.removeprefix(kind).partition(":")
        state = around.folder / folder / "state"
        return replace(foreign_system(inner, around), trained=state, always=kind == TRAINED[0])
    program = program_of(name, around)
    told = _asked(program, around)
    return System(replace(program, reads=(*program.reads, *declared_files(told, around))), told, around)


def declared_files(told: Description, around: Surroundings) -> tuple[Path, ...]:
    """Files beside its own that a module says it reads, seen from the plan; they are shown to it read-only (H-29)."""
    files = told.declares.get("files", [])
    named = files if isinstance(files, list) else []
    return tuple((around.folder / path).resolve() for path in named if isinstance(path, str))


def program_of(name: str, around: Surroundings) -> Program:
    """The program of a name: a team's own, or our host of a Python module."""
    return found_program(name, around) if is_program(name) else hosted_program(module_target(name))


def foreign_digest(name: str, around: Surroundings) -> str:
    """The hash of all that a foreign module brings: its folder, or its Python package, and a trained state."""
    if name not in around.digests:
        around.digests[name] = _digest(name, around)
    return around.digests[name]


def _digest(name: str, around: Surroundings) -> str:
    kind = next((kind for kind in TRAINED if name.startswith(kind)), "")
    if kind:
        folder, _, inner = name.removeprefix(kind).partition(":")
        return f"{foreign_digest(inner, around)} {kind}{tree_digest(around.folder / folder)}"
    program = program_of(name, around)
    if is_program(name):
        return program.digest()
    return tree_digest(program.package) if program.package else environment_digest()


def _asked(program: Program, around: Surroundings) -> Description:
    key = (program.name, program.digest() if is_program(program.name) else "", around.boxed)
    if key not in _described:
        with tempfile.TemporaryDirectory() as name, Call(program, ("describe",), around) as call:
            Path(name).chmod(0o755)
            ended = call.run(Path(name), {})
            _described[key] = described(answered(call.maker, ended.stdout), call.maker)
    return _described[key]
