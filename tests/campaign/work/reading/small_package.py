"""A small reading package, cut from the shipped one: six open reports, five sealed ones, and their gold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

NFL = Path(__file__).parents[4] / "examples" / "reading" / "nfl"
TRAIN = tuple(f"nfl-00{number}" for number in range(1, 7))
TEST = ("nfl-101", "nfl-102", "nfl-103", "nfl-104", "nfl-116")
SEALED_WORDS = "the Buffalo Bills were dancing in front of an emptying grandstand"
"""Words of a sealed report, which no team may read before its task is out."""
MORE = """
[[windows]]
id = "read"
title = "Reading in the open"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["reading"]
dataset = ["DEV"]
quota = { count = 2, period = "total" }
feedback = "limited"
kind = "development"
shows = ["f", "precision"]

[[windows]]
id = "blind"
title = "Reading, blind"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = ["reading"]
dataset = ["EVAL1"]
quota = { count = 2, period = "total" }
feedback = "none"
kind = "evaluation"

[[windows]]
id = "later"
title = "Reading, later"
opens = "2018-04-10 00:00"
closes = "2018-04-20 24:00"
tasks = ["reading"]
dataset = ["DEV"]
quota = { count = 2, period = "total" }
feedback = "none"
kind = "evaluation"
"""
"""Rows of the calendar for formal reading."""


def small_package(folder: Path, *, name: str = "nfl-scoring") -> Path:
    """Write the package; gives its folder."""
    root = folder / "package"
    shutil.copytree(NFL, root, ignore=shutil.ignore_patterns("answers", "as-yaml"))
    for part, kept in (("train", TRAIN), ("test", TEST)):
        for path in (root / "corpus" / part).glob("*.txt"):
            if path.stem not in kept:
                path.unlink()
        _keep(root / "corpus" / f"{part}.sha256", lambda line, kept=kept: Path(line.split()[-1]).stem in kept)
        _keep(root / "annotations" / f"{part}.ndjson", lambda line, kept=kept: json.loads(line)["document"] in kept)
    for path in (root / "gold").glob("*.ndjson"):
        _keep(path, lambda line: json.loads(line)["document"] in TEST)
    manifest = root / "package.toml"
    manifest.write_text(manifest.read_text().replace('"nfl-scoring"', f'"{name}"'))
    return root


def _keep(path, wanted):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if wanted(line)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def answers_of(file: str, documents=TEST) -> list[dict]:
    """Lines of an answer file of the example about some documents."""
    lines = (NFL / "answers" / file).read_text(encoding="utf-8").splitlines()
    return [one for one in map(json.loads, lines) if one["document"] in documents]


def ndjson(records) -> bytes:
    """Records as lines."""
    return "".join(json.dumps(one) + "\n" for one in records).encode()
