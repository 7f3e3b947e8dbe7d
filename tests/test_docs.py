"""Every page of the documentation: its links lead somewhere, and its examples do what the page says.

Python blocks of a page share one namespace; console blocks run line by line and what follows a command is compared with
its output (`...` stands for anything). All run in one folder of the page's own, with the examples at hand. A block
below the comment `<!-- not run -->` is left alone, and so is every `make` command.
"""

import doctest
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import warm_commands
from tools.markdown_pages import broken_links, examples, pages, steps

ROOT = Path(__file__).resolve().parent.parent
PAGES = [page.relative_to(ROOT).as_posix() for page in pages(ROOT)]
CONSOLE = {"console", "bash"}
COMMAND_LIMIT = 120
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A fresh folder to stand in, with a copy of the examples."""
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name):
    assert broken_links(ROOT / name) == []


@pytest.mark.parametrize("name", PAGES)
def test_examples_of_a_page_do_what_it_says(name, folder):
    namespace = {"__name__": "__main__"}
    for example in examples((ROOT / name).read_text(encoding="utf-8")):
        place = f"{name}:{example.line}"
        if not example.runs:
            continue
        if example.language == "python":
            run_python(example.text, namespace, place=place)
        elif example.language in CONSOLE:
            run_console(example.text, folder, place=place)


def run_python(text, namespace, *, place):
    """Run a block, as a doctest if it is written as a session."""
    if ">>> " not in text:
        exec(compile(text, place, "exec"), namespace)
        return
    session = doctest.DocTestParser().get_doctest(text, namespace, place, place, 0)
    complaints = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(session, out=complaints.append, clear_globs=False)
    namespace.update(session.globs)
    assert not complaints, "".join(complaints)


def run_console(text, folder, *, place):
    """Run the commands of a block and compare the output that the page shows."""
    for step in steps(text):
        if step.command.split()[0] == "make":
            continue
        ran = run_command(step.command, folder)
        said = ran.stdout + ran.stderr
        if step.expected:
            matches = doctest.OutputChecker().check_output(step.expected + "\n", said, OPTIONS)
            assert matches, f"{place}: $ {step.command}\nthe page says:\n{step.expected}\nit printed:\n{said}"
        else:
            assert ran.returncode == 0, f"{place}: $ {step.command}\nexit {ran.returncode}\n{said}"


def run_command(command, folder):
    """Run one line as a reader would, with our command and the installed ones on the path and a plain terminal."""
    binaries = os.pathsep.join(map(str, (warm_commands(), Path(sys.executable).parent)))
    plain = {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **plain},
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_LIMIT,
    )


def test_a_promise_that_is_not_kept_is_noticed(tmp_path):
    with pytest.raises(AssertionError, match="the page says"):
        run_console("$ echo one\ntwo\n", tmp_path, place="page:1")
    with pytest.raises(AssertionError, match="exit 3"):
        run_console("$ exit 3\n", tmp_path, place="page:1")


def test_dots_stand_for_anything_and_make_is_left_alone(tmp_path):
    run_console("$ echo one; echo two\none\n...\n$ make nothing\n", tmp_path, place="page:1")


def test_a_session_keeps_its_names_for_the_next_block():
    namespace = {}
    run_python(">>> x = 2\n>>> x + 1\n3\n", namespace, place="page:1")
    run_python("assert x == 2\n", namespace, place="page:5")
    with pytest.raises(AssertionError):
        run_python(">>> x\n3\n", namespace, place="page:9")
