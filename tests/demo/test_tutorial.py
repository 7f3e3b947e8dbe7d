"""The tutorial on the demo: what it types works on a demo, and prints what the page says.

It is not run with the other pages, for making a season takes longer than any other example: here it already exists.
"""

from __future__ import annotations

import shutil

import pytest
from tests.cli.running import ROOT
from tests.reader import Shell, run_console
from tools.markdown_pages import examples

PAGE = ROOT / "docs" / "tutorial" / "first-campaign.md"
BLOCKS = [one for one in examples(PAGE.read_text(encoding="utf-8")) if one.text.startswith("$ basanite ")]
SERVES = "$ basanite demo\n"


@pytest.fixture(scope="module")
def folder(built, tmp_path_factory):
    """A folder in which the reader's season is made already."""
    place = tmp_path_factory.mktemp("reader")
    shutil.copytree(built.folder, place / "basanite-demo")
    return place


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.text != SERVES], ids=lambda one: f"line {one.line}")
def test_what_the_tutorial_types_prints_what_it_says(block, built, folder):
    if "--build-only" in block.text:
        told = block.text.splitlines()[1:6]
        assert told == built.progress.splitlines()
    else:
        with Shell(folder, folder) as shell:
            run_console(block.text, shell, place=f"{PAGE.name}:{block.line}")
