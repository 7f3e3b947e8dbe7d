"""What a plan says, as values: tasks with their data and protocol, teams with their systems, claims and options.

`canonical` is the one form that is hashed and kept in the result, so that two spellings of a plan are one plan.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field

from basanite.formats.config_file import (
    LARGEST_WHOLE,
    UNWRITTEN,
    Name,
    OneOf,
    Section,
    Usual,
    Written,
    WrongError,
)
from basanite.formats.toml_file import Table
from basanite.harness.conditions import CLAIMS, Claim
from basanite.harness.foreign.programs import BOXING
from basanite.harness.module_entry import ModuleChoice, ModuleEntry

LONGEST_NAME: Final = 80
"""Of a target: encoded, three bytes a letter still fit into the name of a file."""
VERDICTS: Final = ("supported", "not supported")


def distinct_names(value: Any) -> Any:
    """A list of different names of columns, which may hold any signs that can be printed."""
    if not isinstance(value, tuple) or not all(isinstance(item, str) and _is_column(item) for item in value):
        fix = f'write {{key}} = ["…"] with names of columns of at most {LONGEST_NAME} letters'
        raise WrongError("`{key}` of {place} is not a list of names", fix)
    once = tuple(dict.fromkeys(value))
    if len(once) < len(value):
        raise WrongError("`{key}` of {place} names something twice", "name each once", instead=once)
    return value


def _is_column(name: str) -> bool:
    """Whether a column may be a target: its name is shown, and files are called by it."""
    return bool(name.strip()) and name.isprintable() and len(name) <= LONGEST_NAME and name.casefold() != "shared"


def rising_pair(value: Any) -> Any:
    """Two numbers, the larger one last."""
    numbers = isinstance(value, tuple) and all(type(each) in (int, float) for each in value)
    if not numbers or len(value) != 2 or not -float("inf") < value[0] < value[1] < float("inf"):
        raise WrongError("`{key}` of {place} is not two rising numbers", "write {key} = [1, 5]")
    return value


def _rising_shares(value: Any) -> Any:
    """Rising shares from 0 to 1 (A38)."""
    fits = isinstance(value, tuple) and all(type(part) in (int, float) and 0 <= part <= 1 for part in value)
    if not fits or sorted(set(value)) != list(value):
        raise WrongError("`{key}` is not a list of rising shares", "write {key} = [0.0, 0.1, 1.0]", instead=())
    return value


@dataclass(frozen=True)
class DataEntry(Section):
    """Where the data come from: the name of a data set, or a table with a reader and what it needs."""

    short: ClassVar[str] = "reader"

    reader: str
    """What reads them."""
    path: str = ""
    """The file or folder."""
    rows: Annotated[int | None, Field(ge=0, le=LARGEST_WHOLE)] = None
    """How many rows."""
    clips: Annotated[int | None, Field(ge=0, le=LARGEST_WHOLE)] = None
    """How many clips."""
    seed: Annotated[int | None, Field(ge=0, le=LARGEST_WHOLE)] = None
    """The seed of what is generated."""
    text: str = ""
    """The column with the text."""
    group: str = ""
    """The column with the group."""
    length: Annotated[int | None, Field(ge=0, le=LARGEST_WHOLE)] = None
    """How long each is."""
    missing: str = ""
    """What becomes of reviews without a text or rating: refuse, drop or keep."""
    kind: str = ""
    """Of generated tables and lamps: `traits` or `product`, by which a claim is supported or refuted."""
    media: str = ""
    """The folder of the files that a CSV list names, if it is another one than the list's."""

    def check(self, table: Table) -> Any:
        """The entries that are written."""
        return dict(table.values)


@dataclass(frozen=True)
class AnalysisEntry(Section):
    """What the analysis does beyond the plan's graphs."""

    layers: bool | None = None
    """Whether the contribution of each layer is measured."""
    invariance: bool | None = None
    """Whether invariance to transformations is measured."""
    measures: bool | None = None
    """Whether representation measures are taken of each layer."""
    speed: bool | None = None
    """Whether seconds and memory are shown."""
    curves: Annotated[tuple[float, ...] | None, BeforeValidator(_rising_shares)] = None
    """Shares of the unlabelled rows for a learning curve, such as `[0.0, 0.1, 1.0]`."""
    labelled_curves: Annotated[tuple[float, ...] | None, BeforeValidator(_rising_shares)] = None
    """Shares of the labelled rows, for a curve of its own."""
    draws: Annotated[int | None, Field(ge=100, le=10_000_000)] = None
    """Resamples of the bootstrap."""
    alpha: Annotated[float | None, Field(gt=0, lt=0.5)] = None
    """The level of the tests."""

    def check(self, table: Table) -> Any:
        """Only what is set."""
        found = {name: value for name, value in vars(self).items() if value is not None}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


