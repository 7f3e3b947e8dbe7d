"""Scores of classes beside the answers of a classifier: which column is whose, what they give, how reliable they are.

Columns are told by their names: a class, a class after a prefix (`score_cat`, `p_cat`), or one column for the one class
of two that is looked for. What fits only in part is left out with a warning, and never guessed (D-4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite import __version__
from basanite.analysis.interval_methods import exact_bounds
from basanite.analysis.results import Analysis
from basanite.errors import SettingError
from basanite.figures import Axis, Chart, Figure, Table
from basanite.formats.class_files import POSITION, ClassItems
from basanite.formats.class_files import SCORES as ARRAYS
from basanite.formats.items import numbers
from basanite.formats.records import Place
from basanite.kernel import LevelRows, Metric, UnitRows
from basanite.metrics.class_scores import (
    BIN_COLUMNS,
    BY_CLASS,
    ECE,
    METRICS,
    OF_PROBABILITIES,
    OF_SCORES,
    SUMS,
    ScoredClasses,
    bins_of,
    probability_rows,
    rank_rows,
)
from basanite.problems import Findings, Problem
from basanite.tasks.items import Counted, Pairs, Settings

Floats = NDArray[np.float64]
SUBMISSION = Place("submission", "T-22")
SCORE_METRICS: Final[Mapping[str, Metric]] = {metric.name: metric for metric in METRICS}
PREFIXES: Final = ("y_score_", "y_proba_", "y_prob_", "probability_", "proba_", "prob_", "score_", "p_")
SINGLE: Final = (*ARRAYS, "prob", "p")
POSITIVE: Final = frozenset(("1", "+1", "true", "yes", "y", "positive", "pos"))
NEGATIVE: Final = frozenset(("0", "-1", "false", "no", "n", "negative", "neg"))
HOW_TO_SCORE: Final = "give the submission a column score_CLASS for each class, or one column score where there are two"
CLOSE: Final = 0.01
"""How far probabilities of an item may be from 1 together: what rounding leaves of them."""
MOST_CELLS: Final = 1 << 22
"""Beyond so many items times classes nothing is ranked, and beyond a quarter of it no class by itself."""


@dataclass(frozen=True)
class ClassScores:
    """Scores of the items of a submission, in its order: a column for each class."""

    classes: tuple[str, ...]
    scores: Floats
    columns: tuple[str, ...]
    """The columns of the file that they come from."""
    positive: str | None
    notes: tuple[str, ...] = ()
    not_probable: str = ""
    """Why they are no probabilities; "" if they are."""


def find_scores(
    answers: ClassItems, truth: Sequence[str], settings: Settings, findings: Findings
) -> ClassScores | None:
    """The scores in a submission by the names of their columns; None where it has none that can be used."""
    classes = sorted({*truth, *answers.content}, key=_class_order)
    if settings["positive"] is not None and settings["positive"] not in classes:
        raise SettingError(f"No item has the class {settings['positive']!r}, so it cannot be positive.")
    by_class = _columns_by_class(answers.others, classes)
    notes: tuple[str, ...] = ()
    if not by_class and (unnamed := [name for name in answers.others if name.startswith(POSITION)]):
        true = sorted(set(truth), key=_class_order)
        if len(unnamed) != len(true):
            message = f"{len(unnamed)} columns of scores have no names, and there are {len(true)} classes"
            _warn(answers, message, "add an array classes that names the columns", findings)
            return None
        by_class = dict(zip(true, unnamed, strict=True))
        notes = (f"columns of scores are taken to be those of the classes in order: {', '.join(true)}",)
    single = [name for name in answers.others if name.casefold() in SINGLE]
    if len(classes) <= 2 and len(by_class) == 1 and by_class.keys() <= set(classes):
        return _single_scores(answers, next(iter(by_class.values())), classes, next(iter(by_class)), findings)
    if by_class:
        missing = sorted(set(truth) - by_class.keys())
        if missing:
            message = f"there is no column of scores for the class {missing[0]!r}, so scores are left out"
            _warn(answers, message, f"give one for each class; there are: {', '.join(by_class.values())}", findings)
            return None
        return _scores_of_all(answers, by_class, settings, notes, findings)
    if len(single) != 1:
        return None
    if len(classes) > 2:
        message = f"one column {single[0]!r} cannot score {len(classes)} classes, so scores are left out"
        _warn(answers, message, "give a column score_CLASS for each class", findings)
        return None
    positive = settings["positive"] or _positive_of(classes)
    if positive is None:
        message = f"nothing says of which class {single[0]!r} is the score: {' or '.join(map(repr, classes))}"
        fix = f"call the column score_{classes[-1]} if it is of {classes[-1]!r}"
        hint = f"or --set positive={classes[-1]}"
        findings.add(SUBMISSION.problem(answers.file, 1, message, fix, single[0], hint=hint))
        return None
    return _single_scores(answers, single[0], classes, positive, findings)


def lacking_scores(found: ClassScores | None, answers: ClassItems, asked: Sequence[str]) -> Iterator[Problem]:
    """A problem where a metric was asked for, perhaps as the headline, that these scores cannot give."""
    of_probabilities = {metric.name for metric in OF_PROBABILITIES}
    for name in asked:
        if name in SCORE_METRICS and found is None:
            message = f"{SCORE_METRICS[name].display_name} needs scores of the classes, and there are none"
            yield SUBMISSION.problem(answers.file, 1, message, HOW_TO_SCORE)
            return
        if name in of_probabilities and found is not None and found.not_probable:
            message = f"{SCORE_METRICS[name].display_name} needs probabilities, and {found.not_probable}"
            yield SUBMISSION.problem(answers.file, 1, message, "write numbers from 0 to 1 that add up to 1")
            return


def holds_fractions(cells: Sequence[Any]) -> bool:
    """Whether a column holds numbers that are not all whole: it is no factor then."""
    found = numbers(cells)
    return bool(np.isfinite(found).all() and (found != np.floor(found)).any())


def _class_order(name: str) -> tuple[bool, int, str]:
    """Whole numbers in their order, then texts in theirs: the order in which scikit-learn has classes."""
    whole = name.removeprefix("-").isdecimal() and len(name) < 20
    return not whole, int(name) if whole else 0, name


def _columns_by_class(others: Mapping[str, Sequence[Any]], classes: Sequence[str]) -> dict[str, str]:
    """The column of each class: called like the class, or so after a prefix."""
    found: dict[str, str] = {}
    for name in others:
        own = next((name[len(prefix) :] for prefix in PREFIXES if name.casefold().startswith(prefix)), "")
        if name in classes or own:
            found.setdefault(name if name in classes else own, name)
    return found


def _positive_of(classes: Sequence[str]) -> str | None:
    """The class that people mean by positive, where the names of two leave no doubt."""
    yes = [name for name in classes if name.casefold() in POSITIVE]
    no = [name for name in classes if name.casefold() in NEGATIVE]
    if len(yes) == 1 and len(yes) + len(no) == len(classes):
        return yes[0]
    return (
        {"0": "1", "-1": "1", "false": "true", "no": "yes"}.get(no[0].casefold()) if len(no) == len(classes) else None
    )


def _warn(answers: ClassItems, message: str, fix: str, findings: Findings) -> None:
    findings.add(SUBMISSION.problem(answers.file, 1, message, fix, severity="warn"))


def _single_scores(
    answers: ClassItems, column: str, classes: Sequence[str], positive: str, findings: Findings
) -> ClassScores | None:
    """Scores of two classes from those of one: what is left of 1, or the opposite where they are no probabilities."""
    table = _numbers(answers, [column], findings)
    if table is None:
        return None
    score = table[:, 0]
    other = next((name for name in classes if name != positive), "(other)")
    outside = np.flatnonzero((score < 0) | (score > 1))
    told = _not_probable(answers, int(outside[0]), f"{column} is {score[outside[0]]:g}") if len(outside) else ""
    pair = np.column_stack([-score if told else 1 - score, score])
    notes = (f"scores are of the class {positive!r}",)
    return ClassScores((other, positive), pair, (column,), positive, notes, told)


def _scores_of_all(
    answers: ClassItems, by_class: Mapping[str, str], settings: Settings, notes: tuple[str, ...], findings: Findings
) -> ClassScores | None:
    table = _numbers(answers, list(by_class.values()), findings)
    if table is None:
        return None
    names = tuple(by_class)
    total = table.sum(axis=1)
    odd = np.flatnonzero((table < 0).any(axis=1) | (table > 1).any(axis=1) | (np.abs(total - 1) > CLOSE))
    told = _not_probable(answers, int(odd[0]), f"they sum to {total[odd[0]]:g}") if len(odd) else ""
    best = table.argmax(axis=1)
    given = np.array([names.index(name) if name in names else -1 for name in answers.content])
    apart = int(np.count_nonzero((given < 0) | (table.max(axis=1) > table[np.arange(len(table)), given])))
    if apart > len(table) / 2:
        message = f"{apart} of {len(table)} answers are not the class of the highest score"
        first = int(np.argmax(best != given))
        fix = "see whether the columns of scores are called by the right classes"
        findings.add(SUBMISSION.problem(answers.file, answers.lines[first], message, fix, severity="warn"))
    positive = settings["positive"] or (_positive_of(names) if len(names) == 2 else None)
    return ClassScores(names, table, tuple(by_class.values()), positive, notes, told)


def _not_probable(answers: ClassItems, row: int, what: str) -> str:
    place = f"line {answers.lines[row]}: {what}"
    return f"scores are not probabilities ({place})"


def _numbers(answers: ClassItems, columns: Sequence[str], findings: Findings) -> Floats | None:
    """The numbers in some columns; one problem tells the first cell that holds none, and how many do."""
    table = np.column_stack([numbers(answers.others[name]) for name in columns])
    wrong = np.argwhere(~np.isfinite(table))
    if not len(wrong):
        return table
    row, column = wrong[0].tolist()
    more = f"; neither are {len(wrong) - 1} more" if len(wrong) > 1 else ""
    message = f"{columns[column]} is not a finite number{more}"
    found = answers.others[columns[column]][row]
    findings.add(SUBMISSION.problem(answers.file, answers.lines[row], message, "write a number like 0.25", found))
    return None


def count_scores(found: ClassScores, pairs: Pairs, ids: Sequence[str], settings: Settings) -> Counted:
    """What scores give: sums where they are probabilities, and how they rank items of each class."""
    place = {name: at for at, name in enumerate(ids)}
    number = {name: at for at, name in enumerate(found.classes)}
    block = ScoredClasses(
        pairs.units,
        np.array([number[name] for name in pairs.references], dtype=np.int64),
        found.scores[[place[name] for name in pairs.units]],
        None if found.positive is None else number[found.positive],
        settings["bins"],
    )
    tables: dict[str, UnitRows] = {}
    if not found.not_probable:
        bins = [f"{column} {at}" for at in range(1, block.bins + 1) for column in BIN_COLUMNS]
        table = pairs.table((*SUMS, *bins), probability_rows(block))
        tables |= {metric.name: table for metric in OF_PROBABILITIES}
    notes = list(found.notes)
    if found.not_probable:
        notes.append(f"{found.not_probable}, so log loss, Brier score and ECE are left out")
    if block.scores.size > MOST_CELLS:
        notes.append(f"{len(pairs.units)} items and {len(found.classes)} classes are too many to be ranked by score")
    else:
        ranked = rank_rows(block)
        half = [f"{what} {at}" for what in ("score", "true") for at in range(1, ranked.shape[1] // 2 + 1)]
        whole = pairs.table(half, ranked)
        tables |= {metric.name: whole for metric in OF_SCORES}
        if block.scores.size <= MOST_CELLS // 4:
            single = pairs.table(("score", "true"), np.zeros((len(pairs.units), 2)), {"class": _levels(found, block)})
            tables |= {metric.name: single for metric in BY_CLASS}
    metrics = tuple(metric for metric in METRICS if metric.name in tables)
    return Counted(
        metrics,
        tables,
        notes=tuple(notes),
        signatures={metric.name: _signature(metric, found, settings) for metric in metrics},
    )


def _levels(found: ClassScores, block: ScoredClasses) -> Mapping[str, LevelRows]:
    everything = np.arange(len(block.truth))
    return {
        name: LevelRows(everything, np.column_stack([block.scores[:, at], block.truth == at]).astype(np.float64))
        for at, name in enumerate(found.classes)
        if (block.truth == at).any()
    }


def _signature(metric: Metric, found: ClassScores, settings: Settings) -> str:
    of = "each class against the rest" if found.positive is None else f"positive:{found.positive}"
    bins = f"|bins:{settings['bins']}" if metric is ECE else ""
    return f"{metric.name}|{of}{bins}|basanite:{__version__}"


def reliability_figures(analysis: Analysis) -> Iterator[Figure]:
    """The reliability diagram: how often answers are right that were given with a confidence."""
    table = analysis.scores.tables.get(ECE.name)
    if table is None or ECE.name not in analysis.values:
        return
    rows = list(_reliability_rows(table.rows.sum(axis=0)))
    error = analysis.values[ECE.name].value
    farthest = max(rows, key=lambda row: abs(row[3] - row[2]))
    summary = (
        f"Confidence and share of hits differ by {error:.4f} on average (ECE), and most in the bin {farthest[0]}: "
        f"confidence {farthest[2]:.3f}, hits {farthest[3]:.3f}. On the diagonal they would be equal."
    )
    columns = ("bin", "items", "confidence", "share of hits", "low", "high")
    data = Table("Reliability", columns, rows, "Low and high: exact 95% CIs of the share in each bin.")
    yield Chart(
        title="Reliability diagram",
        summary=summary,
        kind="points",
        data=data,
        x=Axis("confidence", "mean confidence of the bin", low=0.0, high=1.0),
        y=Axis("share of hits", "share of hits", low=0.0, high=1.0),
        low="low",
        high="high",
        guides=(("perfect", ((0.0, 0.0), (1.0, 1.0))),),
    )


def _reliability_rows(sums: Floats) -> Iterator[tuple[str, int, float, float, float, float]]:
    """The bins that hold items: how many, their mean confidence, and their share of hits with an interval."""
    bins = bins_of(sums)
    for at, (items, confidence, hits) in enumerate(bins.tolist()):
        if items:
            low, high = exact_bounds(hits / items, items, 0.95)
            name = f"{at / len(bins):.3g} to {(at + 1) / len(bins):.3g}"
            yield name, int(items), confidence / items, hits / items, low, high
