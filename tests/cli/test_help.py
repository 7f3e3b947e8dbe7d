"""Every command helps, with an example that runs, and costs nothing before it is called."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.built_once import built_once
from tests.cli.admin_season import build
from tests.cli.foreign_files import foreign_files
from tests.cli.kept_season import kept_files
from tests.cli.running import (
    ANNOTATION,
    EXAMPLE,
    FEATURES,
    HARNESS,
    JUDGING,
    READING,
    ROOT,
    forked,
    here,
    process,
    typed,
)
from tests.cli.test_admin import ALL as OF_ORGANIZERS
from tests.models.judged_example import judged_example

from basanite import __version__
from basanite.cli import app
from basanite.cli.groups import COMMANDS, SECTIONS
from basanite.synthetic.packs import PackSpec, RawSpec, build_packs, raw_documents, write_raw_table, write_tree

HEAVY = ("numpy", "scipy", "polars", "jinja2", "vl_convert", "rich")
ELSEWHERE = ("fastapi", "sqlalchemy", "torch", "dask", "pyoxigraph")


def commands():
    """Every command and subcommand, as the words to type."""
    ctx = click.Context(app)
    for name in app.list_commands(ctx):
        command = app.get_command(ctx, name)
        yield (name,)
        if isinstance(command, click.Group):
            yield from ((name, part) for part in command.list_commands(ctx))


ALL = list(commands())


def example_of(words):
    """The example at the end of a command's help, which stands on one line."""
    return re.search(r"Example:\n +(basanite .*)\n", here(*words, "--help").stdout)


@pytest.fixture
def folder(examples, tmp_path):
    """A folder of the command's own, with whatever an example needs."""
    return shutil.copytree(examples, tmp_path / "clir")


