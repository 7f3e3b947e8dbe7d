"""Modules for clips: HOG3D words by window for the evaluation team, normalised windows for teams (H-6, A28, A29).

Clips are decoded when they are needed and let go again: descriptors of a set would be hundreds of gigabytes. Processes
share the clips of a set, for most of the work is many small steps between which threads wait for each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing import current_process
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.modules.interfaces import Module
from basanite.harness.steps.graph import pool
from basanite.harness.steps.store import Sequences
from basanite.harness.video.clips import WINDOW, read_clip, windows
from basanite.harness.video.codebook import Codebook, normalise_contrast, resize
from basanite.harness.video.hog3d import PRESETS, describe_clip

Floats = NDArray[np.float32]
Clip: TypeAlias = Path | NDArray[np.uint8]
"""A file, or frames that are decoded already."""
FEW: Final = 16
"""Clips that one process describes in the time that others take to start."""


class VisualWords:
    """Shares of HOG3D words in every window of 30 frames; the sum over a clip's windows is its histogram."""

    def __init__(
        self,
        *,
        preset: str = "wang2009",
        words: int = 4_000,
        sample: int = 100_000,
        starts: int = 8,
        seed: int = 0,
    ) -> None:
        self.preset, self.words, self.sample, self.starts, self.seed = preset, words, sample, starts, seed
        self.codebook = Codebook(np.zeros((1, PRESETS[preset].dimensions), np.float32))

    def fit(self, items: Sequence[Clip]) -> None:
        """Learn the words from a sample of the descriptors of all clips, as many from each."""
        each = max(1, self.sample // max(len(items), 1))
        seeds = np.random.SeedSequence(self.seed).spawn(len(items))
        parts = _on_all_cores(partial(self._sample, count=each), list(zip(items, seeds, strict=True)))
        self.codebook = Codebook.of(np.concatenate(list(parts)), self.words, starts=self.starts, seed=self.seed)

    def transform(self, items: Sequence[Clip]) -> Sequences:
        """The windows of some clips."""
        found = list(_on_all_cores(self._windows, items))
        offsets = np.concatenate([[0], np.cumsum([len(shares) for shares in found])])
        return Sequences(scipy.sparse.csr_array(np.concatenate(found)), offsets)

    def _sample(self, drawn: tuple[Clip, np.random.SeedSequence], count: int) -> Floats:
        clip, seed = drawn
        dice = np.random.default_rng(seed)
        parts = [part.descriptors for part in describe_clip(_frames(clip), self.preset)]
        found = np.concatenate([np.zeros((0, PRESETS[self.preset].dimensions), np.float32), *parts])
        return found[np.sort(dice.choice(len(found), min(count, len(found)), replace=False))]

    def _windows(self, clip: Clip) -> NDArray[np.float64]:
        """How often each window has each word, as shares of all boxes of the clip."""
        video = _frames(clip)
        counts = np.zeros((len(windows(len(video))), len(self.codebook.words)))
        for places, descriptors in describe_clip(video, self.preset):
            at = np.minimum(places[:, 2].astype(np.int64) // WINDOW, len(counts) - 1)
            np.add.at(counts, (at, self.codebook.nearest(descriptors)), 1)
        return np.asarray(counts / max(counts.sum(), 1))


class ContrastWindows:
    """Windows of 30 frames of the contrast-normalised clip, each brought to one size, as a row of numbers."""

    def __init__(self, *, frames: int = 10, rows: int = 18, columns: int = 32, halves: bool = False) -> None:
        self.shape, self.halves = (frames, rows, columns), halves

    def fit(self, items: Sequence[Clip]) -> None:
        """Nothing is to be learned."""

    def transform(self, items: Sequence[Clip]) -> Sequences:
        """The windows of some clips."""
        found = list(_on_all_cores(self._windows, items))
        offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in found])])
        return Sequences(np.concatenate(found), offsets)

    def as_videos(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of numbers, such as a unit's weights, as small videos `[rows, frames, rows, columns]`."""
        both = rows.reshape(len(rows), -1, int(np.prod(self.shape)))
        return (both[:, 0] - both[:, 1] if self.halves else both[:, 0]).reshape(-1, *self.shape)

    def _windows(self, clip: Clip) -> Floats:
        video = normalise_contrast(_frames(clip))
        rows = np.stack([resize(video[part], self.shape).ravel() for part in windows(len(video))])
        return np.hstack([np.maximum(rows, 0), np.maximum(-rows, 0)]) if self.halves else rows


def _frames(clip: Clip) -> NDArray[np.uint8]:
    return read_clip(clip) if isinstance(clip, Path) else clip


def _on_all_cores(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Work on each item, in order; a few are not worth the start of processes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores == 1 or len(items) < FEW or current_process().daemon:  # a cluster's worker may have no processes
        yield from map(work, items)
        return
    with pool(cores - 1) as processes:
        waiting = [processes.submit(work, item) for item in items]
        own: dict[int, Any] = {}
        try:  # others take seconds to start: meanwhile, and then beside them, this process works from the end backwards
            for at in range(len(items) - 1, -1, -1):
                if waiting[at].cancel():
                    own[at] = work(items[at])
            yield from (own[at] if at in own else done.result() for at, done in enumerate(waiting))
        finally:
            processes.shutdown(wait=False, cancel_futures=True)


def _whole(low: int, high: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "default": default}


def _schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_CODE: Final = (
    __file__,
    *(str(Path(__file__).parent.parent / "video" / f"{name}.py") for name in ("clips", "codebook", "hog3d")),
)

HOG3D = Module(
    name="hog3d",
    role="features",
    summary="HOG3D descriptors of dense boxes, quantised to a codebook, counted by windows of 30 frames",
    make=lambda parameters, seed: VisualWords(**{"seed": seed, **parameters}),
    needs="items",
    gives="histograms",
    schema=_schema(
        preset={"enum": sorted(PRESETS), "default": "wang2009"},
        words=_whole(2, 100_000, 4_000),
        sample=_whole(100, 10_000_000, 100_000),
        starts=_whole(1, 100, 8),
    ),
    code=_CODE,
)
CONTRAST = Module(
    name="contrast",
    role="preprocessor",
    summary="3-D local contrast normalisation, in windows of 30 frames brought to one size",
    make=lambda parameters, seed: ContrastWindows(**parameters),
    needs="items",
    gives="sequence",
    schema=_schema(frames=_whole(1, 30, 10), rows=_whole(2, 576, 18), columns=_whole(2, 300, 32)),
    random=False,
    code=_CODE,
)
CONTRAST_HALVES = replace(
    CONTRAST,
    name="contrast-halves",
    summary="3-D local contrast normalisation in windows, with brighter and darker apart: nothing is negative",
    make=lambda parameters, seed: ContrastWindows(**parameters, halves=True),
    gives="histograms",
)
