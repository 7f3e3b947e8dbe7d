"""Small files that would take all memory of anyone who reads them: refused, or read for what was asked (X-34)."""

from __future__ import annotations

import functools
import io
import json
import os
import resource
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib

import numpy as np
import pytest
from tests.cli.running import ROOT

EXAMPLES = ROOT / "examples"
MORE = 256 * 2**20
"""Bytes that refusing a file may take beyond what a command takes that reads a good one."""
LIMIT = 1536 * 2**20
"""Address space that a command gets: the program itself maps about a gigabyte of libraries."""


def bounded(*words):
    """A command that cannot take more memory than the limit."""
    command = [sys.executable, "-m", "basanite", *map(str, words)]
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (LIMIT, LIMIT))
    how = {"capture_output": True, "text": True, "timeout": 120, "check": False}
    return subprocess.run(command, preexec_fn=limit, env={**os.environ, "OMP_NUM_THREADS": "1"}, **how)


@pytest.mark.req("X-34")
def test_a_plan_with_a_name_of_a_hundred_thousand_parts_is_refused(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('format = "basanite-plan/1"\n' + ".".join("a" * 100_000) + " = 1\n")
    ended = bounded("harness", "run", plan, "--out", tmp_path / "result")
    assert ended.returncode == 1, ended.stderr[-500:]
    assert "nested too deep" in ended.stdout + ended.stderr


@pytest.mark.slow
@pytest.mark.req("X-34")
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


WATCHED = """
import resource, subprocess, sys
ended = subprocess.run([sys.executable, "-m", "basanite", *sys.argv[1:]], stderr=subprocess.STDOUT)
print(ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""
"""A process of its own starts the command: what a child used begins with what its parent had when it was made."""


def peak(*words):
    """How a command ended, what it printed, and the most memory that it used; bounded in any case."""
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (8 * LIMIT, 8 * LIMIT))
    how = {
        "capture_output": True,
        "text": True,
        "timeout": 200,
        "check": True,
        "env": {**os.environ, "OMP_NUM_THREADS": "1"},
    }
    ended = subprocess.run([sys.executable, "-c", WATCHED, *map(str, words)], preexec_fn=limit, **how)
    code, used = map(int, ended.stderr.split())
    return code, ended.stdout, used * 1024


@pytest.fixture(scope="module")
def usual():
    """The memory that a command takes for a good file."""
    code, printed, used = peak("measure", "run", EXAMPLES / "features" / "monday.npz")
    assert code == 0, printed
    return used


def scored(file):
    return "score", "classification", "--reference", EXAMPLES / "classification" / "key.csv", "--submission", file


def parquet(folder, **columns):
    import polars as pl

    pl.DataFrame(columns).write_parquet(folder / "small.parquet")
    return folder / "small.parquet"


def long_list(folder):
    import polars as pl

    zeros = pl.repeat(0.0, 50_000_000, eager=True).implode()
    return "measure", "run", parquet(folder, features=zeros, labels=[1])


def long_columns(folder):
    import polars as pl

    return scored(parquet(folder, id=pl.repeat("a", 5_000_000, eager=True), label=pl.repeat(1, 5_000_000, eager=True)))


def repeated_text(folder):
    import polars as pl

    return scored(parquet(folder, id=pl.repeat("a" * 20_000, 200_000, eager=True)))


def yaml_of_aliases(folder):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 12)]
    (folder / "tool.yaml").write_text("\n".join(lines))
    return "annotation", "check", folder / "tool.yaml"


def deep_yaml(folder):
    (folder / "tool.yaml").write_text("a: " + "[" * 1_000_000)
    return "annotation", "check", folder / "tool.yaml"


def deep_json(folder):
    (folder / "deep.jsonl").write_text('{"id": ' + "[" * 5_000_000 + "\n")
    return scored(folder / "deep.jsonl")


def xml(folder, text):
    (folder / "set.xml").write_text(text)
    return "convert", "wmt", folder / "set.xml", "--out", folder / "out"


def deep_xml(folder):
    return xml(folder, "<a>" * 1_000_000)


def xml_of_entities(folder):
    grown = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 12))
    return xml(folder, f'<!DOCTYPE dataset [<!ENTITY e0 "xxxxxxxxxx">{grown}]><dataset>&e11;</dataset>')


def empty_shape(folder):
    with (folder / "features.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2**30, 64)})
        file.write(bytes(1000))
    np.save(folder / "labels.npy", np.arange(4))
    return "measure", "run", folder / "features.npy"


def packed_zeros(folder):
    with (
        zipfile.ZipFile(folder / "small.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("answers.csv", "w", force_zip64=True) as large,
    ):
        for _ in range(1024):
            large.write(bytes(2**20))
    return scored(folder / "small.zip")


def huge_picture(folder):
    """A submission of summaries, with one picture of four billion points."""
    head = struct.pack(">IIBBBBB", 65_000, 65_000, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(50_000_000), 9)), (b"IEND", b""))
    written = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    picture = b"\x89PNG\r\n\x1a\n" + b"".join(written)
    path = folder / "Alpha.tgz"
    with (
        tarfile.open(EXAMPLES / "e2e" / "Alpha.tgz") as old,
        tarfile.open(path, "w:gz", format=tarfile.USTAR_FORMAT) as new,
    ):
        for member in old:
            content = old.extractfile(member).read() if member.isfile() else b""
            content = picture if member.name.endswith(".png") else content
            member.size = len(content)
            new.addfile(member, io.BytesIO(content))
            picture = content if member.name.endswith(".png") else picture
    return "validate", "e2e", "--reference", EXAMPLES / "e2e" / "key", "--submission", path


HOSTILE = {
    long_list: "would become more than 64 MiB",
    long_columns: "would become more than 64 MiB",
    repeated_text: "would become more than 64 MiB",
    yaml_of_aliases: "anchor &a0 is not allowed",
    deep_yaml: "deep",
    deep_json: "JSON",
    deep_xml: "deep",
    xml_of_entities: "document type",
    empty_shape: "features.npy",
    packed_zeros: "small.zip",
    huge_picture: "65000",
}


@pytest.mark.few(4)
@pytest.mark.req("X-34")
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda made: made.__name__)
def test_a_hostile_file_is_refused_without_the_memory_that_it_would_take(tmp_path, usual, hostile):
    code, printed, used = peak(*hostile(tmp_path))
    assert code in (1, 2), printed[-2000:]
    assert "Traceback" not in printed
    assert HOSTILE[hostile] in printed
    assert used < usual + MORE, f"{used >> 20} MiB, and a good file takes {usual >> 20}"
