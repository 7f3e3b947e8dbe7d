"""Operators' pages: how the server is, what it does, and what it is set to; for administrators alone (P-44).

What they show are the declared actions of the group `server`, which commands and programs call too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from basanite.campaign.actions.registry import At, every_action
from basanite.campaign.actions.server import MOST
from basanite.server.catalogue import say, sentence
from basanite.server.checkup import examine
from basanite.server.pages.frame import show
from basanite.server.pages.templates import size
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
Administrator = Annotated[Caller, allow("administrator")]
HEALTH: Final = "health"
PARTS: Final[Mapping[str, str]] = {
    "status": sentence("Overview"),
    HEALTH: sentence("Health"),
    "jobs": sentence("Jobs"),
    "workers": sentence("Workers"),
    "mail": sentence("Mail"),
    "storage": sentence("Storage"),
    "users": sentence("Users"),
    "backups": sentence("Backups"),
    "settings": sentence("Settings in effect"),
    "log": sentence("Server log"),
}
HEADS: Final[Mapping[str, str]] = {
    "what": sentence("What"),
    "value": sentence("Value"),
    "campaign": sentence("Campaign"),
    "team": sentence("Team"),
    "number": sentence("Number"),
    "task": sentence("Task"),
    "state": sentence("Status"),
    "received": sentence("Received"),
    "submission": sentence("Submission"),
    "id": sentence("Id"),
    "version": sentence("Version"),
    "process": sentence("Process"),
    "started": sentence("Started"),
    "seen": sentence("Last seen"),
    "stopped": sentence("Stopped"),
    "kind": sentence("Kind"),
    "template": sentence("Message"),
    "count": sentence("Count"),
    "newest": sentence("Newest"),
    "error": sentence("Last error"),
    "bytes": sentence("Size"),
    "name": sentence("Name"),
    "mail": sentence("Email"),
    "roles": sentence("Roles on the server"),
    "second_factor": sentence("Second factor"),
    "closed": sentence("Closed"),
    "person": sentence("Id"),
    "at": sentence("Time"),
    "file": sentence("File"),
    "files": sentence("Files"),
    "sequence": sentence("Log entries"),
    "missing": sentence("Missing files"),
    "setting": sentence("Setting"),
    "actor": sentence("By"),
    "subject": sentence("Subject"),
    "data": sentence("Facts"),
}
STATES: Final = {"good": sentence("good"), "note": sentence("note"), "bad": sentence("needs attention")}


@dataclass(frozen=True)
class Cell:
    """One cell: text, or a moment, or a number."""

    label: str
    text: str = ""
    moment: datetime | None = None
    numeric: bool = False
    tone: str = ""
    """Of a state of health."""


@dataclass(frozen=True)
class OperatorPage:
    """One list, with its neighbors beside it and a search where there is one."""

    template = "operators.html"
    title: str
    part: str
    parts: tuple[tuple[str, str], ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    empty: str = ""
    find: str = ""
    kind: str = ""
    older: int = 0
    """The number of the last entry of the log, if there may be older ones."""


@ROUTER.get("/operate")
def show_overview(request: Request, caller: Administrator) -> Response:
    """Versions and counts."""
    return show(request, caller, _page(caller, "status", {}))


@ROUTER.get("/operate/{part}")
def show_part(
    request: Request,
    caller: Administrator,
    part: Annotated[str, Path(pattern=f"^({'|'.join(PARTS)})$")],
    find: Annotated[str, Query(max_length=200)] = "",
    kind: Annotated[str, Query(max_length=60)] = "",
    before: Annotated[int, Query(ge=0, lt=2**60)] = 0,
) -> Response:
    """One list."""
    given: dict[str, Any] = {"find": find} if part in ("users", "log") else {}
    given |= {"kind": kind, "before": before} if part == "log" else {}
    return show(request, caller, _page(caller, part, given))


def _page(caller: Caller, part: str, given: dict[str, Any]) -> OperatorPage:
    parts = tuple((name, str(say(title))) for name, title in PARTS.items())
    if part == HEALTH:
        labels = tuple(str(say(word)) for word in (sentence("Part"), sentence("Status"), sentence("Finding")))
        found = [
            (one.name, Cell(labels[1], str(say(STATES[one.state])), tone=one.state), one.words)
            for one in examine(caller.office)
        ]
        rows = tuple((Cell(labels[0], name), state, Cell(labels[2], words)) for name, state, words in found)
        return OperatorPage(say(PARTS[part]), part, parts, labels, rows)
    action = every_action()[f"server {part}"]
    with caller.office.reading() as session:
        listing = action.run(At(caller.office, session, caller.actor), action.parse(given)).listing
    if listing is None:
        raise LookupError(f"server {part} lists nothing")
    heads = tuple(str(say(HEADS[name])) for name in listing.columns)
    listed = tuple(
        tuple(_cell(head, name, row.get(name)) for head, name in zip(heads, listing.columns, strict=True))
        for row in listing.rows
    )
    older = int(listing.rows[-1]["number"]) if part == "log" and len(listing.rows) == MOST else 0
    found_words = (given.get("find", ""), given.get("kind", ""))
    return OperatorPage(say(PARTS[part]), part, parts, heads, listed, listing.empty, *found_words, older)


def _cell(head: str, name: str, value: Any) -> Cell:
    if isinstance(value, datetime):
        return Cell(head, moment=value)
    if name == "at" and isinstance(value, str):
        return Cell(head, moment=datetime.fromisoformat(value))
    if name == "bytes" and value is not None:
        return Cell(head, size(value), numeric=True)
    if isinstance(value, bool):
        return Cell(head, str(say(sentence("yes"))) if value else str(say(sentence("no"))))
    if isinstance(value, int):
        return Cell(head, f"{value:,}" if name != "number" else str(value), numeric=True)
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)
    return Cell(head, text)
