"""Ratings: a predicted number for each of several ratings of an item (H-21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from basanite.formats.items import FINITE, Cells, Items, Wanted, align_columns, column_problems, read_numbers
from basanite.formats.records import Place
from basanite.kernel import LevelRows, UnitRows
from basanite.metrics.ratings import FORMULA, METRICS, MRMSE, PLAN, RMSE, Rated, clip_to_scale, squared_errors
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.settings import names_list, number_range

RULE = "H-21"
CLUSTERS = ("restaurant", "source", "document")
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
EVERY: tuple[str, ...] = ()
"""No column is named, so that all columns that hold numbers are meant."""
USUAL_RANGE = (1.0, 5.0)


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The true ratings: an id and a number of the scale for each rating; an empty cell is a rating nobody gave."""
    low, high = settings["range"]
    wanted = Wanted(
        lambda cells: np.isnan(cells) | ((cells >= low) & (cells <= high)),
        f"no number from {low:g} to {high:g}",
        f"write a rating of the scale, leave the cell empty, or set range={low:g}..{high:g} to the scale you use",
    )
    return read_numbers(paths[0], REFERENCE, findings, wanted, chosen=settings["ratings"], text=CLUSTERS)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The predictions: an id and any finite number for each rating."""
    return read_numbers(path, SUBMISSION, findings, FINITE, text=CLUSTERS)


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Every rating has a column; predictions outside the scale are counted and told once (H-21, A18)."""
    truth, answer = pairs.references[0], pairs.answers[0]
    if truth is None:
        return
    findings.extend(column_problems(truth, answer, SUBMISSION, "rating"))
    if not findings.valid:
        return
    _, outside = _predictions(pairs.answers, truth.names, settings)
    if outside.any():
        first = pairs.answers[int(np.flatnonzero(outside.any(axis=1))[0])]
        low, high = settings["range"]
        message = f"{np.count_nonzero(outside)} predictions lie outside {low:g} to {high:g} and are clipped"
        findings.add(SUBMISSION.problem(answer.file, first.line, message, "stay in the range", severity="warn"))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """Squared errors of every item: all ratings side by side, and each by itself."""
    names = pairs.references[0].names
    truth = align_columns(pairs.references, names)
    predicted, outside = _predictions(pairs.answers, names, settings)
    table = squared_errors(Rated(pairs.units, truth, predicted))
    whole = pairs.table(tuple(f"{name} {what}" for name in names for what in ("squared error", "items")), table)
    missing, clips = int(np.isnan(truth).sum()), int(np.count_nonzero(outside))
    low, high = settings["range"]
    return Counted(
        tuple(replace(metric, range=(0.0, high - low)) for metric in METRICS),
        {MRMSE.name: whole, RMSE.name: _by_rating(pairs, names, table)},
        notes=(
            f"mrmse = {FORMULA}",
            f"predictions clipped to {low:g}..{high:g}: {clips} of {outside.size}",
            *((f"ratings missing in the reference, left out: {missing}",) if missing else ()),
        ),
        parts={MRMSE.name: {"ratings": len(names), "clipped": clips, "missing": missing}},
        signatures={MRMSE.name: f"{FORMULA}; predictions clipped to {low:g}..{high:g}"},
    )


def _predictions(
    cells: Sequence[Cells], names: Sequence[str], settings: Settings
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    return clip_to_scale(align_columns(cells, names), *settings["range"])


def _by_rating(pairs: Pairs, names: Sequence[str], table: NDArray[np.float64]) -> UnitRows:
    """Each rating by itself, over the items that have it."""
    levels = {}
    for at, name in enumerate(names):
        index = np.flatnonzero(table[:, 2 * at + 1])
        levels[name] = LevelRows(index, table[index, 2 * at : 2 * at + 2])
    return pairs.table(("squared error", "items"), np.zeros((len(pairs.units), 2)), {"target": levels})


SPEC = ItemSpec(
    name="ratings",
    unit="item",
    rule=RULE,
    primary=MRMSE.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
    check=check,
)
TASK = Task(
    name="ratings",
    summary="Predicted ratings: root mean squared error of each and its mean",
    citation=PLAN,
    unit="item",
    primary=MRMSE.name,
    metrics=METRICS,
    open=opener(SPEC),
    settings=(
        Setting("range", "The scale, as 1..5; predictions outside it are clipped.", number_range, USUAL_RANGE),
        Setting(
            "ratings",
            "The columns that are ratings, separated by commas. [default: all with numbers]",
            names_list,
            EVERY,
        ),
    ),
    answers=AnswerFormat(
        "One row for each item with its `id`, and one number in a column for each rating, as CSV, TSV, "
        "JSON lines or Parquet.",
        example=(
            "id,overall,food,ambiance,service,noise\n"
            "review001,3.20,4.10,3.99,5.26,4.53\n"
            "review002,3.79,2.08,1.02,2.31,2.07\n"
        ),
    ),
)
