"""What the demo hands out and in: data sets, keys and runs that are made up, and the shipped examples, if present."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.extras import EXTRAS, install_line
from basanite.synthetic.clir import (
    Quality,
    Spec,
    key_members,
    system_members,
    write_lists,
    write_members,
    write_metadata,
)

QUERIES, DOCUMENTS = 24, 120
QUERYSETS: Final[Mapping[str, str]] = {"DEV": "QUERY1", "EVAL1": "QUERY1", "EVAL2": "QUERY2", "EVAL3": "QUERY3"}
SPECS: Final = {name: Spec(QUERIES, DOCUMENTS, seed=11 + number) for number, name in enumerate(QUERYSETS)}


def queryset(task: str, dataset: str) -> str:
    """The queries that go with a data set; tasks about documents or images alone have none."""
    return "" if task in ("DomainID", "LangID") else QUERYSETS.get(dataset, "")


@dataclass(frozen=True)
class SetFiles:
    """The files of one data set."""

    key: Path
    metadata: tuple[Path, Path]
    documents: Path
    queries: Path


def write_set(name: str, folder: Path) -> SetFiles:
    """Write key, lists and factors of a data set."""
    spec = SPECS[name]
    write_members(key_members(spec), folder / "key")
    documents, queries = write_lists(spec, folder)
    return SetFiles(folder / "key", write_metadata(spec, folder / "metadata"), documents, queries)


def write_wrong_key(name: str, folder: Path) -> tuple[Path, str]:
    """Write the key as annotators first had it: for one query all relevant documents were overlooked."""
    members = dict(key_members(SPECS[name]))
    query = max(members, key=lambda member: members[member].count(b"\tY\n"))
    members[query] = members[query].replace(b"\tY\n", b"\tN\n")
    write_members(members.items(), folder)
    return folder, query.removesuffix(".tsv")


def write_run(name: str, quality: Quality, path: Path) -> Path:
    """Write what a system of this quality hands in."""
    write_members(system_members(SPECS[name], quality), path)
    return path


def write_spoilt(name: str, quality: Quality, path: Path) -> Path:
    """Write the same with three common mistakes in it."""
    write_members(spoilt(dict(system_members(SPECS[name], quality))).items(), path)
    return path


def spoilt(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """A submission with three common mistakes: a confidence without decimals, Windows line ends, a missing file."""
    first, second, third, *_ = sorted(files)
    lines = files[first].split(b"\n")
    lines[2] = lines[2].rpartition(b"\t")[0] + b"\t1"
    changed = {first: b"\n".join(lines), second: files[second].replace(b"\n", b"\r\n")}
    return {name: changed.get(name, content) for name, content in files.items() if name != third}


PACKAGE, CONFIG = "reading/nfl", "annotation/nfl-scoring.yaml"
NO_EXAMPLE: Final = "this installation came without the example. The source tree has it."


@dataclass(frozen=True)
class Examples:
    """Where the files of the example lie."""

    folder: Path

    @property
    def package(self) -> Path:
        """The reports with ontology, rules, queries and gold."""
        return self.folder / PACKAGE

    @property
    def config(self) -> str:
        """What is to be marked in them."""
        return (self.folder / CONFIG).read_text(encoding="utf-8")


def examples() -> Examples | None:
    """The example, where there is one."""
    spec = importlib.util.find_spec("basanite_examples")
    installed = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    places = (Path(__file__).resolve().parents[3] / "examples", *installed)
    return next((Examples(one) for one in places if (one / PACKAGE / "package.toml").is_file()), None)


def lacking() -> str:
    """What is missing for machine reading, with the fix; "" if nothing is."""
    missing = EXTRAS["reading"].missing()
    if missing:
        return f"it needs {' and '.join(missing)}. Fix: {install_line('reading')}"
    return "" if examples() else NO_EXAMPLE
