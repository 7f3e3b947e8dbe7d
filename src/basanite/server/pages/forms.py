"""Forms: small, bounded, and only from pages of ours (X-11); or with one file, for browsers without scripts (P-11).

Of a form with a file the fields come first, then the file straight to disk: the token of the form is checked before the
first byte of the file is kept, and nothing is ever held in memory but the small fields in front of it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Annotated, BinaryIO
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser
from starlette.routing import Match

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.store.files import check_room, room_needed
from basanite.server.accounts import sessions
from basanite.server.guard import receive_body
from basanite.server.pages import frame
from basanite.server.roles import Caller, office_of

LARGEST = 256 * 1024
MOST_FIELDS = 200


@dataclass(frozen=True)
class Form:
    """What was filled in; a field that is not there is empty."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """One field, without space around it."""
        return self.raw(name, default).strip()

    def raw(self, name: str, default: str = "") -> str:
        """One field exactly as it was typed: a password may begin with a space."""
        return (self.fields.get(name) or (default,))[0]

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a field with several, such as check boxes."""
        return self.fields.get(name, ())

    def beginning(self, prefix: str) -> dict[str, str]:
        """The fields whose names begin like this, by the rest of the name."""
        found = {name: values[0] for name, values in self.fields.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): value.strip() for name, value in found.items()}


async def read_form(request: Request) -> Form:
    """The form of this call, after its token was checked; the route's policy has run before."""
    return await read_whole_form(request, LARGEST)


async def read_whole_form(request: Request, largest: int) -> Form:
    """The same for a form that may be larger."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > largest:
            raise refused("P-11", "this form is too large", "enter less, or upload a file", status=413)
    form = parse_form(bytes(body))
    check_token(request, form.raw(sessions.CSRF_FIELD))
    return form


def parse_form(body: bytes) -> Form:
    """The fields of a form as browsers send it.

    >>> parse_form(b"name=Ada+L&scope=read&scope=submit").all("scope")
    ('read', 'submit')
    """
    try:
        read = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise refused("P-11", "this format is not supported", "use the form on its page", status=422) from error
    return Form({name: tuple(value.replace("\0", "") for value in values) for name, values in read.items()})


def expected_token(request: Request) -> str | None:
    """The token that forms of this browser must carry."""
    caller: Caller = request.state.caller
    if caller.known is not None:
        return caller.known.csrf
    office = office_of(request)
    cookie = request.cookies.get(frame.forms_cookie(office))
    return cookie if sessions.is_stranger_token(office, cookie) else None


def check_token(request: Request, given: str) -> None:
    """Refuse a form that does not come from a page of ours."""
    sessions.check_csrf(expected_token(request), given)


def target(request: Request, wanted: str, otherwise: str = "/") -> str:
    """A page of ours to go to next: an address that matches none of our pages leads nowhere (X-11)."""
    parts = urlsplit(wanted)
    if parts.scheme or parts.netloc or not parts.path.startswith("/") or "\\" in wanted or wanted.startswith("//"):
        return otherwise
    scope = {"type": "http", "path": parts.path, "method": "GET", "root_path": "", "headers": []}
    known = any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    return wanted if known and not parts.path.startswith("/api/") else otherwise


PostedForm = Annotated[Form, Depends(read_form)]
"""A route that takes a form says so by this; it stands after the caller, whose session the token belongs to."""


@dataclass(frozen=True)
class UploadForm:
    """What arrived: the fields, and where the file lies; there may be none."""

    form: Form
    path: Path | None = None
    name: str = ""
    size: int = 0
    sha256: str = ""

    def forget(self) -> None:
        """Remove the file, once it was taken over or refused."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


async def read_upload_form(request: Request, folder: Path, largest: int) -> UploadForm:
    """The form of this call with its file, after its token was checked."""
    message = Message()
    message["content-type"] = request.headers.get("content-type", "").replace("\r", "").replace("\n", "")
    boundary = str(message.get_param("boundary") or "")[:200]
    if message.get_content_type() != "multipart/form-data" or not boundary:
        raise refused("P-11", "this format is not supported", "use the form on its page", status=415)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_room(folder, min(_length(request), largest))
    taking = _UploadReader(folder, largest, lambda given: check_token(request, given))
    return await receive_body(request, lambda pieces: _parse_pieces(taking, boundary, pieces))


def _length(request: Request) -> int:
    """How much the sender announces; who announces nothing is stopped at the largest size, or by a full disk."""
    announced = request.headers.get("content-length", "")
    return int(announced) if announced.isdecimal() and len(announced) < 19 else 0


