"""Reading a plan: every problem of the file at once, each with its line, and parameters taken from their files."""

from __future__ import annotations

import json
import tomllib
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.formats.packs.toml_document import TomlReport, read_toml
from basanite.formats.toml.depth import too_deep
from basanite.formats.toml.lines import entry_lines
from basanite.harness.conditions import CLAIMS, CONDITIONS, Claim, Hypothesis
from basanite.harness.foreign.programs import program_name
from basanite.harness.foreign.surroundings import BOXING, enter, planned
from basanite.harness.plan.checking import check_modules
from basanite.harness.plan.entries import RULE, Entries
from basanite.harness.plan.model import BEST, MetricName, ModuleChoice, Plan, System, TaskPlan, Team
from basanite.problems import Findings

LARGEST: Final = 4 * 2**20
PLAN_KEYS: Final = (
    "format",
    "name",
    "title",
    "seed",
    "seal",
    "freeze",
    "replications",
    "tasks",
    "teams",
    "claims",
    "analysis",
    "limits",
)
TASK_KEYS: Final = (
    "data", "targets", "metric", "range", "train_share", "n", "folds", "shared_split", "stratify_by", "group_by",
    "validation_cap", "shuffle_seed", "iterative", "full", "margin", "strict", "features", "strong",
)  # fmt: skip
DATA_KEYS: Final = ("reader", "path", "rows", "clips", "seed", "text", "group", "length")
TEAM_KEYS: Final = ("letter", "name", "systems")
SYSTEM_KEYS: Final = ("preprocessor", "learner", "linear", "trained", "use_trained", "dossier")
CHOICE_KEYS: Final = ("module", "program", "folder", "parameters", "parameters_file")
CLAIM_KEYS: Final = ("name", "sentence", "system", "against", "hypothesis", "headline")
ANALYSIS_KEYS: Final = ("curves", "labelled_curves", "layers", "invariance", "measures", "speed", "draws", "alpha")
LIMIT_KEYS: Final = ("step_seconds", "training_seconds", "memory_gib", "output_mib", "processes")
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def load_plan(path: Path) -> Plan:
    """The plan in a file; what is wrong with it is raised as one error with all problems."""
    plan, findings = read_plan(path)
    if plan is None or not findings.valid:
        raise InvalidInputError("plan", findings)
    return plan


def read_plan(path: Path) -> tuple[Plan | None, Findings]:
    """The plan in a file, if it can be made out, and everything that is wrong with it."""
    findings = Findings()
    document = read_toml(path, "plan", TomlReport(path.name, RULE, findings))
    if document is None:
        return None, findings
    lines = entry_lines(read_bounded(path, LARGEST).decode())
    top = Entries(document, (), path.name, lines, findings)
    plan = _plan(top, path.parent)
    enter(planned(path.parent, plan.limits, sealed=bool(plan.seal)))
    check_modules(plan, top)
    return plan, findings


def _plan(top: Entries, folder: Path) -> Plan:
    top.known(PLAN_KEYS)
    tables = top.table("tasks")
    tasks = {name: _task(tables.table(name), name, folder) for name in tables.values}
    plan = Plan(
        name=top.name("name"),
        title=top.text("title", ""),
        tasks=tasks,
        teams=_teams(top, tasks, folder),
        seed=top.whole("seed", None, 0),
        seal=top.text("seal", ""),
        freeze=top.text("freeze", ""),
        replications=top.whole("replications", 1, 1, 1000) or 1,
        claims=_claims(top),
        analysis=_analysis(top.table("analysis", needed=False)),
        limits=_limits(top.table("limits", needed=False)),
    )
    _check_seed(plan, top)
    _check_boxing(plan, top)
    return plan


def _check_boxing(plan: Plan, top: Entries) -> None:
    """A sealed evaluation never runs strangers' code outside a box (X-5)."""
    if plan.seal and plan.limits.get("sandbox") == "off":
        limits = top.table("limits")
        limits.add("a sealed evaluation cannot do without a sandbox", "take `sandbox` out", key="sandbox", rule="X-5")


