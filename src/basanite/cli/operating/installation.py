"""What of Basanite is installed on this machine, and how to get the rest: the first thing a newcomer wants to know.

Nothing is imported to find out, so this works where only the offline tool is installed (P-2).
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Final

from basanite import __version__

EXTRAS: Final = {
    "server": "running a season for teams: serve, worker, admin, demo",
    "harness": "learning algorithms on video and text: harness",
    "reading": "reasoning and graphs in machine reading: reading",
    "torch": "features on a graphics card, and learning with it",
    "dask": "heavy work on a cluster: --dask",
    "s3": "files of a season in an object store",
    "zarr": "features in Zarr stores",
}
"""The parts that can be installed beside the offline tool, and what each is for."""

_EXTRA = re.compile(r"""(?P<name>[\w.-]+).*;.*\bextra == ["'](?P<extra>[\w-]+)["']""")


@dataclass(frozen=True)
class Found:
    """One thing that was looked at: how it is, and what to do about it."""

    name: str
    state: str
    words: str
    cure: str = ""


def installation() -> list[Found]:
    """What is installed, and what the machine has."""
    words = f"version {__version__}, with Python {platform.python_version()}"
    return [Found("basanite", "good", words), _machine(), _user(), *map(_extra, EXTRAS)]


def _machine() -> Found:
    cores = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Found("machine", "good", f"{cores} cores, {memory:.0f} GiB of memory")


def _user() -> Found:
    """Whether a fault in a reader, a plug-in or a library would reach the whole machine (X-25)."""
    if os.geteuid() == 0:
        words = "this runs as root: a fault in any package or plug-in reaches the whole machine"
        return Found(
            "user", "note", words, "run it as a user of its own: useradd --system basanite; see deploy/systemd"
        )
    return Found("user", "good", "an ordinary one")


def _extra(extra: str) -> Found:
    missing = [name for name in packages(extra) if not _is_there(name)]
    if not missing:
        return Found(f"extra {extra}", "good", f"installed, for {EXTRAS[extra]}")
    words = (
        f"not installed ({', '.join(missing[:3])}{' …' if len(missing) > 3 else ''}), only needed for {EXTRAS[extra]}"
    )
    return Found(f"extra {extra}", "note", words, f"pip install -r requirements/{extra}.txt")


def packages(extra: str) -> Iterator[str]:
    """The packages that an extra brings, as our own metadata say.

    >>> sorted(packages("reading"))
    ['clingo', 'pyoxigraph']
    """
    for line in metadata.requires("basanite") or ():
        found = _EXTRA.match(line)
        if found and found["extra"] == extra:
            yield found["name"]


def _is_there(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True
