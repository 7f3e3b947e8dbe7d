"""Organisers' annotation projects: made, assigned, exported, and ended in a version of the reference (R-14, R-17)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, get_args

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions.references import Place
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.people.roles import holders
from basanite.campaign.store.tables import Reference
from basanite.campaign.work.annotation import assignment, exchange, monitor, outcome, setup
from basanite.campaign.work.annotation.lookup import configs, documents, project_named, projects
from basanite.campaign.work.annotation.monitor import Progress, TextProgress
from basanite.formats.archives.archive import open_source
from basanite.formats.archives.members import Limits
from basanite.formats.archives.output import write_archive
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.forms import Form, PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_data import places, words_of
from basanite.server.pages.organiser_frame import BASE, Organiser, at, finish_form, name_of, person_with
from basanite.server.roles import Caller
from basanite.work.exchange.formats import format_named

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

    template = "annotation/projects.html"
    title: str
    projects: tuple[ProjectLine, ...]
    name: str = ""
    config: str = ""
    per_document: str = "2"


@ROUTER.get(ADDRESS)
def list_projects(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _projects_page(caller))


@ROUTER.post(ADDRESS)
async def create(request: Request, caller: Organiser) -> Response:
    """Make a project; the package and the configuration are checked as a whole before anything is kept."""
    taken = await read_upload_form(request, caller.office.sealed.scratch, LARGEST)
    try:
        return await run_in_threadpool(_create_project, request, caller, taken)
    finally:
        taken.forget()


def _create_project(request: Request, caller: Caller, taken: UploadForm) -> Response:
    form, row = taken.form, caller.here[0]
    given = form.raw("config").replace("\r\n", "\n")
    try:
        if taken.path is None:
            raise refused(
                "R-14",
                say_plain("the package is missing"),
                say_plain("choose a reading package archive"),
                status=422,
            )
        with unpack_package(taken.path) as package, caller.office.writing() as session:
            made = setup.create_project(
                session,
                caller.office,
                caller.actor,
                row.id,
                setup.NewProject(
                    package,
                    (given.strip() and given) or inside(package),
                    name=form.text("name"),
                    per_document=_number(form.text("per_document")),
                ),
            ).id
    except RefusedError as error:
        page = _projects_page(caller, form.text("name"), given, form.text("per_document"))
        return refuse(request, caller, page, error)
    return go(
        caller,
        at(caller, f"/annotation/{made}"),
        say_plain("The project is created. You can assign its texts to annotators now."),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def inside(package: Path) -> str:
    """The configuration that lies in a package, if there is one."""
    path = package / INSIDE
    if not path.is_file():
        fix = say_plain("paste a configuration, or add {file} to the package", file=INSIDE)
        raise refused("R-14", say_plain("the configuration is missing"), fix, status=422)
    return read_bounded(path, setup.LARGEST_CONFIG).decode("utf-8", "replace")


@contextmanager
def unpack_package(archive: Path) -> Iterator[Path]:
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
        yield package_root(folder)


def package_root(folder: Path) -> Path:
    """Where a package or project begins: at the top, or in the one folder that was packed."""
    inner = list(folder.iterdir())
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else folder


def _projects_page(caller: Caller, name: str = "", config: str = "", per_document: str = "2") -> ProjectsPage:
    with caller.office.reading() as session:
        lines = []
        for one in projects(session, caller.here[0].id):
            told = monitor.progress(session, caller.office, caller.actor, one.id)
            version = configs(session, one.id)[-1].version
            figures = (version, len(told.texts), told.tasks, told.done_tasks, told.adjudicated_texts)
            lines.append(ProjectLine(one.id, one.name, one.title, one.state, *figures))
    return ProjectsPage(say("Annotation"), tuple(lines), name, config, per_document)


PROJECT = f"{ADDRESS}/{{project}}"
SHOWN = 500
"""Texts that are listed."""
MOST_PEOPLE = 100
TITLES = {
    "turtle": "RDF: Turtle",
    "rdfxml": "RDF/XML",
    "jsonld": "RDF: JSON-LD",
    "nquads": "RDF: N-Quads",
    "annotations": "annotations.ndjson",
    "pairs": say_plain("pairs of claim and text"),
    "records": say_plain("records with all events"),
}
FORMATS = tuple((name, TITLES.get(name) or format_named(name).title) for name in exchange.ALL)


@dataclass(frozen=True)
class PersonLine:
    """One person's share of the work."""

    name: str
    role: str
    waiting: int
    working: int
    done: int
    minutes: float


