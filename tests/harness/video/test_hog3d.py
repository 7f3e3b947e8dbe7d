"""HOG3D against a slow reading of its definition, and on videos of which the answer is known."""

import itertools

import numpy as np
import pytest

from basanite.harness.video.hog3d import (
    CUT,
    PRESETS,
    Axis,
    Preset,
    describe_clip,
    faces,
    gradients,
    hog3d,
    icosahedron,
    polar,
)

SMALL = {
    "faces": Preset(8, 6, (4, 3), 3, faces(), widths=3),
    "polar": Preset(8, 6, (2, 5), 4, polar(), scaled="cell", widths=3),
}


@pytest.fixture
def video():
    dice = np.random.default_rng(5)
    return np.cumsum(dice.integers(-9, 10, (14, 21, 26)), axis=2).clip(-120, 120) + 128


def slow_mean(gradient, low, high):
    """The mean of a gradient over a box whose borders may cut points in two: every point by its covered share."""
    total = 0.0
    for place in itertools.product(
        *(range(int(a), min(int(np.ceil(b)), n)) for a, b, n in zip(low, high, gradient.shape, strict=True))
    ):
        share = np.prod([min(p + 1, b) - max(p, a) for p, a, b in zip(place, low, high, strict=True)])
        total += share * gradient[place]
    return total / np.prod(np.subtract(high, low))


def slow_bins(gradient, preset):
    """One gradient in its bins, read from the definition."""
    size = np.linalg.norm(gradient)
    if preset.binning.bins == 20:
        if not size:
            return np.zeros(20)
        along = np.maximum(icosahedron() @ gradient / size - CUT, 0)
        return along * size / np.linalg.norm(along)
    return slow_polar(gradient)


def slow_polar(gradient, azimuths=5, elevations=3):
    """All round: the second half of the azimuths is the first upside down; near the pole, of all azimuths alike."""
    x, y, t = gradient
    bins, size = np.zeros((azimuths, elevations)), np.linalg.norm(gradient)
    azimuth = np.arctan2(y, x) / np.pi * azimuths - 0.5
    height = np.arctan2(t, np.hypot(x, y)) / np.pi * elevations + (elevations - 1) / 2
    pole = 2 * max(-height, height - (elevations - 1), 0)
    bins[:, [0, -1]] += pole * size / (2 * azimuths)
    height = min(max(height, 0), elevations - 1)
    for place, level in itertools.product(range(-azimuths - 1, azimuths + 1), range(elevations)):
        near = max(0, 1 - abs(azimuth - place)) * max(0, 1 - abs(height - level))
        upside_down = (place // azimuths) % 2
        bins[place % azimuths, elevations - 1 - level if upside_down else level] += near * (1 - pole) * size
    return bins.ravel()


def slow_box(gradients, start, sizes, preset):
    """The descriptor of one box (t, y, x), cell after cell."""
    side, length = preset.cells
    steps = np.array(sizes) / (np.array([length, side, side]) * preset.blocks)
    cells = []
    for cell in itertools.product(range(length), range(side), range(side)):
        bins = np.zeros(preset.binning.bins)
        for block in itertools.product(range(preset.blocks), repeat=3):
            low = np.array(start) + (np.array(cell) * preset.blocks + block) * steps
            bins += slow_bins(np.array([slow_mean(one, low, low + steps) for one in gradients]), preset)
        cells.append(bins / max(np.linalg.norm(bins), 1e-30) if preset.scaled == "cell" else bins)
    flat = np.concatenate(cells)
    return flat if preset.scaled == "cell" else flat / max(np.linalg.norm(flat), 1e-30)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_descriptors_are_those_of_the_definition_worked_out_box_by_box(video, name):
    preset = SMALL[name]
    found = hog3d(video, preset)
    gradients = [np.gradient(video.astype(float), axis=axis) for axis in (2, 1, 0)]
    dice = np.random.default_rng(1)
    for at in dice.choice(len(found.places), 6, replace=False):
        scale, sizes = box_sizes(found.places, at, preset, video.shape)
        halves = np.array(sizes) / 2
        start = np.round((found.places[at][::-1] - halves) / halves) * halves
        assert found.descriptors[at] == pytest.approx(slow_box(gradients, start, sizes, preset), abs=1e-6), scale


def box_sizes(places, at, preset, shape):
    """Which scale a box belongs to: boxes come scale by scale."""
    seen = 0
    for wide, long in itertools.product(range(preset.widths), range(preset.lengths)):
        size, length = preset.size * 2 ** (wide / 2), preset.length * 2 ** (long / 2)
        counts = [len(Axis.of(n, one).starts) for n, one in zip(shape, (length, size, size), strict=True)]
        seen += int(np.prod(counts))
        if at < seen:
            return (wide, long), (length, size, size)
    raise AssertionError


def test_dense_sampling_gives_the_boxes_and_sizes_of_both_presets():
    blank = np.zeros((60, 160, 300), np.uint8)
    wang = hog3d(blank, "wang2009")
    assert (len(wang.places), PRESETS["wang2009"].dimensions) == (16938, 960)
    assert PRESETS["tool-hollywood2"].dimensions == 300
    noise = np.random.default_rng(0).integers(0, 255, blank.shape)
    assert len(hog3d(noise, "tool-hollywood2").places) == 7575
    assert len(hog3d(blank, "tool-hollywood2").places) == 0  # too faint to be told from nothing


def test_a_constant_video_has_no_gradients():
    assert not hog3d(np.full((30, 40, 50), 77, np.uint8)).descriptors.any()


def test_a_ramp_has_the_same_code_everywhere_in_few_bins():
    ramp = np.broadcast_to(np.arange(60.0) * 3, (24, 44, 60))
    codes = hog3d(ramp).descriptors
    assert np.ptp(codes, axis=0).max() < 1e-6
    assert 1 <= (codes[0].reshape(-1, 20).max(axis=0) > 1e-6).sum() <= 2


def test_a_moving_edge_falls_into_the_bins_of_its_direction_and_speed():
    t, _, x = np.meshgrid(np.arange(30), np.arange(40), np.arange(60), indexing="ij")
    right, left = (200 / (1 + np.exp(-(x - 30 - speed * (t - 15)))) for speed in (1, -1))
    bins = [hog3d(video).descriptors.reshape(-1, 48, 20).sum(axis=(0, 1)) for video in (right, left)]
    expected = [np.maximum(icosahedron() @ np.array([1, 0, -speed]) / 2**0.5 - CUT, 0) for speed in (1, -1)]
    for found, wanted in zip(bins, expected, strict=True):
        assert set(np.flatnonzero(found > 0.05 * found.max())) == set(np.flatnonzero(wanted > 0))
    assert not (bins[0] > 0.05 * bins[0].max())[bins[1] > 0.05 * bins[1].max()].any()


def test_time_reversed_is_the_same_gradient_with_time_turned_round(video):
    forth, back = gradients(video), gradients(video[::-1])
    assert np.array_equal(back[:, :, ::-1], forth * np.array([1, 1, -1])[:, None, None])


def test_a_turn_of_the_icosahedron_permutes_its_bins():
    normals = icosahedron()
    turn = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])  # x to y to t to x leaves the body as it is
    order = (normals @ turn.T @ normals.T).argmax(axis=1)
    some = np.random.default_rng(2).normal(size=(3, 50)).astype(np.float32)
    weights = faces().weights
    assert sorted(order) == list(range(20))
    assert weights(turn.astype(np.float32) @ some)[order] == pytest.approx(weights(some), abs=1e-5)


