"""Modules under their old names are the modules under their new ones."""

import sys
from importlib import import_module

import pytest

from basanite.moved import NEW_NAMES


@pytest.mark.parametrize("old", sorted(set(NEW_NAMES) - {"basanite.backends.torch"}))
def test_an_old_name_gives_the_module_itself(old):
    new = import_module(NEW_NAMES[old])
    spec = new.__spec__
    assert import_module(old) is new
    assert new.__spec__ is spec
    assert sys.modules[NEW_NAMES[old]] is new


def test_what_is_imported_by_an_old_name_is_the_same_class():
    from basanite.representation.measures.results import Classes

    assert import_module("basanite.metrics.representation.classes").Classes is Classes


def test_no_file_stands_under_an_old_name():
    from pathlib import Path

    import basanite

    root = Path(basanite.__file__).parent.parent
    assert [old for old in NEW_NAMES if (root / (old.replace(".", "/") + ".py")).exists()] == []
