"""HOG3D words and normalised windows as the harness uses them, on real encoded clips."""

import numpy as np
import pytest

from basanite.harness.modules.video import FEW, ContrastWindows, VisualWords
from basanite.harness.video.clips import read_clip
from basanite.harness.video.data import Look, drawn_clip, encode
from basanite.harness.video.hog3d import hog3d


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clips")
    for number in range(3):
        look = Look(frames=(35 + 20 * number,) * 2, widths=(60, 60), shapes=(0.5, 0.5))
        encode(folder / f"{number}.avi", drawn_clip([number], np.random.default_rng(number), look))
    return [folder / f"{number}.avi" for number in range(3)]


@pytest.fixture(scope="module")
def words(paths):
    made = VisualWords(preset="tool-hollywood2", words=20, sample=600, starts=1, seed=1)
    made.fit(paths)
    return made


def test_window_histograms_sum_to_the_histogram_of_the_clip(words, paths):
    found = words.transform(paths)
    assert found.lengths.tolist() == [2, 2, 3]
    for path, clip in zip(paths, found.sums().toarray(), strict=True):
        boxes = hog3d(read_clip(path), "tool-hollywood2")
        counts = np.bincount(words.codebook.nearest(boxes.descriptors), minlength=len(words.codebook.words))
        assert clip == pytest.approx(counts / counts.sum())


def test_a_box_counts_for_the_window_of_its_middle(words, paths):
    boxes = hog3d(read_clip(paths[2]), "tool-hollywood2")
    at = np.minimum(boxes.places[:, 2] // 30, 2).astype(int)
    shares = words.transform(paths[2:]).rows.toarray().sum(axis=1)
    assert shares == pytest.approx(np.bincount(at, minlength=3) / len(at))


@pytest.mark.slow
def test_words_do_not_depend_on_who_else_is_in_the_batch_and_come_again_from_the_same_seed(words, paths):
    again = VisualWords(preset="tool-hollywood2", words=20, sample=600, starts=1, seed=1)
    again.fit(paths)
    assert np.array_equal(again.codebook.words, words.codebook.words)
    one = words.transform(paths[1:2]).rows.toarray()
    assert np.array_equal(one, words.transform(paths)[1:2].rows.toarray())


def test_normalised_windows_are_rows_of_one_size_whatever_the_clip(paths):
    found = ContrastWindows(frames=4, rows=5, columns=6).transform(paths)
    assert found.rows.shape == (7, 120)
    assert found.lengths.tolist() == [2, 2, 3]
    assert found.rows.mean() == pytest.approx(0, abs=0.2)


@pytest.mark.slow
def test_many_clips_are_shared_by_processes_and_come_out_as_those_of_one(words, paths):
    many = (paths * FEW)[:FEW]
    for module in (words, ContrastWindows(frames=4, rows=5, columns=6)):
        found, one_by_one = module.transform(many), [module.transform([path]) for path in paths]
        for number in range(FEW):
            clip, alone = found[number : number + 1].rows, one_by_one[number % len(paths)].rows
            assert np.array_equal(_dense(clip), _dense(alone))


def _dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else rows
