"""One set of features measured: everything that `basanite measure run` shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from basanite import __version__
from basanite.analysis.analyse import signature
from basanite.analysis.intervals import FEWEST_UNITS
from basanite.analysis.results import Analysis, Design, Value
from basanite.errors import InvalidInputError, UnknownNameError
from basanite.formats.features import RULE
from basanite.kernel import Scores
from basanite.metrics.representation.backends import Backend
from basanite.metrics.representation.everything import NAMES, Representation, measure, wanted_names
from basanite.metrics.representation.results import FLAGS, OURS, Floats, SampleFigures
from basanite.problems import Findings, Problem
from basanite.registry import suggestion
from basanite.representation.catalogue import PRIMARY, described
from basanite.representation.data import TASK, Data
from basanite.representation.measuring.accuracy import badly_formed, flagged, misplaced
from basanite.representation.measuring.draws import Drawn, Weights, draw_all, row_draws
from basanite.representation.measuring.groups import GroupDifference, Grouped, Grouping, grouped
from basanite.representation.measuring.settings import Choices, choices
from basanite.representation.measuring.values import FIXED, class_values, share_value, valued
from basanite.representation.measuring.weights import class_weights
from basanite.representation.projection import Method, Projection, project
from basanite.representation.threads import threads_for

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
class Run:
    """What was found about one set of features."""

    data: Data
    plan: Plan
    analysis: Analysis
    found: Representation
    differences: tuple[GroupDifference, ...]
    badly_formed: tuple[tuple[str, str], ...]
    """Classes and groups that are accurate but badly formed, as factor and level."""
    projection: Projection | None

    @property
    def samples(self) -> SampleFigures:
        """The figures of each row."""
        if self.found.samples is None:
            raise ValueError("the run was made without samples")
        return self.found.samples

    @property
    def similarity(self) -> Floats:
        """The mean cosine between every two classes, and inside each of them on the diagonal."""
        sums = self.found.sums.placed(self.data.classes.names)
        means = sums.unit / np.maximum(sums.counts, 1)[:, None]
        table = np.asarray(means @ means.T)
        np.fill_diagonal(table, self.found.figures.intra)
        return table


def run(data: Data, plan: Plan, *, backend: Backend | None = None, executor: Executor | None = None) -> Run:
    """Measure one set: values with intervals, by class and by group, accuracy beside them, the worst rows."""
    _refuse_single(data)
    with threads_for(data.rows * data.dimensions):
        return _run(data, plan, backend, executor)


def _run(data: Data, plan: Plan, backend: Backend | None, executor: Executor | None) -> Run:
    names = measured_names(data, plan)
    options = plan.choices.options
    found = measure(
        data.features,
        data.classes,
        names=names,
        source=data.source,
        options=options,
        backend=backend,
        with_samples=True,
    )
    weights, each = _weights(data, plan), _each_row(data, found)
    enough = data.rows >= FEWEST_UNITS and plan.draws > 0
    drawn = draw_all(data, names, options, weights, seed=plan.seed, executor=executor) if enough else Drawn()
    rows = row_draws(each, data.classes, weights) if enough else Drawn()
    groups = grouped(data, Grouping(names, options, plan.choices.level, plan.seed, weights, _shares(each)))
    breakdowns = _breakdowns(found, each, drawn, rows, groups, plan)
    values = {name: valued(name, found.values[name], drawn, rows=data.rows, level=plan.choices.level) for name in names}
    values |= _share_values(each, rows, plan)
    analysis = _analysis(data, plan, found, flagged({"": values}, plan.choices)[""], breakdowns, groups)
    drawn_points = _projected(data, plan)
    return Run(data, plan, analysis, found, groups.differences, tuple(badly_formed(breakdowns)), drawn_points)


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


def _weights(data: Data, plan: Plan) -> Weights:
    if plan.draws * data.rows <= HELD:
        held = list(class_weights(data.classes, draws=plan.draws, seed=plan.seed))
        return lambda: held
    return lambda: class_weights(data.classes, draws=plan.draws, seed=plan.seed)


def _each_row(data: Data, found: Representation) -> dict[str, Floats]:
    """Figures of each row that are averaged over classes and groups."""
    each: dict[str, Floats] = {}
    if found.samples is not None:
        if found.samples.silhouette is not None:
            each["silhouette"] = found.samples.silhouette
        each["misplaced"] = misplaced(found.samples)
    return each if data.correct is None else {**each, "accuracy": data.correct}


def _shares(each: Mapping[str, Floats]) -> dict[str, Floats]:
    return {name: array for name, array in each.items() if name != "silhouette"}


def _share_values(each: Mapping[str, Floats], rows: Drawn, plan: Plan) -> dict[str, Value]:
    level = plan.choices.level
    return {
        name: share_value(
            float(array.mean()),
            rows.values.get(name),
            rows=len(array),
            level=level,
            flags=(FIXED, OURS) if name == "misplaced" else (),
        )
        for name, array in _shares(each).items()
    }


def _breakdowns(
    found: Representation, each: Mapping[str, Floats], drawn: Drawn, rows: Drawn, groups: Grouped, plan: Plan
) -> dict[str, dict[str, dict[str, Value]]]:
    by_class = class_values(found, each, drawn, rows, level=plan.choices.level)
    all_of_them = {CLASS: by_class, **{_free(factor): levels for factor, levels in groups.values.items()}}
    return {factor: flagged(levels, plan.choices) for factor, levels in all_of_them.items()}


def _free(factor: str) -> str:
    """A factor's name that does not hide the classes."""
    return f"{factor} (metadata)" if factor == CLASS else factor


def _analysis(
    data: Data,
    plan: Plan,
    found: Representation,
    values: Mapping[str, Value],
    breakdowns: Mapping[str, Mapping[str, Mapping[str, Value]]],
    groups: Grouped,
) -> Analysis:
    shown = dict.fromkeys((*values, *(name for level in breakdowns[CLASS].values() for name in level)))
    scores = Scores(
        task=TASK,
        system=data.name,
        metrics=tuple(described(name) for name in shown),
        tables={},
        primary=plan.primary,
        asked=plan.names,
        settings={**plan.choices.written, "backend": found.backend},
        digests={"features": data.digest} if data.digest else {},
        notes=(*data.notes, *_notes(data, found, values), *groups.notes),
    )
    design = Design(draws=plan.draws, seed=plan.seed, level=plan.choices.level, interval="percentile")
    settings = {name: value for name, value in scores.settings.items() if name != "level"}
    scores = replace(scores, settings=settings)
    return Analysis(scores, values, breakdowns, design, signature(scores, design, version=__version__))


def _notes(data: Data, found: Representation, values: Mapping[str, Value]) -> Iterator[str]:
    """What must be known about the data: the meaning of every flag that was raised, and how draws were made."""
    raised = dict.fromkeys(flag for value in values.values() for flag in value.flags if flag in FLAGS)
    yield from (FLAGS[flag] for flag in raised)
    if data.predicted:
        yield "Labels are predicted: every measure here needs labels, so it says how features fit the predictions."
    yield (
        f"Draws take rows of each class with replacement: {len(data.classes)} classes and their sizes held fixed. "
        "Measures that move with the number of classes are not comparable across data with other numbers of them."
    )


def _projected(data: Data, plan: Plan) -> Projection | None:
    if plan.projection is None or data.rows < 3:
        return None
    return project(data.features, data.classes, method=plan.projection, seed=plan.seed)
