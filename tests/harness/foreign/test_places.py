"""Folders of killed owners are cleared away by the next one; those of the living are not (X-5)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from basanite.sandbox.runner import HELD, NAMELESS, PREFIXES, YOUNG, clear_left_behind, locked_folder

OWNER = """
import sys, time
from basanite.sandbox.runner import locked_folder
with locked_folder("basanite-box-") as folder:
    (folder / "root").mkdir()
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def later():
    """A moment at which nothing that is made now is young any more."""
    return time.time() + YOUNG + 5


def test_a_folder_is_let_alone_while_its_owner_lives_and_cleared_once_it_was_killed(tmp_path, later):
    given = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", OWNER], env=given, stdout=subprocess.PIPE) as owner:
        folder = Path(owner.stdout.readline().decode().strip())
        assert clear_left_behind(tmp_path, now=later) == 0
        assert folder.is_dir()
        owner.send_signal(signal.SIGKILL)
    assert folder.is_dir(), "who is killed leaves its folder behind"
    assert clear_left_behind(tmp_path, now=later) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_made_a_moment_ago_is_let_alone(tmp_path):
    (left := tmp_path / "basanite-box-a").mkdir()
    (left / HELD).touch()
    assert clear_left_behind(tmp_path) == 0
    assert left.is_dir()


def test_folders_of_earlier_versions_go_after_a_day(tmp_path, later):
    for prefix in PREFIXES:
        (tmp_path / f"{prefix}a" / "root").mkdir(parents=True)
    assert clear_left_behind(tmp_path, now=later) == 0
    assert clear_left_behind(tmp_path, now=later + NAMELESS) == len(PREFIXES)


def test_what_is_not_a_folder_of_ours_is_not_touched(tmp_path, later):
    (outside := tmp_path / "outside").mkdir()
    (outside / HELD).touch()
    (tmp_path / "basanite-box-link").symlink_to(outside)
    (tmp_path / "basanite-box-file").touch()
    (tmp_path / "basanite-boxes").mkdir()
    assert clear_left_behind(tmp_path, now=later + NAMELESS) == 0
    assert (outside / HELD).exists()


def test_a_folder_is_gone_with_its_block(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with locked_folder("basanite-box-") as folder:
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []
