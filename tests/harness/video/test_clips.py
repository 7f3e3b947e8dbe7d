"""Clips: drawn, encoded, listed and read again; contrast, sizes, windows and words."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from basanite.errors import InvalidInputError, UnreadableError
from basanite.harness.video.clips import WIDTH, read_clip, scaled_height, windows
from basanite.harness.video.codebook import Codebook, normalise_contrast, resize
from basanite.harness.video.data import (
    Look,
    drawn_clip,
    encode,
    generated_clips,
    planned_clips,
    read_video,
    write_clips,
)
from basanite.harness.video.hollywood2 import ACTIONS, PUBLISHED, REVERSED, draw_labels, read_layout

QUICK = Look(frames=(32, 40), widths=(60, 80))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clips") / "set"
    write_clips(folder, clips=50, seed=2, look=QUICK)
    return folder


def test_the_published_counts_of_clips_and_labels_add_up():
    assert (PUBLISHED["train"].clips, PUBLISHED["test"].clips) == (823, 884)
    assert (PUBLISHED["train"].samples, PUBLISHED["test"].samples) == (901, 972)
    for part in PUBLISHED.values():
        assert part.by_labels[0] + 2 * part.by_labels[1] + 3 * part.by_labels[2] == part.samples
    assert (min(PUBLISHED["train"].by_action), max(PUBLISHED["train"].by_action)) == (24, 135)
    assert (min(PUBLISHED["test"].by_action), max(PUBLISHED["test"].by_action)) == (33, 146)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_set_of_the_published_size_has_the_published_labels(part):
    labels = draw_labels(part, PUBLISHED[part].clips, np.random.default_rng(0))
    assert tuple(np.bincount([len(one) for one in labels], minlength=4)[1:]) == PUBLISHED[part].by_labels
    assert tuple(np.bincount([label for one in labels for label in one])) == PUBLISHED[part].by_action
    assert all(len(set(one)) == len(one) for one in labels)


def test_four_pairs_of_actions_are_each_others_reverse_and_no_two_are_alike():
    assert all(ACTIONS[one] == ACTIONS[other][::-1] for one, other in REVERSED)
    assert len(set(ACTIONS.values())) == len(ACTIONS) == 12


def test_the_same_arguments_draw_the_same_frames_and_other_dice_others():
    one, again, other = (drawn_clip([3, 7], np.random.default_rng(seed), QUICK) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_what_is_written_is_read_back_with_its_labels_and_split(small):
    layout = read_layout(small)
    planned = {clip.name: clip.labels for clip in planned_clips(50, 2)}
    for part in ("train", "test"):
        listed = layout.parts[part]
        assert {name: tuple(np.flatnonzero(row)) for name, row in zip(listed.clips, listed.labels, strict=True)} == {
            name: labels for name, labels in planned.items() if part in name
        }
    data = read_video(small)
    train, test = data.fixed
    assert (len(train), len(test)) == (24, 26)
    assert data.counts["published"]["train_clips_with_1_2_3_labels"] == "750/68/5"
    assert data.counts["train_clips"] == 24


def test_clips_are_real_encoded_files_and_decode_to_what_was_drawn(tmp_path):
    frames = drawn_clip([0], np.random.default_rng(0), Look(frames=(32, 32), widths=(300, 300)))
    for name in ("one", "two"):
        encode(tmp_path / f"{name}.avi", frames)
    one, two = ((tmp_path / f"{name}.avi").read_bytes() for name in ("one", "two"))
    assert hashlib.sha256(one).digest() == hashlib.sha256(two).digest()
    assert one[:4] == b"RIFF"
    back = read_clip(tmp_path / "one.avi")
    assert back.shape == frames.shape
    assert np.abs(back.astype(int) - frames).mean() < 8


@pytest.mark.parametrize(
    ("width", "height", "scaled"), [(480, 224, 140), (720, 576, 240), (300, 160, 160), (640, 272, 128)]
)
def test_frames_become_300_wide_and_keep_their_shape_with_an_even_height(width, height, scaled, tmp_path):
    assert scaled_height(width, height) == scaled
    encode(tmp_path / "c.avi", np.zeros((3, height, width), np.uint8))
    assert read_clip(tmp_path / "c.avi").shape == (3, scaled, WIDTH)


def test_everything_that_does_not_add_up_is_told_at_once(small, tmp_path):
    import shutil

    folder = tmp_path / "bad"
    shutil.copytree(small, folder)
    lists = folder / "ClipSets"
    (lists / "Kiss_train.txt").write_text((lists / "Kiss_train.txt").read_text().replace(" -1", " 0", 1))
    (folder / "AVIClips" / "actioncliptest00003.avi").unlink()
    with pytest.raises(InvalidInputError) as caught:
        read_layout(folder)
    told = [problem.place() + " " + problem.message for problem in caught.value.findings]
    assert any("Kiss_train.txt:" in line and "1 or -1" in line for line in told)
    assert any("actioncliptest00003.avi" in line and "AVIClips" in line for line in told)


@pytest.mark.parametrize("content", [b"", b"RIFF and no more", b"\0" * 5000], ids=["empty", "head", "zeros"])
def test_a_file_that_is_no_video_is_named_with_the_cure(content, tmp_path):
    path = tmp_path / "c.avi"
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=r"c\.avi"):
        read_clip(path)


def test_a_set_is_made_once_and_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = generated_clips(clips=6, seed=1)
    made = (place / "AVIClips" / "actioncliptrain00001.avi").stat()
    assert place.is_relative_to(tmp_path)
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    assert generated_clips(clips=6, seed=1) == place
    assert (place / "AVIClips" / "actioncliptrain00001.avi").stat() == made


def test_brightness_and_contrast_of_the_whole_clip_change_nothing():
    clip = np.random.default_rng(0).normal(100, 20, (12, 30, 40))
    assert normalise_contrast(0.4 * clip + 50) == pytest.approx(normalise_contrast(clip), abs=1e-4)


def test_the_four_steps_are_those_of_the_definition():
    from scipy.ndimage import convolve1d

    clip = np.random.default_rng(1).normal(0, 1, (9, 14, 15))
    offsets = np.arange(-6, 7)
    weights = np.exp(-(offsets**2) / 8)

    def blur(video):
        for axis in range(3):
            video = convolve1d(video, weights / weights.sum(), axis=axis, mode="reflect")
        return video

    flat = (clip - clip.mean()) / clip.std()
    centred = flat - blur(flat)
    local = np.sqrt(blur(centred**2))
    assert normalise_contrast(clip) == pytest.approx(centred / np.maximum(local, local.mean()), abs=1e-4)


def test_windows_follow_each_other_and_a_short_last_one_is_kept():
    assert [(part.start, part.stop) for part in windows(95)] == [(0, 30), (30, 60), (60, 90), (90, 95)]
    assert [(part.start, part.stop) for part in windows(30)] == [(0, 30)]


def test_a_reduced_video_has_the_means_of_its_parts():
    video = np.random.default_rng(2).normal(size=(8, 9, 10))
    found = resize(video, (4, 3, 5))
    assert found == pytest.approx(video.reshape(4, 2, 3, 3, 5, 2).mean(axis=(1, 3, 5)), abs=1e-5)
    assert resize(video, (3, 2, 4)).mean() == pytest.approx(video.mean(), abs=1e-6)


def test_the_nearest_word_is_that_of_a_search_through_all():
    dice = np.random.default_rng(3)
    rows, words = dice.normal(size=(9000, 12)).astype(np.float32), dice.normal(size=(40, 12)).astype(np.float32)
    slow = np.array([np.argmin(((row - words) ** 2).sum(axis=1)) for row in rows[:500]])
    assert np.array_equal(Codebook(words).nearest(rows)[:500], slow)


def test_there_are_no_more_words_than_descriptors_that_differ():
    rows = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
    assert len(Codebook.of(rows, 10, starts=1, seed=0).words) == 3
