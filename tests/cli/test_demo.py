"""The offline demo tells each step with its command, ends in a page, and never deletes what it did not make."""

from __future__ import annotations

import re
import shlex

import pytest
from tests.cli.running import here, process

from basanite.cli import demo_tour
from basanite.cli.demo_tour import MARKER, with_draft
from basanite.demo import files
from basanite.errors import SettingError
from basanite.extras import Extra

pytestmark = pytest.mark.timeout(240)  # a whole demo, on a machine that may be busy with other tests


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """One demo for all tests, in a folder with a blank in its name."""
    folder = tmp_path_factory.mktemp("a place")
    return folder, process("demo", "--offline", "--out", "my demo", cwd=folder)


@pytest.mark.req("P-3")
def test_the_demo_ends_with_the_page_to_open(shown):
    folder, ended = shown
    assert (ended.code, ended.stderr) == (0, "")
    page = re.search(r"Open this page in a browser: (.*comparison\.html)\n$", ended.stdout)[1]
    assert page == str(folder / "my demo" / "comparison.html")
    for name in ("comparison", "Alpha", "Beta", "Gamma", "e2e", "domainid", "reading", "why", "contradiction"):
        assert (folder / "my demo" / f"{name}.html").read_text().startswith("<!doctype html>")


def test_the_mistakes_are_shown_with_file_and_line(shown):
    _, ended = shown
    assert re.search(r"query[0-9]{5}\.tsv:3:3: confidence '1' .*\[M29\]\. Fix: write 1\.0", ended.stdout)
    assert {"M22", "M25", "M29"} <= set(re.findall(r"\[(M[0-9]{2})\]", ended.stdout))


@pytest.mark.parametrize("name", ["e2e", "domainid"])
def test_the_other_tasks_are_checked_scored_and_reported(shown, name):
    folder, ended = shown
    told = ended.stdout[ended.stdout.index(f"basanite validate {name} ") :]
    assert re.search(r"\.tgz is valid\.\n.*basanite score " + name, told)
    assert f"The report is in my demo/{name}.html." in told
    assert (folder / "my demo" / f"{name}.html").is_file()


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "kind",
    ["validate clir", "score clir", "compare clir", "score e2e", "score domainid", "score reading", "reading explain"],
)
def test_a_command_that_is_told_does_the_same_by_hand(shown, kind):
    folder, ended = shown
    lines = [line for line in re.findall(r"^   \$ (.*)$", ended.stdout, re.M) if f"basanite {kind} " in line]
    done = here(*shlex.split(lines[-1])[1:], cwd=folder)
    assert done.code == 0, done.stderr
    if kind == "score clir":
        value = re.search(r"Gamma: AQWV (-?[0-9.]+) ", ended.stdout)[1]
        assert f"AQWV is {value} " in done.stdout


def test_a_derivation_and_a_contradiction_are_shown_with_the_words_behind_them(shown):
    folder, ended = shown
    assert "game-013 gameWinner LosAngelesChargers   [by rule higher-score-wins]" in ended.stdout
    assert "Contradiction by overtime-needs-five" in ended.stdout
    why, wrong = ((folder / "my demo" / f"{name}.html").read_text() for name in ("why", "contradiction"))
    assert "<mark>Nineteen</mark>" in why
    assert "overtime-needs-five" in wrong
    assert "<mark>Sudden death</mark>" in wrong


class Listener:
    """Somebody who is shown around and keeps what was said."""

    def __init__(self, folder):
        self.folder = self.out = folder
        self.said = []

    def say(self, words):
        self.said.append(words)

    def command(self, *words, **paths):
        self.said.append(" ".join(words))


@pytest.mark.parametrize(
    ("lack", "value", "said"),
    [
        ("EXTRAS", {"reading": Extra("reading", ("no_such_package",))}, 'pip install "basanite[reading]"'),
        ("examples", lambda: None, "source tree"),
    ],
    ids=["extra", "example"],
)
def test_without_the_extra_or_the_example_the_demo_says_so_and_goes_on(tmp_path, monkeypatch, lack, value, said):
    monkeypatch.setattr(files, lack, value)
    listener = Listener(tmp_path)
    demo_tour.show_reading(listener)
    assert said in listener.said[-1]
    assert list(tmp_path.iterdir()) == []


def write(text):
    return lambda draft: (draft / "page.html").write_text(text) and None


def test_an_earlier_demo_is_replaced(tmp_path):
    with_draft(tmp_path / "demo", write("one"))
    with_draft(tmp_path / "demo", write("two"))
    assert (tmp_path / "demo" / "page.html").read_text() == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_an_empty_folder_may_be_used(tmp_path):
    (tmp_path / "demo").mkdir()
    with_draft(tmp_path / "demo", write("one"))
    assert (tmp_path / "demo" / MARKER).is_file()


def other_files(folder):
    (folder / "mine.txt").write_text("mine")


def deep_file(folder):
    with_draft(folder / "x", write("one"))
    (folder / "x").rename(folder / "y")
    (folder / "y" / MARKER).rename(folder / MARKER)
    (folder / "y" / "mine.txt").write_text("mine")


def linked_marker(folder):
    (folder / "mine.txt").write_text("mine.txt\nmarker\n")
    (folder / MARKER).symlink_to("mine.txt")


@pytest.mark.parametrize("fill", [other_files, deep_file, linked_marker])
def test_nothing_that_the_demo_did_not_make_is_ever_deleted(tmp_path, fill):
    (tmp_path / "demo").mkdir()
    fill(tmp_path / "demo")
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    with pytest.raises(SettingError, match="left alone"):
        with_draft(tmp_path / "demo", write("one"))
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before


def test_a_file_added_to_an_earlier_demo_saves_the_whole_folder(tmp_path):
    with_draft(tmp_path / "demo", write("one"))
    (tmp_path / "demo" / "mine.txt").write_text("mine")
    with pytest.raises(SettingError, match=r"mine\.txt"):
        with_draft(tmp_path / "demo", write("two"))
    assert (tmp_path / "demo" / "page.html").read_text() == "one"


@pytest.mark.req("P-3")
@pytest.mark.parametrize("out", [".", "file", "file/demo", "link"])
def test_a_place_that_cannot_be_used_is_told_and_nothing_is_touched(tmp_path, out):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    ended = here("demo", "--offline", "--out", out, cwd=tmp_path)
    assert (ended.code, ended.stdout, "Traceback" in ended.stderr) == (2, "", False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "real"]


def test_an_interrupted_demo_leaves_the_earlier_one(tmp_path):
    def interrupted(draft):
        raise KeyboardInterrupt

    with_draft(tmp_path / "demo", write("one"))
    with pytest.raises(KeyboardInterrupt):
        with_draft(tmp_path / "demo", interrupted)
    assert (tmp_path / "demo" / "page.html").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
