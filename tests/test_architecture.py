"""The picture of the architecture says what the imports say."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest
from tools import architecture

SOURCE = architecture.ROOT / "src" / "basanite"
PAGE = architecture.ROOT / "docs" / "explanation" / "architecture.md"


@pytest.fixture(scope="module")
def imports() -> set[tuple[str, str]]:
    """Which folder imports from which."""
    graph = grimp.build_graph("basanite", exclude_type_checking_imports=True, cache_dir=None)
    pairs = {(user, used) for user in graph.modules for used in graph.find_modules_directly_imported_by(user)}
    folders = {(user.split(".")[1], used.split(".")[1]) for user, used in pairs if "." in user and "." in used}
    return {(user, used) for user, used in folders if user != used and user != "__main__"}


def rows() -> dict[str, int]:
    return {name: row for row, band in enumerate(architecture.BANDS) for name in band.folders}


def parts_of(folder: Path) -> set[str]:
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return packages | {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}


def test_every_folder_is_drawn_once():
    drawn = [name for band in architecture.BANDS for name in band.folders]
    assert sorted(drawn) == sorted(parts_of(SOURCE))


def test_every_arrow_is_an_import(imports):
    arrows = {(user, used) for user, names in architecture.USES.items() for used in names}
    assert arrows <= imports


def test_no_import_goes_upwards_in_the_picture(imports):
    row = rows()
    assert [pair for pair in sorted(imports) if row[pair[0]] > row[pair[1]]] == []


def test_the_picture_is_the_one_that_its_table_draws():
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.drawn(), (
        "Draw it again: python -m tools.architecture"
    )


def test_the_page_tells_what_every_folder_is_for():
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in sorted(rows()) if f"`{name}`" not in page.split("## The folders")[1]] == []
