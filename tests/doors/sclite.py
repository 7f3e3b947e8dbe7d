"""sclite of SCTK, where it is installed, as the peer of tests: the counts that it prints, and drawn transcripts."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCLITE = shutil.which("sclite") or "/usr/lib/sctk/bin/sclite"
SUM = re.compile(r"\|\s*Sum\s*\|\s*(\d+)\s+(\d+)\s*\|((?:\s*\d+){6})")
WORDS = list("abcdef")


def sclite() -> str:
    """The program; without it a test is skipped, and fails where CI says that everything has to be there."""
    if not Path(SCLITE).exists():
        if os.environ.get("BASANITE_BROWSER") == "required":
            pytest.fail("sclite is not installed: apt-get install sctk")
        pytest.skip("sclite is not installed: apt-get install sctk")
    return SCLITE


def counted(folder: Path, *options: str) -> dict[str, int]:
    """Utterances, words and edits by their kind, as sclite's raw sums have them."""
    ran = subprocess.run(
        [sclite(), *options, "-o", "rsum", "stdout"], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    found = SUM.search(ran.stdout)
    assert found, ran.stdout + ran.stderr
    hits, substitutions, deletions, insertions, edits, wrong = map(int, found[3].split())
    numbers = {"hits": hits, "substitutions": substitutions, "deletions": deletions, "insertions": insertions}
    return {**numbers, "reference_words": int(found[2]), "utterances": int(found[1]), "edits": edits, "wrong": wrong}


def drawn(rng: random.Random, *, choice: float, optional: float) -> str:
    """One transcript of few words, some with alternatives (two of which may lie inside each other) or optional."""
    parts = []
    for _ in range(rng.randint(1, 9)):
        word = rng.choice(WORDS)
        sign = rng.random()
        if sign < choice:
            ways = [" ".join(rng.choices(WORDS, k=rng.randint(0, 3))) or "@" for _ in range(rng.randint(2, 3))]
            ways[0] += " { a / b c }" if rng.random() < 0.2 else ""
            parts.append(f"{{ {' / '.join(ways)} }}")
        elif sign < choice + optional:
            parts.append(f"({word})")
        else:
            parts.append(word.upper() if rng.random() < 0.1 else word)
    return " ".join(parts)