def _check_seed(plan: Plan, top: Entries) -> None:
    """Either a number typed in or a seal, never both: a seed that somebody typed in is not sealed (X-1)."""
    if plan.seal and plan.seed is not None:
        fix = "take `seed` out: the sealed seed is in the file made by `basanite harness seal`"
        top.add("the plan has a typed-in seed and a seal", fix, key="seed", found=plan.seed, rule="X-1")
    if not plan.seal and plan.seed is None and "seed" not in top.values:
        top.add("the plan has no seed", 'write seed = 1, or seal = "FILE" for a sealed evaluation', key="seed")


def _task(entry: Entries, name: str, folder: Path) -> TaskPlan:
    entry.known(TASK_KEYS)
    metric = cast(MetricName, entry.choice("metric", tuple(BEST)))
    check_task_name(entry, name)
    return TaskPlan(
        name=name,
        data=_data(entry),
        metric=metric,
        targets=entry.names("targets"),
        range=entry.pair("range"),
        train_share=entry.number("train_share", 0.7, 0, 1) or 0.7,
        n=entry.whole("n", 10_000, 2) or 10_000,
        folds=entry.whole("folds", 10, 2, 99) or 10,
        shared_split=entry.flag("shared_split", metric == "map11"),
        stratify_by=entry.text("stratify_by", ""),
        group_by=entry.text("group_by", ""),
        validation_cap=entry.whole("validation_cap", None, 0),
        shuffle_seed=entry.whole("shuffle_seed", None, 0),
        iterative=entry.flag("iterative", False),
        full=entry.flag("full", False),
        margin=entry.number("margin", None, 0, float("inf")),
        strict=entry.flag("strict", False),
        features=_choice(entry, "features", folder),
        strong=_choice(entry, "strong", folder),
    )


def check_task_name(entry: Entries, name: str) -> None:
    """A task's name becomes a folder of the result."""
    Entries({"name": name}, entry.path, entry.file, entry.lines, entry.findings).name("name")


def _data(entry: Entries) -> Mapping[str, Any]:
    """Where the data come from: the name of a data set, or a table with a reader and what it needs."""
    if isinstance(entry.values.get("data"), str):
        return {"reader": entry.text("data")}
    table = entry.table("data")
    table.known(DATA_KEYS)
    table.text("reader")
    for key in ("path", "text", "group"):
        table.text(key, "")
    for key in ("rows", "clips", "seed", "length"):
        table.whole(key, None, 0)
    return dict(table.values)


def _choice(entry: Entries, key: str, folder: Path) -> ModuleChoice | None:
    """A module by its name, or by a table with its name and parameters; nothing if the plan names none."""
    if key not in entry.values:
        return None
    if isinstance(entry.values[key], str):
        return ModuleChoice(entry.text(key))
    table = entry.table(key)
    table.known(CHOICE_KEYS)
    inline = table.table("parameters", needed=False).values
    if "parameters_file" in table.values and inline:
        table.add(f"{table.place} has parameters and a parameters_file", "keep one of them", key="parameters")
    name = _program(table) if "program" in table.values else table.text("module")
    return ModuleChoice(name, inline or _parameters_in_file(table, folder))


def _program(table: Entries) -> str:
    """A program in any language: the words of its command, and its own folder, seen from the plan (H-12)."""
    words, folder = table.values["program"], table.text("folder")
    if "module" in table.values:
        table.add(f"{table.place} has a module and a program", "keep one of them", key="program", rule="H-12")
    if (
        isinstance(words, list)
        and words
        and all(isinstance(word, str) and word for word in words)
        and ":" not in folder
    ):
        return program_name(folder, words)
    table.add(
        f"{table.place} has no list of words `program`", 'write program = ["./system.sh"]', key="program", rule="H-12"
    )
    return ""


def _parameters_in_file(table: Entries, folder: Path) -> Mapping[str, Any]:
    """The parameters in a TOML or JSON file beside the plan (H-11: they come from a file)."""
    if "parameters_file" not in table.values:
        return {}
    name = table.text("parameters_file")
    try:
        text = read_bounded(folder / name, LARGEST).decode()
        if too_deep(text):
            raise UnreadableError("it is nested too deep")
        found = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    except (UnreadableError, ValueError, RecursionError) as error:
        table.add(
            f"the parameters in {name} cannot be read: {error}", "give a TOML or JSON file", key="parameters_file"
        )
        return {}
    if isinstance(found, dict):
        return found
    table.add(f"{name} holds no table of parameters", "write one parameter a line: name = value", key="parameters_file")
    return {}


