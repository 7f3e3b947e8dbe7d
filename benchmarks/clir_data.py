"""The data of the retrieval benchmark: made once per size under `build/data/`, then used again.

Run as a program it makes one file of one size, so that the files can be made side by side and the process that
measures stays small.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SEED, DOCUMENTS, SEPARATION, BETA = 1, 15_000, 8.0, 20
PARAMETERS = {"seed": SEED, "documents": DOCUMENTS, "separation": SEPARATION, "beta": BETA, "format": 1}
GOOD = ("key.tgz", "Alpha.tgz", "metadata", "exact.json")
BAD = ("SomeLines.tgz", "EveryLine.tgz", "EveryName.tgz", "CarriageReturns.tgz")


def folder_of(queries):
    """Where the files of one size are."""
    return ROOT / "build" / "data" / f"clir-{queries}x{DOCUMENTS}"


def ready(queries, names):
    """The folder with the named files in it, made now if they are not there or were made otherwise."""
    folder = folder_of(queries)
    stamp = folder / "parameters.json"
    if not stamp.exists() or json.loads(stamp.read_text()) != PARAMETERS:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        stamp.write_text(json.dumps(PARAMETERS))
    missing = [name for name in names if not (folder / name).exists()]
    makers = [subprocess.Popen([sys.executable, __file__, str(queries), name]) for name in missing]
    codes = [maker.wait() for maker in makers]
    if any(codes):
        raise SystemExit("the data could not be made")
    return folder


def make(queries, name):
    """Make one file of one size."""
    from basanite.formats.archives.output import write_archive
    from basanite.synthetic import clir

    folder = folder_of(queries)
    spec, quality = clir.Spec(queries, DOCUMENTS, SEED), clir.Quality("Alpha", SEPARATION)
    if name == "key.tgz":
        clir.write_key(spec, folder / name)
    elif name == "metadata":
        clir.write_metadata(spec, folder / name)
    elif name == "exact.json":
        (folder / name).write_text(json.dumps(clir.exact_value(spec, quality, BETA)))
    elif name == "Alpha.tgz":
        clir.write_system(spec, quality, folder / name)
    else:
        spoil = SPOILERS[name]
        write_archive(((file, spoil(data)) for file, data in members(folder / "Alpha.tgz")), folder / name)


def members(path):
    """The files of an archive."""
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            yield member.name, archive.extractfile(member).read()


def some_lines(data):
    """Five mistakes of different kinds, spread over the file."""
    lines = data.splitlines(keepends=True)
    step = len(lines) // 6
    lines[step] = lines[step].replace(b"\tN\t", b"\tno\t").replace(b"\tY\t", b"\tyes\t")
    lines[2 * step] = lines[2 * step].rsplit(b"\t", 1)[0] + b"\t1\n"
    lines[3 * step] = lines[0]
    lines[4 * step] = b"MATERIAL_BASE-1A_00000000" + lines[4 * step][25:]
    lines[5 * step] = lines[5 * step].rsplit(b"\t", 1)[0] + b"\n"
    return b"".join(lines)


def every_line(data):
    """Every decision in lower case."""
    return data.replace(b"\tN\t", b"\tn\t").replace(b"\tY\t", b"\ty\t")


def every_name(data):
    """Every document's name of the wrong shape, and so every document missing."""
    return data.replace(b"MATERIAL_", b"MATERIALS_")


def carriage_returns(data):
    """Every line ended as on Windows."""
    return data.replace(b"\n", b"\r\n")


SPOILERS = dict(zip(BAD, (some_lines, every_line, every_name, carriage_returns), strict=True))

if __name__ == "__main__":
    make(int(sys.argv[1]), sys.argv[2])
