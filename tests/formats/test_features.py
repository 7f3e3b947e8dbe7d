"""Features from every format are the same; what cannot be trusted is refused before anything large is allocated."""

import io
import pickle
import struct
import zipfile

import numpy as np
import polars as pl
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import UnreadableError
from basanite.formats import stored_arrays
from basanite.formats.features import check, read_features
from basanite.formats.stored_arrays import StoredArray, open_npy
from basanite.representation.measures.all_measures import measure


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.random((30, 4)).astype(np.float32), np.array(["cat", "dog", "ä"] * 10)


def write_npz(path, features, labels, **more):
    np.savez(path, features=features, labels=labels, **more)


def write_packed(path, features, labels, **more):
    np.savez_compressed(path, features=features, labels=labels, **more)


def write_npy(path, features, labels):
    np.save(path, features)
    np.save(path.with_name("labels.npy"), labels)


def write_fortran(path, features, labels):
    write_npy(path, np.asfortranarray(features), labels)


def write_lists(path, features, labels):
    pl.DataFrame({"features": features.tolist(), "label": labels.tolist()}).write_parquet(path)


def write_columns(path, features, labels):
    columns = {f"f{at}": features[:, at] for at in range(features.shape[1])}
    pl.DataFrame({**columns, "labels": labels.tolist()}).write_parquet(path)


def write_zarr(path, features, labels):
    group = zarr.open_group(str(path), mode="w")
    group.create_array("features", data=features, chunks=(7, 4))
    group.create_array("labels", data=np.searchsorted(["cat", "dog", "ä"], labels))


WRITERS = {
    "plain.npz": write_npz,
    "packed.npz": write_packed,
    "one.npy": write_npy,
    "fortran.npy": write_fortran,
    "lists.parquet": write_lists,
    "columns.parquet": write_columns,
    "group.zarr": write_zarr,
}


@pytest.mark.parametrize("name", list(WRITERS))
def test_every_format_gives_the_same_features_and_labels(name, data, tmp_path):
    features, labels = data
    WRITERS[name](tmp_path / name, features, labels)
    found = read_features(tmp_path / name)
    assert np.allclose(found.features[:], features, atol=1e-7)
    assert np.allclose(found.features[np.array([5, 2])], features[[5, 2]], atol=1e-7)
    kinds = np.unique(labels, return_inverse=True)[1]
    assert np.unique(found.labels, return_inverse=True)[1].tolist() == kinds.tolist()
    assert check(found).valid
    whole = measure(features, labels, names=["ferm1", "silhouette"]).values
    assert measure(found.features, found.labels, names=["ferm1", "silhouette"]).values["ferm1"].value == pytest.approx(
        whole["ferm1"].value
    )


def test_plain_arrays_stay_on_disk_and_travel_as_a_path(data, tmp_path):
    write_npz(tmp_path / "big.npz", *data)
    found = read_features(tmp_path / "big.npz").features
    assert isinstance(found, StoredArray)
    assert len(pickle.dumps(found)) < 1000
    assert np.array_equal(pickle.loads(pickle.dumps(found))[3:5], data[0][3:5])


def test_batches_come_in_order(data, tmp_path):
    write_npz(tmp_path / "a.npz", *data)
    parts = list(read_features(tmp_path / "a.npz").batches(8))
    assert [len(labels) for _, labels in parts] == [8, 8, 8, 6]
    assert np.array_equal(np.concatenate([rows for rows, _ in parts]), data[0])


def test_every_optional_array_is_read_and_strange_ones_are_named(data, tmp_path):
    more = {
        "source_probabilities": np.full((30, 2), 0.5),
        "source_features": data[0][:9],
        "source_labels": np.arange(9) % 2,
        "predictions": data[1],
        "groups": data[1],
    }
    write_npz(tmp_path / "a.npz", *data, **more, extra=np.ones(3))
    found = read_features(tmp_path / "a.npz")
    assert all(np.array_equal(getattr(found, name)[:], value) for name, value in more.items())
    assert found.others == ("extra",)
    assert check(found).valid