def _teams(top: Entries, tasks: Mapping[str, TaskPlan], folder: Path) -> tuple[Team, ...]:
    teams: dict[str, Team] = {}
    for entry in top.tables("teams"):
        team = _team(entry, tasks, folder)
        if team.letter in teams:
            fix = "give each team a letter of its own; a team has one system for each task (H-32)"
            entry.add(f"two teams have the letter {team.letter!r}", fix, key="letter", found=team.letter)
        if _spelt(team.name) in {_spelt(other.name) for other in teams.values()}:
            fix = "a team has exactly one system for each task: keep one of them"
            entry.add(f"the team {team.name!r} stands here twice", fix, key="name", found=team.name, rule="H-32")
        teams.setdefault(team.letter, team)
    return tuple(teams.values())


def _spelt(name: str) -> str:
    """A team's name without what makes one name look like two."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _team(entry: Entries, tasks: Mapping[str, TaskPlan], folder: Path) -> Team:
    entry.known(TEAM_KEYS)
    letter = entry.choice("letter", LETTERS)
    systems = entry.table("systems", needed=False)
    systems.known(tuple(tasks))
    found = {name: _system(systems.table(name), folder) for name in systems.values if name in tasks}
    return Team(letter, entry.text("name"), found)


def _system(entry: Entries, folder: Path) -> System:
    entry.known(SYSTEM_KEYS)
    return System(
        preprocessor=_choice(entry, "preprocessor", folder),
        linear=_choice(entry, "linear", folder),
        learner=_choice(entry, "learner", folder),
        trained=entry.text("trained", ""),
        use_trained=entry.flag("use_trained", False),
        dossier=entry.text("dossier", ""),
    )


def _claims(top: Entries) -> tuple[Claim, ...]:
    """The claims of the plan, or the four that are built in (A1)."""
    entries = top.tables("claims")
    return tuple(_claim(entry) for entry in entries) if entries else CLAIMS


def _claim(entry: Entries) -> Claim:
    entry.known(CLAIM_KEYS)
    numbers = {key: entry.whole(key, None, 1, len(CONDITIONS)) for key in ("system", "against")}
    for key, number in numbers.items():
        if number is None and key not in entry.values:
            entry.add(f"{entry.place} has no condition `{key}`", f"write {key} = 6", key=key)
    hypothesis = cast(Hypothesis, entry.choice("hypothesis", ("superior", "not inferior"), "superior"))
    return Claim(
        entry.name("name"),
        entry.text("sentence"),
        numbers["system"] or 0,
        numbers["against"] or 0,
        hypothesis,
        entry.flag("headline", False),
    )


def _analysis(entry: Entries) -> dict[str, Any]:
    """What the analysis does beyond the plan's graphs; only what is set is kept."""
    entry.known(ANALYSIS_KEYS)
    flags = {
        key: entry.flag(key, False) for key in ("layers", "invariance", "measures", "speed") if key in entry.values
    }
    shares = {key: _shares(entry, key) for key in ("curves", "labelled_curves") if key in entry.values}
    draws, alpha = entry.whole("draws", None, 100, 10_000_000), entry.number("alpha", None, 0, 0.5)
    numbers = {key: value for key, value in (("draws", draws), ("alpha", alpha)) if value is not None}
    return {**flags, **shares, **numbers}


def _shares(entry: Entries, key: str) -> list[float]:
    """Rising shares from 0 to 1 (A38)."""
    value = entry.values[key]
    fits = isinstance(value, list) and all(isinstance(part, int | float) and 0 <= part <= 1 for part in value)
    if fits and sorted(set(value)) == value:
        return [float(part) for part in value]
    entry.add(f"`{key}` is no list of rising shares", f"write {key} = [0.0, 0.1, 1.0]", key=key, found=value)
    return []


def _limits(entry: Entries) -> dict[str, Any]:
    """The limits on steps and on teams' programs; only what is set is kept."""
    entry.known((*LIMIT_KEYS, "sandbox"))
    found = {key: entry.number(key, None, 0, float("inf")) for key in LIMIT_KEYS}
    boxing = {"sandbox": entry.choice("sandbox", BOXING)} if "sandbox" in entry.values else {}
    return {key: value for key, value in {**found, **boxing}.items() if value is not None}
