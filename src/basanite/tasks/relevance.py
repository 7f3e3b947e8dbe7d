"""Relevance of each text to its question or context: as people judged it, by its words, and how both agree (T-5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite import registry
from basanite.formats.items import ContentError, Items, lacks_columns, number_of, read_structured_items, text_of
from basanite.formats.records import Place, Records, read_records
from basanite.kernel import JudgedRows, Rows
from basanite.metrics.relevance import (
    COLUMNS,
    CORRELATION,
    METRICS,
    RELEVANCE,
    RELEVANCE_AUTO,
    Judged,
    likeness,
    rows,
    spearman,
)
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.agreement import grade_agreement
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.settings import number_range

RULE = "T-5"
ITEM = "item"
CONTEXTS = ("context", "question")
USED = (ITEM, "judge", "relevance", *CONTEXTS)
CLUSTERS = ("document", "image", "source")
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)


@dataclass
class Panel:
    """What the reference says of one item: its context, and the grade that each judge gave, on 0..1."""

    line: int
    context: str = ""
    grades: dict[str, float] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The judgements: a line for each item and judge, with the context on the item's first line at least."""
    records = read_records(paths[0], REFERENCE, findings)
    if records is None:
        return None
    if lacks_columns(records, (ITEM, "judge", "relevance"), REFERENCE, findings):
        return None
    return _gather_panels(records, settings["range"], findings)


def _gather_panels(records: Records, scale: tuple[float, float], findings: Findings) -> Items:
    panels: dict[str, Panel] = {}
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        try:
            name = "" if fields.get(ITEM) is None else str(fields[ITEM])
            if not name:
                raise ContentError("the item is missing", "name the item in every line")
            _add(panels.setdefault(name, Panel(line)), fields, scale)
        except ContentError as error:
            findings.add(REFERENCE.problem(records.file, line, str(error), error.fix, error.found))
    extra = [name for name in records.columns if name not in USED]
    columns = {name: tuple(panel.others.get(name, "") for panel in panels.values()) for name in extra}
    lines = [panel.line for panel in panels.values()]
    return Items(records.file, tuple(panels), tuple(panels.values()), lines, records.digest, columns)


def _add(panel: Panel, fields: Mapping[str, Any], scale: tuple[float, float]) -> None:
    """Take one line of the reference into what is known of its item."""
    for name, cell in fields.items():
        if name not in USED and cell is not None:
            panel.others.setdefault(name, str(cell))
    context = next((str(fields[name]) for name in CONTEXTS if fields.get(name) is not None), "")
    if context and panel.context not in ("", context):
        raise ContentError("the context differs from an earlier line of this item", "give an item one context")
    panel.context = panel.context or context
    if fields.get("judge") is None and fields.get("relevance") is None:
        return  # an item that nobody has judged yet
    judge = "" if fields.get("judge") is None else str(fields["judge"])
    if not judge or judge in panel.grades:
        raise ContentError("the judge is missing or judged this item before", "one line for each item and judge", judge)
    panel.grades[judge] = _read_grade(fields, *scale)


