"""A small package of match reports, and a project of it in an office."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.offices.engines import copied_office

from basanite.testing import SetClock, small_office

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def matches(tmp_path_factory):
    """The package as a folder."""
    from annotating_stage import write_package

    return write_package(tmp_path_factory.mktemp("package") / "matches")


@pytest.fixture
def stage(office, matches):
    """A project on both databases."""
    from annotating_stage import staged

    return staged(office, matches)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory, matches):
    """A project on SQLite that others begin as a copy of."""
    from annotating_stage import staged

    folder = tmp_path_factory.mktemp("prepared")
    office = small_office(folder, SetClock())
    made = staged(office, matches)
    office.close()
    return folder / "data", made


@pytest.fixture
def small_stage(tmp_path, clock, prepared):
    """A project on SQLite alone."""
    folder, made = prepared
    office = copied_office(folder, tmp_path, clock)
    yield replace(made, office=office)
    office.close()
