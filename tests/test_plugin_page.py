"""The page on plug-ins, followed literally: its two files are written and installed, and its commands typed.

It is installed into a folder of its own, so that nobody else's registry learns of it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.reader import Shell, run_console, run_python
from tools.markdown_pages import examples

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "how-to" / "write-a-plugin.md"
INSTALL = "$ pip install "


def blocks(language, beginning=""):
    """The blocks of the page in a language that begin so."""
    found = examples(PAGE.read_text(encoding="utf-8"))
    return [one for one in found if one.language == language and one.text.startswith(beginning)]


def install(source, place):
    """Install a package into a folder, without a network."""
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "-q"]
    command = [sys.executable, "-m", "pip", "install", *offline, "--target", str(place), str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The two plug-ins as the page writes them and the one of the examples, in a folder that Python can be told of."""
    place = tmp_path_factory.mktemp("installed")
    shipped = tmp_path_factory.mktemp("shipped") / "plugin"  # a build writes into its source
    shutil.copytree(ROOT / "examples" / "plugin", shipped)
    install(shipped, place)
    for name, project in zip(("species", "likeness"), blocks("toml", "[build-system]"), strict=True):
        source = tmp_path_factory.mktemp(name)
        (source / f"{name}.py").write_text(blocks("python", f'"""{name.title()}')[0].text, encoding="utf-8")
        (source / "pyproject.toml").write_text(project.text, encoding="utf-8")
        install(source, place)
    return place


@pytest.mark.req("T-28", "T-15")
def test_the_task_and_the_metric_of_the_page_work_as_the_page_says(installed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for beginning in ("from pathlib import Path", "import hashlib"):
        run_python(blocks("python", beginning)[0].text, {}, place=PAGE.name)
    commands = tmp_path / "commands"
    commands.mkdir()
    words = f'#!/bin/sh\nPYTHONPATH="{installed}" exec "{sys.executable}" -m basanite "$@"\n'
    (commands / "basanite").write_text(words, encoding="utf-8")
    (commands / "basanite").chmod(0o700)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")]))
    typed = [one for one in blocks("console") if not one.runs]
    assert typed[0].text.startswith(INSTALL)
    with Shell(tmp_path, tmp_path, commands) as shell:
        for block in typed:
            lines = block.text.splitlines(keepends=True)
            run_console(
                "".join(one for one in lines if not one.startswith(INSTALL)), shell, place=f"{PAGE.name}:{block.line}"
            )
    assert (tmp_path / "both.html").is_file()
