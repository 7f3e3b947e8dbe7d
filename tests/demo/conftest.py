"""One demo for all tests of this folder, made by the command line as users make it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.built_once import built_once
from tests.cli.running import process

from basanite.demo.build import Demo


@dataclass(frozen=True)
class Built:
    """A demo, and what the command said when it was made."""

    folder: Path
    told: dict[str, Any]
    progress: str

    @property
    def demo(self) -> Demo:
        return Demo.read(self.folder)


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Built:
    """This process's copy of the demo: a database that others open is not copied safely by later tests."""
    place, mine = built_once(tmp_path_factory, "demo", build), tmp_path_factory.mktemp("demo") / "season"
    told, progress = json.loads((place / "told.json").read_text(encoding="utf-8"))
    return Built(Path(shutil.copytree(place / "season", mine)), told, progress)


def build(place: Path) -> None:
    """Make a demo in a folder of its own; settings of a real server lie in the way and must not be used."""
    (place / "basanite.toml").write_text('database = "postgresql://nobody@127.0.0.1:1/real"\n[mail]\nhost = "real"\n')
    given = {"BASANITE_VAULT": str(place / "real-vault"), "BASANITE_MAIL__HOST": "real"}
    ended = process("demo", "--data", "season", "--build-only", "--json", cwd=place, **given)
    assert ended.code == 0, ended.stderr
    assert not (place / "real-vault").exists()
    (place / "told.json").write_text(json.dumps([ended.data, ended.stderr]), encoding="utf-8")
