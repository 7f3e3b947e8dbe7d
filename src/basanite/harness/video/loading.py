"""The video task as a data set: clips as files, twelve targets, and the split that was published (H-1, H-3)."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import Final

import numpy as np

from basanite.harness.data.dataset import Dataset, Files
from basanite.harness.data.multilabel import first_labels
from basanite.harness.protocol import Rows
from basanite.harness.video.actions import ACTIONS
from basanite.harness.video.hollywood2 import PARTS, Layout, clips_folder, read_layout
from basanite.harness.video.writing import write_clips

DRAWN_AS: Final = "1"
"""The version of what is drawn: part of the cache's name, so that no set of an older version is taken for a new one."""


def read_video(folder: Path) -> Dataset:
    """A set in the published layout; its counts stand beside the published ones."""
    layout = read_layout(folder)
    names = [f"{clip}.avi" for part in PARTS for clip in layout.parts[part].clips]
    labels = np.concatenate([layout.parts[part].labels for part in PARTS]).astype(np.float64)
    targets = {action: np.ascontiguousarray(labels[:, at]) for at, action in enumerate(ACTIONS)}
    return Dataset(
        folder.name,
        Files.of(clips_folder(folder), names),
        targets,
        first_labels=first_labels(targets),
        fixed=_split(layout),
        counts=layout.counts(),
    )


def _split(layout: Layout) -> tuple[Rows, Rows]:
    train = len(layout.parts["train"].clips)
    return np.arange(train), np.arange(train, train + len(layout.parts["test"].clips))


def generated_clips(*, clips: int, seed: int, folder: Path | None = None) -> Path:
    """A folder with so many drawn clips; made when it is first asked for, as a whole or not at all."""
    place = folder or _caches() / f"video-{DRAWN_AS}-{clips}-{seed}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        working = place.with_name(f".{place.name}.{secrets.token_hex(6)}")
        try:
            write_clips(working, clips=clips, seed=seed)
            working.rename(place)
        finally:
            shutil.rmtree(working, ignore_errors=True)
    return place


def _caches() -> Path:
    """Where this user's programs keep what they can make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "basanite"
