"""What `basanite harness` leaves behind, read as any other program would read it: JSON, JSON lines and NumPy files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from tests.cli.running import Ended, here

HEAD = """format = "basanite-plan/1"
name = "door"
title = "Through the door"
seed = 7
"""


@dataclass(frozen=True)
class Result:
    """A result folder, and how the command that wrote it ended."""

    path: Path
    ended: Ended

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What was run."""
        return self.json("manifest.json")

    @cached_property
    def scores(self) -> list[dict[str, Any]]:
        """Every value of every run, fold and target."""
        return [json.loads(line) for line in (self.path / "scores.jsonl").read_text("utf-8").splitlines()]

    @property
    def states(self) -> dict[str, str]:
        """How each run ended; the floor ends well in every result."""
        found = {entry["run"]: entry["state"] for entry in self.json("status.json")["runs"]}
        assert found.pop("0") == "done"
        return found

    @property
    def reasons(self) -> dict[str, str]:
        """Why each run ended so."""
        return {entry["run"]: entry["reason"] for entry in self.json("status.json")["runs"]}

    def json(self, name: str) -> Any:
        """A JSON file of the folder."""
        return json.loads((self.path / name).read_text("utf-8"))

    def split(self, task: str, name: str = "shared") -> dict[str, np.ndarray]:
        """The rows of each set of a split."""
        with np.load(self.path / "splits" / task / f"{name}.npz") as held:
            return {key: held[key] for key in held.files}

    def folds(self, task: str, name: str = "shared") -> list[np.ndarray]:
        """The rows of each fold, in the order in which they were dealt."""
        split = self.split(task, name)
        return [split[key] for key in sorted(split) if key.startswith("fold_")]

    def seen(self, task: str, name: str = "shared") -> np.ndarray:
        """The rows that may be learned from."""
        return np.concatenate([*self.folds(task, name), self.split(task, name)["validation"]])

    def predictions(self, task: str, run: str, target: str) -> np.ndarray:
        """The scores of every test row by each fold's classifier."""
        return np.load(self.path / "predictions" / task / run / f"{target}.npy")

    def truth(self, task: str, target: str) -> np.ndarray:
        """The truth of the test rows."""
        return np.load(self.path / "truth" / task / f"{target}.npy")

    def values(self, run: str, target: str) -> list[float | None]:
        """The value of each fold."""
        return [one["value"] for one in self.scores if (one["run"], one["target"]) == (run, target)]

    def chosen(self, run: str, target: str) -> list[dict[str, Any]]:
        """The parameters that were chosen for each fold."""
        return [one["chosen"] for one in self.scores if (one["run"], one["target"]) == (run, target)]

    def flags(self, run: str, target: str) -> list[list[str]]:
        """What stands beside the value of each fold."""
        return [one["flags"] for one in self.scores if (one["run"], one["target"]) == (run, target)]

    def analysis(self, *words: str, task: str) -> dict[str, Any]:
        """What `harness analyse` says of a task."""
        return here("harness", "analyse", self.path, "--draws", "200", "--json", *words).data["tasks"][task]


def run_plan(folder: Path, text: str, *words: str, out: str = "result", code: int = 0) -> Result:
    """Run a plan with this text by the command; files that it names lie in the folder."""
    (plan := folder / "plan.toml").write_text(text, encoding="utf-8")
    ended = here("harness", "run", plan, "--out", folder / out, "--json", *words)
    assert ended.code == code, ended.stderr + ended.stdout
    return Result(folder / out, ended)


def refused(folder: Path, text: str) -> Ended:
    """How a plan ends that must not run: with problems on the way out, and without a result."""
    (plan := folder / "plan.toml").write_text(text, encoding="utf-8")
    ended = here("harness", "run", plan, "--out", folder / "refused")
    assert ended.code in (1, 2)
    assert not (folder / "refused" / "manifest.json").exists()
    assert "Traceback" not in ended.stderr
    return ended


def average_precision(truth: np.ndarray, scores: np.ndarray, *, interpolated: bool = True) -> float:
    """By the definition: equal scores form one step; the best precision at each tenth of recall, or at each hit."""
    levels = sorted(set(scores.tolist()), reverse=True)
    steps = [(int((truth[scores >= level] > 0).sum()), int((scores >= level).sum())) for level in levels]
    total = int((truth > 0).sum())
    if interpolated:
        best = [max(hits / count for hits, count in steps if 10 * hits >= tenth * total) for tenth in range(11)]
        return sum(best) / 11
    before = [0, *(hits for hits, _ in steps)]
    return sum((hits - old) / total * hits / count for (hits, count), old in zip(steps, before, strict=False))


def rmse(truth: np.ndarray, scores: np.ndarray) -> float:
    """Of ratings from 1 to 5."""
    return float(np.sqrt(np.mean((np.clip(scores, 1, 5) - truth) ** 2)))
