"""Benchmarks are programs: they find each other in their own folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
