"""What systems are called where nobody says: their files without the ending, or the model of a log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ENDINGS: Final = (
    *(".tgz", ".tar.gz", ".trees", ".tsv", ".jsonl", ".ndjson", ".json", ".csv", ".parquet", ".txt", ".ctm", ".run"),
    *(".npz", ".npy", ".zarr", ".eval", ".conllu", ".conll", ".iob", ".bio"),
)
"""What a file name loses where it becomes the name of a system."""
TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d")
"""A moment in a file's name, by which programs name their logs."""


def system_name(path: Path) -> str:
    """What a system is called if nobody says: its file's name without the suffix, or the model of a log.

    >>> system_name(Path("runs/Alpha.tgz"))
    'Alpha'
    """
    if TIME.search(path.name):
        from basanite.formats.scores.log_places import model_of_log  # only logs need it, and many commands this module

        return model_of_log(path) or _stem(path)
    return _stem(path)


def system_names(paths: Sequence[Path]) -> list[str]:
    """What several systems are called; those that would be called the same also after their folders.

    >>> system_names([Path("a/run.csv"), Path("b/run.csv"), Path("Beta.csv")])
    ['a/run', 'b/run', 'Beta']
    """
    names = [system_name(path) for path in paths]
    for longer in (_folder, _stem, lambda path: f"{path.absolute().parent.name}/{_stem(path)}"):
        counts = Counter(names)
        names = [longer(path) if counts[name] > 1 else name for name, path in zip(names, paths, strict=True)]
    counts = Counter(names)  # one path given twice: the caller says so, and by its short name
    return [_stem(path) if counts[name] > 1 else name for name, path in zip(names, paths, strict=True)]


def _folder(path: Path) -> str:
    """The folder of a log that is named by its time: runs of one model lie in folders of their own."""
    if not TIME.search(path.name):
        return _stem(path)
    folder = path.absolute().parent
    return folder.name if path.suffix == ".eval" else f"{folder.parent.name}/{folder.name}"


def _stem(path: Path) -> str:
    name = path.name or path.resolve().name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name
