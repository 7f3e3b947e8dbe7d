"""Resumable uploads: tus 1.0 with creation, expiration and termination (M60, X-2).

`POST` begins one, with `Upload-Length` and in `Upload-Metadata` the campaign, the SHA-256 of the whole file and what is
submitted; `PATCH` sends on from `Upload-Offset`; `HEAD` tells how far it is. With the last byte it is a submission,
whose address stands in `Basanite-Submission`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email.utils import format_datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions import plans
from basanite.campaign.intake import uploads
from basanite.campaign.intake.open_uploads import left_uploads, open_uploads
from basanite.campaign.intake.recovery import recover
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.people import roles
from basanite.campaign.store.tables import CampaignRow, Upload
from basanite.server.api.submissions import parse_declared, upload_words
from basanite.server.guard import receive_body
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/uploads", tags=["uploads"])
VERSION = "1.0.0"
EXTENSIONS = "creation,expiration,termination"
MEDIA = "application/offset+octet-stream"
LARGEST = 2**63 - 1
ALWAYS = {"Tus-Resumable": VERSION}
NO_CONTENT: dict[int | str, dict[str, Any]] = {204: {"description": "Done; see the headers."}}

Sender = Annotated[Caller, allow("user", scope="submit")]
Resumable = Annotated[str | None, Header(alias="Tus-Resumable")]
Offset = Annotated[str | None, Header(alias="Upload-Offset")]


class UploadShown(BaseModel):
    """An upload of the caller's own that can be taken up again."""

    url: str
    size: int
    offset: int
    sha256: str
    started: datetime
    expires: datetime
    said: dict[str, str]


class HoldingShown(BaseModel):
    """An open upload of the caller's team: what it holds, until when, and whether it is being sent just now."""

    url: str
    name: str
    window: str
    task: str
    language: str
    type: str
    label: str
    size: int
    arrived: int
    started: datetime
    free_by: datetime
    sending: bool


class LeftShown(BaseModel):
    """An upload that was under way when the server stopped: finished since, or its attempt is free again."""

    name: str
    window: str
    ended: datetime
    submission: str | None


class UploadsShown(BaseModel):
    """The caller's open uploads, all those of the team, and what a server that died left in the last day."""

    uploads: list[UploadShown]
    team: list[HoldingShown]
    interrupted: list[LeftShown]


@ROUTER.options("", status_code=204, response_class=Response)
def uploads_options(caller: Annotated[Caller, allow("visitor")]) -> Response:
    """What this server understands of tus."""
    headers = ALWAYS | {"Tus-Version": VERSION, "Tus-Extension": EXTENSIONS, "Tus-Max-Size": str(LARGEST)}
    return Response(status_code=204, headers=headers)


@ROUTER.get("")
def list_uploads(caller: Sender, campaign: Annotated[str, Query(max_length=100)]) -> UploadsShown:
    """The uploads that are open, so that one can be taken up again after a broken line, or canceled."""
    with caller.office.reading() as session:
        row = plans.current(session, campaign).row
        mine = (Upload.campaign_id == row.id, Upload.person_id == caller.viewer.person, Upload.state == "open")
        in_pieces = Upload.whole.is_(False)
        found = session.scalars(select(Upload).where(*mine, in_pieces).order_by(Upload.started)).all()
        alive = [one for one in found if uploads.office_now(caller.office, one) < one.expires]
        team = roles.viewer(session, row.id, caller.viewer.person).team or ""
        held = open_uploads(session, caller.office, team)
        left = left_uploads(session, caller.office, row.id, team)
    return UploadsShown(
        uploads=[_upload_entry(one) for one in alive],
        team=[HoldingShown(**one.as_dict()) for one in held],
        interrupted=[
            LeftShown(
                name=one.name,
                window=one.window,
                ended=one.ended,
                submission=f"/api/v1/campaigns/{row.slug}/submissions/{one.submission_id}"
                if one.submission_id
                else None,
            )
            for one in left
        ],
    )


@ROUTER.post("", status_code=201, response_class=Response)
def begin_upload(
    caller: Sender,
    length: Annotated[str | None, Header(alias="Upload-Length")] = None,
    metadata: Annotated[str, Header(alias="Upload-Metadata")] = "",
    resumable: Resumable = None,
) -> Response:
    """Begin an upload, or take up the same one that is open; its attempt is reserved, and its time is now."""
    check_version(resumable)
    size, said = _number(length, "Upload-Length"), upload_words(metadata)
    with caller.office.reading() as session:
        team = team_in(session, caller, said.get("campaign", ""))
    recover(caller.office, team)
    with caller.office.writing() as session:
        row = uploads.begin(
            session,
            caller.office,
            caller.actor,
            team,
            uploads.NewUpload(parse_declared(said), size=size, sha256=said.get("sha256", "").lower()),
        )
        row.said = {name: word for name, word in said.items() if name != "sha256"}
    caller.note_address()
    headers = ALWAYS | {"Location": f"/api/v1/uploads/{row.id}", "Upload-Expires": _http(row.expires)}
    return Response(
        status_code=201, headers=headers | {"Upload-Offset": str(row.offset)}, background=_tell_later(caller, row)
    )


@ROUTER.head("/{upload_id}", status_code=200, response_class=Response)
def show_upload(upload_id: str, caller: Sender, resumable: Resumable = None) -> Response:
    """The progress of an upload."""
    check_version(resumable)
    row, slug = find_upload(caller, upload_id)
    headers = _headers(row, slug) | {"Upload-Length": str(row.size)}
    return Response(status_code=200, headers=headers, background=_tell_later(caller, row))


