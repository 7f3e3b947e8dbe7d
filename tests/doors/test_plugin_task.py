"""The task of the page on plug-ins, installed as the page says, is taken and scored by a server."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig

import pytest
from tests.reader import run_python
from tests.test_plugin_page import PAGE, ROOT, blocks, installed

__all__ = ["installed"]


@pytest.fixture
def python(installed, tmp_path):
    """A Python of its own with the plug-in among its packages, so that nobody else's registry learns of it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "python"], check=True, timeout=200)
    (packages,) = (tmp_path / "python").glob("lib/python3*/site-packages")
    ours = sysconfig.get_path("purelib")
    (packages / "plugin.pth").write_text(f"{installed}\nimport site; site.addsitedir({ours!r})\n", encoding="utf-8")
    return tmp_path / "python" / "bin" / "python"


@pytest.mark.timeout(600)
def test_a_task_of_a_plugin_is_scored_by_the_server_as_at_home(python, tmp_path, monkeypatch):
    folder = tmp_path / "season"
    folder.mkdir()
    monkeypatch.chdir(folder)
    run_python(blocks("python", "from pathlib import Path")[0].text, {}, place=PAGE.name)
    command = [python, "-m", "tests.doors.plugin_server", folder, "basanite-species"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert said["home"]["share_right"]["value"] == 0.85
    assert said["server"] == {door: ["scored", said["home"]] for door in ("one piece", "drop folder")}
