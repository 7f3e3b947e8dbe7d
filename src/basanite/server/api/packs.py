"""Data packs: what there is, the files for those who may have them, and keys from their minute on (P-26, M89)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi.responses import FileResponse
from pydantic import BaseModel

from basanite.campaign.packs.downloading import hand_out, hand_out_key
from basanite.campaign.packs.files import list_files
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns/{slug}/packs", tags=["packs"])
Anybody = Annotated[Caller, allow("visitor", scope="read")]
Holder = Annotated[Caller, allow("member", "evaluation", scope="download")]
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}


class FileShown(BaseModel):
    """One file of a pack."""

    id: str
    name: str
    size: int
    sha256: str
    encrypted: bool


class PackShown(BaseModel):
    """A pack of the calendar."""

    id: str
    family: str
    title: str
    language: str
    released: datetime
    out: bool
    agreement: str
    usage: str
    key_at: datetime | None
    files: list[FileShown]
    """Listed once the pack is out."""


class KeyShown(BaseModel):
    """The key of an encrypted pack."""

    pack: str
    key: str
    since: datetime


@ROUTER.get("")
def list_packs(caller: Anybody) -> list[PackShown]:
    """All packs of the calendar, with the files of those that are out for who may know them."""
    row, campaign = caller.here
    inside = caller.viewer.team is not None or caller.viewer.staff
    with caller.office.reading() as session:
        files = list_files(session, row.id, campaign) if inside else ()
    shown = []
    for pack in campaign.packs:
        out = pack.released.utc <= caller.now
        own = [one for one in files if one.pack == pack.id and (out or caller.viewer.staff)]
        shown.append(
            PackShown(
                id=pack.id,
                family=pack.family,
                title=pack.title,
                language=pack.language,
                released=pack.released.utc,
                out=out,
                agreement=pack.agreement,
                usage=pack.usage,
                key_at=pack.key_at.utc if pack.key_at else None,
                files=[
                    FileShown(id=one.id, name=one.name, size=one.size, sha256=one.digest, encrypted=one.encrypted)
                    for one in own
                ],
            )
        )
    return shown


@ROUTER.get("/files/{file_id}", response_class=FileResponse, responses=BYTES)
def download_file(file_id: str, caller: Holder) -> FileResponse:
    """A file of a pack; every download is recorded."""
    row, campaign = caller.here
    with caller.office.writing() as session:
        handed = hand_out(session, caller.office, caller.actor, caller.viewer, row.id, campaign, file_id)
    return FileResponse(handed.path, media_type="application/octet-stream", filename=handed.name)


@ROUTER.get("/{pack_id}/key")
def show_key(pack_id: str, caller: Holder) -> KeyShown:
    """The key of an encrypted pack, once it is out."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        key = hand_out_key(session, caller.office, caller.viewer, row.id, campaign, pack_id)
    return KeyShown(pack=key.pack, key=key.key, since=key.since)
