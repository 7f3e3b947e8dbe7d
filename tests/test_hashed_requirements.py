"""What is installed is what was tested, byte by byte: files of requirements with hashes, and commands that use them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys

import pytest
from tools.audit import needed
from tools.conformance import source_files
from tools.hashed_requirements import BASE, EXTRAS, FOLDER, blocks, faults, parts

from basanite.extras import install_line

BARE = re.compile(r"pip3? install [^\n`]*(?<![\w/.-])['\"]?basanite(?:\[|==|['\"`\s]|$)")
"""The name on the package index is not ours: anyone who registers it would be installed."""
OF_EXTRAS = 'pip install "basanite['
SAYING = ("src/basanite/extras.py", "docs/install.md", "docs/adr/", "tests/")
"""Where the line for a missing extra may stand: only an installed Basanite prints it, and the pages say so."""


@pytest.fixture
def copied(repository, tmp_path):
    shutil.copytree(repository / FOLDER, tmp_path / FOLDER)
    for name in ("constraints.txt", "pyproject.toml"):
        shutil.copy(repository / name, tmp_path)
    return tmp_path


def edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def listed(repository, part):
    text = (repository / FOLDER / f"{part}.txt").read_text("utf-8")
    return {block.partition("==")[0] for block in blocks(text)}


def test_the_files_agree_with_the_pins_and_with_what_is_asked_for(repository):
    assert list(faults(repository)) == []
    assert sorted(parts()) == sorted(path.stem for path in (repository / FOLDER).iterdir())


@pytest.mark.parametrize("extra", ["", *(extra for extra in EXTRAS if extra not in ("torch", "weights"))])
def test_everything_that_is_needed_here_has_hashes(repository, extra):
    found = listed(repository, BASE) | (listed(repository, extra) if extra else set())
    assert set(needed("basanite", [extra] if extra else [])) - {"basanite"} - found == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("constraints.txt", "numpy==", "numpy==9", "base.txt: numpy is "),
        ("requirements/base.txt", "    --hash=sha256:", "    --hash=md5:", "is not a name with a version and"),
        ("requirements/s3.txt", "obstore==", "other @ https://example.org/other-", "is not a name with a version"),
        ("requirements/s3.txt", "obstore==", "other==", "s3.txt: obstore is asked for by pyproject.toml"),
        ("pyproject.toml", 's3 = ["obstore', 's3 = ["more-than-that", "obstore', "s3.txt: more-than-that is asked for"),
    ],
)
def test_what_does_not_agree_is_found(copied, file, old, new, told):
    edit(copied / file, old, new)
    assert any(told in fault for fault in faults(copied))


def test_no_command_installs_us_by_a_name_that_is_not_ours(repository):
    found = []
    for name in source_files(repository):
        if name.endswith((".py", ".md", ".yaml", ".toml", ".service", "Makefile", "Containerfile")):
            lines = BARE.findall((repository / name).read_text("utf-8"))
            found += [(name, line) for line in lines if not (line == OF_EXTRAS and name.startswith(SAYING))]
    assert found == []
    ours = "basanite"
    assert all(BARE.search(f"pip install {name}") for name in (ours, f"-U '{ours}[server]'", f"{ours}==1"))
    assert not BARE.search(f"pip install --no-deps --no-index dist/{ours}-*.whl")


@pytest.mark.req("X-25")
def test_the_line_for_an_extra_takes_the_basanite_that_is_installed_and_looks_for_no_other(repository):
    line = install_line("tables").replace("pip install", "pip install --no-index --dry-run")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(line)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, "Would install" in done.stdout) == (0, False), done.stderr
    assert "Requirement already satisfied: basanite[tables]" in done.stdout
