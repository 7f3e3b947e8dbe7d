"""The container file: instructions that there are, files that exist, no root at run time, and a command that starts."""

import json
import re

import pytest
from tests.cli.running import ROOT, here

FILE = ROOT / "deploy" / "compose" / "Containerfile"
KNOWN = {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "USER", "CMD"}


@pytest.fixture(scope="module")
def steps():
    """Each instruction with the rest of its line, lines that go on joined."""
    lines = [line for line in FILE.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [tuple(line.split(" ", 1)) for line in joined]


def of(steps, name):
    return [rest for instruction, rest in steps if instruction == name]


def test_every_instruction_is_known_and_what_is_copied_exists(steps):
    assert {name for name, _ in steps} <= KNOWN
    assert all((ROOT / rest.split()[0]).exists() for rest in of(steps, "COPY"))


def test_what_is_installed_is_listed_with_hashes(steps):
    named = re.findall(r"requirements/(\w+)\.txt", " ".join(of(steps, "RUN")))
    assert {"build", "server", "s3", "measure"} <= set(named)
    assert all((ROOT / "requirements" / f"{name}.txt").is_file() for name in named)


@pytest.mark.req("Y-5")
def test_it_runs_the_server_as_a_user_of_its_own(steps):
    last = [name for name, _ in steps].index("USER")
    assert of(steps, "USER") == ["basanite"]
    assert "RUN" not in {name for name, _ in steps[last:]}
    (command,) = map(json.loads, of(steps, "CMD"))
    assert here(command[1], "--help").code == 0
    shown = here(command[1], "--help").stdout
    assert all(word in shown for word in command if word.startswith("--"))
