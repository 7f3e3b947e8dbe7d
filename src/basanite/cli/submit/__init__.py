"""`basanite submit`: send a file to a server, resume what was interrupted, wait for the answer, keep the receipt."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from basanite.cli.options import PATH, as_json, example, problem_line, say
from basanite.cli.progress import Bar
from basanite.cli.submit.tus import Connection, FileToSend, connected, problems_of
from basanite.errors import SettingError
from basanite.formats.packs.pack_names import joined_packs
from basanite.reports.formats import json_output

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
@click.option("--task", required=True, help="The task as the calendar spells it: CLIR, E2E, DomainID, LangID …")
@click.option("--label", required=True, help="Your name for this system.")
@click.option("--type", "type_", default="contrastive", show_default=True, help="primary or contrastive.")
@click.option(
    "--dataset",
    type=joined_packs,
    metavar="TEXT",
    default="",
    help="The packs, joined by +: EVAL1+EVAL2. [default: what the calendar asks]",
)
@click.option("--queryset", default="", help="The query set, where there is a choice.")
@click.option("--language", default="", help="The language, where there is a choice.")
@click.option("--track", default="", help="The track, where there is a choice.")
@click.option("--description", default="", help="What this system is, in your words.")
@click.option("--documents", type=PATH, help="Check here first: the pack's list of documents.")
@click.option("--queries", type=PATH, help="Check here first: the pack's queries.")
@click.option("--receipt", type=PATH, help="Where the receipt goes, a new file. [default: FILE.receipt.json]")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until it is known to be valid or scored.")
@click.option("--timeout", type=click.FloatRange(min=0), default=1800, show_default=True, help="Seconds to wait.")
@click.option("--dry-run", is_flag=True, help="Check and show what would be sent; send nothing.")
@as_json
def submit(file: Path, as_json: bool, **given: Any) -> None:
    """Send a submission to a server.

    An upload that was interrupted goes on where it stopped when the same command is called again. Whether it is
    on time is decided by when the upload begins. The receipt that the server signs is kept beside the file.
    """
    request = Request(file, given)
    request.check_receipt()
    _check_here(request, json=as_json)
    if given["dry_run"]:
        _show(request.plan(), as_json, [f"Would send {file} to {given['server']}; nothing was sent."])
        return
    with connected(given["server"], request.token()) as connection:
        _deliver(connection, request, json=as_json)


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    file: Path
    given: Mapping[str, Any]

    def said(self) -> dict[str, str]:
        """What the server is told about the file."""
        names = ("campaign", "task", "label", "dataset", "queryset", "language", "track", "description")
        words = {name: str(self.given[name]) for name in names} | {"type": self.given["type_"]}
        return {name: word for name, word in words.items() if word} | {"filename": self.file.name}

    def plan(self) -> dict[str, Any]:
        """What would be sent, for a dry run."""
        file = FileToSend.of(self.file)
        return {"sent": False, "said": self.said(), "sha256": file.sha256, "size": file.size}

    def token(self) -> str:
        """The token, from its file or the environment; never from the command line, where others could read it."""
        path = self.given["token_file"]
        text = path.read_text(encoding="utf-8") if path is not None else os.environ.get(TOKEN, "")
        if not text.strip():
            raise SettingError(f"There is no token. Put it into a file and name it by --token-file, or set {TOKEN}.")
        return text.strip()

    def check_receipt(self) -> None:
        """Refuse to put a receipt where something is: nothing that proves a submission is ever written over."""
        path: Path | None = self.given["receipt"]
        if path is not None and path.exists():
            raise SettingError(f"{path} is there already, and nothing was sent. Name another file with --receipt.")

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
    from basanite.interface import Work
    from basanite.tasks import Inputs

    task = request.given["task"].lower()
    findings = Work(task, {}).findings(Inputs(request.file, documents=documents, queries=queries))
    if not findings.valid:
        show_findings(findings, task, json=json)
        say("Nothing was sent.")
        raise click.exceptions.Exit(1)


def _deliver(connection: Connection, request: Request, *, json: bool) -> None:
    file = FileToSend.of(request.file)
    bar = Bar(request.file.name)
    place = connection.upload(file, request.said(), bar)
    bar.close()
    receipt = request.keep_receipt(connection.content(f"{place}/receipts/intake"))
    shown = _awaited(connection, place, request) if request.given["wait"] else connection.get(place)
    problems = problems_of(shown.get("problems"))
    for problem in [] if json else problems:
        say(problem_line(problem))
    _show({"receipt": str(receipt), "sent": True, "submission": shown}, json, _sentences(shown, receipt))
    if shown["state"] in ("invalid", "failed"):
        raise click.exceptions.Exit(1)


def _awaited(connection: Connection, place: str, request: Request) -> dict[str, Any]:
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
    return lines if shown["final"] else [*lines, "It is not through yet; look again later."]


def _show(content: Mapping[str, Any], json: bool, sentences: list[str]) -> None:
    if json:
        sys.stdout.write(json_output.dumps(content))
        return
    for sentence in sentences:
        say(sentence)
