"""A team's own result as a report, with what its feedback level shows and no more (P-41)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from basanite.campaign.results.views import SeenResult, SeenSubmission
from basanite.figures import Figure, Table
from basanite.reports.metric_names import display_name, meaning
from basanite.reports.report import LONG_COLUMNS, Headline, Report, Section, sections_with_content

LEVEL_WORDS = {
    "limited": "Limited feedback: a few rounded values.",
    "ladder": "The value changes only when an improvement is significant.",
    "top": "Released values.",
}
CI_LEVEL = 0.95


def own_report(one: SeenSubmission, result: SeenResult, campaign: str, figures: Sequence[Figure] = ()) -> Report:
    """The report of what somebody may see of one submission."""
    values = {str(name): entry for name, entry in result.data.get("values", {}).items()}
    told = LEVEL_WORDS.get(result.level, "")
    columns = ("Metric", "Value", "Low", "High", "Units")
    rows = [(display_name(name, one.task), *_numbers(entry), entry.get("units")) for name, entry in values.items()]
    overall = (Table("Values", columns, rows),) if rows else ()
    return Report(
        f"{one.label}, {one.task}",
        f"{campaign}, submission {one.number} of {one.team}",
        sections_with_content(
            Section("Values", told, overall),
            Section("Breakdowns", "", tuple(_breakdowns(one, result))),
            Section("Figures", "", tuple(figures)),
        ),
        _facts(one, result),
        {"submission": one.id, "number": one.number, "level": result.level, **result.data},
        Table("Records", LONG_COLUMNS, list(_records(one, result))),
        tuple(_headline(one, result, values)),
        sentences=tuple(map(str, result.data.get("notes", ()))),
        meanings={display_name(name, one.task): meaning(name, one.task) for name in values},
    )


def _numbers(entry: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return entry.get("value"), entry.get("low"), entry.get("high")


def _headline(one: SeenSubmission, result: SeenResult, values: Mapping[str, Mapping[str, Any]]) -> Iterator[Headline]:
    entry = values.get(result.primary, {})
    if result.value is not None:
        name, units = display_name(result.primary, one.task), int(entry.get("units") or 0)
        low, high = entry.get("low"), entry.get("high")
        yield Headline(one.label, name, result.value, low, high, units, "unit", CI_LEVEL)


def _breakdowns(one: SeenSubmission, result: SeenResult) -> Iterator[Table]:
    for factor, levels in (result.data.get("breakdowns") or {}).items():
        names = list(dict.fromkeys(name for cell in levels.values() for name in cell))
        rows = [(str(level), *(cell.get(name, {}).get("value") for name in names)) for level, cell in levels.items()]
        yield Table(f"By {factor}", (str(factor), *(display_name(name, one.task) for name in names)), rows)


def _records(one: SeenSubmission, result: SeenResult) -> Iterator[tuple[Any, ...]]:
    for name, entry in result.data.get("values", {}).items():
        yield _record(one.label, name, "", "", entry)
    for factor, levels in (result.data.get("breakdowns") or {}).items():
        for level, cell in levels.items():
            for name, entry in cell.items():
                yield _record(one.label, name, str(factor), str(level), entry)


def _record(label: str, metric: str, factor: str, level: str, entry: Mapping[str, Any]) -> tuple[Any, ...]:
    flags = ";".join(map(str, entry.get("flags", ())))
    more = entry.get("units"), entry.get("undefined"), flags, entry.get("method") or ""
    return (label, metric, factor, level, *_numbers(entry), *more)


def _facts(one: SeenSubmission, result: SeenResult) -> tuple[tuple[str, str], ...]:
    made = result.provenance
    return (
        ("File", one.name),
        ("SHA-256", one.sha256),
        ("Received", one.received.isoformat(timespec="seconds")),
        ("Data", one.dataset),
        ("Feedback", result.level),
        ("Plan", made.plan),
        ("Reference version", str(made.reference_version)),
        ("Software", made.software),
        ("Signature", str(result.data.get("signature", ""))),
    )
