"""Systems from local weights in plans: their features and predictions against what is worked out by hand (H-42)."""

import json
import os
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from tests.cli.running import here
from tests.harness.plans import HEAD, HERE, review_rows, write_csv, written
from tests.representation import local_models as made

from basanite.representation.extraction.model_folder import import_torchvision

torch = pytest.importorskip("torch")
NEEDED = ("safetensors", "onnxruntime", "PIL", "torchvision", "transformers", "timm")

PHOTOS = """
[tasks.photos]
data = {{ reader = "images", path = "photos" }}
metric = "map11"
n = 20
folds = 2
{modules}
"""
REVIEWS = """
[tasks.reviews]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = ["overall"]
metric = "mrmse"
range = [1, 5]
n = 24
folds = 2
{modules}
"""
TEAM = """
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.{task}]
{modules}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Photos of three classes, reviews, and models that were saved on the spot."""
    if any(find_spec(name) is None for name in NEEDED):
        pytest.skip("the extra for weights is not installed")
    import_torchvision()  # before anything imports it by itself
    place = tmp_path_factory.mktemp("weights")
    made.pictures(place / "photos", classes=3, each=12)
    write_csv(place / "reviews.csv", review_rows(60))
    return place


def ran(folder, text, *words, code=0, name="plan"):
    """A plan run to its end; gives what it printed, and its folder of results."""
    out = folder / f"{name}-result"
    ended = here("harness", "run", written(folder, text, f"{name}.toml"), "--out", out, "--json", *words)
    assert ended.code == code, ended.stderr
    return ended, out


def rows_of(out, task, part="test"):
    return np.load(out / "splits" / task / "shared.npz")[part]


def photo_arrays(folder, rows):
    """Pictures of some rows: items are in the order of their paths."""
    from PIL import Image

    paths = sorted((folder / "photos").rglob("*.png"), key=lambda path: path.relative_to(folder).parts)
    return [np.asarray(Image.open(paths[row])) for row in rows]


def review_texts(folder, rows):
    return [review_rows(60)[row]["text"] for row in rows]


