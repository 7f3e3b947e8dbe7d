"""Panels and a machine on the same passages: how their files are read, and whether the machine beats novices (R-3).

Is the machine better than novices? The plan's null, and the stronger conditions of S-3, each with its figures.

The plan's null alone can be beaten by a constant rating, for mixing novices passage by passage takes their biases
away. So more is asked: a lead that holds for other passages and novices, more than the best constant reaches, and a
correlation that is there and above its critical value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from basanite.formats.items import ID_LENGTH, ContentError, Items, lacks_columns, number_of, read_structured_items
from basanite.formats.records import Place, Records, read_records
from basanite.metrics.judgement import readability
from basanite.metrics.judgement.crossed import Lead, leads
from basanite.metrics.judgement.readability import (
    CORRELATION,
    METRICS,
    SCORE_DIFFERENCE,
    Readings,
    Reals,
    best_constant,
    novices_as_machines,
    values,
)
from basanite.problems import Findings
from basanite.tasks.items import Pairs, Settings

RULE = "R-3"
PASSAGE, JUDGE, PANEL, RATING = "passage", "judge", "panel", "rating"
NEEDED = (PASSAGE, JUDGE, PANEL, RATING)
USED = (*NEEDED, "round", "rank", "text")
PANELS = ("expert", "novice")
MOST_CELLS = 1_000_000
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said of one passage: stars, and the rank in a round (1 is the most readable)."""

    rating: float
    round: str = ""
    rank: float = math.nan


@dataclass
class Passage:
    """What both panels said of one passage, its text if it was given, and what else describes it."""

    line: int
    panels: dict[str, dict[str, Judgement]] = field(default_factory=lambda: {name: {} for name in PANELS})
    text: str = ""
    others: dict[str, str] = field(default_factory=dict)


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The judgements: a line for each passage and judge; passages come out in the order of their names."""
    records = read_records(paths[0], REFERENCE, findings)
    if records is None:
        return None
    if lacks_columns(records, NEEDED, REFERENCE, findings):
        return None
    passages = _gather_passages(records, settings["scale"], findings)
    findings.extend(_thin(passages, records.file))
    findings.extend(_too_large(passages, records.file))
    names = sorted(passages)
    content = tuple(passages[name] for name in names)
    columns = {
        name: tuple(passage.others.get(name, "") for passage in content) for name in records.columns if name not in USED
    }
    return Items(records.file, tuple(names), content, [passage.line for passage in content], records.digest, columns)


def _gather_passages(records: Records, scale: tuple[float, float], findings: Findings) -> dict[str, Passage]:
    passages: dict[str, Passage] = {}
    sides: dict[str, str] = {}
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        try:
            name = _read_name(fields, PASSAGE)
            _add(passages.setdefault(name, Passage(line)), fields, scale, sides)
        except ContentError as error:
            findings.add(REFERENCE.problem(records.file, line, str(error), error.fix, error.found))
    return passages


def _add(passage: Passage, fields: Mapping[str, Any], scale: tuple[float, float], sides: dict[str, str]) -> None:
    """Take one line of the reference into what is known of its passage."""
    _describe(passage, fields)
    judge, panel = _read_name(fields, JUDGE), fields.get(PANEL)
    if panel not in PANELS:
        raise ContentError("the panel is not known", "write expert or novice", "" if panel is None else panel)
    if sides.setdefault(judge, panel) != panel:
        message = f"judge {judge!r} is in the {sides[judge]} panel on an earlier line"
        raise ContentError(message, "keep a judge in one panel; give two people two names", panel)
    if judge in passage.panels[panel]:
        raise ContentError("this judge rated this passage before", "keep one line for each passage and judge", judge)
    passage.panels[panel][judge] = Judgement(read_rating(fields, scale), _cell(fields, "round"), _rank(fields))


def _describe(passage: Passage, fields: Mapping[str, Any]) -> None:
    for name, cell in fields.items():
        if name not in USED and cell is not None and passage.others.setdefault(name, str(cell)) != str(cell):
            message = f"{name} differs from an earlier line of this passage"
            raise ContentError(message, f"give a passage one {name}", str(cell))
    text = _cell(fields, "text")
    if text and passage.text not in ("", text):
        raise ContentError("the text differs from an earlier line of this passage", "give a passage one text")
    passage.text = passage.text or text


def _read_name(fields: Mapping[str, Any], name: str) -> str:
    found = _cell(fields, name).strip()
    if not found or len(found) > ID_LENGTH:
        raise ContentError(f"the {name} is missing or too long", f"name the {name} in every line", found[:80])
    return found


def _cell(fields: Mapping[str, Any], name: str) -> str:
    return "" if fields.get(name) is None else str(fields[name])


def _rank(fields: Mapping[str, Any]) -> float:
    if fields.get("rank") is None:
        return math.nan
    rank = number_of(fields, "rank")
    if rank < 1:
        raise ContentError("rank is below 1", "count ranks from 1, the most readable passage of the round", rank)
    return rank


def read_rating(fields: Mapping[str, Any], scale: tuple[float, float]) -> float:
    """A rating on the scale."""
    rating, (low, high) = number_of(fields, RATING), scale
    if not low <= rating <= high:
        fix = f"stay in the scale {low:g} to {high:g}, or set scale=… to the one in use"
        raise ContentError(f"rating lies outside {low:g} to {high:g}", fix, rating)
    return rating


def _thin(passages: Mapping[str, Passage], file: str) -> Iterator[Any]:
    """Passages that too few people rated."""
    if not any(passage.panels["novice"] for passage in passages.values()):
        fix = "add lines of novices; without them only proportional_target and correlation have a value"
        yield REFERENCE.problem(file, None, "there is no novice in it", fix, severity="warn")
    novices = any(passage.panels["novice"] for passage in passages.values())
    for name, passage in passages.items():
        experts = len(passage.panels["expert"])
        if not experts:
            fix = "have an expert rate it, or leave the passage out"
            yield REFERENCE.problem(file, passage.line, f"no expert rated passage {name!r}", fix, name)
        elif experts == 1:
            message, fix = f"one expert alone rated passage {name!r}: there is no range", "have more experts rate it"
            yield REFERENCE.problem(file, passage.line, message, fix, name, severity="warn")
        if novices and not passage.panels["novice"]:
            fix = "have a novice rate it, or leave the passage out"
            yield REFERENCE.problem(file, passage.line, f"no novice rated passage {name!r}", fix, name)


def _too_large(passages: Mapping[str, Passage], file: str) -> Iterator[Any]:
    """A panel whose table of passages x judges would not fit: it would be almost empty."""
    for panel in PANELS:
        cells = len(passages) * len({judge for passage in passages.values() for judge in passage.panels[panel]})
        if cells > MOST_CELLS:
            message = f"{cells:,} cells of passages x {panel}s: more than {MOST_CELLS:,}"
            yield REFERENCE.problem(file, None, message, "split the campaign; give each judge one name throughout")


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The machine's ratings: a passage and its rating."""

    def take(fields: Mapping[str, Any]) -> float:
        return read_rating(fields, settings["scale"])

    return read_structured_items(path, take, SUBMISSION, findings, id_name=PASSAGE, used=(RATING,))


