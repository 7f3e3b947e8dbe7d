"""The table of speed in the README, from the last record of each benchmark; a test tells when the two differ.

`python -m tools.website.speed` puts it between its two marks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.website.writing import table

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path("benchmarks/results")
PAGE = Path("README.md")
BEGIN, END = "<!-- made by python -m tools.website.speed -->", "<!-- end -->"
HEAD = ("work", "beside", "its time / ours", "goal")


@dataclass(frozen=True, slots=True)
class Shown:
    """A line of the table: which ratio of which benchmark, and what it is about."""

    benchmark: str
    ratio: str
    work: str
    peer: str
    inverse: bool = False
    """Whether the benchmark notes our time over the peer's."""


LINES = (
    Shown("clir", "pandas / us, CPU", "validate and score 19.5 million decisions", "a pandas script"),
    Shown("captions", "peer / us, CPU", "caption metrics of 40,504 images", "pycocoevalcap"),
    Shown("translation", "sacrebleu / us, CPU", "BLEU of 20,000 segments", "sacreBLEU"),
    Shown("translation", "sacrebleu / us, TER, CPU", "TER of 1,000 segments", "sacreBLEU"),
    Shown("paired", "sacrebleu / us, bootstrap, CPU", "10,000 paired draws", "sacreBLEU"),
    Shown("paired", "sacrebleu / us, randomisation, CPU", "10,000 paired swaps", "sacreBLEU"),
    Shown("speech", "jiwer / us from texts, CPU", "word error rate of 100,000 utterances", "jiwer"),
    Shown("parsing", "PYEVALB / us, CPU of reading and scoring", "brackets of 2,416 trees", "PYEVALB"),
    Shown(
        "conllu",
        "plain Python / us, CPU of reading and scoring",
        "CoNLL 2018 values of 2,000 sentences",
        "plain Python",
    ),
    Shown(
        "ranking", "pytrec_eval / us, CPU of evaluating", "ranking of 1,300 queries x 15,000 documents", "pytrec_eval"
    ),
    Shown("agreement", "pairwise / us, CPU", "alpha of 10,000 items x 50 judges", "the pairwise definition"),
    Shown("readability", "plain loop / us, CPU", "10,000 draws of the readability null", "a plain loop"),
    Shown("representation", "scikit-learn / sweep", "silhouette and more of 20,000 rows", "scikit-learn"),
    Shown("reasoner", "rdflib / us, CPU", "nine rules over 100,000 statements, explained", "rdflib, unexplained"),
    Shown(
        "harness", "exact / naive, CPU", "five ratings, eleven runs, ten folds", "a scikit-learn script", inverse=True
    ),
)


def written(text: str) -> str:
    """The page with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(HEAD, [_row(line) for line in LINES])}\n\n{END}{after}"


def _row(line: Shown) -> tuple[str, ...]:
    record = _last(line.benchmark)
    ratio = record["ratios"][line.ratio]
    shown = 1 / ratio if line.inverse else ratio
    return line.work, line.peer, f"{shown:.1f}", "met" if record["met"][line.ratio] else "missed"


def _last(benchmark: str) -> Mapping[str, Any]:
    lines = (ROOT / RESULTS / f"{benchmark}.jsonl").read_text(encoding="utf-8").splitlines()
    last: Mapping[str, Any] = json.loads(lines[-1])
    return last


def main() -> None:
    """Write the table into the page."""
    path = ROOT / PAGE
    path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE} written")


if __name__ == "__main__":
    main()