def _read_grade(fields: Mapping[str, Any], low: float, high: float) -> float:
    grade = number_of(fields, "relevance")
    if not low <= grade <= high:
        fix = f"stay in the scale {low:g} to {high:g}, or set range={low:g}..{high:g} to the one you use"
        raise ContentError(f"relevance lies outside {low:g} to {high:g}", fix, grade)
    return (grade - low) / (high - low)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The texts: an item and its text, which may be empty."""
    return read_structured_items(path, text_of, SUBMISSION, findings, id_name=ITEM, used=("text",))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """Judged and automatic relevance of every item."""
    panels: Sequence[Panel] = pairs.references
    judged = np.array([_mean(panel.grades.values()) for panel in panels])
    embed = registry.load("embeddings", settings["embedding"])
    auto = likeness(list(pairs.answers), [panel.context for panel in panels], embed)
    table = pairs.table(COLUMNS, rows(Judged(pairs.units, judged, auto)))
    table = replace(table, judged=_single_judgements(pairs, auto))
    rank = spearman(judged, auto)
    parts = {RELEVANCE.name: _agreement(panels), CORRELATION.name: {} if math.isnan(rank) else {"spearman": rank}}
    return Counted(
        METRICS,
        dict.fromkeys((metric.name for metric in METRICS), table),
        notes=tuple(_item_notes(pairs, panels, judged, auto)),
        parts=parts,
        signatures=_signatures(settings),
    )


def _single_judgements(pairs: Pairs, auto: NDArray[np.float64]) -> JudgedRows:
    """The rows as one grade of each item alone would make them; an item with few grades uses them in turn."""
    grades = [list(panel.grades.values()) for panel in pairs.references]
    most, judged = max(map(len, grades), default=0), [one for one in grades if one]

    def alone() -> Rows:
        turns = [[one[turn % len(one)] if one else math.nan for one in grades] for turn in range(most)]
        return np.stack([rows(Judged(pairs.units, np.array(turn), auto)) for turn in turns])

    return JudgedRows(sum(map(len, judged)) / max(len(judged), 1), alone)


def _mean(grades: Any) -> float:
    found = list(grades)
    return sum(found) / len(found) if found else math.nan


def _agreement(panels: Sequence[Panel]) -> dict[str, float]:
    """How far the judges agree: never shown without it (T-5, S-20)."""
    grades = [grade for panel in panels for grade in panel.grades.values()]
    item = np.repeat(np.arange(len(panels)), [len(panel.grades) for panel in panels])
    judges = {judge for panel in panels for judge in panel.grades}
    counts: dict[str, float] = {"judges": len(judges), "judgements": len(grades)}
    if not grades:
        return counts
    found = grade_agreement(grades, item)
    parts = {"agreement": found.percent, "alpha": found.alpha, "reliability": found.reliability}
    return counts | {name: value for name, value in parts.items() if not math.isnan(value)}


def _item_notes(
    pairs: Pairs, panels: Sequence[Panel], judged: NDArray[np.float64], auto: NDArray[np.float64]
) -> Iterator[str]:
    """What must be known of items that do not count, or count 0."""
    alone = sum(len(panel.grades) == 1 for panel in panels)
    for number, words in (
        (int(np.isnan(judged).sum()), "items without a judgment, left out of relevance"),
        (int(np.isnan(auto).sum()), "items without words in their context, left out of relevance_auto"),
        (sum(not text.strip() for text in pairs.answers), "empty texts, whose automatic relevance is 0"),
        (alone, "items with one judgment, whose agreement is unknown"),
    ):
        if number:
            yield f"{words}: {number}"
    yield "automatic relevance measures similarity of words, not correctness"


def _signatures(settings: Settings) -> dict[str, str]:
    low, high = settings["range"]
    return {
        RELEVANCE.name: f"mean over judges, then items; grades {low:g}..{high:g} mapped to 0..1",
        RELEVANCE_AUTO.name: f"cosine of text and context; embedding {settings['embedding']}",
        CORRELATION.name: "Pearson over items with both",
    }


def embedding_name(text: str) -> str:
    """The name of a registered embedding."""
    known = registry.names("embeddings")
    if text not in known:
        raise ValueError(f"no embedding is called so. {registry.suggestion(text, known)}")
    return text


SPEC = ItemSpec(
    name="relevance",
    unit=ITEM,
    rule=RULE,
    primary=RELEVANCE.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
    id_name=ITEM,
)
TASK = Task(
    name="relevance",
    summary="Relevance of texts to their questions or contexts, judged and automatic",
    citation="Voorhees and Harman, TREC: Experiment and Evaluation in Information Retrieval (2005)",
    unit=ITEM,
    primary=RELEVANCE.name,
    metrics=METRICS,
    open=opener(SPEC),
    settings=(
        Setting("range", "The judges' scale, as 0..1 or 0..3; grades are mapped to 0..1.", number_range, (0.0, 1.0)),
        Setting(
            "embedding", "How texts become vectors: tfidf, or the embedding of a plug-in.", embedding_name, "tfidf"
        ),
    ),
    answers=AnswerFormat(
        "One row for each item with its `text`, as CSV, TSV or JSON lines.",
        example=("item,text\nitem01,A small boat sleeps under a bridge.\nitem02,An old man waits behind a fence.\n"),
    ),
)