@dataclass(frozen=True)
class Panels:
    """Both panels as tables of passages x judges, with the judges' names."""

    names: Mapping[str, tuple[str, ...]]
    ratings: Mapping[str, Reals]
    ranks: Mapping[str, Reals]
    rounds: Mapping[str, tuple[tuple[str, ...], ...]]


def panels_of(passages: Sequence[Passage]) -> Panels:
    """The tables of both panels; nan, and no round, where a judge said nothing."""
    names = {panel: _judges(passages, panel) for panel in PANELS}
    tables = {
        panel: [[each.panels[panel].get(judge) for judge in names[panel]] for each in passages] for panel in PANELS
    }
    return Panels(
        names,
        {panel: _numbers(table, "rating", len(names[panel])) for panel, table in tables.items()},
        {panel: _numbers(table, "rank", len(names[panel])) for panel, table in tables.items()},
        {
            panel: tuple(tuple(cell.round if cell else "" for cell in row) for row in table)
            for panel, table in tables.items()
        },
    )


def _judges(passages: Sequence[Passage], panel: str) -> tuple[str, ...]:
    return tuple(sorted({judge for passage in passages for judge in passage.panels[panel]}))


def _numbers(table: Sequence[Sequence[Judgement | None]], name: str, width: int) -> Reals:
    cells = [[math.nan if cell is None else getattr(cell, name) for cell in row] for row in table]
    return np.array(cells, np.float64).reshape(len(table), width)


def readings_of(pairs: Pairs, panels: Panels) -> Readings:
    """Panels and machine as the metrics want them."""
    machine = np.array(pairs.answers, np.float64)
    return Readings(pairs.units, panels.ratings["expert"], panels.ratings["novice"], machine)


EVERY = "holm"
"""The tests of all three metrics count, adjusted by Holm; else the name of the one declared beforehand."""
FIXED = "texts and novices fixed"


@dataclass(frozen=True)
class PanelFindings:
    """Everything found about one machine against the panels."""

    observed: Mapping[str, float]
    tests: Mapping[str, readability.Verdict]
    adjusted: Mapping[str, float]
    nulls: Mapping[str, Reals]
    leads: Mapping[str, Lead]
    constant: float
    constant_value: float
    novices: tuple[Mapping[str, float], ...]
    strays: bool

    def place(self, name: str) -> int | None:
        """The machine's place among the novices on a metric: 1 is the best; None where it has no value."""
        own = self.observed[name]
        if math.isnan(own):
            return None
        return 1 + sum(other[name] > own + 1e-8 for other in self.novices if not math.isnan(other[name]))


@dataclass(frozen=True)
class Condition:
    """One thing the verdict asks for, and whether it holds."""

    name: str
    holds: bool
    figures: str


