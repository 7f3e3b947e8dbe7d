"""`basanite submit`: send a file to a server, resume what was interrupted, wait for the answer, keep the receipt."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import click

from basanite import canonical
from basanite.campaign.model.refusals import RefusedError
from basanite.cli.options import PATH, as_json, example, problem_line, say
from basanite.cli.terminal import Bar
from basanite.errors import BasaniteError, SettingError
from basanite.formats.datasets.pack_names import joined_packs
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
        return self._ask("GET", path).json()

    def content(self, path: str) -> bytes:
        """What the server says at an address, as bytes."""
        return self._ask("GET", path).content

    def upload(self, file: FileToSend, said: Mapping[str, str], tell: Told) -> str:
        """Send a file, or the rest of one that was begun before; returns where its submission is."""
        place = self._interrupted_upload(file, said) or self._begin(file, said)
        with file.path.open("rb") as stream:
            return self._send(place, file.size, stream.seek, stream.read, tell)

    def _interrupted_upload(self, file: FileToSend, said: Mapping[str, str]) -> str | None:
        """An upload of the same file that was interrupted, which the server still keeps."""
        kept = self.get(f"/api/v1/uploads?campaign={said['campaign']}")["uploads"]
        same = [one for one in kept if one["sha256"] == file.sha256 and one["said"] == dict(said)]
        return str(same[0]["url"]) if same else None

    def _begin(self, file: FileToSend, said: Mapping[str, str]) -> str:
        words = {**said, "sha256": file.sha256}
        headers = VERSION | {"Upload-Length": str(file.size), "Upload-Metadata": metadata(words)}
        answer = self._ask("POST", "/api/v1/uploads", headers=headers)
        return str(answer.headers["location"])

    def _send(self, place: str, size: int, seek: Callable[[int], int], read: Callable[[int], bytes], tell: Told) -> str:
        found = self._ask("HEAD", place, headers=VERSION)
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
                return self._accept(self._request("PATCH", place, headers, content))
            except httpx2.TransportError:
                self.pause(2.0**number / 2)
                found = self._ask("HEAD", place, headers=VERSION)
                if int(found.headers["upload-offset"]) != offset or SUBMISSION in found.headers:
                    return found
        raise ServerError("The connection failed repeatedly. Run the same command later: it resumes where it stopped.")

    def _ask(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        """A question that can be repeated; a broken line is tried again."""
        import httpx2

        for number in range(TRIES):
            try:
                return self._accept(self._request(method, path, headers or {}, b""))
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

    def _accept(self, answer: httpx2.Response) -> httpx2.Response:
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


def metadata(words: Mapping[str, str]) -> str:
    """The header in which tus carries words about an upload.

    >>> metadata({"task": "CLIR"})
    'task Q0xJUg=='
    """
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in words.items() if value)


@contextmanager
def connect(server: str, token: str) -> Iterator[Connection]:
    """A connection to a server; certificates are checked, redirects are not followed."""
    import httpx2

    timeout = httpx2.Timeout(30.0, read=120.0)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        with httpx2.Client(base_url=server, headers=headers, timeout=timeout) as client:
            yield Connection(client)
    except httpx2.InvalidURL as error:
        raise ServerError(
            f"{server!r} is not an address: {error}. Write it like https://evaluation.example.org"
        ) from None


TOKEN = "BASANITE_TOKEN"
POLL_SECONDS = (0.5, 1.0, 2.0, 5.0)
EXAMPLE = (
    "basanite submit Alpha.tgz --server https://evaluation.example.org --campaign small --task CLIR --label alpha "
    "--dry-run"
)


@click.command(epilog=example(EXAMPLE))
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--server", required=True, envvar="BASANITE_SERVER", help="The server's address.")
@click.option("--campaign", required=True, help="The campaign's short name, as in its address.")
@click.option("--token-file", type=PATH, help=f"A file with your token; without it the variable {TOKEN} is read.")
@click.option("--task", required=True, help="The task, as in the calendar: CLIR, E2E, DomainID, LangID …")
@click.option("--label", required=True, help="Your name for this system.")
@click.option("--type", "type_", default="contrastive", show_default=True, help="primary or contrastive.")
@click.option(
    "--dataset",
    type=joined_packs,
    metavar="TEXT",
    default="",
    help="The packs, joined by +: EVAL1+EVAL2. [default: from the calendar]",
)
@click.option("--queryset", default="", help="The query set, where there is a choice.")
@click.option("--language", default="", help="The language, where there is a choice.")
@click.option("--track", default="", help="The track, where there is a choice.")
@click.option("--description", default="", help="A description of the system.")
@click.option("--documents", type=PATH, help="Check here first: the pack's list of documents.")
@click.option("--queries", type=PATH, help="Check here first: the pack's queries.")
@click.option("--receipt", type=PATH, help="Where the receipt goes, a new file. [default: FILE.receipt.json]")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until it is known to be valid or scored.")
@click.option("--timeout", type=click.FloatRange(min=0), default=1800, show_default=True, help="Seconds to wait.")
@click.option("--dry-run", is_flag=True, help="Check and show what would be sent; send nothing.")
@as_json
def submit(file: Path, as_json: bool, **given: Any) -> None:
    """Upload a submission to a server.

    Interrupted uploads resume when you repeat the command. The start of the
    upload counts for the deadline. The signed receipt is saved beside the file.
    """
    request, receipt = Request(file, given), given["receipt"]
    if receipt is not None and receipt.exists():  # nothing that proves a submission is ever written over
        raise SettingError(f"{receipt} already exists, so nothing was sent. Name another file with --receipt.")
    _check_here(request, json=as_json)
    if given["dry_run"]:
        _show(request.plan(), as_json, [f"Would send {file} to {given['server']}; nothing was sent."])
        return
    with connect(given["server"], request.token()) as connection:
        _deliver(connection, request, json=as_json)


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    file: Path
    given: Mapping[str, Any]

    def words_for_server(self) -> dict[str, str]:
        """What the server is told about the file."""
        names = ("campaign", "task", "label", "dataset", "queryset", "language", "track", "description")
        words = {name: str(self.given[name]) for name in names} | {"type": self.given["type_"]}
        return {name: word for name, word in words.items() if word} | {"filename": self.file.name}

    def plan(self) -> dict[str, Any]:
        """What would be sent, for a dry run."""
        file = FileToSend.of(self.file)
        return {"sent": False, "said": self.words_for_server(), "sha256": file.sha256, "size": file.size}

    def token(self) -> str:
        """The token, from its file or the environment; never from the command line, where others could read it."""
        path = self.given["token_file"]
        text = path.read_text(encoding="utf-8") if path is not None else os.environ.get(TOKEN, "")
        if not text.strip():
            raise SettingError(f"There is no token. Put it into a file and name it by --token-file, or set {TOKEN}.")
        return text.strip()

    def keep_receipt(self, content: bytes) -> Path:
        """Write the receipt beside the file or where it is wanted; where one is, with a number in its name."""
        first: Path = self.given["receipt"] or self.file.with_name(f"{self.file.name}.receipt.json")
        numbered = (first.with_name(f"{first.stem}-{number}{first.suffix}") for number in itertools.count(2))
        for path in itertools.chain([first], numbered):
            with suppress(FileExistsError), path.open("xb") as file:
                file.write(content)
                return path
        raise AssertionError("there is always another number")


def _check_here(request: Request, *, json: bool) -> None:
    """What can be found wrong on this machine need not travel; without the pack's lists nothing is checked here."""
    documents, queries = request.given["documents"], request.given["queries"]
    if documents is None and queries is None:
        return
    from basanite.cli.options import show_findings
    from basanite.scoring import Scorer
    from basanite.tasks import Inputs

    task = request.given["task"].lower()
    findings = Scorer(task, {}).findings(Inputs(request.file, documents=documents, queries=queries))
    if not findings.valid:
        show_findings(findings, task, json=json)
        say("Nothing was sent.")
        raise click.exceptions.Exit(1)


