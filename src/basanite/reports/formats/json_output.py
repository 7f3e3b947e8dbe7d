"""The JSON that programs build on: sorted keys, ten digits, no time stamps; same input, same bytes (S-6)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Set
from types import NoneType
from typing import Any

from basanite.analysis.results import Analysis, Comparison, Difference, Value
from basanite.reports.model import Report
from basanite.reports.outputs import Output

RESULT_FORMAT = "basanite-result/1"
COMPARISON_FORMAT = "basanite-comparison/1"


def rounded(value: float | None) -> float | None:
    """A number to ten significant digits; undefined and infinite ones are null (S-6).

    >>> rounded(0.1 + 0.2), rounded(-0.0), rounded(float("nan"))
    (0.3, 0.0, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(format(value, ".10g")) + 0.0


def score_object(analysis: Analysis) -> dict[str, Any]:
    """The object that `score --json` prints."""
    scores = analysis.scores
    data: dict[str, Any] = {
        "format": RESULT_FORMAT,
        "task": scores.task,
        "primary": scores.primary,
        "values": values_object(analysis.values),
        "breakdowns": _breakdowns(analysis),
        "settings": _settings(analysis),
        "signature": analysis.signature,
        "digests": dict(scores.digests),
        "notes": list(dict.fromkeys((*scores.notes, *analysis.notes))),
    }
    if scores.warnings:
        data["warnings"] = [problem.as_dict() for problem in scores.warnings]
    return _object(data)


def compare_object(comparison: Comparison) -> dict[str, Any]:
    """The object that `compare --json` prints."""
    rankings = comparison.rankings
    data = {
        "format": COMPARISON_FORMAT,
        "task": comparison.task,
        "primary": next(iter(comparison.analyses.values())).scores.primary,
        "systems": list(comparison.systems),
        "differences": [
            {**difference_object(one), "detectable": one.detectable, "units_needed": one.units_needed}
            for one in comparison.differences
        ],
        "groups": {name: [list(group) for group in ranking.groups] for name, ranking in rankings.items()},
        "rank_ranges": {
            name: {system: list(ranks) for system, ranks in ranking.rank_ranges.items()}
            for name, ranking in rankings.items()
        },
        "not_worse_than_best": {name: list(ranking.not_worse_than_best) for name, ranking in rankings.items()},
        "family": {"size": comparison.family_size, "draws": comparison.draws},
        "settings": _comparison_settings(comparison),
        "values": {system: values_object(analysis.values) for system, analysis in comparison.analyses.items()},
        "signatures": {system: analysis.signature for system, analysis in comparison.analyses.items()},
        "notes": list(comparison.notes),
    }
    return _object({**data, **_parts_alone(comparison)})


def _comparison_settings(comparison: Comparison) -> dict[str, Any]:
    """What the tests of a comparison depend on besides what its signatures say."""
    design = next(iter(comparison.analyses.values())).design
    return {"alpha": design.alpha, "adjustment": design.adjustment, "test_draws": comparison.draws}


def _parts_alone(comparison: Comparison) -> dict[str, Any]:
    """Breakdowns side by side, where a task has values of parts alone."""
    if any(analysis.values for analysis in comparison.analyses.values()):
        return {}
    return {"breakdowns": {system: _breakdowns(analysis) for system, analysis in comparison.analyses.items()}}


def _breakdowns(analysis: Analysis) -> dict[str, Any]:
    return {
        factor: {level: values_object(values) for level, values in levels.items()}
        for factor, levels in analysis.breakdowns.items()
    }


def dumps(data: Any) -> str:
    """One object as text: keys sorted, every character that could hide written as an escape (X-14)."""
    text = json.dumps(plain(data), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=2)
    return "\n".join(line if line.isprintable() else _visible(line) for line in text.split("\n")) + "\n"


def plain(data: Any) -> Any:
    """The same data in JSON's own types, numbers rounded, in an order that does not depend on the run."""
    if type(data) in (str, int, bool, NoneType):  # most of what there is, and the tests below take their time
        return data
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, Set):
        return sorted(plain(value) for value in data)
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float):
        return rounded(data)
    return data if data is None or isinstance(data, str | int) else str(data)


def render(report: Report) -> bytes:
    """The report's data as one JSON object."""
    return dumps(report.data).encode()


def _object(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain(value) for key, value in data.items()}


def _visible(line: str) -> str:
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)


def _settings(analysis: Analysis) -> dict[str, Any]:
    design = analysis.design
    fixed = {"draws": design.draws, "seed": design.seed, "level": design.level, "interval": design.interval}
    return {**fixed, **({"cluster": design.cluster} if design.cluster else {}), **analysis.scores.settings}


def values_object(values: Mapping[str, Value]) -> dict[str, Any]:
    """The values of a system by name."""
    return {name: _value(value) for name, value in values.items()}


def _value(value: Value) -> dict[str, Any]:
    entry = {
        "value": value.value,
        "low": value.low,
        "high": value.high,
        "units": value.units,
        "undefined": value.undefined,
        "flags": list(value.flags),
        "parts": dict(value.parts),
    }
    named = {"method": value.method, "signature": value.signature}
    return {**entry, **{key: name for key, name in named.items() if name}, **_said(value)}


def _said(value: Value) -> dict[str, Any]:
    """What null cannot say by itself: that a value is undefined, or which way a number is infinite."""
    said: dict[str, Any] = {}
    if math.isnan(value.value):
        said["note"] = "; ".join(value.flags) or "undefined"
    bounds = {"infinite": value.value, "infinite_low": value.low, "infinite_high": value.high}
    said |= {name: _sign(bound) for name, bound in bounds.items() if bound is not None and math.isinf(bound)}
    parts = {name: _sign(part) for name, part in value.parts.items() if math.isinf(part)}
    return {**said, "infinite_parts": parts} if parts else said


def _sign(value: float) -> str:
    return "+" if value > 0 else "-"


def difference_object(difference: Difference) -> dict[str, Any]:
    """One pair of systems on one metric."""
    entry = {
        "metric": difference.metric,
        "first": difference.first,
        "second": difference.second,
        "difference": difference.difference,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "p_adjusted": difference.p_adjusted,
        "verdict": difference.verdict,
        "note": difference.note or ("undefined" if math.isnan(difference.difference) else ""),
        "flags": list(difference.flags),
        "reasons": [reason.as_dict() for reason in difference.reasons],
        "moved": [list(unit) for unit in difference.moved],
    }
    if difference.method:
        entry["method"] = difference.method
    infinite = math.isinf(difference.difference)
    return {**entry, "infinite": _sign(difference.difference)} if infinite else entry


OUTPUT = Output("json", "one JSON object, the same as --json prints", "application/json", render)
