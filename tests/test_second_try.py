"""A test that fails beside others and passes alone is named as unsteady; what fails twice has failed."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.cli.running import ROOT

ONCE = """
from pathlib import Path

def test_first_of_the_story():
    Path("prepared").touch()

def test_fails_once():
    assert Path("prepared").exists()
    here = Path("seen")
    before = here.exists()
    here.touch()
    assert before
"""
ALONE = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Other plug-ins would take longer to load than these tests take."""
ALWAYS = "def test_{name}():\n    assert False\n"


def tried(folder, **files):
    """What a first run and the second try say of these files of tests."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow: x\n    gpu: x\n", encoding="utf-8")
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text, encoding="utf-8")
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")} | ALONE
    runs = []
    for module in ("pytest", "tools.second_try"):
        (folder / "prepared").unlink(missing_ok=True)
        command = [sys.executable, "-m", module]
        runs.append(subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False))
    assert runs[0].returncode == 1
    return runs[1]


def test_what_passes_alone_is_named_and_kept_in_a_file(tmp_path):
    again = tried(tmp_path, once=ONCE)
    assert again.returncode == 0, again.stdout
    assert "UNSTEADY" in again.stdout
    assert (tmp_path / "build" / "unsteady.txt").read_text(encoding="utf-8") == "test_once.py::test_fails_once\n"


def test_what_fails_again_has_failed(tmp_path):
    again = tried(tmp_path, once=ONCE, always=ALWAYS.format(name="always"))
    assert again.returncode == 1
    assert "UNSTEADY" not in again.stdout
    assert not (tmp_path / "build" / "unsteady.txt").exists()


def test_more_than_a_few_failures_are_not_tried_again(tmp_path):
    again = tried(tmp_path, **{f"no_{number}": ALWAYS.format(name=number) for number in range(4)})
    assert (again.returncode, again.stdout) == (1, "")
