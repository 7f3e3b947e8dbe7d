"""The small end-to-end example: `python -m tests.synthetic.summaries_example FOLDER` makes it again, byte for byte.

Two systems that return the same kind of documents but differ in their judges' faith, and a folder of broken summaries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from basanite.synthetic.clir import Quality, Spec, write_key, write_lists, write_members, write_metadata
from basanite.synthetic.summaries import Summarised, summary_members, write_judgements, write_summaries

SPEC = Spec(queries=18, documents=30, seed=4, prevalence=0.06)
DOUBTED = {"judge1": 0.7, "judge2": 0.65, "judge3": 0.6, "judge4": 0.6, "judge5": 0.55}
SYSTEMS = (
    Summarised(SPEC, Quality("Alpha", 9.0, beta=10.0)),
    Summarised(SPEC, Quality("Beta", 8.0, beta=10.0), team="SARAL", judges=DOUBTED),
)
Change = Callable[[bytes], bytes]


def _replaced(old: bytes, new: bytes) -> Change:
    return lambda data: data.replace(old, new, 1)


MISTAKES: Mapping[str, tuple[str, Change | None]] = {
    "a team that is not registered in the fourth field (M40)": (".tsv", _replaced(b"\tFLAIR.", b"\tFlair.")),
    "a date without its offset (M44)": (".json", _replaced(b"T09:00:00-05:00", b"T09:00:00")),
    "another document inside than in the name (M45)": (".json", _replaced(b"BASE-1A_", b"BASE-1A_0")),
    "an image that is cut off (M48)": (".png", lambda data: data[: len(data) // 2]),
    "an image that is missing (M42)": (".png", None),
}
"""By what is wrong: the kind of file and how to spoil it (or that it is left out). Each query gets one mistake."""


def write_broken(folder: Path) -> list[tuple[str, str]]:
    """Write the first queries of Alpha with one mistake in each; returns the files and what is wrong with them."""
    members = dict(summary_members(SYSTEMS[0]))
    folders = sorted({name.split("/")[0] for name in members if name.endswith(".png")})
    told = []
    for query, (words, (kind, change)) in zip(folders, MISTAKES.items(), strict=False):
        name = min(name for name in members if name.startswith(query) and name.endswith(kind))
        data = members.pop(name)
        members |= {} if change is None else {name: change(data)}
        told.append((name, words))
    write_members(members.items(), folder)
    return told


def write_example(folder: Path) -> None:
    """Write the whole example into a folder; archives that are there are made again."""
    write_key(SPEC, folder / "key")
    write_metadata(SPEC, folder / "metadata")
    write_lists(SPEC, folder)
    archives = {f"{system.quality.label}.tgz": system for system in SYSTEMS}
    for name in (*archives, "Broken.tgz"):
        (folder / name).unlink(missing_ok=True)
    write_broken(folder / "Broken.tgz")
    for name, system in archives.items():
        write_summaries(system, folder / name)
        write_judgements(system, folder / f"{system.quality.label}.judgements.tsv")


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
