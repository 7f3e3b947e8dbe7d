"""Do corrected values of a biased judge have intervals that are true, and no wider than people alone? (L-6, S-25)

A simulated evaluation has 500 items that a judge graded, of which people judged some; it is written as the files of
the task `judged` and scored by `basanite.score`. Three judges: lenient (calls most wrong answers right), led by length
(hardly looks at what is right), and blind (knows nothing). Beside simple samples there are cells with strata and with
clusters. Written for each cell: the share of intervals that contain the true value, for the corrected value, for people
alone and for the judge alone, and the mean width beside Student's interval of the people's answers.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import basanite
from coverage import GOAL, LEVEL, SURE, fails

RESULTS = Path(__file__).parent / "results" / "judged.json"
ITEMS, IN_CLUSTER = 500, 5
TRUTH = 0.65
JUDGES = ("lenient", "length", "blind")
LABELS = (50, 100, 300)
WIDEST = 1.02
NAMES = ("corrected", "people_alone", "judge_alone")


@dataclass(frozen=True)
class Cell:
    """A judge, so many items that people judged, and how these were drawn."""

    judge: str
    labels: int
    design: str = "simple"


CELLS = (
    *(Cell(judge, labels) for judge in JUDGES for labels in LABELS),
    *(Cell(judge, 100, design) for judge in ("lenient", "length") for design in ("strata", "clusters")),
)


def world(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether each answer is right, what the judge says, and the stratum; the chance of a right answer is 0.65."""
    size = ITEMS // IN_CLUSTER if cell.design == "clusters" else ITEMS
    ease = np.resize(np.repeat(rng.random(size), ITEMS // size), ITEMS)
    right = (rng.random(ITEMS) < 0.35 + 0.6 * ease).astype(float)
    if cell.judge == "lenient":
        judge = (rng.random(ITEMS) < np.where(right == 1, 0.95, 0.55)).astype(float)
    elif cell.judge == "length":
        judge = np.clip(0.3 * right + 0.6 * rng.random(ITEMS) + 0.1 * rng.random(ITEMS), 0, 1)
    else:
        judge = (rng.random(ITEMS) < 0.7).astype(float)
    stratum = (ease > 0.7).astype(int) if cell.design == "strata" else np.zeros(ITEMS, int)
    return right, judge, stratum


def drawn_items(cell: Cell, stratum: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The items that people judge: half from each stratum where there are two."""
    if cell.design != "strata":
        return rng.choice(ITEMS, cell.labels, replace=False)
    parts = [np.flatnonzero(stratum == one) for one in (0, 1)]
    return np.concatenate([rng.choice(part, cell.labels // 2, replace=False) for part in parts])


def evaluation(cell: Cell, number: int, seed: int) -> dict[str, Any]:
    """One simulated evaluation from files to intervals."""
    rng = np.random.default_rng([seed, number, cell.labels, *map(ord, cell.judge + cell.design)])
    right, judge, stratum = world(cell, rng)
    drawn = np.isin(np.arange(ITEMS), drawn_items(cell, stratum, rng))
    with tempfile.TemporaryDirectory() as folder:
        reference, submission = Path(folder) / "calibration.jsonl", Path(folder) / "answers.jsonl"
        lines = [{"format": "basanite-calibration/1", "license": {"model": cell.judge}}]
        for at in range(ITEMS):
            line = {"id": f"q{at:04d}", "text_sha256": sha256(str(at).encode()).hexdigest(), "judge": judge[at]}
            line |= {"drawn": bool(drawn[at]), "stratum": str(stratum[at])}
            line |= {"people": right[at]} if drawn[at] else {}
            lines.append(line | ({"cluster": f"c{at // IN_CLUSTER}"} if cell.design == "clusters" else {}))
        reference.write_text("".join(json.dumps(line) + "\n" for line in lines))
        submission.write_text("".join(f'{{"id": "q{at:04d}", "text": "{at}"}}\n' for at in range(ITEMS)))
        # no interval of this task is made of draws, so one will do
        found = basanite.score("judged", reference=reference, submission=submission, draws=1).values
    said = right[drawn]
    alone = 2 * float(student.ppf(0.975, len(said) - 1) * said.std(ddof=1) / len(said) ** 0.5)
    return {
        **{name: (found[name].value, found[name].low, found[name].high) for name in NAMES},
        "student": alone,
    }


def measure(cell: Cell, evaluations: int, seed: int) -> dict[str, Any]:
    """The line of a cell."""
    found = [evaluation(cell, number, seed) for number in range(evaluations)]
    line: dict[str, Any] = {
        "judge": cell.judge,
        "labels": cell.labels,
        "design": cell.design,
        "evaluations": evaluations,
    }
    for name in NAMES:
        inside = sum(low <= TRUTH <= high for _, low, high in (one[name] for one in found))
        line[f"{name}_coverage"] = round(inside / evaluations, 4)
    width = {name: float(np.mean([one[name][2] - one[name][1] for one in found])) for name in NAMES}
    line["bias_of_judge"] = round(float(np.mean([one["judge_alone"][0] for one in found])) - TRUTH, 4)
    line["bias"] = round(float(np.mean([one["corrected"][0] for one in found])) - TRUTH, 4)
    line["width_to_people_alone"] = round(width["corrected"] / width["people_alone"], 4)
    if cell.design == "simple":
        line["width_to_student"] = round(width["corrected"] / float(np.mean([one["student"] for one in found])), 4)
    missed = fails({"coverage": line["corrected_coverage"], "intervals": evaluations})
    line["missed"] = [*([missed] if missed else []), *(["width"] if line["width_to_people_alone"] > WIDEST else [])]
    return line


def told(line: dict[str, Any]) -> str:
    """A line as people read it."""
    shares = " ".join(f"{name} {100 * line[f'{name}_coverage']:.1f} %" for name in NAMES)
    width = f"width {line['width_to_people_alone']:.3f} of people alone"
    return f"{line['judge']:8} {line['labels']:4} {line['design']:9} {shares}, {width} {' '.join(line['missed'])}"


def measured(cells: Sequence[Cell], evaluations: int, seed: int, workers: int) -> Iterator[dict[str, Any]]:
    """The lines of all cells, each as it is measured."""
    with ProcessPoolExecutor(workers) as pool:
        count = len(cells)
        for line in pool.map(measure, cells, [evaluations] * count, [seed] * count):
            print(told(line), flush=True)
            yield line


def main() -> None:
    """Measure all cells and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    lines = list(measured(CELLS, given.evaluations, given.seed, given.workers))
    about = {"evaluations": given.evaluations, "level": LEVEL, "goal": GOAL, "sure": SURE, "widest": WIDEST}
    given.out.write_text(json.dumps({**about, "items": ITEMS, "lines": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
