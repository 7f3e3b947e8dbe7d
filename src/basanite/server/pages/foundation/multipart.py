"""Forms with one file, for browsers without scripts: fields first, then the file straight to disk (P-11).

The token of the form is checked before the first byte of the file is kept, and nothing is ever held in memory but the
small fields in front of it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import BinaryIO

from fastapi import Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.store.files import check_room, room_needed
from basanite.server.pages.foundation.forms import LARGEST, MOST_FIELDS, Form, check_token
from basanite.server.receiving import received


@dataclass(frozen=True)
class Taken:
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


async def take(request: Request, folder: Path, largest: int) -> Taken:
    """The form of this call with its file, after its token was checked."""
    kind, options = _content_type(request.headers.get("content-type", ""))
    if kind != "multipart/form-data" or not options:
        raise refused("P-11", "this form cannot be read", "send it from its own page", status=415)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_room(folder, min(_length(request), largest))
    taking = _Taking(folder, largest, lambda given: check_token(request, given))
    return await received(request, lambda pieces: _taken(taking, options, pieces))


def _length(request: Request) -> int:
    """How much the sender announces; who announces nothing is stopped at the largest size, or by a full disk."""
    announced = request.headers.get("content-length", "")
    return int(announced) if announced.isdecimal() and len(announced) < 19 else 0


def _content_type(text: str) -> tuple[str, str]:
    message = Message()
    message["content-type"] = text.replace("\r", "").replace("\n", "")
    return message.get_content_type(), str(message.get_param("boundary") or "")[:200]


def _taken(taking: _Taking, boundary: str, pieces: Iterator[bytes]) -> Taken:
    parser = MultipartParser(boundary.encode("latin-1", "replace"), taking.callbacks())  # type: ignore[arg-type]
    try:
        for piece in pieces:
            parser.write(piece)
        parser.finalize()
        return taking.result()
    except MultipartParseError as error:
        taking.forget()
        raise refused("P-11", "this form cannot be read", "send it from its own page", status=422) from error
    except BaseException:
        taking.forget()
        raise


class _Taking:
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
            raise refused("P-11", "this form takes one file", "send one file", status=422)
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
            raise refused("M60", f"the file has more than {self.largest:,} bytes", "send a smaller one", status=413)
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

    def result(self) -> Taken:
        """What was taken, once everything is there; the parser itself does not mind a form that ends early."""
        if not self.whole:
            raise refused("P-11", "this form ends too early", "send it again", status=422)
        fields = {
            name: tuple(one.decode("utf-8", "replace").replace("\0", "") for one in values)
            for name, values in self.fields.items()
        }
        form = Form(fields)
        if self.path is None or not self.size:
            self.check(form.raw("csrf"))
            self.forget()
            return Taken(form)
        return Taken(form, self.path, self.filename, self.size, self.digest.hexdigest())

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
    return refused("P-11", "the fields of this form are too large", "write less", status=413)
