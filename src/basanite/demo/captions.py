"""Descriptions of images in the demo: a window that is over, three runs, and a board that everybody may see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from basanite.campaign.organising.reference_files import Paths
from basanite.demo import opening, scenes
from basanite.demo.stage import Stage
from basanite.synthetic.captions import Described
from basanite.synthetic.examples.captions import coco_annotations, coco_results

TASK, DATASET, WINDOW = "captions", "IMAGES", "captions"
IMAGES, SEED = 80, 4
RUNS: Final[Mapping[str, tuple[str, str, float]]] = {
    "Alder": ("ben", "attention", 0.8),
    "Birch": ("carl", "retrieval", 0.74),
    "Cedar": ("chidi", "templates", 0.45),
}
"""Teams with who hands in, the system, and how good it is."""


def play(stage: Stage) -> None:
    """The images come out, the task opens with what people said of them, and each team describes them once."""
    opening.fill_pack(stage, DATASET, "images.tgz", scenes.pack_members(scenes.scenes(IMAGES, seed=SEED)))
    truth = stage.files / "captions.json"
    truth.write_text(json.dumps(coco_annotations(_images(1.0))), encoding="utf-8")
    opening.open_task(stage, DATASET, Paths((truth,)), task=TASK)
    stage.clock.forward(hours=20)
    for team in RUNS:
        stage.score([_hand_in(stage, team)])  # one by one: the process that has loaded what they need is used again


def _hand_in(stage: Stage, team: str) -> str:
    who, system, quality = RUNS[team]
    stage.clock.forward(minutes=11)
    told = {"text": f"A made-up system ({system}) for the demo."}
    run = _written(stage.files / f"{system}.json", quality)
    return stage.submit(who, team, DATASET, run, TASK, label=system, type="primary", description=told)


def _written(path: Path, quality: float) -> Path:
    path.write_text(json.dumps(coco_results(_images(quality))), encoding="utf-8")
    return path


def _images(quality: float) -> list[Described]:
    return scenes.described(scenes.scenes(IMAGES, seed=SEED), seed=SEED, quality=quality)
