"""Plan files: every problem at once, each with its line, and all that can be known of their modules before a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from basanite.errors import BasaniteError, InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.formats.config_file import read_section
from basanite.formats.toml_file import TomlReport, entry_lines, read_toml
from basanite.harness.foreign.programs import enter, surroundings, surroundings_of_plan
from basanite.harness.module_entry import LARGEST, ModuleChoice, PlanTable
from basanite.harness.modules.catalogue import find_module
from basanite.harness.modules.interfaces import Module, Role
from basanite.harness.modules.weights import is_weights, parameter_faults
from basanite.harness.plan import Plan
from basanite.problems import Findings
from basanite.sandbox.runner import NoSandboxError

ROLES: Final[dict[str, tuple[Role, ...]]] = {
    "features": ("features", "preprocessor"),
    "preprocessor": ("preprocessor", "features"),
    "strong": ("strong",),
    "linear": ("linear",),
    "learner": ("learner",),
}
"""Which roles may stand in which place; an extractor and a preprocessor do the same work for another team (H-5)."""


def check_modules(plan: Plan, top: PlanTable) -> None:
    """Report modules that do not exist, stand in the wrong place, or have parameters that they do not permit."""
    for entry, key, choice in _choices(plan, top):
        module = _load_module(entry, key, choice)
        if module is not None:
            _check_role(entry, key, module)
            _check_parameters(entry, key, choice, module)


def _choices(plan: Plan, top: PlanTable) -> Iterator[tuple[PlanTable, str, ModuleChoice]]:
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


def _load_module(entry: PlanTable, key: str, choice: ModuleChoice) -> Module | None:
    try:
        return find_module(choice.module)
    except NoSandboxError:  # what cannot be asked here may still be read; running it is refused
        return None
    except BasaniteError as error:
        entry.add(str(error), "see `basanite plugins` for what is installed", key=key, found=choice.module, rule="H-5")
        return None


def _check_role(entry: PlanTable, key: str, module: Module) -> None:
    if not {module.role, *module.also} & set(ROLES[key]):
        fix = f"use a module of role {' or '.join(ROLES[key])}"
        entry.add(
            f"{module.name} is a {module.role} module and stands as `{key}`",
            fix,
            key=key,
            found=module.name,
            rule="H-5",
        )


def _check_parameters(entry: PlanTable, key: str, choice: ModuleChoice, module: Module) -> None:
    """Parameters are checked against what the module permits; one that chooses an architecture is not (H-11)."""
    from jsonschema import Draft202012Validator

    schema = module.schema or {"type": "object", "additionalProperties": False}
    for error in Draft202012Validator(schema).iter_errors(dict(choice.parameters)):
        where = ".".join(map(str, error.absolute_path))
        message = f"{module.name} does not permit these parameters: {f'{where}: ' if where else ''}{error.message}"
        entry.add(message, f"it permits {', '.join(schema.get('properties', {})) or 'none'}", key=key, rule="H-11")
        return
    if is_weights(choice.module):
        for fault in parameter_faults(choice, surroundings()):
            entry.add(f"{module.name}: {fault}", "correct the parameters", key=key, rule="H-42")


def load_plan(path: Path) -> Plan:
    """The plan in a file; what is wrong with it is raised as one error with all problems."""
    plan, findings = read_plan(path)
    if plan is None or not findings.valid:
        raise InvalidInputError("plan", findings)
    return plan


def read_plan(path: Path) -> tuple[Plan | None, Findings]:
    """The plan in a file, if it can be made out, and everything that is wrong with it."""
    findings = Findings()
    document = read_toml(path, "plan", TomlReport(path.name, PlanTable.rule, findings))
    if document is None:
        return None, findings
    lines = entry_lines(read_bounded(path, LARGEST).decode())
    top = PlanTable(document, (), path.name, lines, findings, path.parent)
    plan: Plan = read_section(Plan, top)
    enter(surroundings_of_plan(path.parent, plan.limits, sealed=bool(plan.seal)))
    check_modules(plan, top)
    return plan, findings
