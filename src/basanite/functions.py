"""The functions of `import basanite`: what the commands of the same names do, on files and on tables of any library.

An argument that they cannot take is refused in words, with what was given and what is taken (Y-1). Each has one named
argument for each option of its command, however many, so that nobody learns two interfaces.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from basanite.analysis.comparison import compare as compare_analyses
from basanite.analysis.power import Enough, Spread
from basanite.analysis.results import Comparison, Design
from basanite.errors import ArgumentError, InvalidInputError, SettingError
from basanite.extras import named_extras
from basanite.formats.tables import columns_of_systems, description_of, is_path, is_table
from basanite.formats.unit_tables import COLUMNS as UNIT_COLUMNS
from basanite.formats.unit_tables import read_unit_tables
from basanite.problems import LISTED_PER_RULE, Findings, Problem, shortened
from basanite.registry import suggestion
from basanite.reports.metric_names import direction, display_name
from basanite.result import ComparisonResult, Result, comparison_result_of, result_of
from basanite.scoring import Scorer, analyse_scores, named_submissions, power_goal, stated_power
from basanite.tasks.given import About, AnyPath, Given, GivenFiles, scores_of_unit_values, scores_of_values
from basanite.tasks.settings import values_design

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

PLAIN: Mapping[str, tuple[tuple[type, ...], str]] = {
    "task": ((str,), "the name of a task, like 'classification'"),
    "draws": ((int,), "a whole number, like 1000"),
    "seed": ((int,), "a whole number"),
    "workers": ((int,), "a whole number"),
    "system": ((str,), "a name"),
    "metrics": ((str, Iterable), "the name of a metric, or several"),
}
"""Arguments that are no files, with their types and what to give, in words."""
OPTIONAL: Any = object()
"""In place of an argument that was not given."""


def checked(function: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The same function, which refuses arguments it cannot take by an `ArgumentError` in place of a `TypeError`."""
    known = inspect.signature(function)

    @wraps(function)
    def call(*args: Arguments.args, **named: Arguments.kwargs) -> Answer:
        try:
            given = known.bind(*args, **named).arguments
        except TypeError as error:
            raise ArgumentError(
                f"basanite.{function.__name__}: {error}. All arguments but the first have names: "
                f"{', '.join(name for name in known.parameters if name != 'settings')}."
            ) from None
        for name, (kinds, words) in PLAIN.items():
            found = given.get(name, OPTIONAL)
            without = found is None and known.parameters[name].default is None
            if found is OPTIONAL or without:
                continue
            if not isinstance(found, kinds) or (isinstance(found, bool) and int in kinds):
                raise ArgumentError(f"{name} is {description_of(found)}: give {words}.")
        with named_extras():
            return function(*args, **named)

    return call


@contextmanager
def _given_files() -> Iterator[GivenFiles]:
    """Where tables are written for as long as a function runs."""
    with tempfile.TemporaryDirectory(prefix="basanite-tables-") as folder:
        yield GivenFiles(Path(folder))


@checked
def validate(
    task: str,
    *,
    submission: Given,
    reference: Given | Iterable[Given] | None = None,
    documents: Given | None = None,
    queries: Given | None = None,
    metadata: Given | Iterable[Given] = (),
    judgements: Given | None = None,
    human: Given | None = None,
    every: bool = False,
    workers: int = 1,
    **settings: Any,
) -> Findings:
    """Find all problems of a submission, against a key or against the pack's lists of documents and queries."""
    with _given_files() as files:
        inputs = files.inputs(
            submission,
            reference,
            metadata=metadata,
            documents=documents,
            queries=queries,
            judgements=judgements,
            human=human,
        )
        return Scorer(task, settings, workers=workers).findings(inputs, every=every)


@checked
def score(
    task: str,
    *,
    submission: Given,
    reference: Given | Iterable[Given] | None = None,
    queries: Given | None = None,
    metadata: Given | Iterable[Given] = (),
    judgements: Given | None = None,
    human: Given | None = None,
    draws: int | None = None,
    seed: int = 0,
    metrics: str | Iterable[str] = (),
    system: str | None = None,
    workers: int = 1,
    **settings: Any,
) -> Result:
    """Score one submission; raises `InvalidInputError`, which carries all problems, if it is not valid.

    `primary` names the metric that is the headline, if it is not to be the task's own.
    """
    scorer = Scorer(task, settings, draws=draws, seed=seed, metrics=_names(metrics), workers=workers)
    with _given_files() as files:
        inputs = files.inputs(
            submission, reference, metadata=metadata, queries=queries, judgements=judgements, human=human
        )
        return result_of(scorer.analysis(inputs, system=system))