def test_a_bad_number_is_named_by_its_row_and_all_of_them_are_counted(data, tmp_path):
    features, labels = data
    features[[4, 17], 1] = np.nan, np.inf
    features[20:29] = np.nan
    write_npz(tmp_path / "a.npz", features, labels)
    found = check(read_features(tmp_path / "a.npz"))
    messages = [problem.message for problem in found]
    assert "features: row 4 (counted from 0) holds nan" in messages
    assert "features: row 17 (counted from 0) holds infinity" in messages
    assert found.counts["F-11"] == 11


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"labels": np.arange(29)}, "labels has 29 entries and features 30 rows"),
        ({"features": np.ones(30)}, "shape (30,)"),
        ({"features": np.array([["a"]] * 30)}, "type <U1"),
        ({"labels": np.ones((30, 2))}, "labels has the shape (30, 2)"),
        ({"labels": np.where(np.arange(30) == 3, np.nan, 1.0)}, "row 3 (counted from 0) has no label"),
        ({"source_labels": np.ones(3)}, "source_features 0 rows"),
        ({"source_probabilities": np.ones((4, 2))}, "source_probabilities has 4 entries"),
    ],
    ids=["short", "flat", "words", "table", "missing", "no-source", "probabilities"],
)
def test_arrays_that_do_not_fit_are_problems_with_a_cure(change, says, data, tmp_path):
    np.savez(tmp_path / "a.npz", **{"features": data[0], "labels": data[1], **change})
    found = check(read_features(tmp_path / "a.npz"))
    assert not found.valid
    assert any(says in problem.message and problem.fix for problem in found)


def test_objects_are_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    np.savez(tmp_path / "a.npz", features=np.ones((2, 2)), labels=np.array([Trap(), Trap()], dtype=object))
    np.save(tmp_path / "b.npy", np.array([Trap()], dtype=object))
    for name in ("a.npz", "b.npy"):
        with pytest.raises(UnreadableError, match="not read"):
            read_features(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_zarr_with_a_codec_that_runs_code_is_refused(data, tmp_path):
    write_zarr(tmp_path / "a.zarr", *data)
    (tmp_path / "a.zarr" / "labels" / ".zarray").write_text('{"filters": [{"id": "pickle"}]}')
    with pytest.raises(UnreadableError, match="pickle"):
        read_features(tmp_path / "a.zarr")


def forged(shape, *, data=b"", dtype="<f8"):
    """An .npy file whose header says whatever we like."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize("shape", ["(10**9, 1000)", "(1000, 1000)", "(-1, 4)", "(2**62, 2**62)", "3", "((1,),)"])
def test_a_header_that_promises_too_much_is_refused_at_once(shape, tmp_path):
    content = forged(shape, data=b"\0" * 64)
    (tmp_path / "a.npy").write_bytes(content)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "a.npz", "w", method) as archive:
            archive.writestr("features.npy", content)
            archive.writestr("labels.npy", content)
        with pytest.raises(UnreadableError):
            read_features(tmp_path / "a.npz")
    with pytest.raises(UnreadableError):
        open_npy(tmp_path / "a.npy")


def test_a_compressed_array_that_would_fill_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_arrays, "MOST_LOADED", 1000)
    np.savez_compressed(tmp_path / "a.npz", features=np.zeros((500, 100)), labels=np.zeros(500))
    with pytest.raises(UnreadableError, match="compressed and larger"):
        read_features(tmp_path / "a.npz")


@settings(deadline=None, max_examples=40)
@given(st.binary(max_size=300), st.sampled_from([".npz", ".npy", ".parquet"]))
def test_random_bytes_are_refused_in_words(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("random") / f"a{suffix}"
    path.write_bytes(content)
    with pytest.raises(UnreadableError):
        read_features(path)


def test_a_truncated_archive_is_refused(data, tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, features=data[0], labels=data[1])
    for cut in range(0, len(buffer.getvalue()) - 1, 97):
        (tmp_path / "a.npz").write_bytes(buffer.getvalue()[:cut])
        with pytest.raises(UnreadableError):
            read_features(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.txt", "missing.npz", "missing.npy", "missing.parquet", "missing.zarr"])
def test_what_is_not_there_or_no_format_is_said(name, tmp_path):
    if name == "a.txt":
        (tmp_path / name).write_text("1 2 3")
    with pytest.raises(UnreadableError):
        read_features(tmp_path / name)


def test_labels_may_lie_in_a_file_of_their_own(data, tmp_path):
    np.save(tmp_path / "x.npy", data[0])
    np.save(tmp_path / "classes.npy", data[1])
    with pytest.raises(UnreadableError, match="no labels"):
        read_features(tmp_path / "x.npy")
    assert read_features(tmp_path / "x.npy", labels=tmp_path / "classes.npy").labels.tolist() == data[1].tolist()
    write_npz(tmp_path / "y.npz", *data)
    assert read_features(tmp_path / "x.npy", labels=tmp_path / "y.npz").labels.tolist() == data[1].tolist()
    np.savez(tmp_path / "none.npz", X=data[0])
    with pytest.raises(UnreadableError, match="holds no labels"):
        read_features(tmp_path / "x.npy", labels=tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("column", "says"),
    [([[1.0, 2.0], [1.0]], "row 1 .* has 1 values"), ([[1.0], None], "row 1 .* is missing")],
    ids=["ragged", "missing"],
)
def test_lists_in_parquet_must_be_of_one_length(column, says, tmp_path):
    pl.DataFrame({"features": column, "label": ["a", "b"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(UnreadableError, match=says):
        read_features(tmp_path / "a.parquet")
