"""The data of the end-to-end benchmark: made once per size under `build/data/`, then used again.

Run as a program it makes one file of one size, so that the process that measures stays small.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS, RELEVANT = 5000, 14
PARAMETERS = {"seed": 1, "documents": DOCUMENTS, "noise": [38_000, 78_000], "words": 20, "format": 2}
NAMES = ("key.tgz", "Alpha.tgz", "size.json")


def folder_of(queries):
    """Where the files of one size are."""
    return ROOT / "build" / "data" / f"e2e-{queries}x{DOCUMENTS}"


def ready(queries):
    """The folder with the files in it, made now if they are not there or were made otherwise."""
    folder = folder_of(queries)
    stamp = folder / "parameters.json"
    if not stamp.exists() or json.loads(stamp.read_text()) != PARAMETERS:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(json.dumps(PARAMETERS))
    for name in NAMES:
        made = (folder / name).exists()
        if not made and subprocess.run([sys.executable, __file__, str(queries), name], check=False).returncode:
            raise SystemExit("the data could not be made")
    return folder


def make(queries, name):
    """Make one file of one size."""
    from basanite.formats.archives.output import write_archive
    from basanite.synthetic import clir, summaries

    folder = folder_of(queries)
    spec = clir.Spec(queries, DOCUMENTS, PARAMETERS["seed"], prevalence=RELEVANT / DOCUMENTS)
    system = summaries.Summarised(
        spec, clir.Quality("Alpha", 12.0, beta=30.0), words=PARAMETERS["words"], noise=tuple(PARAMETERS["noise"])
    )
    if name == "key.tgz":
        clir.write_key(spec, folder / name)
    elif name == "Alpha.tgz":
        # Images hardly shrink: the lowest level takes half the time and leaves the same work for those who read.
        write_archive(summaries.summary_members(system), folder / name, level=1)
    else:
        count = sum(len(summaries.returned_documents(system, query)) for query in range(queries))
        (folder / name).write_text(json.dumps({"queries": queries, "documents": DOCUMENTS, "summaries": count}))


if __name__ == "__main__":
    make(int(sys.argv[1]), sys.argv[2])
