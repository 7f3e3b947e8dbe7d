"""Small files of features to measure: what a network that knows the digits 0 to 5 makes of digits, known or not.

A small network is trained on scikit-learn's handwritten digits 0 to 5; its hidden layer, after the ReLU, gives the
features. `seen` are other pictures of these digits, `faint` and `turned` are the same with less contrast and noise and
by a quarter turn, `unseen` are digits 6 to 9, which the network never saw; `digits` are all ten together. Batches hold
more and more of the new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.synthetic.transforms import transform_pictures

KNOWN: Final = 6
"""Digits below this are known to the network."""
UNITS: Final = 32
ROWS: Final = 30
"""Rows of each digit in a set."""
BATCH: Final = 60
REPEATS: Final = 5
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Network:
    """A trained network and the pictures that it was not trained on."""

    model: Any
    pictures: NDArray[np.float64]
    """`[N, 8, 8]`, 0 to 1."""
    digits: NDArray[np.int64]

    def rows(self, low: int, high: int, *, skip: int = 0, most: int = ROWS) -> NDArray[np.int64]:
        """Some rows of each digit of a range, in their order, after leaving out the first few."""
        found = [np.flatnonzero(self.digits == digit)[skip : skip + most] for digit in range(low, high)]
        return np.concatenate(found).astype(np.int64)

    def hidden(self, pictures: NDArray[np.float64]) -> NDArray[np.float16]:
        """The hidden layer after its ReLU."""
        flat = pictures.reshape(len(pictures), -1)
        made = np.maximum(flat @ self.model.coefs_[0] + self.model.intercepts_[0], 0)
        return np.asarray(made, dtype=np.float16)

    def measure(self, pictures: NDArray[np.float64], digits: NDArray[np.int64]) -> Arrays:
        """Features with labels and what the network says."""
        said = self.model.predict(pictures.reshape(len(pictures), -1))
        return {
            "features": self.hidden(pictures),
            "labels": digits.astype(np.int8),
            "predictions": said.astype(np.int8),
        }


def train_network() -> Network:
    """A network trained on every second picture of the known digits."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier

    found = load_digits()
    pictures, digits = found.images / 16.0, found.target.astype(np.int64)
    taught = (digits < KNOWN) & (np.arange(len(digits)) % 2 == 0)
    model = MLPClassifier((UNITS,), max_iter=60, tol=0.0, n_iter_no_change=60, random_state=0)
    with np.errstate(all="ignore"):
        _fit(model, pictures[taught].reshape(-1, 64), digits[taught])
    return Network(model, pictures[~taught], digits[~taught])


def _fit(model: Any, pictures: NDArray[np.float64], digits: NDArray[np.int64]) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it stops after a fixed number of rounds, on purpose
        model.fit(pictures, digits)


def example_files(network: Network | None = None) -> dict[str, Arrays]:
    """All files of the example by name."""
    net = network or train_network()
    known, new = net.rows(0, KNOWN), net.rows(KNOWN, 10)
    files = {name: net.measure(*pair) for name, pair in _sets(net).items()}
    files |= {"seen": _known_digits(net, known), "unseen": _new_digits(net, new, known), "digits": _digits(net)}
    return files | dict(_transformed_sets(net, {"seen": known, "unseen": new})) | dict(_batches(net))


