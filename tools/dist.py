"""A release before anybody gets it: texts agree, archives hold what they should, and the wheel scores on its own (Y-5).

`make dist` builds the source archive, the wheel from that archive, and calls this. Nothing outside `requirements/` is
installed; the trial runs in an empty environment and an empty folder, so that the source tree cannot help.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Final

from tools.audit import ROOT

MOST: Final = 300
"""Megabytes that a base installation may take."""
LARGEST: Final = 5 << 20
"""Bytes of the wheel: source, templates and an example."""
TOOLS: Final = ("pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack")
"""What an environment brings by itself."""
WANTED: Final = (
    "basanite/py.typed",
    "basanite/reports/templates/report.html",
    "basanite_examples/reading/nfl/package.toml",
)
UNWANTED: Final = re.compile(r"^(tests?|docs|tools|benchmarks)/|(^|/)(\.git|\.venv|__pycache__)/|\.(pyc|so|env)$")
EXAMPLE: Final = ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--report", "report.html")
START: Final = "import time; t = time.process_time(); import basanite; print(time.process_time() - t)"


@dataclass(frozen=True)
class Trial:
    """What an installation takes: megabytes, and CPU seconds to import it, to show help and to score an example."""

    megabytes: float
    import_seconds: float
    help_seconds: float
    score_seconds: float


def disagreements(root: Path = ROOT) -> Iterator[str]:
    """Where version, classifiers, changelog and citation contradict each other."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version, classifiers = project["version"], project["classifiers"]
    places = {
        "src/basanite/__init__.py": rf'^__version__ = "{re.escape(version)}"$',
        "CITATION.cff": rf"^version: {re.escape(version)}$",
        "CHANGELOG.md": rf"^## (Unreleased: )?{re.escape(version)}( |$)",
    }
    for name, pattern in places.items():
        if not re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE):
            yield f"{name} does not name version {version}, which pyproject.toml has"
    pythons = [line.rpartition(" ")[2] for line in classifiers if re.search(r":: 3\.\d+$", line)]
    if pythons != sorted(pythons, key=_numbers) or project["requires-python"] != f">={pythons[0]}":
        yield f"the classifiers name Python {', '.join(pythons)}, and requires-python says {project['requires-python']}"
    if ("Development Status :: 5 - Production/Stable" in classifiers) != (not version.startswith("0.")):
        yield f"the development status among the classifiers does not fit version {version}"
    if ("Typing :: Typed" in classifiers) != (root / "src" / "basanite" / "py.typed").is_file():
        yield "the classifier Typing :: Typed and the file py.typed go together"


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def archive_faults(folder: Path, root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the archives in a folder: their names, what they hold, and what they say of themselves."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stem = f"basanite-{project['version']}"
    wheel, source = folder / f"{stem}-py3-none-any.whl", folder / f"{stem}.tar.gz"
    for path in (wheel, source):
        if not path.is_file():
            yield f"{path.name} is missing"
            return
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        told = message_from_bytes(archive.read(f"{stem}.dist-info/METADATA"))
        entry_points = archive.read(f"{stem}.dist-info/entry_points.txt").decode()
    yield from (f"the wheel lacks {name}" for name in WANTED if name not in names)
    yield from (f"the wheel holds {name}" for name in names if UNWANTED.search(name))
    if wheel.stat().st_size > LARGEST:
        yield f"the wheel has {wheel.stat().st_size >> 20} MiB"
    if "basanite = basanite.cli:main" not in entry_points:
        yield "the wheel has no command basanite"
    yield from _metadata_faults(told, project["version"])
    with tarfile.open(source) as archive:
        held = {member.name.partition("/")[2] for member in archive}
    wanted = ("pyproject.toml", "hatch_build.py", "LICENSE", "CHANGELOG.md", "src/basanite/__init__.py")
    yield from (f"the source archive lacks {name}" for name in wanted if name not in held)


def _metadata_faults(told: Message, version: str) -> Iterator[str]:
    expected = {
        "Name": "basanite",
        "Version": version,
        "License-Expression": "Apache-2.0",
        "Description-Content-Type": "text/markdown",
    }
    yield from (f"{key} is {told[key]!r}, not {value!r}" for key, value in expected.items() if told[key] != value)
    if not str(told.get_payload()).startswith("# Basanite"):
        yield "the description is not the README"
    links = told.get_all("Project-URL") or []
    if links and re.search(r"\]\((?!\w+:|#)", str(told.get_payload())):
        yield "the README has links that lead nowhere on an index"
    yield from (f"{line!r} names no https address" for line in links if ", https://" not in line)


def environment(folder: Path, requirements: Sequence[str], wheel: Path, root: Path = ROOT) -> Path:
    """The Python of a new environment with files of requirements, by their hashes, and then the wheel alone."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-I", "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    files = [word for name in requirements for word in ("-r", str(root / "requirements" / f"{name}.txt"))]
    _run([*pip, "--only-binary", ":all:", "--require-hashes", *files], folder)
    _run([*pip, "--no-index", str(wheel)], folder)
    return python


def installed_megabytes(python: Path) -> float:
    """What the packages of an environment take on disk, compiled, without what every environment has."""
    site = next((python.parent.parent / "lib").glob("python3*/site-packages"))
    left = [entry for entry in site.iterdir() if not entry.name.startswith(TOOLS)]
    files = [one for entry in left for one in ([entry] if entry.is_file() else entry.rglob("*")) if one.is_file()]
    return sum(one.stat().st_blocks * 512 for one in files) / 1e6


def trial(python: Path, folder: Path, root: Path = ROOT) -> Trial:
    """Score the shipped example with an installation, in a folder that holds nothing else."""
    here = folder / "work"
    shutil.copytree(root / "examples" / "clir", here)
    command = str(python.with_name("basanite"))
    help_seconds = cpu_seconds([command, "--help"], here)
    score_seconds = cpu_seconds([command, *EXAMPLE], here)
    if not (here / "report.html").read_text(encoding="utf-8").count("<svg"):
        raise SystemExit("The report that the installed wheel wrote has no chart.")
    result = json.loads(_run([command, *EXAMPLE[:-2], "--json"], here))
    if not 0 < result["values"]["aqwv"]["value"] < 1:
        raise SystemExit(f"The installed wheel gives AQWV {result['values']['aqwv']['value']} for the example.")
    imported = min(float(_run([str(python), "-I", "-c", START], here)) for _ in range(3))
    return Trial(installed_megabytes(python), imported, help_seconds, score_seconds)


def cpu_seconds(command: Sequence[str], folder: Path, tries: int = 3) -> float:
    """The least CPU time of a command in some tries."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run(command, folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(tries))


def _run(command: Sequence[str], folder: Path) -> str:
    """Run a command that must succeed, without our source on any path of Python's."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=outside, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def main(folder: Path) -> int:
    """Check the archives in a folder, and try the wheel; prints what it takes."""
    faults = [*disagreements(), *archive_faults(folder)]
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    (wheel,) = folder.resolve().glob("basanite-*.whl")
    with tempfile.TemporaryDirectory(prefix="basanite-dist-") as place:
        found = trial(environment(Path(place) / "environment", ["base"], wheel), Path(place))
    for path in sorted(folder.glob("basanite-*")):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    print(f"installed: {found.megabytes:.0f} MB with everything that the base needs (at most {MOST})")
    print(f"import basanite: {1000 * found.import_seconds:.0f} ms of CPU; --help: {1000 * found.help_seconds:.0f} ms")
    print(f"the example scored, with a report: {found.score_seconds:.2f} s of CPU")
    return int(found.megabytes > MOST)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
