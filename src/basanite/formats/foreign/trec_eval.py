"""What trec_eval prints: a measure, a query or `all`, and a number on each line; with `-q` also by query (P-32).

Measures that we have too get our names, so that both can stand in one table; others keep theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from basanite.formats.foreign.losses import RULE, Losses
from basanite.formats.foreign.reported import Figure, Reported
from basanite.formats.records import Place, read_lines
from basanite.problems import Findings

PROGRAM: Final = "trec_eval"
ALL: Final = "all"
OURS: Final = {
    "map": "map",
    "ndcg": "ndcg",
    "ndcg_cut_10": "ndcg_10",
    "P_10": "p_10",
    "recip_rank": "rr",
    "bpref": "bpref",
    "infAP": "infap",
}
"""trec_eval's names of measures that we compute in the same way."""
THEIRS: Final = {ours: theirs for theirs, ours in OURS.items()}
COUNTS: Final = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
"""Whole numbers."""
ORDER: Final = (*COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank")
"""What trec_eval prints first; the rest we put in the order of names and cut-offs."""
WORDS: Final = ("runid", "relstring")
"""Measures that are no numbers."""
MOST_LINES: Final = 5_000_000
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,+-]{0,59}")
NUMBER: Final = re.compile(r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,3})?|-?nan|-?inf")
PLACE: Final = Place("submission", RULE)

Cells = dict[str, dict[str, float]]
"""Numbers by query (or `all`) and measure."""


def read_trec_eval(path: Path, findings: Findings, losses: Losses) -> Reported | None:
    """The numbers in a file that trec_eval printed, with all that is wrong in it."""
    cells: Cells = {}
    words: dict[str, str] = {}
    records = read_lines(path, PLACE, findings)
    for line, text in zip(records.lines, records.columns["text"], strict=True):
        fault = _take(text, cells, words, losses) if text.strip() else ""
        if fault:
            fix = "give what trec_eval printed: measure, query or `all`, number"
            findings.add(PLACE.problem(records.file, line, fault, fix, text))
    if findings.valid and not cells:
        findings.add(PLACE.problem(records.file, None, "there is no number in it", "give what trec_eval printed"))
    return _reported(cells, words.get("runid", ""), losses) if findings.valid else None


def _take(text: str, cells: Cells, words: dict[str, str], losses: Losses) -> str:
    """Take one line; what is wrong with it, or nothing."""
    parts = text.split()
    if len(parts) in (2, 3) and parts[0] in WORDS:
        if parts[0] == "runid":
            words["runid"] = parts[-1]
        else:
            losses.add(f"{parts[0]}, which is no number", parts[-1])
        return ""
    if len(parts) != 3:
        return f"{len(parts)} fields where three stand"
    measure, query, number = parts
    if not NAME.fullmatch(measure) or not NUMBER.fullmatch(number):
        return "no name of a measure, or no number"
    several = cells.setdefault(query, {})
    if measure in several:
        return f"{measure} of {query[:60]} stands twice"
    several[measure] = float(number)
    return ""


def _reported(cells: Cells, system: str, losses: Losses) -> Reported:
    by_unit = {query: _renamed(several) for query, several in cells.items() if query != ALL}
    whole = cells.get(ALL)
    if whole is None:
        losses.add("numbers over all queries: the file has none, so means are taken")
        whole = _means({query: several for query, several in cells.items() if query != ALL})
    units = int(whole.pop("num_q", len(by_unit)))
    figures = {name: Figure(value) for name, value in _renamed(whole).items()}
    primary = "map" if "map" in figures else next(iter(figures), "")
    return Reported(PROGRAM, "ranking", primary, figures, units, system, "query", by_unit)


def _renamed(several: Mapping[str, float]) -> dict[str, float]:
    return {OURS.get(name, name): value for name, value in several.items()}


def _means(by_query: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over queries; counts are sums, and of geometric means nobody can tell."""
    columns: dict[str, list[float]] = {}
    for several in by_query.values():
        for name, value in several.items():
            columns.setdefault(name, []).append(value)
    means = {name: sum(values) / (1 if name in COUNTS else len(values)) for name, values in columns.items()}
    return {**{name: value for name, value in means.items() if not name.startswith("gm_")}, "num_q": len(by_query)}


def trec_eval_lines(reported: Reported, losses: Losses) -> Iterator[str]:
    """The numbers as trec_eval prints them: single queries first, then all."""
    for query in sorted(reported.by_unit):
        several = reported.by_unit[query]
        yield from (_line(name, query, several[name], losses) for name in sorted(several, key=_order))
    if reported.system:
        yield f"{'runid':<22}\t{ALL}\t{'_'.join(reported.system.split())}\n"
    yield f"{'num_q':<22}\t{ALL}\t{reported.units}\n"
    for name in sorted(reported.figures, key=_order):
        figure = reported.figures[name]
        if figure.low is not None:
            losses.add("intervals")
        if figure.parts:
            losses.add("parts of values", name)
        yield _line(name, ALL, figure.value, losses)


def _order(name: str) -> tuple[int, str, float, str]:
    theirs = THEIRS.get(name, name)
    stem, _, cut = theirs.rpartition("_")
    number = float(cut) if NUMBER.fullmatch(cut) else 0.0
    return ORDER.index(theirs) if theirs in ORDER else len(ORDER), stem if number else theirs, number, theirs


def _line(name: str, query: str, value: float, losses: Losses) -> str:
    theirs = THEIRS.get(name, name)
    return f"{theirs:<22}\t{query}\t{_number(theirs, value, losses)}\n"


def _number(name: str, value: float, losses: Losses) -> str:
    if not math.isfinite(value):
        return "nan"
    if name in COUNTS and value.is_integer():
        return str(int(value))
    if abs(round(value, 4) - value) > 1e-12:
        losses.add("digits behind the fourth")
    return f"{value:.4f}"
