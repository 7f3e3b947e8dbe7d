"""The report on a shift experiment: normalised curves by family, the figures that judge them, and the levels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from basanite import __version__
from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Table, Text
from basanite.reports.report import Facts, Report, Section, facts_table, sections_with_content
from basanite.reports.wording import enumeration, number, percent, plural
from basanite.representation.catalogue import measure_title
from basanite.representation.measures.all_measures import measured_families
from basanite.representation.measures.results import number_or_none
from basanite.representation.shift_curves import FLAT, Curve, Shift

FORMAT: Final = "basanite-shift/1"
FIXED: Final = "has too few classes to be drawn, so draws take all of them"


def shift_report(shift: Shift) -> Report:
    """The report on one experiment, ready for any output."""
    facts = _facts(shift)
    return Report(
        title=f"From {shift.source.name} to {shift.target.name}",
        subtitle="How the measures follow a shift of the data",
        sections=sections_with_content(
            Section("Judged", _lead(shift), (judged_table(shift),)),
            Section("Curves", "Each curve is scaled to 0..1 over the levels.", tuple(curve_charts(shift))),
            Section("Levels", "", (levels_table(shift),)),
            Section("Values", "", (values_table(shift),), detail=True),
            Section("How this was computed", "", (_method(shift), facts_table(facts)), detail=True),
            Section("Notes", "", (Text("Notes", tuple(notes(shift))),)),
        ),
        facts=facts,
        data=shift_object(shift),
        records=Table("Curves", ("measure", "share", "mean", "deviation", "normalised"), tuple(_records(shift))),
        sentences=tuple(_sentences(shift)),
    )


def shift_object(shift: Shift) -> dict[str, Any]:
    """The object that `measure shift --json` prints."""
    found: dict[str, Any] = plain_values(
        {
            "format": FORMAT,
            "task": "measure shift",
            "source": shift.source.name,
            "target": shift.target.name,
            "levels": [dict(zip(LEVEL_KEYS, row, strict=True)) for row in _level_rows(shift)],
            "measures": {curve.name: _curve_object(curve) for curve in shift.judged},
            "settings": shift.settings,
            "digests": {"source": shift.source.digest, "target": shift.target.digest},
            "notes": list(notes(shift)),
        }
    )
    return found


def _curve_object(curve: Curve) -> dict[str, Any]:
    return {
        "mean": curve.mean,
        "deviation": curve.deviation,
        "normalised": curve.normalised,
        "low": curve.low,
        "high": curve.high,
        "range": curve.raw_range,
        "source_only_deviation": curve.source_only_deviation,
        "expected": "falling" if curve.best == "high" else "rising",
        "wrong_steps": curve.wrong_steps,
        "violations": [
            {"from": step.start, "to": step.start + 1, "step": step.size, "low": step.low, "high": step.high}
            for step in curve.violations
        ],
        "largest_violation": curve.largest_violation,
        "kendall_tau_b": curve.tau_b,
        "flags": list(curve.flags),
    }


# --- tables ---

LEVEL_KEYS: Final = ("level", "share", "source_rows", "target_rows", "classes", "rows")


def _level_rows(shift: Shift) -> list[tuple[Cell, ...]]:
    counts = shift.curves.classes
    return [
        (at, level.share(*counts), level.source, level.target, level.classes(*counts), level.rows(*counts))
        for at, level in enumerate(shift.curves.levels)
    ]


def levels_table(shift: Shift) -> Table:
    """What each level is made of, with the number of classes, which alone moves some measures."""
    columns = ("Level", "Share of target", "Rows a source class", "Rows a target class", "Classes", "Rows")
    note = "Both end points change the number of classes, which alone moves H-score, LEEP, C-root-K and point-biserial."
    return Table("Levels", columns, tuple(_level_rows(shift)), note)


def judged_table(shift: Shift) -> Table:
    """How each measure follows the shift."""
    rows = tuple(
        (
            measure_title(curve.name),
            "falling" if curve.best == "high" else "rising",
            None if math.isnan(curve.tau_b) else curve.tau_b,
            len(curve.violations),
            curve.largest_violation,
            curve.wrong_steps,
            curve.raw_range,
            curve.source_only_deviation,
            "; ".join(curve.flags),
        )
        for curve in shift.judged
    )
    columns = ("Measure", "Should be", "Tau-b", "Violations", "Largest", "Wrong steps", "Range", "Deviation")
    note = (
        f"Violation: a step of the normalised mean curve the wrong way whose paired {percent(shift.plan.level)} "
        "CI over draws excludes 0. Tau-b: Kendall's, against the share of target rows. Range: of the mean curve "
        "before scaling; deviation: of source-only draws."
    )
    return Table("Monotonicity", (*columns, "Remarks"), rows, note)


def values_table(shift: Shift) -> Table:
    """The mean over repeats of every measure at every level, before scaling."""
    columns = ("Share of target", *(measure_title(curve.name) for curve in shift.judged))
    rows = tuple(
        (float(share), *(number_or_none(curve.mean[at]) for curve in shift.judged))
        for at, share in enumerate(shift.curves.shares)
    )
    return Table(f"Means over {plural('repeat', shift.plan.repeats)}", columns, rows)


def _records(shift: Shift) -> Iterator[tuple[Cell, ...]]:
    for curve in shift.judged:
        for at, share in enumerate(shift.curves.shares):
            cells = (curve.mean[at], curve.deviation[at], curve.normalised[at])
            yield (curve.name, float(share), *(number_or_none(cell) for cell in cells))


# --- charts and words ---


def curve_charts(shift: Shift) -> Iterator[Chart]:
    """One chart for each family, as the FERM paper draws them; bands are intervals over draws."""
    known = {curve.name: curve for curve in shift.judged}
    for title, names in measured_families([curve.name for curve in shift.judged]):
        chosen = [known[name] for name in names]
        rows = tuple(row for curve in chosen for row in _points(shift, curve))
        best = max(chosen, key=lambda curve: abs(curve.tau_b) if not math.isnan(curve.tau_b) else -1.0)
        yield Chart(
            title=title,
            summary=(
                f"Scaled values of {enumeration(tuple(map(measure_title, names)))} against the share of target rows. "
                f"The most monotone is {measure_title(best.name)} (tau-b {number(best.tau_b)})."
            ),
            kind="line",
            data=Table(title, ("Measure", "Share of target", "Scaled value", "Low", "High"), rows),
            x=Axis("Share of target", "share of target rows", low=0.0, high=1.0, percent=True),
            y=Axis("Scaled value", "scaled value", low=0.0, high=1.0),
            series="Measure",
        )


def _points(shift: Shift, curve: Curve) -> Iterator[tuple[Cell, ...]]:
    for at, share in enumerate(shift.curves.shares):
        cells = (curve.normalised[at], curve.low[at], curve.high[at])
        yield (measure_title(curve.name), float(share), *(number_or_none(cell) for cell in cells))


def _sentences(shift: Shift) -> Iterator[str]:
    steady = [measure_title(curve.name) for curve in shift.judged if not curve.violations and FLAT not in curve.flags]
    bent = [curve for curve in shift.judged if curve.violations]
    falls = [measure_title(curve.name) for curve in shift.judged if not curve.wrong_steps and FLAT not in curve.flags]
    if falls:
        yield f"Monotone at every level: {enumeration(tuple(falls))}."
    if steady:
        yield f"No significant step in the wrong direction: {enumeration(tuple(steady))}."
    if bent:
        worst = max(bent, key=lambda curve: curve.largest_violation)
        yield (
            f"{plural('measure', len(bent))} {'takes' if len(bent) == 1 else 'take'} significant steps in the wrong "
            f"direction; the largest is that of {measure_title(worst.name)} ({number(worst.largest_violation)} of its "
            "range)."
        )
    yield from (f"{measure_title(curve.name)} is flat." for curve in shift.judged if FLAT in curve.flags)


def _lead(shift: Shift) -> str:
    source, target = shift.curves.classes
    return (
        f"{plural('class', source)} of {shift.source.name} and {plural('class', target)} of {shift.target.name}; "
        f"{plural('level', len(shift.curves.levels))}, {plural('repeat', shift.plan.repeats)}. A measure that detects "
        "the shift gets steadily worse from left to right."
    )


def notes(shift: Shift) -> Iterator[str]:
    """What must be known about the experiment."""
    classes = sorted({level.classes(*shift.curves.classes) for level in shift.curves.levels})
    yield f"The number of classes is {', '.join(map(str, classes))} at different levels: see the table of levels."
    yield from (f"The {side} side {FIXED}." for side in shift.curves.fixed)
    if shift.plan.options.singletons == "omit":
        yield "Classes of one row have no similarity inside and are left out of it; singletons=zero replays the paper."


def _method(shift: Shift) -> Text:
    plan = shift.plan
    return Text(
        "Method",
        (
            "Target rows are added first, then source rows are taken away; classes are fixed, labels of the two sides "
            f"are kept apart, and the union is measured. Rows are sampled again in each of {plan.repeats} repeats.",
            f"{plural('draw', plan.draws)} take half of the classes of each side without replacement and resample rows "
            "(the interval of a step pairs both its ends inside a draw).",
        ),
    )


def _facts(shift: Shift) -> Facts:
    settings = tuple((f"Setting {name}", str(value)) for name, value in sorted(shift.settings.items()))
    digests = (("Digest of source", shift.source.digest), ("Digest of target", shift.target.digest))
    return (*settings, *digests, ("Software", f"Basanite {__version__}"))
