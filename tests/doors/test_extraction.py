"""Features from models in folders, by `measure extract` and by `extract`, against what is worked out by hand."""

import json
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest
from tests.cli.running import here
from tests.representation import local_models as made

from basanite.errors import FeaturesError
from basanite.representation.extraction.model_folder import import_torchvision
from basanite.representation.model_features import extract

torch = pytest.importorskip("torch")
NEEDED = ("safetensors", "onnxruntime", "PIL")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Where models are saved; without the libraries of other programs these tests cannot be made."""
    for name in NEEDED:
        pytest.importorskip(name)
    if find_spec("torchvision") is not None:
        import_torchvision()
    pytest.importorskip("transformers")
    return tmp_path_factory.mktemp("weights")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "photos"
    return folder, made.pictures(folder)


def stored(path):
    with np.load(path) as found:
        return dict(found)


def taken(*words, code=0):
    ended = here("measure", "extract", *words)
    assert ended.code == code, ended.stderr
    return ended


@pytest.mark.req("F-21", "F-22")
def test_a_text_model_of_hugging_face_gives_cls_and_masked_means_as_by_hand(weights, tmp_path):
    model, tokenizer = made.bert(weights / "bert")
    texts = made.texts(tmp_path / "reviews.jsonl")
    layers = ("encoder.layer.0", "encoder.layer.1.output.LayerNorm")
    common = ["--model", weights / "bert", "--data", tmp_path / "reviews.jsonl", "--batch", 4]
    found = taken(*common, "--layer", layers[0], "--layer", layers[1], "--out", tmp_path / "mean.npz", "--json").data
    taken(*common, "--layer", layers[1], "--pool", "cls", "--out", tmp_path / "cls.npz")
    given = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = model(**given, output_hidden_states=True).hidden_states
    mask = given["attention_mask"].numpy()[:, :, None]
    for at, layer in enumerate(layers, 1):
        tokens = states[at].numpy()
        wanted = (tokens * mask).sum(axis=1) / mask.sum(axis=1)
        assert stored(tmp_path / f"mean-{layer}.npz")["features"] == pytest.approx(wanted, abs=1e-5)
    first = stored(tmp_path / "cls.npz")
    assert first["features"] == pytest.approx(states[2].numpy()[:, 0], abs=1e-5)
    assert first["labels"].tolist()[:2] == ["neg", "pos"]
    assert (found["model"]["kind"], found["data"]["rows"]) == ("huggingface", 9)
    assert [one["dimensions"] for one in found["layers"]] == [16, 16]
    assert set(found["model"]["versions"]) >= {"transformers", "torch"}
    measured = here("measure", "run", tmp_path / "cls.npz", "--draws", 0, "--json")
    assert measured.code == 0


@pytest.mark.req("F-21", "F-22")
def test_a_vision_transformer_gives_tokens_and_the_probabilities_of_its_head(weights, photos, tmp_path):
    model = made.vit(weights / "vit")
    folder, arrays = photos
    common = ["--model", weights / "vit", "--data", folder, "--probabilities"]
    taken(
        *common,
        "--layer",
        "vit.layers.0" if hasattr(model.vit, "layers") else "vit.encoder.layer.0",
        "--out",
        tmp_path / "x.npz",
    )
    found = stored(tmp_path / "x.npz")
    with torch.no_grad():
        whole = model(pixel_values=torch.as_tensor(made.normalized(arrays)), output_hidden_states=True)
    assert found["features"] == pytest.approx(whole.hidden_states[1].numpy().mean(axis=1), abs=1e-5)
    assert found["source_probabilities"] == pytest.approx(torch.softmax(whole.logits, 1).numpy(), abs=1e-5)
    assert found["ids"].tolist()[0] == "class0/0.png"
    assert found["labels"].tolist() == ["class0"] * 5 + ["class1"] * 5


@pytest.mark.req("F-21")
def test_onnx_and_torchscript_give_their_output_and_onnx_what_lies_inside(weights, photos, tmp_path):
    content, first, second = made.onnx_graph(np.random.default_rng(0))
    (tmp_path / "net.onnx").write_bytes(content)
    folder, arrays = photos
    rows = (np.stack(arrays).transpose(0, 3, 1, 2) / 255).reshape(10, -1)
    hidden = np.maximum(rows @ first, 0)
    common = ["--model", tmp_path / "net.onnx", "--data", folder, "--out", tmp_path / "o.npz"]
    taken(*common, "--layer", "hidden")
    assert stored(tmp_path / "o.npz")["features"] == pytest.approx(hidden, rel=1e-4)
    taken(*common, "--layer", "output")
    assert stored(tmp_path / "o.npz")["features"] == pytest.approx(hidden @ second, rel=1e-4, abs=1e-4)
    script = tmp_path / "script"
    script.mkdir()
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 5, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    )
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        torch.jit.save(torch.jit.trace(network.eval(), torch.zeros(1, 3, 12, 12)), script / "net.pt")
    (script / "config.json").write_text('{"image_size": 12}')
    taken("--model", script, "--data", folder, "--layer", "output", "--out", tmp_path / "s.npz")
    with torch.no_grad():
        wanted = network(torch.as_tensor(rows.reshape(10, 3, 12, 12), dtype=torch.float32)).numpy()
    assert stored(tmp_path / "s.npz")["features"] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.req("F-21")
def test_torchvision_and_timm_folders_are_opened_by_their_architecture(weights, photos, tmp_path):
    pytest.importorskip("timm")
    from safetensors.torch import save_file

    vision = import_torchvision()
    import timm

    torch.manual_seed(0)
    network = vision.models.get_model("squeezenet1_1", weights=None, num_classes=3).eval()
    save_file(network.state_dict(), tmp_path / "squeezenet1_1.safetensors")
    folder, arrays = photos
    common = ["--data", folder, "--out", tmp_path / "x.npz"]
    taken("--model", tmp_path / "squeezenet1_1.safetensors", "--layer", "features", *common)
    from PIL import Image

    prepare = vision.models.get_model_weights("squeezenet1_1").DEFAULT.transforms()
    batch = torch.stack([prepare(Image.fromarray(one)) for one in arrays])
    with torch.no_grad():
        wanted = network.features(batch).mean(dim=(2, 3)).numpy()
    assert stored(tmp_path / "x.npz")["features"] == pytest.approx(wanted, abs=1e-5)
    small = timm.create_model("test_vit", pretrained=False, num_classes=3).eval()
    place = tmp_path / "timm"
    place.mkdir()
    save_file(small.state_dict(), place / "model.safetensors")
    cfg = {
        "input_size": [3, 160, 160],
        "mean": [0.5] * 3,
        "std": [0.5] * 3,
        "crop_pct": 1.0,
        "interpolation": "bicubic",
    }
    (place / "config.json").write_text(
        json.dumps({"architecture": "test_vit", "num_classes": 3, "pretrained_cfg": cfg})
    )
    taken("--model", place, "--layer", "norm", "--pool", "cls", *common)
    prepare = timm.data.create_transform(**timm.data.resolve_data_config(cfg, model=small))
    with torch.no_grad():
        wanted = small.forward_features(torch.stack([prepare(Image.fromarray(one)) for one in arrays]))[:, 0].numpy()
    assert stored(tmp_path / "x.npz")["features"] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.req("F-21")
def test_nothing_of_a_folder_is_run_and_what_is_wrong_is_said_with_its_place(weights, photos, tmp_path):
    folder, _ = photos
    common = ["--data", folder, "--layer", "output", "--out", tmp_path / "x.npz"]
    code = tmp_path / "code"
    code.mkdir()
    (code / "config.json").write_text('{"model_type": "bert", "auto_map": {"AutoModel": "evil.Model"}}')
    (code / "model.safetensors").write_bytes(b"")
    assert "never run" in taken("--model", code, *common, code=2).stderr
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    torch.save({"a": torch.zeros(2)}, pickled / "pytorch_model.bin")
    assert "can run code" in taken("--model", pickled, *common, code=2).stderr
    torch.save({"a": torch.zeros(2)}, tmp_path / "weights.pt")
    assert "not TorchScript" in taken("--model", tmp_path / "weights.pt", *common, code=2).stderr
    with zipfile.ZipFile(tmp_path / "writes.pt", "w") as archive:
        archive.writestr("x/code/__torch__.py", "torch.save(x, 'elsewhere')")
    assert "may read or write files" in taken("--model", tmp_path / "writes.pt", *common, code=2).stderr
    (tmp_path / "cut.onnx").write_bytes(made.onnx_graph(np.random.default_rng(0))[0][:300])
    assert "not a model that can be opened" in taken("--model", tmp_path / "cut.onnx", *common, code=2).stderr
    content = made.onnx_graph(np.random.default_rng(0))[0]
    (tmp_path / "net.onnx").write_bytes(content)
    broken = tmp_path / "broken"
    made.pictures(broken, each=2)
    (broken / "class0" / "0.png").write_bytes(b"\x89PNG nothing")
    (broken / "class1" / "1.png").write_text("no picture")
    words = ["--model", tmp_path / "net.onnx", "--data", broken, "--layer", "hidden", "--out", tmp_path / "b.npz"]
    said = taken(*words, code=1)
    assert "class0/0.png" in said.stdout + said.stderr
    assert "class1/1.png" in said.stdout + said.stderr
    assert not list(tmp_path.glob("b.npz*"))
    said = taken("--model", tmp_path / "net.onnx", *common[:2], "--layer", "hiden", "--out", tmp_path / "b.npz", code=2)
    assert "hidden" in said.stderr


class Tokens(torch.nn.Module):
    """A model whose layers give tokens of ids, and one that turns them around."""

    def __init__(self, width=48):
        super().__init__()
        self.embed = torch.nn.Embedding(11, width)
        self.norm = torch.nn.LayerNorm(width)
        self.turn = torch.nn.Flatten(1, 1)

    def forward(self, input_ids, attention_mask):
        return self.turn(self.norm(self.embed(input_ids)).mT)


@pytest.mark.req("F-22")
def test_tokens_are_pooled_over_tokens_and_maps_over_places():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    ids, mask = rng.integers(0, 11, size=(10, 7)), np.ones((10, 7), np.int64)
    mask[:, 4:] = 0
    model, given = Tokens(), {"input_ids": ids, "attention_mask": mask}
    with torch.no_grad():
        tokens = model.norm(model.embed(torch.as_tensor(ids))).numpy()
    assert extract(model, given, layer="norm") == pytest.approx(tokens[:, :4].mean(axis=1), abs=1e-5)
    assert extract(model, given, layer="norm", pool="cls") == pytest.approx(tokens[:, 0], abs=1e-5)
    batches = torch.utils.data.DataLoader(
        [{name: part[row] for name, part in given.items()} for row in range(10)], batch_size=4
    )
    assert extract(model, batches, layer="norm") == pytest.approx(tokens[:, :4].mean(axis=1), abs=1e-5)
    last = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU())
    rows = rng.random((6, 4, 4, 3)).astype(np.float32)  # channels last, as in a Swin transformer
    with torch.no_grad():
        wanted = last(torch.as_tensor(rows)).numpy().mean(axis=(1, 2))
    assert extract(last, rows, layer="1") == pytest.approx(wanted, abs=1e-6)
    pairs = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.as_tensor(rows), torch.arange(6)), batch_size=5
    )
    assert extract(last, pairs, layer="1") == pytest.approx(wanted, abs=1e-6)


@pytest.mark.req("F-22")
def test_shapes_that_two_layouts_fit_are_refused_with_the_options_and_constant_features_flagged(tmp_path):
    model = Tokens(width=7)
    given = {"input_ids": np.zeros((5, 7), np.int64), "attention_mask": np.ones((5, 7), np.int64)}
    with pytest.raises(FeaturesError, match=r"channels-first \(7 features\) or tokens \(7\)"):
        extract(model, given, layer="turn")
    with pytest.warns(UserWarning, match="same in every row"):
        assert extract(model, given, layer="turn", layout="channels-first").shape == (5, 7)
    rows = np.random.default_rng(0).random((20, 3))
    rows[:, 1] = 0
    np.savez(tmp_path / "x.npz", features=rows, labels=np.arange(20) % 2)
    ended = here("measure", "run", tmp_path / "x.npz", "--draws", 0, "--json")
    assert any("1 of 3 features are the same in every row" in note for note in ended.data["notes"])
