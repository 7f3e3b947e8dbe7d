"""One set of features measured: everything that `basanite measure run` shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from basanite import __version__
from basanite.analysis.intervals import FEWEST_UNITS
from basanite.analysis.results import Analysis, Design, Value
from basanite.analysis.system import signature
from basanite.errors import InvalidInputError, UnknownNameError
from basanite.formats.features import RULE
from basanite.kernel import Scores
from basanite.problems import Findings, Problem
from basanite.registry import suggestion
from basanite.representation.backends.blas import Backend
from basanite.representation.catalogue import PRIMARY, measure_metric
from basanite.representation.data import TASK, Data, threads_for
from basanite.representation.groups import GroupDifference, Grouped, Grouping, measure_groups
from basanite.representation.intervals import Drawn, Weights, draw_all, row_draws
from basanite.representation.measures.all_measures import NAMES, Representation, measure, wanted_names
from basanite.representation.measures.results import FLAGS, OURS, Floats, SampleFigures
from basanite.representation.measures.spread import constant_features
from basanite.representation.measures.sums import ClassSums
from basanite.representation.projection import Method, Projection, project
from basanite.representation.settings import Choices, badly_formed, choices, flag_badly_formed, misplaced_rows
from basanite.representation.values import FIXED, class_values, class_weights, share_value, value_with_interval

CLASS = "class"
HELD = 1 << 25
"""Weights that are kept; beyond that they are drawn again for each family of measures."""
WORST = 20


@dataclass(frozen=True)
class Plan:
    """How to measure: everything that is fixed before the data are looked at."""

    names: tuple[str, ...] = ()
    """Only these measures and the primary one; none named means all that the data allow."""
    choices: Choices = field(default_factory=Choices)
    draws: int = 1000
    seed: int = 0
    worst: int = WORST
    projection: Method | None = "tsne"
    primary: str = PRIMARY
    """The measure that is the headline (S-27)."""

    @classmethod
    def of(cls, settings: Mapping[str, Any] | None = None, *, names: Collection[str] = (), **more: Any) -> Plan:
        """A plan from settings as a user gives them."""
        for name in (*names, more.get("primary", PRIMARY)):
            if name not in NAMES:
                raise UnknownNameError(f"There is no measure {name!r}. {suggestion(name, NAMES)}")
        return cls(tuple(names), choices(settings or {}, seed=int(more.get("seed", 0))), **more)


@dataclass(frozen=True)
class Measurement:
    """One set with its draws: everything that values, classes and groups are made of, each computed once."""

    data: Data
    plan: Plan
    names: tuple[str, ...]
    weights: Weights
    backend: Backend | None = None
    executor: Executor | None = None

    @cached_property
    def found(self) -> Representation:
        """The measures of the set as it is."""
        data, options = self.data, self.plan.choices.options
        found = measure(
            data.features,
            data.classes,
            names=self.names,
            source=data.source,
            options=options,
            backend=self.backend,
        )
        return found.with_samples(data.features)

    @cached_property
    def each(self) -> dict[str, Floats]:
        """Figures of each row that are averaged over classes and groups."""
        each: dict[str, Floats] = {}
        if self.found.samples is not None:
            if self.found.samples.silhouette is not None:
                each["silhouette"] = self.found.samples.silhouette
            each["misplaced"] = misplaced_rows(self.found.samples)
        return each if self.data.correct is None else {**each, "accuracy": self.data.correct}

    @cached_property
    def drawn(self) -> Drawn:
        """The measures in every draw."""
        if not self._enough:
            return Drawn()
        options, seed = self.plan.choices.options, self.plan.seed
        return draw_all(self.data, self.names, options, self.weights, seed=seed, executor=self.executor)

    @cached_property
    def rows(self) -> Drawn:
        """Means over rows in every draw."""
        return row_draws(self.each, self.data.classes, self.weights) if self._enough else Drawn()

    @property
    def _enough(self) -> bool:
        return self.data.rows >= FEWEST_UNITS and self.plan.draws > 0

    @property
    def shares(self) -> dict[str, Floats]:
        """The figures of each row that have a mean over the whole set."""
        return {name: array for name, array in self.each.items() if name != "silhouette"}

    @property
    def grouping(self) -> Grouping:
        """How groups of these rows are measured."""
        choices = self.plan.choices
        return Grouping(self.names, choices.options, choices.level, self.plan.seed, self.weights, self.shares)

    def values(self) -> dict[str, Value]:
        """Every value of the whole set, with its interval and what must be said of it."""
        rows, level = self.data.rows, self.plan.choices.level
        found = {
            name: value_with_interval(name, self.found.values[name], self.drawn, rows=rows, level=level)
            for name in self.names
        }
        for name, array in self.shares.items():
            flags = (FIXED, OURS) if name == "misplaced" else ()
            drawn = self.rows.values.get(name)
            found[name] = share_value(float(array.mean()), drawn, rows=rows, level=level, flags=flags)
        return flag_badly_formed({"": found}, self.plan.choices)[""]

    def breakdowns(
        self, groups: Mapping[str, Mapping[str, Mapping[str, Value]]]
    ) -> dict[str, dict[str, dict[str, Value]]]:
        """The values of every class, and of the groups of each factor."""
        by_class = class_values(self.found, self.each, self.drawn, self.rows, level=self.plan.choices.level)
        all_of_them = {CLASS: by_class, **{_free(factor): levels for factor, levels in groups.items()}}
        return {factor: flag_badly_formed(levels, self.plan.choices) for factor, levels in all_of_them.items()}

    @property
    def similarity(self) -> Floats:
        """The mean cosine between every two classes, and inside each of them on the diagonal."""
        sums = self.found.sums.in_order(self.data.classes.names)
        means = sums.unit / np.maximum(sums.counts, 1)[:, None]
        table = np.asarray(means @ means.T)
        np.fill_diagonal(table, self.found.figures.intra)
        return table


@dataclass(frozen=True)
class Run:
    """What was found about one set of features."""

    data: Data
    plan: Plan
    analysis: Analysis
    measured: Measurement
    differences: tuple[GroupDifference, ...]
    badly_formed: tuple[tuple[str, str], ...]
    """Classes and groups that are accurate but badly formed, as factor and level."""
    projection: Projection | None

    @property
    def found(self) -> Representation:
        """The measures of the set as it is."""
        return self.measured.found

    @property
    def samples(self) -> SampleFigures:
        """The figures of each row."""
        if self.found.samples is None:
            raise ValueError("the run was made without samples")
        return self.found.samples


def run(data: Data, plan: Plan, *, backend: Backend | None = None, executor: Executor | None = None) -> Run:
    """Measure one set: values with intervals, by class and by group, accuracy beside them, the worst rows."""
    _refuse_single(data)
    with threads_for(data.rows * data.dimensions):
        weights = held_weights(lambda: class_weights(data.classes, draws=plan.draws, seed=plan.seed), data, plan.draws)
        return _run(Measurement(data, plan, measured_names(data, plan), weights, backend, executor))


def _run(measured: Measurement) -> Run:
    data, plan = measured.data, measured.plan
    values = measured.values()
    groups = measure_groups(data, measured.grouping)
    breakdowns = measured.breakdowns(groups.values)
    analysis = _analysis(measured, values, breakdowns, groups)
    points = None
    if plan.projection is not None and data.rows >= 3:
        points = project(data.features, data.classes, method=plan.projection, seed=plan.seed)
    return Run(data, plan, analysis, measured, groups.differences, tuple(badly_formed(breakdowns)), points)


def measured_names(data: Data, plan: Plan) -> tuple[str, ...]:
    """The measures of a run: those asked for and the primary one, or all that the data allow."""
    named = wanted_names({plan.primary, *plan.names}, data.source)  # refused where one cannot be measured
    return named if plan.names else wanted_names(None, data.source)


def _refuse_single(data: Data) -> None:
    if len(data.classes) < 2:
        findings = Findings()
        message = f"the labels name {len(data.classes)} class; measures compare at least two"
        findings.add(Problem(RULE, data.name, None, None, message, "give rows of two classes or more"))
        raise InvalidInputError(TASK, findings)


def held_weights(blocks: Weights, data: Data, draws: int) -> Weights:
    """The same weights, kept where they are few enough: every family of measures goes through them again."""
    if draws * data.rows > HELD:
        return blocks
    held = list(blocks())
    return lambda: held


def _free(factor: str) -> str:
    """A factor's name that does not hide the classes."""
    return f"{factor} (metadata)" if factor == CLASS else factor


