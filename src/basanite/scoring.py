"""Read, validate, score, analyse, report: the only place where the five stages meet.

The command line, the server and the functions of `import basanite` all come through `Scorer`, so a score at home
and a score on the server are the same score. The stages one by one are for plug-ins (`basanite.spine`).

>>> import basanite
>>> result = basanite.score("clir", reference="key/", submission="Alpha.tgz")      # doctest: +SKIP
>>> result.values["aqwv"].value                                                      # doctest: +SKIP
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from basanite import __version__, registry
from basanite.analysis.results import Analysis, Comparison, Design
from basanite.analysis.system import analyse as analyse_rows
from basanite.analysis.unit_values import values_alone
from basanite.errors import BasaniteError, InvalidInputError, MissingExtraError, SettingError, UnknownNameError
from basanite.formats.archives.parallel import reading_executor, side_by_side
from basanite.formats.system_names import system_name, system_names
from basanite.kernel import Scores
from basanite.problems import LISTED_PER_RULE, Findings, Problem, shortened
from basanite.registry import suggestion
from basanite.reports.analysis import analysis_report
from basanite.reports.report import Report
from basanite.tasks import Inputs, Opened, Task
from basanite.tasks.settings import ANALYSIS, PRIMARY, analysis_design
from basanite.tasks.worked import Case

if TYPE_CHECKING:
    from basanite.analysis.gate import Gate
    from basanite.analysis.many_systems import ManyCompared
    from basanite.analysis.power import Enough, Goal, Spread
    from basanite.reports.explanation import Explained

# What one score does not need (comparisons, gates, sample sizes, explanations) is imported where it is used: a command
# that scores a small file takes little longer than its imports.

AnyPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[str, int], None]
"""Called after each file with the name of the submission and how many files have been read."""

MOST_NAMED = 1000
"""Units among which the nearest name is looked for."""
SWAP_BYTES = 4 << 20
"""Files are tried in each other's place if they are no larger: reading them again costs as much as reading them."""


class MismatchError(Exception):
    """An explanation ends in another number than its metric: a fault of its author, never shown as a result."""


def find_task(name: str) -> Task:
    """The task of this name, built in or from a plug-in, with the metrics that plug-ins add to it."""
    task = registry.load("tasks", name)
    if not isinstance(task, Task):
        raise MissingExtraError(f"The plug-in {name!r} is a {type(task).__name__}, not a Task: ask its author.")
    joining = registry.joining_metrics(name)
    if not joining:
        return task
    from basanite.tasks.added_metrics import with_added_metrics  # only where a plug-in adds one

    return with_added_metrics(task, joining)


def read_inputs(
    task: Task,
    inputs: Inputs,
    settings: Mapping[str, Any],
    findings: Findings,
    *,
    executor: Executor | None = None,
) -> Opened | None:
    """Open the reference and the submission; None if what was found in the reference makes a run impossible."""
    return task.open(inputs, task.read_settings(settings), findings, executor)


def validate_submission(
    opened: Opened,
    findings: Findings,
    *,
    executor: Executor | None = None,
    progress: Callable[[int], None] = lambda pieces: None,
) -> None:
    """Find all problems of a submission; what scoring needs is counted in the same pass."""
    for done, examined in enumerate(side_by_side(opened.examine, opened.pieces(findings), executor), start=1):
        opened.take(examined, findings)
        progress(done)
    opened.close(findings)


def score_submission(opened: Opened, *, system: str) -> Scores:
    """The rows of every metric of a submission that has been found valid."""
    return opened.scores(system)


def analyse_scores(scores: Scores, design: Design) -> Analysis:
    """Values with intervals, breakdowns and notes."""
    return analyse_rows(scores, design, version=__version__)


def build_report(task: Task, analysis: Analysis) -> Report:
    """What people see, ready for any output."""
    return analysis_report(analysis, task.figures(analysis))


def build_comparison_report(task: Task, comparison: Comparison) -> Report:
    """What people see of a comparison, ready for any output."""
    from basanite.reports.comparison import comparison_report

    return comparison_report(comparison, task.compared_figures(comparison))


