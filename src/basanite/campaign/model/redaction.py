"""A result cut down to what somebody may see: values by name, rounded; small cells and every trace of documents gone.

Only what is named here gets through. A new key of the result stays hidden until somebody decides otherwise. On the
ladder, a new value is shown only if it is better by more than chance and many tries explain (S-17).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from basanite.formats.datasets.pack_names import DOCUMENT

USUAL_ERRORS: Final = 2.0
"""Standard errors of the difference, where a file says nothing."""
NORMAL_95: Final = 1.959963984540054


@dataclass(frozen=True)
class Rung:
    """Where a team stands on the ladder: the one number it sees, and the step that number is rounded to."""

    value: float | None
    step: float
    moved: bool = True
    """Whether the newest run changed it."""


def standard_error(low: float | None, high: float | None) -> float:
    """The standard error behind an interval; not a number where there is none.

    >>> round(standard_error(0.4, 0.6), 3), standard_error(None, None)
    (0.051, nan)
    """
    return math.nan if low is None or high is None else (high - low) / (2 * NORMAL_95)


def step(standard_error: float, tries: int, errors: float = USUAL_ERRORS) -> float:
    """How much better a run must be: some standard errors of the difference, more after many tries.

    >>> step(0.01, 1), round(step(0.01, 100), 4)
    (0.02, 0.0474)
    """
    return errors * standard_error * math.sqrt(1 + math.log(max(tries, 1)))


def climb(
    before: Rung | None, value: float, *, gain: float, standard_error: float, tries: int, errors: float = USUAL_ERRORS
) -> Rung:
    """The rung after a new run: moved if its paired gain over the run that is shown exceeds the step.

    `gain` is the new value less the shown run's true value, with the sign turned where lower is better.

    >>> first = climb(None, 0.333, gain=0.0, standard_error=0.01, tries=1)
    >>> climb(first, 0.340, gain=0.007, standard_error=0.01, tries=2).value == first.value
    True
    """
    if not math.isfinite(value) or not math.isfinite(standard_error):
        return Rung(before.value if before else None, before.step if before else 0.0, moved=False)
    size = step(standard_error, tries, errors)
    if before is None or before.value is None:
        return Rung(on_step(value, size), size)
    if not math.isfinite(gain) or gain <= size:
        return Rung(before.value, before.step, moved=False)
    return Rung(on_step(value, size), size)


def on_step(value: float, size: float) -> float:
    """A value rounded to whole steps.

    >>> on_step(0.333, 0.02)
    0.34
    """
    return round(round(value / size) * size, 10) + 0.0 if size > 0 else round(value, 3) + 0.0


SMALLEST: Final = 10
Cells = Mapping[str, Mapping[str, Any]]


def without_small_cells(breakdowns: Mapping[str, Cells], values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The breakdowns of a result on a sealed set, with the cells that may not be shown left out."""
    total = _size(values)
    return {factor: _safe(levels, total) for factor, levels in breakdowns.items()}


def _safe(levels: Cells, total: int) -> dict[str, Any]:
    hidden = hidden_cells({level: _size(cell) for level, cell in levels.items()}, total)
    return {level: cell for level, cell in levels.items() if level not in hidden}


def hidden_cells(sizes: Mapping[str, int], total: int = 0) -> frozenset[str]:
    """The cells to hide: the small ones, and the next larger until what is hidden together is not small either.

    `total` is the size of the whole, which is known: what it holds beyond the cells counts as hidden too.

    >>> sorted(hidden_cells({"NT": 60, "BT": 25, "CS": 3}, 88))
    ['BT', 'CS']
    """
    hidden = {name for name, size in sizes.items() if size < SMALLEST}
    rest = max(total - sum(sizes.values()), 0)
    larger = sorted((name for name in sizes if name not in hidden), key=lambda name: (sizes[name], name))
    for name in larger:
        if _is_safe([sizes[part] for part in hidden], rest):
            break
        hidden.add(name)
    return frozenset(hidden)


def _is_safe(hidden: list[int], rest: int) -> bool:
    """Whether subtraction gives nothing, or a sum over enough units that is no single cell."""
    nothing = not hidden and rest == 0
    many = sum(hidden) + rest >= SMALLEST and len(hidden) != 1
    lone = len(hidden) == 1 and rest >= SMALLEST
    return nothing or many or lone


def _size(values: Mapping[str, Any]) -> int:
    """The units behind a cell: the fewest that any of its values rests on."""
    return min((int(entry.get("units") or 0) for entry in values.values()), default=0)