def examine(block: Readings, *, draws: int, seed: int) -> PanelFindings | None:
    """Tests, leads and rivals of a machine; None where there are no novices."""
    if not block.novices.shape[1]:
        return None
    observed = values(block.experts, block.novices, block.machine)
    drawn = readability.null_values(block.experts, block.novices, draws=draws, seed=seed)
    nulls = {metric.name: drawn[at] for at, metric in enumerate(METRICS)}
    tests = {name: readability.judge_against_null(observed[name], nulls[name]) for name in observed}
    constant = best_constant(block.experts)
    fixed = values(block.experts, block.novices, np.full(len(block.machine), constant))
    return PanelFindings(
        observed,
        tests,
        holm({name: test.p for name, test in tests.items()}),
        nulls,
        leads(block, draws=min(draws, 2000), seed=seed),
        constant,
        fixed[SCORE_DIFFERENCE.name],
        tuple(novices_as_machines(block.experts, block.novices)),
        readability.strays(nulls[SCORE_DIFFERENCE.name], readability.exact_spread(block.experts, block.novices)),
    )


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjustment over the tests that are defined; the family is all of them.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    adjusted, worst = dict.fromkeys(p, math.nan), 0.0
    ordered = sorted((value, name) for name, value in p.items() if not math.isnan(value))
    for rank, (value, name) in enumerate(ordered):
        worst = max(worst, min(1.0, value * (len(p) - rank)))
        adjusted[name] = worst
    return adjusted


def conditions(found: PanelFindings, declared: str) -> tuple[Condition, ...]:
    """What the verdict asks for, one by one."""
    return (_test(found, declared), _lead(found, declared), _beats_constant(found), _correlates(found))


def _test(found: PanelFindings, declared: str) -> Condition:
    if declared == EVERY:
        passed = claimed_metrics(found, declared)
        figures = ", ".join(f"{name} {_p(value)}" for name, value in found.adjusted.items())
        return Condition(
            "above the plan's null after Holm over the three metrics", bool(passed), f"adjusted p: {figures}"
        )
    test = found.tests[declared]
    return Condition(f"{declared} above the plan's null", bool(test.p <= readability.TAIL), f"p {_p(test.p)}")


def claimed_metrics(found: PanelFindings, declared: str) -> tuple[str, ...]:
    """The metrics on which the plan's test is passed, adjusted unless one was declared beforehand."""
    if declared != EVERY:
        return (declared,) if found.tests[declared].p <= readability.TAIL else ()
    return tuple(name for name, p in found.adjusted.items() if p <= readability.TAIL)


def _lead(found: PanelFindings, declared: str) -> Condition:
    name = SCORE_DIFFERENCE.name if declared == EVERY else declared
    lead = found.leads[name]
    title = f"lead on {name} over other passages and novices too"
    if lead.low is None or lead.high is None:
        return Condition(title, False, f"no interval: {lead.reason}")
    return Condition(title, lead.low > 0, f"{lead.value:.4g}, interval {lead.low:.4g} to {lead.high:.4g}")


def _beats_constant(found: PanelFindings) -> Condition:
    own = found.observed[SCORE_DIFFERENCE.name]
    figures = f"{own:.4g} against {found.constant_value:.4g} for a rating of {found.constant:.4g} throughout"
    return Condition("better than the best constant on score_difference", own > found.constant_value + 1e-8, figures)


def _correlates(found: PanelFindings) -> Condition:
    test = found.tests[CORRELATION.name]
    title = "correlation defined and above its critical value"
    if math.isnan(test.value):
        return Condition(title, False, "undefined: the ratings do not vary")
    return Condition(title, test.above, f"{test.value:.4g} against {test.critical:.4g}")


def verdict(found: PanelFindings, declared: str) -> str:
    """The verdict in one sentence, with what stands against it."""
    failed = [condition.name for condition in conditions(found, declared) if not condition.holds]
    if failed:
        return f"not shown to be better than novices; does not hold: {'; '.join(failed)}"
    return f"better than novices (shown on {', '.join(claimed_metrics(found, declared))})"


def parts_of(found: PanelFindings) -> dict[str, dict[str, float]]:
    """What stands inside each value: p, the critical value, the adjusted p, the lead, the machine's place."""
    return {name: dict(_parts(found, name)) for name in found.tests}


def _parts(found: PanelFindings, name: str) -> Iterator[tuple[str, float]]:
    test, lead = found.tests[name], found.leads[name]
    yield from {"p": test.p, "critical": test.critical, "p_adjusted": found.adjusted[name], "lead": lead.value}.items()
    if lead.low is not None and lead.high is not None:
        yield from (("lead_low", lead.low), ("lead_high", lead.high))
    if (place := found.place(name)) is not None:
        yield from (("place", float(place)), ("places", float(len(found.novices) + 1)))
    if test.undefined:
        yield "undefined_draws", float(test.undefined)


def _p(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"


@dataclass(frozen=True)
class Examined:
    """What the report shows: the panels, the machine among them, the findings and how baselines did."""

    units: tuple[str, ...]
    panels: Panels
    block: Readings
    found: PanelFindings | None
    declared: str
    baselines: Mapping[str, Mapping[str, float]]
