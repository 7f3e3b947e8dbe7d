"""The site of the documentation, built once for all tests of this folder as `make docs` builds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.built_once import built_once

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the built site; a warning of mkdocs ends the build, and so fails every test here."""
    return built_once(tmp_path_factory, "site", build)


def build(folder: Path) -> None:
    """Have mkdocs write the site into a folder."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ended = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False, timeout=240)
    assert ended.returncode == 0, ended.stderr
