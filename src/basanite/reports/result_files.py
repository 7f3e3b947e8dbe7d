"""Results that were written down, by us or by others: what can be said of systems when only their files are left.

A result holds values and intervals but no rows of single units, so differences are shown and none is tested. Results
that were made by different rules or against different references are only shown together if the user insists.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from basanite import __version__
from basanite.analysis.paired import IncomparableError
from basanite.analysis.results import (
    COMPARISON_FORMAT,
    RESULT_FORMAT,
    Difference,
    Value,
    difference_object,
    values_object,
)
from basanite.canonical import plain_values
from basanite.errors import SettingError, UnknownNameError, UnreadableError
from basanite.figures import Cell, Table
from basanite.formats.bounded import read_bounded
from basanite.formats.texts.external_scores import Figure, Reported
from basanite.registry import suggestion
from basanite.reports.analysis import VALUE_COLUMNS, long_cells, notes_section, remarks, value_cells
from basanite.reports.metric_names import display_name
from basanite.reports.report import (
    LONG_COLUMNS,
    Facts,
    Headline,
    Report,
    Section,
    facts_table,
    sections_with_content,
    tidy,
)
from basanite.reports.wording import enumeration, number, with_interval

LARGEST = 64 * 2**20
FORMAT = re.compile(r"basanite-result/([0-9]{1,6})")
NOT_TESTED = "not tested"
NO_ROWS = "a result holds no rows of single units"
NO_TEST = f"no p and no interval of the differences: {NO_ROWS}; to test them, compare the submissions themselves"
UNLIKE = (
    "these results were not computed the same way, so a difference may come from the rules and not from the systems"
)


@dataclass(frozen=True)
class Result:
    """What a file of `score --json` says of one system."""

    system: str
    task: str
    primary: str
    values: Mapping[str, Value]
    signature: str
    digests: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    level: float = 0.95


def read_result(path: Path, system: str) -> Result:
    """Read a result; a file of another kind, of a newer format or with a value that cannot be is refused."""
    data = read_object(path)
    _check_format(path, data.get("format"))
    try:
        return _result(data, system)
    except (KeyError, AttributeError, TypeError, ValueError, OverflowError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise UnreadableError(
            f"{path} is not a whole result: {what}. Create it again with `basanite score --json`."
        ) from error


def read_comparison(path: Path) -> list[Result]:
    """The systems of a comparison that was written down (`compare --json`), each as a result of its own."""
    data = read_object(path)
    if data.get("format") != COMPARISON_FORMAT:
        raise UnreadableError(f"{path} is not a comparison. Give a file that `basanite compare --json` wrote.")
    try:
        return [
            Result(
                system=_text(system),
                task=_text(data["task"]),
                primary=_text(data.get("primary", next(iter(values)))),
                values={_text(name): _value(value) for name, value in values.items()},
                signature=_text(data["signatures"][system]),
            )
            for system, values in data["values"].items()
        ]
    except (KeyError, AttributeError, TypeError, ValueError, OverflowError, StopIteration) as error:
        raise UnreadableError(
            f"{path} is not a whole comparison. Create it again with `basanite compare --json`."
        ) from error


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, whatever it says."""
    content = read_bounded(path, LARGEST)
    try:
        data = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{path} is not JSON. Give a file that `basanite score --json` wrote.") from error
    if not isinstance(data, dict):
        raise UnreadableError(f"{path} is not a result. Give a file that `basanite score --json` wrote.")
    return data


def _check_format(path: Path, found: Any) -> None:
    if found == RESULT_FORMAT:
        return
    match = FORMAT.fullmatch(found) if isinstance(found, str) else None
    if match is None:
        raise UnreadableError(
            f"{path} is not a result (format {found!r}). Give a file that `basanite score --json` wrote."
        )
    newer = int(match[1]) > int(RESULT_FORMAT.rpartition("/")[2])
    cure = "It was written by a newer Basanite: upgrade this one" if newer else "Create it again with `basanite score`"
    raise UnreadableError(f"{path} has the format {found}; this is Basanite {__version__}, {RESULT_FORMAT}. {cure}.")


