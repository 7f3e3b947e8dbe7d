"""The check of the repository finds what it is there to find, and nothing in a clean tree."""

import pytest
from tools import check_repository
from tools.check_repository import KILOBYTE, Tree

CLEAN = {
    "pyproject.toml": '[project]\nname = "x"\n[project.scripts]\nx = "json:dumps"\n',
    "docs/conformance.toml": '[M01]\nline = "x"\nproof = "test"\n',
    "src/x/scores.py": "# see https://example.org/home/page and /usr/share/x\n",
}


@pytest.fixture
def tree(tmp_path):
    for name, text in CLEAN.items():
        put(tmp_path, name, text)
    return tmp_path


def put(root, name, content):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_a_clean_tree_has_no_complaints(tree):
    assert check_repository.complaints(tree) == []
    assert check_repository.main([str(tree)]) == 0


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("src/x/utils.py", "", "says nothing"),
        ("src/helpers/scores.py", "", "says nothing"),
        ("data.bin", b"\0" * (301 * KILOBYTE), "the limit is 300 KB"),
        ("docs/images/page.png", b"\0" * (501 * KILOBYTE), "the limit is 500 KB"),
        ("notes.md", "look in /" + "home/someone/x", "notes.md:1: a path of one machine"),
        ("notes.md", "\nsee .." + "/shared/x", "notes.md:2: a path outside"),
        ("setup.cfg", "https:/" + "/nexus.here/simple", "host of a package index"),
        ("docs/conformance.toml", "[M01]\n", "needs a line"),
        ("docs/conformance.toml", "[M01\n", "conformance.toml"),
        ("pyproject.toml", '[project.scripts]\nx = "json:nothing"\n', "nothing"),
        ("pyproject.toml", '[project.entry-points."x.tasks"]\ny = "no_such_module:T"\n', "no_such_module"),
    ],
)
def test_what_is_out_of_order_is_named(tree, name, content, complaint):
    put(tree, name, content)
    found = check_repository.complaints(tree)
    assert len(found) == 1
    assert complaint in found[0]
    assert check_repository.main([str(tree)]) == 1


def test_pictures_may_be_larger_and_examples_are_limited_together(tree):
    put(tree, "docs/images/page.png", b"\0" * (450 * KILOBYTE))
    assert check_repository.complaints(tree) == []
    for number in range(11):
        put(tree, f"examples/{number}.bin", b"\0" * (290 * KILOBYTE))
    assert list(check_repository.files_too_big(Tree(tree))) == ["examples: 3190 KB together, the limit is 3072 KB"]
