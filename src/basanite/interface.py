"""The Python interface: the same work as on the command line, with values in the place of text.

>>> import basanite
>>> result = basanite.score("clir", reference="key/", submission="Alpha.tgz")      # doctest: +SKIP
>>> result.values["aqwv"].value                                                      # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from basanite import spine
from basanite.analysis.compare import check_comparable
from basanite.analysis.compare import compare as compare_analyses
from basanite.analysis.power import Enough, Goal, Spread, enough_of
from basanite.analysis.results import Analysis, Comparison, Design
from basanite.errors import BasaniteError, InvalidInputError, SettingError
from basanite.formats.archives.forked import reading_executor
from basanite.kernel import Scores
from basanite.problems import LISTED_PER_RULE, Findings, Problem
from basanite.tasks import Inputs, Opened, Setting, Task
from basanite.tasks.setting_kinds import number_or_nan, whole_number

AnyPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[str, int], None]
"""Called after each file with the name of the submission and how many files have been read."""

ENDINGS = (
    ".tgz",
    ".tar.gz",
    ".trees",
    ".tsv",
    ".jsonl",
    ".ndjson",
    ".json",
    ".csv",
    ".parquet",
    ".txt",
    ".ctm",
    ".run",
)
SWAP_BYTES = 4 << 20
"""Files are tried in each other's place if they are no larger: reading them again costs as much as reading them."""
USUAL_DRAWS, BCA_DRAWS, MOST_DRAWS = 1000, 5000, 1_000_000
"""Draws if nobody says how many; BCa needs more (S-13)."""


def validate(
    task: str,
    *,
    submission: AnyPath,
    reference: AnyPath | Iterable[AnyPath] | None = None,
    documents: AnyPath | None = None,
    queries: AnyPath | None = None,
    metadata: AnyPath | Iterable[AnyPath] = (),
    judgements: AnyPath | None = None,
    human: AnyPath | None = None,
    every: bool = False,
    workers: int = 1,
    **settings: Any,
) -> Findings:
    """Find all problems of a submission, against a key or against the pack's lists of documents and queries."""
    inputs = Inputs(
        Path(submission), None, _path(documents), _path(queries), _paths(metadata), _path(judgements), _path(human)
    ).against(_paths(reference))
    return Work(task, settings, workers=workers).findings(inputs, every=every)


def score(
    task: str,
    *,
    submission: AnyPath,
    reference: AnyPath | Iterable[AnyPath] | None = None,
    queries: AnyPath | None = None,
    metadata: AnyPath | Iterable[AnyPath] = (),
    judgements: AnyPath | None = None,
    human: AnyPath | None = None,
    draws: int | None = None,
    seed: int = 0,
    metrics: str | Iterable[str] = (),
    system: str | None = None,
    workers: int = 1,
    **settings: Any,
) -> Analysis:
    """Score one submission; raises `InvalidInputError`, which carries all problems, if it is not valid.

    `primary` names the metric that is the headline, if it is not to be the task's own.
    """
    inputs = Inputs(Path(submission), None, None, _path(queries), _paths(metadata), _path(judgements), _path(human))
    return Work(task, settings, draws=draws, seed=seed, metrics=_names(metrics), workers=workers).analysis(
        inputs.against(_paths(reference)), system=system
    )


def compare(
    task: str,
    *,
    submissions: Mapping[str, AnyPath] | Iterable[AnyPath],
    reference: AnyPath | Iterable[AnyPath] | None = None,
    queries: AnyPath | None = None,
    metadata: AnyPath | Iterable[AnyPath] = (),
    judgements: Mapping[str, AnyPath] | None = None,
    human: AnyPath | None = None,
    draws: int | None = None,
    seed: int = 0,
    metrics: str | Iterable[str] = (),
    workers: int = 1,
    **settings: Any,
) -> Comparison:
    """Score several submissions and tell which differ; names come from the mapping, or from the files.

    Judgements (for `e2e`) go by the same names: summaries differ, so each system has its own. `primary` names the
    metric that ranks the systems, if it is not to be the task's own.
    """
    work = Work(task, settings, draws=draws, seed=seed, metrics=_names(metrics), workers=workers)
    shared = Inputs(Path(), None, None, _path(queries), _paths(metadata), human=_path(human)).against(_paths(reference))
    return work.comparison(work.analyses(shared, named(submissions), judgements or {}))


