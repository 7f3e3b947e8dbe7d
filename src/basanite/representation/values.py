"""From measures and their draws to values that are never naked: an interval, or why there is none (S-5, S-13)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from basanite.analysis.interval_methods import NO_WIDTH, exact_bounds, tails_of
from basanite.analysis.intervals import FEWEST_UNITS, TOO_FEW, Span, span
from basanite.analysis.intervals import UNDEFINED as UNDEFINED_VALUE
from basanite.analysis.resampling import indices
from basanite.analysis.results import Value
from basanite.kernel import settled, source_of, within
from basanite.representation.catalogue import SHARES, measure_metric
from basanite.representation.intervals import CENTRED, HALVES, Drawn
from basanite.representation.measures.all_measures import Representation
from basanite.representation.measures.results import UNDEFINED, Classes, Floats, Measured

FIXED = "other rows held fixed"
RIVAL = "nearest rival: "
SCALED = ("davies_bouldin",)
"""Copies shrink its draws by a factor, so they are scaled back."""


def value_with_interval(name: str, measured: Measured, drawn: Drawn, *, rows: int, level: float) -> Value:
    """One value with its interval; flags say what must be known about either."""
    ends = drawn.ends.get(name, measure_metric(name).ends)
    bounds = interval_of(name, measured.value, drawn, rows=rows, level=level)
    flags = (*measured.flags, *measured.notes, *bounds.flags)
    return Value(
        settled(measured.value, ends),
        settled(within(bounds.low, ends), ends),  # draws are moved to the estimate, beyond what can be (S-26)
        settled(within(bounds.high, ends), ends),
        rows,
        bounds.undefined,
        tuple(dict.fromkeys(UNDEFINED_VALUE if flag == UNDEFINED else flag for flag in flags)),
        dict(measured.parts),
        method=bounds.method,
    )


def interval_of(name: str, value: float, drawn: Drawn, *, rows: int, level: float) -> Span:
    """The interval of a value from its draws, by the way that is valid for the measure."""
    draws = drawn.values.get(name)
    said = (drawn.why[name],) if name in drawn.why else ()
    if not np.isfinite(value):
        return Span(None, None, (UNDEFINED_VALUE,) if np.isnan(value) else ("infinite",))
    if rows < FEWEST_UNITS:
        return Span(None, None, (TOO_FEW,))
    if draws is None or not draws.size:
        return Span(None, None, said or ("no interval: none was requested",))
    found = span(value, _move_to_estimate(name, value, draws) if name in drawn.moved else draws, tails_of(level))
    centred = (CENTRED,) if name in drawn.moved and HALVES not in said else ()
    return replace(found, flags=(*found.flags, *said, *centred))


def _move_to_estimate(name: str, value: float, draws: Floats) -> Floats:
    """Draws at the estimate: moved, or scaled where a measure is a ratio whose draws shrink with it."""
    middle = float(np.median(draws[np.isfinite(draws)])) if np.isfinite(draws).any() else 0.0
    return draws * (value / middle) if name in SCALED and middle > 0 else moved_to(value, draws)


def moved_to(value: float, draws: Floats) -> Floats:
    """Draws with their median at the estimate.

    >>> moved_to(5.0, np.array([1.0, 2.0, 4.0])).tolist()
    [4.0, 5.0, 7.0]
    """
    defined = draws[np.isfinite(draws)]
    return draws if not defined.size else draws - np.median(defined) + value


def share_value(mean: float, draws: Floats | None, *, rows: int, level: float, flags: tuple[str, ...] = ()) -> Value:
    """A mean over rows with its interval; a share without any spread has the exact binomial bound (S-13)."""
    if not np.isfinite(mean) or rows < FEWEST_UNITS or draws is None or not draws.size:
        why = UNDEFINED_VALUE if np.isnan(mean) else TOO_FEW if rows < FEWEST_UNITS else "no interval"
        return Value(mean, None, None, rows, 0, (*flags, why))
    found = span(mean, draws, tails_of(level))
    if found.flags == (NO_WIDTH,) and mean in (0.0, 1.0):
        low, high = exact_bounds(mean, rows, level)
        return Value(mean, low, high, rows, 0, (*flags, f"exact binomial bound over {rows} rows"), method="exact")
    return Value(mean, found.low, found.high, rows, found.undefined, (*flags, *found.flags), method=found.method)


def class_values(
    found: Representation, each: Mapping[str, Floats], drawn: Drawn, rows: Drawn, *, level: float
) -> dict[str, dict[str, Value]]:
    """The figures of every class by its name: ratio, similarity inside and outside, and means over its rows."""
    figures = found.figures
    return {
        str(name): {
            **_cosine_values(found, place, drawn, level),
            **_mean_values(place, found, each, rows, level),
        }
        for place, name in enumerate(figures.names)
    }


def _cosine_values(found: Representation, place: int, drawn: Drawn, level: float) -> dict[str, Value]:
    figures = found.figures
    parts = {"rival_cosine": float(figures.rival_cosine[place])}
    rival: Hashable = figures.names[int(figures.rival[place])]
    values = {"ferm1": figures.ratio, "intra": figures.intra, "inter": figures.inter}
    made = {}
    for name, array in values.items():
        draws = drawn.classes.get(name)
        one = Drawn({name: draws[:, place]}) if draws is not None else Drawn()
        flags = (f"{RIVAL}{rival}",) if name == "ferm1" else ()
        measured = Measured(float(array[place]), flags, parts if name == "ferm1" else {})
        made[name] = value_with_interval(name, measured, one, rows=int(figures.counts[place]), level=level)
    return made


def _mean_values(
    place: int, found: Representation, each: Mapping[str, Floats], rows: Drawn, level: float
) -> dict[str, Value]:
    own = found.classes.members(place)
    made = {}
    for name, array in each.items():
        draws = rows.classes.get(name)
        flags = () if name in SHARES and name != "misplaced" else (FIXED,)
        mean = float(array[own].mean())
        made[name] = share_value(
            mean, None if draws is None else draws[:, place], rows=len(own), level=level, flags=flags
        )
    return made


BLOCK = 1 << 22
"""Weights of one block (32 MB)."""


def class_weights(classes: Classes, *, draws: int, seed: int) -> Iterator[Floats]:
    """Blocks of weights `[draws, N]`: how often each row is in each draw; every class keeps its number of rows.

    >>> drawn = np.concatenate(list(class_weights(Classes.of(["a", "b", "a", "b", "b"]), draws=3, seed=0)))
    >>> drawn[:, [0, 2]].sum(axis=1).tolist(), drawn[:, [1, 3, 4]].sum(axis=1).tolist()
    ([2.0, 2.0, 2.0], [3.0, 3.0, 3.0])
    """
    rows = len(classes.codes)
    sources = [source_of(seed, "rows", str(place)) for place in range(len(classes))]
    most = max(1, BLOCK // max(rows, 1))
    for start in range(0, draws, most):
        size = min(most, draws - start)
        block = np.zeros((size, rows))
        for place, source in enumerate(sources):
            own = classes.members(place)
            block[:, own] = _row_counts(source, size, len(own))
        yield block


def _row_counts(source: np.random.PCG64, draws: int, rows: int) -> Floats:
    words = source.random_raw(draws * ((rows + 1) // 2)).reshape(draws, -1)
    drawn = indices(words, rows)[:, :rows] + np.arange(draws)[:, None] * rows
    return np.bincount(drawn.ravel(), minlength=draws * rows).reshape(draws, rows).astype(np.float64)
