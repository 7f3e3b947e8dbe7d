"""A bundle holds licence, citation and checksums, and nothing of sealed parts."""

import hashlib
import json
import tarfile

import pytest
from tests.cli.running import here
from tests.reading.packages import BEHIND, TEXTS, small_package

from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings
from basanite.reading.package.checks import check_package
from basanite.reading.release import release


@pytest.fixture
def root(tmp_path):
    return small_package(tmp_path / "small")


def unpacked(path):
    with tarfile.open(path) as archive:
        return {member.name.partition("/")[2]: archive.extractfile(member).read() for member in archive}


def test_a_bundle_has_licence_citation_and_checksums(root, tmp_path):
    release(root, tmp_path / "b.tgz")
    files = unpacked(tmp_path / "b.tgz")
    assert b"CC0-1.0" in files["LICENCE.txt"]
    assert files["CITATION.txt"] == b"Nobody: A small package.\n"
    sums = dict(reversed(line.split("  ")) for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    assert {
        "package.toml",
        "ontology.ttl",
        "guidelines.md",
        "corpus/train/d1.txt",
        "annotations/train.ndjson",
    } <= files.keys()


def test_nothing_of_a_sealed_part_leaves(root, tmp_path):
    (root / "queries" / "test.yaml").write_text(
        'format: basanite-queries/1\nqueries:\n  - query: secret\n    find: ["?G gameWinner ?T"]\n'
    )
    secret = {"query": "secret", "document": "d1", "answer": {"?G": ["g"], "?T": ["t"]}, "kind": "explicit", **BEHIND}
    with (root / "gold" / "v1.ndjson").open("a") as file:
        file.write(json.dumps(secret) + "\n")
    bundle = release(root, tmp_path / "b.tgz")
    files = unpacked(tmp_path / "b.tgz")
    assert not [name for name in files if "test" in name or "d3" in name]
    everything = b"\n".join(files.values())
    assert TEXTS["test/d3"].strip().encode() not in everything
    assert b"secret" not in everything
    assert b'"d3"' not in everything
    assert b'"d2"' in files["gold/v1.ndjson"]
    assert bundle.answers_left_out == 2


def test_a_bundle_is_a_package_in_order(root, tmp_path):
    release(root, tmp_path / "b.tgz")
    with tarfile.open(tmp_path / "b.tgz") as archive:
        archive.extractall(tmp_path, filter="data")
    findings = Findings()
    check_package(tmp_path / "small-0.1", findings)
    assert findings.problems == []


def test_files_that_no_package_is_known_to_hold_stay_behind(root, tmp_path):
    (root / "notes.txt").write_text("who won the sealed games")
    (root / "corpus" / "train" / "draft.md").write_text("x")
    bundle = release(root, tmp_path / "b.tgz")
    assert set(bundle.left_out) == {"part test (sealed)", "notes.txt", "corpus/train/draft.md"}
    assert "notes.txt" not in unpacked(tmp_path / "b.tgz")


def test_the_same_package_is_the_same_bytes(root, tmp_path):
    for name in ("a.tgz", "b.tgz"):
        release(root, tmp_path / name)
    assert (tmp_path / "a.tgz").read_bytes() == (tmp_path / "b.tgz").read_bytes()


def test_an_invalid_package_is_not_released(root, tmp_path):
    (root / "corpus" / "train" / "d1.txt").write_text("changed\n")
    with pytest.raises(InvalidInputError):
        release(root, tmp_path / "b.tgz")
    assert not list(tmp_path.glob("b.tgz*"))


def test_nothing_is_written_over(root, tmp_path):
    (tmp_path / "b.tgz").write_text("mine")
    with pytest.raises(SettingError, match="already exists"):
        release(root, tmp_path / "b.tgz")
    assert (tmp_path / "b.tgz").read_text() == "mine"


def test_the_command_says_what_was_left_out(root):
    ended = here("reading", "release", root, "--out", "b.tgz", cwd=root.parent)
    assert (ended.code, "left out: part test (sealed)" in ended.stdout) == (0, True)
    assert here("reading", "release", root, "--out", "c.tgz", "--json", cwd=root.parent).data["answers_left_out"] == 1
