"""Features as scikit-learn and PyTorch users have them: X and y by name, tensors without code, labels of their own."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import here


@pytest.fixture(scope="module")
def digits():
    """Sixty rows of three classes that lie apart."""
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(3), 20)
    return (rng.normal(0, 1, (60, 6)) + labels[:, None]).astype(np.float32), labels


def ferm(folder, *words):
    ended = here("measure", "run", *map(str, words), "--draws", "0", "--metric", "ferm1", "--json", cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.data["values"]["ferm1"]["value"]


def refusal(folder, *words):
    ended = here("measure", "run", *map(str, words), "--draws", "0", cwd=folder)
    assert ended.code in (1, 2), ended.stdout
    return ended.stderr


@pytest.mark.req("T-22")
def test_x_and_y_are_measured_and_compared_under_these_names(tmp_path, digits):
    x, y = digits
    np.savez(tmp_path / "named", features=x, labels=y)
    np.savez(tmp_path / "sklearn", X=x, y=y)
    assert ferm(tmp_path, "sklearn.npz") == ferm(tmp_path, "named.npz")
    ended = here("measure", "compare", "sklearn.npz", "named.npz", "--draws", "0", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    np.savez(tmp_path / "other", data=x, classes=y)
    words = refusal(tmp_path, "other.npz")
    assert "it holds classes, data" in words
    assert "`features` (or `X`" in words
    assert "`labels` (or `y`" in words


@pytest.mark.req("T-22")
@pytest.mark.parametrize("layout", ["y.npy", "y.txt", "y.csv", "key.csv"])
def test_labels_may_be_a_file_of_their_own(tmp_path, digits, layout):
    x, y = digits
    np.savez(tmp_path / "both", X=x, y=y)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    (tmp_path / "y.txt").write_text("".join(f"{one}\n" for one in y))
    (tmp_path / "y.csv").write_text("target\n" + "".join(f"{one}\n" for one in y))
    (tmp_path / "key.csv").write_text("id,label\n" + "".join(f"{at},{one}\n" for at, one in enumerate(y)))
    assert ferm(tmp_path, "x.npy", "--labels", layout) == ferm(tmp_path, "both.npz")


@pytest.mark.req("T-22")
def test_tensors_are_read_as_arrays_and_nothing_in_their_file_runs(tmp_path, digits):
    torch = pytest.importorskip("torch")
    x, y = digits
    np.savez(tmp_path / "both", X=x, y=y)
    pair = torch.tensor(x), torch.tensor(y)
    torch.save({"X": pair[0], "y": pair[1], "note": "kept out"}, tmp_path / "named.pt")
    torch.save(pair, tmp_path / "pair.pth")
    for name in ("named.pt", "pair.pth"):
        assert ferm(tmp_path, name) == ferm(tmp_path, "both.npz")
    torch.save({"X": pair[0], "y": Touch(tmp_path / "touched")}, tmp_path / "code.pt")
    assert "holds objects whose code would run" in refusal(tmp_path, "code.pt")
    assert not (tmp_path / "touched").exists()
    torch.save({"X": torch.zeros(1).expand(10**5, 10**5), "y": pair[1]}, tmp_path / "huge.pt")
    assert "more than the file holds" in refusal(tmp_path, "huge.pt")
    with zipfile.ZipFile(tmp_path / "named.pt") as plain, zipfile.ZipFile(tmp_path / "packed.pt", "w", 8) as packed:
        for member in plain.namelist():
            packed.writestr(member, plain.read(member))
    assert "compressed archive" in refusal(tmp_path, "packed.pt")
    (tmp_path / "text.pt").write_text("no tensor")
    assert "is not a file that PyTorch wrote, or" in refusal(tmp_path, "text.pt")


class Touch:
    """What makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.req("T-22")
def test_without_pytorch_a_tensor_file_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "x.pt").write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, "torch", None)
    words = refusal(tmp_path, "x.pt")
    assert "torch is not installed; it is needed for tensors of PyTorch" in words
    assert 'pip install "basanite[torch]"' in words
