"""The task `representation`: a file of features against the labels of the same rows, at every door (F-24).

The measures are those of `basanite measure run`, made by the same code in the same draws, so that the same files give
the same numbers. They are no functions of rows of statistics, so the table of scores brings its own draws (ADR 28).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.clusters import COLUMN as CLUSTER
from basanite.analysis.clusters import clusters_of
from basanite.analysis.intervals import FEWEST_UNITS, TOO_FEW
from basanite.analysis.resampling import cluster_count, frame_of, weight_blocks
from basanite.analysis.results import Analysis, Breakdowns, Design, Value
from basanite.errors import SettingError
from basanite.figures import Figure
from basanite.formats.factors import FactorTable, read_factor_tables
from basanite.formats.items import MOST_LEVELS
from basanite.kernel import Metric, Scores, UnitRows
from basanite.problems import Findings
from basanite.representation.catalogue import FERM_PAPER, METRICS, PRIMARY, UNIT
from basanite.representation.data import ROW, Data, threads_for
from basanite.representation.groups import NOT_PAIRED, group_members, group_values
from basanite.representation.intervals import HALVES
from basanite.representation.measurement import CLASS, Measurement, Plan, held_weights, value_notes
from basanite.representation.measures.all_measures import Source, wanted_names
from basanite.representation.measures.results import Classes, Floats, Numbers
from basanite.representation.report import similarity_chart
from basanite.representation.settings import SETTINGS, Choices, choices_of
from basanite.representation.submission import (
    Answers,
    LabelledRows,
    alignment,
    check_answers,
    read_answers,
    read_labelled_rows,
)
from basanite.representation.values import class_weights
from basanite.tasks import AnswerFormat, Inputs, Task

NAME: Final = "representation"
ID: Final = "id"
CLUSTERS: Final = ("source", "recording", "document")
"""Columns of the reference that may name what rows belong together (S-10)."""
BY_POSITION: Final = "rows are paired with labels by their position, since the features have no ids"
NO_GROUPS: Final = "groups are those of the reference and of the metadata; those of the submission are not used"
NO_HALVES: Final = "no interval: half-samples cannot keep clusters whole"
INTERVALS: Final = ("metric", "percentile")
HELD_FIXED: Final = ("misplaced",)
"""Measures whose draws hold the other rows fixed: tests on them would be wrong twice as often as they say."""


@dataclass(frozen=True)
class FeatureDraws:
    """The values and draws of one set of features (`analysis.own_draws.OwnDraws`)."""

    data: Data
    choices: Choices
    made: dict[tuple[Any, ...], Measurement] = field(default_factory=dict, compare=False, repr=False)
    """What was measured, by how it was drawn: values, breakdowns and comparisons ask for the same thing."""

    def values(self, table: UnitRows, metrics: Sequence[Metric], design: Design) -> dict[str, Value]:
        """The value of each metric with its interval."""
        with self._threads:
            found = self._measurement(table, metrics, design).values()
        drawn = np.arange(self.data.rows)
        return {metric.name: _in_clusters(table, drawn, found[metric.name]) for metric in metrics}

    def breakdowns(self, table: UnitRows, metrics: Sequence[Metric], design: Design) -> Breakdowns:
        """The values of each class, and of the largest groups of each factor."""
        names = {metric.name for metric in metrics}
        with self._threads:
            measured = self._measurement(table, metrics, design)
            groups = {
                factor: {
                    level: group_values(self.data, rows, measured.grouping)
                    for level, rows in group_members(np.asarray(column))[0].items()
                }
                for factor, column in table.factors.items()
            }
            found = measured.breakdowns(groups)
        classes = self.data.classes
        members = {CLASS: {str(name): classes.members(place) for place, name in enumerate(classes.names)}}
        members |= {factor: group_members(np.asarray(column))[0] for factor, column in table.factors.items()}
        return {
            factor: {
                level: {
                    name: _in_clusters(table, members[_column(factor, members)][level], value)
                    for name, value in values.items()
                    if name in names
                }
                for level, values in levels.items()
            }
            for factor, levels in found.items()
        }

    def notes(self, table: UnitRows, values: Mapping[str, Value]) -> Iterable[str]:
        """What the flags of the values mean, and how draws were made."""
        *meanings, stratified = value_notes(self.data, values)
        yield from meanings
        if table.has_clusters:
            yield "Draws take whole clusters with replacement, so the sizes of classes vary from draw to draw."
        else:
            yield stratified

    def draws(self, table: UnitRows, metrics: Sequence[Metric], design: Design) -> dict[str, Floats]:
        """The value of each metric in draws that only depend on labels, seed and clusters."""
        with self._threads:
            measured = self._measurement(table, metrics, design)
            known = {
                **measured.rows.values,
                **measured.drawn.values,
            }  # whole draws of silhouette, not those of its rows
        halves = {name for name, why in measured.drawn.why.items() if why == HALVES}
        unpaired = {*NOT_PAIRED, *halves, *HELD_FIXED}
        few = _drawn_things(table, np.arange(self.data.rows)) < FEWEST_UNITS
        nothing = np.zeros(0)
        return {one.name: nothing if few or one.name in unpaired else known.get(one.name, nothing) for one in metrics}

    def freedom(self, table: UnitRows) -> int:
        """Rows less classes, or clusters less one: every class has a mean of its own."""
        things = _drawn_things(table, np.arange(self.data.rows))
        return max(1, things - (1 if table.has_clusters else len(self.data.classes)))

    def subset(self, index: Numbers) -> FeatureDraws:
        """Some of the rows."""
        return FeatureDraws(self.data.subset(index), self.choices)

    @property
    def _threads(self) -> Any:
        return threads_for(self.data.rows * self.data.dimensions)

    def _measurement(self, table: UnitRows, metrics: Sequence[Metric], design: Design) -> Measurement:
        """The set measured with these draws; one that has more measures than are asked for serves as well."""
        if design.interval not in INTERVALS:
            raise SettingError(f"{NAME} has percentile intervals only: leave out interval={design.interval}.")
        cluster = table.cluster if table.has_clusters else ""
        key = design.draws, design.seed, design.level, cluster
        possible = wanted_names(None, self.data.source)
        wanted = {metric.name for metric in metrics} & set(possible) | {PRIMARY}
        known = self.made.get(key)
        if known is None or not wanted <= set(known.names):
            names = tuple(name for name in possible if name in wanted)
            self.made[key] = known = self._measure(table, names, design)
        return known

    def _measure(self, table: UnitRows, names: tuple[str, ...], design: Design) -> Measurement:
        options = replace(self.choices.options, seed=design.seed)
        plan = Plan(names, replace(self.choices, options=options, level=design.level), design.draws, design.seed)
        blocks = partial(class_weights, self.data.classes, draws=plan.draws, seed=plan.seed)
        if table.has_clusters:
            frame = frame_of(table)
            blocks = partial(_cluster_weights, frame.place, frame.size, plan, frame.kind)
        weights = held_weights(blocks, self.data, plan.draws)
        return Measurement(self.data, plan, names, weights, executor=design.executor)


def _column(factor: str, members: Mapping[str, Any]) -> str:
    """The column behind a factor of the breakdowns, which may have another name there than the classes."""
    return factor if factor in members else factor.removesuffix(" (metadata)")


def _cluster_weights(place: Numbers, size: int, plan: Plan, kind: str) -> Iterator[Floats]:
    """How often each row is in each draw of whole clusters."""
    for block in weight_blocks(size, draws=plan.draws, seed=plan.seed, kind=kind, columns=len(place)):
        yield block[:, place]


def _drawn_things(table: UnitRows, rows: Numbers) -> int:
    """How many rows, or clusters of them, are drawn."""
    if table.clusters is None or not table.has_clusters:
        return len(rows)
    return len(np.unique(table.clusters[rows]))


def _in_clusters(table: UnitRows, rows: Numbers, value: Value) -> Value:
    """The value without its interval where its clusters are too few (S-28), or were not drawn whole."""
    if value.low is None or not table.has_clusters:
        return value
    number = _drawn_things(table, rows)
    if number >= FEWEST_UNITS and HALVES not in value.flags:
        return value
    flags = tuple(flag for flag in value.flags if flag != HALVES)
    why = NO_HALVES if number >= FEWEST_UNITS else f"{TOO_FEW}: {cluster_count(table.cluster, number)}"
    return replace(value, low=None, high=None, method="", flags=(*flags, why))


class RepresentationRun:
    """One file of features on its way to measures."""

    def __init__(
        self, inputs: Inputs, settings: Mapping[str, Any], truth: LabelledRows | None, tables: Sequence[FactorTable]
    ) -> None:
        self.inputs, self.settings, self.truth, self.tables = inputs, settings, truth, tables
        self.answers: Answers | None = None

    def pieces(self, findings: Findings) -> Iterator[Path]:
        """The one file of the submission."""
        yield self.inputs.submission

    def examine(self, piece: Path) -> tuple[Answers | None, Findings]:
        """Read it, and check it by itself."""
        found = Findings()
        return read_answers(piece, found), found

    def take(self, examined: tuple[Answers | None, Findings], findings: Findings) -> None:
        """Keep what was read."""
        self.answers = examined[0]
        findings.merge(examined[1])

    def close(self, findings: Findings) -> None:
        """Check that the features are those of the labelled rows."""
        if self.answers is not None and self.truth is not None and findings.valid:
            findings.extend(check_answers(self.truth, self.answers))

    def scores(self, system: str) -> Scores:
        """The features in the order of the reference, with the draws that only they can give."""
        truth, answers = self.truth, self.answers
        assert truth is not None  # only a valid submission is scored
        assert answers is not None
        choices = choices_of(self.settings)
        data = _data(system, truth, answers)
        settings = {"classes": len(data.classes), "definition": choices.options.point_biserial}
        own = FeatureDraws(data, choices)
        table = self._table(truth, own)
        transfer = {"leep", "otce_wd", "otce_wt"} - set(wanted_names(None, data.source))
        absent = transfer if data.correct is not None else {"accuracy", *transfer}  # what was sent does not allow these
        metrics = tuple(one.bind(**settings) for one in METRICS if one.name not in absent)
        position = (BY_POSITION,) if truth.ids is not None and answers.ids is None else ()
        return Scores(
            task=NAME,
            system=system,
            metrics=metrics,
            tables={metric.name: table for metric in metrics},
            primary=PRIMARY,
            settings={name: value for name, value in choices.as_dict.items() if name != "level"},
            digests={"submission": answers.digest, "reference": truth.digest},
            notes=(*data.notes, *position),
            kept=own,
        )

    def _table(self, truth: LabelledRows, own: FeatureDraws) -> UnitRows:
        described = {
            factor: table.column(factor, self._names(truth, table)) for table in self.tables for factor in table.levels
        }
        columns = {name: np.array(cells, np.str_) for name, cells in truth.columns.items()}
        cluster = next((name for name in CLUSTERS if name in columns and (columns[name] != "").any()), "")
        factors = {
            name: cells
            for name, cells in columns.items()
            if name not in (CLUSTER, *CLUSTERS) and 1 < len(np.unique(cells)) <= MOST_LEVELS
        }
        return UnitRows(
            UNIT,
            truth.names,
            (),
            np.zeros((len(truth.names), 0)),
            factors={**factors, **described},
            clusters=clusters_of(columns[cluster].tolist()) if cluster else None,
            cluster=cluster,
            attributes={**columns, **described},
            declared=frozenset(described),
            own=own,
        )

    @staticmethod
    def _names(truth: LabelledRows, table: FactorTable) -> Sequence[str]:
        """What a table of metadata calls the rows: by id or number, or by what they belong to."""
        if table.subject == ROW:
            return [str(row) for row in range(len(truth.names))]
        return truth.names if table.subject == ID else truth.columns.get(table.subject, [""] * len(truth.names))


def _data(system: str, truth: LabelledRows, answers: Answers) -> Data:
    """The features of each labelled row, and what else was sent of it."""
    rows = alignment(truth, answers)
    found = answers.found

    def of_rows(array: NDArray[Any] | None) -> NDArray[Any] | None:
        return array if array is None or rows is None else array[rows]

    features = found.features if rows is None else np.asarray(found.features[...])[rows]
    data = Data(
        name=system,
        features=features,
        classes=Classes.of(truth.labels),
        source=Source(of_rows(found.source_probabilities), found.source_features, found.source_labels),
        notes=(
            *(f"{found.name} also holds {name!r}, which is not used." for name in found.others[:5]),
            *((NO_GROUPS,) if found.groups is not None else ()),
        ),
    )
    return data.in_memory().with_predictions(of_rows(found.predictions), truth.labels)


def open_representation(
    inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
) -> RepresentationRun | None:
    """Read the labels; None if they cannot be trusted. Without a reference the features are only checked."""
    truth = None if inputs.reference is None else read_labelled_rows(inputs.reference, findings)
    if inputs.reference is not None and (truth is None or not findings.valid):
        return None
    tables = read_factor_tables(inputs.metadata, findings, (ID, ROW, *CLUSTERS))
    return RepresentationRun(inputs, settings, truth, tables)


def representation_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """A map of the similarities between classes."""
    own = analysis.scores.kept
    if not isinstance(own, FeatureDraws) or not own.made:
        return ()
    return (similarity_chart(next(iter(own.made.values()))),)


TASK: Final = Task(
    name=NAME,
    summary="Representation: how well a model's features represent labelled rows, by FERM, clustering and transfer",
    citation=FERM_PAPER,
    unit=UNIT,
    primary=PRIMARY,
    metrics=METRICS,
    open=open_representation,
    settings=tuple(setting for setting in SETTINGS if setting.name != "level"),
    figures=representation_figures,
    answers=AnswerFormat(
        "Features of the rows in a file of NumPy (.npz with the array `features`), PyTorch, Parquet, CSV "
        "or JSON lines, with ids or in the order of the data.",
        content="any",
    ),
)
