"""Files that organizers handle, for programs: data of packs, references, signed copies, and the export (P-37).

What has no file is an action (`api.actions`). A file is the body of its call, as for submissions; it goes straight to
disk, for references nowhere but beside the sealed ones.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field

from basanite.campaign.actions.packs import NewFile, add_file, find_pack
from basanite.campaign.actions.reference_intake import LARGEST as LARGEST_REFERENCE
from basanite.campaign.actions.reference_intake import add_from_file
from basanite.campaign.actions.references import Place, window_of
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.people import agreements
from basanite.campaign.store.files import check_room, room_needed
from basanite.campaign.store.tables import Signature
from basanite.server.exports import export_response
from basanite.server.guard import receive_body
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns/{slug}", tags=["organizers"])
Organizer = Annotated[Caller, allow("evaluation", scope="organise")]
LARGEST_FILE = 64 * 2**30
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
Name = Annotated[str, Query(min_length=1, max_length=255)]
Result = TypeVar("Result")


class ReferenceSaid(BaseModel):
    """What a reference is for, and what its file is called."""

    task: str = Field(max_length=100)
    dataset: str = Field(max_length=200)
    language: str = Field(default="", max_length=100)
    queryset: str = Field(default="", max_length=200)
    name: str = Field(min_length=1, max_length=255)
    reason: str = Field(default="", max_length=2000)

    @property
    def place(self) -> Place:
        """What it is for."""
        return Place(self.task, self.dataset, self.language, self.queryset)


class FileAdded(BaseModel):
    """A file of a pack as it is kept."""

    id: str
    name: str
    size: int
    sha256: str
    encrypted: bool


class ReferenceAdded(BaseModel):
    """A version of a reference; nothing of its content."""

    reference: str
    version: int
    state: str
    """`active` opens the task; `proposed` waits for a re-scoring, or as the first one for a second organizer."""
    commitment: str
    made: datetime


@ROUTER.post("/packs/{pack_id}/files", status_code=201, openapi_extra=BODY)
async def add_pack_file(pack_id: str, caller: Organizer, request: Request, name: Name) -> FileAdded:
    """Add a file to a pack; one with a key time is encrypted before it is stored."""
    folder = caller.office.settings.data / "uploads"
    return await _with_file(request, folder, LARGEST_FILE, lambda path: _add_file(caller, pack_id, path, name))


@ROUTER.post("/references", status_code=201, openapi_extra=BODY)
async def add_reference(caller: Organizer, request: Request, said: Annotated[ReferenceSaid, Query()]) -> ReferenceAdded:
    """Add a version of a reference: it is checked like a submission, sealed and versioned, as by the command."""
    window_of(caller.here[1], said.place)
    folder = caller.office.sealed.scratch
    return await _with_file(request, folder, LARGEST_REFERENCE, lambda path: _add_reference(caller, said, path))


@ROUTER.get("/signatures/{signature_id}/copy", response_class=Response, responses=BYTES)
def show_signed_copy(signature_id: str, caller: Organizer) -> Response:
    """A signed copy of an agreement, to look at before it is countersigned."""
    with caller.office.reading() as session:
        row = session.get(Signature, signature_id)
        if row is None or row.campaign_id != caller.here[0].id:
            raise missing("copy")
        found = agreements.signed_copy(session, caller.office, caller.actor, signature_id)
    if found is None:
        raise missing("copy")
    kind, content = found
    return Response(content, media_type=kind)


@ROUTER.get("/export", response_class=FileResponse, responses=BYTES)
def export(caller: Organizer, references: bool = False) -> FileResponse:
    """The whole campaign as an archive, which another server imports; references only where they are asked for."""
    return export_response(caller.office, caller.here[0], references=references)


async def _with_file(request: Request, folder: Path, largest: int, work: Callable[[Path], Result]) -> Result:
    """Keep the body of a call in a file while something is done with it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"call-{secrets.token_hex(8)}"
    try:
        return await receive_body(request, lambda pieces: work(_write_body(pieces, path, largest)))
    finally:
        path.unlink(missing_ok=True)


def _write_body(pieces: Iterator[bytes], path: Path, largest: int) -> Path:
    size = 0
    check_room(path.parent, 0)
    with path.open("xb") as file:
        for piece in pieces:
            size += len(piece)
            if size > largest:
                raise refused("M60", f"the file has more than {largest:,} bytes", "send a smaller file", status=413)
            with room_needed():
                file.write(piece)
    if not size:
        raise refused("M60", "the file is empty", "send the file as the body of the call", status=422)
    return path


def _add_file(caller: Caller, pack_id: str, path: Path, name: str) -> FileAdded:
    row, campaign = caller.here
    with caller.office.writing() as session:
        pack = find_pack(campaign, pack_id)
        made = add_file(session, caller.office, caller.actor, row.id, pack, NewFile(path, name))
    return FileAdded(id=made.id, name=made.name, size=made.size, sha256=made.digest, encrypted=made.encrypted)


def _add_reference(caller: Caller, said: ReferenceSaid, path: Path) -> ReferenceAdded:
    names = {"name": said.name, "reason": said.reason}
    made = add_from_file(caller.office, caller.actor, caller.here, said.place, path, **names)
    return ReferenceAdded(
        reference=made.id, version=made.version, state=made.state, commitment=made.commitment, made=made.made
    )
