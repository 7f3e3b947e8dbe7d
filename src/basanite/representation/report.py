"""The report on one set of features: values, classes, groups, a map of similarities, a projection, the worst rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Table
from basanite.reports.analysis import analysis_report
from basanite.reports.report import Report, Section, tidy
from basanite.reports.wording import enumeration, number, percent, plural
from basanite.representation.catalogue import measure_title
from basanite.representation.groups import GroupDifference
from basanite.representation.measurement import CLASS, Measurement, Run
from basanite.representation.measures.results import Numbers, number_or_none
from basanite.representation.settings import FLAG, badly_formed
from basanite.representation.values import RIVAL

MOST_CLASSES: Final = 40
"""Classes of a map of similarities: those with the nearest rivals."""
MOST_COLOURS: Final = 12
"""Classes of a projection that have a colour of their own."""
SUBTITLE: Final = "How well these features represent their classes"
OTHERS: Final = "other classes"


def run_report(run: Run) -> Report:
    """The report on one run, ready for any output."""
    report = analysis_report(run.analysis)
    sections = report.sections
    maps = tuple(chart for chart in (similarity_chart(run.measured), projection_chart(run)) if chart is not None)
    side_by_side = Section("Classes side by side", "", maps)
    made = (_accuracy_section(run), side_by_side, _groups_section(run), _worst_section(run))
    extra = [section for section in made if section.figures]
    return replace(
        report,
        subtitle=SUBTITLE,
        sections=(*sections[:1], *extra, *sections[1:]),
        data={**report.data, **plain_values(_more(run))},
        sentences=(*report.sentences[:1], *_sentences(run)),
    )


def _more(run: Run) -> dict[str, Any]:
    """What the JSON object has besides that of every score."""
    names = [str(name) for name in run.data.classes.names]
    figures = run.found.figures
    return {
        "rivals": {name: names[int(figures.rival[place])] for place, name in enumerate(names)},
        "accurate_but_badly_formed": [{"factor": factor, "level": level} for factor, level in run.badly_formed],
        "differences": [difference_object(one) for one in run.differences],
        "worst": [
            {**row, "correct": None if row["correct"] is None else row["correct"] == "yes"}
            for row in (dict(zip(WORST_KEYS, cells, strict=True)) for cells in worst_rows(run))
        ],
    }


def difference_object(one: GroupDifference) -> dict[str, Any]:
    """One difference of groups, as the JSON object lists it."""
    return {name: value for name, value in vars(one).items() if name != "note"} | (
        {"note": one.note} if one.note else {}
    )


def _sentences(run: Run) -> Iterator[str]:
    yield from _class_sentence(run)
    for factor, level in run.badly_formed:
        values = run.analysis.breakdowns[factor][level]
        yield (
            f"{factor} {level} is {FLAG}: {percent(round(values['accuracy'].value, 3))} of its rows are predicted "
            f"rightly, and {percent(round(values['misplaced'].value, 3))} are more similar to another class."
        )
    yield from _group_sentences(run)


def _class_sentence(run: Run) -> Iterator[str]:
    classes = run.analysis.breakdowns[CLASS]
    solid = {name: values["ferm1"] for name, values in classes.items() if not math.isnan(values["ferm1"].value)}
    if len(solid) > 1:
        worst = min(solid, key=lambda name: solid[name].value)
        best = max(solid, key=lambda name: solid[name].value)
        rival = next((flag.removeprefix(RIVAL) for flag in solid[worst].flags if flag.startswith(RIVAL)), "–")
        yield (
            f"The class represented worst is {worst} (ratio {number(solid[worst].value)}, nearest rival "
            f"{rival}), the best is {best} ({number(solid[best].value)})."
        )


def _group_sentences(run: Run) -> Iterator[str]:
    for factor in dict.fromkeys(one.factor for one in run.differences):
        shown = [one for one in run.differences if one.factor == factor and one.metric == run.analysis.scores.primary]
        clear = [one for one in shown if one.verdict in ("first", "second")]
        for one in clear[:3]:
            better, worse = (one.first, one.second) if one.verdict == "first" else (one.second, one.first)
            yield (
                f"By {factor}, {better} is represented better than {worse}: {measure_title(one.metric)} differs by "
                f"{number(abs(one.difference))} on {plural('class', one.classes)} that both have."
            )
        # Groups without enough classes in common cannot be compared, which is not the same as being alike.
        if shown and all(one.verdict == "undefined" for one in shown):
            yield f"By {factor}, groups cannot be compared: {shown[0].note or 'the differences are undefined'}."
        elif shown and not clear:
            yield f"By {factor}, no difference between groups is shown."


# --- classes and groups ---


def similarity_chart(run: Measurement) -> Chart:
    """Mean cosine between every two classes; the diagonal is the similarity inside a class."""
    nearest = np.argsort(-np.nan_to_num(run.found.figures.rival_cosine, nan=-2.0), kind="stable")
    shown = sorted(nearest[:MOST_CLASSES].tolist())
    names = [str(name) for name in run.data.classes.names]
    table = run.similarity
    rows = tuple((names[i], names[j], float(table[i, j])) for i in shown for j in shown)
    figures = run.found.figures
    closest = int(np.nanargmax(np.where(np.isnan(figures.rival_cosine), -np.inf, figures.rival_cosine)))
    left_out = "" if len(shown) == len(names) else f" The {len(shown)} classes with the nearest rivals are shown."
    return Chart(
        title="Similarity between classes",
        summary=(
            f"Mean cosine between rows of two classes, and inside each class on the diagonal. The two most similar "
            f"classes are {names[closest]} and {names[int(figures.rival[closest])]} "
            f"({number(float(figures.rival_cosine[closest]))}).{left_out}"
        ),
        kind="heat",
        data=Table("Similarity between classes", ("Class", "Other class", "Mean cosine"), rows),
        x=Axis("Other class", "Other class", "category"),
        y=Axis("Class", "Class", "category"),
        shade="Mean cosine",
    )


def projection_chart(run: Run) -> Chart | None:
    """The rows in two dimensions, coloured by class."""
    if run.projection is None:
        return None
    names, kind = _colours(run), {"tsne": "t-SNE", "pca": "principal components"}[run.projection.method]
    codes = run.data.classes.codes[run.projection.rows]
    order = np.argsort(codes, kind="stable")
    points = run.projection.points.round(4)
    rows = tuple(
        (names[int(codes[at])], float(points[at, 0]), float(points[at, 1]), int(run.projection.rows[at]))
        for at in order
    )
    return Chart(
        title=f"Rows in two dimensions ({kind})",
        summary=(
            f"{plural('row', len(rows))} of {plural('class', len(run.data.classes))}, each direction scaled to 0..1. "
            "Classes that run into each other are hard to separate; distances between clusters mean little."
        ),
        kind="points",
        data=Table("Rows in two dimensions", ("Class", "First", "Second", "Row"), rows),
        x=Axis("First", "first dimension", low=-0.03, high=1.03),
        y=Axis("Second", "second dimension", low=-0.03, high=1.03),
        series="Class",
    )


def _colours(run: Run) -> list[str]:
    """Each class by its own name, or only the worst represented ones where there are many."""
    names = [str(name) for name in run.data.classes.names]
    if len(names) <= MOST_COLOURS:
        return names
    worst = set(np.argsort(np.nan_to_num(run.found.figures.ratio, nan=np.inf))[: MOST_COLOURS - 1].tolist())
    return [name if place in worst else OTHERS for place, name in enumerate(names)]


def _accuracy_section(run: Run) -> Section:
    if run.data.correct is None:
        return Section("Accuracy beside the measures")
    factors = [(factor, levels) for factor, levels in run.analysis.breakdowns.items()]
    rows = tuple((factor, level, *_beside(values)) for factor, levels in factors for level, values in levels.items())
    flagged = set(badly_formed(run.analysis.breakdowns))
    emphasis = frozenset(at for at, row in enumerate(rows) if (row[0], row[1]) in flagged)
    limits = run.plan.choices
    note = (
        f"Misplaced: the share of rows that are more similar to another class than to their own. “{FLAG}”: accuracy of "
        f"{percent(limits.accurate)} or more with {percent(limits.misplaced)} or more misplaced."
    )
    columns = ("Factor", "Level", "Rows", "Accuracy", "Low", "High", "Misplaced", measure_title("ferm1"), "Remarks")
    lead = "A class can be predicted well from features that represent it badly: new data may then fail first there."
    return Section(
        "Accuracy beside the measures", lead, (tidy(Table("Accuracy and measures", columns, rows, note, emphasis)),)
    )


def _beside(values: Any) -> tuple[Cell, ...]:
    accuracy, ferm = values["accuracy"], number_or_none(values["ferm1"].value)
    remark = FLAG if FLAG in accuracy.flags else ""
    return (accuracy.units, accuracy.value, accuracy.low, accuracy.high, values["misplaced"].value, ferm, remark)


def _groups_section(run: Run) -> Section:
    if not run.differences:
        return Section("Groups against each other")
    rows = tuple(
        (
            one.factor,
            measure_title(one.metric),
            one.first,
            one.second,
            one.difference,
            one.low,
            one.high,
            one.classes,
            _words(one),
        )
        for one in run.differences
    )
    columns = ("Factor", "Measure", "First", "Second", "Difference", "Low", "High", "Classes", "Verdict")
    note = (
        "First minus second, on the classes that both groups have. Intervals share their draws and are widened so that "
        "all pairs of a factor and measure hold together; a verdict names the group that is represented better."
    )
    return Section("Groups against each other", "", (Table("Differences between groups", columns, rows, note),))


def _words(one: GroupDifference) -> str:
    better = {"first": one.first, "second": one.second}.get(one.verdict)
    words = one.verdict if better is None else f"{better} better"
    return f"{words} ({one.note})" if one.note else words


# --- the worst rows ---

WORST_KEYS: Final = ("row", "class", "rival", "own_cosine", "rival_cosine", "silhouette", "correct")


def worst_rows(run: Run) -> list[tuple[Cell, ...]]:
    """The rows that are represented worst, worst first (F-13)."""
    samples, names = run.samples, [str(name) for name in run.data.classes.names]
    rows: Numbers = samples.worst(run.plan.worst)
    return [
        (
            int(row),
            names[int(run.data.classes.codes[row])],
            names[int(samples.rival[row])],
            number_or_none(samples.own_cosine[row]),
            number_or_none(samples.rival_cosine[row]),
            None if samples.silhouette is None else number_or_none(samples.silhouette[row]),
            None if run.data.correct is None else ("yes" if run.data.correct[row] else "no"),
        )
        for row in rows
    ]


def _worst_section(run: Run) -> Section:
    columns = ("Row", "Class", "Nearest rival", "Own cosine", "Rival cosine", "Silhouette", "Predicted rightly")
    rows = worst_rows(run)
    kept = [at for at in range(len(columns)) if any(row[at] is not None for row in rows)]
    shown = tuple(tuple(row[at] for at in kept) for row in rows)
    classes = enumeration(tuple(dict.fromkeys(str(row[1]) for row in rows))[:5])
    note = f"Rows count from 0. Most similar to another class, or least to their own; of classes {classes}."
    return Section(
        "Rows represented worst", "", (Table("Rows represented worst", tuple(columns[at] for at in kept), shown, note),)
    )