@ROUTER.patch("/{upload_id}", status_code=204, response_class=Response, responses=NO_CONTENT)
async def send_piece(
    upload_id: str,
    caller: Sender,
    request: Request,
    offset: Offset = None,
    resumable: Resumable = None,
    content_type: Annotated[str | None, Header()] = None,
) -> Response:
    """Send on from the offset; with the last byte it becomes a submission."""
    check_version(resumable)
    if content_type != MEDIA:
        raise refused("M60", "the Content-Type of the chunk is missing", f"send Content-Type: {MEDIA}", status=415)
    start = _number(offset, "Upload-Offset")
    row, slug = await run_in_threadpool(find_upload, caller, upload_id)
    _check_length(request, row.size - start)
    upload = (caller.office, caller.actor, upload_id)
    hold = await run_in_threadpool(uploads.take_hold, *upload)
    try:
        at = await receive_body(request, lambda pieces: uploads.append(*upload, start, pieces, hold))
        if at == row.size:
            await run_in_threadpool(uploads.finish, *upload, hold)
        row, slug = await run_in_threadpool(find_upload, caller, upload_id)
    except BaseException:  # whatever ends the call, the lock on the file is let go
        hold.close()
        raise
    later = BackgroundTask(uploads.release, caller.office, hold) if row.submission_id else BackgroundTask(hold.close)
    return Response(status_code=204, headers=_headers(row, slug), background=later)


@ROUTER.post("/{upload_id}", status_code=204, response_class=Response, responses=NO_CONTENT)
async def send_piece_by_post(
    upload_id: str,
    caller: Sender,
    request: Request,
    method: Annotated[str, Header(alias="X-HTTP-Method-Override")] = "",
    offset: Offset = None,
    resumable: Resumable = None,
    content_type: Annotated[str | None, Header()] = None,
) -> Response:
    """The same for senders whose network lets no PATCH through."""
    # Seven parameters: FastAPI reads each part of the call from one of its own.
    if method != "PATCH":
        raise refused("M60", "chunks are sent with PATCH", "or with X-HTTP-Method-Override: PATCH", status=405)
    return await send_piece(upload_id, caller, request, offset, resumable, content_type)


@ROUTER.delete("/{upload_id}", status_code=204, response_class=Response, responses=NO_CONTENT)
def cancel_upload(upload_id: str, caller: Sender, resumable: Resumable = None) -> Response:
    """Give an upload up; its attempt is free again."""
    check_version(resumable)
    with caller.office.writing() as session:
        uploads.cancel(session, caller.office, caller.actor, upload_id)
    return Response(status_code=204, headers=ALWAYS)


def _tell_later(caller: Caller, row: Upload) -> BackgroundTask | None:
    """Once this answer is out, the sender knows of the submission."""
    return BackgroundTask(uploads.tell, caller.office, row.id) if row.submission_id and row.holder else None


class VersionError(RefusedError):
    """The sender speaks another version of tus."""

    headers: Mapping[str, str] = {"Tus-Version": VERSION}


def check_version(resumable: str | None) -> None:
    """Refuse senders who speak another version of tus, or none."""
    if resumable != VERSION:
        wrong = refused(
            "M60", "Tus-Resumable is missing or has an unsupported version", f"send Tus-Resumable: {VERSION}"
        )
        raise VersionError(wrong.problems, status=412)


def team_in(session: Session, caller: Caller, campaign: str) -> str:
    """The caller's team in the campaign that is meant."""
    row = plans.current(session, campaign).row
    viewer = roles.viewer(session, row.id, caller.viewer.person)
    if viewer.team is None:
        raise refused("M61", "you are not in a team of this campaign", "join one: its PI approves you", status=403)
    return viewer.team


def find_upload(caller: Caller, upload_id: str) -> tuple[Upload, str]:
    """An upload of the caller's team that is not over, with its campaign's slug."""
    with caller.office.reading() as session:
        row = uploads.find(session, caller.actor, upload_id)
        slug = session.get_one(CampaignRow, row.campaign_id).slug
    if row.state != "complete":
        uploads.check_alive(row, uploads.office_now(caller.office, row))
    return row, slug


def _check_length(request: Request, left: int) -> None:
    """More than is left is refused before a byte of it is read; the sender may find a fault in his counting."""
    given = request.headers.get("content-length", "")
    if given.isascii() and given.isdecimal() and (len(given) > 19 or int(given) > left):
        raise refused("X-2", f"{given[:19]} bytes were sent and {left} are left", "send only what is left", status=413)


def _number(text: str | None, name: str) -> int:
    if text is None or not text.isascii() or not text.isdecimal() or len(text) > 19 or int(text) > LARGEST:
        raise refused("M60", f"{name} is missing or not a number", f"send {name}: a number of bytes", status=400)
    return int(text)


def _headers(row: Upload, slug: str) -> dict[str, str]:
    headers = ALWAYS | {"Upload-Offset": str(row.offset), "Upload-Expires": _http(row.expires)}
    if row.submission_id is None:
        return headers
    return headers | {"Basanite-Submission": f"/api/v1/campaigns/{slug}/submissions/{row.submission_id}"}


def _http(moment: datetime) -> str:
    return format_datetime(moment, usegmt=True)


def _upload_entry(row: Upload) -> UploadShown:
    return UploadShown(
        url=f"/api/v1/uploads/{row.id}",
        size=row.size,
        offset=row.offset,
        sha256=row.sha256,
        started=row.started,
        expires=row.expires,
        said={str(name): str(word) for name, word in row.said.items()},
    )
