"""Reading what panels and a machine said of passages, with every fault named, its line and its cure (R-3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from basanite.formats.items import ID_LENGTH, ContentError, Items, lacks_columns, number_of, read_items
from basanite.formats.records import Place, Records, read_records
from basanite.metrics.judgement.readability import Readings, Reals
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
    passages = _gathered(records, settings["scale"], findings)
    findings.extend(_thin(passages, records.file))
    findings.extend(_too_large(passages, records.file))
    names = sorted(passages)
    content = tuple(passages[name] for name in names)
    columns = {
        name: tuple(passage.others.get(name, "") for passage in content) for name in records.columns if name not in USED
    }
    return Items(records.file, tuple(names), content, [passage.line for passage in content], records.digest, columns)


def _gathered(records: Records, scale: tuple[float, float], findings: Findings) -> dict[str, Passage]:
    passages: dict[str, Passage] = {}
    sides: dict[str, str] = {}
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        try:
            name = _named(fields, PASSAGE)
            _add(passages.setdefault(name, Passage(line)), fields, scale, sides)
        except ContentError as error:
            findings.add(REFERENCE.problem(records.file, line, str(error), error.fix, error.found))
    return passages


def _add(passage: Passage, fields: Mapping[str, Any], scale: tuple[float, float], sides: dict[str, str]) -> None:
    """Take one line of the reference into what is known of its passage."""
    _describe(passage, fields)
    judge, panel = _named(fields, JUDGE), fields.get(PANEL)
    if panel not in PANELS:
        raise ContentError("the panel is not known", "write expert or novice", "" if panel is None else panel)
    if sides.setdefault(judge, panel) != panel:
        message = f"judge {judge!r} is in the {sides[judge]} panel on an earlier line"
        raise ContentError(message, "keep a judge in one panel; give two people two names", panel)
    if judge in passage.panels[panel]:
        raise ContentError("this judge rated this passage before", "keep one line for each passage and judge", judge)
    passage.panels[panel][judge] = Judgement(rated(fields, scale), _cell(fields, "round"), _rank(fields))


def _describe(passage: Passage, fields: Mapping[str, Any]) -> None:
    for name, cell in fields.items():
        if name not in USED and cell is not None and passage.others.setdefault(name, str(cell)) != str(cell):
            message = f"{name} is another than on an earlier line of this passage"
            raise ContentError(message, f"give a passage one {name}", str(cell))
    text = _cell(fields, "text")
    if text and passage.text not in ("", text):
        raise ContentError("the text is another than on an earlier line of this passage", "give a passage one text")
    passage.text = passage.text or text


def _named(fields: Mapping[str, Any], name: str) -> str:
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


def rated(fields: Mapping[str, Any], scale: tuple[float, float]) -> float:
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
        return rated(fields, settings["scale"])

    return read_items(path, take, SUBMISSION, findings, id_name=PASSAGE, used=(RATING,), plain=False)


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
