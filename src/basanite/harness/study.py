"""One task of an evaluation as curves and layers see it: which teams have a deep system, and the steps to ask for.

Everything is a step of the engine with the plan's own splits, seeds and modules, so it is done once, kept in the result
folder beside the runs, and shares what the runs have made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.data.splits import split_name, strata_for
from basanite.harness.module_entry import ModuleChoice
from basanite.harness.pipeline import Builder, Learning, Source
from basanite.harness.plan import TaskPlan
from basanite.harness.results import ResultFolder
from basanite.harness.steps.graph import Outcome, Step
from basanite.harness.steps.layout import Layout, blocks, gather_blocks, part, rows_in_order
from basanite.harness.steps.store import WARNINGS, Sequences, Store, whole
from basanite.harness.steps.training import NOT_PROVIDED, STILL, Reals, dense, effective_rank
from basanite.representation.measures.all_measures import measure

MOST_MEASURED: Final = 4000
"""Test rows that are measured: distances of all pairs are among the measures."""
MEASURES: Final = (
    "ferm1",
    "ferm2",
    "ferm3",
    "ferm4",
    "gap",
    "collapse",
    "silhouette",
    "davies_bouldin",
    "calinski_harabasz",
    "dunn",
    "rs",
    "point_biserial",
    "c_root_k",
)


def join_layers(codes: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """The codes of the first layers side by side (A39)."""
    given = [codes[f"codes_{layer}"] for layer in range(1, layers + 1)]
    parts = [windows(part) for part in given]
    total = parts[0].shape[0]

    def together() -> Iterator[Any]:
        for block in blocks(0, total):
            yield np.hstack([dense(part[block]) for part in parts])

    matrix = gather_blocks(together(), total, "joined layers")
    return {"features": Sequences(matrix, given[0].offsets) if isinstance(given[0], Sequences) else matrix}


def reorder_rows(source: Mapping[str, Any], order: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The rows of a matrix in another order."""
    matrix, rows = source[part], order["rows"]
    in_new_order = (matrix[rows[block]] for block in blocks(0, len(rows)))
    return {"features": gather_blocks(in_new_order, len(rows), "rows in another order")}


def reorder_values(labels: Mapping[str, Any], order: Mapping[str, Any]) -> dict[str, Any]:
    """Values in another order; the test rows at its end have none here."""
    return {"values": labels["values"][order["rows"][: len(labels["values"])]]}


def describe_codes(codes: Mapping[str, Any], part: str) -> dict[str, Any]:
    """How much a code holds: dimensions, active and dead units, sparsity, effective rank (H-36)."""
    matrix = windows(codes[part])
    held = _Sums(matrix.shape[1])
    for block in blocks(0, matrix.shape[0]):
        held.add(dense(matrix[block]))
    return held.figures()


class _Sums:
    """What is summed over the rows of a code."""

    def __init__(self, units: int) -> None:
        self.rows, self.sparse, self.zeros = 0, 0.0, 0
        self.lowest, self.highest = np.full(units, np.inf), np.full(units, -np.inf)
        self.sums, self.products = np.zeros(units), np.zeros((units, units))

    def add(self, block: Reals) -> None:
        """Take some rows in."""
        self.rows += len(block)
        self.lowest, self.highest = (
            np.minimum(self.lowest, block.min(axis=0)),
            np.maximum(self.highest, block.max(axis=0)),
        )
        self.sums += block.sum(axis=0)
        self.products += block.T @ block
        self.zeros += int((block == 0).sum())
        self.sparse += float(sparseness(block).sum())

    def figures(self) -> dict[str, Any]:
        """The figures of all rows."""
        units = len(self.sums)
        largest = max(float(np.abs(self.highest).max()), float(np.abs(self.lowest).max()))
        active = int((self.highest - self.lowest > STILL * largest).sum())
        means = self.sums / self.rows
        spread = self.products / self.rows - np.outer(means, means)
        return {
            "dimensions": units,
            "active": active,
            "dead": units - active,
            "zeros": self.zeros / (self.rows * units),
            "sparsity": self.sparse / self.rows,
            "effective_rank": effective_rank(spread),
        }


def sparseness(rows: Reals) -> Reals:
    """How few units carry each row: 0 where all are equally large, 1 where one carries all (Vinje and Gallant, 2000).

    >>> sparseness(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 2.0]])).tolist()
    [0.0, 1.0]
    """
    units = rows.shape[1]
    if units < 2:
        return np.zeros(len(rows))
    squares = (rows**2).mean(axis=1)
    evenness = np.divide(np.abs(rows).mean(axis=1) ** 2, squares, out=np.ones(len(rows)), where=squares > 0)
    return np.asarray((1 - evenness) / (1 - 1 / units))


