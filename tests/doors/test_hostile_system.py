"""A team's system that attacks anyone who runs it: what comes of a whole `harness run`, as root and as a user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.cli.running import HARNESS
from tests.doors.harness_results import HEAD
from tests.doors.test_harness_programs import PLAN, table
from tests.harness.plans import write_csv
from tests.threats.ordinary_user import USER

from basanite.sandbox.runner import capability

ROOT = Path(__file__).parents[2]
SECRET = "the-key-of-the-evaluation"
SWAP = "rm -rf {name} 2>/dev/null; mv {name} old 2>/dev/null; ln -s {vault} {name} 2>/dev/null; ls {name}"
FORGE = "for d in 3 4 5 6 7 8 9; do echo '{{\"code\": 0}}' >&$d; done 2>/dev/null; exit 3"
ATTACKS = {
    "results": ("preprocessor-transform", SWAP.replace("{name}", "out"), ""),
    "state": ("preprocessor-fit", SWAP.replace("{name}", "state"), ""),
    "report": ("learner-fit", FORGE, "exit code 3"),
    "memory": ("learner-fit", "yes | head -c 400000000 > /tmp/x", "exceeded its 256 MiB of memory"),
}  # fmt: skip


@pytest.fixture(params=["root", "ordinary user"])
def run(request):
    """`harness run` by one of the two on the example's system with some hostile lines; gives states and reasons."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("not started by root")
    if not capability().possible:
        pytest.skip(f"no sandbox can be made here: {capability().reason}")
    folder = Path(tempfile.mkdtemp(prefix="basanite-hostile-"))
    becoming = [sys.executable, "-m", "tests.threats.ordinary_user"] if request.param != "root" else []

    def started(attack: str):
        moment, lines, _ = ATTACKS[attack]
        write_plan(folder, moment, lines.format(vault=folder / "vault"))
        if becoming and os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{USER}:{USER}", str(folder)], check=True)
        only = "6a" if moment == "learner-fit" else "4a"
        words = ["harness", "run", folder / "plan.toml", "--only", only, "--out", folder / "result", "--json"]
        ended = subprocess.run(
            [*becoming, sys.executable, "-m", "basanite", *map(str, words)],
            cwd=ROOT, env={"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        runs = json.loads((folder / "result" / "status.json").read_text("utf-8"))["runs"]
        return {one["run"]: (one["state"], one["reason"]) for one in runs}, folder, ended

    yield started
    shutil.rmtree(folder)


def write_plan(folder: Path, moment: str, lines: str) -> None:
    """A plan with the system of the examples, which at one moment does something else first, and a locked secret."""
    shutil.copytree(HARNESS / "foreign" / "alpha", folder / "alpha")
    script = folder / "alpha" / "system.sh"
    text = script.read_text("utf-8").replace("set -eu\n", f"if [ $1-$2 = {moment} ]; then {lines}; fi\nset -eu\n", 1)
    script.write_text(text, encoding="utf-8")
    vault = folder / "vault"
    vault.mkdir(mode=0o700)
    (vault / "features.tsv").write_text(f"{SECRET}\n")
    (vault / "features.tsv").chmod(0o600)
    rows, label = table()
    named = [dict(zip("wxyz", map(str, row), strict=True)) for row in rows.tolist()]
    write_csv(folder / "clips.csv", [{**row, "Eat": str(int(eat))} for row, eat in zip(named, label, strict=True)])
    (folder / "plan.toml").write_text(HEAD + PLAN + "memory_gib = 0.25\n", encoding="utf-8")


@pytest.mark.few(1)
@pytest.mark.req("X-29")
@pytest.mark.parametrize("attack", ["results", "state"])
def test_a_folder_swapped_for_a_link_brings_nothing_of_the_host_back(run, attack):
    states, folder, ended = run(attack)
    left = [path for path in (folder / "result").rglob("*") if path.is_file()]
    assert left
    assert not [path for path in left if SECRET.encode() in path.read_bytes()]
    assert SECRET not in ended.stdout + ended.stderr
    assert states["4a"][0] == "done", "the folders cannot be swapped, so the system works as before"


@pytest.mark.few(1)
@pytest.mark.req("X-19")
def test_a_system_cannot_report_that_it_ended_well(run):
    states, _, _ = run("report")
    assert states["6a"][0] == "failed"
    assert ATTACKS["report"][2] in states["6a"][1]


@pytest.mark.few(1)
@pytest.mark.req("X-20")
def test_what_a_system_keeps_in_files_counts_as_memory(run):
    states, _, _ = run("memory")
    assert states["6a"][0] == "failed"
    assert ATTACKS["memory"][2] in states["6a"][1]
