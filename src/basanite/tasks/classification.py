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
from basanite.formats.items import ContentError, Items, read_items
from basanite.formats.records import Place
from basanite.kernel import LevelRows, Metric, UnitRows
from basanite.metrics.classification import (
    AVERAGES,
    BY_CLASS,
    CLASS_COLUMNS,
    F1_MACRO,
    F_BETA,
    METRICS,
    OVERALL,
    WHOLE,
    WITH_BETA,
    Labels,
    class_rows,
    confusion,
    statistics,
)
from basanite.problems import Findings, Problem
from basanite.tasks import Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved import moved_figures
from basanite.tasks.setting_kinds import names_list, number_or_nan, one_of

RULE = "T-7"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document", "source")
UNDEFINED = {"nan": float("nan"), "0": 0.0, "1": 1.0}
LONGEST = 200
MOST_NUMBERS = 1 << 26
"""Numbers in the table of rows (512 MiB); more items times classes than that is refused."""
SHOWN = 20
"""Classes of the confusion table; the smaller ones stand together as others."""
NAMED = 5
OTHERS = "(others)"
STRANGE = "(not in the reference)"


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The class of each item, and what else is known of it."""
    return read_items(paths[0], label_of, REFERENCE, findings, used=("label",), plain=False)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The class that a system gave each item."""
    return read_items(path, label_of, SUBMISSION, findings, used=("label",), plain=False)


def label_of(fields: Mapping[str, Any]) -> str:
    """The class of a record: a text, or a whole number or truth value as text."""
    found = fields.get("label")
    if isinstance(found, bool | int):
        return str(found)
    if not isinstance(found, str) or not found.strip() or len(found) > LONGEST:
        fix = f"write a class of 1 to {LONGEST} characters"
        raise ContentError("label is missing, empty, too long or no text", fix, "" if found is None else found)
    return found


class ClassificationRun(ItemRun):
    """A submission of one class for each item."""

    def close(self, findings: Findings) -> None:
        """Check the whole; classes that only the answers have are told, for most are misspelt."""
        super().close(findings)
        if self.answers is not None and self.reference is not None:
            findings.extend(self._strange(self.answers, set(self.reference.content)))
            findings.extend(self._too_many(self.answers.file, {*self.reference.content, STRANGE}))

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
    metrics = tuple(_bound(metric, settings) for metric in _asked(settings))
    tables = {metric.name: whole if metric.overall else single for metric in metrics}
    totals = whole.rows.sum(axis=0)[len(WHOLE) :].reshape(-1, len(CLASS_COLUMNS))
    flags = _flags(classes, totals, settings)
    merged = _merged(pairs, settings)
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


def _asked(settings: Settings) -> tuple[Metric, ...]:
    """All metrics; those with beta if there is one."""
    with_beta = settings["beta"] is not None
    return (*OVERALL, *(WITH_BETA if with_beta else ()), *BY_CLASS, *((F_BETA,) if with_beta else ()))


def _bound(metric: Metric, settings: Settings) -> Metric:
    known = {"undefined": UNDEFINED[settings["undefined"]]} if settings["undefined"] != "nan" else {}
    return metric.bind(**known, beta=settings["beta"])


def _by_class(pairs: Pairs, classes: Sequence[str], block: Labels) -> UnitRows:
    rows = {name: class_rows(block, at) for at, name in enumerate(classes)}
    levels = {name: LevelRows(*part) for name, part in rows.items() if len(part[0])}
    return pairs.table(CLASS_COLUMNS, np.zeros((len(pairs.units), len(CLASS_COLUMNS))), {"class": levels})


def _kind(name: str) -> str:
    """Precision or recall, and which mean: what can be undefined for some classes."""
    return name if name.endswith(("_macro", "_weighted")) and name.startswith(("precision", "recall")) else ""


def _undefined(classes: Sequence[str], totals: Any) -> dict[str, list[str]]:
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
    for value, missing in _undefined(classes, totals).items():
        if missing:
            occurring = int(np.count_nonzero(totals.sum(axis=1)))
            words = (f"{len(missing)} of {occurring} classes without {value}: {how}",)
            found |= {f"{value}_macro": words, f"{value}_weighted": words}
    return found


def _over_unknown(name: str, settings: Settings) -> bool:
    """Whether a mean counts a class that no item has: its recall is undefined, and left out unless a setting says."""
    return name.endswith("_macro") and not (name.startswith("recall") and settings["undefined"] == "nan")


def _merged(pairs: Pairs, settings: Settings) -> tuple[str, ...]:
    """What must stand beside a mean over classes if several of the answers are unknown: they are one class in it."""
    unknown = sorted(set(pairs.answers) - set(pairs.references))
    if settings["classes"] or len(unknown) < 2:
        return ()
    named = ", ".join(unknown[:NAMED]) + (f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else "")
    return (f"{len(unknown)} classes that the reference does not have ({named}) count as one class",)


def _notes(classes: Sequence[str], totals: Any, settings: Settings) -> Iterator[str]:
    why = {"precision": "never given", "recall": "of no item"}
    for value, missing in _undefined(classes, totals).items():
        if missing:
            more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
            yield f"{value} is undefined for classes that are {why[value]}: {', '.join(missing[:NAMED])}{more}"
    if settings["classes"]:
        yield "precision, recall and F are over the classes named in the settings; accuracy is over all items"


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
    left = f" The smaller classes stand together as {OTHERS}." if OTHERS in largest else ""
    return (Table("Confusion", ("true class", *largest), rows, note + left),)


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


def _shown(truth: str, answers: Mapping[str, str]) -> tuple[Extract, ...]:
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
    metrics=METRICS,
    open=opener(SPEC, ClassificationRun),
    settings=(
        Setting("beta", "Also give F with recall weighing so many times as much as precision.", _beta),
        Setting(
            "undefined",
            "What precision or recall of a class is where it is nothing over nothing: nan (left out), 0 or 1.",
            partial(one_of, tuple(UNDEFINED)),
            "nan",
        ),
        Setting("classes", "The classes to score, separated by commas; without it, all.", names_list, NO_CLASSES),
    ),
    figures=classification_figures,
    compared_figures=moved_figures(_shown),
)
