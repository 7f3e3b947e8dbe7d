"""Boards of scores: the files of many systems as one table of systems and items, for an audit (Y-7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from basanite.analysis.boards import BoardRows, ItemFacts, item_facts, same_patterns
from basanite.analysis.clusters import clusters_of
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.scores.reading import logs_of_systems, read_trials
from basanite.formats.scores.trials import Scale, Trials, checked_trials, trials_per_item
from basanite.kernel import Metric, Scores, UnitRows
from basanite.metrics.repeats import MEAN, TrialsOfItems, named_pass_metric
from basanite.problems import Findings
from basanite.registry import suggestion
from basanite.tasks.scores import SUBMISSION, check_facts, pass_limit, passes, scale_of, scaled_mean

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class ScoreBoard:
    """All systems on the items that all of them have."""

    board: BoardRows
    facts: ItemFacts
    notes: tuple[str, ...]


def read_board(files: Mapping[str, Path], settings: Settings, *, primary: str = "", cluster: str = "") -> ScoreBoard:
    """Read all files, each with one system or several; problems of any of them are raised together."""
    findings = Findings()
    parts: list[Trials] = []
    for name, path in [one for file in files.items() for one in logs_of_systems(file[1]).items() or [file]]:
        trials = read_trials(path, SUBMISSION, findings, score=settings["score"])
        if trials is not None:
            checked = checked_trials(trials, scale_of(settings), SUBMISSION, findings)
            parts.append(replace(checked, systems=(name,)) if len(trials.systems) == 1 else checked)
    if not findings.valid or not parts:
        raise InvalidInputError("scores", findings)
    check_facts([(part.systems[0], part.facts, part.inputs) for part in parts], settings["ignore"])
    return _board(parts, settings, primary, cluster)


def board_scores(board: BoardRows) -> list[Scores]:
    """The rows of each system as any task gives them."""
    settings = {"metric": board.metric.name}
    return [
        Scores("scores", name, (board.metric,), {board.metric.name: table}, board.metric.name, settings, {})
        for name, rows in zip(board.systems, board.rows, strict=True)
        for table in [
            UnitRows("item", board.units, board.metric.columns, rows, clusters=board.clusters, cluster=board.cluster)
        ]
    ]


def _board(parts: Sequence[Trials], settings: Settings, primary: str, cluster: str) -> ScoreBoard:
    systems = [name for part in parts for name in part.systems]
    twice = next((name for name in systems if systems.count(name) > 1), None)
    if twice is not None:
        raise SettingError(f"Two systems are called {twice!r}. Give them names: NAME=PATH.")
    units, there = _shared_items(parts)
    metric = _metric(primary, settings)
    item, score, passed = (np.concatenate(column) for column in zip(*_columns(parts, units, settings), strict=True))
    block = TrialsOfItems(units * len(systems), item, score, passed)
    rows = metric.statistics(block).reshape(len(systems), len(units), 2)
    notes = [note for part in parts for note in part.notes]
    if there != len(units):
        notes.append(f"{there - len(units)} of {there} items are left out, for not every system has them")
    clusters = _clusters(parts, units, cluster)
    board = BoardRows(tuple(systems), units, metric, rows, clusters, cluster if clusters is not None else "")
    facts = item_facts(units, *_counts(item % len(units), score, len(units), scale_of(settings)))
    alike = (*_same_inputs(parts, units), *same_patterns(units, rows[..., 0]))
    return ScoreBoard(board, replace(facts, alike=tuple(dict.fromkeys(alike))), tuple(dict.fromkeys(notes)))


def _shared_items(parts: Sequence[Trials]) -> tuple[tuple[str, ...], int]:
    """The items of all systems, in order, and how many there are of any; refused where there is none in common."""
    every: dict[str, int] = {}
    for part in parts:
        for name, number in zip(part.items, (trials_per_item(part) > 0).sum(axis=0).tolist(), strict=True):
            every[name] = every.get(name, 0) + number
    systems = sum(len(part.systems) for part in parts)
    shared = tuple(name for name, number in every.items() if number == systems)
    if not shared:
        raise SettingError("No item is in the results of all systems: give results of the same items.")
    return shared, len(every)


def _columns(parts: Sequence[Trials], units: tuple[str, ...], settings: Settings) -> Any:
    """For each file the place of every trial among systems x items, its score, and whether it passes."""
    place, start = {name: at for at, name in enumerate(units)}, 0
    for part in parts:
        item = np.array([place.get(name, -1) for name in part.items], np.int64)[part.item]
        kept = item >= 0
        yield (
            ((part.system + start) * len(units) + item)[kept],
            part.score[kept],
            np.asarray(passes(part, settings))[kept],
        )
        start += len(part.systems)


def _counts(item: Any, score: Any, size: int, scale: Scale) -> Any:
    """How many trials each item has in all systems, how many of them have the best score, and how many the worst."""
    best = scale.high if scale.better == "high" else scale.low
    chosen = (item, item[score == best], item[score == scale.worst])
    return (np.bincount(one, minlength=size) for one in chosen)


def _metric(primary: str, settings: Settings) -> Metric:
    if primary in ("", MEAN.name):
        return scaled_mean(settings)
    metric = named_pass_metric(primary)
    if metric is None or pass_limit(settings) is None:
        raise SettingError(f"An audit ranks by mean, pass@k or pass^k, not by {primary!r}.")
    return metric


def _clusters(parts: Sequence[Trials], units: tuple[str, ...], cluster: str) -> Any:
    """The clusters of the items, by the column named, or one that is called so."""
    known = {name: column for part in parts for name, column in part.columns.items()}
    wanted = cluster or "cluster"
    if wanted == "none" or (not cluster and wanted not in known):
        return None
    if wanted not in known:
        raise SettingError(f"No column of the items is called {wanted!r}. {suggestion(wanted, tuple(known))}")
    cells = {name: cell for part in parts for name, cell in zip(part.items, part.columns.get(wanted, ()), strict=False)}
    return clusters_of(cells.get(name, "") for name in units)


def _same_inputs(parts: Sequence[Trials], units: tuple[str, ...]) -> Any:
    """Groups of items that ask the same, but for capitals, spaces and signs."""
    asked: dict[str, list[str]] = {}
    inputs = {name: text for part in parts for name, text in part.inputs.items()}
    for name in units:
        key = "".join(sign for sign in inputs.get(name, "").casefold() if sign.isalnum())
        if key:
            asked.setdefault(key, []).append(name)
    return (tuple(group) for group in asked.values() if len(group) > 1)