def power(
    task: str | None = None,
    *,
    submissions: Mapping[str, AnyPath] | Iterable[AnyPath] = (),
    reference: AnyPath | Iterable[AnyPath] | None = None,
    queries: AnyPath | None = None,
    metadata: AnyPath | Iterable[AnyPath] = (),
    judgements: Mapping[str, AnyPath] | None = None,
    human: AnyPath | None = None,
    metrics: str | Iterable[str] = (),
    difference: float | None = None,
    half_width: float | None = None,
    share: float = 0.8,
    variance: float | None = None,
    judge_variance: float | None = None,
    judges: float = 1.0,
    units: int | None = None,
    draws: int | None = None,
    seed: int = 0,
    workers: int = 1,
    **settings: Any,
) -> list[Enough]:
    """How many units show a difference, or give a half-width, in a `share` of cases, and what the present ones show.

    The variance is that of one system, or of the difference of each pair of systems; without a task it is stated, by
    `variance` and, for what people judge, `judge_variance` with the number of `judges` a unit has in it.

    >>> power(variance=1.0, difference=0.5)[0].units_for_difference()
    34
    """
    goal = power_goal(settings, share=share, difference=difference, half_width=half_width)
    if task is None:
        if variance is None:
            raise SettingError("Give a task with submissions, or the variance of one unit.")
        return [stated_power(goal, Spread(variance, judge_variance, judges), units, settings)]
    work = Work(task, settings, draws=draws, seed=seed, metrics=_names(metrics), workers=workers)
    shared = Inputs(Path(), None, None, _path(queries), _paths(metadata), human=_path(human)).against(_paths(reference))
    return work.power(work.analyses(shared, named(submissions), judgements or {}), goal)


def stated_power(goal: Goal, spread: Spread, units: int | None, settings: Mapping[str, Any]) -> Enough:
    """What follows from a variance that was stated and not observed."""
    unknown = sorted(settings.keys() - {"alpha", "level"})
    if unknown:
        raise SettingError(f"{unknown[0]!r} is no setting of a stated variance: set alpha or level.")
    if spread.variance == 0:
        raise SettingError("variance=0 cannot be used: units that do not vary tell nothing about how many are enough.")
    return Enough(spread, goal, units)


def power_goal(
    settings: Mapping[str, Any], *, share: float = 0.8, difference: float | None = None, half_width: float | None = None
) -> Goal:
    """What is wanted of the units, at the levels that the settings of the analysis say."""
    levels = {name: settings[name] for name in ("alpha", "level") if name in settings}
    design = _design(levels, draws=None, seed=0)
    return Goal(design.alpha, share, design.level, difference, half_width)


