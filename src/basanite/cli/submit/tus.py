"""A file sent in pieces that can be taken up again after a broken line (tus 1.0 with creation)."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from basanite.campaign.model.refusals import RefusedError
from basanite.errors import BasaniteError
from basanite.problems import Problem

if TYPE_CHECKING:
    import httpx2

PIECE = 8 * 2**20
TRIES = 6
"""How often a piece is tried after the line broke; between tries the pause doubles."""
VERSION = {"Tus-Resumable": "1.0.0"}
OFFSET_MEDIA = "application/offset+octet-stream"
SUBMISSION = "basanite-submission"
"""The header that tells where the finished submission is."""

Told = Callable[[int, int], None]


class ServerError(BasaniteError):
    """The server could not be reached, or answered what we do not understand."""


@dataclass(frozen=True)
class FileToSend:
    """A file with the size and the digest that are fixed at the start of its upload (X-2)."""

    path: Path
    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> FileToSend:
        """Read a file once, for its digest."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, path.stat().st_size, digest)


class Connection:
    """One server, spoken to with one token."""

    def __init__(self, client: httpx2.Client, pause: Callable[[float], None] = time.sleep) -> None:
        self.client, self.pause = client, pause

    def get(self, path: str) -> Any:
        """What the server says at an address, as JSON."""
        return self._asked("GET", path).json()

    def content(self, path: str) -> bytes:
        """What the server says at an address, as bytes."""
        return self._asked("GET", path).content

    def upload(self, file: FileToSend, said: Mapping[str, str], tell: Told) -> str:
        """Send a file, or the rest of one that was begun before; returns where its submission is."""
        place = self._begun(file, said) or self._begin(file, said)
        with file.path.open("rb") as stream:
            return self._send(place, file.size, stream.seek, stream.read, tell)

    def _begun(self, file: FileToSend, said: Mapping[str, str]) -> str | None:
        """An upload of the same file that was interrupted, which the server still keeps."""
        kept = self.get(f"/api/v1/uploads?campaign={said['campaign']}")["uploads"]
        same = [one for one in kept if one["sha256"] == file.sha256 and one["said"] == dict(said)]
        return str(same[0]["url"]) if same else None

    def _begin(self, file: FileToSend, said: Mapping[str, str]) -> str:
        words = {**said, "sha256": file.sha256}
        headers = VERSION | {"Upload-Length": str(file.size), "Upload-Metadata": metadata(words)}
        answer = self._asked("POST", "/api/v1/uploads", headers=headers)
        return str(answer.headers["location"])

    def _send(self, place: str, size: int, seek: Callable[[int], int], read: Callable[[int], bytes], tell: Told) -> str:
        found = self._asked("HEAD", place, headers=VERSION)
        while SUBMISSION not in found.headers:
            offset = int(found.headers["upload-offset"])
            tell(offset, size)
            seek(offset)
            found = self._piece(place, offset, read(PIECE))
        tell(size, size)
        return str(found.headers[SUBMISSION])

    def _piece(self, place: str, offset: int, content: bytes) -> httpx2.Response:
        """Send one piece; after a broken line ask how much of it has arrived, and go on from there."""
        import httpx2

        headers = VERSION | {"Upload-Offset": str(offset), "Content-Type": OFFSET_MEDIA}
        for number in range(TRIES):
            try:
                return self._checked(self._request("PATCH", place, headers, content))
            except httpx2.TransportError:
                self.pause(2.0**number / 2)
                found = self._asked("HEAD", place, headers=VERSION)
                if int(found.headers["upload-offset"]) != offset or SUBMISSION in found.headers:
                    return found
        raise ServerError("The line broke again and again. Call the same command later: it goes on where it stopped.")

    def _asked(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        """A question that can be repeated; a broken line is tried again."""
        import httpx2

        for number in range(TRIES):
            try:
                return self._checked(self._request(method, path, headers or {}, b""))
            except httpx2.TransportError as error:
                if isinstance(error, httpx2.UnsupportedProtocol) or number == TRIES - 1:
                    break
                self.pause(2.0**number / 2)
        raise ServerError(f"{self.client.base_url} cannot be reached. Check --server and your network.")

    def _request(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> httpx2.Response:
        return self.client.request(method, self._own(path), headers=dict(headers), content=content or None)

    def _own(self, path: str) -> str:
        """An address on this server alone: a token goes nowhere else, whatever a header says."""
        from httpx2 import URL

        base = str(self.client.base_url)
        target = URL(urljoin(base, path))
        return base.rstrip("/") + target.raw_path.decode()

    def _checked(self, answer: httpx2.Response) -> httpx2.Response:
        if answer.status_code < 400:
            return answer
        raise _refusal(answer)


def _refusal(answer: httpx2.Response) -> BasaniteError:
    """What the server says against it, with all problems if it lists them."""
    try:
        said = answer.json()
        problems = tuple(_problem(one) for one in said["problems"])
        detail = str(said["detail"])
    except (ValueError, KeyError, TypeError):
        problems, detail = (), ""
    if problems:
        return RefusedError(problems, status=answer.status_code)
    return ServerError(f"The server answered {answer.status_code}. {detail}".strip())


def _problem(one: Mapping[str, Any]) -> Problem:
    place = (str(one["rule"]), str(one["file"]), one["line"], one["field"])
    return Problem(*place, str(one["message"]), str(one["fix"]), str(one["found"]), one["column"], one["severity"])


def problems_of(shown: Mapping[str, Any] | None) -> list[Problem]:
    """The problems in an object of `validate --json` that a server sent."""
    return [_problem(one) for one in (shown or {}).get("problems", [])]


def metadata(words: Mapping[str, str]) -> str:
    """The header in which tus carries words about an upload.

    >>> metadata({"task": "CLIR"})
    'task Q0xJUg=='
    """
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in words.items() if value)


@contextmanager
def connected(server: str, token: str) -> Iterator[Connection]:
    """A connection to a server; certificates are checked, redirects are not followed."""
    import httpx2

    timeout = httpx2.Timeout(30.0, read=120.0)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        with httpx2.Client(base_url=server, headers=headers, timeout=timeout) as client:
            yield Connection(client)
    except httpx2.InvalidURL as error:
        raise ServerError(f"{server!r} is no address: {error}. Write it like https://evaluation.example.org") from None