@pytest.mark.parametrize("half", [False, True])
def test_bins_keep_the_size_of_every_gradient(half):
    some = np.random.default_rng(3).normal(size=(3, 200)).astype(np.float32)
    size = np.linalg.norm(some, axis=0)
    assert np.linalg.norm(faces(half=half).weights(some), axis=0) == pytest.approx(size, rel=1e-5)
    assert polar().weights(some).sum(axis=0) == pytest.approx(size, rel=1e-5)


@pytest.mark.parametrize("binning", [faces(half=True), polar()], ids=["faces", "polar"])
def test_half_orientation_takes_opposite_gradients_for_one(binning):
    some = np.random.default_rng(4).normal(size=(3, 200)).astype(np.float32)
    assert binning.weights(-some) == pytest.approx(binning.weights(some), abs=1e-5)


EDGES = {
    "in time alone": (0, 0, 3),
    "back in time": (0, 0, -3),
    "where the half circle ends": (-2, 0, 0.7),
    "where it begins": (2, 0, -0.7),
    "upwards": (0, -2, 0.4),
    "nothing": (0, 0, 0),
    "between normals": (1, 1, 0),
}


@pytest.mark.parametrize("place", sorted(EDGES))
@pytest.mark.parametrize("binning", [faces(), faces(half=True), polar(), polar(4, 2)], ids=["20", "10", "5x3", "4x2"])
def test_a_gradient_that_hardly_differs_has_bins_that_hardly_differ(binning, place):
    around = np.random.default_rng(6).normal(size=(3, 300))
    near = np.array(EDGES[place])[:, None] + 1e-4 * around / np.linalg.norm(around, axis=0)
    assert np.ptp(binning.weights(near.astype(np.float32)), axis=1).max() < 2e-3


@pytest.mark.parametrize("half", [False, True])
def test_faces_of_a_gradient_along_a_normal_are_that_normal_alone(half):
    normals = icosahedron()[:: 2 if half else 1]
    assert faces(half=half).weights(normals.T.astype(np.float32)) == pytest.approx(np.eye(len(normals)), abs=1e-3)


@pytest.mark.parametrize("shape", [(1, 40, 40), (9, 40, 40), (40, 10, 40), (12, 17, 40)], ids=str)
def test_a_clip_too_small_for_a_box_has_none(shape):
    assert [len(part.places) for part in describe_clip(np.zeros(shape))] == []


def test_boxes_are_the_same_whether_taken_at_once_or_some_at_a_time(video):
    whole = hog3d(video, SMALL["faces"])
    parts = list(describe_clip(video, SMALL["faces"]))
    assert np.array_equal(whole.descriptors, np.concatenate([part.descriptors for part in parts]))
