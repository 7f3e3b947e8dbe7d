"""The file of a study: its data sets, its models, and what is measured; every problem at once, each with its line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from basanite.canonical import dumps, plain_values
from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.formats.config_file import Name, Section, read_section
from basanite.formats.toml_file import Table, TomlReport, entry_lines, read_toml
from basanite.problems import Findings
from basanite.registry import suggestion
from basanite.representation.measures.all_measures import NAMES

RULE: Final = "F-23"
LARGEST: Final = 1 << 20
Count = Annotated[int, Field(ge=1, le=100_000)]


@dataclass(frozen=True)
class StudyTable(Table):
    """One table of a study."""

    rule: ClassVar[str] = RULE
    whole_file: ClassVar[str] = "the study"


@dataclass(frozen=True)
class DataEntry(Section):
    """One data set."""

    name: Name
    """What the set is called."""
    kind: Literal["glyphs", "textures", "dots", "digits", "folder"]
    """Pictures made on the spot (`glyphs`, `textures`, `dots`), handwritten `digits`, or a `folder` of pictures."""
    classes: Annotated[int, Field(ge=2, le=1000)] = 10
    """How many classes are made."""
    rows: Count = 30
    """Rows of each class that are measured."""
    train: Count = 100
    """Rows of each class on which probes and fine-tuning learn."""
    seed: int = 0
    """Another number makes other classes: classes that a network has not seen."""
    path: str = ""
    """The folder, with one folder for each class, seen from the study's file."""


@dataclass(frozen=True)
class ModelEntry(Section):
    """One model."""

    name: Name
    """What the model is called."""
    network: Literal["conv", "mlp", ""] = ""
    """A network that is trained on the source set: of convolutions, or of dense layers."""
    width: Annotated[int, Field(ge=1, le=256)] = 8
    """How wide the network is."""
    epochs: Annotated[int, Field(ge=0, le=1000)] = 10
    """How long it is trained; 0 leaves it as it was drawn."""
    path: str = ""
    """A folder of weights instead, seen from the study's file."""
    layer: str = "features"
    """The layer whose features are measured."""


@dataclass(frozen=True)
class Study(Section):
    """A study."""

    format: str
    """`basanite-study/1`."""
    title: str
    """The headline of the report."""
    source: Name
    """The set that networks are trained on, and from which the shift starts."""
    reference: Name
    """The model of the tables and of the shift."""
    shift_target: Name
    """The set that is mixed in."""
    data: tuple[DataEntry, ...]
    """The data sets."""
    models: tuple[ModelEntry, ...]
    """The models."""
    measures: tuple[str, ...] = ()
    """Only these measures; all without it."""
    seed: int = 0
    """Seed of everything drawn."""
    repeats: Annotated[int, Field(ge=1, le=100)] = 5
    """Repeats with random transformations."""
    tune_epochs: Annotated[int, Field(ge=1, le=1000)] = 40
    """How long models are fine-tuned for the proxy."""
    shift_repeats: Annotated[int, Field(ge=1, le=1000)] = 10
    """Repeats of the shift."""
    shift_draws: Annotated[int, Field(ge=0, le=10_000)] = 20
    """Draws of the shift, for its intervals."""
    otce_rows: Annotated[int, Field(ge=2, le=5000)] = 100
    """The most rows a side that OTCE moves."""

    def check(self, table: Table) -> Any:
        """The study, if its names fit together."""
        sets, models = [one.name for one in self.data], [one.name for one in self.models]
        for key, name, known in (
            ("source", self.source, sets),
            ("shift_target", self.shift_target, sets),
            ("reference", self.reference, models),
        ):
            if name not in known:
                table.add(f"`{key}` names {name!r}, which is not there", suggestion(name, known), key=key, found=name)
        for key, names in (("data", sets), ("models", models)):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                table.add(f"two {key} are called {min(twice)!r}", "give each a name of its own", key=key)
        if self.source == self.shift_target:
            table.add("`shift_target` is the source", "name another set", key="shift_target")
        for name in self.measures:
            if name not in NAMES:
                table.add(f"there is no measure {name!r}", suggestion(name, NAMES), key="measures", found=name)
        for at, one in enumerate(self.data):
            if (one.kind == "folder") != bool(one.path):
                table.add(
                    f"set {one.name!r} needs a `path` if and only if it is a folder", "correct it", key=("data", at)
                )
        for at, model in enumerate(self.models):
            if bool(model.network) == bool(model.path):
                fix = "give one of them"
                table.add(f"model {model.name!r} needs a `network` or a `path`", fix, key=("models", at))
        return self

    @property
    def digest(self) -> str:
        """One digest of everything that the study says."""
        return hashlib.sha256(dumps(plain_values(_plain(self))).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return {name: _plain(one) for name, one in vars(value).items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def read_study(path: Path) -> Study:
    """The study in a file; what is wrong with it is raised as one error with all problems."""
    findings = Findings()
    document = read_toml(path, "study", TomlReport(path.name, RULE, findings))
    study: Study | None = None
    if document is not None:
        lines = entry_lines(read_bounded(path, LARGEST).decode())
        study = read_section(Study, StudyTable(document, (), path.name, lines, findings))
    if study is None or not findings.valid:
        raise InvalidInputError("measure study", findings)
    return study
