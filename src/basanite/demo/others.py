"""The other tasks of the season, left to the worker: summaries that judges looked at, domains, languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.campaign.organising.reference_files import Paths
from basanite.demo import opening, runs
from basanite.demo.stage import Stage
from basanite.synthetic.clir import Quality
from basanite.synthetic.identification import domains, languages, write_answers, write_truth
from basanite.synthetic.summaries import Summarised, write_judgements, write_summaries

DATASET: Final = "DEV"
QUALITY: Final = Quality("summaries", 8.0)
WHO: Final[Mapping[str, tuple[str, str]]] = {
    "E2E": ("ada", "Alder"),
    "DomainID": ("bea", "Birch"),
    "LangID": ("chidi", "Cedar"),
}
"""Who hands in what, and for which team."""


@dataclass(frozen=True)
class Family:
    """One of the other tasks: what opens it, and a run for it."""

    task: str
    paths: Paths
    run: Path


def open_tasks(stage: Stage) -> list[Family]:
    """Open the tasks with their keys."""
    families = [_summaries(stage), *_labels(stage)]
    for one in families:
        opening.open_task(stage, DATASET, one.paths, task=one.task)
    return families


def hand_in(stage: Stage, families: list[Family]) -> None:
    """One run for each of them."""
    for one in families:
        who, team = WHO[one.task]
        stage.clock.forward(minutes=3)
        words = {"text": f"A made-up system for {one.task}."}
        stage.submit(who, team, DATASET, one.run, one.task, label=one.task.lower(), description=words)


def _summaries(stage: Stage) -> Family:
    """Summaries, and what judges said of them."""
    made = Summarised(runs.SPECS[DATASET], QUALITY, team="Alder")
    archive, judged = stage.files / "e2e.tgz", stage.files / "judgements.tsv"
    write_summaries(made, archive)
    write_judgements(made, judged)
    return Family("E2E", Paths((stage.sets[DATASET].key,), judgements=judged), archive)


def _labels(stage: Stage) -> list[Family]:
    """Which documents belong to each domain, and to each language."""
    truths = {"DomainID": domains(runs.SPECS[DATASET]), "LangID": languages(runs.SPECS[DATASET])}
    made = []
    for task, truth in truths.items():
        key, archive = stage.files / f"{task}-key", stage.files / f"{task}.tgz"
        write_truth(truth, key)
        write_answers(truth, Quality(task, 5.0), archive)
        made.append(Family(task, Paths((key,)), archive))
    return made