@dataclass
class Scorer:
    """One task with its settings and how to analyse it."""

    task_name: str
    given: Mapping[str, Any]
    draws: int | None = None
    seed: int = 0
    workers: int = 1
    metrics: tuple[str, ...] = ()
    """The metrics wanted besides the primary one; none named means all."""
    progress: Progress = field(default=lambda name, files: None)
    work: Callable[[str, int, int], None] = field(default=lambda name, done, total: None)
    """Called while a long scoring goes on, with the name of the submission and how much of how much is done."""
    executor: Executor | None = None
    """Who computes draws of metrics that are no function of sums: a cluster, or nobody but this process."""

    def __post_init__(self) -> None:
        self.task: Task = find_task(self.task_name)
        general = {PRIMARY.name, *(setting.name for setting in ANALYSIS)}
        self.settings = {name: value for name, value in self.given.items() if name not in general}
        self.design = replace(analysis_design(self.given, draws=self.draws, seed=self.seed), executor=self.executor)
        self.task.read_settings(self.settings)
        self.primary = self.task.headline(PRIMARY.read(self.given.get(PRIMARY.name, self.task.primary)))
        self.metrics = tuple(dict.fromkeys(self.task.metric(name).name for name in self.metrics))

    def findings(self, inputs: Inputs, *, every: bool = False) -> Findings:
        """All problems of a submission; the first of each rule are listed, or every one."""
        findings = Findings(None if every else LISTED_PER_RULE)
        self.open_submission(inputs, findings)
        self._explain_swap(inputs, findings)
        return findings

    def analysis(self, inputs: Inputs, *, system: str | None = None) -> Analysis:
        """Everything known about one system."""
        return analyse_scores(self.scores(inputs, system=system), self.design)

    def scores(self, inputs: Inputs, *, system: str | None = None) -> Scores:
        """The rows of one system on the metrics that are wanted."""
        inputs = self._with_reference(inputs)
        if inputs.reference is None and self.task.needs_reference:
            raise SettingError(
                f"{self.task.name} is scored against a reference: give it before the submission, or by --reference."
            )
        findings = Findings()
        opened = self.open_submission(inputs, findings, scored=True)
        self._explain_swap(inputs, findings)
        return self._scores_of(opened, findings, system or self._system_of(inputs.submission))

    def _with_reference(self, inputs: Inputs) -> Inputs:
        """The inputs with the submission as the reference, where it is one of the files that hold both (T-29)."""
        lacking = inputs.reference is None and self.task.needs_reference
        both = lacking and self.task.systems_in(inputs.submission) is not None
        return replace(inputs, reference=inputs.submission) if both else inputs

    def _system_of(self, submission: Path) -> str:
        """What the system of a file is called: as the file calls it, where one of several was chosen."""
        chosen = self.settings.get("system")
        known = chosen is not None and chosen in (self.task.systems_in(submission) or ())
        return str(chosen) if known else system_name(submission)

    def analyse_opened(self, opened: Opened | None, findings: Findings, *, system: str) -> Analysis:
        """Everything known about a system whose submission has been read and checked."""
        return analyse_scores(self._scores_of(opened, findings, system), self.design)

    def _scores_of(self, opened: Opened | None, findings: Findings, system: str) -> Scores:
        if opened is None or not findings.valid:
            raise InvalidInputError(self.task.name, findings)
        scores = score_submission(opened, system=system)
        return self._choose_metrics(replace(scores, warnings=tuple(findings.problems)))

    def _choose_metrics(self, scores: Scores) -> Scores:
        primary = self.primary if PRIMARY.name in self.given else scores.primary
        wanted = {primary, *(self.metrics or (metric.name for metric in scores.metrics))}
        metrics = tuple(metric for metric in scores.metrics if metric.name in wanted)
        if PRIMARY.name in self.given and primary not in {metric.name for metric in metrics}:
            there = ", ".join(metric.name for metric in scores.metrics)
            raise SettingError(
                f"{primary} cannot be computed for {scores.system}, so it cannot be primary: {there} can."
            )
        return replace(scores, metrics=metrics, primary=primary, asked=self.metrics)

    def analyses(self, shared: Inputs, systems: Mapping[str, Path], judgements: Mapping[str, Path]) -> list[Analysis]:
        """Everything known about each of several systems."""
        return [
            one
            for name, path in systems.items()
            for one in self.analyses_of(replace(shared, submission=path, judgements=judgements.get(name)), system=name)
        ]

    def analyses_of(self, inputs: Inputs, *, system: str) -> list[Analysis]:
        """Everything known about the system of a file, or about each of several where the file names them (Y-6)."""
        if self.task.open_systems is None:
            several = () if "system" in self.settings else self.task.systems_in(inputs.submission) or ()
            if len(several) < 2:
                return [self.analysis(inputs, system=system)]
            return [
                replace(self, given={**self.given, "system": name}).analysis(inputs, system=name) for name in several
            ]
        findings = Findings()
        asked = replace(inputs, metrics=(self.primary, *self.metrics))
        opened = self.task.open_systems(asked, self.task.read_settings(self.settings), findings)
        if opened is None or not findings.valid:
            raise InvalidInputError(self.task.name, findings)
        for run in opened.values():
            validate_submission(run, findings)
        named = len(opened) > 1
        return [self.analyse_opened(run, findings, system=name if named else system) for name, run in opened.items()]

    def explanation(self, inputs: Inputs, name: str, unit: str) -> Explained:
        """A metric worked out on one unit, with the value that it has there (T-27)."""
        from basanite.reports.explanation import Explained

        metric = self.task.metric(name)
        explain = self.task.explanation(metric)
        if explain is None:
            known = ", ".join(self.task.explained_metrics) or "none of this task"
            raise SettingError(f"{metric.name} cannot be explained step by step; these can: {known}.")
        inputs = self._with_reference(inputs)
        if inputs.reference is None and self.task.needs_reference:
            raise SettingError(f"{self.task.name} is explained against a reference: give it before the submission.")
        self.metrics = (metric.name,)
        findings = Findings(LISTED_PER_RULE)
        opened = self.open_submission(inputs, findings, scored=True)
        if opened is None or not findings.valid:
            self._explain_swap(inputs, findings)
            raise InvalidInputError(self.task.name, findings)
        scores = score_submission(opened, system=system_name(inputs.submission))
        if metric.name not in scores.tables:
            raise SettingError(f"{metric.name} cannot be computed here: {', '.join(scores.tables)} can.")
        case, value = self._case(opened, scores, metric.name, unit)
        worked = explain(replace(case, inputs=inputs))
        if not _same(worked.value, value):
            raise MismatchError(f"{metric.name} of {unit!r} is {value}, and its explanation ends in {worked.value}.")
        signature, table = scores.signatures.get(metric.name, ""), scores.tables[metric.name]
        return Explained(
            self.task.name, case.metric, scores.system, unit, table.unit, worked, signature, scores.digests
        )

    def _case(self, opened: Opened, scores: Scores, name: str, unit: str) -> tuple[Case, float]:
        """One unit with all that its value is made of, and the value."""
        metric, table = scores.metric(name), scores.tables[name]
        if unit not in table.units:
            first = f"They begin with {', '.join(map(shortened, table.units[:5]))}."
            near = suggestion(unit, table.units) if len(table.units) <= MOST_NAMED else ""
            likely = near if near.startswith("Did you mean") else first
            raise UnknownNameError(f"There is no {table.unit} {shortened(unit)!r}. {likely}")
        at = table.units.index(unit)
        (value,) = values_alone(metric, table.rows[at : at + 1])
        pairs = opened.pairs() if hasattr(opened, "pairs") else None
        row = dict(zip(table.columns, table.rows[at].tolist(), strict=True))
        settings = self.task.read_settings(self.settings)
        place, signature = pairs.units.index(unit) if pairs else at, scores.signatures.get(name, "")
        return Case(unit, place, metric, row, settings, opened, pairs, signature), value

    def power(self, analyses: list[Analysis], goal: Goal) -> list[Enough]:
        """What the rows of one system, or of each pair of several, can show on the metrics that were named."""
        from basanite.analysis.comparison import check_comparable
        from basanite.analysis.power import enough_of

        if len(analyses) > 1:
            self.task.check_alike(analyses)
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

    def gate(self, analyses: Sequence[Analysis], margins: Mapping[str, float]) -> Gate:
        """Whether the second of two systems is shown to be no worse than the first by these margins (Y-8).

        Margins go by the names of metrics; "" is the primary one.
        """
        from basanite.analysis.gate import gate

        if len(analyses) != 2:
            raise SettingError("A gate takes one system from each file: name it with the setting `only`.")
        self.task.check_alike(analyses)
        by_name = {self.task.metric(name or self.primary).name: margin for name, margin in margins.items()}
        if len(by_name) < len(margins):
            raise SettingError("The margin of one metric is given twice. Give it once.")
        return gate(analyses[0], analyses[1], by_name, self.design)

    def comparison(self, analyses: list[Analysis]) -> Comparison:
        """Which of several systems differ."""
        from basanite.analysis.comparison import compare

        wanted = dict.fromkeys((self.primary, *self.metrics)) if self.metrics else None
        self.task.check_alike(analyses)
        found = compare(analyses, None if wanted is None else list(wanted), self.design)
        if PRIMARY.name in self.given and found.differences and self.primary not in found.rankings:
            raise SettingError(
                f"{self.primary} cannot rank systems: their rows are of different kinds, so no pair can be tested. "
                f"Choose one of {', '.join(found.rankings)}, or show it beside the others: --metric {self.primary}."
            )
        return found

    def ranking_of_many(self, systems: Iterable[Scores]) -> ManyCompared:
        """Which of more systems than can be compared pair by pair differ on the primary metric (P-40)."""
        from basanite.analysis.many_systems import compare_many, entrants

        return compare_many(entrants(self._alike(systems), "", self.design), self.design)

    def _alike(self, systems: Iterable[Scores]) -> Iterator[Scores]:
        """The same systems, one after another, each checked against the first."""
        first: Scores | None = None
        for one in systems:
            first = first or one
            self.task.check_alike([Analysis(each, {}, {}, self.design, "") for each in (first, one)])
            yield one

    def open_submission(self, inputs: Inputs, findings: Findings, *, scored: bool = False) -> Opened | None:
        """Read and check a submission; what was found is in the findings, what was counted in the run.

        What is to be `scored` is refused at once where something is missing that only scoring needs.
        """
        if inputs.more_references and not self.task.several_references:
            raise SettingError(f"{self.task.name} takes one reference, not {len(inputs.more_references) + 1}.")
        name = system_name(inputs.submission)
        with reading_executor(self.workers) if self.workers > 1 else nullcontext() as executor:
            asked = replace(inputs, metrics=(self.primary, *self.metrics))
            opened = read_inputs(self.task, asked, self.settings, findings, executor=executor)
            missing = getattr(opened, "unscored", None) if scored else None
            if missing is not None:
                raise missing
            if opened is not None:
                if hasattr(opened, "scoring_progress"):
                    opened.scoring_progress = lambda done, total: self.work(name, done, total)
                validate_submission(
                    opened, findings, executor=executor, progress=lambda files: self.progress(name, files)
                )
        return opened

    def _explain_swap(self, inputs: Inputs, findings: Findings) -> None:
        """Say first, where it is so, that reference and submission stand in each other's place (D-7).

        They do if each is valid as the other, and either most of the reference is wrong, or a file as a whole, which
        is not valid against itself either: where the form of both is the same, nothing can be told.
        """
        truth, answers = inputs.reference, inputs.submission
        if findings.valid or truth is None or inputs.more_references or _size(truth) + _size(answers) > SWAP_BYTES:
            return
        first = findings.problems[0]
        wrong = truth if first.where == "reference" else answers
        data = wrong.read_bytes() if wrong.is_file() else b""
        lines = 0 if b"\0" in data else data.count(b"\n")
        mostly = wrong == truth and 1 < findings.total > lines / 2
        whole = first.line in (None, 1) and lines != 1
        if not (mostly or whole) or not self._is_valid(inputs, truth, answers):
            return
        if mostly or not self._is_valid(inputs, wrong, wrong):
            findings.lead(_swap_problem(first, answers.name))

    def _is_valid(self, inputs: Inputs, submission: Path, reference: Path) -> bool:
        findings = Findings(1)
        try:
            opened = self.open_submission(replace(inputs, submission=submission, reference=reference), findings)
        except BasaniteError:
            return False
        return opened is not None and findings.valid