@dataclass(frozen=True)
class VersionLine:
    """One version of the configuration."""

    version: int
    made: datetime
    by: str
    reason: str
    changes: tuple[str, ...]


@dataclass(frozen=True)
class ProjectPage:
    """A project as its organisers see it."""

    template = "annotation/project.html"
    title: str
    id: str
    name: str
    state: str
    per_document: int
    tasks: int
    done: int
    adjudicated: int
    people: tuple[PersonLine, ...]
    texts: tuple[TextProgress, ...]
    total: int
    versions: tuple[VersionLine, ...]
    parts: tuple[tuple[str, str], ...]
    adjudicators: tuple[str, ...] = ()
    people_given: str = ""
    formats: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    """What a version of the truth can be for."""


@ROUTER.get(PROJECT)
def look(request: Request, caller: Organiser, project: str) -> Response:
    """The page."""
    return show(request, caller, project_page(caller, project))


@ROUTER.post(f"{PROJECT}/assign")
def assign(request: Request, caller: Organiser, project: str, form: PostedForm) -> Response:
    """Give texts to people, named by their mail addresses; what they have already counts."""

    def act(session: Session) -> object:
        found = project_named(session, caller.here[0].id, project)
        persons = [person_with(session, caller, mail) for mail in _mails(form.text("people"))]
        wanted = form.text("per_document")
        number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 3 else None
        who = (session, caller.office, caller.actor, found.id)
        scope = assignment.TextScope(part=form.text("part") or None, per_document=number)
        return assignment.assign(*who, persons, scope)

    return _finish_project_form(
        request, caller, project, act, say_plain("The texts are assigned."), form.text("people")
    )


@ROUTER.post(f"{PROJECT}/adjudicators")
def adjudicator(request: Request, caller: Organiser, project: str, form: PostedForm) -> Response:
    """Let somebody adjudicate in this campaign."""

    def act(session: Session) -> None:
        project_named(session, caller.here[0].id, project)
        person = person_with(session, caller, form.text("mail"))
        assignment.enrol(session, caller.office, caller.actor, caller.here[0].id, person, "adjudicator")

    return _finish_project_form(request, caller, project, act, say_plain("This person can adjudicate now."))


@ROUTER.post(f"{PROJECT}/state")
def state(request: Request, caller: Organiser, project: str, form: PostedForm) -> Response:
    """Close the project, or open it again."""
    act_on = setup.close_project if form.text("state") == "closed" else setup.open_project

    def act(session: Session) -> object:
        found = project_named(session, caller.here[0].id, project)
        return act_on(session, caller.office, caller.actor, found.id, reason=form.text("reason"))

    return _finish_project_form(request, caller, project, act, say_plain("Done."))


def _mails(text: str) -> list[str]:
    found = list(dict.fromkeys(text.replace(",", " ").replace(";", " ").split()))
    if not found or len(found) > MOST_PEOPLE:
        raise refused(
            "R-15", say_plain("no person is given"), say_plain("enter email addresses, one per line"), status=422
        )
    return found


def _finish_project_form(
    request: Request, caller: Caller, project: str, act: Callable[[Session], object], words: str, given: str = ""
) -> Response:
    again = lambda: project_page(caller, project, given)  # noqa: E731
    return finish_form(request, caller, act, again, at(caller, f"/annotation/{project}"), words)


def project_page(caller: Caller, name: str, given: str = "") -> ProjectPage:
    """The project of an id or a name, if it is one of this campaign."""
    campaign = caller.here[0].id
    with caller.office.reading() as session:
        project = project_named(session, campaign, name)
        told = monitor.progress(session, caller.office, caller.actor, project.id)
        versions = tuple(
            VersionLine(one.version, one.made, name_of(session, caller, one.by), one.reason, tuple(map(str, one.diff)))
            for one in reversed(configs(session, project.id))
        )
        parts = sorted({one.part for one in documents(session, project.id)})
        judges = tuple(name_of(session, caller, one) for one in holders(session, campaign, ("adjudicator",)))
        people = _people(session, caller, told)
    return ProjectPage(
        project.title or project.name,
        project.id,
        project.name,
        project.state,
        project.per_document,
        told.tasks,
        told.done_tasks,
        told.adjudicated_texts,
        people,
        told.texts[:SHOWN],
        len(told.texts),
        versions,
        (("", say_plain("all splits")), *((part, part) for part in parts)),
        judges,
        given,
        FORMATS,
        tuple((key, words_of(place)) for key, place in reading_places(caller).items()),
    )