@dataclass(frozen=True)
class LimitEntry(Section):
    """Limits on steps and on teams' programs."""

    step_seconds: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    """Seconds that one call of a team's program may take."""
    training_seconds: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    """Seconds that training may take."""
    memory_gib: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    """Memory that it may use, with what it writes."""
    output_mib: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    """How much it may write."""
    processes: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    """How many processes it may start."""
    sandbox: Annotated[str | None, OneOf(BOXING)] = None
    """What runs in a sandbox."""

    def check(self, table: Table) -> Any:
        """Only what is set."""
        return {name: value for name, value in vars(self).items() if value is not None}


FORMAT: Final = "basanite-plan/1"
MetricName = Literal["map11", "mrmse"]
BEST: Final[Mapping[str, Literal["high", "low"]]] = {"map11": "high", "mrmse": "low"}
"""The direction is part of the metric."""
TARGET_METRIC: Final[Mapping[str, str]] = {"map11": "ap11", "mrmse": "rmse"}
"""What one target's value is called; the task's metric is its mean over targets."""


@dataclass(frozen=True)
class System(Section):
    """What a team brings for one task: a preprocessor, a simple linear classifier and a learner, any may be missing."""

    preprocessor: Annotated[ModuleChoice | None, Written(ModuleEntry)] = None
    """What makes its features."""
    linear: Annotated[ModuleChoice | None, Written(ModuleEntry)] = None
    """Its simple linear classifier."""
    learner: Annotated[ModuleChoice | None, Written(ModuleEntry)] = None
    """Its learner of representations."""
    trained: str = ""
    """A folder with a system that the team has trained itself (H-28)."""
    use_trained: bool = False
    """Whether that system is used instead of training one."""
    dossier: str = ""
    """A folder with the papers of a frozen entry (H-30)."""

    def canonical(self) -> dict[str, Any]:
        """The system as plain data; what is missing is not there."""
        parts = {"preprocessor": self.preprocessor, "linear": self.linear, "learner": self.learner}
        chosen = {name: choice.canonical() for name, choice in parts.items() if choice}
        extra = {"trained": self.trained, "use_trained": self.use_trained, "dossier": self.dossier}
        return {**chosen, **{name: value for name, value in extra.items() if value}}


@dataclass(frozen=True)
class Team(Section):
    """A team: the letter that its runs carry (A42), its name, and its system for each task."""

    letter: Annotated[str, OneOf(tuple("abcdefghijklmnopqrstuvwxyz"))]
    """The letter that its runs carry."""
    name: str
    """What the team is called."""
    systems: Mapping[str, System] = field(default_factory=dict)
    """Its system for each task."""

    def canonical(self) -> dict[str, Any]:
        """The team as plain data."""
        systems = {task: system.canonical() for task, system in self.systems.items()}
        return {"letter": self.letter, "name": self.name, "systems": systems}


