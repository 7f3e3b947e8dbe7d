import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import examples

from basanite.reports import Report, analysis_report, validation_report
from basanite.reports.comparison import comparison_report


@pytest.fixture(scope="session")
def score() -> Report:
    return analysis_report(examples.analysis(), (*examples.figures(), examples.points_chart()))


@pytest.fixture(scope="session")
def compare() -> Report:
    return comparison_report(examples.comparison())


@pytest.fixture(scope="session")
def hostile() -> dict[str, Report]:
    name = examples.HOSTILE
    return {
        "score": analysis_report(examples.hostile_analysis(), (examples.hostile_chart(), examples.excerpts(name))),
        "compare": comparison_report(examples.comparison((name, "Umber", "Sienna"))),
        "validate": validation_report(examples.findings(), "clir"),
    }
