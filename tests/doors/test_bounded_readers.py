"""Small files that would take all memory of whoever reads them: refused, or read for what was asked (X-34)."""

from __future__ import annotations

import functools
import io
import json
import resource
import subprocess
import sys
import zipfile

import numpy as np

LIMIT = 1536 * 2**20
"""Address space that a command gets: the program itself maps about a gigabyte of libraries."""


def bounded(*words):
    """A command that cannot take more memory than the limit."""
    command = [sys.executable, "-m", "basanite", *map(str, words)]
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (LIMIT, LIMIT))
    how = {"capture_output": True, "text": True, "timeout": 120, "check": False}
    return subprocess.run(command, preexec_fn=limit, env={"OMP_NUM_THREADS": "1"}, **how)


def test_a_plan_with_a_name_of_a_hundred_thousand_parts_is_refused(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('format = "basanite-plan/1"\n' + ".".join("a" * 100_000) + " = 1\n")
    ended = bounded("harness", "run", plan, "--out", tmp_path / "result")
    assert ended.returncode == 1, ended.stderr[-500:]
    assert "nested too deep" in ended.stdout + ended.stderr


def test_arrays_that_nobody_asked_for_are_not_read(tmp_path):
    path = tmp_path / "features.npz"
    dice = np.random.default_rng(1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in (("features", dice.normal(size=(60, 4))), ("labels", np.arange(60) % 3)):
            file = io.BytesIO()
            np.save(file, array)
            archive.writestr(f"{name}.npy", file.getvalue())
        with archive.open("other.npy", "w", force_zip64=True) as large:
            head = io.BytesIO()
            np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (2**28,)})
            large.write(head.getvalue())
            for _ in range(2048):
                large.write(bytes(2**20))
    assert path.stat().st_size < 4 * 2**20
    ended = bounded("measure", "run", path, "--json")
    assert ended.returncode == 0, ended.stderr[-500:]
    assert json.loads(ended.stdout)
