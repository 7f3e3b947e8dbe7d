"""Every entry of a campaign's file on a page of its own, the draft published, and its picture (P-35, P-36).

A form brings the version of the file that it was made from. What others changed meanwhile stays; where both changed
the same field, the form comes back with what is active now beside what was typed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions import campaigns, pictures, plans
from basanite.campaign.actions.campaigns import LISTS, Edit
from basanite.campaign.actions.overview import checklist
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.errors import InvalidInputError
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.entry_form import EntryField, changed_entries, entry_fields, typed_values
from basanite.server.pages.forms import Form, PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_frame import BASE, ConfirmPage, Organiser, at, perform, refusal
from basanite.server.pages.organiser_home import task_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
EDIT = f"{BASE}/edit"
TITLES = {
    "campaign": sentence("General"),
    "about": sentence("Public page"),
    "windows": sentence("Windows"),
    "packs": sentence("Data packs"),
    "querysets": sentence("Query sets"),
    "domains": sentence("Domains"),
    "tracks": sentence("Tracks"),
    "milestones": sentence("Milestones"),
    "agreements": sentence("Agreements"),
    "rules": sentence("Rules"),
    "claims": sentence("Claims"),
    "judging": sentence("Judging"),
}
ONE = {
    "windows": sentence("New window"),
    "packs": sentence("New data pack"),
    "querysets": sentence("New query set"),
    "domains": sentence("New domains"),
    "tracks": sentence("New track"),
    "milestones": sentence("New milestone"),
    "agreements": sentence("New agreement"),
    "rules": sentence("New rules"),
    "claims": sentence("New claim"),
}


@dataclass(frozen=True)
class EditPart:
    """One table or list of the file."""

    table: str
    title: str
    entries: tuple[tuple[str, str], ...] = ()
    """Name and title of each entry of a list."""
    add: str = ""
    """What a new entry is called, for lists."""


@dataclass(frozen=True)
class EditPage:
    """All tables of the file."""

    template = "organiser/edit.html"
    title: str
    parts: tuple[EditPart, ...]
    version: int
    draft: bool
    logo: str


@dataclass(frozen=True)
class EntryPage:
    """The form of one table or entry."""

    template = "organiser/edit_entry.html"
    title: str
    fields: tuple[EntryField, ...]
    version: int
    address: str
    zone: str
    removable: bool = False
    frozen: bool = False
    """Whether windows have opened, so that some changes are deviations with a reason."""
    reason: str = ""
    now: tuple[tuple[str, str], ...] = ()
    """What is active in fields that somebody else changed meanwhile."""


@ROUTER.get(EDIT)
def show_parts(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, _ = caller.here
    document, version = _document(caller)
    parts = tuple(_part(table, document) for table in TITLES)
    logo = f"/campaigns/{row.slug}/logo?v={row.logo[:12]}" if row.logo else ""
    return show(request, caller, EditPage(say("Edit campaign"), parts, version, row.published is None, logo))


def _part(table: str, document: Mapping[str, Any]) -> EditPart:
    if table not in LISTS:
        return EditPart(table, say(TITLES[table]))
    entries = document.get(table, [])
    named = [(campaigns.entry_name(one, number), _title(one)) for number, one in enumerate(entries)]
    return EditPart(table, say(TITLES[table]), tuple((name, title or name) for name, title in named), say(ONE[table]))


def _title(entry: Mapping[str, Any]) -> str:
    return str(entry.get("title") or ", ".join(map(str, entry.get("codes", ()))) or entry.get("text", ""))[:80]


@ROUTER.get(f"{EDIT}/{{table}}")
def show_table(request: Request, caller: Organiser, table: str) -> Response:
    """The form of a table, or of a new entry of a list."""
    return show(request, caller, _entry_page(caller, table))


@ROUTER.get(f"{EDIT}/{{table}}/{{name}}")
def show_entry(request: Request, caller: Organiser, table: str, name: str) -> Response:
    """The form of an entry."""
    return show(request, caller, _entry_page(caller, table, name))


@ROUTER.post(f"{EDIT}/{{table}}")
def save_table(request: Request, caller: Organiser, form: PostedForm, table: str) -> Response:
    """Save a table, or add an entry to a list."""
    return _save(request, caller, form, table, "")


@ROUTER.post(f"{EDIT}/{{table}}/{{name}}")
def save_entry(request: Request, caller: Organiser, form: PostedForm, table: str, name: str) -> Response:
    """Save an entry."""
    return _save(request, caller, form, table, name)


@ROUTER.post(f"{EDIT}/{{table}}/{{name}}/remove")
def remove_entry(request: Request, caller: Organiser, form: PostedForm, table: str, name: str) -> Response:
    """Remove an entry of a list."""
    given = {"where": f"{table}/{name}", "reason": form.text("reason")}
    words = say_plain("The entry is removed.")
    again = lambda: replace(_entry_page(caller, table, name), reason=form.text("reason"))  # noqa: E731 - typed text stays
    return perform(request, caller, "campaign remove", given, again=again, then="/edit", words=words)


def _save(request: Request, caller: Caller, form: Form, table: str, name: str) -> Response:
    page = _entry_page(caller, table, name, _number(form.text("version")))
    typed = typed_values(form, page.fields)
    try:
        values = changed_entries(page.fields, typed, _held_values(caller, table, name, page.version), page.zone)
        with caller.office.writing() as session:
            version = _write(
                session, caller, Edit(_where(table, name), values, page.version, form.text("reason")), name
            )
    except (InvalidInputError, RefusedError) as error:
        if isinstance(error, RefusedError) and error.status == 404:
            raise
        found = error if isinstance(error, RefusedError) else _without_lines(error)
        return refuse(request, caller, _again(caller, page, form, table, name), found)
    words = say_plain("Saved as version {version}.", version=version) if values else say_plain("Nothing changed.")
    return go(caller, at(caller, "/edit"), words)


def _write(session: Session, caller: Caller, edit: Edit, name: str) -> int:
    who = session, caller.office, caller.actor, caller.here[0].id
    if edit.where in LISTS and not name:
        values = {key: value for key, value in edit.values.items() if value is not None}
        return campaigns.insert_into_plan(*who, replace(edit, values=values)).version
    return campaigns.edit_plan(*who, edit).version


def _again(caller: Caller, page: EntryPage, form: Form, table: str, name: str) -> EntryPage:
    """The form with what was typed, and with what others changed meanwhile as it is now."""
    typed, fresh = typed_values(form, page.fields), _entry_page(caller, table, name)
    before = {one.name: one.value for one in page.fields}
    changed = {key for key, text in typed.items() if text != before.get(key)}
    both = [one for one in fresh.fields if one.name in changed and one.value != before.get(one.name)]
    fields = tuple(replace(one, value=typed[one.name]) if one.name in changed else one for one in fresh.fields)
    now = tuple((one.label, one.value or "–") for one in both)
    return replace(fresh, fields=fields, reason=form.text("reason"), now=now)


def _without_lines(error: InvalidInputError) -> RefusedError:
    """What is wrong with a campaign's file, for somebody who does not look at its lines."""
    found = refusal(error)
    plain = [
        one.message.partition(": ")[2] if one.message.startswith("line ") else one.message for one in found.problems
    ]
    return RefusedError(
        [replace(one, message=text) for one, text in zip(found.problems, plain, strict=True)], status=422
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _where(table: str, name: str) -> str:
    return f"{table}/{name}" if name else table


def _document(caller: Caller, version: int = 0) -> tuple[dict[str, Any], int]:
    with caller.office.reading() as session:
        versions = plans.plan_versions(session, caller.here[0].id)
    found = next((one for one in versions if one.version == version), versions[0])
    return tomllib.loads(found.text), found.version


def _held_values(caller: Caller, table: str, name: str, version: int) -> dict[str, Any]:
    """What the file says in a table at a version; a new entry says nothing."""
    if table in LISTS and not name:
        return {}
    return campaigns.table_values(_document(caller, version)[0], _where(table, name))


def _entry_page(caller: Caller, table: str, name: str = "", version: int = 0) -> EntryPage:
    if table not in TITLES or (name and table not in LISTS):
        raise missing("page")
    row, campaign = caller.here
    version = _document(caller, version)[1]
    values = _held_values(caller, table, name, version)
    title = ONE[table] if table in LISTS and not name else TITLES[table]
    with caller.office.reading() as session:
        frozen = bool(plans.freezes(session, row.id))
    return EntryPage(
        _title(values) if name and _title(values) else say(title),
        entry_fields(table, values, campaign),
        version,
        at(caller, f"/edit/{_where(table, name)}"),
        campaign.zone,
        bool(name),
        frozen and table != "about",
    )


PUBLISH = f"{BASE}/publish"


@ROUTER.get(PUBLISH)
def ask_to_publish(request: Request, caller: Organiser) -> Response:
    """What publishing does, and what is left to set up."""
    return show(request, caller, _publish_page(caller))


@ROUTER.post(PUBLISH)
def publish(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Publish the draft."""
    words = say_plain("The campaign is public.")
    again = lambda: _publish_page(caller)  # noqa: E731 - made only where it is needed
    return perform(request, caller, "campaign publish", {}, again=again, then="", words=words)


def _publish_page(caller: Caller) -> ConfirmPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        steps = checklist(session, row.id, campaign, caller.now)
    left = [task_of(one, caller.now) for one in steps if not one.done]
    words = [say("Everybody will see the campaign. It cannot become a draft again.")]
    words += [say("Windows that have opened are frozen: later changes of them are deviations with a reason.")]
    words += [say("You can publish now and finish the setup later.")] if left else []
    return ConfirmPage(
        say("Publish campaign"),
        tuple(words),
        at(caller, "/publish"),
        say("Publish"),
        at(caller),
        tuple((task.text, task.why) for task in left),
        reason=False,
        safe=True,
    )


LOGO = f"{BASE}/logo"


@ROUTER.post(LOGO)
async def set_logo(request: Request, caller: Organiser) -> Response:
    """Take a picture for the public page."""
    taken = await read_upload_form(request, caller.office.settings.data / "uploads", pictures.LARGEST)
    try:
        return await run_in_threadpool(_set_logo, request, caller, taken)
    finally:
        taken.forget()


def _set_logo(request: Request, caller: Caller, taken: UploadForm) -> Response:
    try:
        if taken.path is None:
            raise refused("P-36", say_plain("the file is missing"), say_plain("choose a picture"), status=422)
        with caller.office.writing() as session:
            pictures.set_logo(session, caller.office, caller.actor, caller.here[0].id, taken.path)
    except RefusedError as error:
        row, _ = caller.here
        document, version = _document(caller)
        parts = tuple(_part(table, document) for table in TITLES)
        page = EditPage(say("Edit campaign"), parts, version, row.published is None, "")
        return refuse(request, caller, page, error)
    return go(caller, at(caller, "/edit"), say_plain("The logo is saved."))


@ROUTER.post(f"{LOGO}/remove")
def remove_logo(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Show no picture."""
    with caller.office.writing() as session:
        pictures.set_logo(session, caller.office, caller.actor, caller.here[0].id, None)
    return go(caller, at(caller, "/edit"), say_plain("The logo is removed."))