HEAD: Final = ("format", "task", "primary")
DETAILS: Final = ("settings", "signature")
ENTRY: Final = (
    "value",
    "low",
    "high",
    "units",
    "undefined",
    "method",
    "flags",
    "parts",
    "signature",
    "infinite",
    "note",
)
THREE: Final[Mapping[str, tuple[str, ...]]] = {
    "clir": ("aqwv", "aqwv_all", "aqwv_relevant"),
    "judged": ("corrected", "judge_alone", "people_alone"),
    "e2e": ("e2e_aqwv", "e2e_aqwv_all", "e2e_aqwv_relevant"),
}
"""The three values that limited feedback is made of (C33); of the other tasks it is the primary one."""
CLASS_SHARES: Final = ("hit", "miss", "false_alarm", "correct_rejection")
JUDGED: Final = "e2e_"
NEVER_AN_EVALUATION: Final = ("auc", "auc_pooled")
"""For early development only, never a result on a sealed set (M11)."""
PER_DOCUMENT: Final = re.compile(r"doc(ument)?(s|_?ids?)?", re.IGNORECASE)
DECIMALS: Final = 3


@dataclass(frozen=True)
class Cut:
    """How much of a result gets through."""

    level: str
    e2e: bool
    shows: tuple[str, ...] = ()
    half_width: float = 0.05
    sealed: bool = True


def cut_down(result: Mapping[str, Any], cut: Cut, rung: Rung | None = None) -> dict[str, Any]:
    """The part of a result that gets through."""
    head = {key: result[key] for key in HEAD if key in result}
    if cut.level == "ladder":
        name = result.get("primary")  # one number on its step: whether this run moved it is all that can be learnt
        return {**head, "values": {name: {"value": rung.value, "step": rung.step}} if rung and name else {}}
    if cut.level in ("limited", "top"):
        return {**head, **_few(result, cut)}
    return {**head, **_details(result, cut)}


def _usual_names(task: str, primary: str, cut: Cut) -> tuple[str, ...]:
    """Three values of a task; of an end-to-end run also those of its decisions, which stand alone before (M16).

    A primary one that was chosen and is none of them stands before them (S-27).
    """
    usual = THREE.get(task, ())
    if task == "e2e" and not cut.e2e:
        usual = THREE["clir"]
    elif task == "e2e" and cut.level != "limited":
        usual = (*THREE["e2e"], *THREE["clir"])
    return usual if primary in (*usual, *THREE.get(task, ())) else (primary, *usual)


def _is_allowed(name: str, cut: Cut) -> bool:
    judged = name.startswith(JUDGED)
    return (cut.e2e or not judged) and not (cut.sealed and name in NEVER_AN_EVALUATION)


