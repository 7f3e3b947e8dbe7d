"""The page of measured coverage holds the figures of the file, and none that nobody measured."""

from __future__ import annotations

import json

from tests.website.conftest import ROOT
from tools.website.coverage import BEGIN, PAGE, RECORD, tables, written

RUN = "python -m tools.website.coverage"


def test_page_and_file_agree():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    record = json.loads((ROOT / RECORD).read_text(encoding="utf-8"))
    assert text == written(text, record), f"the figures have changed: {RUN}"


def test_another_figure_is_noticed():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    record = json.loads((ROOT / RECORD).read_text(encoding="utf-8"))
    record["lines"][0]["coverage"] = 0.1234
    assert "12.3" in written(text, record)
    assert text != written(text, record)


def test_what_was_not_measured_is_a_dash():
    line = {"family": "f", "metric": "m", "units": 15, "coverage": None, "no_interval": 1.0, "false_alarms": 0.05}
    record = {"campaigns": 200, "interval": "percentile", "level": 0.95, "alpha": 0.05, "lines": [line]}
    assert "| `m` | – | 5.0 | 100.0 |" in tables(record)
    assert written(f"a\n{BEGIN}\nold\n<!-- end -->\nb", record).endswith("<!-- end -->\nb")
