"""What the demo makes beside its server: each part once, a failure with its reason, and nothing lost when it stops."""

from __future__ import annotations

import sys
import time
from threading import Event

import pytest

from basanite.demo import parts as making
from basanite.demo import server
from basanite.demo.server import ALL_READY
from basanite.server import demo_parts as parts
from basanite.server.demo_parts import PARTS, Progress

KEYS = tuple(PARTS)
READY = """import sys
from pathlib import Path
from basanite.server.demo_parts import Progress, write
key, data = sys.argv[1], Path(sys.argv[2])
with (data / "made").open("a") as file:
    file.write(key + "\\n")
write(data, Progress(key, "ready"))
"""
FAILS = "import sys; sys.stderr.write('Traceback\\nOSError: no space left\\n'); sys.exit(1)"
LASTS = """import sys, threading
from pathlib import Path
from basanite.demo import parts as making
def work(folder, tell):
    (Path(sys.argv[2]) / "begun").touch()
    threading.Event().wait()
making.WORKS = {sys.argv[1]: work}
making.main(sys.argv[1], Path(sys.argv[2]))
"""
PATIENCE = 150.0


def command(text):
    return (sys.executable, "-c", text)


def until(found):
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def ended(folder):
    return all(one.is_over for one in parts.progress(folder))


def test_every_part_is_made_once_and_what_is_ready_is_not_made_again(tmp_path):
    parts.write(tmp_path, Progress(KEYS[0], "ready"))
    for _ in range(2):
        with making.beside(tmp_path, command(READY)):
            until(lambda: ended(tmp_path))
    assert (tmp_path / "made").read_text().split() == list(KEYS[1:])


def test_a_part_that_fails_says_why_and_the_others_are_made_all_the_same(tmp_path):
    with making.beside(tmp_path, command(FAILS)):
        until(lambda: ended(tmp_path))
    assert [(one.state, one.reason) for one in parts.progress(tmp_path)] == [
        ("failed", "OSError: no space left")
    ] * len(KEYS)
    with making.beside(tmp_path, command(READY)):
        until(lambda: all(one.state == "ready" for one in parts.progress(tmp_path)))


def test_what_is_under_way_when_the_demo_stops_is_no_failure_and_its_process_ends(tmp_path):
    with making.beside(tmp_path, command(LASTS)):
        until((tmp_path / "begun").exists)
        assert parts.progress(tmp_path)[0].state == "working"
    assert [one.state for one in parts.progress(tmp_path)] == ["waiting"] * len(KEYS)


def test_the_process_ends_when_the_demo_is_killed(tmp_path):
    import subprocess

    child = subprocess.Popen([*command(LASTS), KEYS[0], str(tmp_path)], stdin=subprocess.PIPE)
    until((tmp_path / "begun").exists)
    child.stdin.close()
    assert child.wait(PATIENCE) == 1


def test_a_part_tells_how_far_it_is_while_it_is_made(tmp_path, monkeypatch):
    seen = []

    def work(folder, tell):
        tell(2, 7)
        seen.append(parts.progress(tmp_path)[0])
        (folder / "report.html").write_text("")

    monkeypatch.setattr(making, "WORKS", {KEYS[0]: work})
    monkeypatch.setattr(making, "_end_with_parent", lambda: None)
    monkeypatch.setattr(making.os, "nice", lambda more: 0)
    making.main(KEYS[0], tmp_path)
    assert seen == [Progress(KEYS[0], "working", 2, 7)]
    assert parts.progress(tmp_path)[0] == Progress(KEYS[0], "ready")


class Quiet:
    """As much of an office as the terminal needs: a folder, and submissions that are scored or not."""

    def __init__(self, data):
        self.settings = type("S", (), {"data": data})


def test_the_terminal_hears_once_of_everything_that_becomes_ready(tmp_path, monkeypatch):
    left, lines = iter([3, 3, 1, 0, 0, 0, 0, 0]), []
    monkeypatch.setattr(server, "under_way", lambda office: next(left, 0))
    monkeypatch.setattr(server, "SECONDS", 0.01)
    for key in KEYS:
        parts.write(tmp_path, Progress(key, "waiting"))

    def say(line):
        lines.append(line)
        if "scored" in line:
            parts.write(tmp_path, Progress(KEYS[0], "ready"))
        elif "harness" in line:
            parts.write(tmp_path, Progress(KEYS[1], "ready"))

    server.announce(Quiet(tmp_path), say, Event())
    assert lines == [
        "Ready: all submissions are scored.",
        "Ready: a harness run.",
        "Ready: representation analysis.",
        ALL_READY,
    ]


def test_a_failure_is_told_on_the_terminal_and_not_everything_is_ready(tmp_path, monkeypatch):
    lines = []
    monkeypatch.setattr(server, "under_way", lambda office: 0)
    monkeypatch.setattr(server, "SECONDS", 0.01)
    parts.write(tmp_path, Progress(KEYS[0], "failed", reason="OSError"))
    parts.write(tmp_path, Progress(KEYS[1], "ready"))
    server.announce(Quiet(tmp_path), lines.append, Event())
    assert lines == ["Failed: a harness run: OSError"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_harness_run_ends_in_a_page_and_in_slides_and_the_representations_in_two_pages(tmp_path):
    from pptx import Presentation

    with making.beside(tmp_path):
        end = time.monotonic() + 1100
        while not ended(tmp_path) and time.monotonic() < end:
            time.sleep(1)
    assert [(one.state, one.reason) for one in parts.progress(tmp_path)] == [("ready", "")] * len(KEYS)
    for key, one in PARTS.items():
        for name in one.files:
            path = parts.place(tmp_path, key) / name
            if path.suffix == ".html":
                assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    slides = Presentation(str(parts.place(tmp_path, "harness") / "report.pptx")).slides
    assert len(slides) > 5
    said = " ".join(shape.text_frame.text for slide in slides for shape in slide.shapes if shape.has_text_frame)
    assert "Alder" in said
    assert "Birch" in said


def test_representations_are_of_digits_that_the_network_knows_and_of_some_that_it_does_not(tmp_path):
    import numpy as np

    making._write_features(tmp_path)
    known, new = (np.load(tmp_path / f"{name}.npz")["labels"] for name in ("seen", "unseen"))
    assert set(known.tolist()) & set(new.tolist()) == set()
