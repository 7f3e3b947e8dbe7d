"""Tables of people and teams, or of decisions on signed copies: checked, looked at, then entered as a whole (P-43)."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions.registry import At, Outcome, every_action
from basanite.campaign.actions.teams import DECISIONS
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.people import agreements
from basanite.campaign.people.roster import COLUMNS, ROLES
from basanite.campaign.store.tables import Team
from basanite.problems import Problem
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import Form, UploadForm, read_upload_form, read_whole_form
from basanite.server.pages.frame import go, show
from basanite.server.pages.organiser_frame import BASE, Organiser, at
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/import/{{what}}"
LARGEST: Final = 2**20
MOST_SHOWN: Final = 1000
"""So many mistakes are listed; the page says how many there are."""


@dataclass(frozen=True)
class Table:
    """A kind of table that can be entered."""

    action: str
    title: str
    lead: str
    columns: tuple[str, ...]
    example: str
    then: str
    """The page that shows what was entered."""
    done: str


TABLES: Final[Mapping[str, Table]] = {
    "people": Table(
        "people import",
        sentence("Import people and teams"),
        sentence("Upload a CSV file. It is checked as a whole, and nothing is entered before you confirm."),
        COLUMNS,
        "mail,name,team,role\nkim@example.org,Kim Doe,Gamma,pi\nlee@example.org,Lee Roe,Gamma,member\n"
        "sam@example.org,Sam Poe,,judge\n",
        "/teams",
        sentence("The people and teams are entered. They get an email."),
    ),
    "agreements": Table(
        "agreement import",
        sentence("Decide on signed copies"),
        sentence("Upload a CSV file. It is checked as a whole, and nothing is decided before you confirm."),
        DECISIONS,
        "",
        "/packs",
        sentence("The decisions are recorded. The teams get an email."),
    ),
}
COUNTS: Final = {
    "people": sentence("New people"),
    "teams": sentence("New teams"),
    "members": sentence("Members"),
    "roles": sentence("Roles"),
    "unchanged": sentence("Lines that change nothing"),
    "accepted": sentence("Accepted"),
    "refused": sentence("Declined"),
}
What = Annotated[str, Path(pattern="^(people|agreements)$")]


@dataclass(frozen=True)
class ImportPage:
    """The form, or what the table would do, or what is wrong with it."""

    template = "organiser/import.html"
    title: str
    lead: str
    what: str
    columns: tuple[str, ...]
    roles: tuple[str, ...]
    example: str
    largest: int = LARGEST
    mistakes: tuple[Problem, ...] = ()
    more: int = 0
    """Mistakes that are not listed."""
    counts: tuple[tuple[str, int], ...] = ()
    invite: bool = False
    table: str = ""
    """The table as it was checked, for the form that enters it."""
    nothing: bool = False


@ROUTER.get(ADDRESS)
def show_import(request: Request, caller: Organiser, what: What) -> Response:
    """The form; for agreements with the copies that wait as an example."""
    return show(request, caller, _page(caller, what))


@ROUTER.post(ADDRESS)
async def check_table(request: Request, caller: Organiser, what: What) -> Response:
    """Check a table, and show what it would do."""
    taken = await read_upload_form(request, caller.office.sealed.scratch, LARGEST)
    try:
        return await run_in_threadpool(_check_table, request, caller, what, taken)
    finally:
        taken.forget()


async def _table_form(request: Request) -> Form:
    return await read_whole_form(request, LARGEST)


@ROUTER.post(f"{ADDRESS}/apply")
def apply_table(
    request: Request, caller: Organiser, form: Annotated[Form, Depends(_table_form)], what: What
) -> Response:
    """Enter the table that was checked; it is checked again, for others work meanwhile."""
    text, invite = _unpack_table(form.text("table")), form.text("invite") == "yes"
    try:
        with caller.office.writing() as session:
            _run(At(caller.office, session, caller.actor, caller.here[0].slug, bound=True), what, text, True, invite)
    except RefusedError as error:
        return show(request, caller, _page(caller, what, error=error), status=error.status)
    return go(caller, at(caller, TABLES[what].then), say_plain(TABLES[what].done))


def _check_table(request: Request, caller: Caller, what: str, taken: UploadForm) -> Response:
    invite = taken.form.text("invite") == "yes"
    try:
        if taken.path is None:
            raise refused("P-43", say_plain("the file is missing"), say_plain("choose a file"), status=422)
        text = taken.path.read_bytes().decode("utf-8", "replace")
        with caller.office.reading() as session:
            where = At(caller.office, session, caller.actor, caller.here[0].slug, bound=True)
            outcome = _run(where, what, text, False, invite)
    except RefusedError as error:
        return show(request, caller, _page(caller, what, error=error), status=error.status)
    counts = {name: outcome.data[name] for name in COUNTS if name in outcome.data}
    return show(request, caller, _page(caller, what, counts=counts, invite=invite, table=_pack_table(text)))


def _run(where: At, what: str, text: str, apply: bool, invite: bool) -> Outcome:
    action = every_action()[TABLES[what].action]
    given: dict[str, Any] = {"text": text, "apply": apply} | ({"invite": invite} if what == "people" else {})
    return action.run(where, action.parse(given))


def _page(
    caller: Caller,
    what: str,
    *,
    error: RefusedError | None = None,
    counts: Mapping[str, int] | None = None,
    invite: bool = False,
    table: str = "",
) -> ImportPage:
    kind = TABLES[what]
    found = error.problems if error is not None else ()
    shown = tuple((str(say(COUNTS[name])), count) for name, count in (counts or {}).items())
    return ImportPage(
        say(kind.title),
        say(kind.lead),
        what,
        kind.columns,
        ROLES if what == "people" else (),
        kind.example or _waiting(caller),
        mistakes=found[:MOST_SHOWN],
        more=len(found[MOST_SHOWN:]),
        counts=shown,
        invite=invite,
        table=table,
        nothing=counts is not None and not any(count for name, count in counts.items() if name != "unchanged"),
    )


def _waiting(caller: Caller) -> str:
    """The copies that wait, as a table that accepts them all."""
    with caller.office.reading() as session:
        found = agreements.waiting_copies(session, caller.here[0].id)
        lines = [f"{_cell(session.get_one(Team, one.team_id).name)},{_cell(one.agreement)},accept," for one in found]
    return "\n".join([",".join(DECISIONS), *lines]) + "\n"


def _cell(text: str) -> str:
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if set(text) & set(',"\n') else text


def _pack_table(text: str) -> str:
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def _unpack_table(packed: str) -> str:
    """The table again; what was made by something else, or grows beyond all bounds, is refused."""
    try:
        reader = zlib.decompressobj()
        held = reader.decompress(base64.b64decode(packed, altchars=b"-_", validate=True), 4 * LARGEST)
        if not reader.eof:
            raise missing("table")
        return held.decode()
    except (binascii.Error, zlib.error, ValueError):
        message, fix = say_plain("this form cannot be read"), say_plain("use the form on its page")
        raise refused("P-11", message, fix, status=422) from None
