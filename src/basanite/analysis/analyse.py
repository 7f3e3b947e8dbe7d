"""From one system's rows to everything known about it: values, breakdowns, notes, and the signature of how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from basanite.analysis.breakdowns import breakdowns, left_out
from basanite.analysis.cluster_columns import cluster_notes, with_clusters
from basanite.analysis.intervals import check_design, tables_of, values
from basanite.analysis.results import Analysis, Design
from basanite.kernel import Scores

INDEPENDENT = "units taken as independent"


def analyse(scores: Scores, design: Design, *, version: str) -> Analysis:
    """Analyse one system by a design fixed beforehand."""
    check_design(design)
    scores = with_clusters(scores, design.cluster)
    return Analysis(
        scores,
        values(scores, design),
        breakdowns(scores, design),
        design,
        signature(scores, design, version=version),
        notes(scores, design),
    )


def signature(scores: Scores, design: Design, *, version: str) -> str:
    """How the numbers were made, in one line: two results may be compared if theirs are equal."""
    method = {"interval": design.interval, "draws": design.draws, "seed": design.seed, "level": design.level}
    settings = {**scores.settings, **method, **({"cluster": design.cluster} if design.cluster else {})}
    parts = [f"{key}:{_plain(settings[key])}" for key in sorted(settings)]
    return "|".join([f"basanite:{version}", f"task:{scores.task}", *parts])


def notes(scores: Scores, design: Design) -> tuple[str, ...]:
    """What must be said of the whole result: the task's notes, units left out of levels, clusters or none (S-10)."""
    clusters = cluster_notes(scores, design.cluster)
    return tuple(dict.fromkeys([*scores.notes, *left_out(scores), *clusters, *_independent(scores)]))


def _independent(scores: Scores) -> Iterator[str]:
    """That units are taken as independent, and which, where others are in clusters."""
    tables = [table for table, _ in tables_of(scores)]
    alone = dict.fromkeys(table.unit for table in tables if table.clusters is None)
    if alone:
        mixed = any(table.clusters is not None for table in tables)
        yield f"{INDEPENDENT}: each {' and '.join(alone)}" if mixed else INDEPENDENT


def _plain(value: Any) -> str:
    """A setting as short text that is the same everywhere and cannot be taken for two settings."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_plain(value[key])}" for key in sorted(value))
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(sorted(map(_plain, value)) if isinstance(value, set | frozenset) else map(_plain, value))
    return str(value).replace("|", "/")
