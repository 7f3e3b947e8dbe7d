"""`validate` finds everything at once, says the same with and without the key, and writes copies that are valid."""

from __future__ import annotations

import re
import shutil
import tarfile

import pytest
from tests.cli.running import EXAMPLE, here

LISTS = ("--documents", "documents.txt", "--queries", "queries.txt")
KEY = ("--reference", "key")


def found(submission, *words, cwd=EXAMPLE):
    return here("validate", "clir", "--submission", submission, "--json", *words, cwd=cwd).data


def listed_mistakes():
    """File and rule of every mistake that the example's README lists."""
    rows = re.findall(r"^\| `(query[0-9]+\.tsv)` \|.*\((M[0-9]+)\)", (EXAMPLE / "README.md").read_text(), re.M)
    assert len(rows) == 17
    return rows


@pytest.mark.req("M21", "M22", "M23", "M24", "M25", "M26", "M27", "M28", "M29", "M33", case="bad")
def test_every_mistake_in_the_broken_example_is_found_at_once_with_its_rule_and_cure():
    problems = found("broken", *KEY)["problems"]
    places = {(problem["file"], problem["rule"]) for problem in problems}
    assert set(listed_mistakes()) - places == set()
    assert len({problem["rule"] for problem in problems}) >= 10
    assert all(problem["message"] and problem["fix"] for problem in problems)


def test_lines_named_in_the_readme_are_the_lines_found():
    text = (EXAMPLE / "README.md").read_text()
    rows = re.findall(r"^\| `(query[0-9]+\.tsv)` \|.* (?:on|blank) line ([0-9]+).*\((M[0-9]+)\)", text, re.M)
    lines = {(problem["file"], problem["rule"], problem["line"]) for problem in found("broken", *KEY)["problems"]}
    assert len(rows) >= 8
    assert [row for row in rows if (row[0], row[2], int(row[1])) not in lines] == []


@pytest.mark.req("M94")
@pytest.mark.parametrize("submission", ["broken", "Alpha.tgz", "documents.txt"])
def test_lists_give_the_same_problems_as_the_key(submission):
    assert found(submission, *LISTS) == found(submission, *KEY)


@pytest.fixture
def many(tmp_path):
    """A submission in which every line of two files has the same mistake."""
    shutil.copytree(EXAMPLE, tmp_path / "clir")
    with tarfile.open(EXAMPLE / "Alpha.tgz") as tar:
        tar.extractall(tmp_path / "clir" / "many", filter="data")
    for name in ("query04276.tsv", "query27090.tsv"):
        path = tmp_path / "clir" / "many" / name
        path.write_bytes(re.sub(rb"[01]\.[0-9]+\n", b"2\n", path.read_bytes()))
    return tmp_path / "clir"


@pytest.mark.req("P-20")
@pytest.mark.parametrize(("extra", "listed"), [([], 20), (["--all"], 120)])
def test_twenty_problems_of_a_rule_are_listed_or_all_and_counts_are_exact(many, extra, listed):
    result = found("many", *KEY, *extra, cwd=many)
    assert (result["listed"], len(result["problems"])) == (listed, listed)
    assert (result["counts"], result["total"]) == ({"M29": 120}, 120)


@pytest.fixture
def untidy(tmp_path):
    """Alpha's answers below a folder in the archive, with carriage returns, byte order marks and blank ends."""
    folder = tmp_path / "run"
    with tarfile.open(EXAMPLE / "Alpha.tgz") as tar:
        tar.extractall(folder, filter="data")
    for number, path in enumerate(sorted(folder.iterdir())):
        data = path.read_bytes()
        spoilt = (data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, data + b"\n", data.removesuffix(b"\n"))
        path.write_bytes(spoilt[number % 4])
    with tarfile.open(tmp_path / "Untidy.tgz", "w:gz") as tar:
        tar.add(folder, "run")
    return tmp_path / "Untidy.tgz"


@pytest.mark.req("M22", "M23", "M53", case="bad")
def test_an_untidy_archive_is_refused_and_told_all_that_is_wrong(untidy):
    ended = here("validate", "clir", "--submission", untidy, *KEY, "--json")
    assert (ended.code, ended.data["valid"]) == (1, False)
    assert {problem["rule"] for problem in ended.data["problems"]} >= {"M22", "M23", "M53"}
    assert "tar zcf" in " ".join(problem["fix"] for problem in ended.data["problems"] if problem["rule"] == "M53")


@pytest.mark.req("M22", "M23", "M53", case="good")
@pytest.mark.parametrize("out", ["Fixed1.tgz", "fixed"])
def test_the_copy_that_fix_writes_is_valid_and_scores_as_the_original_would(untidy, tmp_path, out):
    before = untidy.read_bytes()
    ended = here("validate", "clir", "--submission", untidy, *KEY, "--fix", tmp_path / out)
    assert (ended.code, untidy.read_bytes() == before) == (1, True)
    assert "taken out of the folder run/" in ended.stderr
    assert "byte order mark removed" in ended.stderr
    assert found(tmp_path / out, *KEY) == found("Alpha.tgz", *KEY)
    results = [
        here("score", "clir", *KEY, "--submission", path, "--json", "--draws", "50").data
        for path in (tmp_path / out, "Alpha.tgz")
    ]
    assert results[0] == results[1]


def test_a_warning_alone_leaves_a_submission_valid(tmp_path):
    shutil.copy(EXAMPLE / "Alpha.tgz", tmp_path / "My_Alpha.tgz")
    ended = here("validate", "clir", "--submission", tmp_path / "My_Alpha.tgz", *KEY)
    assert (ended.code, ended.stdout) == (0, "My_Alpha.tgz is valid. Warnings are listed above.\n")
    assert "M55" in ended.stderr


def test_workers_change_nothing():
    assert found("broken", *KEY, "--workers", "4") == found("broken", *KEY)
