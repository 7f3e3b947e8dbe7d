"""The video task from encoded files to exported windows and predictions; clips are drawn and encoded here."""

from __future__ import annotations

import itertools

import av
import numpy as np
import pytest
import scipy.sparse
from scipy.ndimage import convolve1d
from sklearn.svm import LinearSVC
from tests.cli.running import here
from tests.doors.harness_results import HEAD, refused, run_plan

ACTIONS = (
    "AnswerPhone", "DriveCar", "Eat", "FightPerson", "GetOutCar", "HandShake", "HugPerson", "Kiss", "Run", "SitDown",
    "SitUp", "StandUp",
)  # fmt: skip
FRAMES, HEIGHT = 65, 92
CONTRAST = '{ module = "contrast", parameters = { frames = 2, rows = 46, columns = 300 } }'
PLAN = """
[tasks.video]
data = { reader = "video", path = "clips" }
metric = "map11"
n = 6
folds = 2
"""
TEAM = """
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.video]
preprocessor = %s
linear = { module = "windowed-linear-svm", parameters = { C = [0.1] } }
"""


def encode(path, frames):
    """A clip `[frames, rows, columns, 3]` as a lossless file."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = frames.shape[2], frames.shape[1], "bgr0"
        for picture in frames:
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def write_lists(folder, labels):
    """The published lists: every clip in every list, with 1 or -1; `labels` has the actions of each clip."""
    (folder / "ClipSets").mkdir(parents=True, exist_ok=True)
    (folder / "AVIClips").mkdir(exist_ok=True)
    for action, part in itertools.product(ACTIONS, ("train", "test")):
        lines = [f"{clip}  {1 if action in shown else -1}\n" for clip, shown in labels.items() if part in clip]
        (folder / "ClipSets" / f"{action}_{part}.txt").write_text("".join(lines), encoding="utf-8")


def colored(seed, frames, width=600, height=HEIGHT):
    """Smooth patches of changing color that move."""
    dice = np.random.default_rng(seed)
    coarse = dice.integers(0, 256, (frames // 8 + 2, height // 12 + 2, width // 12 + 2, 3)).astype(float)
    fine = coarse.repeat(8, 0)[:frames].repeat(12, 1)[:, :height].repeat(12, 2)[:, :, :width]
    for axis in (0, 1, 2):
        fine = convolve1d(fine, np.ones(9) / 9, axis=axis, mode="nearest")
    return fine.round().astype(np.uint8)


CLIPS = {
    f"actionclip{part}{number:05}": (part, number)
    for part, size in (("train", 6), ("test", 3))
    for number in range(1, size + 1)
}
LABELS = {name: {"Kiss"} if number % 2 else {"Run", "Eat"} for name, (_, number) in CLIPS.items()}
LENGTHS = {name: (FRAMES, 30, 31)[number % 3] for name, (_, number) in CLIPS.items()}


def clip_frames(name):
    return colored(list(CLIPS).index(name), LENGTHS[name])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Nine colored clips in the published folders, run and exported."""
    folder = tmp_path_factory.mktemp("video")
    write_lists(folder / "clips", LABELS)
    for name in CLIPS:
        encode(folder / "clips" / "AVIClips" / f"{name}.avi", clip_frames(name))
    result = run_plan(folder, HEAD + PLAN + 'targets = ["Kiss"]\n' + TEAM % CONTRAST, "--only", "4a")
    ended = here("harness", "export", folder / "plan.toml", "--out", folder / "sets", "--json")
    assert ended.code == 0, ended.stderr
    return result


def exported(made, name):
    place = made.path.parent / "sets" / "a" / "video" / "shared"
    return np.load(place / "features" / f"{name}.npy"), np.load(place / "windows" / f"{name}.npy")


