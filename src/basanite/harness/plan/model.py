"""What a plan says, as values: tasks with their data and protocol, teams with their systems, claims and options.

`canonical` is the one form that is hashed and kept in the result, so that two spellings of a plan are one plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from basanite.harness.conditions import CLAIMS, Claim

FORMAT: Final = "basanite-plan/1"
MetricName = Literal["map11", "mrmse"]
BEST: Final[Mapping[str, Literal["high", "low"]]] = {"map11": "high", "mrmse": "low"}
"""The direction is part of the metric."""
TARGET_METRIC: Final[Mapping[str, str]] = {"map11": "ap11", "mrmse": "rmse"}
"""What one target's value is called; the task's metric is its mean over targets."""


@dataclass(frozen=True)
class ModuleChoice:
    """Which module, and with which parameters; they come from a file or stand in the plan (H-11)."""

    module: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def canonical(self) -> dict[str, Any]:
        """The choice as plain data."""
        return {"module": self.module, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class System:
    """What a team brings for one task: a preprocessor, a simple linear classifier and a learner, any may be missing."""

    preprocessor: ModuleChoice | None = None
    linear: ModuleChoice | None = None
    learner: ModuleChoice | None = None
    trained: str = ""
    """A folder with a system that the team has trained itself (H-28)."""
    use_trained: bool = False
    dossier: str = ""
    """A folder with the papers of a frozen entry (H-30)."""

    def canonical(self) -> dict[str, Any]:
        """The system as plain data; what is missing is not there."""
        parts = {"preprocessor": self.preprocessor, "linear": self.linear, "learner": self.learner}
        chosen = {name: choice.canonical() for name, choice in parts.items() if choice}
        extra = {"trained": self.trained, "use_trained": self.use_trained, "dossier": self.dossier}
        return {**chosen, **{name: value for name, value in extra.items() if value}}


@dataclass(frozen=True)
class Team:
    """A team: the letter that its runs carry (A42), its name, and its system for each task."""

    letter: str
    name: str
    systems: Mapping[str, System] = field(default_factory=dict)

    def canonical(self) -> dict[str, Any]:
        """The team as plain data."""
        systems = {task: system.canonical() for task, system in self.systems.items()}
        return {"letter": self.letter, "name": self.name, "systems": systems}


@dataclass(frozen=True)
class TaskPlan:
    """One task: data, targets, metric, the numbers of the protocol, and the evaluation team's two modules."""

    name: str
    data: Mapping[str, Any]
    metric: MetricName
    targets: tuple[str, ...] = ()
    """The columns to predict, in order; none here means all that the data have."""
    range: tuple[float, float] | None = None
    train_share: float = 0.7
    n: int = 10_000
    folds: int = 10
    shared_split: bool = False
    stratify_by: str = ""
    group_by: str = ""
    validation_cap: int | None = None
    shuffle_seed: int | None = None
    iterative: bool = False
    """Whether folds are dealt by iterative stratification, for items with several labels (A6)."""
    full: bool = False
    """Whether classifiers train on the rows of all folds, as published results do (A22)."""
    margin: float | None = None
    """How much worse still counts as comparable, declared before unsealing (S-2)."""
    strict: bool = False
    """Whether a target without positives among the test rows is an error and not a gap (A21)."""
    features: ModuleChoice | None = None
    strong: ModuleChoice | None = None

    @property
    def best(self) -> Literal["high", "low"]:
        """Whether more is better."""
        return BEST[self.metric]

    def canonical(self) -> dict[str, Any]:
        """The task as plain data."""
        modules = {"features": self.features, "strong": self.strong}
        plain = {name: value for name, value in vars(self).items() if name not in ("name", "full", *modules)}
        plain |= {"full": True} if self.full else {}
        chosen = {name: choice.canonical() for name, choice in modules.items() if choice}
        listed = {"targets": list(self.targets), "range": list(self.range) if self.range else None}
        return {**plain, "data": dict(self.data), **listed, "best": self.best, **chosen}


@dataclass(frozen=True)
class Plan:
    """One evaluation: what is run, by whom, on what, and which claims it tests."""

    name: str
    title: str
    tasks: Mapping[str, TaskPlan]
    teams: tuple[Team, ...]
    seed: int | None = None
    seal: str = ""
    """The file with the sealed seed; a plan has either this or a seed that somebody typed in (X-1)."""
    freeze: str = ""
    """The log of frozen code and parameters, if the evaluation has one (H-11)."""
    replications: int = 1
    claims: tuple[Claim, ...] = CLAIMS
    analysis: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)

    def canonical(self) -> dict[str, Any]:
        """The plan as plain data, the same for every way to write it."""
        return {
            "format": FORMAT,
            "name": self.name,
            "title": self.title,
            "seed": self.seed,
            "seal": self.seal,
            **({"freeze": self.freeze} if self.freeze else {}),
            "replications": self.replications,
            "tasks": {name: task.canonical() for name, task in self.tasks.items()},
            "teams": [team.canonical() for team in self.teams],
            "claims": [claim.canonical() for claim in self.claims],
            "analysis": dict(self.analysis),
            "limits": dict(self.limits),
        }

    def digest(self) -> str:
        """The hash of the canonical form."""
        said = json.dumps(self.canonical(), sort_keys=True, ensure_ascii=False, allow_nan=False)
        return f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"
