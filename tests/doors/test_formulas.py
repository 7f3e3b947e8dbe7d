"""Names that a team or a file chose, in what spreadsheets open: none becomes a formula (X-33)."""

from __future__ import annotations

import io
import shutil
import zipfile

import pytest
from tests.cli.running import ROOT, here

NAMES = ("=cmd|calc!A0", "{=1+1}", "external:c", "+1+1")


def parts(deck, ending):
    """The parts of the workbooks inside a presentation."""
    with zipfile.ZipFile(deck) as slides:
        books = [slides.read(name) for name in slides.namelist() if name.endswith(".xlsx")]
    for book in books:
        with zipfile.ZipFile(io.BytesIO(book)) as sheets:
            yield from (sheets.read(name).decode() for name in sheets.namelist() if name.endswith(ending))


@pytest.mark.req("X-33")
def test_names_of_systems_and_classes_are_no_formulas_in_the_workbooks_of_a_presentation(tmp_path):
    example = ROOT / "examples" / "classification"
    for name in NAMES:
        shutil.copy(example / "Alpha.csv", tmp_path / f"{name}.csv")
    words = [word for name in NAMES for word in ("--submission", tmp_path / f"{name}.csv")]
    deck = tmp_path / "slides.pptx"
    ended = here("compare", "classification", "--reference", example / "key.csv", *words, "--report", deck)
    assert ended.code == 0, ended.stderr
    sheets, texts = list(parts(deck, "sheet1.xml")), "".join(parts(deck, "sharedStrings.xml"))
    assert sheets
    assert not [sheet for sheet in sheets if "<f>" in sheet or "<f " in sheet or "<hyperlink" in sheet]
    assert all(f"'{name}" in texts for name in NAMES), texts