def log_odds(logits, column):
    """The logarithm of p / (1 - p) for a softmax."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.log(shares[:, column]) - np.log(1 - shares[:, column])


@pytest.mark.req("H-42")
def test_a_layer_of_a_hugging_face_folder_gives_the_features_of_a_task(folder):
    model, tokenizer = made.bert(folder / "bert")
    weights = 'weights = "bert", parameters = { layer = "encoder.layer.1", pool = "%s", batch = 7 }'
    modules = f'shared_split = true\nfeatures = {{ {weights % "mean"} }}\nstrong = "{HERE}:STRONG"'
    own = f'preprocessor = {{ {weights % "cls"} }}\nlinear = "{HERE}:RIDGE"'
    text = HEAD + REVIEWS.format(modules=modules) + TEAM.format(task="reviews", modules=own)
    ended, out = ran(folder, text, name="texts")
    runs = ended.data["tasks"]["reviews"]["runs"]
    assert [runs[name]["state"] for name in ("1", "2a", "3a", "4a")] == ["done"] * 4
    exported = here("harness", "export", folder / "texts.toml", "--out", folder / "sets")
    assert exported.code == 0, exported.stderr
    rows = rows_of(out, "reviews", "fold_02")
    with torch.no_grad():
        states = model(**tokenizer(review_texts(folder, rows), padding=True, return_tensors="pt")).last_hidden_state
    found = np.load(folder / "sets" / "a" / "reviews" / "shared" / "features" / "fold_02.npy")
    assert found == pytest.approx(states[:, 0].numpy(), abs=1e-5)
    told = json.loads((out / "manifest.json").read_text())
    facts = told["modules"]["weights:bert"]["declares"]
    assert facts["kind"] == "huggingface"
    assert set(facts["versions"]) == {"transformers", "safetensors", "torch"}
    assert "weights:bert was trained before: whether it has seen items of the test sets is not known" in told["notes"]
    words = ("--team", "a", "--out", folder / "bundle", "--key", folder / "key")
    assert here("harness", "bundle", folder / "texts.toml", *words).code == 0
    assert here("harness", "run", folder / "bundle" / "texts.toml", "--only", "4a").code == 0
    report = here("harness", "report", out, "--html", folder / "texts.html", "--draws", "200")
    assert report.code == 0
    assert f"torch {torch.__version__}" in (folder / "texts.html").read_text()


@pytest.mark.req("H-42")
def test_the_head_of_a_picture_model_predicts_the_labels_of_its_configuration(folder):
    model = made.vit(folder / "vit")
    config = json.loads((folder / "vit" / "config.json").read_text())
    config |= {"id2label": {"0": "Class2", "1": "Class0", "2": "Class1"}}  # of other order and case than the targets
    (folder / "vit" / "config.json").write_text(json.dumps(config))
    text = HEAD + PHOTOS.format(modules='strong = { weights = "vit" }')
    ended, out = ran(folder, text, name="head")
    assert ended.data["tasks"]["photos"]["runs"]["1"]["state"] == "done"
    arrays = photo_arrays(folder, rows_of(out, "photos"))
    with torch.no_grad():
        logits = model(torch.as_tensor(made.normalized(arrays))).logits.numpy().astype(float)
    for column, target in enumerate(("class2", "class0", "class1")):
        found = np.load(out / "predictions" / "photos" / "1" / f"{target}.npy")
        assert found == pytest.approx(np.tile(log_odds(logits, column), (2, 1)), abs=1e-4)


@pytest.mark.req("H-42")
def test_classes_of_a_text_model_are_ratings_by_their_expected_value(folder):
    from transformers import BertForSequenceClassification

    _, tokenizer = made.bert(folder / "stars")
    torch.manual_seed(1)
    config = made.bert(folder / "plain")[0].config
    config.num_labels = 5
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder / "stars")
    values = 'linear = { weights = "stars", parameters = { values = [1, 2, 3, 4, 5] } }'
    modules = f'shared_split = true\nfeatures = "{HERE}:WORDS"\nstrong = "{HERE}:STRONG"'
    text = HEAD + REVIEWS.format(modules=modules) + TEAM.format(task="reviews", modules=values)
    ended, out = ran(folder, text, name="stars")
    runs = ended.data["tasks"]["reviews"]["runs"]
    assert (runs["4a"]["state"], runs["2a"]["state"]) == ("done", "not applicable")
    assert "predicts from items" in runs["2a"]["reason"]
    given = tokenizer(review_texts(folder, rows_of(out, "reviews")), padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**given).logits.numpy().astype(float)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    found = np.load(out / "predictions" / "reviews" / "4a" / "overall.npy")
    assert found == pytest.approx(np.tile(shares @ np.arange(1, 6), (2, 1)), abs=1e-5)


def onnx(folder):
    content, first, second = made.onnx_graph(np.random.default_rng(0))
    (folder / "net.onnx").write_bytes(content)
    return lambda batch: np.maximum(batch.reshape(len(batch), -1) @ first, 0) @ second


def torchscript(folder):
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()).eval()
    place = folder / "script"
    place.mkdir()
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        torch.jit.save(torch.jit.trace(network, torch.zeros(1, 3, 12, 12)), place / "net.pt")
    (place / "config.json").write_text('{"image_size": 12}')
    return lambda batch: network(torch.as_tensor(batch)).detach().numpy()


def torchvision(folder):
    from safetensors.torch import save_file

    network = import_torchvision().models.get_model("squeezenet1_1", weights=None, num_classes=4).eval()
    save_file(network.state_dict(), folder / "squeezenet1_1.safetensors")


def timm(folder):
    import timm as library
    from safetensors.torch import save_file

    place = folder / "timm"
    place.mkdir()
    save_file(library.create_model("test_vit", pretrained=False, num_classes=4).state_dict(), place / "m.safetensors")
    (place / "config.json").write_text(json.dumps({"architecture": "test_vit", "num_classes": 4, "pretrained_cfg": {}}))


@pytest.mark.req("H-42")
@pytest.mark.parametrize(
    ("make", "weights", "kind"),
    [
        (onnx, "net.onnx", "onnx"),
        (torchscript, "script", "torchscript"),
        (torchvision, "squeezenet1_1.safetensors", "torchvision"),
        (timm, "timm", "timm"),
    ],
    ids=["onnx", "torchscript", "torchvision", "timm"],
)
def test_weights_of_other_layouts_predict_and_give_features(folder, make, weights, kind):
    by_hand = make(folder)
    head = f'{{ weights = "{weights}", parameters = {{ outputs = ["class0", "class1", "class2", "other"] }} }}'
    layer = f'{{ weights = "{weights}", parameters = {{ layer = "output" }} }}'
    text = HEAD + PHOTOS.format(modules=f"strong = {head}\nfeatures = {layer}")
    text += TEAM.format(task="photos", modules=f'linear = "{HERE}:RIDGE"')
    ended, out = ran(folder, text, "--only", "1,2a", name=kind)
    runs = ended.data["tasks"]["photos"]["runs"]
    assert (runs["1"]["state"], runs["2a"]["state"]) == ("done", "done"), runs
    facts = json.loads((out / "manifest.json").read_text())["modules"][f"predictor:{weights}"]["declares"]
    assert facts["kind"] == kind
    assert all(number[0].isdigit() for number in facts["versions"].values())
    if by_hand:
        rows = rows_of(out, "photos")
        batch = np.stack(photo_arrays(folder, rows)).transpose(0, 3, 1, 2).astype(np.float32) / 255
        found = np.load(out / "predictions" / "photos" / "1" / "class1.npy")
        assert found == pytest.approx(np.tile(log_odds(by_hand(batch).astype(float), 1), (2, 1)), abs=1e-4)


@pytest.mark.req("H-42")
def test_other_weights_under_the_same_name_are_other_work(folder, tmp_path):
    text = HEAD + PHOTOS.format(modules=f'features = {{ weights = "net", parameters = {{ layer = "hidden" }} }}\n'
                                        f'strong = "{HERE}:STRONG"')  # fmt: skip
    (tmp_path / "photos").symlink_to(folder / "photos")
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "net.onnx").symlink_to(tmp_path / "kept.onnx")  # as hubs keep weights
    os.mkfifo(tmp_path / "net" / "pipe")  # nobody waits for it
    found = []
    for seed in (0, 1):
        content, _, _ = made.onnx_graph(np.random.default_rng(seed))
        (tmp_path / "kept.onnx").write_bytes(content)
        ran(tmp_path, text, *(["--only", "1", "--reason", "other weights"] if seed else []))
        found.append(np.load(tmp_path / "plan-result" / "predictions" / "photos" / "1" / "class0.npy"))
    assert not np.allclose(*found)


WRONG = {
    "no layer": ('features = { weights = "vit" }', "a layer is needed"),
    "unknown layer": ('features = { weights = "vit", parameters = { layer = "vitt" } }', "no layer 'vitt'"),
    "no folder": ('features = { weights = "nowhere", parameters = { layer = "x" } }', "no folder or file"),
    "pickle": ('strong = { weights = "pickled" }', "can run code"),
    "two kinds": ('strong = { weights = "vit", module = "svm" }', "has a module and weights"),
    "both": ('strong = { weights = "vit", parameters = { outputs = ["a"], values = [1, 2] } }', "give one of them"),
    "parameter": ('strong = { weights = "vit", parameters = { layer = "output" } }', "does not permit"),
    "empty": ('strong = { weights = "" }', "no text `weights`"),
}


@pytest.mark.req("H-42", case="bad")
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_weights_is_said_before_anything_runs(folder, name):
    modules, words = WRONG[name]
    if not (folder / "vit").is_dir():
        made.vit(folder / "vit")
    (folder / "pickled").mkdir(exist_ok=True)
    torch.save({"a": torch.zeros(2)}, folder / "pickled" / "pytorch_model.bin")
    plan = written(folder, HEAD + PHOTOS.format(modules=modules), "wrong.toml")
    ended = here("harness", "check", plan)
    assert ended.code == 1, ended.stderr
    assert words in " ".join((ended.stdout + ended.stderr).split())
    assert "Traceback" not in ended.stderr


@pytest.mark.req("H-42", case="bad")
def test_weights_cannot_stand_as_a_learner_and_must_fit_the_items_and_targets(folder):
    if not (folder / "vit").is_dir():
        made.vit(folder / "vit")
    told = partial(written, folder)
    learner = TEAM.format(task="photos", modules='learner = { weights = "vit" }')
    ended = here("harness", "check", told(HEAD + PHOTOS.format(modules="") + learner, "learner.toml"))
    assert "learn nothing here" in " ".join((ended.stdout + ended.stderr).split())
    strangers = 'strong = { weights = "vit", parameters = { outputs = ["cat", "dog", "bird"] } }'
    ended, _ = ran(folder, HEAD + PHOTOS.format(modules=strangers), name="strangers")
    run = ended.data["tasks"]["photos"]["runs"]["1"]
    assert run["state"] == "not applicable"
    assert "'cat', 'dog', 'bird'" in run["reason"]
    texts = f'features = {{ weights = "vit", parameters = {{ layer = "vit" }} }}\nstrong = "{HERE}:STRONG"'
    ended, _ = ran(folder, HEAD + REVIEWS.format(modules=texts), code=1, name="texts-for-pictures")
    assert (
        "takes pictures, and the items of this task are texts" in ended.data["tasks"]["reviews"]["runs"]["1"]["reason"]
    )


@pytest.mark.req("H-42", case="bad")
@pytest.mark.req("X-5")
def test_a_sealed_evaluation_refuses_weights_that_are_a_program(folder, tmp_path):
    torchscript(tmp_path)
    (tmp_path / "photos").symlink_to(folder / "photos")
    sealed = HEAD.replace("seed = 7", 'seal = "plan.seal"')
    modules = 'strong = { weights = "script", parameters = { outputs = ["class0", "class1", "class2", "other"] } }'
    ended = here("harness", "seal", written(tmp_path, sealed + PHOTOS.format(modules=modules)))
    assert ended.code != 0
    assert "runs no foreign program" in " ".join((ended.stdout + ended.stderr).split())