def _deliver(connection: Connection, request: Request, *, json: bool) -> None:
    file = FileToSend.of(request.file)
    bar = Bar(request.file.name)
    place = connection.upload(file, request.words_for_server(), bar)
    bar.close()
    receipt = request.keep_receipt(connection.content(f"{place}/receipts/intake"))
    shown = _wait_for_answer(connection, place, request) if request.given["wait"] else connection.get(place)
    problems = [_problem(one) for one in (shown.get("problems") or {}).get("problems", [])]
    for problem in [] if json else problems:
        say(problem_line(problem))
    _show({"receipt": str(receipt), "sent": True, "submission": shown}, json, _sentences(shown, receipt))
    if shown["state"] in ("invalid", "failed"):
        raise click.exceptions.Exit(1)


def _wait_for_answer(connection: Connection, place: str, request: Request) -> dict[str, Any]:
    """Ask until nothing more will happen that we may see, more and more rarely."""
    end, asked = time.monotonic() + request.given["timeout"], 0
    shown: dict[str, Any] = connection.get(place)
    while not shown["final"] and time.monotonic() < end:
        time.sleep(POLL_SECONDS[min(asked, len(POLL_SECONDS) - 1)])
        asked += 1
        shown = connection.get(place)
    return shown


def _sentences(shown: Mapping[str, Any], receipt: Path) -> list[str]:
    lines = [f"{shown['name']}: {shown['state']} ({shown['standing']})", f"Receipt: {receipt}"]
    return lines if shown["final"] else [*lines, "It is not finished yet. Check again later."]


def _show(content: Mapping[str, Any], json: bool, sentences: list[str]) -> None:
    if json:
        sys.stdout.write(canonical.dumps(content))
        return
    for sentence in sentences:
        say(sentence)
