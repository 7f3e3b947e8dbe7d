"""Shells complete what can be typed, by asking the program, and get their answer without loading what computes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from tests.cli.running import here, plain

from basanite import registry
from basanite.campaign.actions.registry import ACTIONS
from basanite.cli import app
from basanite.cli.admin.commands import ActionGroup
from basanite.cli.groups import COMMANDS
from basanite.cli.installation import SETUP

pytestmark = pytest.mark.req("P-3")

PROGRAM = Path(sys.executable).with_name("basanite")
HEAVY = ("numpy", "scipy", "polars", "rich", "jinja2", "fastapi", "sqlalchemy", "torch", "sklearn")
ASK = """
offered() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _basanite_completion basanite
  echo "${COMPREPLY[*]}"; }
"""
LOADED = """
import sys
from basanite.cli import main
try:
    main()
except SystemExit:
    print("LOADED", *sorted(set({heavy}) & set(sys.modules)))
"""


def offered(*lines):
    """What bash offers at the end of each line, once it has the script."""
    questions = "\n".join(f"offered {line}" for line in lines)
    script = f'eval "$(basanite completion bash)"\n{ASK}\n{questions}\n'
    found = {**plain(), "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "-c", script], env=found, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]


def asked(words, shell="bash"):
    """What the program answers a shell, and what it has loaded for that."""
    place = "" if shell == "fish" else str(len(words.split()))  # fish tells the word, others its place
    given = {"COMP_WORDS": words, "COMP_CWORD": place, "_BASANITE_COMPLETE": f"{shell}_complete"}
    command = [sys.executable, "-c", f"import sys; sys.argv = ['basanite']\n{LOADED.format(heavy=HEAVY)}"]
    done = subprocess.run(command, env=plain() | given, capture_output=True, text=True, timeout=120, check=True)
    *answers, last = done.stdout.splitlines()
    assert (last.split()[0], done.stderr) == ("LOADED", "")
    return answers, last.split()[1:]


def test_bash_completes_commands_their_parts_options_and_tasks():
    found = offered(
        "basanite ''", "basanite sc", "basanite admin te", "basanite score cl", "basanite score clir --subm"
    )
    every, start, team, tasks, option = found
    assert every == list(COMMANDS)
    assert start == ["score"]
    assert team == ["team"]
    assert tasks == [name for name in registry.names("tasks") if name.startswith("cl")] != []
    assert option == ["--submission"]


def test_after_a_mistyped_command_commands_are_offered_and_no_message_breaks_into_the_line():
    assert offered("basanite scor ''", "basanite score clir --metric aqwv_r") == [list(COMMANDS), ["aqwv_relevant"]]


@pytest.mark.parametrize("words", ["basanite ", "basanite admin ", "basanite harness ", "basanite reading "])
def test_completing_a_command_loads_nothing_heavy(words):
    answers, loaded = asked(words)
    assert len(answers) > 3
    assert loaded == []


@pytest.mark.parametrize("words", ["basanite score ", "basanite admin team ", "basanite serve "])
def test_completing_inside_a_command_loads_neither_models_nor_the_server(words):
    _, loaded = asked(words)
    assert set(loaded) <= {"numpy", "rich"}


def test_groups_of_actions_have_the_parts_that_actions_declare():
    admin = app.get_command(click.Context(app), "admin")
    groups = [admin.get_command(click.Context(admin), name) for name in admin.list_commands(click.Context(admin))]
    made = {group.name: set(group.parts) for group in groups if isinstance(group, ActionGroup)}
    for group in groups:
        if isinstance(group, ActionGroup):
            import_module(f"basanite.campaign.actions.{group.module}")
    declared = {
        name: {one.name.partition(" ")[2] for one in ACTIONS.values() if one.name.startswith(f"{name} ")}
        for name in made
    }
    assert made == declared


def test_zsh_and_fish_are_told_what_a_command_is_for():
    for shell in ("zsh", "fish"):
        answers, _ = asked("basanite ", shell)
        assert any(COMMANDS["score"].partition(",")[0] in line for line in answers)


@pytest.mark.parametrize("shell", SETUP)
def test_the_script_of_a_shell_asks_the_program(shell):
    ended = here("completion", shell)
    assert ended.code == 0
    assert f"_BASANITE_COMPLETE={shell}_complete" in ended.stdout
    assert here("completion", shell, "--json").data["script"] == ended.stdout


@pytest.mark.parametrize("shell", SETUP)
def test_the_help_tells_what_to_type_once(shell):
    assert f"  {SETUP[shell]}\n" in here("completion", "--help").stdout


def test_a_shell_that_we_do_not_know_is_misuse():
    ended = here("completion", "csh")
    assert (ended.code, "'bash', 'zsh', 'fish'" in ended.stderr) == (2, True)
