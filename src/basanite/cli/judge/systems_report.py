"""What `basanite judge systems` shows: a ranking for each language pair, never one across them (T-24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from basanite.figures import Table
from basanite.metrics.judgement.estimate import Estimate
from basanite.reports.formats.json_output import plain as plain_values
from basanite.reports.model import LONG_COLUMNS, Report, Section

FORMAT = "basanite-judged-systems/1"


@dataclass(frozen=True)
class Worth:
    """One system's value, and how much it rests on."""

    system: str
    value: Estimate
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class PairRanking:
    """The systems of one language pair, best first, and the same inside each domain."""

    pair: str
    """Empty where the table names no languages."""
    systems: Sequence[Worth]
    domains: Mapping[str, Sequence[Worth]] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """All rankings of a table, and what their values mean."""

    measure: str
    pairs: Sequence[PairRanking]
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def judged_report(found: Judged, name: str) -> Report:
    """The report of a table of judgements."""
    several_pairs = len(found.pairs) > 1
    labels = [_label(ranking, several_pairs) for ranking in found.pairs]
    leads = [
        f"{label}: {_first(one)}" if label else _first(one) for label, one in zip(labels, found.pairs, strict=True)
    ]
    several = f"{len(found.pairs)} language pairs, each ranked by itself; there is no ranking across them"
    return Report(
        title="Judged systems",
        subtitle=f"{name}: {found.measure}",
        sections=tuple(_section(one, label or "Systems") for label, one in zip(labels, found.pairs, strict=True)),
        facts=(),
        data={key: plain_values(value) for key, value in _data(found).items()},
        records=_records(found),
        sentences=(*(leads or ["Nobody was judged."]), *([several] if several_pairs else []), *found.notes),
    )


def _first(ranking: PairRanking) -> str:
    best = ranking.systems[0]
    return f"{best.system} is first with {best.value.value:.4g}."


def _label(ranking: PairRanking, several_pairs: bool) -> str:
    return ranking.pair or ("no language named" if several_pairs else "")


def _section(ranking: PairRanking, title: str) -> Section:
    sizes = tuple(ranking.systems[0].sizes)
    columns = ("System", "Value", "Low", "High", *(size.capitalize() for size in sizes))
    rows = [
        (one.system, one.value.value if one.value.defined else None, one.value.low, one.value.high, *one.sizes.values())
        for one in ranking.systems
    ]
    figures = [Table("Systems", columns, rows)]
    if len(ranking.domains) > 1:
        figures.append(_domain_table(ranking))
    return Section(title, "", tuple(figures))


def _domain_table(ranking: PairRanking) -> Table:
    values = {
        (domain, one.system): one.value.value if one.value.defined else None
        for domain, systems in ranking.domains.items()
        for one in systems
    }
    rows = [(one.system, *(values.get((domain, one.system)) for domain in ranking.domains)) for one in ranking.systems]
    return Table("By domain", ("System", *ranking.domains), rows)


def _data(found: Judged) -> dict[str, Any]:
    """`systems` lists pair after pair, best first in each: `rank` counts inside the pair."""
    return {
        "format": FORMAT,
        "measure": found.measure,
        "systems": [{**row, "pair": ranking.pair} for ranking in found.pairs for row in _rows(ranking.systems)],
        "pairs": [
            {
                "pair": ranking.pair,
                "systems": [one.system for one in ranking.systems],
                "domains": {domain: _rows(systems) for domain, systems in ranking.domains.items()},
            }
            for ranking in found.pairs
        ],
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
    }


def _rows(systems: Sequence[Worth]) -> list[dict[str, Any]]:
    return [
        {
            "rank": rank,
            "system": one.system,
            "value": one.value.value,
            "low": one.value.low,
            "high": one.value.high,
            "reason": one.value.reason,
            **one.sizes,
        }
        for rank, one in enumerate(systems, start=1)
    ]


def _records(found: Judged) -> Table:
    rows = []
    for ranking in found.pairs:
        for domain, systems in {"": ranking.systems, **ranking.domains}.items():
            factor = "domain" if domain else "language pair" if ranking.pair else ""
            level = f"{ranking.pair}: {domain}" if domain and ranking.pair else domain or ranking.pair
            rows += [_record(one, factor, level) for one in systems]
    return Table("Records", LONG_COLUMNS, rows)


def _record(one: Worth, factor: str, level: str) -> tuple[str | int | float | None, ...]:
    units = one.sizes.get("segments", one.sizes.get("comparisons", 0))
    value = one.value.value if one.value.defined else None
    method = "" if one.value.low is None else "percentile"
    return one.system, "judged", factor, level, value, one.value.low, one.value.high, units, 0, one.value.reason, method