def measure_codes(codes: Mapping[str, Any], classes: Mapping[str, Any], part: str, seen: int) -> dict[str, Any]:
    """The measures of representations on the test rows, whose classes are known to the evaluation team alone."""
    kept = np.flatnonzero(classes["values"] >= 0)[:MOST_MEASURED]
    rows = dense(whole(codes[part][np.sort(seen + kept)]))
    labels = classes["values"][np.sort(kept)]
    found = measure(np.ascontiguousarray(rows, np.float64), labels, names=MEASURES)
    values = {name: one.value if np.isfinite(one.value) else None for name, one in found.values.items()}
    return {"values": values, "flags": {name: list(one.flags) for name, one in found.values.items() if one.flags}}


def windows(matrix: Any) -> Any:
    """The rows of a matrix; of items with several windows, all windows."""
    return matrix.rows if isinstance(matrix, Sequences) else matrix


Rows = NDArray[np.int64]
WHOLE: Final = 0
"""The number that stands for what a classifier gets, which need not be a single layer."""


@dataclass(frozen=True)
class Deep:
    """A team with a deep system whose run ended well: its parts."""

    team: str
    preprocessor: ModuleChoice
    learner: ModuleChoice
    linear: ModuleChoice

    @property
    def run(self) -> str:
        """Its run of the full system."""
        return f"6{self.team}"


