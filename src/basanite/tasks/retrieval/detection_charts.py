"""The charts of detection tasks: value over threshold, DET, and where the value is lost.

Curves over thresholds: the same `reduce` that gives a value gives its curve, from a sweep's cumulative sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.resampling import values_of
from basanite.analysis.results import Analysis, Comparison
from basanite.figures import Axis, Chart, Figure, Mark, Table
from basanite.kernel import Metric, Scores, Sweep

Floats = NDArray[np.float64]


def curve(metric: Metric, sweep: Sweep) -> Floats:
    """The metric's value at every threshold of the sweep."""
    return values_of(metric, sweep.sums)


def best(metric: Metric, sweep: Sweep) -> tuple[float, float]:
    """The best threshold and the value there; of equal ones the largest threshold, which returns least.

    Undefined points are passed over; where all are, both numbers are nan.
    """
    heights = -curve(metric, sweep) if metric.best == "low" else curve(metric, sweep)
    if np.isnan(heights).all():
        return float("nan"), float("nan")
    place = len(heights) - 1 - int(np.nanargmax(heights[::-1]))
    return float(sweep.thresholds[place]), float(curve(metric, sweep)[place])


def thin_curve(values: Floats, most: int) -> NDArray[np.int64]:
    """The places of at most `most` points (at least 4) that keep both ends and the extremes of each stretch.

    >>> thin_curve(np.array([0.0, 1, 9, 2, 3, 2, 1, 0]), 4).tolist()
    [0, 1, 2, 7]
    """
    if len(values) <= most:
        return np.arange(len(values))
    stretches = np.array_split(np.arange(1, len(values) - 1), max(1, (most - 2) // 2))
    extremes = [place for stretch in stretches for place in _extremes(values, stretch)]
    return np.unique([0, *extremes, len(values) - 1]).astype(np.int64)


def error_rates(sweep: Sweep, *, misses: tuple[str, str], false_alarms: tuple[str, str]) -> tuple[Floats, Floats]:
    """Miss and false-alarm rate at every threshold, each a pair of columns: numerator and denominator."""
    return _ratio(sweep, *misses), _ratio(sweep, *false_alarms)


def _ratio(sweep: Sweep, numerator: str, denominator: str) -> Floats:
    over, under = (sweep.sums[:, sweep.columns.index(name)] for name in (numerator, denominator))
    with np.errstate(all="ignore"):
        return np.asarray(over / np.where(under == 0, np.nan, under), dtype=np.float64)


def _extremes(values: Floats, stretch: NDArray[np.int64]) -> list[int]:
    """The places of the highest and the lowest defined value of one stretch."""
    part = values[stretch]
    if not len(part) or np.isnan(part).all():
        return []
    return [int(stretch[np.nanargmax(part)]), int(stretch[np.nanargmin(part)])]


FORMS = {"aqwv": "primary", "aqwv_all": "all queries", "aqwv_relevant": "relevant only"}
DRAWN = {*FORMS, "pmiss", "pfa", "mqwv", "mqwv_crossfit", "oracle", "theta_best"}
"""The values that the charts show; with `--metric` some may not be there."""
POINTS = 400
LOWEST, HIGHEST = 0.0001, 0.9999
"""The ends of normal-deviate axes: 0 and 1 lie infinitely far out."""
Point = tuple[float, float]
ISO_VALUES = (0.8, 0.6, 0.4, 0.2, 0.0)


def detection_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """All charts of one system; none if there is nothing to draw."""
    if not _drawable(analysis):
        return ()
    return (value_chart(analysis), loss_table(analysis), det_chart((analysis,)))


def compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """One DET chart for all systems, then each system's own curve: their scores cannot be compared (M32)."""
    drawn = tuple(analysis for analysis in comparison.analyses.values() if _drawable(analysis))
    curves = [replace(value_chart(one), title=f"Value over threshold: {one.scores.system}") for one in drawn]
    return (det_chart(drawn), *curves) if drawn else ()


def _drawable(analysis: Analysis) -> bool:
    wanted = {"aqwv", "mqwv", "mqwv_crossfit", "oracle", "theta_best", "pmiss", "pfa"}
    return (
        analysis.scores.sweep is not None
        and wanted <= analysis.values.keys()
        and not math.isnan(analysis.values["aqwv"].value)
    )


def _sweep(analysis: Analysis) -> Sweep:
    assert analysis.scores.sweep is not None, "only systems with a sweep are drawn"
    return analysis.scores.sweep


def value_chart(analysis: Analysis) -> Chart:
    """QWV over theta for the forms asked for, with the actual, best, cross-fitted and oracle values marked."""
    forms = [name for name in FORMS if name in analysis.values]
    rows = [row for name in forms for row in _curve_rows(analysis.scores, _sweep(analysis), name)]
    values = {name: analysis.values[name].value for name in ("aqwv", "mqwv", "mqwv_crossfit", "oracle", "theta_best")}
    threshold = analysis.values["aqwv"].parts.get("threshold")
    marks = [Mark(f"MQWV {values['mqwv']:.3f} (optimistic)", min(values["theta_best"], 1.0), values["mqwv"])]
    if threshold is not None:
        marks.append(Mark(f"AQWV {values['aqwv']:.3f}", threshold, values["aqwv"]))
    return Chart(
        title="Value over threshold",
        summary=_value_summary(values, threshold),
        kind="line",
        data=Table("Value over threshold", ("threshold", "value", "form"), rows),
        x=Axis("threshold", "threshold θ", low=0.0, high=1.0),
        y=Axis("value", "query weighted value", low=max(-1.0, min(0.0, values["aqwv"] - 0.1)), high=1.0),
        series="form",
        marks=tuple(marks),
        guides=tuple(_value_lines(values, threshold)),
        step=True,
    )


def _curve_rows(scores: Scores, sweep: Sweep, name: str) -> Iterator[tuple[float, float, str]]:
    values = curve(scores.metric(name), sweep)
    # Nothing is returned above the highest score; the end of the axis stands for that.
    at = np.minimum(sweep.thresholds, 1.0)
    for place in thin_curve(values, POINTS):
        yield float(at[place]), float(values[place]), FORMS[name]


def _value_lines(values: dict[str, float], threshold: float | None) -> Iterator[tuple[str, tuple[Point, ...]]]:
    """Values that belong to no one threshold, as lines across the chart."""
    yield f"oracle {values['oracle']:.3f} (optimistic)", _level(values["oracle"])
    yield f"cross-fitted {values['mqwv_crossfit']:.3f}", _level(values["mqwv_crossfit"])
    if threshold is None:
        yield f"AQWV {values['aqwv']:.3f}", _level(values["aqwv"])


def _level(value: float) -> tuple[Point, ...]:
    return ((0.0, value), (1.0, value))


def _value_summary(values: dict[str, float], threshold: float | None) -> str:
    where = "by returning nothing" if math.isinf(values["theta_best"]) else f"at threshold {values['theta_best']:.5g}"
    actual = "" if threshold is None else f", as threshold {threshold:.5g} would"
    return (
        f"The submitted decisions give {values['aqwv']:.4f}{actual}. One threshold for all queries could have given "
        f"{values['mqwv']:.4f} {where}; chosen on other queries it would have given {values['mqwv_crossfit']:.4f}. "
        f"With the best threshold for each query the ranking allows {values['oracle']:.4f}. MQWV and oracle "
        "use the reference to choose thresholds, so they are optimistic."
    )


def loss_table(analysis: Analysis) -> Table:
    """Where the primary value is lost: by the threshold, by the ranking, and beyond."""
    actual, crossfit, oracle = (analysis.values[name].value for name in ("aqwv", "mqwv_crossfit", "oracle"))
    return Table(
        "Where the value is lost",
        ("step", "value", "loss"),
        [
            ("perfect", 1.0, None),
            ("best threshold for each query (oracle)", oracle, 1.0 - oracle),
            ("one threshold, chosen on other queries (ranking)", crossfit, oracle - crossfit),
            ("the submitted decisions (calibration)", actual, crossfit - actual),
        ],
        note="Calibration can be negative: the submitted decisions may beat the cross-fitted threshold.",
    )


def det_chart(analyses: Sequence[Analysis]) -> Chart:
    """Misses against false alarms on normal-deviate axes, with lines of equal value."""
    beta = float(analyses[0].scores.metric("aqwv").settings["beta"])
    return Chart(
        title="Misses against false alarms (DET)",
        summary=_det_summary(analyses, beta),
        kind="line",
        data=Table(
            "Misses against false alarms",
            ("false alarms", "misses", "threshold", "system"),
            [row for analysis in analyses for row in _det_rows(analysis)],
        ),
        x=Axis("false alarms", "false alarms (share of non-relevant documents)", "deviate", LOWEST, 0.5, percent=True),
        y=Axis("misses", "misses (share of relevant documents)", "deviate", 0.01, 0.99, percent=True),
        series="system" if len(analyses) > 1 else None,
        marks=tuple(
            Mark(
                "submitted decisions" if len(analyses) == 1 else analysis.scores.system,
                _clip_rate(analysis.values["pfa"].value),
                _clip_rate(analysis.values["pmiss"].value),
            )
            for analysis in analyses
        ),
        guides=tuple(_iso_lines(beta)),
    )


def _det_rows(analysis: Analysis) -> Iterator[tuple[float, float, float, str]]:
    sweep = _sweep(analysis)
    misses, alarms = error_rates(sweep, misses=("pmiss", "has_relevant"), false_alarms=("pfa", "queries"))
    inside = np.flatnonzero((misses > LOWEST) & (misses < HIGHEST) & (alarms > LOWEST) & (alarms < HIGHEST))
    for at in inside[_evenly(alarms[inside])]:
        yield float(alarms[at]), float(misses[at]), float(sweep.thresholds[at]), analysis.scores.system


def _det_summary(analyses: Sequence[Analysis], beta: float) -> str:
    said = " ".join(
        f"The submitted decisions of {one.scores.system} miss {one.values['pmiss'].value:.2%} of the relevant "
        f"documents and return {one.values['pfa'].value:.3%} of the others."
        for one in analyses
    )
    return f"{said} Gray lines connect points of equal AQWV for beta {beta:g}; down and left is better."


def _evenly(alarms: NDArray[np.float64]) -> NDArray[np.int64]:
    """At most `POINTS` places spread evenly over the axis as it is drawn."""
    if len(alarms) <= POINTS:
        return np.arange(len(alarms))
    drawn = np.array([NormalDist().inv_cdf(rate) for rate in alarms])
    steps = np.floor((drawn - drawn.min()) / (np.ptp(drawn) or 1.0) * (POINTS - 1))
    return np.unique(steps, return_index=True)[1][::-1]


def _clip_rate(rate: float) -> float:
    return min(max(rate, LOWEST), HIGHEST)


def _iso_lines(beta: float) -> Iterator[tuple[str, tuple[Point, ...]]]:
    """Lines along which 1 - (miss + beta alarm) is the same."""
    for value in ISO_VALUES:
        misses = np.linspace(0.001, 1 - value - 1e-6, 60)
        points = ((max((1 - value - miss) / beta, 0.0) if beta else 0.0, float(miss)) for miss in misses)
        inside = tuple((alarm, miss) for alarm, miss in points if LOWEST < alarm < HIGHEST and miss < HIGHEST)
        if len(inside) > 1:
            yield f"{value:g}", inside
