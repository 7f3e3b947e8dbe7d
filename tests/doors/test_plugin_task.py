"""The task and the metric of the page on plug-ins, installed as the page says, are scored by a server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from contextlib import chdir

import pytest
from tests.reader import run_python
from tests.test_plugin_page import PAGE, ROOT, blocks, installed

__all__ = ["installed"]


@pytest.fixture(scope="module")
def python(installed, tmp_path_factory):
    """A Python of its own with the plug-ins among its packages, so that nobody else's registry learns of them."""
    folder = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=200)
    (packages,) = folder.glob("lib/python3*/site-packages")
    ours = sysconfig.get_path("purelib")
    (packages / "plugin.pth").write_text(f"{installed}\nimport site; site.addsitedir({ours!r})\n", encoding="utf-8")
    return folder / "bin" / "python"


def served(python, folder, *words):
    """What the server and the command at home say of submissions; the server's data lies in the folder."""
    command = [python, "-m", "tests.doors.plugin_server", folder, *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def with_files(folder, of_page):
    """A folder with the files that a block of the page writes."""
    with chdir(folder):
        run_python(blocks("python", of_page)[0].text, {}, place=PAGE.name)
    return folder


TRANSLATION = ("translation", "closer.txt", "reference.txt")


@pytest.fixture(scope="module")
def season(installed, tmp_path_factory):
    """The files of both plug-ins of the page; the model of the second one is where a package that ships it has it."""
    folder = with_files(with_files(tmp_path_factory.mktemp("season"), "import hashlib"), "from pathlib import Path")
    shutil.copytree(folder / "model", installed / "likeness_model")
    return folder


@pytest.fixture(scope="module")
def by_species(python, season):
    """What a server says that names the first of the plug-ins alone."""
    return served(python, season, "basanite-species", "species", "good.csv", "truth.csv", *TRANSLATION)


@pytest.mark.timeout(600)
def test_a_task_of_a_plugin_is_scored_by_the_server_as_at_home(by_species):
    said = by_species["species"]
    assert said["home"]["share_right"]["value"] == 0.85
    assert said["server"] == {door: ["scored", said["home"]] for door in ("one piece", "drop folder")}


@pytest.mark.req("T-28")
@pytest.mark.timeout(600)
def test_a_metric_that_joins_a_task_is_scored_by_the_server_that_names_its_package(
    by_species, python, season, tmp_path
):
    for name in TRANSLATION[1:]:
        shutil.copy(season / name, tmp_path)
    said = served(python, tmp_path, "basanite-likeness", *TRANSLATION)["translation"]
    assert 0.5 < said["home"]["likeness"]["value"] < 1
    del said["home"]["word_likeness"]  # installed too, by a package that this server does not name
    for door in ("one piece", "drop folder"):
        assert "word_likeness" not in said["server"][door][1]
        for name in said["home"]:
            assert (name, said["server"][door][1].get(name)) == (name, said["home"][name])
    assert "likeness" not in by_species["translation"]["server"]["one piece"][1], "this one names another package"