def normalized(frames, weights):
    """The plan's four steps on the whole clip, after scaling by area to half the width and graying by weights."""
    grey = frames @ np.array(weights)
    small = grey.reshape(len(grey), HEIGHT // 2, 2, 300, 2).mean(axis=(2, 4))
    offsets = np.arange(-6, 7)
    kernel = np.exp(-(offsets**2) / 8)

    def blurred(video):
        for axis in range(3):
            video = convolve1d(video, kernel / kernel.sum(), axis=axis, mode="reflect")
        return video

    flat = (small - small.mean()) / small.std()
    centred = flat - blurred(flat)
    local = np.sqrt(blurred(centred**2))
    return centred / np.maximum(local, local.mean())


def windows_of(video, frames=2):
    """Windows of 30 frames one after the other, each as so many means of its frames."""
    parts = [video[start : start + 30] for start in range(0, len(video), 30)]
    return [means_along(part, frames).ravel() for part in parts]


def means_along(part, count):
    """So many means of equal shares of the frames, a frame counting by how much of it lies inside."""
    edges = np.linspace(0, len(part), count + 1)
    found = []
    for low, high in itertools.pairwise(edges):
        shares = np.clip(np.minimum(np.arange(len(part)) + 1, high) - np.maximum(np.arange(len(part)), low), 0, None)
        found.append(np.tensordot(shares / shares.sum(), part, 1))
    return np.array(found)


BT601, BT709 = (0.299, 0.587, 0.114), (0.2126, 0.7152, 0.0722)


@pytest.mark.slow
@pytest.mark.req("H-1", "H-6", "A28", "A30", "A31")
def test_exported_windows_are_the_four_steps_on_whole_clips_300_wide_and_grey_by_bt601(made):
    names = [name for name in CLIPS if "train" in name]
    for fold, rows in enumerate(made.folds("video")[:1], start=1):
        found, counts = exported(made, f"fold_{fold:02}")
        assert counts.tolist() == [-(-LENGTHS[names[row]] // 30) for row in rows]
        wanted, other = (
            np.array([window for row in rows for window in windows_of(normalized(clip_frames(names[row]), weights))])
            for weights in (BT601, BT709)
        )
        assert found.shape == wanted.shape
        off = np.abs(found - wanted).mean()
        assert off < 0.02
        assert np.abs(found - other).mean() > 4 * off  # the case can tell the two ways to make grey apart


@pytest.mark.req("H-6", "A31")
def test_brightness_and_contrast_of_a_whole_clip_change_next_to_nothing(tmp_path):
    labels = {f"actionclip{part}0000{number}": {"Kiss"} for part in ("train", "test") for number in (1, 2)}
    frames = colored(3, 30)
    for name, change in (("plain", lambda v: v), ("dim", lambda v: (0.5 * v + 40).round().astype(np.uint8))):
        write_lists(tmp_path / name / "clips", labels)
        for clip in labels:
            encode(tmp_path / name / "clips" / "AVIClips" / f"{clip}.avi", change(frames))
        (tmp_path / name / "plan.toml").write_text(
            HEAD + PLAN.replace("n = 6", "n = 2") + 'targets = ["Kiss"]\n' + TEAM % CONTRAST, encoding="utf-8"
        )
        ended = here("harness", "export", tmp_path / name / "plan.toml", "--out", tmp_path / name / "sets")
        assert ended.code == 0, ended.stderr
    one, two = (
        np.load(tmp_path / name / "sets" / "a" / "video" / "shared" / "features" / "fold_01.npy")
        for name in ("plain", "dim")
    )
    assert np.abs(one - two).mean() < 0.03 < np.abs(one).mean() / 10


@pytest.mark.req("H-9", "A28")
def test_a_clip_has_its_label_in_all_windows_and_scores_as_its_best_window(made):
    names = [name for name in CLIPS if "train" in name]
    rows, counts = exported(made, "test")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    for fold, part in enumerate(made.folds("video")):
        windows, each = exported(made, f"fold_{fold + 1:02}")
        label = np.array(["Kiss" in LABELS[names[row]] for row in part], float)
        model = LinearSVC(C=0.1, tol=1e-6, dual=False, max_iter=10_000).fit(windows, np.repeat(label, each))
        wanted = np.maximum.reduceat(model.decision_function(rows), starts)
        found = made.predictions("video", "4a", "Kiss")[fold]
        assert np.sort(found) == pytest.approx(np.sort(wanted), abs=1e-3)  # exported test rows stand in another order
    assert set(counts) == {1, 2, 3}


@pytest.mark.req("H-1")
def test_the_published_split_and_labels_are_loaded_and_counted_beside_the_published(made):
    split, test = made.split("video"), made.split("video")["test"]
    assert sorted(np.concatenate(made.folds("video")).tolist()) == list(range(6))
    assert (test.tolist(), len(split["validation"])) == ([6, 7, 8], 0)
    told = made.ended.stderr
    assert "train clips 6 (823 published)" in told
    assert "test clips 3 (884 published)" in told
    assert "train clips with 1 2 3 labels 3/3/0 (750/68/5 published)" in told
    assert "test clips with 1 2 3 labels 2/1/0 (798/84/2 published)" in told
    assert "train labels 9 (901 published)" in told
    whole = run_plan(made.path.parent, HEAD + PLAN, "--only", "1", out="whole")
    assert whole.manifest["plan"]["tasks"]["video"]["targets"] == list(ACTIONS)
    for action in ACTIONS:
        assert whole.truth("video", action).tolist() == [
            float(action in LABELS[name]) for name in CLIPS if "test" in name
        ]


@pytest.mark.req("H-1", case="bad")
def test_everything_that_does_not_add_up_is_told_at_once(tmp_path):
    write_lists(tmp_path / "clips", LABELS)
    for name in list(CLIPS)[1:]:
        (tmp_path / "clips" / "AVIClips" / f"{name}.avi").write_bytes(b"RIFF")
    kiss = tmp_path / "clips" / "ClipSets" / "Kiss_train.txt"
    kiss.write_text(kiss.read_text("utf-8").replace(" -1", " 0", 1), encoding="utf-8")
    ended = refused(tmp_path, HEAD + PLAN)
    told = ended.stdout + ended.stderr
    assert "Kiss_train.txt:2" in told
    assert "actioncliptrain00001.avi" in told
    assert "H-1" in told


def box_count(shape, size, length):
    """Boxes of a dense grid with half a box between them, over 8 scales in the picture and 2 in time."""

    def along(extent, box):
        return int(np.floor((extent - box) / (box / 2) + 1e-9)) + 1 if box <= extent else 0

    return sum(
        along(shape[0], length * 2 ** (long / 2))
        * along(shape[1], size * 2 ** (wide / 2))
        * along(shape[2], size * 2 ** (wide / 2))
        for wide, long in itertools.product(range(8), range(2))
    )


def ramp(times, height=48):
    """A slope to the right that grows brighter or darker with time: the gradient is the same everywhere."""
    grey = 0.5 * np.arange(300) + 2 * np.asarray(times)[:, None, None] + np.zeros((1, height, 1))
    return np.repeat(grey.round().astype(np.uint8)[..., None], 3, axis=3)


def hog3d(folder, preset, clips, words, *, other=()):
    """The exported words of some clips, all of them in training; they are written to the published folders."""
    numbers = range(1, len(clips) + 1)
    labels = {f"actioncliptrain{number:05}": {"Run" if number in other else "Kiss"} for number in numbers}
    labels["actioncliptest00001"] = {"Kiss"}
    write_lists(folder / "clips", labels)
    for name, frames in zip(labels, [*clips, clips[0]], strict=True):
        encode(folder / "clips" / "AVIClips" / f"{name}.avi", frames)
    told = f'{{ module = "hog3d", parameters = {{ preset = "{preset}", words = {words}, sample = 600, starts = 1 }} }}'
    plan = PLAN.replace("n = 6", f"n = {len(clips)}") + 'targets = ["Kiss"]\n'
    (folder / "plan.toml").write_text(HEAD + plan + TEAM % told, encoding="utf-8")
    ended = here("harness", "export", folder / "plan.toml", "--out", folder / "sets")
    assert ended.code == 0, ended.stderr
    place = folder / "sets" / "a" / "video" / "shared"
    found = {}
    for fold in (1, 2):
        rows = scipy.sparse.load_npz(place / "features" / f"fold_{fold:02}.npz").toarray()
        counts = np.load(place / "windows" / f"fold_{fold:02}.npy")
        ends = np.cumsum(counts)
        for at, end in enumerate(ends):
            found[fold - 1 + 2 * at] = rows[end - counts[at] : end]
    return [found[at] for at in range(len(clips))]


@pytest.mark.req("H-6", "A29", "A32")
@pytest.mark.parametrize(("preset", "size", "length"), [("wang2009", 18, 10), ("tool-hollywood2", 24, 12)])
def test_dense_boxes_of_a_preset_are_counted_by_window_as_shares_of_the_clip(tmp_path, preset, size, length):
    dice = np.random.default_rng(0)
    noise = [np.repeat(dice.integers(0, 256, (40, 48, 300, 1), np.uint8), 3, axis=3) for _ in range(2)]
    boxes = box_count((40, 48, 300), size, length)
    for windows in hog3d(tmp_path, preset, noise, 7):
        assert windows.shape == (2, 7)
        assert windows.sum() == pytest.approx(1)
        counts = windows * boxes
        assert np.allclose(counts, counts.round(), atol=1e-6)
        assert np.gcd.reduce(counts.round().astype(int).ravel()) == 1  # so there are exactly as many boxes
        assert (windows.sum(axis=1) > 0).all()


@pytest.mark.req("A29")
def test_a_classifier_that_asks_for_no_windows_gets_their_sum(tmp_path):
    dice = np.random.default_rng(0)
    noise = [np.repeat(dice.integers(0, 256, (40, 48, 300, 1), np.uint8), 3, axis=3) for _ in range(4)]
    hog3d(tmp_path, "tool-hollywood2", noise, 4, other=(3, 4))
    place = tmp_path / "sets" / "a" / "video" / "shared" / "features"
    windows = scipy.sparse.load_npz(place / "test.npz").toarray()
    text = (tmp_path / "plan.toml").read_text("utf-8")
    words = text.partition("preprocessor = ")[2].partition("\n")[0]
    strong = f'features = {words}\nstrong = "tests.doors.harness_probes:first_column"\n'
    result = run_plan(tmp_path, text.replace("folds = 2\n", f"folds = 2\n{strong}"), "--only", "1")
    whole = windows.sum(axis=0)
    assert 0 < windows[0, 0] < whole[0]
    for scores in result.predictions("video", "1", "Kiss"):
        assert scores == pytest.approx([whole[0]])


@pytest.mark.req("H-6")
def test_words_tell_the_direction_of_motion_and_nothing_from_something(tmp_path):
    brighter, darker, flat = ramp(range(31)), ramp(range(31, 0, -1)), np.full((31, 48, 300, 3), 90, np.uint8)
    both = ramp([*range(30), *range(30, 0, -1)])
    found = hog3d(tmp_path / "wang", "wang2009", [brighter, darker, flat, both], 3)
    whole = [part.sum(axis=0) for part in found]
    assert len({int(word.argmax()) for word in whole[:3]}) == 3
    assert all(word.max() > 0.99 for word in whole[:3])
    assert [part.argmax() for part in found[3]] == [whole[0].argmax(), whole[1].argmax()]  # window after window
    faint = hog3d(tmp_path / "tool", "tool-hollywood2", [brighter, flat], 2)
    assert faint[0].sum() == pytest.approx(1)
    assert not faint[1].any()  # boxes without a gradient are left out there


@pytest.mark.req("H-3")
def test_generated_clips_are_real_encoded_files_of_varying_size_the_same_every_time(tmp_path):
    text = HEAD + PLAN.replace('"video", path = "clips"', '"generated-video", path = "clips", clips = 5, seed = 4')
    text = text.replace("n = 6", "n = 2")
    digests = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        result = run_plan(tmp_path / name, text, "--only", "1")
        digests.append(result.manifest["data"]["video"]["digest"])
    assert digests[0] == digests[1]
    sizes, labels = set(), result.manifest["data"]["video"]["counts"]
    place = next((tmp_path / "two" / "clips").rglob("AVIClips"))
    files = sorted(place.glob("*.avi"))
    assert len(files) == 5 == labels["train_clips"] + labels["test_clips"]
    for path in files:
        assert path.read_bytes()[:4] == b"RIFF"
        with av.open(str(path)) as container:
            frames = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
        sizes.add(frames[0].shape)
        assert len(frames) > 30
        assert np.std(frames[0]) > 5
    assert len({rows for rows, _ in sizes}) > 2
