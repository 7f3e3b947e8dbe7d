"""Some cases of a test run in `make test`, all of them in `make test-all`: none is lost on the way."""

import os
import subprocess
import sys

import pytest

TESTS = """
import pytest

@pytest.mark.few(3)
@pytest.mark.parametrize("number", range(9))
def test_some(number): pass

@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", ["a", "b"])
def test_drawn(metric, seed): pass

@pytest.mark.parametrize("number", range(4))
def test_all(number): pass
"""


@pytest.mark.parametrize(("marks", "run"), [("not slow", "11 passed, 12 deselected"), ("", "23 passed")])
def test_cases_that_are_left_out_run_where_slow_tests_run(tmp_path, repository, marks, run):
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  few\n  slow\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.few_cases", "-p", "no:cacheprovider", "-m", marks]
    environment = {**os.environ, "PYTHONPATH": str(repository), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    assert run in done.stdout, done.stdout + done.stderr
