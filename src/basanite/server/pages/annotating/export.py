"""What comes out of a project, as files: annotations in one of the formats, or the package with its grown gold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.annotating import ending, sharing
from basanite.campaign.annotating.finding import project_named
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.formats.archives.repair import write_archive
from basanite.formats.bounded import read_bounded
from basanite.server.catalogue import said
from basanite.server.pages.annotating.project import PROJECT, asked
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import refuse
from basanite.server.pages.organiser.desk import Organiser
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
PACKAGE: Final = "package"
LARGEST: Final = 256 * 2**20
GZIP: Final = "application/gzip"


@ROUTER.post(f"{PROJECT}/export")
def export(request: Request, caller: Organiser, project: str, form: Filled) -> Response:
    """The files: one as it is, several as an archive."""
    try:
        with caller.office.writing() as session:
            found = project_named(session, caller.here[0].id, project)
            name, files = found.name, _files(session, caller, found.id, form)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, asked(caller, project), error)
    if len(files) == 1 and form.text("kind") != PACKAGE:
        ((file, data),) = files.items()
        return sent(data, f"{name}-{file.replace('/', '-')}", "application/octet-stream")
    return sent(packed(files, ending.packages_scratch(caller.office)), f"{name}-{form.text('kind')}.tgz", GZIP)


def _files(session: Session, caller: Caller, project_id: str, form: Form) -> Mapping[str, bytes]:
    kind = form.text("kind")
    if kind == PACKAGE:
        return _grown(session, caller, project_id, form.text("why"))
    if kind not in sharing.ALL:
        raise refused("P-32", said("there is no such format"), said("choose one of the list"), status=422)
    which: Literal["adjudicated", "annotators"] = "annotators" if form.text("which") == "annotators" else "adjudicated"
    shared = sharing.export(session, caller.office, caller.actor, project_id, kind, which=which)
    if not shared.texts:
        raise refused("R-17", said("no text is finished yet"), said("finish the adjudication of some"), status=409)
    return shared.files


def _grown(session: Session, caller: Caller, project_id: str, reason: str) -> dict[str, bytes]:
    """The package with the next version of its gold; beside the sealed files while it is made."""
    with tempfile.TemporaryDirectory(dir=ending.packages_scratch(caller.office)) as scratch:
        folder = Path(scratch) / PACKAGE
        ending.grow(session, caller.office, caller.actor, project_id, folder, reason=reason)
        return dict(_members(folder))


def _members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), read_bounded(path, LARGEST)


def packed(files: Mapping[str, bytes], folder: Path) -> bytes:
    """Files as one archive, made in a folder of ours."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        out = Path(scratch) / "files.tgz"
        write_archive(files.items(), out)
        return out.read_bytes()


def sent(data: bytes, name: str, media: str) -> Response:
    """A file to be kept by the reader."""
    plain = "".join(char for char in name if char.isascii() and (char.isalnum() or char in ".-_"))
    return Response(data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{plain}"'})
