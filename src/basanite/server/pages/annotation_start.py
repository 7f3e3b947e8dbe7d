"""A new annotation project from texts and labels, and the way in for those who annotate on this machine (R-40)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.work.annotation import quick_start
from basanite.campaign.work.annotation.quick_start import Material
from basanite.errors import UnreadableError
from basanite.formats.archives.zip_folder import unpack_zip
from basanite.problems import Findings
from basanite.server.accounts.local_links import ADDRESS as ENTER
from basanite.server.accounts.local_links import local_person
from basanite.server.catalogue import say, say_plain
from basanite.server.guard import count_try
from basanite.server.pages.annotation_projects import ADDRESS, LARGEST, UNPACKED, package_root, unpack_package
from basanite.server.pages.forms import Form, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_frame import Organiser, at
from basanite.server.pages.sign_in import let_in
from basanite.server.roles import Caller, allow, from_this_machine
from basanite.work.annotation.labels import LabelError, LabelSet, read_labels
from basanite.work.exchange.projects import Project, read_project

ROUTER = APIRouter(include_in_schema=False)
PACKED: Final = (".tgz", ".tar.gz")
FIELDS: Final = ("title", "texts", "column", "labels", "questions", "relations", "guide", "per_document")


@dataclass(frozen=True)
class NewProjectPage:
    """The form, with what was typed so far."""

    template = "annotation/new.html"
    title: str
    back: str
    given: dict[str, str]


@ROUTER.get(f"{ADDRESS}/new")
def show_form(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _page(caller, Form()))


@ROUTER.post(f"{ADDRESS}/new")
async def create(request: Request, caller: Organiser) -> Response:
    """Make the project; nothing is kept of texts or labels that have problems."""
    taken = await read_upload_form(request, caller.office.sealed.scratch, LARGEST)
    try:
        return await run_in_threadpool(_create, request, caller, taken)
    finally:
        taken.forget()


def _create(request: Request, caller: Caller, taken: UploadForm) -> Response:
    form = taken.form
    try:
        source = _source(taken, form)
        material = Material(source.texts, source.labels, form.text("title"), form.raw("guide").replace("\r\n", "\n"))
        wanted = form.text("per_document")
        count = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 3 else 0
        with caller.office.writing() as session:
            who = (session, caller.office, caller.actor, caller.here[0].id)
            made = quick_start.create_from_texts(*who, material, per_document=count).id
    except UnreadableError as error:
        told = refused("X-8", say_plain("this file cannot be read"), str(error), status=422)
        return refuse(request, caller, _page(caller, form), told)
    except RefusedError as error:
        return refuse(request, caller, _page(caller, form), error)
    words = say_plain("The project is created. You can assign its texts to annotators now.")
    return go(caller, at(caller, f"/annotation/{made}"), words)


def _source(taken: UploadForm, form: Form) -> Project:
    """Texts and labels of the form; what the file declares and what was typed come together."""
    typed = _typed_labels(form)
    findings = Findings()
    with _given_file(taken, form) as path:
        source = read_project(path, findings, column=form.text("column"))
    if not findings.valid:
        raise RefusedError(findings.problems, status=422)
    return replace(source, labels=source.labels.joined(typed))


def _typed_labels(form: Form) -> LabelSet:
    given = [form.raw(name).replace("\r", "") for name in ("labels", "questions", "relations")]
    if not any(text.strip() for text in given):
        return LabelSet()
    try:
        return read_labels(given[0], given[1].split("\n"), given[2].split("\n"))
    except LabelError as error:
        raise refused("R-40", str(error), error.fix, status=422) from None


@contextmanager
def _given_file(taken: UploadForm, form: Form) -> Iterator[Path]:
    """The texts as a file or a folder: an archive is unpacked, pasted texts are lines."""
    pasted = form.raw("texts").replace("\r\n", "\n")
    with tempfile.TemporaryDirectory(prefix="basanite-") as scratch:
        if taken.path is not None and taken.name.lower().endswith(PACKED):
            with unpack_package(taken.path) as folder:
                yield folder
            return
        if taken.path is not None and taken.name.lower().endswith(".zip"):
            unpack_zip(taken.path, Path(scratch), UNPACKED)
            yield package_root(Path(scratch))
            return
        if taken.path is None and not pasted.strip():
            fix = say_plain("choose a file, or paste one text per line")
            raise refused("R-40", say_plain("there are no texts"), fix, status=422)
        name = Path(taken.name.replace("\\", "/")).name if taken.path is not None else "texts.txt"
        path = Path(scratch) / f"texts{Path(name).suffix.lower()[:10]}"
        path.write_bytes(taken.path.read_bytes() if taken.path is not None else pasted.encode())
        yield path


def _page(caller: Caller, form: Form) -> NewProjectPage:
    given = {name: form.raw(name) for name in FIELDS}
    given["per_document"] = given["per_document"] or "2"
    return NewProjectPage(say("New annotation project"), at(caller, "/annotation"), given)


@ROUTER.get(ENTER)
def enter(request: Request, caller: Annotated[Caller, allow("visitor")], key: str = "") -> Response:
    """Sign in an annotator of this machine, and open the texts.

    The address counts too: another site whose name was made to lead here must find no way in.
    """
    here = request.headers.get("host", "") == urlsplit(caller.office.address).netloc
    if not (here and from_this_machine(request)):
        raise missing("page")
    count_try(request, "sign-in")
    with caller.office.reading() as session:
        person = local_person(session, caller.office, key)
    if person is None:
        raise missing("page")
    return let_in(request, caller, person, f"/campaigns/{quick_start.SLUG}/annotate/next")