def write_board(scores, path):
    """The trials of two systems in one table."""
    tables = {name: (scores / f"{name}.csv").read_text().splitlines() for name in ("Alpha", "Beta")}
    header = f"system,{tables['Alpha'][0]}"
    path.write_text("\n".join([header, *(f"{name},{row}" for name, rows in tables.items() for row in rows[1:]), ""]))


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """A copy of the example, with a run and qrels for those who convert, and a data set for those who look at one."""
    copy = tmp_path_factory.mktemp("examples") / "clir"
    shutil.copytree(EXAMPLE, copy)
    here("convert", "to-run", "Alpha.tgz", "--out", "run.txt", cwd=copy)
    here("convert", "to-qrels", "key", "--out", "qrels.txt", cwd=copy)
    shutil.unpack_archive(copy / "Alpha.tgz", copy / "run", "gztar")
    (copy / "pack1").mkdir()
    (copy / "pack1" / "query_list.tsv").write_text("query_id\tquery_string\tdomain_id\nquery00001\tzebra\tLIF\n")
    raw = raw_documents(RawSpec(60))
    write_raw_table(raw, copy / "collected.tsv")
    write_tree(build_packs(raw, PackSpec("1A", dev=5, analysis=5)), copy)
    shutil.copytree(READING, copy, dirs_exist_ok=True)
    shutil.copytree(ANNOTATION, copy, dirs_exist_ok=True)
    shutil.copytree(JUDGING, copy, dirs_exist_ok=True)
    shutil.copytree(FEATURES, copy, dirs_exist_ok=True)
    shutil.copytree(HARNESS, copy, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples" / "models", copy, dirs_exist_ok=True)
    judged_example(copy)
    shutil.rmtree(copy / "calibrated", ignore_errors=True)
    shutil.copy(Path(__file__).parent / "golden" / "across" / "files" / "aggregate.toml", copy)
    foreign_files(copy)
    scores = ROOT / "examples" / "scores"
    write_board(scores, copy / "board.csv")
    result = here("score", "scores", scores / "Alpha.csv", "--json")
    (copy / "Alpha.json").write_text(result.stdout)
    for name in ("main.eval", "branch.eval"):
        shutil.copy(scores / "logs" / "Alpha.eval", copy / name)
    return copy


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The result of the plan that runs in seconds."""
    made = tmp_path_factory.mktemp("harness")
    shutil.copytree(HARNESS, made, dirs_exist_ok=True)
    assert here("harness", "run", "quick.toml", cwd=made).code == 0
    return made / "quick-result"


@pytest.fixture(scope="module")
def season(tmp_path_factory):
    """A season on disk, with which organisers' commands work; that of the tests of all these commands."""
    return built_once(tmp_path_factory, "admin-season", build)


def runs_elsewhere(words, example):
    """Whether the example of a group of commands is that of one of them, which runs with it."""
    typed_words = tuple(example.split()[1:])
    below = [one for one in (*ALL, *OF_ORGANIZERS) if len(one) > len(words) and typed_words[: len(one)] == one]
    return bool(below) and example_of(max(below, key=len))[1] == example


@pytest.mark.few(20)
@pytest.mark.req("P-3")
@pytest.mark.parametrize("words", [(), *(words for words in ALL if words not in OF_ORGANIZERS)], ids=" ".join)
def test_the_example_in_the_help_of_a_command_runs(words, folder, request):
    if words[:1] == ("harness",):
        shutil.copytree(request.getfixturevalue("quick"), folder / "quick-result")
    if words[:1] in (("admin",), ("import",), ("publish",), ("backup",)):
        shutil.copytree(request.getfixturevalue("season"), folder, dirs_exist_ok=True)
    if words[:1] in (("verify",), ("decrypt",), ("restore",)):
        kept_files(folder)
    found = example_of(words)
    assert found is not None, here(*words, "--help").stdout
    assert found[1].split()[1 : 1 + len(words)] == list(words)
    if runs_elsewhere(words, found[1]):
        return
    ended = typed(found[1], folder, forked)
    assert (ended.code, "Traceback" in ended.stderr) == (0, False), ended.stderr


@pytest.mark.req("P-3")
@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_can_print_json(words):
    command = app
    for word in words:
        command = command.get_command(click.Context(command), word)
    if not isinstance(command, click.Group):
        assert "--json" in {name for option in command.params for name in option.opts}


def test_each_command_has_one_line_in_the_list_of_commands():
    shown = here("--help").stdout
    assert all(re.search(rf"^  {name} +{re.escape(words[:30])}", shown, re.M) for name, words in COMMANDS.items())


@pytest.mark.req("P-2", "Y-4")
@pytest.mark.parametrize("code", ["import basanite", "import runpy, sys; sys.argv = ['basanite', '--help']; MAIN"])
def test_help_and_import_load_nothing_heavy(code):
    run = "\ntry:\n    runpy.run_module('basanite', run_name='__main__')\nexcept SystemExit:\n    pass\n"
    tail = f"\nprint('LOADED', sorted(set({HEAVY + ELSEWHERE}) & set(__import__('sys').modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code.replace(" MAIN", run) + tail],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.splitlines()[-1] == "LOADED []"


BLOCKED = """
import importlib.abc, runpy, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Blocked())
sys.argv = ["basanite", *{words}]
runpy.run_module("basanite", run_name="__main__")
"""


@pytest.mark.parametrize("command", ["validate", "score"])
def test_the_offline_tool_works_where_no_extra_is_installed(command):
    words = [command, "clir", "--reference", "key", "--submission", "Alpha.tgz", "--json"]
    code = BLOCKED.format(names=ELSEWHERE, words=words)
    done = subprocess.run([sys.executable, "-c", code], cwd=EXAMPLE, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_is_told():
    ended = process("--version", cwd=EXAMPLE)
    told = f"basanite, version {__version__} (Python {platform.python_version()})\n"
    assert (ended.code, ended.stdout, ended.stderr) == (0, told, "")


@pytest.mark.req("P-3")
def test_commands_are_grouped_by_what_people_want_to_do():
    shown = here("--help").stdout
    places = [shown.index(f"\n{title}:\n") for title in SECTIONS]
    assert places == sorted(places)
    for title, section in SECTIONS.items():
        part = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  (\S+)", part, re.M) == list(section)


@pytest.mark.req("P-3")
@pytest.mark.parametrize("words", [(), *(words for words in ALL if len(words) == 1)], ids=" ".join)
def test_a_list_of_commands_shows_each_of_them_once(words):
    shown = here(*words, "--help").stdout
    group = app if not words else app.get_command(click.Context(app), words[0])
    if isinstance(group, click.Group):
        listed = re.findall(r"^  ([a-z][a-z-]*)  +\S", shown, re.M)
        assert sorted(listed) == sorted(group.list_commands(click.Context(group)))


@pytest.mark.req("P-3")
@pytest.mark.parametrize(
    ("typed_words", "meant"),
    [
        (("scor",), "Did you mean 'score'?"),
        (("admin", "temas"), "There is no command 'admin temas'. Did you mean 'team'?"),
        (("harness", "rn"), "There is no command 'harness rn'. Did you mean 'run'?"),
        (("admin", "team", "lst"), "Did you mean 'list'?"),
        (("judge", "chck"), "Did you mean 'check'?"),
        (("score", "clir", "--referense", "key"), "Did you mean '--reference'?"),
        (("score", "clr", "--reference", "key", "--submission", "Alpha.tgz"), "Did you mean 'clir'?"),
    ],
    ids=lambda value: "-".join(value[:3]) if isinstance(value, tuple) else "",
)
def test_a_mistyped_word_is_answered_with_the_one_that_was_meant(typed_words, meant):
    ended = here(*typed_words)
    assert (ended.code, ended.stdout, meant in ended.stderr) == (2, "", True), ended.stderr
