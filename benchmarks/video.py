"""HOG3D of one clip against a straightforward NumPy version of the same definition, and against decoding the clip.

The straightforward version works out every sub-block of every box from integral videos, vectorised over the boxes of a
scale, and has bins of its own; it shares nothing between boxes that overlap. Both must give the same numbers. One
thread each; then a set of clips on one core and on two, by the clock, the best of three. The last table is an
extrapolation and says so: clips per hour, measured from files to windows with the modules' defaults, and what they make
of all clips of Hollywood-2 (H-43). `--card` measures an epoch of the autoencoder on an accelerator.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from basanite.harness.modules.video import ContrastWindows, VisualWords
from basanite.harness.video.clips import read_clip
from basanite.harness.video.codebook import Codebook
from basanite.harness.video.data import Look, drawn_clip, encode
from basanite.harness.video.hog3d import CUT, FLAT, PRESETS, Axis, hog3d, icosahedron
from measuring import record, show

FRAMES, WIDTH, HEIGHT = 60, 300, 160
SET = 48
"""Clips that are shared by cores: seconds of work, beside which the start of a process is small."""
HOLLYWOOD2_CLIPS, HOLLYWOOD2_FRAMES = 1_707, 490
"""As published, and about how long a clip is on average."""
GOALS = {
    "wang2009: plain / ours": (5.0, "at least"),
    "tool-hollywood2: plain / ours": (5.0, "at least"),
    "largest difference x 1e6": (1.0, "at most"),
    "two cores / one": (1.6, "at least"),
}


def plain_hog3d(video, preset):
    """Every box by itself, vectorised over the boxes of a scale that begin at one frame."""
    flat = video.astype(np.float64)
    integrals = []
    for axis in (2, 1, 0):
        sums = np.gradient(flat, axis=axis)
        for along in range(3):
            sums = np.cumsum(sums, axis=along)
        integrals.append(np.pad(sums, ((1, 0), (1, 0), (1, 0))))
    found = []
    for wide in range(preset.widths):
        size = preset.size * 2 ** (wide / 2)
        across, down = Axis.of(video.shape[2], size), Axis.of(video.shape[1], size)
        for long in range(preset.lengths):
            through = Axis.of(len(video), preset.length * 2 ** (long / 2))
            parts = preset.cells[0] * preset.blocks
            for edges in through.edges(preset.cells[1] * preset.blocks):
                boxes = _boxes(integrals, edges, down.edges(parts), across.edges(parts), preset)
                found.append(boxes)
    return np.concatenate([boxes for boxes in found if len(boxes)])


def _boxes(integrals, t, y, x, preset):
    if not len(y) or not len(x):
        return np.zeros((0, preset.dimensions))
    volume = (t[1] - t[0]) * (y[0, 1] - y[0, 0]) * (x[0, 1] - x[0, 0])
    means = []
    for one in integrals:
        at = _sampled(_sampled(_sampled(one, t, 0), y.ravel(), 1), x.ravel(), 2)
        at = at.reshape(len(t), *y.shape, *x.shape)
        means.append(np.diff(np.diff(np.diff(at, axis=0), axis=2), axis=4) / volume)
    gradients = np.stack(means, axis=-1).transpose(1, 3, 0, 2, 4, 5)  # box y, box x, t, y, x, component
    bins = plain_bins(np.ascontiguousarray(gradients.reshape(-1, 3), np.float32), preset.binning.bins)
    side, length, split = *preset.cells, preset.blocks
    cells = bins.reshape(-1, length, split, side, split, side, split, preset.binning.bins).sum(axis=(2, 4, 6))
    flat = cells.reshape(len(cells), -1, preset.binning.bins)
    kept = flat[np.linalg.norm(flat.reshape(len(flat), -1), axis=1) >= preset.faintest]
    if preset.scaled == "box":
        kept = kept.reshape(len(kept), -1)
    lengths = np.linalg.norm(kept, axis=-1, keepdims=True)
    return np.where(lengths > FLAT, kept / np.maximum(lengths, FLAT), 0).reshape(len(kept), preset.dimensions)


def plain_bins(gradients, bins):
    """The weights of 20 faces of an icosahedron, or of 5 azimuths by 3 elevations: `[n, bins]`."""
    return _faces(gradients) if bins == 20 else _polar(gradients)


def _faces(gradients):
    size = np.linalg.norm(gradients, axis=1, keepdims=True)
    along = gradients @ icosahedron().T.astype(np.float32)
    along -= np.float32(CUT) * size
    np.maximum(along, 0, out=along)
    left = np.linalg.norm(along, axis=1, keepdims=True)
    along *= size / np.where(left > 0, left, 1)
    return along


def _polar(gradients, azimuths=5, elevations=3):
    """All round, ten azimuths; those of the second half are those of the first upside down."""
    x, y, t = gradients.T
    flat = np.hypot(x, y)
    size = np.hypot(flat, t)
    azimuth = np.arctan2(y, x) * (azimuths / np.pi) - 0.5
    elevation = np.arctan2(t, flat) * (elevations / np.pi) + (elevations - 1) / 2
    pole = 2 * np.maximum(np.abs(elevation - (elevations - 1) / 2) - (elevations - 1) / 2, 0)
    elevation = np.clip(elevation, 0, elevations - 1)
    found, rows = np.zeros((len(size), azimuths, elevations), np.float32), np.arange(len(size))
    low, left = np.minimum(elevation.astype(int), elevations - 2), np.floor(azimuth).astype(int)
    for place, near in ((left, 1 - azimuth + left), (left + 1, azimuth - left)):
        over = (place // azimuths) % 2 == 1
        for height, high in ((low, 1 - elevation + low), (low + 1, elevation - low)):
            found[rows, place % azimuths, np.where(over, elevations - 1 - height, height)] += (
                size * (1 - pole) * near * high
            )
    found[:, :, [0, -1]] += (size * pole / (2 * azimuths))[:, None, None]
    return found.reshape(len(size), -1)


def _sampled(integral, places, axis):
    below = np.minimum(places.astype(int), integral.shape[axis] - 2)
    share = np.expand_dims(places - below, [n for n in range(3) if n != axis])
    return np.take(integral, below, axis) * (1 - share) + np.take(integral, below + 1, axis) * share


def cpu(work, repeat):
    """The least CPU seconds of several runs, and what the work gave."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def main():
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--card", action="store_true", help="measure the autoencoder on an accelerator instead")
    parser.add_argument("--rows", type=int, default=303_588)
    parser.add_argument("--units", type=int, default=5_000)
    given = parser.parse_args()
    threadpool_limits(1)
    if given.card:
        from video_card import measure_epoch

        measure_epoch(given.rows, given.units)
    else:
        measure_clip(given.repeat)