def _analysis(
    measured: Measurement,
    values: Mapping[str, Value],
    breakdowns: Mapping[str, Mapping[str, Mapping[str, Value]]],
    groups: Grouped,
) -> Analysis:
    data, plan = measured.data, measured.plan
    shown = dict.fromkeys((*values, *(name for level in breakdowns[CLASS].values() for name in level)))
    settings = {**plan.choices.as_dict, "backend": measured.found.backend}
    scores = Scores(
        task=TASK,
        system=data.name,
        metrics=tuple(measure_metric(name) for name in shown),
        tables={},
        primary=plan.primary,
        asked=plan.names,
        settings={name: value for name, value in settings.items() if name != "level"},
        digests={"features": data.digest} if data.digest else {},
        notes=(*data.notes, *value_notes(data, values, measured.found.sums), *groups.notes),
    )
    design = Design(draws=plan.draws, seed=plan.seed, level=plan.choices.level, interval="percentile")
    return Analysis(scores, values, breakdowns, design, signature(scores, design, version=__version__))


def value_notes(data: Data, values: Mapping[str, Value], sums: ClassSums | None = None) -> Iterator[str]:
    """What must be known about the data: the meaning of every flag that was raised, and how draws were made."""
    if sums is not None and (constant := constant_features(sums)):
        yield f"{constant:,} of {sums.dimensions:,} features are the same in every row (F-22): is this the right layer?"
    raised = dict.fromkeys(flag for value in values.values() for flag in value.flags if flag in FLAGS)
    yield from (FLAGS[flag] for flag in raised)
    if data.predicted:
        yield "Labels are predicted: every measure here needs labels, so it says how features fit the predictions."
    yield (
        f"Draws take rows of each class with replacement: {len(data.classes)} classes and their sizes held fixed. "
        "Measures that change with the number of classes are not comparable across data with other numbers of them."
    )
