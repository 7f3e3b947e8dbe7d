"""Every key that a plan may have is on the page about plans."""

import re
from pathlib import Path

import pytest

from basanite.formats.config_file import Section, section_entries
from basanite.harness import plan
from basanite.harness.data.tables import READERS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "plan.md"
SECTIONS = {
    name: kind
    for name, kind in vars(plan).items()
    if isinstance(kind, type) and issubclass(kind, Section) and kind is not Section
}


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_every_key_of_a_plan_is_documented(name):
    told = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(encoding="utf-8"), re.M))
    assert {entry.key for entry in section_entries(SECTIONS[name]) if entry.may_be_written} - told == set()


def test_every_reader_is_documented():
    text = PAGE.read_text(encoding="utf-8")
    assert [reader for reader in READERS if f'"{reader}"' not in text] == []
