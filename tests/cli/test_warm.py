"""A forked command ends as one in a new interpreter does: the same code, the same bytes, nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import EXAMPLE, Ended, forked, plain, warm_commands

SCORE = ("score", "clir", "--reference", "key", "--submission")


@pytest.mark.parametrize("words", [("--version",), ("scroe",), (*SCORE, "Alpha.tgz", "--json"), (*SCORE, "No.tgz")])
def test_code_output_and_errors_are_those_of_the_installed_command(words):
    command = [Path(sys.executable).with_name("basanite"), *words]
    alone = subprocess.run(command, cwd=EXAMPLE, env=plain(), capture_output=True, text=True, check=False, timeout=60)
    assert forked(*words, cwd=EXAMPLE) == Ended(alone.returncode, alone.stdout, alone.stderr)


def test_a_shell_has_code_and_output_and_may_read_a_part(tmp_path):
    script = f"{warm_commands()}/basanite --help | head -n 1; {warm_commands()}/basanite scroe 2> said; echo $?"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[0].startswith("Usage:")
    assert done.stdout.splitlines()[-1] == "2"
    assert "There is no command 'scroe'" in (tmp_path / "said").read_text()