def _parse_pieces(taking: _UploadReader, boundary: str, pieces: Iterator[bytes]) -> UploadForm:
    parser = MultipartParser(boundary.encode("latin-1", "replace"), taking.callbacks())  # type: ignore[arg-type]
    try:
        for piece in pieces:
            parser.write(piece)
        parser.finalize()
        return taking.result()
    except MultipartParseError as error:
        taking.forget()
        raise refused("P-11", "this format is not supported", "use the form on its page", status=422) from error
    except BaseException:  # whatever ends the form, its temporary files are removed
        taking.forget()
        raise


class _UploadReader:
    """The state of reading one form."""

    def __init__(self, folder: Path, largest: int, check: Callable[[str], None]) -> None:
        self.folder, self.largest, self.check = folder, largest, check
        self.fields: dict[str, list[bytes]] = {}
        self.small = 0
        self.header, self.value = b"", b""
        self.disposition = ""
        self.name, self.filename, self.is_file = "", "", False
        self.file: BinaryIO | None = None
        self.path: Path | None = None
        self.digest, self.size = hashlib.sha256(), 0
        self.whole = False

    def callbacks(self) -> dict[str, Callable[..., None]]:
        """What the parser calls."""
        return {
            "on_part_begin": self.begin,
            "on_header_field": self.header_field,
            "on_header_value": self.header_value,
            "on_header_end": self.header_end,
            "on_headers_finished": self.headers_finished,
            "on_part_data": self.data,
            "on_part_end": self.end,
            "on_end": self.finish,
        }

    def begin(self) -> None:
        """A new part."""
        self.name, self.filename, self.is_file, self.disposition = "", "", False, ""

    def header_field(self, data: bytes, start: int, end: int) -> None:
        """A piece of a header's name."""
        self.header += data[start:end]
        self._count(end - start)

    def header_value(self, data: bytes, start: int, end: int) -> None:
        """A piece of a header's value."""
        self.value += data[start:end]
        self._count(end - start)

    def header_end(self) -> None:
        """A header is whole."""
        if self.header.lower() == b"content-disposition":
            self.disposition = self.value.decode("utf-8", "replace")
        self.header, self.value = b"", b""

    def headers_finished(self) -> None:
        """All headers of a part are there: is it a field or a file?"""
        message = Message()
        message["content-disposition"] = self.disposition.replace("\r", "").replace("\n", "")
        self.name = str(message.get_param("name", "", "content-disposition"))[:200]
        filename = message.get_param("filename", None, "content-disposition")
        self.is_file = filename is not None
        if not self.is_file:
            self._field()
        elif self.path is not None:
            raise refused("P-11", "this form accepts one file", "send one file", status=422)
        else:
            self.check(self._first("csrf"))
            self._open(str(filename))

    def data(self, data: bytes, start: int, end: int) -> None:
        """A piece of content."""
        piece = data[start:end]
        if self.file is None:
            self._count(len(piece))
            self.fields[self.name][-1] += piece
            return
        self.size += len(piece)
        if self.size > self.largest:
            raise refused("M60", f"the file has more than {self.largest:,} bytes", "send a smaller file", status=413)
        self.digest.update(piece)
        with room_needed():
            self.file.write(piece)

    def end(self) -> None:
        """A part is whole."""
        if self.file is not None:
            self.file.close()
            self.file = None

    def finish(self) -> None:
        """The last boundary was read."""
        self.whole = True

    def result(self) -> UploadForm:
        """What was taken, once everything is there; the parser itself does not mind a form that ends early."""
        if not self.whole:
            raise refused("P-11", "the form is incomplete", "send it again", status=422)
        fields = {
            name: tuple(one.decode("utf-8", "replace").replace("\0", "") for one in values)
            for name, values in self.fields.items()
        }
        form = Form(fields)
        if self.path is None or not self.size:
            self.check(form.raw("csrf"))
            self.forget()
            return UploadForm(form)
        return UploadForm(form, self.path, self.filename, self.size, self.digest.hexdigest())

    def forget(self) -> None:
        """Remove what was written."""
        self.end()
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _first(self, name: str) -> str:
        return (self.fields.get(name) or [b""])[0].decode("utf-8", "replace")

    def _field(self) -> None:
        if sum(map(len, self.fields.values())) >= MOST_FIELDS:
            raise _too_much()
        self.fields.setdefault(self.name, []).append(b"")

    def _open(self, filename: str) -> None:
        self.filename = filename.replace("\\", "/").rpartition("/")[2][:255]
        self.path = self.folder / f"form-{secrets.token_hex(16)}"
        self.file = self.path.open("xb")

    def _count(self, size: int) -> None:
        self.small += size
        if self.small > LARGEST:
            raise _too_much()


def _too_much() -> RefusedError:
    return refused("P-11", "the fields of this form are too large", "enter less", status=413)