def reading_places(caller: Caller) -> dict[str, Place]:
    """The places of this campaign's plan that a reading package can be the reference of."""
    return {key: place for key, place in places(caller.here[1]).items() if place.task.lower() == "reading"}


def _people(session: Session, caller: Caller, told: Progress) -> tuple[PersonLine, ...]:
    return tuple(
        PersonLine(
            name_of(session, caller, one.person_id), one.role, one.waiting, one.working, one.done, round(one.minutes, 1)
        )
        for one in told.people
    )


@ROUTER.post(f"{PROJECT}/reference")
def make(request: Request, caller: Organiser, project: str, form: PostedForm) -> Response:
    """Make a version of the reference, and go where its re-scoring is previewed."""
    try:
        made = _make_reference(caller, project, form)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, project_page(caller, project), error)
    if made.state == "active":
        return go(caller, at(caller, "/references"), say_plain("The reference is sealed and active. The task is open."))
    words = say_plain("The version is sealed and proposed. Preview a re-scoring to see what it would change.")
    return go(caller, at(caller, f"/rescoring?reference={made.id}"), words)


def _make_reference(caller: Caller, project: str, form: Form) -> Reference:
    place = reading_places(caller).get(form.text("place"))
    if place is None:
        raise refused(
            "M62", say_plain("no window accepts this"), say_plain("choose what the reference is for"), status=422
        )
    reason = form.text("because")
    with caller.office.reading() as session:
        found = project_named(session, caller.here[0].id, project).id
    new = outcome.prepare_reference(caller.office, caller.actor, found, place, reason=reason)
    with caller.office.writing() as session:
        return outcome.make_reference(session, caller.office, caller.actor, found, new)


PACKAGE: Final = "package"
LARGEST_EXPORT: Final = 256 * 2**20
GZIP: Final = "application/gzip"


@ROUTER.post(f"{PROJECT}/export")
def export(request: Request, caller: Organiser, project: str, form: PostedForm) -> Response:
    """The files: one as it is, several as an archive."""
    try:
        with caller.office.writing() as session:
            found = project_named(session, caller.here[0].id, project)
            name, files = found.name, _files(session, caller, found.id, form)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, project_page(caller, project), error)
    if len(files) == 1 and form.text("kind") != PACKAGE:
        ((file, data),) = files.items()
        return file_response(data, f"{name}-{file.replace('/', '-')}", "application/octet-stream")
    return file_response(pack_files(files, caller.office.sealed.scratch), f"{name}-{form.text('kind')}.tgz", GZIP)


def _files(session: Session, caller: Caller, project_id: str, form: Form) -> Mapping[str, bytes]:
    kind = form.text("kind")
    if kind == PACKAGE:
        return _grown(session, caller, project_id, form.text("why"))
    if kind not in exchange.ALL:
        raise refused("P-32", say_plain("no such format"), say_plain("choose an entry from the list"), status=422)
    which: exchange.Which = next((one for one in get_args(exchange.Which) if one == form.text("which")), "adjudicated")
    shared = exchange.export(session, caller.office, caller.actor, project_id, exchange.ExportChoice(kind, which=which))
    if not shared.texts:
        raise refused(
            "R-17", say_plain("no text is finished yet"), say_plain("complete some adjudications first"), status=409
        )
    return shared.files


def _grown(session: Session, caller: Caller, project_id: str, reason: str) -> dict[str, bytes]:
    """The package with the next version of its gold; beside the sealed files while it is made."""
    with tempfile.TemporaryDirectory(dir=caller.office.sealed.scratch) as scratch:
        folder = Path(scratch) / PACKAGE
        outcome.grow(session, caller.office, caller.actor, project_id, folder, reason=reason)
        return dict(_members(folder))


def _members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), read_bounded(path, LARGEST_EXPORT)


def pack_files(files: Mapping[str, bytes], folder: Path) -> bytes:
    """Files as one archive, made in a folder of ours."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        out = Path(scratch) / "files.tgz"
        write_archive(files.items(), out)
        return out.read_bytes()


def file_response(data: bytes, name: str, media: str) -> Response:
    """A file to be kept by the reader."""
    plain = "".join(char for char in name if char.isascii() and (char.isalnum() or char in ".-_"))
    return Response(data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{plain}"'})
