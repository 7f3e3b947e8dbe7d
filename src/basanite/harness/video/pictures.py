"""What a video system sees and has learned, as pictures: frames, normalised frames, and filters (H-26)."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.video.contrast import normalised

SHOWN_FRAMES: Final = 3
SHOWN_FILTERS: Final = 24
MOMENTS: Final = 5
"""Frames of a filter that are shown."""
ACROSS: Final = 3
"""Filters side by side."""
WIDE: Final = 1_200
"""Pixels that filters are enlarged to, about."""
LARGEST: Final = 99.5
"""Percent of all values between black and white: a few larger ones would make the rest grey."""
GAP: Final = 4

Picture = NDArray[np.uint8]


def clip_picture(clip: NDArray[np.uint8]) -> dict[str, str]:
    """Some frames of a clip as they are, and below them the same after normalisation."""
    at = np.linspace(0, len(clip) - 1, SHOWN_FRAMES).astype(np.int64)
    rows = [_row(clip[at], GAP), _row(_grey(normalised(clip)[at]), GAP)]
    words = f"{SHOWN_FRAMES} frames of one test clip in grey, 300 pixels wide; below, edges stand out alike everywhere"
    return _told("Frames of a clip, and contrast normalised", words, _column(rows, GAP))


def filter_picture(filters: NDArray[Any]) -> dict[str, str]:
    """The strongest filters `[units, frames, rows, columns]`, each as its frames one after the other."""
    strength = (filters.reshape(len(filters), -1) ** 2).sum(axis=1)
    chosen = filters[np.argsort(-strength, kind="stable")[:SHOWN_FILTERS]]
    at = np.unique(np.linspace(0, chosen.shape[1] - 1, MOMENTS).astype(np.int64))
    enlarged = max(1, WIDE // (ACROSS * len(at) * chosen.shape[3]))
    strips = [_row(_grey(one[at]).repeat(enlarged, axis=1).repeat(enlarged, axis=2), GAP - 1) for one in chosen]
    rows = [_row(strips[at : at + ACROSS], 4 * GAP) for at in range(0, len(strips), ACROSS)]
    words = f"the {len(strips)} strongest of {len(filters)} units, each as {len(at)} frames from left to right"
    return _told("Filters of the first layer, each as its frames", words, _column(rows, 2 * GAP))


def _grey(values: NDArray[Any]) -> Picture:
    """Numbers around 0 as grey values around the middle, the largest as black or white."""
    largest = float(np.percentile(np.abs(values), LARGEST)) or 1.0
    return np.clip(127.5 + 127.5 * values / largest, 0, 255).astype(np.uint8)


def _row(pictures: Sequence[Picture] | Picture, gap: int) -> Picture:
    between = np.full((pictures[0].shape[0], gap), 255, np.uint8)
    return np.hstack([part for picture in pictures for part in (picture, between)][:-1])


def _column(rows: Sequence[Picture], gap: int) -> Picture:
    wide = max(row.shape[1] for row in rows)
    padded = [np.pad(row, ((0, gap), (0, wide - row.shape[1])), constant_values=255) for row in rows]
    return np.vstack(padded)[: -gap or None]


def _told(title: str, words: str, picture: Picture) -> dict[str, str]:
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(picture).save(content, "PNG", optimize=True)
    return {"title": title, "words": words, "png": base64.b64encode(content.getvalue()).decode()}