def _result(data: Mapping[str, Any], system: str) -> Result:
    return Result(
        system=system,
        task=_text(data["task"]),
        primary=_text(data["primary"]),
        values={_text(name): _value(value) for name, value in data["values"].items()},
        signature=_text(data["signature"]),
        digests={_text(name): _text(digest) for name, digest in data["digests"].items()},
        notes=tuple(map(_text, data["notes"])),
        level=_number(data["settings"]["level"]),
    )


def _value(data: Mapping[str, Any]) -> Value:
    infinite = data.get("infinite_parts", {})
    return Value(
        value=_read_bound(data["value"], data.get("infinite"), math.nan),
        low=_read_bound(data["low"], data.get("infinite_low"), None),
        high=_read_bound(data["high"], data.get("infinite_high"), None),
        units=int(_number(data["units"])),
        undefined=int(_number(data["undefined"])),
        flags=tuple(map(_text, data["flags"])),
        parts={_text(name): _read_bound(part, infinite.get(name), math.nan) for name, part in data["parts"].items()},
        signature=_text(data.get("signature", "")),
        method=_text(data.get("method", "")),
    )


def _read_bound(found: Any, infinite: Any, absent: Any) -> Any:
    """A number, or which way it is infinite, or what stands for none."""
    if found is None:
        return {"+": math.inf, "-": -math.inf}.get(infinite, absent)
    return _number(found)


def _number(found: Any) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise ValueError(f"{found!r} is not a number")
    return float(found)


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError(f"{found!r} is not a text")
    return found


def unlike(first: Result, second: Result) -> list[str]:
    """In what two results were not made alike: program, task, version, settings, reference, signatures of values."""
    one, two = (dict(_made_by(result)) for result in (first, second))
    names = list(dict.fromkeys([*one, *two]))
    if one["program"] != two["program"]:  # their settings have nothing in common that could be compared
        names = ["program", "task", "reference"]
    found = [f"{name} {one.get(name)} against {two.get(name)}" for name in names if one.get(name) != two.get(name)]
    return [*found, *_signed_apart(first, second)]


def _signed_apart(first: Result, second: Result) -> Iterator[str]:
    """What differs in the signatures of values, each difference once with the values that have it."""
    apart: dict[str, list[str]] = {}
    for name in [name for name in first.values if name in second.values]:
        words = _words_apart(first.values[name].signature, second.values[name].signature)
        if words:
            apart.setdefault(words, []).append(name)
    yield from (f"signature of {', '.join(names)}: {words}" for words, names in apart.items())


def _words_apart(first: str, second: str) -> str:
    """The parts of two signatures that only one of them has.

    >>> _words_apart("BLEU; tokeniser: coco; scale 0..1", "BLEU; tokeniser: none; scale 0..1")
    'tokeniser: coco against tokeniser: none'
    """
    one, two = (list(filter(None, re.split(r"; |\|", text))) for text in (first, second))
    alone = [", ".join(part for part in own if part not in other) for own, other in ((one, two), (two, one))]
    return " against ".join(words or "nothing" for words in alone) if any(alone) else ""


def _made_by(result: Result) -> Iterator[tuple[str, str]]:
    yield "program", "Basanite"
    for part in result.signature.split("|"):
        name, _, value = part.partition(":")
        yield name, value
    yield "task", result.task
    yield "reference", result.digests.get("reference", "unknown")


def check_alike(results: Sequence[Result], *, force: bool) -> list[str]:
    """What differs in how results were made; it is an error unless the user insists."""
    if len(results) < 2:
        raise IncomparableError("A comparison needs at least two results: give one more --result.")
    found = [(other, difference) for other in results[1:] for difference in unlike(results[0], other)]
    told = [f"{results[0].system} and {other.system}: {difference}" for other, difference in found]
    if told and not force:
        raise IncomparableError(
            f"These results were not computed the same way. {'; '.join(told)}. Score them again, or add --force."
        )
    return told