@checked
def compare(
    task: str,
    *,
    submissions: Mapping[str, Given] | Iterable[AnyPath],
    reference: Given | Iterable[Given] | None = None,
    queries: Given | None = None,
    metadata: Given | Iterable[Given] = (),
    judgements: Mapping[str, Given] | None = None,
    human: Given | None = None,
    draws: int | None = None,
    seed: int = 0,
    metrics: str | Iterable[str] = (),
    workers: int = 1,
    **settings: Any,
) -> ComparisonResult:
    """Score several submissions and test which differ; names come from the mapping, or from the files.

    Judgements (for `e2e`) go by the same names: summaries differ, so each system has its own. `primary` names the
    metric that ranks the systems, if it is not to be the task's own.
    """
    scorer = Scorer(task, settings, draws=draws, seed=seed, metrics=_names(metrics), workers=workers)
    with _given_files() as files:
        shared = files.common_inputs(reference, metadata=metadata, queries=queries, human=human)
        judged = files.by_system("judgements", judgements or {})
        systems = named_submissions(files.submissions(submissions))
        return comparison_result_of(scorer.comparison(scorer.analyses(shared, systems, judged)))


@checked
def power(
    task: str | None = None,
    *,
    submissions: Mapping[str, Given] | Iterable[AnyPath] = (),
    reference: Given | Iterable[Given] | None = None,
    queries: Given | None = None,
    metadata: Given | Iterable[Given] = (),
    judgements: Mapping[str, Given] | None = None,
    human: Given | None = None,
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
    """How many units detect a difference, or give a half-width, and what the current units can detect.

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
    scorer = Scorer(task, settings, draws=draws, seed=seed, metrics=_names(metrics), workers=workers)
    with _given_files() as files:
        shared = files.common_inputs(reference, metadata=metadata, queries=queries, human=human)
        judged = files.by_system("judgements", judgements or {})
        systems = named_submissions(files.submissions(submissions))
        return scorer.power(scorer.analyses(shared, systems, judged), goal)


@checked
def compare_values(
    a: Any,
    b: Any = None,
    *,
    units: Any = None,
    cluster: Any = None,
    factors: Mapping[str, Any] | None = None,
    metric: str = "mean",
    best: str = "high",
    draws: int | None = None,
    seed: int = 0,
    **settings: Any,
) -> ComparisonResult:
    """Compare systems on existing values of units: means with intervals, paired tests, groups.

    `a` alone may be a table of units as `score --units` writes it, or its path (unit, system, metric, value). Else `a`
    and `b` are the numbers of two systems, or `a` has those of each: a mapping, or a frame with a column for each.
    Truth values are shares.
    `cluster` says which units belong together, and `factors` adds breakdowns. `settings` are those of the analysis
    (level, alpha, adjustment, interval, test_draws).

    >>> compare_values({"A": [1, 2, 3], "B": [1, 2, 2]}).differences[0].difference
    0.33333333333333326
    """
    design = values_design(settings, draws=draws, seed=seed)
    if b is None and not is_path(a) and is_table(a) and not isinstance(a, Mapping):
        a = columns_of_systems(a, UNIT_COLUMNS) or a
    if b is None and (is_path(a) or (is_table(a) and not isinstance(a, Mapping))):
        with _given_files() as files:
            return comparison_result_of(compare_unit_tables(files.paths("values", a), design))
    systems = {"a": a, "b": b} if b is not None else a
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ArgumentError("Give the numbers of two systems, or a mapping: compare_values({'A': …, 'B': …}).")
    scores = scores_of_values(systems, About(units, cluster, factors), metric=metric, best=best)
    analyses = [analyse_scores(one, design) for one in scores]
    found = compare_analyses(analyses, [metric], design)
    every = dict.fromkeys((*found.notes, *(note for one in analyses for note in one.notes)))
    return comparison_result_of(replace(found, notes=tuple(every)))


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(map(str, names))


MEANS_OF_UNITS = (
    "values are means over the units of a table; a metric of the whole set, such as BLEU or F1, has another value than "
    "the mean of its units"
)


def compare_unit_tables(
    paths: Sequence[Path], design: Design, *, metrics: Sequence[str] = (), primary: str | None = None
) -> Comparison:
    """Compare the systems of one or more tables of units, by the means of their units (T-30)."""
    findings = Findings(LISTED_PER_RULE)
    table = read_unit_tables(paths, findings)
    if not findings.valid or not table:
        if findings.valid:
            findings.add(Problem("T-30", paths[0].name, None, None, "there is no value in it", "write one row a value"))
        raise InvalidInputError("units", findings)
    wanted = list(dict.fromkeys((*((primary,) if primary else ()), *metrics))) or list(table)
    for name in wanted:
        if name not in table:
            raise SettingError(f"No table has values of {shortened(name)!r}. {suggestion(name, tuple(table))}")
    chosen = {name: table[name] for name in wanted}
    systems = {system for values in chosen.values() for system in values}
    if len(systems) < 2:
        raise SettingError(f"The tables have values of {' and '.join(systems)} alone: give at least two systems.")
    known = {name: direction(name) for name in chosen}
    notes = [MEANS_OF_UNITS]
    notes += [
        f"high values of {name} are taken to be better, because no metric has this name"
        for name in known
        if not known[name]
    ]
    scores = [
        replace(one, metrics=tuple(replace(metric, title=display_name(metric.name)) for metric in one.metrics))
        for one in scores_of_unit_values(chosen, {name: best or "high" for name, best in known.items()}, wanted[0])
    ]
    found = compare_analyses([analyse_scores(one, design) for one in scores], wanted, design)
    every = dict.fromkeys((*notes, *found.notes, *(note for one in scores for note in one.notes)))
    return replace(found, notes=tuple(every))
