"""An independent scorer for small retrieval cases: standard library, exact fractions, no shortcut taken.

It shares no code with the product. `python tests/golden/oracle_clir.py CASE` prints the values of a case folder.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

Pairs = dict[str, dict[str, tuple[bool, bool, Fraction]]]
"""By query, then document: relevant, returned, score."""


def rows(path: Path) -> dict[str, list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {cells[0]: cells[1:] for cells in (line.split("\t") for line in lines)}


def read(case: Path) -> Pairs:
    pairs: Pairs = {}
    for path in sorted((case / "reference").glob("*.tsv")):
        key, answers = rows(path), rows(case / "submission" / path.name)
        pairs[path.stem] = {
            document: (key[document][0] == "Y", answers[document][0] == "Y", Fraction(answers[document][1]))
            for document in key
        }
    return pairs


def turned(pairs: Pairs) -> Pairs:
    """Documents in the place of queries."""
    documents: Pairs = {}
    for query, row in pairs.items():
        for document, pair in row.items():
            documents.setdefault(document, {})[query] = pair
    return documents


def mean(values: list[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def miss_rate(row: dict, returned) -> Fraction | None:
    hits = [returned(pair) for pair in row.values() if pair[0]]
    return Fraction(hits.count(False), len(hits)) if hits else None


def alarm_rate(row: dict, returned) -> Fraction:
    hits = [returned(pair) for pair in row.values() if not pair[0]]
    return Fraction(hits.count(True), len(hits)) if hits else Fraction(0)


def decided(pair) -> bool:
    return pair[1]


def at(theta):
    return lambda pair: theta is not None and pair[2] >= theta


def third(pairs: Pairs, beta: Fraction, returned=decided) -> Fraction | None:
    misses = [rate for row in pairs.values() if (rate := miss_rate(row, returned)) is not None]
    alarms = mean([alarm_rate(row, returned) for row in pairs.values()])
    return 1 - mean(misses) - beta * alarms if misses else None


def query_values(pairs: Pairs, beta: Fraction) -> list[Fraction]:
    return [1 - (miss_rate(row, decided) or 0) - beta * alarm_rate(row, decided) for row in pairs.values()]


def with_relevant(pairs: Pairs) -> Pairs:
    return {query: row for query, row in pairs.items() if any(pair[0] for pair in row.values())}


def thresholds(row_list) -> list:
    """None stands for a threshold above all scores: nothing is returned. The largest comes first."""
    return [None, *sorted({pair[2] for row in row_list for pair in row.values()}, reverse=True)]


def best_threshold(pairs: Pairs, beta: Fraction):
    if not with_relevant(pairs):
        return None, None
    tried = [(theta, third(pairs, beta, at(theta))) for theta in thresholds(pairs.values())]
    return max(tried, key=lambda pair: pair[1])


def oracle(pairs: Pairs, beta: Fraction) -> Fraction | None:
    some = len(with_relevant(pairs))
    if not some:
        return None

    def cost(row, theta):
        return (miss_rate(row, at(theta)) or 0) / some + beta * alarm_rate(row, at(theta)) / len(pairs)

    return 1 - sum(min(cost(row, theta) for theta in thresholds([row])) for row in pairs.values())


def area(found) -> Fraction | None:
    good = [pair[2] for pair in found if pair[0]]
    bad = [pair[2] for pair in found if not pair[0]]
    wins = [Fraction(1) if g > b else Fraction(1, 2) if g == b else Fraction(0) for g in good for b in bad]
    return mean(wins)


def values(pairs: Pairs, beta: Fraction) -> dict[str, Fraction | None]:
    theta, most = best_threshold(pairs, beta)
    rates = [rate for row in pairs.values() if (rate := miss_rate(row, decided)) is not None]
    areas = [found for row in pairs.values() if (found := area(row.values())) is not None]
    return {
        "aqwv": third(pairs, beta),
        "aqwv_all": mean(query_values(pairs, beta)),
        "aqwv_relevant": mean(query_values(with_relevant(pairs), beta)),
        "adwv": third(turned(pairs), beta),
        "pmiss": mean(rates),
        "pfa": mean([alarm_rate(row, decided) for row in pairs.values()]),
        "mqwv": most,
        "theta_best": theta,
        "oracle": oracle(pairs, beta),
        "auc": mean(areas),
        "auc_pooled": area([pair for row in pairs.values() for pair in row.values()]),
    }


def levels(path: Path) -> tuple[str, dict[str, dict[str, list[str]]]]:
    """A metadata table as (`document` or `query`, {factor: {level: names}})."""
    (what, *factors), *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    found: dict[str, dict[str, list[str]]] = {factor: {} for factor in factors}
    for name, *cells in lines:
        for factor, level in zip(factors, cells, strict=True):
            found[factor].setdefault(level, []).append(name)
    return what, found


def part(pairs: Pairs, what: str, names: list[str]) -> Pairs:
    if what == "query":
        return {query: pairs[query] for query in names}
    return {query: {name: row[name] for name in names} for query, row in pairs.items()}


def breakdowns(case: Path, pairs: Pairs, beta: Fraction) -> dict:
    found = {}
    for path in sorted(case.glob("metadata*.tsv")):
        what, factors = levels(path)
        for factor, groups in factors.items():
            found[factor] = {level: values(part(pairs, what, names), beta) for level, names in groups.items()}
    return found


def beta_of(case: Path) -> Fraction:
    path = case / "settings.json"
    settings = json.loads(path.read_text()) if path.exists() else {}
    if "beta" in settings:
        return Fraction(str(settings["beta"]))
    first = next((case / "reference").glob("*.tsv")).read_text()
    return Fraction(40 if "-1S_" in first else 20)


def score(case: Path) -> dict:
    """Values and breakdowns of a case folder, as fractions; None where undefined or, for a threshold, infinite."""
    pairs, beta = read(case), beta_of(case)
    return {"values": values(pairs, beta), "breakdowns": breakdowns(case, pairs, beta)}


def plain(item):
    if isinstance(item, dict):
        return {name: plain(value) for name, value in item.items()}
    return None if item is None else float(item)


if __name__ == "__main__":
    print(json.dumps(plain(score(Path(sys.argv[1]))), indent=2))