def proxy(network: Network) -> str:
    """For each set how well a plain classifier does on the fixed features, as a share of what one does that is trained
    again on the pictures: the proxy that the FERM paper holds measures against."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    lines = ["name,ratio"]
    for name, (pictures, digits) in _sets(network).items():
        fixed = cross_val_score(LogisticRegression(max_iter=3000), network.hidden(pictures).astype(float), digits)
        again = cross_val_score(SVC(), pictures.reshape(len(pictures), -1), digits)
        lines.append(f"{name},{fixed.mean() / again.mean():.4f}")
    return "\n".join(lines) + "\n"


def _sets(net: Network) -> dict[str, tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """The pictures and digits of the four sets."""
    known, new = net.rows(0, KNOWN), net.rows(KNOWN, 10)
    pictures, digits = net.pictures[known], net.digits[known]
    noise = np.random.default_rng(1).normal(size=pictures.shape)
    return {
        "seen": (pictures, digits),
        "faint": (np.clip(0.5 * pictures + 0.15 * noise, 0, 1), digits),
        "turned": (np.ascontiguousarray(np.rot90(pictures, axes=(1, 2))), digits),
        "unseen": (net.pictures[new], net.digits[new]),
    }


def network_graph(network: Network) -> bytes:
    """The network as an ONNX graph that takes pictures of one channel, `[n, 1, 8, 8]`, from 0 to 1."""
    (first, second), (one, other) = network.model.coefs_, network.model.intercepts_
    weights = {"first": first, "one": one, "second": second, "other": other}
    steps = (
        ("Reshape", ("pictures", "shape"), "flat"),
        ("MatMul", ("flat", "first"), "product"),
        ("Add", ("product", "one"), "sum"),
        ("Relu", ("sum",), "hidden"),
        ("MatMul", ("hidden", "second"), "scores"),
        ("Add", ("scores", "other"), "logits"),
    )
    graph = b"".join(_part(1, _step(*step)) for step in steps) + _part(2, b"digits")
    graph += _part(5, _tensor("shape", np.array([0, -1], np.int64)))
    graph += b"".join(_part(5, _tensor(name, array.astype(np.float32))) for name, array in weights.items())
    graph += _part(11, _value("pictures", (None, 1, 8, 8))) + _part(12, _value("logits", (None, KNOWN)))
    return _whole(1, 8) + _part(8, _whole(2, 17)) + _part(7, graph)


def _step(kind: str, given: tuple[str, ...], made: str) -> bytes:
    return b"".join(_part(1, name.encode()) for name in given) + _part(2, made.encode()) + _part(4, kind.encode())


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    sides = b"".join(_whole(1, side) for side in array.shape)
    kind = 7 if array.dtype == np.int64 else 1
    return sides + _whole(2, kind) + _part(8, name.encode()) + _part(9, array.tobytes())


def _value(name: str, shape: tuple[int | None, ...]) -> bytes:
    sides = b"".join(_part(1, _part(2, b"n") if side is None else _whole(1, side)) for side in shape)
    return _part(1, name.encode()) + _part(2, _part(1, _whole(1, 1) + _part(2, sides)))


def _part(field: int, content: bytes) -> bytes:
    """A field of a message that holds bytes, as protocol buffers write it."""
    return _number(field << 3 | 2) + _number(len(content)) + content


def _whole(field: int, value: int) -> bytes:
    return _number(field << 3) + _number(value)


def _number(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


def write_example(folder: Path) -> None:
    """Write all files into a folder."""
    network = train_network()
    (folder / "digits.onnx").write_bytes(network_graph(network))
    files = example_files(network)
    for name, arrays in files.items():
        np.savez_compressed(folder / f"{name}.npz", allow_pickle=False, **arrays)
    (folder / "proxy.csv").write_text(proxy(network), encoding="utf-8", newline="\n")
    pictures = network.pictures[network.rows(0, KNOWN)]
    left = pictures[:, :, :4].sum(axis=(1, 2)) > pictures[:, :, 4:].sum(axis=(1, 2))
    (folder / "pens.csv").write_text(
        "row,side\n" + "".join(f"{row},{'left' if on_left else 'right'}\n" for row, on_left in enumerate(left)),
        encoding="utf-8",
        newline="\n",
    )


def task_files(network: Network) -> tuple[str, dict[str, Arrays]]:
    """The labels of known digits as a table, and what three systems send: pictures as they are, faint, and turned."""
    rows = network.rows(0, KNOWN)
    ids = np.array([f"p{row:03}" for row in range(len(rows))])
    pens = _known_digits(network, rows)["groups"]
    lines = (f"{name},{digit},{pen}" for name, digit, pen in zip(ids, network.digits[rows], pens, strict=True))
    sets = _sets(network)
    order = np.random.default_rng(5).permutation(len(rows))
    made: dict[str, Arrays] = {}
    for system, name in (("alpha", "seen"), ("beta", "faint"), ("gamma", "turned")):
        found = network.measure(*sets[name])
        made[system] = {"X": found["features"], "predictions": found["predictions"]}
    made["alpha"] = {name: array[order] for name, array in {**made["alpha"], "ids": ids}.items()}
    made["beta"] |= {"ids": ids, "y": network.digits[rows].astype(np.int8)}
    return "\n".join(("id,label,pen", *lines)) + "\n", made


def write_task_example(folder: Path) -> None:
    """Write the files of the task `representation` into a folder: arrays, and one system as a table of text."""
    labels, made = task_files(train_network())
    (folder / "labels.csv").write_text(labels, encoding="utf-8", newline="\n")
    beta = made.pop("beta")
    header = ",".join(("id", "label", *(f"f{at}" for at in range(beta["X"].shape[1]))))
    lines = (
        ",".join((name, str(label), *(f"{number:.4g}" for number in row)))
        for name, label, row in zip(beta["ids"], beta["y"], beta["X"].astype(float), strict=True)
    )
    (folder / "beta.csv").write_text("\n".join((header, *lines)) + "\n", encoding="utf-8", newline="\n")
    for name, arrays in made.items():
        np.savez_compressed(folder / f"{name}.npz", allow_pickle=False, **arrays)


def _digits(net: Network) -> Arrays:
    """All ten digits, with which of them the network knows as groups."""
    rows = net.rows(0, 10)
    groups = np.where(net.digits[rows] < KNOWN, "known", "new")
    return {"features": net.hidden(net.pictures[rows]), "labels": net.digits[rows].astype(np.int8), "groups": groups}


def _known_digits(net: Network, rows: NDArray[np.int64]) -> Arrays:
    ink = net.pictures[rows].sum(axis=(1, 2))
    groups = np.where(ink > np.median(ink), "thick", "thin")
    return {**net.measure(net.pictures[rows], net.digits[rows]), "groups": groups}


def _new_digits(net: Network, rows: NDArray[np.int64], known: NDArray[np.int64]) -> Arrays:
    flat = net.pictures[rows].reshape(len(rows), -1)
    some = known[::3]
    return {
        "features": net.hidden(net.pictures[rows]),
        "labels": net.digits[rows].astype(np.int8),
        "source_probabilities": net.model.predict_proba(flat).astype(np.float32),
        "source_features": net.hidden(net.pictures[some]),
        "source_labels": net.digits[some].astype(np.int8),
    }


def _transformed_sets(net: Network, sets: Mapping[str, NDArray[np.int64]]) -> Iterator[tuple[str, Arrays]]:
    """Two sets again with pictures flipped, scaled, resized and rotated at random, several times."""
    for name, rows in sets.items():
        for repeat in range(1, REPEATS + 1):
            pictures = transform_pictures(net.pictures[rows], np.random.default_rng(repeat))
            arrays: Arrays = {"features": net.hidden(pictures), "labels": net.digits[rows].astype(np.int8)}
            yield f"{name}-changed-{repeat}", arrays


def _batches(net: Network) -> Iterator[tuple[str, Arrays]]:
    """Three batches of pictures that are in no other file: none, a third, and most of them of unknown digits."""
    known = net.rows(0, KNOWN, skip=ROWS, most=20)
    new = net.rows(KNOWN, 10, skip=ROWS, most=20)
    for name, share in (("monday", 0.0), ("tuesday", 1 / 3), ("wednesday", 0.75)):
        fresh = round(share * BATCH)
        rng = np.random.default_rng(fresh)
        rows = np.concatenate([rng.permutation(known)[: BATCH - fresh], rng.permutation(new)[:fresh]])
        yield name, net.measure(net.pictures[rows], net.digits[rows])
