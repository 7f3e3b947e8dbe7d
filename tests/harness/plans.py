"""Plans for tests: a small one with two teams, changed as a test needs it, and the data it runs on."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = "tests.harness.small_modules"
RATINGS = ("overall", "food", "ambiance", "service", "noise")

HEAD = """format = "basanite-plan/1"
name = "small"
title = "A small plan"
seed = 7
"""
DIGITS = f"""
[tasks.digits]
data = "digits"
targets = ["0", "8"]
metric = "map11"
n = 300
folds = 3
features = "{HERE}:SCALED"
strong = "{HERE}:STRONG"
"""
ALPHA = f"""
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.digits]
preprocessor = "{HERE}:SCALED"
learner = "{HERE}:COMPONENTS"
linear = "{HERE}:RIDGE"
"""
BETA = f"""
[[teams]]
letter = "b"
name = "Beta"
[teams.systems.digits]
preprocessor = "{HERE}:SCALED"
learner = {{ module = "{HERE}:SEPARATE", parameters = {{ units = 20 }} }}
linear = "{HERE}:MANY"
"""
REVIEWS = f"""
[tasks.reviews]
data = {{ reader = "reviews", path = "reviews.csv" }}
targets = ["overall", "food"]
metric = "mrmse"
n = 90
folds = 3
features = "{HERE}:WORDS"
strong = "{HERE}:STRONG"
"""


def written(folder: Path, text: str = HEAD + DIGITS + ALPHA + BETA, name: str = "plan.toml") -> Path:
    """A plan file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def review_rows(count: int, seed: int = 0) -> list[dict[str, str]]:
    """Reviews whose words tell something about their ratings, each with a word of its own."""
    dice = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        ratings = dice.integers(1, 6, 5)
        mood = ("awful", "bad", "plain", "good", "great")[ratings[0] - 1]
        kitchen = "good food" if ratings[1] > 3 else "slow and noisy"
        text = f"review{number:04} was {mood} and had {kitchen} on that evening"
        row = {"text": text, "restaurant": f"r{number % 7}"}
        rows.append({**row, **{name: str(value) for name, value in zip(RATINGS, ratings, strict=True)}})
    return rows


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    """Rows as CSV with a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
