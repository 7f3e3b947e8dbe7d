"""The workers' profile: the box can be made under it, what nobody needs is refused, and the server has none of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml
from tests.cli.running import ROOT
from tests.deploy.under_profile import PROFILE, library

from basanite.sandbox import runner

COMPOSE = ROOT / "deploy" / "compose" / "compose.yaml"
MODES = {"root": (), "ordinary user": ("-m", "tests.threats.ordinary_user", sys.executable)}
NEEDED = ("mount", "pivot_root", "umount2", "unshare")
NEVER = (
    "bpf",
    "init_module",
    "kexec_load",
    "keyctl",
    "open_by_handle_at",
    "perf_event_open",
    "ptrace",
    "reboot",
    "setns",
)
UNDER = ("-m", "tests.deploy.under_profile")
needs_the_library = pytest.mark.skipif(library() is None, reason="libseccomp is not on this machine")
needs_a_box = pytest.mark.skipif(not runner.capability().possible, reason="no sandbox can be created here")


@pytest.fixture
def open_folder():
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def doctor(folder, mode, *left_out):
    """What the doctor says about the box and about scoring, under the profile."""
    command = [sys.executable, *MODES[mode], *UNDER, ",".join(left_out), sys.executable, "-m", "basanite", "doctor"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "TMPDIR": str(folder)}
    how = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 200, "check": False}
    ended = subprocess.run([*command, "--data", str(folder / "season"), "--json"], env=environment, **how)
    assert ended.stdout, ended.stderr[-2000:]
    found = {one["name"]: one for one in json.loads(ended.stdout)["findings"]}
    return found["box"]["state"], found["scoring"]["state"]


@needs_the_library
@needs_a_box
@pytest.mark.req("X-25")
@pytest.mark.parametrize("mode", MODES)
def test_a_worker_can_make_its_box_under_the_profile(open_folder, mode):
    assert doctor(open_folder, mode) == ("good", "good")


@pytest.mark.few(1)
@needs_the_library
@needs_a_box
@pytest.mark.parametrize("call", NEEDED)
def test_nothing_that_the_profile_allows_for_the_box_is_too_much(open_folder, call):
    assert doctor(open_folder, "ordinary user", call)[0] == "note"


def test_calls_that_nobody_needs_are_not_in_the_profile():
    profile = json.loads(PROFILE.read_text("utf-8"))
    names = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert names.isdisjoint(NEVER)
    assert not {name for name in names if name.startswith(("io_uring", "process_vm", "fsopen", "move_mount", "swap"))}


def test_only_workers_have_a_profile_of_their_own_and_nobody_runs_without_one():
    services = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    assert services["web"]["security_opt"] == ["no-new-privileges=true"]
    expected = {"no-new-privileges=true", "seccomp=worker-seccomp.json", "apparmor=basanite-worker"}
    assert set(services["worker"]["security_opt"]) == expected | {"systempaths=unconfined"}
    for name in ("web", "worker"):
        assert (services[name]["cap_drop"], services[name]["read_only"]) == (["ALL"], True)
    assert all((COMPOSE.parent / name).is_file() for name in ("worker-seccomp.json", "worker-apparmor"))
    assert "profile basanite-worker " in (COMPOSE.parent / "worker-apparmor").read_text("utf-8")


def test_the_digest_of_every_image_is_given_by_whoever_builds():
    services = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    images = {name: one["image"] for name, one in services.items() if name not in ("web", "worker")}
    assert all("@${" in image and "_DIGEST:" in image for image in images.values())
    recipe = (COMPOSE.parent / "Containerfile").read_text("utf-8").splitlines()
    assert "ARG BASE_DIGEST" in recipe
    (base,) = [line for line in recipe if line.startswith("FROM ")]
    assert "@${BASE_DIGEST:-BASE_DIGEST_is_missing" in base
    assert "${BASE_DIGEST:?" in services["web"]["build"]["args"]["BASE_DIGEST"]
    assert "pip install" in "\n".join(recipe)
    assert all("--require-hashes" in line or "--no-index" in line for line in recipe if "pip install" in line)
