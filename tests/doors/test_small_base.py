"""The base installation, with modules of extras blocked: every task is scored, and what is missing is named (Y-4)."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import numpy as np
import pytest
from numcodecs import zstd
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.cli.running import ROOT, here
from tests.doors.examples import BY_TASK, EXAMPLES
from tests.doors.score_logs import sample, zstandard_eval
from tools.hashed_requirements import FOLDER, LEFT_OUT, blocks

from basanite.extras import EXTRAS


def listed(part):
    """The packages that a file of requirements lists."""
    return {block.partition("==")[0] for block in blocks((ROOT / FOLDER / f"{part}.txt").read_text("utf-8"))}


IN_BASE = listed("base") | {"basanite"}
PACKAGES = {module: {canonicalize_name(one) for one in names} for module, names in packages_distributions().items()}
BEYOND = sorted(
    module for module, packages in PACKAGES.items() if IN_BASE.isdisjoint(packages) and not module.startswith("_")
)
"""Every module that is here and comes with no package of the base."""
BLOCKED = f"""
import importlib.abc, json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from traceback import format_exc

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BEYOND}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""
COMMANDS = (
    BLOCKED
    + """
from basanite.cli import main

def ended(words):
    sys.argv, out, err = ["basanite", *words], StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            code = format_exc()
    return [code, out.getvalue(), err.getvalue()]

print(json.dumps([ended(words) for words in json.loads(sys.stdin.read())]))
"""
)
FUNCTIONS = (
    BLOCKED
    + """
import basanite
from basanite.errors import BasaniteError

class Frame:
    __dataframe__ = None

rows = [{"id": str(at), "label": "ab"[at % 2]} for at in range(30)]
result = basanite.score("classification", reference=rows, submission=rows, draws=20)
for attempt in (
    lambda: basanite.score("classification", reference=Frame(), submission=rows),
    lambda: result.report("result.pptx"),
    lambda: result.report("result.parquet"),
    lambda: result.report("result.html"),
):
    try:
        attempt()
        print("done")
    except BasaniteError as error:
        print(error)
"""
)


def without_extras(code, folder, given=""):
    """What a program prints in a process that has the base alone."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=given,
        capture_output=True,
        cwd=folder,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_without_extras(commands, folder):
    """How each command ends, all in one process: code, output and messages."""
    return json.loads(without_extras(COMMANDS, folder, json.dumps([list(map(str, words)) for words in commands])))


@pytest.mark.req("Y-4", "P-2")
def test_every_task_is_scored_with_a_report_where_no_extra_is_installed(tmp_path):
    tasks = [task for task in BY_TASK if task not in EXTRAS]  # machine reading is an extra as a whole
    commands = [["score", task, *BY_TASK[task].home(task), "--report", f"{task}.html"] for task in tasks]
    for task, (code, out, err) in zip(tasks, run_without_extras(commands, tmp_path), strict=True):
        assert code == 0, (task, err)
        assert json.loads(out)["task"] == task
        page = (tmp_path / f"{task}.html").read_text("utf-8")
        assert page.count("data-chart=") == page.count('class="marks"'), task
        assert ("vegaEmbed = " in page, "<h1>" in page) == (False, True)


@pytest.fixture
def files(tmp_path):
    """Files that only extras read, and a small table to score against itself."""
    for name in ("key.parquet", "run.parquet"):
        (tmp_path / name).write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    np.savez(tmp_path / "features.npz", features=np.eye(40), labels=np.arange(40) % 2)
    (tmp_path / "features.zarr").mkdir()
    (tmp_path / "table.csv").write_text("id,label\n" + "".join(f"{at},{'ab'[at % 2]}\n" for at in range(30)))
    zstandard_eval(tmp_path / "packed.eval", [sample("q")], zstd.compress)
    scored = here("score", "classification", "table.csv", "table.csv", "--draws", "20", "--json", cwd=tmp_path)
    (tmp_path / "result.json").write_text(scored.stdout)
    return tmp_path


CLASSES = ("score", "classification", "--reference", "table.csv", "--submission", "table.csv", "--draws", "20")
MISSED = {
    "parquet": ("score", "classification", "--reference", "key.parquet", "--submission", "run.parquet"),
    "parquet out": (*CLASSES, "--report", "out.parquet"),
    "slides": (*CLASSES, "--report", "out.pptx"),
    "zarr": ("measure", "run", "features.zarr"),
    "harness": ("harness", "run", EXAMPLES / "harness" / "quick.toml"),
    "reading by score": ("score", "reading", *BY_TASK["reading"].home("reading")),
    "reading": ("reading", "check", EXAMPLES / "reading" / "nfl"),
    "server": ("serve", "--data", "season"),
    "server by admin": ("admin", "team", "list"),
    "server by demo": ("demo",),
    "dask": (*CLASSES, "--dask", "127.0.0.1:8786"),
    "inspect": ("score", "packed.eval"),
    "measure": ("measure", "run", "features.npz", "--report", "features.html"),
    "mlflow": ("send", "result.json", "--to", "mlflow", "--set", "experiment=x"),
    "wandb": ("send", "result.json", "--to", "wandb", "--set", "project=x"),
    "opentelemetry": ("send", "result.json", "--to", "opentelemetry", "--set", "file=spans.json"),
}


@pytest.mark.req("Y-4")
def test_what_a_command_misses_is_named_with_the_line_to_type(files):
    for missed, (code, out, err) in zip(MISSED, run_without_extras(MISSED.values(), files), strict=True):
        extra = missed.partition(" ")[0]
        purpose = EXTRAS[extra].purpose
        assert (code, out) == (2, ""), (missed, code, err)
        assert f' is not installed; it is needed for {purpose}. Fix: pip install "basanite[{extra}]"' in err, missed
        assert (err.startswith("Error: "), "Traceback" in err) == (True, False), (missed, err)


@pytest.mark.req("Y-4")
def test_what_a_function_misses_is_named_with_the_line_to_type(tmp_path):
    tables, slides, parquet, html = without_extras(FUNCTIONS, tmp_path).splitlines()
    for extra, said in (("tables", tables), ("slides", slides), ("parquet", parquet)):
        assert said.endswith(f'it is needed for {EXTRAS[extra].purpose}. Fix: pip install "basanite[{extra}]"')
    assert html == "done"


def asked_for(extra):
    """The packages that pyproject.toml names for an extra, or for the base."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return {canonicalize_name(Requirement(line).name) for line in lines}


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_modules_of_an_extra_are_those_of_the_packages_that_it_installs(extra):
    found = [PACKAGES[module] for module in EXTRAS[extra].modules if module in PACKAGES]
    assert extra in LEFT_OUT or asked_for(extra) <= set().union(*found)
    assert all(packages & (listed(extra) | {"torch"}) for packages in found)


def third_party_modules():
    """The modules that our source imports, anywhere, that are neither ours nor Python's."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            yield from {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"basanite"}


def test_every_module_that_is_imported_comes_with_the_base_or_with_an_extra_that_names_it():
    named = {module for extra in EXTRAS.values() for module in extra.modules}
    # Triton comes with PyTorch where there is a GPU for it.
    assert {one for one in third_party_modules() if not PACKAGES.get(one, set()) & IN_BASE} - {
        "triton",
        "lxml",
    } <= named


@pytest.mark.req("Y-4")
def test_the_base_asks_for_none_of_the_large_libraries():
    assert asked_for("").isdisjoint({"polars", "scikit-learn", "scipy", "vl-convert-python", "python-pptx", "narwhals"})
