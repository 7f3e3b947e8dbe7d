"""The task and the metric of the page on plug-ins, installed as the page says, are scored by a server."""

from __future__ import annotations

import json
import shutil
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


def served(python, *words):
    """What the server and the command at home say of a submission."""
    command = [python, "-m", "tests.doors.plugin_server", *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.timeout(600)
def test_a_task_of_a_plugin_is_scored_by_the_server_as_at_home(python, tmp_path, monkeypatch):
    folder = tmp_path / "season"
    folder.mkdir()
    monkeypatch.chdir(folder)
    run_python(blocks("python", "from pathlib import Path")[0].text, {}, place=PAGE.name)
    said = served(python, folder, "basanite-species", "species", "good.csv", "truth.csv")
    assert said["home"]["share_right"]["value"] == 0.85
    assert said["server"] == {door: ["scored", said["home"]] for door in ("one piece", "drop folder")}


@pytest.mark.req("T-28")
@pytest.mark.timeout(600)
def test_a_metric_that_joins_a_task_is_scored_by_the_server_that_names_its_package(
    python, installed, tmp_path, monkeypatch
):
    folder = tmp_path / "season"
    folder.mkdir()
    monkeypatch.chdir(folder)
    run_python(blocks("python", "import hashlib")[0].text, {}, place=PAGE.name)
    shutil.copytree(folder / "model", installed / "likeness_model")  # as a package that ships its model
    said = served(python, folder, "basanite-likeness", "translation", "closer.txt", "reference.txt")
    assert 0.5 < said["home"]["likeness"]["value"] < 1
    del said["home"]["word_likeness"]  # installed too, by a package that this server does not name
    for door in ("one piece", "drop folder"):
        assert "word_likeness" not in said["server"][door][1]
        for name in said["home"]:
            assert (name, said["server"][door][1].get(name)) == (name, said["home"][name])
    untrusting = tmp_path / "untrusting"
    untrusting.mkdir()
    for name in ("closer.txt", "reference.txt"):
        shutil.copy(folder / name, untrusting)
    said = served(python, untrusting, "basanite-species", "translation", "closer.txt", "reference.txt")
    assert "likeness" not in said["server"]["one piece"][1]
