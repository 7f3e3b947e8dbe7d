"""A season whose window takes programs, and programs in two languages."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.offices.prepared import small_season

from basanite.campaign.actions.references import NewVersion, Paths, Place, add, check_files, take_in
from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.policy import Viewer
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.store.plans import in_force
from basanite.testing import small_campaign_text

ITEMS = [f"i{number}\t{word}" for number, word in enumerate(("red", "green", "blue", "red", "green", "blue"), 1)]
LINE = 'printf \'%s\\t%s\\n\' "$id" "$word"'
SHELL = f"tail -n +2 in/items.tsv | while IFS='\t' read -r id word; do {LINE}; done > out/body"
SHELL_RUN = f"""#!/bin/sh
{SHELL}
{{ printf 'id\\tlabel\\n'; cat out/body; }} > out/answers.tsv
rm out/body
echo "answered $(wc -l < in/items.tsv)"
"""
PYTHON_RUN = """#!/usr/bin/env python3
lines = open("in/items.tsv").read().splitlines()[1:]
with open("out/answers.tsv", "w") as out:
    out.write("id\\tlabel\\n")
    for line in lines:
        out.write(line + "\\n")
"""


def window(more: str = "", feedback: str = "limited", **entries: Any) -> str:
    """The text of a window that takes programs on sealed data."""
    given = {"answers": '"answers.tsv"', "header": "true", "memory": '"512 MiB"', "item_time": '"20 s"', **entries}
    lines = "\n".join(f"{name} = {value}" for name, value in given.items())
    return f"""
[[windows]]
id = "programs"
title = "Programs"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["classification"]
dataset = ["EVAL1"]
quota = {{ count = 50, period = "week" }}
feedback = "{feedback}"
{more}
[windows.programs]
{lines}
"""


def archive(**files: str | bytes) -> bytes:
    """A program as a team packs it; `__` in a name is a slash."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as packed:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name.replace("__", "/"))
            entry.size, entry.mode = len(data), 0o644
            packed.addfile(entry, io.BytesIO(data))
    return held.getvalue()


@dataclass
class Stage:
    """An office with a season in which programs can be submitted."""

    office: Any
    season: Any

    @property
    def viewer(self) -> Viewer:
        """Alpha's PI."""
        return Viewer(self.season.ada, team=self.season.alpha, pi=True, campaign=self.season.campaign_id)

    @property
    def staff(self) -> Viewer:
        """An organizer."""
        return Viewer(self.season.eva, frozenset({"evaluation"}), campaign=self.season.campaign_id)

    def submit(self, content: bytes, team: str = "alpha", name: str = "program.tgz", label: str = "prog") -> str:
        """Submit a program as a team does; gives the id of the submission."""
        stored = self.office.files.put(content)
        declared = Declared("classification", label, language="1A", dataset=("EVAL1",), name=name)
        who = {"alpha": self.season.ada, "beta": self.season.bea}[team]
        with self.office.writing() as session:
            arrival = Arrival(getattr(self.season, team), declared, stored)
            return accept(session, self.office, Actor(who, "api"), arrival).id

    def program(self, run: str, **how: str) -> str:
        """Submit a program of one file."""
        return self.submit(archive(run=run), **how)


def open_programs(office: Any, season: Any, folder: Path, **more: Path) -> None:
    """Add the reference, the sealed items and the public ones."""
    table = "id\tword\n" + "\n".join(ITEMS) + "\n"
    (folder / "key.tsv").write_text(table.replace("word", "label"))
    (folder / "inputs.tsv").write_text(table)
    (folder / "samples.tsv").write_text("id\tword\ns1\tred\n")
    place = Place("classification", "EVAL1", "1A", "")
    given = {"inputs": folder / "inputs.tsv", "samples": folder / "samples.tsv", **more}
    material = take_in(office, Paths((folder / "key.tsv",), **given))
    with office.writing() as session:
        campaign = in_force(session, season.campaign_id).campaign
        check_files(office, campaign, place, material)
        add(session, office, COMMAND, season.campaign_id, NewVersion(place, material))


@pytest.fixture
def stage(sqlite_office, tmp_path):
    """Gives a function that makes the season with a window."""

    def make(**entries: Any) -> Stage:
        text = small_campaign_text(more=window(**entries)).replace('released = "2018-04-02', 'released = "2018-01-01')
        season = small_season(sqlite_office, text)
        open_programs(sqlite_office, season, tmp_path)
        return Stage(sqlite_office, season)

    return make
