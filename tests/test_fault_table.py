"""The table of faults: gathered by pytest, also from several processes, and put into the page without going stale."""

import json
import os
import subprocess
import sys

import pytest
from tools.fault_table import (
    BEGIN,
    END,
    PAGE,
    RECORD,
    TESTS,
    Seen,
    keep,
    kept,
    main,
    named_in,
    names_on,
    table,
    written,
)

FIRST = """
import pytest

@pytest.mark.fault("a plug pulled")
def test_one(fault):
    fault(done="pulled", became="2 scored", seconds=1.26)

@pytest.mark.fault("two at once", "and another")
def test_two(fault):
    fault("and another", done="that", became="1 scored", seconds=2)
    fault("two at once", done="this", became="1 failed", seconds=3)
"""
SECOND = """
import pytest

@pytest.mark.fault("no way to do it here")
def test_three(fault):
    pytest.skip("the program `ip` is not there")

@pytest.mark.fault("goes wrong")
def test_four(fault):
    fault(done="x", became="y", seconds=4)
    assert False
"""


@pytest.fixture
def checkout(tmp_path):
    """Another checkout, with a page and two files of tests."""
    for path in (tmp_path / TESTS, (tmp_path / PAGE).parent):
        path.mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / TESTS / "test_first.py").write_text(FIRST)
    (tmp_path / PAGE).write_text(f"# Page\n\n{BEGIN}\n\nold\n\n{END}\n\nThe end.\n")
    return tmp_path


def run_tests(root, repository):
    (root / TESTS / "test_second.py").write_text(SECOND)
    command = [sys.executable, "-m", "pytest", "-p", "tools.fault_table", "-p", "xdist.plugin"]
    environment = {**os.environ, "PYTHONPATH": str(repository), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", "."],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    (root / TESTS / "test_second.py").unlink()
    return ended.stdout


def test_faults_are_gathered_from_all_processes_and_kept_beside_earlier_ones(checkout, repository):
    keep(checkout / RECORD, {"measured before": Seen("a", "b", 1.0), "a plug pulled": Seen("old", "old", 9.0)})
    printed = run_tests(checkout, repository)
    assert set(kept(checkout / RECORD)) == {"a plug pulled", "two at once", "and another", "measured before"}
    assert kept(checkout / RECORD)["a plug pulled"] == Seen("pulled", "2 scored", 1.3)
    assert "a plug pulled (1.3 s)\n    pulled\n    -> 2 scored" in printed
    assert "no way to do it here: not seen, Skipped: the program `ip` is not there" in printed
    assert "goes wrong: not seen, the test failed" in printed


def test_the_table_takes_the_place_of_the_old_one(checkout):
    seen = {name: Seen("done", "became", 2.0) for name in ("a plug pulled", "two at once", "and another", "gone")}
    keep(checkout / RECORD, seen)
    assert main(checkout) == 0
    page = (checkout / PAGE).read_text()
    assert names_on(page) == ["a plug pulled", "two at once", "and another"]
    assert page.startswith("# Page\n\n")
    assert page.endswith(f"{END}\n\nThe end.\n")
    assert "old" not in page
    assert written(page, table(["gone"], seen)).count(BEGIN) == 1


def test_no_table_is_written_while_a_fault_was_never_measured(checkout, capsys):
    (checkout / "build").mkdir()
    (checkout / RECORD).write_text(json.dumps({}))
    before = (checkout / PAGE).read_text()
    assert main(checkout) == 1
    assert "a plug pulled" in capsys.readouterr().err
    assert (checkout / PAGE).read_text() == before


def test_the_page_tells_of_exactly_the_faults_that_tests_make(repository):
    made, told = named_in(repository / TESTS), names_on((repository / PAGE).read_text(encoding="utf-8"))
    assert len(set(made)) == len(made)
    assert told == made, "run `make test-all`, then `python -m tools.fault_table`"
