"""A study from its file to its result: every part that is not stored yet is made, in an order that can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from basanite.representation.study.cells import Workshop
from basanite.representation.study.study_file import read_study
from basanite.representation.study.study_report import StudyResult


def run_study(path: Path, out: Path, progress: Callable[[str, int, int], None]) -> StudyResult:
    """Run a study, or take up one that was stopped: what is in the folder is not made again."""
    study = read_study(path)
    shop = Workshop(study, path.parent, out, progress)
    shop.open()
    pairs = [(model.name, entry.name) for model in study.models for entry in study.data]
    cells = {}
    for done, (model, name) in enumerate(pairs, 1):
        cells[model, name] = shop.cell(model, name)
        progress("model and set", done, len(pairs))
    return StudyResult(study, cells, shop.shift())
