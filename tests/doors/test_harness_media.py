"""Clips and images as people have them, and targets with any name of a column (H-41)."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from tests.cli.running import here
from tests.doors.harness_results import HEAD, run_plan
from tests.harness.plans import write_csv

from basanite.harness.modules.images import IMAGE_PIXELS
from basanite.harness.video.data import encode

TASK = """
[tasks.seen]
data = {data}
metric = "map11"
n = {n}
folds = 2
features = {{ module = "{module}", parameters = {{ rows = 4, columns = 6 }} }}
strong = {{ module = "svm", parameters = {{ C = [1.0] }} }}
[[teams]]
letter = "a"
name = "Alpha"
"""


def plan(data, module="image-pixels", n=16):
    return HEAD + TASK.format(data=data, module=module, n=n)


def image(path, bright, dice):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.clip(dice.normal(bright, 20, (12, 18, 3)), 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(path)


def clip(path, bright, dice):
    path.parent.mkdir(parents=True, exist_ok=True)
    encode(path, np.clip(dice.normal(bright, 10, (4, 32, 48)), 0, 255).astype(np.uint8))


@pytest.fixture
def dice():
    return np.random.default_rng(3)


def checked(folder, data):
    (folder / "plan.toml").write_text(plan(data))
    return here("harness", "check", folder / "plan.toml")


@pytest.mark.req("H-41", "D-6")
def test_image_folders_like_imagenet_have_the_split_of_their_folders_and_counts_before_the_run(tmp_path, dice):
    for part, count in (("train", 12), ("val", 6)):
        for label, bright in (("n01440764", 60), ("brush hair & more", 190)):
            for at in range(count):
                image(tmp_path / "set" / part / label / f"{part}_{at}.JPEG", bright, dice)
    (tmp_path / "set" / "LICENSE.txt").write_text("free")
    ended = checked(tmp_path, '{ reader = "images", path = "set" }')
    assert ended.code == 0, ended.stdout
    wanted = "images 36, classes 2, fewest of a class 18, most of a class 18, training 24, test 12"
    assert f"seen: {wanted}" in ended.stderr
    assert "published" not in ended.stderr
    assert "restaurant" not in ended.stderr
    result = run_plan(tmp_path, plan('{ reader = "images", path = "set" }'), "--only", "1")
    assert result.states == {"1": "done"}
    assert len(result.split("seen")["test"]) == 12
    assert set(result.values("1", "brush hair & more")) == {1.0}


def test_pixels_of_an_image_are_means_of_areas(tmp_path, dice):
    image(tmp_path / "a.png", 120, dice)
    pixels = np.asarray(Image.open(tmp_path / "a.png").convert("L"), float)
    found = IMAGE_PIXELS.make({"rows": 4, "columns": 6}, 0).transform([tmp_path / "a.png"])
    np.testing.assert_allclose(found[0], pixels.reshape(4, 3, 6, 3).mean(axis=(1, 3)).ravel() / 255, atol=1 / 255)


@pytest.mark.req("H-41", "D-6")
def test_clips_in_class_folders_like_ucf_and_kth_are_read_with_their_groups(tmp_path, dice):
    for label, bright in (("ApplyEyeMakeup", 70), ("YoYo", 180)):
        for group in range(1, 4):
            for at in range(1, 3):
                clip(tmp_path / "UCF" / label / f"v_{label}_g{group:02}_c{at:02}.avi", bright, dice)
    for label in ("boxing", "running"):
        for person in range(1, 4):
            clip(tmp_path / "KTH" / label / f"person{person:02}_{label}_d1_uncomp.avi", 90, dice)
    assert "clips 6, classes 2, fewest of a class 3, most of a class 3, groups 3" in (
        checked(tmp_path, '{ reader = "video", path = "KTH" }').stderr
    )
    text = plan('{ reader = "video", path = "UCF" }', "contrast-halves", 6)
    text = text.replace('metric = "map11"', 'metric = "map11"\ngroup_by = "group"\ntrain_share = 0.6')
    result = run_plan(tmp_path, text, "--only", "1")
    assert result.states == {"1": "done"}
    assert "groups 6" in result.ended.stderr
    split, groups = result.split("seen"), np.load(result.path / "truth" / "seen" / "clusters.npy")
    assert not set(groups[split["test"]]) & set(groups[result.seen("seen")])


@pytest.mark.req("H-41", "D-6")
@pytest.mark.parametrize("layout", ["kinetics", "paths"])
def test_lists_like_those_of_kinetics_name_clips_labels_and_splits(tmp_path, dice, layout):
    lines, plain = ["label,youtube_id,time_start,time_end,split"], []
    for at in range(24):
        label, part = ("abseiling", "air drumming")[at % 2], "train" if at < 16 else "val"
        name = f"id-_{at:08}_{at:06}_{at + 10:06}.mp4" if layout == "kinetics" else f"{label}/clip {at}.mp4"
        clip(tmp_path / "clips" / name, 60 + 100 * (at % 2), dice)
        lines.append(f"{label},id-_{at:08},{at},{at + 10},{part}")
        plain.append(f"{label}/clip {at}.mp4 {at % 2 + 1}")
    (tmp_path / "list.csv").write_text("\n".join(lines if layout == "kinetics" else plain) + "\n")
    ended = checked(tmp_path, '{ reader = "video", path = "list.csv", media = "clips" }')
    assert ended.code == 0, ended.stdout
    assert "clips 24, classes 2, fewest of a class 12, most of a class 12" in ended.stderr
    assert ("training 16, test 8" in ended.stderr) is (layout == "kinetics")


@pytest.mark.req("H-41", case="bad")
def test_what_is_wrong_with_folders_and_lists_is_said_with_the_fix(tmp_path, dice):
    image(tmp_path / "one" / "cat" / "a.png", 90, dice)
    for data, words in (
        ('{ reader = "images", path = "one" }', "two classes are needed, and there is only 'cat'"),
        ('{ reader = "images", path = "none" }', "none does not exist"),
        ('{ reader = "video", path = "one" }', "folder 'cat' holds no clip"),
    ):
        ended = checked(tmp_path, data)
        assert ended.code in (1, 2)
        assert words in ended.stdout + ended.stderr
    image(tmp_path / "one" / "dog" / "b.png", 90, dice)
    (tmp_path / "list.csv").write_text("path,label\ncat/a.png,cat\n../../etc/passwd,dog\ngone.png,dog\ndog/b.png,dog\n")
    data = '{ reader = "images", path = "list.csv", media = "one" }'
    ended = checked(tmp_path, data)
    assert ended.code == 1
    assert "2 of 4 images are not in one" in ended.stderr
    assert 'missing = "drop"' in ended.stderr
    dropped = checked(tmp_path, data.replace(" }", ', missing = "drop" }'))
    assert "2 without 'file' (dropped)" in dropped.stderr
    (tmp_path / "list.csv").write_bytes(b"path,label\ncat/\xff.png,cat\n")
    assert "is not UTF-8" in checked(tmp_path, data).stderr
    (tmp_path / "one" / "dog" / "b.png").write_bytes(b"no image")
    for at in range(12):
        image(tmp_path / "one" / "cat" / f"{at}.png", 90, dice)
        image(tmp_path / "one" / "dog" / f"{at}.png", 90, dice)
    result = run_plan(tmp_path, plan('{ reader = "images", path = "one" }'), "--only", "1", code=1)
    assert "cannot be read as an image" in result.reasons["1"]


@pytest.mark.req("H-41")
def test_targets_may_have_any_name_of_a_column(tmp_path):
    dice = np.random.default_rng(5)
    names = ["Food&Beverages", "price / value", "ambiente é"]
    lines = [
        {
            "text": " ".join(dice.choice(["good", "bad", "soup", "wine"], 12)),
            **{name: str(dice.integers(1, 6)) for name in names},
        }
        for _ in range(90)
    ]
    write_csv(tmp_path / "reviews.csv", lines)
    listed = ", ".join(f'"{name}"' for name in names)
    text = (
        HEAD
        + f"""
[tasks.reviews]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = [{listed}]
metric = "mrmse"
range = [1, 5]
n = 40
folds = 2
features = "bow"
strong = "tfidf-ridge"
[[teams]]
letter = "a"
name = "Alpha"
"""
    )
    result = run_plan(tmp_path, text, "--only", "1")
    assert result.states == {"1": "done"}
    told = result.analysis(task="reviews")
    assert told["targets"] == names
    assert set(told["runs"]["1"]["by_target"]) == set(names)
    assert (result.path / "predictions" / "reviews" / "1" / "price %2F value.npy").is_file()
    assert "restaurants" not in result.ended.stderr
    assert here("harness", "compare", result.path, result.path).code == 0
    (tmp_path / "plan.toml").write_text(text.replace('"price / value"', '"new\\nline"'))
    assert here("harness", "check", tmp_path / "plan.toml").code == 1
