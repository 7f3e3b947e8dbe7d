"""Classification: one class for each item, scored by precision, recall and F of the classes and their means (T-7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from basanite import __version__
from basanite.analysis.results import Analysis
from basanite.errors import SettingError
from basanite.figures import Cell, Extract, Figure, Table
from basanite.formats.class_files import ClassItems, read_classes
from basanite.formats.items import Items
from basanite.formats.records import Place
from basanite.kernel import LevelRows, Metric, UnitRows
from basanite.metrics.classification import (
    AVERAGES,
    BY_CLASS,
    CLASS_COLUMNS,
    F1_MACRO,
    F_BETA,
    MCC,
    METRICS,
    OF_ALL_CLASSES,
    OVERALL,
    WHOLE,
    WITH_BETA,
    Labels,
    class_rows,
    confusion,
    statistics,
)
from basanite.problems import Findings, Problem
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.class_scores import (
    SCORE_METRICS,
    ClassScores,
    count_scores,
    find_scores,
    holds_fractions,
    lacking_scores,
    reliability_figures,
)
from basanite.tasks.explanations.classification import EXPLANATIONS
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures
from basanite.tasks.settings import column_name, names_list, number_or_nan, one_of, whole_number

RULE = "T-7"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document", "source")
UNDEFINED = {"nan": float("nan"), "0": 0.0, "1": 1.0}
MOST_NUMBERS = 1 << 26
"""Numbers in the table of rows (512 MiB); more items times classes than that is refused."""
SHOWN = 20
"""Classes of the confusion table; the smaller ones stand together as others."""
NAMED = 5
OTHERS = "(others)"
STRANGE = "(not in the reference)"


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The class of each item, and what else is known of it."""
    return read_classes(paths[0], "truth", REFERENCE, findings)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The class that a system gave each item, and its scores of classes if there are any."""
    return read_classes(path, "answers", SUBMISSION, findings)


class ClassificationRun(ItemRun):
    """A submission of one class for each item; without a reference its file also holds the true classes."""

    scored: ClassScores | None = None

    def examine(self, piece: Path) -> tuple[Items | None, Findings]:
        """Read it, with the true classes beside the answers where no other file has them."""
        if self.inputs.reference is not None:
            return super().examine(piece)
        found = Findings(self._limit)
        return read_classes(piece, "both", SUBMISSION, found), found

    def take(self, examined: tuple[Items | None, Findings], findings: Findings) -> None:
        """Keep what was read."""
        super().take(examined, findings)
        if self.inputs.reference is None and isinstance(self.answers, ClassItems):
            self.reference = self.answers.truth
            self.answers = replace(self.answers, numbered=False)  # one row holds both, so nothing is paired

    def close(self, findings: Findings) -> None:
        """Check the whole; classes that only the answers have are reported, for most are misspelt."""
        if self.answers is not None and self.reference is not None and self._is_half_numbered(findings):
            return
        super().close(findings)
        if self.answers is not None and self.reference is not None:
            findings.extend(self._strange(self.answers, set(self.reference.content)))
            findings.extend(self._too_many(self.answers.file, {*self.reference.content, STRANGE}))
        if findings.valid and isinstance(self.answers, ClassItems) and self.reference is not None:
            self._take_scores(self.answers, self.reference, findings)

    def _is_half_numbered(self, findings: Findings) -> bool:
        """Whether one file has ids and the other none: nothing says then which rows belong together (D-4)."""
        truth, answers = self.reference, self.answers
        assert truth is not None and answers is not None  # noqa: PT018 - anyone who asks has both
        if self.inputs.reference is None or truth.numbered == answers.numbered or not (truth.ids and answers.ids):
            return False
        lacking, having = (truth.file, answers.file) if truth.numbered else (answers.file, truth.file)
        message = f"{having} has ids and {lacking} has none, so nothing says which rows belong together"
        fix = "give both a column id, or give both without ids in the same order"
        findings.add(SUBMISSION.problem(answers.file, 1, message, fix))
        return True

    def _take_scores(self, answers: ClassItems, reference: Items, findings: Findings) -> None:
        """Find the scores; columns of numbers are no factors of a reference that stands in the same file."""
        self.scored = find_scores(answers, reference.content, self.settings, findings)
        findings.extend(lacking_scores(self.scored, answers, self.inputs.metrics if findings.valid else ()))
        if self.inputs.reference is None:
            numbers = {name for name, cells in answers.others.items() if holds_fractions(cells)}
            left = numbers.union(self.scored.columns if self.scored else ())
            kept = {name: cells for name, cells in reference.columns.items() if name not in left}
            self.reference = replace(reference, columns=kept)

    def count_pairs(self, pairs: Pairs) -> Counted:
        """What is counted of the answers, and of their scores."""
        counted = super().count_pairs(pairs)
        if self.scored is None or self.answers is None:
            return counted
        of_scores = count_scores(self.scored, pairs, self.answers.ids, self.settings)
        return replace(
            counted,
            metrics=(*counted.metrics, *of_scores.metrics),
            tables={**counted.tables, **of_scores.tables},
            notes=(*counted.notes, *of_scores.notes),
            signatures={**counted.signatures, **of_scores.signatures},
        )

    def _strange(self, answers: Items, known: set[str]) -> Iterator[Problem]:
        told: set[str] = set()
        for name, line in zip(answers.content, answers.lines, strict=True):
            if name not in known and name not in told:
                told.add(name)
                message, fix = f"class {name!r} does not occur in the reference", "see whether it is misspelt"
                yield SUBMISSION.problem(answers.file, line, message, fix, name, severity="warn")

    def _too_many(self, file: str, classes: set[str]) -> Iterator[Problem]:
        items = len(self.reference.ids) if self.reference is not None else 0
        number = len(self.settings["classes"] or classes)
        if items * (len(WHOLE) + len(CLASS_COLUMNS) * number) > MOST_NUMBERS:
            message = f"{number} classes of {items} items are too many to be scored at once"
            fix = f"score at most {MOST_NUMBERS // items // len(CLASS_COLUMNS)} of them, or give fewer items"
            yield SUBMISSION.problem(file, None, message, fix, hint="--set classes=…")


def count(pairs: Pairs, settings: Settings) -> Counted:
    """What each item contributes to its class and to the one it was given."""
    classes = _classes(pairs, settings)
    block = labels_block(pairs, classes, strange=-1 if settings["classes"] else len(classes) - 1)
    names = [f"{column} {name}" for name in classes for column in CLASS_COLUMNS]
    whole = pairs.table((*WHOLE, *names), statistics(block))
    single = _by_class(pairs, classes, block)
    metrics = tuple(_bind_metric(metric, settings) for metric in _metrics_asked(settings))
    tables = {metric.name: whole if metric.overall else single for metric in metrics}
    totals = whole.rows.sum(axis=0)[len(WHOLE) :].reshape(-1, len(CLASS_COLUMNS))
    flags = _flags(classes, totals, settings)
    merged = _merged_flags(pairs, settings)
    return Counted(
        metrics,
        tables,
        notes=tuple(_notes(classes, totals, settings)),
        flags={
            metric.name: (*flags.get(_kind(metric.name), ()), *(merged if _over_unknown(metric.name, settings) else ()))
            for metric in metrics
        },
        signatures={metric.name: _signature(metric, settings) for metric in metrics},
    )


def labels_block(pairs: Pairs, classes: Sequence[str], *, strange: int = -1) -> Labels:
    """The items by number of class; `strange` for a class that is none of these (-1 counts for none)."""
    number = {name: at for at, name in enumerate(classes)}
    truth, answers = (
        np.array([number.get(name, strange) for name in side], dtype=np.int64)
        for side in (pairs.references, pairs.answers)
    )
    right = np.array([one == other for one, other in zip(pairs.references, pairs.answers, strict=True)], dtype=bool)
    return Labels(pairs.units, truth, answers, len(classes), right)


def _classes(pairs: Pairs, settings: Settings) -> tuple[str, ...]:
    """The classes that are scored: those asked for, or all of the reference and one for all others.

    Answers never add a class of their own, so that rows of all systems have the same columns and can be compared.
    """
    there = set(pairs.references)
    missing = [name for name in settings["classes"] if name not in there]
    if missing:
        raise SettingError(f"No item of the reference has the class {missing[0]!r}. Leave it out of classes.")
    return settings["classes"] or (*sorted(there), STRANGE)


def _metrics_asked(settings: Settings) -> tuple[Metric, ...]:
    """All metrics; those with beta if there is one."""
    with_beta = settings["beta"] is not None
    whole = [metric for metric in OVERALL if not settings["classes"] or metric not in OF_ALL_CLASSES]
    return (*whole, *(WITH_BETA if with_beta else ()), *BY_CLASS, *((F_BETA,) if with_beta else ()))


def _bind_metric(metric: Metric, settings: Settings) -> Metric:
    known = {"undefined": UNDEFINED[settings["undefined"]]} if settings["undefined"] != "nan" else {}
    return metric.bind(**known, beta=settings["beta"])


def _by_class(pairs: Pairs, classes: Sequence[str], block: Labels) -> UnitRows:
    rows = {name: class_rows(block, at) for at, name in enumerate(classes)}
    levels = {name: LevelRows(*part) for name, part in rows.items() if len(part[0])}
    return pairs.table(CLASS_COLUMNS, np.zeros((len(pairs.units), len(CLASS_COLUMNS))), {"class": levels})


def _kind(name: str) -> str:
    """Precision or recall, and which mean: what can be undefined for some classes."""
    return name if name.endswith(("_macro", "_weighted")) and name.startswith(("precision", "recall")) else ""


def _undefined_classes(classes: Sequence[str], totals: Any) -> dict[str, list[str]]:
    """By value the classes that have none: never given, or never true; one that does not occur is none."""
    counts = list(zip(classes, totals, strict=True))
    return {
        "precision": [name for name, (_, given, true) in counts if true and not given],
        "recall": [name for name, (_, given, true) in counts if given and not true],
    }


def _flags(classes: Sequence[str], totals: Any, settings: Settings) -> dict[str, tuple[str, ...]]:
    """What must stand beside a mean over fewer classes than there are."""
    found: dict[str, tuple[str, ...]] = {}
    how = "left out of the mean" if settings["undefined"] == "nan" else f"counted as {settings['undefined']}"
    for value, missing in _undefined_classes(classes, totals).items():
        if missing:
            occurring = int(np.count_nonzero(totals.sum(axis=1)))
            words = (f"{len(missing)} of {occurring} classes without {value}: {how}",)
            found |= {f"{value}_macro": words, f"{value}_weighted": words}
    return found


def _over_unknown(name: str, settings: Settings) -> bool:
    """Whether a mean counts a class that no item has: its recall is undefined, and left out unless a setting says."""
    return (name.endswith("_macro") or name == MCC.name) and not (
        name.startswith("recall") and settings["undefined"] == "nan"
    )


def _merged_flags(pairs: Pairs, settings: Settings) -> tuple[str, ...]:
    """What must stand beside a mean over classes if several of the answers are unknown: they are one class in it."""
    unknown = sorted(set(pairs.answers) - set(pairs.references))
    if settings["classes"] or len(unknown) < 2:
        return ()
    named = ", ".join(unknown[:NAMED]) + (f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else "")
    return (f"{len(unknown)} classes that the reference does not have ({named}) count as one class",)


def _notes(classes: Sequence[str], totals: Any, settings: Settings) -> Iterator[str]:
    why = {"precision": "never given", "recall": "of no item"}
    for value, missing in _undefined_classes(classes, totals).items():
        if missing:
            more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
            yield f"{value} is undefined for classes that are {why[value]}: {', '.join(missing[:NAMED])}{more}"
    if settings["classes"]:
        yield "precision, recall and F are over the classes named in the settings; accuracy is over all items"
        yield "MCC and Cohen's kappa are of all classes together, so they are left out"


def _signature(metric: Metric, settings: Settings) -> str:
    beta = f"|beta:{settings['beta']:g}" if "beta" in metric.parameters else ""
    classes = ",".join(settings["classes"]) or "all"
    return f"{metric.name}{beta}|undefined:{settings['undefined']}|classes:{classes}|basanite:{__version__}"


def classification_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """The confusion table: how many items of each class were given each class."""
    pairs = analysis.scores.kept
    if not isinstance(pairs, Pairs):
        return ()
    largest, merged = _largest(pairs)
    table = confusion(labels_block(merged, largest)).tolist()
    rows: list[tuple[Cell, ...]] = [(name, *row) for name, row in zip(largest, table, strict=True)]
    note = "Rows are the classes that items belong to, columns those that they were given."
    left = f" The smaller classes are combined as {OTHERS}." if OTHERS in largest else ""
    return (Table("Confusion", ("true class", *largest), rows, note + left), *reliability_figures(analysis))


def _largest(pairs: Pairs) -> tuple[tuple[str, ...], Pairs]:
    """The classes of most items, in order of their names, and the items with all others as one class."""
    names, sizes = np.unique(
        np.array([*pairs.references, *pairs.answers], dtype=object).astype(str), return_counts=True
    )
    if len(names) <= SHOWN:
        return tuple(names.tolist()), pairs
    kept = set(names[np.argsort(-sizes, kind="stable")][: SHOWN - 1].tolist())
    sides = (tuple(name if name in kept else OTHERS for name in side) for side in (pairs.references, pairs.answers))
    references, answers = sides
    return (*sorted(kept), OTHERS), replace(pairs, references=references, answers=answers)


def _extracts(truth: str, answers: Mapping[str, str]) -> tuple[Extract, ...]:
    """The class, and what each system said."""
    said = (Extract(name, ((label, "" if label == truth else "changed"),)) for name, label in answers.items())
    return Extract("Class", ((truth, ""),)), *said


def _beta(text: str) -> float:
    number = number_or_nan(text)
    if not 0 < number < 1e6:
        raise ValueError("it must be more than 0")
    return number


SPEC = ItemSpec(
    name="classification",
    unit="item",
    rule=RULE,
    primary=F1_MACRO.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
)
NO_CLASSES: tuple[str, ...] = ()
TASK = Task(
    name="classification",
    summary="Classification: one class for each item, with precision, recall and F of every class and their means",
    citation=AVERAGES,
    unit="item",
    primary=F1_MACRO.name,
    metrics=(*METRICS, *SCORE_METRICS.values()),
    needs_reference=False,
    open=opener(SPEC, ClassificationRun),
    settings=(
        Setting("beta", "Also report F-beta, in which recall weighs beta times as much as precision.", _beta),
        Setting(
            "undefined",
            "The precision or recall of a class where it is 0/0: nan (left out), 0 or 1.",
            partial(one_of, tuple(UNDEFINED)),
            "nan",
        ),
        Setting(
            "positive", "The class to which a single column of scores refers, where there are two classes.", column_name
        ),
        Setting("bins", "The number of confidence bins for the calibration error.", partial(whole_number, 2, 1000), 15),
        Setting("classes", "The classes to score, separated by commas. [default: all]", names_list, NO_CLASSES),
    ),
    figures=classification_figures,
    compared_figures=moved_figures(_extracts),
    explanations=EXPLANATIONS,
    answers=AnswerFormat(
        "One row for each item with its `id` and `label`, as CSV, TSV, JSON lines or Parquet. Scores of "
        "classes may stand in further columns.",
        example=("id,label\ni001,first\ni002,first\ni003,first\n"),
    ),
)
