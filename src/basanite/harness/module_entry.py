"""How a plan names a module: a registered one, a team's program, or weights, with parameters."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.formats.config_file import Section
from basanite.formats.toml_file import Table, too_deep
from basanite.harness.foreign.programs import program_name
from basanite.harness.modules.weights import weights_name

LARGEST: Final = 4 * 2**20


@dataclass(frozen=True)
class PlanTable(Table):
    """One table of a plan."""

    rule: ClassVar[str] = "H-13"
    whole_file: ClassVar[str] = "the plan"

    folder: Path = Path()
    """Where paths of the plan start."""


@dataclass(frozen=True)
class ModuleChoice:
    """Which module, and with which parameters; they come from a file or stand in the plan (H-11)."""

    module: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def canonical(self) -> dict[str, Any]:
        """The choice as plain data."""
        return {"module": self.module, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class ModuleEntry(Section):
    """A module by its name, or a team's program, with parameters."""

    short: ClassVar[str] = "module"

    module: str = ""
    """The name of a module."""
    program: tuple[str, ...] = ()
    """A program in any language: the words of its command (H-12)."""
    folder: str = ""
    """The program's own folder, seen from the plan."""
    weights: str = ""
    """A trained model instead: its folder or file of weights, seen from the plan (H-42)."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Its parameters."""
    parameters_file: str = ""
    """A TOML or JSON file with its parameters, instead."""

    def check(self, table: Table) -> Any:
        """The module that is chosen, with parameters taken from their file."""
        if "parameters_file" in table.values and self.parameters:
            fix = "keep one of them"
            table.add(f"{table.place} has parameters and a parameters_file", fix, key="parameters")
        named = [key for key in ("module", "program", "weights") if key in table.values]
        if not named or (named == ["module"] and not self.module.strip()):
            found = table.values.get("module")
            table.add(f"{table.place} has no text `module`", 'write module = "…"', key="module", found=found)
        name = self._name(table, named)
        return ModuleChoice(name, self.parameters or self._parameters_in_file(table))

    def _name(self, table: Table, named: Sequence[str]) -> str:
        """The name of what is chosen: a module, a program, or a model from weights."""
        if len(named) > 1:
            message = f"{table.place} has {' and '.join(f'a {key}' if key != 'weights' else key for key in named)}"
            table.add(message, "keep one of them", key=named[-1], rule="H-12")
        if "program" in named:
            return self._program(table)
        if "weights" not in named:
            return self.module
        if not self.weights.strip():
            table.add(f"{table.place} has no text `weights`", 'write weights = "FOLDER"', key="weights", rule="H-42")
        if table.path[-1] == "learner":
            message = "trained weights learn nothing here, so they cannot stand as a learner"
            table.add(message, "name them as `preprocessor`, or as `linear`", key="weights", rule="H-42")
        return weights_name(str(table.path[-1]), self.weights)

    def _program(self, table: Table) -> str:
        if not self.folder.strip():
            table.add(f"{table.place} has no text `folder`", 'write folder = "…"', key="folder", found=self.folder)
        if self.program and all(self.program) and ":" not in self.folder:
            return program_name(self.folder, list(self.program))
        fix = 'write program = ["./system.sh"]'
        table.add(f"{table.place} has no list of words `program`", fix, key="program", rule="H-12")
        return ""

    def _parameters_in_file(self, table: Table) -> Mapping[str, Any]:
        """The parameters in a TOML or JSON file beside the plan (H-11: they come from a file)."""
        name = self.parameters_file
        if not name.strip():
            return {}
        assert isinstance(table, PlanTable)
        try:
            text = read_bounded(table.folder / name, LARGEST).decode()
            if too_deep(text):
                raise UnreadableError("it is nested too deep")
            found = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
        except (UnreadableError, ValueError, RecursionError) as error:
            message = f"the parameters in {name} cannot be read: {error}"
            table.add(message, "give a TOML or JSON file", key="parameters_file")
            return {}
        if isinstance(found, dict):
            return found
        fix = "write one parameter a line: name = value"
        table.add(f"{name} holds no table of parameters", fix, key="parameters_file")
        return {}