def _same(first: float, second: float) -> bool:
    """Whether two values are the same but for rounding."""
    both_undefined = math.isnan(first) and math.isnan(second)
    return both_undefined or math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def stated_power(goal: Goal, spread: Spread, units: int | None, settings: Mapping[str, Any]) -> Enough:
    """What follows from a variance that was stated and not observed."""
    unknown = sorted(settings.keys() - {"alpha", "level"})
    if unknown:
        raise SettingError(f"{unknown[0]!r} is not a setting of a stated variance: set alpha or level.")
    from basanite.analysis.power import Enough

    if spread.variance == 0:
        raise SettingError("variance=0 cannot be used: units that do not vary say nothing about how many are enough.")
    return Enough(spread, goal, units)


def power_goal(
    settings: Mapping[str, Any], *, share: float = 0.8, difference: float | None = None, half_width: float | None = None
) -> Goal:
    """What is wanted of the units, at the levels that the settings of the analysis say."""
    levels = {name: settings[name] for name in ("alpha", "level") if name in settings}
    design = analysis_design(levels, draws=None, seed=0)
    from basanite.analysis.power import Goal

    return Goal(design.alpha, share, design.level, difference, half_width)


def _swap_problem(first: Problem, submission: str) -> Problem:
    """What explains all problems of two files that stand in each other's place."""
    message = "this looks like a reference, and the reference like a submission"
    fix = "give the system's answers as the submission"
    hint = "--reference and --submission, or REF and HYP, may be swapped"
    return Problem(first.rule, submission, None, None, message, fix, hint=hint)


def _size(path: Path) -> int:
    """How many bytes a file has, or all files of a folder."""
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())


def named_submissions(submissions: Mapping[str, AnyPath] | Iterable[AnyPath]) -> dict[str, Path]:
    """Submissions by system name; two files that would give one name are distinguished by the caller, not by us."""
    if isinstance(submissions, Mapping):
        return {name: Path(path) for name, path in submissions.items()}
    paths = [Path(path) for path in submissions]
    names = system_names(paths)
    if len(set(names)) < len(names):
        raise SettingError(f"Two submissions are called the same ({', '.join(names)}): give them names, NAME=PATH.")
    return dict(zip(names, paths, strict=True))
