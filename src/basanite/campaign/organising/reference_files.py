"""The files of a reference on their way in: sealed first, then checked in the limited child as submissions are (M36).

A folder becomes one archive, whose bytes depend on its files alone. A reference with a problem never opens a task.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from basanite.campaign.jobs.running import Given, Order, carried_out
from basanite.campaign.model import problem_list, stages
from basanite.campaign.model.finals import openness_table
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.office import Office
from basanite.campaign.organising.references import Material, Place
from basanite.formats.archives.repair import write_archive
from basanite.formats.bounded import check_regular, read_bounded
from basanite.problems import Problem

LARGEST_MEMBER: Final = 64 * 2**20
LARGEST_LIST: Final = 64 * 2**20
NOTHING: Final = "nothing"


@dataclass(frozen=True)
class Paths:
    """Where the files of a reference lie before they are taken in."""

    reference: tuple[Path, ...]
    queries: Path | None = None
    metadata: tuple[Path, ...] = ()
    judgements: Path | None = None
    human: Path | None = None
    documents: Path | None = None
    open_queries: Path | None = None
    """A list of queries that were open to study, one a line: they never count toward a final value (M20)."""


def take_in(office: Office, paths: Paths) -> Material:
    """Keep all files of a reference among the sealed ones."""
    names: dict[str, str] = {}

    def one(path: Path | None) -> str | None:
        return None if path is None else _kept(office, path, names)

    many = {
        role: tuple(_kept(office, path, names) for path in getattr(paths, role)) for role in ("reference", "metadata")
    }
    single = {role: one(getattr(paths, role)) for role in ("queries", "judgements", "human", "documents")}
    material = Material(reference=many["reference"], metadata=many["metadata"], **single, names=names)
    return material if paths.open_queries is None else _with_openness(office, material, paths)


def check(office: Office, campaign: Campaign, place: Place, material: Material, *, sealed: bool = True) -> None:
    """Refuse a reference that cannot be used, with all its problems; a bad key never opens a task (M36)."""
    window = window_of(campaign, place)
    with _empty_submission(office, material) as nothing:
        order = _order(office, window, place, material, nothing, sealed=sealed)
        with carried_out(office, order) as outcome:
            written = outcome.path("problems.json")
            if not outcome.good or written is None:
                message = f"the reference cannot be used: {outcome.fault}"
                hint = "basanite validate TASK --reference KEY --submission RUN"
                raise refused("M36", message, "check it offline first", status=422).with_hint(hint)
            found = problem_list.listed(written.read_bytes())
    bad = [one for one in found["problems"] if one["where"] != "submission" and one["severity"] == "reject"]
    if bad:
        raise RefusedError([_problem(one) for one in bad], status=422)


def window_of(campaign: Campaign, place: Place) -> Window:
    """The row of the calendar that a reference is for; refused if there is none, for nothing would ever use it."""
    for window in campaign.windows:
        with_queries = place.task not in stages.TASKS_WITHOUT_QUERIES
        queryset = stages.queryset_name(campaign, window) if with_queries else ""
        languages = stages.languages(campaign, window) or ("",)
        fits = place.task in window.tasks and place.dataset == "+".join(window.dataset)
        if fits and place.queryset == queryset and place.language in languages:
            return window
    what = f"{place.task} on {place.dataset} with {place.queryset or 'no queries'} ({place.language or 'no language'})"
    fix, hint = "look at the windows of the campaign", "basanite admin window list"
    raise refused("M62", f"no window takes {what}", fix, status=422).with_hint(hint)


def _kept(office: Office, path: Path, names: dict[str, str]) -> str:
    if path.is_dir():
        with tempfile.TemporaryDirectory(dir=_scratch(office)) as folder:
            packed = Path(folder) / f"{path.name or 'reference'}.tgz"
            write_archive(_members(path), packed, source=path)
            return _take(office, packed, names)
    check_regular(path)
    return _take(office, path, names)


def _take(office: Office, path: Path, names: dict[str, str]) -> str:
    digest = office.sealed.take(path).digest
    names[digest] = path.name
    return digest


def _members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            yield path.relative_to(folder).as_posix(), read_bounded(path, LARGEST_MEMBER)


def _scratch(office: Office) -> Path:
    """A folder beside the sealed files: nothing of a key is ever written to a shared place."""
    folder = office.sealed.folder / "fresh"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _with_openness(office: Office, material: Material, paths: Paths) -> Material:
    """Add a table that tells open queries from closed ones, so that the final value leaves the open ones out (M20)."""
    every, opened = _all_queries(paths), set(_listed(paths.open_queries))
    if stray := sorted(opened - set(every)):
        raise refused("M20", f"{stray[0]} is open but no query", "list queries of the pack", status=422, found=stray[0])
    digest = office.sealed.put(openness_table(every, opened).encode()).digest
    names = {**material.names, digest: "openness.tsv"}
    return replace(material, metadata=(*material.metadata, digest), names=names)


def _all_queries(paths: Paths) -> list[str]:
    """Every query: from the query pack, or from a key that is a folder with one file for each."""
    if paths.queries is not None:
        return _listed(paths.queries)
    folder = paths.reference[0]
    if not folder.is_dir():
        fix = "give the key as a folder, or the query pack as well"
        raise refused("M20", "it is not known which queries there are", fix, status=422).with_hint("--queries")
    return sorted(path.stem for path in folder.glob("*.tsv"))


def _listed(path: Path | None) -> list[str]:
    """The first field of every line, without the head of a table."""
    if path is None:
        return []
    lines = read_bounded(path, LARGEST_LIST).decode("utf-8", "replace").splitlines()
    found = [line.split("\t")[0].strip() for line in lines if line.strip()]
    return [name for name in dict.fromkeys(found) if name not in ("query_id", "query")]


@contextmanager
def _empty_submission(office: Office, material: Material) -> Iterator[Path]:
    """A submission without answers, in the form of the reference: the child reads the reference before it."""
    first = material.names.get(material.reference[0], "") if material.reference else ""
    with tempfile.TemporaryDirectory(dir=_scratch(office)) as folder:
        path = Path(folder) / (NOTHING + "".join(Path(first).suffixes[-1:]))
        if path.suffix in (".tgz", ".gz"):
            write_archive([], path)
        else:
            path.write_bytes(b"")
        yield path


def _order(office: Office, window: Window, place: Place, material: Material, nothing: Path, *, sealed: bool) -> Order:
    def given(digest: str | None) -> Given | None:
        return None if digest is None else Given(material.names[digest], office.sealed.path(digest), office.sealed)

    settings = window.settings_of(place.task)
    settings.pop("draws", None)
    many = {role: tuple(map(given, getattr(material, role))) for role in ("reference", "metadata")}
    single = {role: given(getattr(material, role)) for role in ("queries", "judgements", "human", "documents")}
    shared: dict[str, Any] = {**many, **single, "settings": settings, "sealed": sealed}
    return Order("validate", place.task.lower(), submission=Given(nothing.name, nothing), **shared)


def _problem(found: Mapping[str, Any]) -> Problem:
    """A problem of the child's, as ours; what it quotes is the organiser's own file."""
    made = problem(found["rule"], found["message"], found["fix"], found=found["found"], file=found["file"])
    return replace(made, line=found["line"], field=found["field"], column=found["column"], where=found["where"])
