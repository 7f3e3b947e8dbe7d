"""Annotation projects of a campaign: the list, and a form that makes one of a reading package and a configuration."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from basanite.campaign.annotating import looking, setting_up
from basanite.campaign.annotating.finding import configs, projects
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.formats.archives.archive import open_source
from basanite.formats.archives.members import Limits
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.organiser.desk import BASE, Organiser, at
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/annotation"
LARGEST = 256 * 2**20
INSIDE = "annotation.yaml"
"""A configuration that lies in the package; it is taken if none is pasted."""
UNPACKED = Limits(members=20_000, member_bytes=64 * 2**20, total_bytes=2**30)
DEPTH = 4


@dataclass(frozen=True)
class ProjectLine:
    """One project in the list."""

    id: str
    name: str
    title: str
    state: str
    version: int
    texts: int
    tasks: int
    done: int
    adjudicated: int


@dataclass(frozen=True)
class ProjectsPage:
    """All projects, and a form for another."""

    title: str
    projects: tuple[ProjectLine, ...]
    name: str = ""
    config: str = ""
    per_document: str = "2"


@ROUTER.get(ADDRESS)
def list_projects(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(ADDRESS)
async def create(request: Request, caller: Organiser) -> Response:
    """Make a project; the package and the configuration are checked as a whole before anything is kept."""
    taken = await take(request, caller.office.sealed.folder / "fresh", LARGEST)
    try:
        return await run_in_threadpool(_created, request, caller, taken)
    finally:
        taken.forget()


def _created(request: Request, caller: Caller, taken: Taken) -> Response:
    form, row = taken.form, caller.here[0]
    given = form.raw("config").replace("\r\n", "\n")
    try:
        if taken.path is None:
            raise refused(
                "R-14", said("there is no package"), said("choose the archive of a reading package"), status=422
            )
        with unpacked(taken.path) as package, caller.office.writing() as session:
            made = setting_up.create_project(
                session,
                caller.office,
                caller.actor,
                row.id,
                package,
                (given.strip() and given) or inside(package),
                name=form.text("name"),
                per_document=_number(form.text("per_document")),
            ).id
    except RefusedError as error:
        page = _asked(caller, form.text("name"), given, form.text("per_document"))
        return refuse(request, caller, page, error)
    return go(caller, at(caller, f"/annotation/{made}"), said("The project is made. Give its texts to annotators now."))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def inside(package: Path) -> str:
    """The configuration that lies in a package, if there is one."""
    path = package / INSIDE
    if not path.is_file():
        fix = said("paste one, or put {file} into the package", file=INSIDE)
        raise refused("R-14", said("there is no configuration"), fix, status=422)
    return read_bounded(path, setting_up.LARGEST_CONFIG).decode("utf-8", "replace")


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """The folder of a package that came as an archive, for as long as the block lasts; beside the sealed files."""
    findings = Findings()
    with tempfile.TemporaryDirectory(dir=archive.parent) as name:
        folder = Path(name)
        source = open_source(archive, limits=UNPACKED, depth=DEPTH, where="reference")
        for member in source.members(findings, hashed=False):
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(member.data)
        if not source.complete or not findings.valid:
            raise RefusedError(findings.problems, status=422)
        yield _root(folder)


def _root(folder: Path) -> Path:
    """Where the package begins: at the top, or in the one folder that was packed."""
    inner = [path for path in folder.iterdir() if path.is_dir()]
    return inner[0] if not (folder / "package.toml").is_file() and len(inner) == 1 else folder


def _asked(caller: Caller, name: str = "", config: str = "", per_document: str = "2") -> ProjectsPage:
    with caller.office.reading() as session:
        lines = []
        for one in projects(session, caller.here[0].id):
            told = looking.progress(session, caller.office, caller.actor, one.id)
            version = configs(session, one.id)[-1].version
            figures = (version, len(told.texts), told.tasks, told.done, told.adjudicated)
            lines.append(ProjectLine(one.id, one.name, one.title, one.state, *figures))
    return ProjectsPage(say("Annotation"), tuple(lines), name, config, per_document)
