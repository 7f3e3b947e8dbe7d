"""Every key that a plan may have is on the page about plans."""

import re
from pathlib import Path

import pytest

from basanite.harness.data.loading import READERS
from basanite.harness.plan import reading

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "plan.md"
KEYS = {name: getattr(reading, name) for name in dir(reading) if name.endswith("_KEYS")}


@pytest.mark.parametrize("name", sorted(KEYS))
def test_every_key_of_a_plan_is_documented(name):
    told = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(encoding="utf-8"), re.M))
    assert set(KEYS[name]) - told - {"steps"} == set()


def test_every_reader_is_documented():
    text = PAGE.read_text(encoding="utf-8")
    assert [reader for reader in READERS if f'"{reader}"' not in text] == []
