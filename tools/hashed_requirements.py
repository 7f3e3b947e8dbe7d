"""Requirements with the hashes of their files, for each way to install Basanite (X-25).

`constraints.txt` says which versions; the files in `requirements/` say which bytes. `make requirements` asks the
package index that uv is set up with, and writes names, versions and hashes, never where they came from. Checking needs
no network.

Each file is complete, so it is installed with `--no-deps`: pip then looks for nothing that is not listed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.audit import ROOT, pins

FOLDER: Final = Path("requirements")
BASE: Final = "base"
EXTRAS: Final = (
    *("parquet", "tables", "charts", "slides", "measure"),
    *("server", "reading", "harness", "zarr", "inspect", "models", "s3", "dask"),
    *("mlflow", "wandb", "opentelemetry", "torch", "weights"),
)
"""What may be installed beside the base, each by a file of its own."""
BUILD: Final = ("hatchling", "editables", "setuptools", "setuptools-scm")
"""What makes our own wheel, and the wheels of peers in tests that are published as source alone."""
CLIENTS: Final = "clients"
"""Other programs that `make test-all` tries us with, beside what development needs."""
LEFT_OUT: Final = ("mlflow", "wandb", "opentelemetry", "torch", "weights")
"""Extras that are no part of a development environment: they are large, and few tests need them."""
OLDEST: Final = {"dev": "3.11.5"}
"""The oldest Python that the pinned versions know, where that is not the oldest of ours."""
HEAD: Final = "# Written by `make requirements` from pyproject.toml and constraints.txt. Do not edit.\n"
_BLOCK: Final = re.compile(r"^\S.*(?:\n +--hash=\S+.*)*$", re.MULTILINE)
_LINE: Final = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[\w.+!-]+)(?: ; [^\\\n@]+?)?"
    r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+"
)


class NoUvError(Exception):
    """uv is not installed here: it is only needed to write the files. Type: python -m pip install uv."""


def parts() -> tuple[str, ...]:
    """The names of all files, in the order of what they build on."""
    return (BASE, *EXTRAS, "build", "dev", CLIENTS)


def blocks(text: str) -> list[str]:
    """The packages of a file of requirements, each with its hashes.

    >>> blocks("# why\\n-r base.txt\\na==1 \\\\\\n    --hash=sha256:00\\nb==2\\n")
    ['a==1 \\\\\\n    --hash=sha256:00', 'b==2']
    """
    return [found for found in _BLOCK.findall(text) if found[0] not in "#-"]


def faults(root: Path = ROOT) -> Iterator[str]:
    """Where the files disagree with the pins, with what pyproject.toml asks for, or with their own form."""
    pinned = pins((root / "constraints.txt").read_text(encoding="utf-8"))
    for part in parts():
        text = (root / FOLDER / f"{part}.txt").read_text(encoding="utf-8")
        yield from (f"{part}.txt: {fault}" for block in blocks(text) for fault in _block_faults(block, pinned))
        listed = set(_names(root, part))
        for name in _asked_for(root, part):
            if name not in listed:
                yield f"{part}.txt: {name} is asked for by pyproject.toml and not listed; type: make requirements"


def _block_faults(block: str, pinned: Mapping[str, str]) -> Iterator[str]:
    found = _LINE.fullmatch(block)
    if found is None:
        yield f"{block.splitlines()[0]!r} is not a name with a version and sha256 hashes"
    elif pinned.get(found["name"]) != found["version"]:
        yield f"{found['name']} is {found['version']}, and constraints.txt says {pinned.get(found['name'], 'nothing')}"


def _names(root: Path, part: str) -> Iterator[str]:
    """Everything that a file installs, with the files that it includes."""
    text = (root / FOLDER / f"{part}.txt").read_text(encoding="utf-8")
    for included in re.findall(r"^-r (\w+)\.txt$", text, re.MULTILINE):
        yield from _names(root, included)
    yield from (block.partition("==")[0] for block in blocks(text))


def _asked_for(root: Path, part: str) -> Iterator[str]:
    """The packages that pyproject.toml names for a file."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    lines = {BASE: project["dependencies"], "build": BUILD}.get(part) or optional[part]
    for line in lines:
        wanted = Requirement(line)
        if wanted.name == project["name"]:
            for extra in wanted.extras:
                yield from (str(canonicalize_name(Requirement(each).name)) for each in optional[extra])
        else:
            yield str(canonicalize_name(wanted.name))


def write(root: Path = ROOT) -> None:
    """Ask the index again and write all files."""
    (root / FOLDER).mkdir(exist_ok=True)
    written: dict[str, list[str]] = {}
    for part in parts():
        kept = tuple(extra for extra in EXTRAS if extra not in LEFT_OUT)
        included = {BASE: (), "build": (), "dev": (BASE, *kept)}.get(part, (BASE,))
        above = {block for name in included for block in written[name]}
        written[part] = [block for block in blocks(_compiled(root, part)) if _is_ours(block) and block not in above]
        lines = [*(f"-r {name}.txt" for name in included), *written[part]]
        (root / FOLDER / f"{part}.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def _is_ours(block: str) -> bool:
    """Whether a package is for machines that we run on: a browser is none."""
    return "== 'emscripten'" not in block


def _compiled(root: Path, part: str) -> str:
    """What uv finds for one file, on every platform and every Python from the oldest on."""
    uv = shutil.which("uv")
    if uv is None:
        raise NoUvError(NoUvError.__doc__)
    command = [uv, "pip", "compile", "--universal", "--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
    command += ["--constraint", "constraints.txt", "--python-version", OLDEST.get(part, "3.11")]
    command += ["-" if part == "build" else "pyproject.toml"]
    command += [] if part in (BASE, "build") else ["--extra", part]
    asked = "\n".join(BUILD) if part == "build" else ""
    done = subprocess.run(command, cwd=root, input=asked, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{part}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    if "--check" not in sys.argv[1:]:
        write()
    sys.exit("\n".join(faults()) or 0)
