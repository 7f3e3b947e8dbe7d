"""A team submits a shell program and a Python program to a sealed window, and sees what it may (G-1, G-2)."""

from __future__ import annotations

import re

import pytest
from tests.campaign.programs.conftest import ITEMS, PYTHON_RUN, SHELL_RUN, archive
from tests.journeys.world import DESK, HOME, campaign_text, window_text

pytestmark = [pytest.mark.browser, pytest.mark.req("D-5", "G-1", "G-2")]
PROGRAMS = """
[windows.programs]
answers = "answers.tsv"
header = true
memory = "512 MiB"
item_time = "60 s"
"""
TABLE = "id\tword\n" + "\n".join(ITEMS) + "\n"
BAD = "#!/bin/sh\necho looking at the public items\nexit 3\n"


def plan() -> str:
    """A campaign with one window, which takes programs on sealed data."""
    window = window_text("programs", "Programs", "classification").replace('"full"', '"limited"')
    text = campaign_text(window.rstrip() + "\n" + PROGRAMS)
    return text.replace('sealed = false\nusage = "dev"', 'sealed = true\nusage = "dev"')


def test_a_team_submits_programs_to_a_sealed_window(world):
    files = {"key.tsv": TABLE.replace("word", "label"), "items.tsv": TABLE, "samples.tsv": "id\tword\ns1\tred\n"}
    for name, content in files.items():
        (world.folder / name).write_text(content)
    programs = {"shell.tgz": SHELL_RUN, "python.tgz": PYTHON_RUN, "bad.tgz": BAD}
    for name, run in programs.items():
        (world.folder / name).write_bytes(archive(run=run))
    (world.folder / "basanite.toml").write_text("[limits]\nminute = 1\n")  # a whole minute is too long for a test
    world.begin(plan())
    words = ("--task", "classification", "--dataset", "DEV", "--language", "1A")
    world.admin("reference", "add", "key.tsv", *words, "--inputs", "items.tsv", "--samples", "samples.tsv")
    with world.serving():
        ada = world.member("ada@example.org", "Ada")
        world.admin("team", "add", "Alpha", "--pi", "ada@example.org")
        ada.open(f"{HOME}/packs").press("I accept these rules")
        ada.open(f"{HOME}/submit").sees("Takes programs: an archive with an executable file").sees("no network")
        for name in ("shell.tgz", "python.tgz"):
            ada.submit(world.folder / name, slot="classification")
            place = ada.tab.url.removeprefix(world.address)
            ada.waits_for(place, "same answers")
            assert re.search(r"Sealed items\s+passed\s+at most 1 min, answers of at most 1 MB", ada.text)
            assert "blue" not in ada.text
        ada.submit(world.folder / "bad.tgz", slot="classification")
        place = ada.tab.url.removeprefix(world.address)
        ada.waits_for(place, "the program failed on the public items").sees("looking at the public items")
        assert "not run yet" in ada.text
        eva = world.member("eva@example.org", "Eva", "evaluation").add_second_factor()
        eva.open(f"{DESK}{place.removeprefix(HOME)}").sees("Program").sees("Public items")