@dataclass
class Work:
    """One task with its settings and how to analyse it: what the command line and the functions above share."""

    task_name: str
    given: Mapping[str, Any]
    draws: int | None = None
    seed: int = 0
    workers: int = 1
    metrics: tuple[str, ...] = ()
    """The metrics wanted besides the primary one; none named means all."""
    progress: Progress = field(default=lambda name, files: None)
    executor: Executor | None = None
    """Who computes draws of metrics that are no function of sums: a cluster, or nobody but this process."""

    def __post_init__(self) -> None:
        self.task: Task = spine.find_task(self.task_name)
        general = {PRIMARY.name, *(setting.name for setting in ANALYSIS)}
        self.settings = {name: value for name, value in self.given.items() if name not in general}
        self.design = replace(_design(self.given, draws=self.draws, seed=self.seed), executor=self.executor)
        self.task.parsed(self.settings)
        self.primary = self.task.headline(PRIMARY.read(self.given.get(PRIMARY.name, self.task.primary)))
        for name in self.metrics:
            self.task.metric(name)

    def findings(self, inputs: Inputs, *, every: bool = False) -> Findings:
        """All problems of a submission; the first of each rule are listed, or every one."""
        findings = Findings(None if every else LISTED_PER_RULE)
        self.validated(inputs, findings)
        self._explain(inputs, findings)
        return findings

    def analysis(self, inputs: Inputs, *, system: str | None = None) -> Analysis:
        """Everything known about one system."""
        if inputs.reference is None and self.task.needs_reference:
            raise SettingError(f"{self.task.name} is scored against a reference: give one (--reference).")
        findings = Findings()
        opened = self.validated(inputs, findings, scored=True)
        self._explain(inputs, findings)
        return self.analysed(opened, findings, system=system or system_name(inputs.submission))

    def analysed(self, opened: Opened | None, findings: Findings, *, system: str) -> Analysis:
        """Everything known about a system whose submission has been read and checked."""
        if opened is None or not findings.valid:
            raise InvalidInputError(self.task.name, findings)
        scores = spine.score(opened, system=system)
        scores = replace(scores, warnings=tuple(findings.problems))
        return spine.analyse(self._chosen(scores), self.design)

    def _chosen(self, scores: Scores) -> Scores:
        primary = self.primary if PRIMARY.name in self.given else scores.primary
        wanted = {primary, *(self.metrics or (metric.name for metric in scores.metrics))}
        metrics = tuple(metric for metric in scores.metrics if metric.name in wanted)
        if PRIMARY.name in self.given and primary not in {metric.name for metric in metrics}:
            there = ", ".join(metric.name for metric in scores.metrics)
            raise SettingError(
                f"{primary} cannot be computed for {scores.system}, so it cannot be primary: {there} can."
            )
        return replace(scores, metrics=metrics, primary=primary, asked=self.metrics)

    def analyses(
        self, shared: Inputs, systems: Mapping[str, Path], judgements: Mapping[str, AnyPath]
    ) -> list[Analysis]:
        """Everything known about each of several systems."""
        return [
            self.analysis(replace(shared, submission=path, judgements=_path(judgements.get(name))), system=name)
            for name, path in systems.items()
        ]

    def power(self, analyses: list[Analysis], goal: Goal) -> list[Enough]:
        """What the rows of one system, or of each pair of several, can show on the metrics that were named."""
        if len(analyses) > 1:
            check_comparable(analyses)
        pairs = max(len(analyses) * (len(analyses) - 1) // 2, 1)
        names = self.metrics or (analyses[0].scores.primary,)
        missing = [name for name in names if any(name not in one.values for one in analyses)]
        if missing:
            raise SettingError(f"{missing[0]} has no value of the whole submission here: name another --metric.")
        found = enough_of(analyses, names, replace(goal, alpha=goal.alpha / pairs), self.design)
        if not found:
            raise SettingError("No variance is defined on these units: there are fewer than two, or no value.")
        return found

    def comparison(self, analyses: list[Analysis]) -> Comparison:
        """Which of several systems differ."""
        wanted = dict.fromkeys((self.primary, *self.metrics)) if self.metrics else None
        found = compare_analyses(analyses, None if wanted is None else list(wanted), self.design)
        if PRIMARY.name in self.given and found.differences and self.primary not in found.rankings:
            raise SettingError(
                f"{self.primary} cannot rank systems, for each has rows of its own kind: no pair can be tested on it. "
                f"Choose one of {', '.join(found.rankings)}, or see it beside the others: --metric {self.primary}."
            )
        return found

    def validated(self, inputs: Inputs, findings: Findings, *, scored: bool = False) -> Opened | None:
        """Read and check a submission; what was found is in the findings, what was counted in the run.

        What is to be `scored` is refused at once where something is missing that only scoring needs.
        """
        if inputs.more_references and not self.task.several_references:
            raise SettingError(f"{self.task.name} takes one reference, not {len(inputs.more_references) + 1}.")
        name = system_name(inputs.submission)
        with reading_executor(self.workers) if self.workers > 1 else nullcontext() as executor:
            opened = spine.read(self.task, inputs, self.settings, findings, executor=executor)
            missing = getattr(opened, "unscored", None) if scored else None
            if missing is not None:
                raise missing
            if opened is not None:
                spine.validate(opened, findings, executor=executor, progress=lambda files: self.progress(name, files))
        return opened

    def _explain(self, inputs: Inputs, findings: Findings) -> None:
        """Say first, where it is so, that reference and submission stand in each other's place (D-7).

        They do if each is valid as the other, and either most of the reference is wrong, or a file as a whole and
        neither is valid against itself: where the form of both is the same, nothing can be told.
        """
        truth, answers = inputs.reference, inputs.submission
        if findings.valid or truth is None or inputs.more_references or _size(truth) + _size(answers) > SWAP_BYTES:
            return
        first = findings.problems[0]
        wrong = truth if first.where == "reference" else answers
        lines = wrong.read_bytes().count(b"\n") if wrong.is_file() else 0
        mostly = wrong == truth and 1 < findings.total > lines / 2
        whole = first.line in (None, 1) and lines != 1
        if not (mostly or whole) or not self._fits(inputs, truth, answers):
            return
        if mostly or not any(self._fits(inputs, one, one) for one in (truth, answers)):
            findings.lead(_swap_problem(first, answers.name))

    def _fits(self, inputs: Inputs, submission: Path, reference: Path) -> bool:
        findings = Findings(1)
        try:
            opened = self.validated(replace(inputs, submission=submission, reference=reference), findings)
        except BasaniteError:
            return False
        return opened is not None and findings.valid


def _swap_problem(first: Problem, submission: str) -> Problem:
    """What explains all problems of two files that stand in each other's place."""
    message = "this has the form of a reference, and the reference that of a submission"
    fix = "give what the system answered as the submission"
    hint = "--reference and --submission are swapped"
    return Problem(first.rule, submission, None, None, message, fix, hint=hint)


def _size(path: Path) -> int:
    """How many bytes a file has, or all files of a folder."""
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())