@dataclass(frozen=True)
class TaskPlan(Section):
    """One task: data, targets, metric, the numbers of the protocol, and the evaluation team's two modules."""

    name: Annotated[Name, UNWRITTEN]
    data: Annotated[Mapping[str, Any], Written(DataEntry)]
    """The name of a built-in data set, or a table."""
    metric: MetricName
    """`map11` for labels (higher is better), `mrmse` for ratings (lower is better)."""
    targets: Annotated[tuple[str, ...], BeforeValidator(distinct_names), Usual("all that the data have")] = ()
    """The columns to predict, in order; none here means all that the data have."""
    range: Annotated[tuple[float, float] | None, BeforeValidator(rising_pair), Usual("that of the data")] = None
    """Lowest and highest rating; predictions are brought into it and counted."""
    train_share: Annotated[float, Field(gt=0, lt=1)] = 0.7
    """The share of rows that systems may learn from; the rest is test."""
    n: Annotated[int, Field(ge=2, le=LARGEST_WHOLE)] = 10_000
    """How many training rows are dealt into folds; the rest of training validates."""
    folds: Annotated[int, Field(ge=2, le=99)] = 10
    """In how many folds they are dealt."""
    shared_split: Annotated[bool, Usual("true for `map11`, false for `mrmse`")] = False
    """One split for all targets instead of one for each."""
    stratify_by: Annotated[str, Usual("first label, or first target")] = ""
    """What a shared split is stratified by."""
    group_by: str = ""
    """A column whose groups are kept on one side of the split."""
    validation_cap: Annotated[int | None, Field(ge=0, le=LARGEST_WHOLE)] = None
    """At most so many extra validation rows, the same for all runs."""
    shuffle_seed: Annotated[int | None, Field(ge=0, le=LARGEST_WHOLE)] = None
    """Shuffle rows of one class before they are dealt into folds."""
    iterative: bool = False
    """Whether folds are dealt by iterative stratification, for items with several labels (A6)."""
    full: bool = False
    """Whether classifiers train on the rows of all folds, as published results do (A22)."""
    margin: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = None
    """How much worse still counts as comparable, declared before unsealing (S-2)."""
    strict: bool = False
    """Whether a target without positives among the test rows is an error and not a gap (A21)."""
    features: Annotated[ModuleChoice | None, Written(ModuleEntry)] = None
    """The evaluation team's feature extractor."""
    strong: Annotated[ModuleChoice | None, Written(ModuleEntry)] = None
    """The evaluation team's strong shallow classifier."""

    @classmethod
    def prepare(cls, table: Table) -> Table:
        """The table with its name, and with the split that its metric usually has."""
        usual = {"shared_split": table.values.get("metric") == "map11"}
        return replace(table, values={**usual, **table.values, "name": table.path[-1]})

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
class Plan(Section):
    """One evaluation: what is run, by whom, on what, and which claims it tests."""

    name: Name
    """A short name, fit for files."""
    title: Annotated[str, Usual("none")]
    """What the report is called."""
    tasks: Mapping[str, TaskPlan]
    """One table for each task."""
    teams: Annotated[tuple[Team, ...], Usual("none")]
    """One table for each team."""
    seed: Annotated[int | None, Field(ge=0, le=LARGEST_WHOLE), Usual("needed, or `seal`")] = None
    """A number; all dice follow from it by name."""
    seal: str = ""
    """The file with the sealed seed; a plan has either this or a seed that somebody typed in (X-1)."""
    freeze: str = ""
    """The log of frozen code and parameters, if the evaluation has one (H-11)."""
    replications: Annotated[int, Field(ge=1, le=1000)] = 1
    """How often systems with dice are trained, each time with seeds of their own."""
    constructed: Mapping[str, str] = field(default_factory=dict)
    """The verdicts that the data were constructed for, by claim, for `harness calibrate` (H-39)."""
    claims: Annotated[tuple[Claim, ...], Usual("the four built in")] = CLAIMS
    """What the evaluation tests."""
    analysis: Annotated[Mapping[str, Any], Written(AnalysisEntry)] = field(default_factory=dict)
    """What is done beyond the plan's own graphs."""
    limits: Annotated[Mapping[str, Any], Written(LimitEntry)] = field(default_factory=dict)
    """Bounds on the work."""

    def check(self, table: Table) -> Plan:
        """The plan, with teams that differ and have systems for its tasks only."""
        self._check_seed(table)
        if self.seal and self.limits.get("sandbox") == "off":  # no untrusted code outside a sandbox
            message = "a sealed evaluation cannot do without a sandbox"
            table.table("limits").add(message, "take `sandbox` out", key="sandbox", rule="X-5")
        self._check_constructed(table)
        teams: dict[str, Team] = {}
        for team, entry in zip(self.teams, table.tables("teams"), strict=True):
            entry.table("systems", needed=False).check_keys(tuple(self.tasks))
            if team.letter in teams:
                fix = "give each team a letter of its own; a team has one system for each task (H-32)"
                entry.add(f"two teams have the letter {team.letter!r}", fix, key="letter", found=team.letter)
            if _plain_name(team.name) in {_plain_name(other.name) for other in teams.values()}:
                fix = "a team has exactly one system for each task: keep one of them"
                entry.add(f"the team {team.name!r} stands here twice", fix, key="name", found=team.name, rule="H-32")
            systems = {name: system for name, system in team.systems.items() if name in self.tasks}
            teams.setdefault(team.letter, replace(team, systems=systems))
        return replace(self, teams=tuple(teams.values()), claims=self.claims or CLAIMS)

    def _check_constructed(self, table: Table) -> None:
        """Each claim that a verdict is named for exists, and so does the verdict (H-39)."""
        claims = [claim.name for claim in self.claims or CLAIMS]
        for name, verdict in self.constructed.items():
            if name not in claims:
                fix = f"write {' or '.join(claims)}"
                table.add(f"there is no claim {name!r}", fix, key="constructed", found=name, rule="H-39")
            elif verdict not in VERDICTS:
                message, fix = f"{verdict!r} is no verdict on a claim", f"write {' or '.join(map(repr, VERDICTS))}"
                table.add(message, fix, key="constructed", found=verdict, rule="H-39")

    def _check_seed(self, table: Table) -> None:
        """Either a number typed in or a seal, never both: a seed that somebody typed in is not sealed (X-1)."""
        if self.seal and self.seed is not None:
            fix = "take `seed` out: the sealed seed is in the file made by `basanite harness seal`"
            table.add("the plan has a typed-in seed and a seal", fix, key="seed", found=self.seed, rule="X-1")
        if not self.seal and "seed" not in table.values:
            fix = 'write seed = 1, or seal = "FILE" for a sealed evaluation'
            table.add("the plan has no seed", fix, key="seed")

    def canonical(self) -> dict[str, Any]:
        """The plan as plain data, the same for every way to write it."""
        return {
            "format": FORMAT,
            "name": self.name,
            "title": self.title,
            "seed": self.seed,
            "seal": self.seal,
            **({"freeze": self.freeze} if self.freeze else {}),
            **({"constructed": dict(self.constructed)} if self.constructed else {}),
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


def _plain_name(name: str) -> str:
    """A team's name without what makes one name look like two."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def chosen_modules(plan: Plan) -> Iterator[ModuleChoice]:
    """Every module that a plan names, with its parameters."""
    for task in plan.tasks.values():
        yield from filter(None, (task.features, task.strong))
    for team in plan.teams:
        for system in team.systems.values():
            yield from filter(None, (system.preprocessor, system.linear, system.learner))