def side_by_side(
    results: Sequence[Result], *, metrics: Sequence[str] = (), primary: str | None = None, force: bool = False
) -> Report:
    """The report on several results: their values with intervals, and the differences of every pair."""
    told = check_alike(results, force=force)
    if primary is not None:
        _chosen(results, [primary])
        results = [replace(result, primary=primary) for result in results]
    names = _chosen(results, metrics)
    differences = [_difference(name, first, second) for name in names for first, second in combinations(results, 2)]
    notes = (NO_TEST, *([UNLIKE, *told] if told else []))
    facts = _facts(results)
    return Report(
        title=enumeration(tuple(result.system for result in results)),
        subtitle=f"Results side by side on {results[0].task}",
        sections=sections_with_content(
            Section("Result", "", (_values_table(results, names), _differences_table(results[0].task, differences))),
            Section("How this was computed", "", (facts_table(facts),)),
            notes_section(notes),
        ),
        facts=facts,
        data=_data(results, names, differences, notes),
        records=Table("Values", LONG_COLUMNS, tuple(_records(results, names))),
        headlines=tuple(_headlines(results)),
        sentences=(
            *_sentences(results),
            f"Not computed the same way: {'; '.join(told)}." if told else f"{NO_TEST.capitalize()}.",
        ),
    )


def _chosen(results: Sequence[Result], metrics: Sequence[str]) -> list[str]:
    """The values that every result has, the primary one first; those named, if any are."""
    shared = [name for name in results[0].values if all(name in result.values for result in results)]
    for name in metrics:
        if name not in shared:
            raise UnknownNameError(f"Not every result has {name!r}. {suggestion(name, shared)}")
    wanted = {*metrics, results[0].primary} if metrics else set(shared)
    return sorted((name for name in shared if name in wanted), key=lambda name: (name != results[0].primary, name))


def _difference(name: str, first: Result, second: Result) -> Difference:
    one, two = first.values[name].value, second.values[name].value
    gap = one - two if math.isfinite(one) and math.isfinite(two) else math.nan
    return Difference(name, first.system, second.system, gap, None, None, math.nan, math.nan, NOT_TESTED, NO_ROWS)


def _data(
    results: Sequence[Result], names: Sequence[str], differences: Sequence[Difference], notes: Sequence[str]
) -> dict[str, Any]:
    """The object that `--json` prints: the same keys as a comparison that was tested."""
    data = {
        "format": COMPARISON_FORMAT,
        "task": results[0].task,
        "primary": results[0].primary,
        "systems": [result.system for result in results],
        "differences": [difference_object(difference) for difference in differences],
        "groups": {},
        "rank_ranges": {},
        "not_worse_than_best": {},
        "family": {"size": 0, "draws": 0},
        "values": {r.system: values_object({name: r.values[name] for name in names}) for r in results},
        "signatures": {result.system: result.signature for result in results},
        "digests": {result.system: dict(result.digests) for result in results},
        "notes": list(notes),
    }
    return {key: plain_values(value) for key, value in data.items()}


def _values_table(results: Sequence[Result], names: Sequence[str]) -> Table:
    primary = display_name(results[0].primary, results[0].task)
    rows = tuple(
        (display_name(name, r.task), r.system, *value_cells(r.values[name], None)) for name in names for r in results
    )
    first = frozenset(index for index, row in enumerate(rows) if row[0] == primary)
    note = "Low and high as in the results. “–”: undefined, or no interval; see Remarks."
    return tidy(Table("Values side by side", ("Metric", "System", *VALUE_COLUMNS), rows, note, first))


def _differences_table(task: str, differences: Sequence[Difference]) -> Table:
    rows = tuple(
        (display_name(d.metric, task), d.first, d.second, None if math.isnan(d.difference) else d.difference)
        for d in differences
    )
    note = "First minus second. None is tested: overlapping intervals of two systems are no test of their difference."
    return Table("Differences", ("Metric", "First", "Second", "Difference"), rows, note)