def named(submissions: Mapping[str, AnyPath] | Iterable[AnyPath]) -> dict[str, Path]:
    """Submissions by system name; two files that would give one name are told apart by the caller, not by us."""
    if isinstance(submissions, Mapping):
        return {name: Path(path) for name, path in submissions.items()}
    paths = [Path(path) for path in submissions]
    names = [system_name(path) for path in paths]
    if len(set(names)) < len(names):
        raise SettingError(f"Two submissions are called the same ({', '.join(names)}): give them names, NAME=PATH.")
    return dict(zip(names, paths, strict=True))


def system_name(path: Path) -> str:
    """What a system is called if nobody says: its file's name without the suffix.

    >>> system_name(Path("runs/Alpha.tgz"))
    'Alpha'
    """
    name = path.name or path.resolve().name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def _paths(paths: AnyPath | Iterable[AnyPath] | None) -> tuple[Path, ...]:
    """Paths of several files; a single one need not be put into a list."""
    if paths is None:
        return ()
    if isinstance(paths, str | os.PathLike):
        return (Path(paths),)
    return tuple(Path(path) for path in paths)


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _path(path: AnyPath | None) -> Path | None:
    return None if path is None else Path(path)


def _design(given: Mapping[str, Any], *, draws: int | None, seed: int) -> Design:
    chosen = {setting.name: setting.read(given[setting.name]) for setting in ANALYSIS if setting.name in given}
    if draws is not None and not 1 <= draws <= MOST_DRAWS:
        raise SettingError(f"draws={draws} cannot be used: it must lie between 1 and {MOST_DRAWS:,}.")
    usual = BCA_DRAWS if chosen.get("interval") == "bca" else USUAL_DRAWS
    return Design(draws=usual if draws is None else draws, seed=seed, **chosen)


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"it is none of {', '.join(words)}")
        return text

    return parse


def _column_name(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _share(text: str) -> float:
    number = number_or_nan(text)
    if not 0 < number < 1:
        raise ValueError("it must lie between 0 and 1")
    return number


PRIMARY = Setting("primary", "The metric that is the headline, if it is not the task's own (--primary).", str)
ANALYSIS = (
    Setting(
        "interval",
        "How intervals are made: metric (each by its own method), percentile, or bca (5,000 draws unless --draws says "
        "more).",
        _one_of("metric", "percentile", "bca"),
        "metric",
    ),
    Setting("level", "Level of the intervals, like 0.95.", _share, 0.95),
    Setting("alpha", "Level of the tests of a comparison, like 0.05.", _share, 0.05),
    Setting("adjustment", "For many comparisons: holm or romano-wolf.", _one_of("holm", "romano-wolf"), "holm"),
    Setting(
        "cluster",
        "The column of the reference or metadata whose units are resampled together, or none.",
        _column_name,
        "",
    ),
    Setting(
        "test_draws",
        "Draws of the tests of a comparison, 10,000 to 10,000,000.",
        partial(whole_number, 10_000, 10_000_000),
        10_000,
    ),
)
"""What may be set about the analysis of any task."""
