"""Precision, recall and F1 of one classified item, worked out from the classes that it belongs to and was given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Final

from basanite.figures import Cell
from basanite.tasks.worked import Case, Explain, Step, Worked, division, short, shown_rows


def _value(kind: str, hits: float, answered: float, true: float) -> tuple[str, float]:
    """One class's value with the numbers filled in; nothing over nothing is undefined."""
    if kind == "precision":
        return f"hits / given = {division(hits, answered)}", hits / answered if answered else math.nan
    if kind == "recall":
        return f"hits / belonging = {division(hits, true)}", hits / true if true else math.nan
    bottom = answered + true
    return (
        f"2 × hits / (given + belonging) = {division(2 * hits, bottom)}",
        2 * hits / bottom if bottom else math.nan,
    )


def of_classes(case: Case, *, kind: str, average: str) -> Worked:
    """The value of the classes that occur on the item, and their mean."""
    classes = [name.removeprefix("true ") for name in case.row if name.startswith("true ")]
    counts = {name: tuple(case.row[f"{part} {name}"] for part in ("hits", "answered", "true")) for name in classes}
    there = {name: each for name, each in counts.items() if any(each)}
    rows: list[tuple[Cell, ...]] = [
        (name or "(any other class)", int(hits), int(given), int(true)) for name, (hits, given, true) in there.items()
    ]
    said = f"The item belongs to {case.reference!r} and was given {case.answer!r}."
    table = shown_rows("Classes on this item", ("Class", "Hits", "Given", "Belonging"), rows)
    steps = [Step("The item", (said,), table=table)]
    undefined = case.metric.settings.get("undefined", math.nan)
    if average == "micro":
        sums = [sum(each[at] for each in there.values()) for at in range(3)]
        formula, value = _value(kind, *sums)
        steps.append(Step("All classes together", (), formula))
        return Worked(tuple(steps), undefined if math.isnan(value) and there else value)
    values = {}
    for name, each in there.items():
        formula, value = _value(kind, *each)
        values[name] = undefined if math.isnan(value) else value
        steps.append(Step(f"Class {name}", (), formula))
    weight = {name: (each[2] if average == "weighted" else 1.0) for name, each in there.items()}
    kept = {name: value for name, value in values.items() if not math.isnan(value) and weight[name]}
    total = sum(weight[name] for name in kept)
    mean = sum(value * weight[name] for name, value in kept.items()) / total if total else math.nan
    terms = " + ".join(f"{short(weight[name])} × {short(value)}" for name, value in kept.items()) or "nothing"
    said = "Classes without a value are left out." if len(kept) < len(values) else ""
    how = {"macro": "Each class weighs the same.", "weighted": "Each class weighs as many items as belong to it."}
    formula = f"({terms}) / {short(total)} = {short(mean)}" if total else "no class has a value"
    return Worked((*steps, Step(f"Mean ({average})", tuple(filter(None, (how[average], said))), formula)), mean)


def accuracy(case: Case) -> Worked:
    """Whether the item has its class."""
    right = case.reference == case.answer
    said = f"The item belongs to {case.reference!r} and was given {case.answer!r}."
    return Worked((Step("The item", (said,), f"correct / items = {division(float(right), 1)}"),), float(right))


EXPLANATIONS: Final[Mapping[str, Explain]] = {
    **{
        f"{kind}_{average}": partial(of_classes, kind=kind, average=average)
        for kind in ("f1", "precision", "recall")
        for average in ("macro", "micro", "weighted")
    },
    "accuracy": accuracy,
}
