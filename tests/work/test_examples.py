"""The example files: a scheme for every preset, all in order, and made files as their generator writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.synthetic.judging_examples import example_files

from basanite.work.scheme import PRESETS, read_scheme

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCHEMES = sorted((EXAMPLES / "judging" / "schemes").glob("*.toml"))


@pytest.mark.parametrize("path", SCHEMES, ids=lambda path: path.stem)
def test_every_example_scheme_is_in_order(path):
    scheme, problems = read_scheme(path.read_text(encoding="utf-8"), path.name)
    assert problems == ()
    assert scheme is not None


def test_there_is_an_example_for_every_preset_and_one_without():
    found = {read_scheme(path.read_text(encoding="utf-8"))[0].preset for path in SCHEMES}
    assert found == {*PRESETS, ""}


@pytest.mark.parametrize("name", sorted(example_files()))
def test_made_files_are_as_their_generator_writes_them(name):
    assert (EXAMPLES / name).read_bytes() == example_files()[name].encode()