def _few(result: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    usual = cut.shows or _usual_names(str(result.get("task")), str(result.get("primary") or ""), cut)
    names = tuple(name for name in usual if _is_allowed(name, cut))
    values = result.get("values") or {}
    found: dict[str, Any] = {"values": _headlines(values, names, cut)}
    if not values:
        targets = (result.get("breakdowns") or {}).get("target") or {}
        chosen = names if cut.shows else CLASS_SHARES if cut.level == "top" else ()
        if chosen:
            kept = without_small_cells({"target": targets}, values)["target"] if cut.sealed else targets
            found["breakdowns"] = {"target": {level: _headlines(cell, chosen, cut) for level, cell in kept.items()}}
    return found


def _headlines(values: Mapping[str, Any], names: Collection[str], cut: Cut) -> dict[str, Any]:
    return {name: _headline(values[name], cut) for name in names if name in values}


def _headline(entry: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    """A value to three decimals: limited with the half-width fixed beforehand, released with its own interval (X-7)."""
    value = round_value(entry.get("value"))
    if cut.level == "limited":
        return {"value": value, "half_width": cut.half_width}
    return {"value": value, "low": round_value(entry.get("low")), "high": round_value(entry.get("high"))}


def round_value(value: float | None) -> float | None:
    """A value to 0.001; undefined stays undefined.

    >>> round_value(0.70881), round_value(-0.0001), round_value(None)
    (0.709, 0.0, None)
    """
    return None if value is None else round(value, DECIMALS) + 0.0


def _details(result: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    """Everything a full result tells, less what is judged and not released, small, or about single documents."""
    values = result.get("values") or {}
    every = result.get("breakdowns") or {}
    factors = {name: levels for name, levels in every.items() if not PER_DOCUMENT.fullmatch(name)}  # M72
    breakdowns = without_small_cells(factors, values) if cut.sealed else factors
    return {
        "values": _entries(values, cut),
        "breakdowns": {
            factor: {level: _entries(cell, cut) for level, cell in levels.items()}
            for factor, levels in breakdowns.items()
        },
        **{key: result[key] for key in DETAILS if key in result},
        "digests": _digests(result.get("digests") or {}, cut),
        "notes": list(_notes(result.get("notes") or (), cut)),
    }


def _entries(values: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    return {name: _entry(entry) for name, entry in values.items() if _is_allowed(name, cut)}


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: entry[key] for key in ENTRY if key in entry}
    if "parts" in kept:
        kept["parts"] = {name: part for name, part in kept["parts"].items() if isinstance(part, int | float)}
    return kept


def _digests(digests: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    """The plain digest of a sealed key would confirm guesses (X-1)."""
    return {name: digest for name, digest in digests.items() if name == "submission" or not cut.sealed}


def _notes(notes: Collection[Any], cut: Cut) -> Iterator[str]:
    """Sentences beside the numbers; on sealed sets they may tell of the key, and nowhere do they name documents."""
    for note in notes:
        if not cut.sealed and isinstance(note, str) and not DOCUMENT.search(note):
            yield note


OPEN_COLUMNS: Final = (
    frozenset({"threshold", "value", "form"}),
    frozenset({"false alarms", "misses", "threshold", "system"}),
    frozenset({"step", "value", "loss"}),
)
"""What the columns of a figure may be: a value or errors over thresholds, and where the value is lost."""
CONFUSION: Final = "true class"
"""The first column of a confusion table: whole classes, shown where the truth is nobody's secret."""
DIGITS: Final = 2
"""Decimals of what is drawn of a sealed set; significant digits on normal-deviate axes."""
FEWEST: Final = 10
"""A curve of fewer steps would be one of single documents."""


def curves_shown(figures: Iterable[Mapping[str, Any]], *, sealed: bool) -> tuple[Mapping[str, Any], ...]:
    """The figures that get through; of a sealed set those that tell nothing of single documents."""
    known = (figure for figure in figures if _may_be_seen(figure, sealed=sealed))
    return tuple(_coarse_ones(known) if sealed else known)


def _data(figure: Mapping[str, Any]) -> Mapping[str, Any]:
    data: Mapping[str, Any] = figure["data"] if figure["figure"] == "chart" else figure
    return data


def _may_be_seen(figure: Mapping[str, Any], *, sealed: bool) -> bool:
    """Whether its columns are known to tell nothing of single documents, and no text in it names one."""
    data: Mapping[str, Any] = figure["data"] if figure["figure"] == "chart" else figure
    columns = list(data["columns"])
    if frozenset(columns) not in OPEN_COLUMNS and (sealed or columns[:1] != [CONFUSION]):
        return False
    cells = [cell for row in data["rows"] for cell in row if isinstance(cell, str)]
    return not any(DOCUMENT.search(text) for text in (*cells, str(figure["title"]), str(figure.get("summary", ""))))


def _coarse_ones(figures: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for figure in figures:
        if figure["figure"] == "table":
            yield figure
        elif len(figure["data"]["rows"]) >= FEWEST:
            scales = {figure[axis]["column"]: figure[axis]["scale"] for axis in ("x", "y")}
            yield {**figure, "data": _coarse(figure["data"], scales, figure["x"]["column"])}


def _coarse(data: Mapping[str, Any], scales: Mapping[str, str], first: str) -> dict[str, Any]:
    """One row for each place of the grid on the first axis; numbers that are on no axis are left out."""
    columns = list(data["columns"])
    at = [index for index, name in enumerate(columns) if name in scales or not _is_number(data, index)]
    names = [columns[index] for index in at]
    places: dict[Any, list[Any]] = {}
    for row in data["rows"]:
        cells = [_on_grid(row[index], scales.get(columns[index], "")) for index in at]
        words = tuple(cell for cell in cells if isinstance(cell, str))
        places[words, cells[names.index(first)]] = cells
    return {**data, "columns": names, "rows": [cells for cells in places.values() if None not in cells]}


def _is_number(data: Mapping[str, Any], index: int) -> bool:
    return any(isinstance(row[index], int | float) for row in data["rows"])


def _on_grid(cell: Any, scale: str) -> Any:
    """A number on the grid of its axis; the ends of a normal-deviate axis lie infinitely far out."""
    if not isinstance(cell, int | float):
        return cell
    if scale != "deviate":
        return round(cell, DIGITS) + 0.0
    near = float(format(cell, f".{DIGITS}g"))
    return near if 0 < near < 1 else None