def measure_clip(repeat):
    """HOG3D and decoding of one drawn clip."""
    look = Look(frames=(FRAMES, FRAMES), widths=(WIDTH, WIDTH), shapes=(HEIGHT / WIDTH, HEIGHT / WIDTH))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.avi"
        encode(path, drawn_clip([0], np.random.default_rng(0), look))
        decoding, video = cpu(lambda: read_clip(path), repeat)
    print(f"decoding {video.shape}: {decoding:.3f} CPU s")
    found, apart, costs = {}, 0.0, {"decoding": round(decoding, 4)}
    for name, preset in PRESETS.items():
        slow, wanted = cpu(lambda preset=preset: plain_hog3d(video, preset), max(1, repeat // 2))
        fast, made = cpu(lambda preset=preset: hog3d(video, preset).descriptors, repeat)
        apart = max(apart, float(np.abs(made - wanted).max()))
        found[f"{name}: plain / ours"] = slow / fast
        costs |= {f"{name} plain": round(slow, 3), f"{name} ours": round(fast, 3), f"{name} boxes": len(made)}
        print(f"{name}: {len(made)} boxes, plain {slow:.2f}, ours {fast:.2f} CPU s, {fast / decoding:.0f} x decoding")
    found["largest difference x 1e6"] = apart * 1e6
    found["two cores / one"] = cores_gain(video)
    show(found, GOALS)
    size = {"frames": FRAMES, "width": WIDTH, "height": HEIGHT, "set": SET}
    hours = extrapolated(video)
    record("video.jsonl", size, {}, found, GOALS, seconds=costs, hollywood2=hours)


def cores_gain(video, clips=SET, repeat=3):
    """How many times faster a set of clips becomes words on two cores than on one, by the clock."""
    allowed = sorted(os.sched_getaffinity(0))
    words = VisualWords(preset="tool-hollywood2", words=100, sample=2_000, starts=1)
    words.fit([video])
    walls = {1: [], 2: []}
    for count in (1, 2) * repeat:
        os.sched_setaffinity(0, allowed[:count])
        walls[count].append(wall(lambda: words.transform([video] * clips)))
    os.sched_setaffinity(0, allowed)
    return min(walls[1]) / min(walls[2])


def wall(work):
    """Seconds by the clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def extrapolated(video, clips=32):
    """Clips per hour of each module with its defaults, and hours for Hollywood-2 in proportion to frames."""
    words = VisualWords(words=4_000)
    words.codebook = Codebook(np.random.default_rng(0).random((4_000, 960), dtype=np.float32))
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.avi"
        encode(path, video)
        for name, module in {"hog3d": words, "contrast": ContrastWindows()}.items():
            seconds = wall(lambda module=module: module.transform([path] * clips)) / clips
            hours = seconds * HOLLYWOOD2_CLIPS * HOLLYWOOD2_FRAMES / len(video) / 3600
            told[name] = {"clips_per_hour": round(3600 / seconds), "hours": round(hours, 1)}
            rate = f"{3600 / seconds:,.0f} clips of {len(video)} frames an hour"
            print(f"{name}: {rate}; Hollywood-2 {hours:.1f} h (extrapolated)")
    return {**told, "clips": HOLLYWOOD2_CLIPS, "frames": HOLLYWOOD2_FRAMES, "cores": len(os.sched_getaffinity(0))}


if __name__ == "__main__":
    main()
