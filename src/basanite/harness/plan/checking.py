"""What can be known of a plan's modules before anything runs: that they exist, fit their place and their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from basanite.errors import BasaniteError
from basanite.harness.modules.interfaces import Module, Role
from basanite.harness.plan.entries import Entries
from basanite.harness.plan.model import ModuleChoice, Plan
from basanite.harness.plan.modules import find_module
from basanite.harness.sandbox.running import NoSandboxError

ROLES: Final[dict[str, tuple[Role, ...]]] = {
    "features": ("features", "preprocessor"),
    "preprocessor": ("preprocessor", "features"),
    "strong": ("strong",),
    "linear": ("linear",),
    "learner": ("learner",),
}
"""Which roles may stand in which place; an extractor and a preprocessor do the same work for another team (H-5)."""


def check_modules(plan: Plan, top: Entries) -> None:
    """Report modules that do not exist, stand in the wrong place, or have parameters that they do not permit."""
    for entry, key, choice in _choices(plan, top):
        module = _found(entry, key, choice)
        if module is not None:
            _check_role(entry, key, module)
            _check_parameters(entry, key, choice, module)


def _choices(plan: Plan, top: Entries) -> Iterator[tuple[Entries, str, ModuleChoice]]:
    """Every module that the plan names, with the table that names it."""
    for name, task in plan.tasks.items():
        for key in ("features", "strong"):
            if choice := getattr(task, key):
                yield top.table("tasks").table(name), key, choice
    for number, team in enumerate(plan.teams):
        for name, system in team.systems.items():
            for key in ("preprocessor", "linear", "learner"):
                if choice := getattr(system, key):
                    yield top.tables("teams")[number].table("systems").table(name), key, choice


def _found(entry: Entries, key: str, choice: ModuleChoice) -> Module | None:
    try:
        return find_module(choice.module)
    except NoSandboxError:  # what cannot be asked here may still be read; running it is refused
        return None
    except BasaniteError as error:
        entry.add(str(error), "see `basanite plugins` for what is installed", key=key, found=choice.module, rule="H-5")
        return None


def _check_role(entry: Entries, key: str, module: Module) -> None:
    if not {module.role, *module.also} & set(ROLES[key]):
        fix = f"use a module of role {' or '.join(ROLES[key])}"
        entry.add(
            f"{module.name} is a {module.role} module and stands as `{key}`",
            fix,
            key=key,
            found=module.name,
            rule="H-5",
        )


def _check_parameters(entry: Entries, key: str, choice: ModuleChoice, module: Module) -> None:
    """Parameters are checked against what the module permits; one that chooses an architecture is not (H-11)."""
    from jsonschema import Draft202012Validator

    schema = module.schema or {"type": "object", "additionalProperties": False}
    for error in Draft202012Validator(schema).iter_errors(dict(choice.parameters)):
        where = ".".join(map(str, error.absolute_path))
        message = f"{module.name} does not permit these parameters: {f'{where}: ' if where else ''}{error.message}"
        entry.add(message, f"it permits {', '.join(schema.get('properties', {})) or 'none'}", key=key, rule="H-11")
