"""The README's table of speed holds what the benchmarks wrote down last."""

from __future__ import annotations

from tests.website.conftest import ROOT
from tools.website.speed import BEGIN, END, LINES, PAGE, written


def test_page_and_records_agree():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert text == written(text), "the figures have changed: python -m tools.website.speed"


def test_every_line_has_a_ratio_and_says_whether_its_goal_was_met():
    lines = [line for line in written(f"{BEGIN}\n{END}").splitlines() if line.startswith("| ")][1:]
    assert len(lines) == len(LINES)
    assert {line.split(" | ")[3].rstrip(" |") for line in lines} <= {"met", "missed"}
    assert all(float(line.split(" | ")[2]) > 0 for line in lines)
