"""The page on bringing one's own system: its Python file is the example's, and its shell program runs as it says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.markdown_pages import examples, steps

from basanite.sandbox.runner import capability

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "how-to" / "bring-your-own-system.md"


def test_the_module_on_the_page_is_the_file_of_the_example():
    (block,) = [found.text for found in examples(PAGE.read_text()) if found.language == "python"]
    assert block.strip() == (ROOT / "examples/harness/foreign/beta/team_beta.py").read_text().strip()


@pytest.mark.slow
def test_the_shell_program_on_the_page_runs_with_an_empty_path_for_python(tmp_path):
    """Where no sandbox can be made, the same command must be refused; the other branch is not tested there."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    foreign = tmp_path / "examples" / "harness" / "foreign"
    (block,) = [found for found in examples(PAGE.read_text()) if not found.runs and found.language == "console"]
    (step,) = steps(block.text)
    binaries = Path(sys.executable).parent
    given = {"PATH": f"{binaries}{os.pathsep}/usr/bin:/bin", "PYTHONPATH": ""}
    done = subprocess.run(
        ["bash", "-c", step.command], cwd=foreign, env=given, capture_output=True, text=True, check=False, timeout=170
    )
    if capability().possible:
        assert (done.returncode, "Results written to plan-result" in done.stderr) == (0, True), done.stderr
        logs = foreign / "plan-result/logs"
        assert [path for path in logs.iterdir() if "-predict-" in path.name]
    else:
        assert (done.returncode, "No box" in done.stderr) == (2, True)