def _facts(results: Sequence[Result]) -> Facts:
    digests = tuple(
        (f"{r.system}: digest of {name}", digest) for r in results for name, digest in sorted(r.digests.items())
    )
    signatures = tuple((f"{result.system}: signature", result.signature) for result in results)
    return (("Task", results[0].task), *digests, ("Software", f"Basanite {__version__}"), *signatures)


def _records(results: Sequence[Result], names: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    for result in results:
        yield from ((result.system, name, "", "", *long_cells(result.values[name], None)) for name in names)


def _headlines(results: Sequence[Result]) -> Iterator[Headline]:
    for r in results:
        value = r.values.get(r.primary)
        if value is not None:
            said = remarks(value, None)
            yield Headline(
                r.system,
                display_name(r.primary, r.task),
                value.value,
                value.low,
                value.high,
                value.units,
                "unit",
                r.level,
                remarks=said,
            )


def _sentences(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        value = result.values.get(result.primary)
        if value is not None:
            name = display_name(result.primary, result.task)
            yield f"{result.system}: {name} is {with_interval(value, result.level)}."
    first, second = results[0], results[1]
    if len(results) == 2 and first.primary in first.values and first.primary in second.values:
        gap = _difference(first.primary, first, second).difference
        yield f"{first.system} minus {second.system}: {number(gap)}."


LEVEL = 0.95


def result_object(reported: Reported) -> dict[str, Any]:
    """The object of a result, as `score --json` would print it."""
    data = {
        "format": RESULT_FORMAT,
        "task": reported.task,
        "primary": reported.primary,
        "values": values_object({name: _reported_value(figure, reported) for name, figure in reported.figures.items()}),
        "breakdowns": _breakdowns(reported),
        "settings": {"level": LEVEL, "program": reported.program, "system": reported.system},
        "signature": f"program:{reported.program}|task:{reported.task}",
        "digests": {},
        "notes": [f"these numbers are {reported.program}'s; which reference they were made against is not known"],
    }
    return {key: plain_values(value) for key, value in data.items()}


def _reported_value(figure: Figure, reported: Reported) -> Value:
    told = [f"as {reported.program} printed it"]
    told += [] if figure.low is not None else ["no interval was printed"]
    told += [] if reported.units else [f"number of {reported.unit}s not known"]
    return Value(
        figure.value,
        figure.low,
        figure.high,
        reported.units,
        flags=tuple(told),
        parts=figure.parts,
        signature=figure.signature,
    )


def _breakdowns(reported: Reported) -> dict[str, Any]:
    if not reported.by_unit:
        return {}
    single = (f"as {reported.program} printed it",)
    levels = {
        unit: values_object({name: Value(value, None, None, 1, flags=single) for name, value in several.items()})
        for unit, several in reported.by_unit.items()
    }
    return {reported.unit: levels}


def reported_of(path: Path, *, program: str, task: str, unit: str) -> Reported:
    """What a result says, for a program that measures the same task; single units where the result has them."""
    result, data = read_result(path, ""), read_object(path)
    if result.task != task:
        raise SettingError(f"{path} is a result of {result.task!r}; {program} measures {task!r} only.")
    figures = {
        name: Figure(value.value, value.low, value.high, value.signature, value.parts)
        for name, value in result.values.items()
    }
    units = max((value.units for value in result.values.values()), default=0)
    settings = data["settings"] if isinstance(data.get("settings"), dict) else {}
    system = settings.get("system") if isinstance(settings.get("system"), str) else ""
    return Reported(program, task, result.primary, figures, units, system or "", unit, _by_unit(data, unit))


def _by_unit(data: Mapping[str, Any], unit: str) -> dict[str, dict[str, float]]:
    breakdowns = data.get("breakdowns")
    levels = breakdowns.get(unit) if isinstance(breakdowns, dict) else None
    found: dict[str, dict[str, float]] = {}
    for name, values in levels.items() if isinstance(levels, dict) else ():
        cells = values.items() if isinstance(values, dict) else ()
        found[name] = {measure: _reported_number(cell) for measure, cell in cells if isinstance(cell, dict)}
    return found


def _reported_number(cell: Mapping[str, Any]) -> float:
    found = cell.get("value")
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else math.nan
