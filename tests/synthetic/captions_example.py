"""The small captions example: `python -m tests.synthetic.captions_example FOLDER` makes it again, byte for byte."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from basanite.synthetic.captions import DescribedImage, coco_annotations, coco_results, describe_images

IMAGES, SEED, WORDS = 40, 4, 60
SYSTEMS = {"Alpha": 0.8, "Beta": 0.45}


def broken(images: Sequence[DescribedImage]) -> list[dict[str, Any]]:
    """A good system's captions with four mistakes: an unknown image, one twice, one missing, a caption that is none."""
    made = coco_results(images)
    made[3]["image_id"] = 9001
    made[8] = {**made[7], "caption": "again"}
    made[12]["caption"] = None
    return made


def write_example(folder: Path) -> None:
    """Write the reference, the answers of two systems to the same images, and a broken file."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = {name: describe_images(IMAGES, seed=SEED, words=WORDS, quality=quality) for name, quality in SYSTEMS.items()}
    _write(folder / "captions.json", coco_annotations(seen["Alpha"]))
    for name, images in seen.items():
        _write(folder / f"{name}.json", coco_results(images))
    _write(folder / "broken.json", broken(seen["Alpha"]))


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
