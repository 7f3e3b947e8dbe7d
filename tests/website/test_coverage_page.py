"""The page of measured coverage holds the figures of the files, and none that nobody measured."""

from __future__ import annotations

from tests.website.conftest import ROOT
from tools.website.coverage import BEGIN, PAGE, records, tables, written

RUN = "python -m tools.website.coverage"


def test_page_and_files_agree():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert text == written(text, *records(ROOT)), f"the figures have changed: {RUN}"


def test_another_figure_is_noticed():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    record, alarms = records(ROOT)
    record["lines"][0]["coverage"] = 0.1234
    assert "**12.3**" in written(text, record, alarms)
    assert text != written(text, record, alarms)


def test_what_was_not_measured_is_a_dash():
    line = {"family": "f", "metric": "m", "units": 30, "clusters": False, "coverage": None, "intervals": 0}
    line |= {"campaigns": 100, "method": "", "truth": 0.5, "above": 0, "below": 0}
    record = {"campaigns": 100, "level": 0.95, "goal": [0.93, 0.97], "sure": 0.99, "lines": [line]}
    alarms = {"campaigns": 100, "alpha": 0.05, "lines": []}
    assert "| `m` |  | – | 100.0 | – |" in tables(record, alarms)
    assert written(f"a\n{BEGIN}\nold\n<!-- end -->\nb", record, alarms).endswith("<!-- end -->\nb")
