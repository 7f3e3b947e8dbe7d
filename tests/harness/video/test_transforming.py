"""Clips changed in known ways, pictures of them, and clips that lie elsewhere than before."""

import base64
import io
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from basanite.errors import MissingExtraError, UnreadableError
from basanite.harness.data.dataset import Files, items_of, stored_items
from basanite.harness.inspection import changed_versions, inspect_learner
from basanite.harness.steps.layout import part
from basanite.harness.steps.store import Store
from basanite.harness.video.clips import SHIFTS, SPEEDS, TURNS, at_speed, read_clip, rotate, shift, transform_clips
from basanite.harness.video.codebook import clip_picture, filter_picture, normalise_contrast
from basanite.harness.video.data import Look, drawn_clip, encode


@pytest.fixture
def clip():
    return np.random.default_rng(0).integers(0, 255, (9, 12, 16)).astype(np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    found = tmp_path_factory.mktemp("clips") / "AVIClips"
    found.mkdir()
    look = Look(frames=(31, 34), widths=(60, 60), shapes=(0.1, 0.1))
    for number in range(8):
        encode(found / f"{number}.avi", drawn_clip([number], np.random.default_rng(number), look))
    return found


def test_a_shift_moves_the_picture_and_repeats_its_border(clip):
    moved = shift(clip, down=2, right=-3)
    assert np.array_equal(moved[:, 2:, :-3], clip[:, :-2, 3:])
    assert np.array_equal(moved[:, 0], moved[:, 2])
    assert np.array_equal(moved[:, :, -1], moved[:, :, -4])


def test_a_turn_goes_about_the_middle_and_a_quarter_turn_is_exact():
    square = np.random.default_rng(1).integers(0, 255, (3, 11, 11)).astype(np.uint8)
    assert np.array_equal(rotate(square, degrees=90), np.rot90(square, axes=(1, 2)))
    assert np.array_equal(rotate(square, degrees=8)[:, 5, 5], square[:, 5, 5])


def test_a_speed_takes_other_moments_and_keeps_the_number_of_frames(clip):
    assert np.array_equal(at_speed(clip, factor=2.0)[:5], clip[::2])
    assert np.array_equal(at_speed(clip, factor=0.5)[::2], clip[:5])
    assert at_speed(clip, factor=1.25).shape == clip.shape


def test_the_path_of_clips_has_every_shift_turn_and_speed(folder):
    path, kind = changed_versions([folder / "0.avi", folder / "1.avi"])
    steps = list(path)
    assert len(steps) == len(SHIFTS) + len(TURNS) + len(SPEEDS) == len(list(transform_clips([])))
    assert all(len(step) == 2 for step in steps)
    assert np.array_equal(steps[0][1], shift(read_clip(folder / "1.avi"), down=SHIFTS[0][0], right=SHIFTS[0][1]))
    assert "turned by 4 and 8 degrees" in kind


def test_a_learner_of_clips_is_looked_into_by_windows_with_pictures(folder):
    items = stored_items(Files.of(folder, [f"{number}.avi" for number in range(8)]))
    preprocessor = {"module": "contrast-halves", "parameters": {"frames": 4, "rows": 3, "columns": 8}, "seed": 0}
    learner = {"module": "msda", "parameters": {"units": 10, "noise": 0.3}, "seed": 1}
    found = inspect_learner(items, {"rows": np.arange(8)}, preprocessor, learner, 5)
    assert [entry["layer"] for entry in found["layers"]] == [1, 2, 3]
    assert all(entry["weights_changed"] > 0 and entry["codes_changed"] > 0 for entry in found["layers"])
    assert all(entry["invariance"] >= 0 for entry in found["layers"])
    assert found["pictures"][0]["title"] == "Frames of a clip, and contrast normalised"


def opened(picture):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture["png"]))))


def test_the_picture_of_a_clip_has_frames_above_and_the_same_normalised_below(clip):
    shown = opened(clip_picture(clip))
    assert np.array_equal(shown[:12, :16], clip[0])
    assert np.array_equal(shown[:12, -16:], clip[-1])
    below = shown[-12:, :16].astype(float)
    assert np.corrcoef(below.ravel(), normalise_contrast(clip)[0].ravel())[0, 1] > 0.98


def test_filters_are_shown_strongest_first_and_as_frames():
    filters = np.zeros((30, 6, 4, 5))
    filters[7], filters[3, :, 1, 2] = 9, 5.0
    shown = opened(filter_picture(filters))
    assert (shown[:4, :5] == 255).all()
    assert "24 strongest of 30" in filter_picture(filters)["words"]
    assert opened(filter_picture(np.zeros((2, 1, 3, 3)))).std() > 0  # all alike: grey, with white between


def test_clips_are_known_by_content_and_found_again_after_a_move(folder, tmp_path):
    names = ["0.avi", "1.avi"]
    here, there = Files.of(folder, names), Files.of(shutil.copytree(folder, tmp_path / "moved"), names)
    assert here.digests == there.digests
    assert here.take(np.array([1])) == [folder / "1.avi"]
    store = Store(tmp_path / "store")
    for files in (here, there):
        laid = part("items", "items", "sha256:same", stored_items(files))
        laid.lay(store)
        assert items_of(store.load(laid.step.key)).folder == files.folder


def test_without_pyav_it_is_said_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"basanite\[harness\]\""):
        read_clip(folder / "0.avi")


def test_a_clip_that_is_gone_is_named_with_the_cure(tmp_path):
    with pytest.raises(UnreadableError, match=r"gone\.avi is not there.*name their folder in the plan"):
        read_clip(tmp_path / "gone.avi")