class Study:
    """Makes the steps that curves and layers of one task need, and reads what they gave."""

    def __init__(self, builder: Builder, task: TaskPlan, result: ResultFolder, store: Store) -> None:
        self.builder, self.task, self.result, self.store = builder, task, result, store
        self.outcomes: dict[str, Outcome] = {}

    @property
    def deep(self) -> tuple[Deep, ...]:
        """The teams whose full system ran."""
        done = set(self.result.done(self.task.name))
        teams = [team.letter for team in self.builder.evaluation.plan.teams]
        systems = {team: self.builder.system(self.task, team) for team in teams if f"6{team}" in done}
        return tuple(
            Deep(team, system.preprocessor, system.learner, system.linear)
            for team, system in systems.items()
            if system.preprocessor and system.learner and system.linear
        )

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits of the task, one or one for each target."""
        return tuple(dict.fromkeys(split_name(self.task, target) for target in self.task.targets))

    def features(self, deep: Deep, split: str) -> Source:
        """The team's preprocessed rows."""
        return self.builder.features(self.task, split, deep.preprocessor)

    def codes(self, deep: Deep, split: str, *, layer: int = WHOLE, share: float = 1.0) -> Source:
        """Codes of a layer by a learner that got a share of the rows, a stratified beginning of them (A38)."""
        features = self.features(deep, split)
        made = self.builder.codes(
            self.task, split, features, Learning(deep.learner, deep.team, layer=layer, share=share)
        )
        if share in (0.0, 1.0):
            return made
        inputs = {**made.step.inputs, "order": self.order(split)}
        return replace(made, step=replace(made.step, inputs=inputs))

    def codes_up_to(self, deep: Deep, split: str, layers: int) -> Source:
        """The codes of the first layers side by side."""
        codes = self.codes(deep, split, layer=1)
        if layers == 1:
            return codes
        name = f"join {self.task.name}/{split} {deep.team} 1..{layers}"
        return Source(
            Step(name, join_layers, {"codes": codes.step}, {"layers": layers}, mapped=True), "features", "dense"
        )

    def classifier_step(self, deep: Deep, target: str, source: Source) -> Step:
        """The team's linear classifier on these rows, as in its run."""
        return self.builder.classify(self.task, target, source, deep.linear, deep.run)

    def classifier_step_with_share(self, deep: Deep, target: str, share: float) -> Step:
        """The same with a share of the labelled rows of each fold; the others choose parameters with the rest (A38)."""
        source = self.codes(deep, split_name(self.task, target))
        whole = self.classifier_step(deep, target, source)
        if share == 1.0:
            return whole
        split = split_name(self.task, target)
        order, layout = self._stratified_folds(split, share)
        rows = Step(
            f"reorder {whole.name} {share:g}",
            reorder_rows,
            {"source": source.step, "order": order},
            {"part": source.part},
            mapped=True,
        )
        labels = Step(
            f"relabel {whole.name} {share:g}", reorder_values, {"labels": whole.inputs["labels"], "order": order}
        )
        parameters = {**whole.parameters, "layout": layout.plain(), "part": "features"}
        return replace(
            whole, name=f"{whole.name} {share:g}", inputs={"source": rows, "labels": labels}, parameters=parameters
        )

    def order(self, split: str) -> Step:
        """An order of the rows that may be learned from of which every beginning is stratified."""
        classes = self._classes(split)[: self.layout(split).visible]
        dice = self.builder.evaluation.seeds.generator("share", self.task.name, split)
        return self._rows("order", split, nested_order(classes, dice))

    def classes(self, split: str) -> Step:
        """The classes of the test rows, for measures of representations."""
        values = self._classes(split)[self.layout(split).visible :]
        numbers = np.asarray(
            values if values.min(initial=0) < 0 else np.unique(values, return_inverse=True)[1], np.int64
        )
        return self._add_rows("classes", split, numbers, "values")

    def layout(self, split: str) -> Layout:
        """The sizes of the sets."""
        return self.builder.layout(self.task, split)

    def layers(self, deep: Deep, split: str) -> int:
        """How many layers the learner has, after its step has run."""
        return int(self.store.load(self.codes(deep, split).step.key, mapped=True)["layers"])

    def predictions(self, steps: Mapping[str, Step]) -> tuple[dict[str, Any] | None, str]:
        """Scores of the test rows for every target, or why there are none."""
        bad = next((step for step in steps.values() if not self.outcomes[step.key].good), None)
        if bad is not None:
            return None, self._reason(bad)
        return {target: self.store.load(step.key)["scores"] for target, step in steps.items()}, ""

    def value(self, step: Step) -> dict[str, Any] | None:
        """What a step gave, without what libraries warned of; None if it failed."""
        if not self.outcomes[step.key].good:
            return None
        return {name: part for name, part in self.store.load(step.key).items() if name != WARNINGS}

    def _reason(self, step: Step) -> str:
        outcome = self.outcomes[step.key]
        worse = next((other for other in step.inputs.values() if not self.outcomes[other.key].good), None)
        return outcome.reason.rpartition(NOT_PROVIDED)[2] if worse is None else self._reason(worse)

    def _stratified_folds(self, split: str, share: float) -> tuple[Step, Layout]:
        """Rows so that each fold is its own stratified beginning, and the rest of it validates."""
        layout, classes = self.layout(split), self._classes(split)
        dice = self.builder.evaluation.seeds.generator("labelled", self.task.name, split)
        kept, left = [], []
        for fold in range(len(layout.folds)):
            rows = layout.fold(fold)
            order = rows[nested_order(classes[rows], dice)]
            count = max(1, round(share * len(rows)))
            kept.append(order[:count])
            left.append(np.sort(order[count:]))
        rest = np.arange(layout.dealt, layout.visible + layout.test)
        made = Layout(tuple(map(len, kept)), layout.validation + sum(map(len, left)), layout.test)
        return self._rows(f"labelled {share:g}", split, np.concatenate([*kept, *left, rest])), made

    def _classes(self, split: str) -> NDArray[Any]:
        """The strata of all rows of a split, in the order of its matrices."""
        evaluation = self.builder.evaluation
        rows = rows_in_order(evaluation.partitions[self.task.name][split])
        return np.asarray(strata_for(self.task, evaluation.data[self.task.name], split)[rows])

    def _rows(self, kind: str, split: str, rows: Rows) -> Step:
        return self._add_rows(kind, split, rows, "rows")

    def _add_rows(self, kind: str, split: str, values: Rows, name: str) -> Step:
        held = np.ascontiguousarray(values, "<i8")
        given = part(f"{kind} {self.task.name}/{split}", kind, hashlib.sha256(held.tobytes()).hexdigest(), {name: held})
        given.lay(self.store)
        return given.step


def nested_order(classes: NDArray[Any], dice: np.random.Generator) -> Rows:
    """Rows in an order of which every beginning has the classes of the whole, as nearly as can be.

    >>> order = nested_order(np.array([0, 0, 0, 0, 1, 1]), np.random.default_rng(0))
    >>> [int((order[:3] < 4).sum()), int((order < 4).sum())]
    [2, 4]
    """
    _, inverse = np.unique(classes, return_inverse=True)
    place = np.empty(len(classes))
    for number in range(inverse.max(initial=-1) + 1):
        members = dice.permutation(np.flatnonzero(inverse == number))
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.lexsort((inverse, place)).astype(np.int64)
