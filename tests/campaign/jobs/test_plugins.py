"""A child knows the plug-ins of packages that the settings name, and no others."""

import json
import os
import subprocess
import sys

from basanite.sandbox.child import REFUSED

TASK = """
import os, pathlib
from dataclasses import replace
from basanite.tasks.clir import TASK as clir
pathlib.Path("out/loaded").touch()
TASK = replace(clir, name="strange")
"""


def plug_in(folder):
    info = folder / "Strange_Tasks-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Strange_Tasks\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[basanite.tasks]\nstrange = strange_module:TASK\n")
    (folder / "strange_module.py").write_text(TASK)


def child(folder, named, pack):
    for name in ("in", "out"):
        (folder / name).mkdir()
    (folder / "in/key").symlink_to(pack.key)
    (folder / "in/run.tgz").symlink_to(pack.perfect)
    order = {"work": "examine", "task": "strange", "settings": {}, "draws": None, "seed": 0, "limits": {}}
    order |= {"plugins": named, "notes": [], "submission": "run.tgz", "reference": ["key"]}
    (folder / "in/order.json").write_text(json.dumps(order))
    command = [sys.executable, "-m", "basanite.campaign.jobs.child"]
    packages = os.pathsep.join(filter(None, (str(folder / "packages"), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": packages}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300, check=False)


def test_a_plug_in_that_the_settings_name_is_loaded(tmp_path, pack):
    plug_in(tmp_path / "packages")
    assert child(tmp_path, ["strange-tasks"], pack).returncode == 0
    assert (tmp_path / "out/result.json").is_file()


def test_a_plug_in_that_nobody_named_is_not_even_imported(tmp_path, pack):
    plug_in(tmp_path / "packages")
    ended = child(tmp_path, ["another-package"], pack)
    assert ended.returncode == REFUSED
    assert b"strange" in ended.stderr
    assert list((tmp_path / "out").iterdir()) == []
