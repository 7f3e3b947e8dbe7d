"""Labels: confidences for several classes of each instance, scored by how well they rank it (H-20)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.resampling import frame_of, weight_blocks
from basanite.analysis.results import Analysis
from basanite.figures import Figure, Table
from basanite.formats.items import FINITE, Cells, Items, Wanted, align_columns, column_problems, read_numbers
from basanite.formats.records import Place
from basanite.kernel import LevelRows, UnitRows
from basanite.metrics.retrieval.average_precision import (
    AP,
    AP11,
    MAP,
    MAP11,
    METRICS,
    PLAN,
    Confidences,
    draws_without_positives,
    rows,
)
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.settings import names_list, one_of, yes_or_no

RULE = "H-20"
CLUSTERS = ("film", "source")
EVERY: tuple[str, ...] = ()
"""No column is named, so that all columns that hold numbers are meant."""
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
LABEL = Wanted(lambda cells: (cells == 0) | (cells == 1), "neither 0 nor 1", "write 1 if the class applies, else 0")
PROBABILITY = Wanted(
    lambda cells: (cells >= 0) & (cells <= 1), "no probability", "write a number from 0 to 1, or set scale=margin"
)


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The true labels: an id, 0 or 1 for each class, and perhaps the film or source that an instance was cut from."""
    items = read_numbers(paths[0], REFERENCE, findings, LABEL, chosen=settings["classes"], text=CLUSTERS)
    if items is not None and items.content and settings["strict"]:
        names = items.content[0].names
        for name in _without_positives(items.content, names):
            message = f"class {name!r} has no positive, so its average precision is undefined"
            findings.add(REFERENCE.problem(items.file, None, message, "leave it out, or set strict=no", name))
    return items


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The confidences: an id and any finite number for each class; a declared probability must be one (A15)."""
    wanted = PROBABILITY if settings["scale"] == "probability" else FINITE
    return read_numbers(path, SUBMISSION, findings, wanted, text=CLUSTERS)


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Every class of the reference has a column; confidences outside 0..1 are told once (H-20)."""
    truth, answer = pairs.references[0], pairs.answers[0]
    if truth is None:
        return
    findings.extend(column_problems(truth, answer, SUBMISSION, "class"))
    if settings["scale"] != "any" or not findings.valid:
        return
    given = align_columns(pairs.answers, truth.names)
    outside = (given < 0) | (given > 1)
    if outside.any():
        first = pairs.answers[int(np.flatnonzero(outside.any(axis=1))[0])]
        message = f"{np.count_nonzero(outside)} confidences lie outside 0 to 1; they are ranked as they are"
        fix = "set scale=margin if they are margins"
        findings.add(SUBMISSION.problem(answer.file, first.line, message, fix, severity="warn"))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """Confidences and labels of every instance: all classes side by side, and each by itself."""
    names = pairs.references[0].names
    positive, confidence = align_columns(pairs.references, names) > 0, align_columns(pairs.answers, names)
    columns = (*(f"confidence {name}" for name in names), *(f"label {name}" for name in names))
    whole = pairs.table(columns, rows(Confidences(pairs.units, positive, confidence)))
    single = _by_class(pairs, names, positive, confidence)
    missing = _without_positives(pairs.references, names)
    notes = [f"class {name!r} has no positive: undefined, left out of the mean" for name in missing]
    parts = {"classes": len(names), "classes_without_positives": len(missing)}
    return Counted(
        METRICS,
        {MAP11.name: whole, MAP.name: whole, AP11.name: single, AP.name: single},
        notes=(*notes, "instances with the same confidence pass a threshold together"),
        parts={MAP11.name: parts, MAP.name: parts},
        signatures={
            MAP11.name: "11 recall levels, 10 tp >= t positives; ties grouped; mean over classes with positives",
            MAP.name: "sum of precision x step in recall; ties grouped; mean over classes with positives",
        },
    )


def _by_class(
    pairs: Pairs, names: Sequence[str], positive: NDArray[np.bool_], confidence: NDArray[np.float64]
) -> UnitRows:
    everything = np.arange(len(pairs.units))
    levels = {
        name: LevelRows(everything, np.column_stack([confidence[:, at], positive[:, at]]).astype(np.float64))
        for at, name in enumerate(names)
    }
    return pairs.table(("confidence", "label"), np.zeros((len(everything), 2)), {"class": levels})


def _without_positives(cells: Sequence[Cells], names: Sequence[str]) -> list[str]:
    table = align_columns(cells, names)
    return [name for name, column in zip(names, table.T, strict=True) if not (column == 1).any()]


def label_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """How many positives each class has, and how many draws had none of them (S-7)."""
    table = analysis.scores.tables.get(MAP11.name)
    if table is None:
        return ()
    half = len(table.columns) // 2
    names = [column.removeprefix("label ") for column in table.columns[half:]]
    positives = table.rows[:, half:].sum(axis=0).astype(int).tolist()
    absent = _absent(table, analysis).tolist()
    note = f"A class without positives in a draw leaves the mean of that draw. Draws: {analysis.design.draws}."
    found = list(zip(names, positives, absent, strict=True))
    return (Table("Classes", ("class", "positives", "draws without positives"), found, note=note),)


def _absent(table: UnitRows, analysis: Analysis) -> NDArray[np.int64]:
    frame, design = frame_of(table), analysis.design
    blocks = weight_blocks(frame.size, draws=design.draws, seed=design.seed, kind=frame.kind)
    found = [draws_without_positives(table.rows, block[:, frame.place]) for block in blocks]
    return np.asarray(np.sum(found, axis=0), dtype=np.int64)


SPEC = ItemSpec(
    name="labels",
    unit="instance",
    rule=RULE,
    primary=MAP11.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
    check=check,
)
SETTINGS = (
    Setting(
        "classes", "The columns that are classes, separated by commas. [default: all with numbers]", names_list, EVERY
    ),
    Setting(
        "scale",
        "The kind of confidences: margin, probability (from 0 to 1) or any (values outside 0 to 1 are reported).",
        partial(one_of, ("any", "margin", "probability")),
        "any",
    ),
    Setting("strict", "Refuse a reference in which a class has no positive.", yes_or_no, False),
)
TASK = Task(
    name="labels",
    summary="Multi-label classification: average precision of each class and its mean",
    citation=PLAN,
    unit="instance",
    primary=MAP11.name,
    metrics=METRICS,
    open=opener(SPEC),
    settings=SETTINGS,
    figures=label_figures,
    answers=AnswerFormat(
        "One row for each item with its `id`, and one column of confidences for each class, as CSV, TSV, "
        "JSON lines or Parquet.",
        example=(
            "id,AnswerPhone,DriveCar,Eat,Kiss,Run,SitDown\n"
            "clip001,0.367,0.155,0.501,0.799,0.449,0.208\n"
            "clip002,0.278,0.128,0.516,0.665,0.096,0.235\n"
        ),
    ),
)
