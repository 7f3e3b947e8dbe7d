"""What the report on readability shows: the verdict with its conditions, the nulls drawn, rivals and panels (S-3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from basanite.analysis.results import Analysis
from basanite.figures import Axis, Cell, Chart, Figure, Mark, Table, Text
from basanite.metrics.judgement.readability import METRICS, gold_of, worth
from basanite.tasks.readability.panel_tables import panel_figures
from basanite.tasks.readability.verdict import FIXED, Examined, Findings, conditions, verdict

BINS = 25
NAMES = tuple(metric.name for metric in METRICS)


def readability_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """The task's own part of a report."""
    examined = analysis.scores.kept
    if not isinstance(examined, Examined):
        return ()
    return tuple(_figures(examined, analysis.scores.system))


def _figures(examined: Examined, system: str) -> Iterator[Figure]:
    if examined.found is not None:
        said = verdict(examined.found, examined.declared)
        yield Text("Verdict", (f"{system}: {said}.",))
        yield _conditions(examined.found, examined.declared)
        for name in NAMES:
            yield from _null(examined.found, name, system)
        yield _rivals(examined, examined.found, system)
    yield _scatter(examined, system)
    yield from panel_figures(examined)


def _conditions(found: Findings, declared: str) -> Table:
    rows = [(one.name, "yes" if one.holds else "no", one.figures) for one in conditions(found, declared)]
    return Table("What the verdict asks for", ("Condition", "Holds", "Figures"), rows, "All of them must hold.")


def _null(found: Findings, name: str, system: str) -> Iterator[Chart]:
    """The null as a histogram, with the critical value and the system's own marked."""
    drawn, test = found.nulls[name], found.tests[name]
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn) or math.isnan(test.value):
        return
    counts, edges = np.histogram(drawn, bins=BINS)
    shares = counts / len(drawn)
    rows = [(float(edge), float(share)) for edge, share in zip(edges, [*shares, 0.0], strict=True)]
    rows.insert(0, (rows[0][0], 0.0))
    top, ends = float(shares.max()), (min(float(edges[0]), test.value), max(float(edges[-1]), test.value))
    room = 0.05 * (ends[1] - ends[0] or 1.0)
    yield Chart(
        title=f"Null of {name} ({FIXED})",
        summary=_told(found, name, system),
        kind="line",
        data=Table(f"Null of {name}", ("value", "share of draws"), rows, detail=True),
        x=Axis("value", name, low=ends[0] - room, high=ends[1] + room),
        y=Axis("share of draws", "share of draws", low=0.0, high=1.15 * top, percent=True),
        marks=(Mark(system, test.value, 0.14 * top),),
        guides=(("critical", ((test.critical, 0.0), (test.critical, 1.1 * top))),)
        if math.isfinite(test.critical)
        else (),
        step=True,
    )


def _told(found: Findings, name: str, system: str) -> str:
    test, place, novices = found.tests[name], found.place(name), len(found.novices)
    side = "above" if test.above else "not above"
    return (
        f"{system} has {test.value:.4g}, {side} the critical value {test.critical:.4g} (upper 2.5 % of {test.draws:,} "
        f"draws); p = {test.p:.4f}. Place {place} of {novices + 1}: itself among {novices} novices."
    )


def _rivals(examined: Examined, found: Findings, system: str) -> Table:
    """The machine, the baselines, the best constant, and each novice as if the machine against the others."""
    constant = {NAMES[0]: found.constant_value}
    constant[NAMES[1]] = _constant_target(examined, found)
    people = zip(examined.panels.names["novice"], found.novices, strict=True)
    rows: list[tuple[Cell, ...]] = [(system, "machine", *_cells(found.observed))]
    rows += [(name, "baseline", *_cells(each)) for name, each in examined.baselines.items()]
    rows.append((f"{found.constant:.4g} throughout", "best constant", *_cells(constant)))
    rows += [(name, "novice", *_cells(each)) for name, each in people]
    best = sorted(rows[1:], key=lambda row: -row[2] if isinstance(row[2], float) else math.inf)
    note = (
        "Novices are scored against the other novices on the passages they rated. Baselines rate passages that they "
        "did not learn from. The constant was chosen with the truth in hand."
    )
    return Table("The machine among its rivals", ("Who", "Kind", *NAMES), [rows[0], *best], note, frozenset({0}))


def _constant_target(examined: Examined, found: Findings) -> float:
    block = examined.block
    return float(worth(np.full(len(block.machine), found.constant), gold_of(block.experts)).mean())


def _cells(values: Mapping[str, float]) -> Iterator[Cell]:
    """The three values; undefined is None, never 0."""
    for name in NAMES:
        value = values.get(name, math.nan)
        yield None if math.isnan(value) else value


def _scatter(examined: Examined, system: str) -> Chart:
    means = gold_of(examined.block.experts).mean
    rows = [
        (unit, float(mean), float(own))
        for unit, mean, own in zip(examined.units, means, examined.block.machine, strict=True)
    ]
    return Chart(
        title="Machine and experts, passage by passage",
        summary=f"Each point is a passage: the mean of the experts across, the rating of {system} upwards.",
        kind="points",
        data=Table("Ratings of passages", ("passage", "experts", "machine"), rows, detail=True),
        x=Axis("experts", "mean of the experts"),
        y=Axis("machine", f"rating of {system}"),
    )
