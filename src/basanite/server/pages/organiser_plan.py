"""Windows and milestones, and the campaign's file: a new version is previewed with its deviations (P-28)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions import calendar, plans
from basanite.campaign.actions.calendar import STATES
from basanite.campaign.actions.plans import PlanPreview
from basanite.campaign.model.exposure import Exposure, exposure_warnings, exposures, is_open
from basanite.campaign.model.freeze import Change
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.store.tables import Deviation
from basanite.campaign.turns import turn
from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages import campaign as slots
from basanite.server.pages.forms import PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_frame import (
    BASE,
    Organiser,
    at,
    decode_text,
    encode_text,
    name_of,
    perform,
    refusal,
)
from basanite.server.pages.times import zone
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
WINDOW_ADDRESS = f"{BASE}/windows"
MILESTONE_STATES = {
    "planned": sentence("planned"),
    "done": sentence("done"),
    "moved": sentence("moved"),
    "dropped": sentence("dropped"),
}


@dataclass(frozen=True)
class WindowCard:
    """One window with what an extension needs."""

    row: slots.Row
    naming: str
    frozen: datetime | None
    """When its plan was frozen: when it opened."""
    ends: str
    """Its end as the campaign's file would write it."""
    exposed: tuple[Exposure, ...] = ()
    """What a team may look at on a sealed reference, task by task."""
    unprotected: bool = False


@dataclass(frozen=True)
class StoneCard:
    """One milestone."""

    id: str
    title: str
    at: datetime
    owner: str
    deliverable: str
    state: str
    note: str


@dataclass(frozen=True)
class WindowsPage:
    """All windows and milestones."""

    template = "organiser/windows.html"
    title: str
    windows: tuple[WindowCard, ...]
    stones: tuple[StoneCard, ...]
    states: tuple[tuple[str, str], ...]
    zone: str
    chosen: str = ""
    """The window whose form was sent."""
    closes: str = ""
    reason: str = ""


@ROUTER.get(WINDOW_ADDRESS)
def show_windows(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _windows_page(caller))


@ROUTER.post(f"{WINDOW_ADDRESS}/{{window}}/extend")
def extend_window(request: Request, caller: Organiser, form: PostedForm, window: str) -> Response:
    """Let a window close later."""
    closes, reason = form.text("closes").replace("T", " "), form.text("reason")
    given = {"window": window, "closes": closes, "reason": reason}
    again = lambda: _windows_page(caller, window, closes, reason)  # noqa: E731 - what was typed stays
    words = say_plain("The deadline is extended. Every team member gets an email with the reason.")
    return perform(request, caller, "window extend", given, again=again, then="/windows", words=words)


@ROUTER.post(f"{WINDOW_ADDRESS}/milestones/{{stone}}")
def set_milestone(request: Request, caller: Organiser, form: PostedForm, stone: str) -> Response:
    """Say where a milestone stands."""
    given = {"milestone": stone, "state": form.text("state"), "note": form.text("note")}
    again, words = partial(_windows_page, caller), say_plain("The milestone is updated.")
    return perform(request, caller, "milestone set", given, again=again, then="/windows", words=words)


def _windows_page(caller: Caller, chosen: str = "", closes: str = "", reason: str = "") -> WindowsPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        frozen = {one.window: one.at for one in plans.freezes(session, row.id)}
        stones = calendar.milestones(session, row.id)
    exposed, open_ = tuple(exposures(campaign)), {one.window for one in exposures(campaign) if is_open(campaign, one)}
    cards = [
        WindowCard(
            one,
            campaign.window(one.id).naming,
            frozen.get(one.id),
            f"{one.closes.astimezone(zone(campaign.zone)):%Y-%m-%dT%H:%M}",
            tuple(each for each in exposed if each.window == one.id),
            one.id in open_,
        )
        for one in slots.rows(campaign, caller.now)
    ]
    return WindowsPage(
        say("Windows and milestones"),
        tuple(cards),
        tuple(_stone_card(one) for one in stones),
        tuple((state, str(say(MILESTONE_STATES[state]))) for state in STATES),
        campaign.zone,
        chosen,
        closes,
        reason,
    )


def _stone_card(standing: calendar.Standing) -> StoneCard:
    one = standing.milestone
    return StoneCard(one.id, one.title, one.at.utc, one.owner, one.deliverable, standing.state, standing.note)


TABLES = {
    "windows": sentence("Window “{name}”"),
    "packs": sentence("Data pack “{name}”"),
    "querysets": sentence("Query set “{name}”"),
    "tracks": sentence("Track “{name}”"),
    "milestones": sentence("Milestone “{name}”"),
    "agreements": sentence("Agreement “{name}”"),
    "rules": sentence("Rules “{name}”"),
}
FIELDS = {
    "opens": sentence("Opens"),
    "closes": sentence("Closes"),
    "tasks": sentence("Tasks"),
    "dataset": sentence("Data"),
    "quota.count": sentence("Quota"),
    "quota.period": sentence("Quota per"),
    "quota.types": sentence("Quota by type"),
    "feedback": sentence("Feedback"),
    "kind": sentence("Kind"),
    "languages": sentence("Languages"),
    "querysets": sentence("Query sets"),
    "naming": sentence("Public team names"),
    "transfer_grace": sentence("Grace period for uploads"),
    "late_grace": sentence("Grace period for late runs"),
    "certification": sentence("Certification"),
    "results_at": sentence("Results on"),
    "two_people": sentence("Actions that need approval"),
    "title": sentence("Title"),
    "zone": sentence("Time zone"),
    "released": sentence("Released"),
    "key_at": sentence("Key published"),
    "sealed": sentence("Sealed decryption key"),
    "version": sentence("Version"),
    "text": sentence("Text"),
}
"""Fields of the file in words; others by their own name."""
_SECONDS = re.compile(r"([\d.e+]+) s")


@dataclass(frozen=True)
class Fact:
    """One field: what it says, and what it said."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class ChangeLine:
    """One thing of the plan that is added, changed or removed."""

    state: str
    """`added`, `changed`, `removed`."""
    what: str
    facts: tuple[Fact, ...]


def change_lines(changes: Iterable[Change], *campaigns: Campaign) -> tuple[ChangeLine, ...]:
    """The changes thing by thing; the campaigns, newest first, know what things are called."""
    named = {
        (table, one.id): getattr(one, "title", "") or one.id
        for campaign in reversed(campaigns)
        for table in TABLES
        for one in getattr(campaign, table)
    }
    placed = [(_place(change.what, named), change) for change in changes]
    order = {place[:2]: at for at, (place, _) in reversed(list(enumerate(placed)))}
    placed.sort(key=lambda pair: order[pair[0][:2]])
    grouped = groupby(placed, key=lambda pair: pair[0][:2])
    return tuple(_line(table, named.get((table, id_), id_), list(found)) for (table, id_), found in grouped)


def _place(path: str, named: Mapping[tuple[str, str], str]) -> tuple[str, str, str]:
    """The table, the id and the field that a path names; ids may hold dots, so known ones are looked for."""
    table, _, rest = path.partition(".")
    ids = [one for kind, one in named if kind == table and (rest == one or rest.startswith(f"{one}."))]
    if not ids:
        return "", "", path
    found = max(ids, key=len)
    return table, found, rest[len(found) + 1 :]


def _line(table: str, name: str, found: list[tuple[tuple[str, str, str], Change]]) -> ChangeLine:
    what = say(TABLES[table], name=name) if table else say("Campaign")
    (_, _, field), first = found[0]
    if table and not field and first.before is None:
        return ChangeLine("added", what, tuple(_facts(first.after)))
    if table and not field:
        return ChangeLine("removed", what, ())
    facts = (
        Fact(_field(place[2]), _words(place[2], change.before), _words(place[2], change.after))
        for place, change in found
    )
    return ChangeLine("changed", what, tuple(facts))


def _facts(fields: Mapping[str, Any]) -> Iterator[Fact]:
    """What an added thing says, without what it leaves empty."""
    for name, value in fields.items():
        parts = {f"{name}.{key}": part for key, part in value.items()} if name == "quota" else {name: value}
        yield from (
            Fact(_field(key), "", _words(key, part))
            for key, part in parts.items()
            if key != "id" and part not in (None, "", "0 s", [], {})
        )


def _field(path: str) -> str:
    return say(FIELDS[path]) if path in FIELDS else path.replace("_", " ")


def _words(path: str, value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words('', part)}" for key, part in value.items() if part not in (None, "", [], {}))
    if isinstance(value, list):
        return ", ".join(_words("", part) for part in value)
    seconds = _SECONDS.fullmatch(str(value)) if path in ("transfer_grace", "late_grace", "certification") else None
    return _duration(float(seconds[1])) if seconds else str(value)


def _duration(seconds: float) -> str:
    """A span in the largest unit that fits it.

    >>> _duration(604800), _duration(5400), _duration(3600)
    ('7 days', '90 min', '1 h')
    """
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds and seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {'day' if unit == 'days' and count == 1 else unit}"
    return f"{seconds:g} s"


FILE_ADDRESS = f"{BASE}/plan"
LARGEST = 150 * 1024
"""Bytes of a campaign's file that the form takes; larger ones come by the command line."""
SHOWN = 200


@dataclass(frozen=True)
class VersionLine:
    """One version of the file."""

    version: int
    digest: str
    made: datetime
    by: str
    reason: str


@dataclass(frozen=True)
class DeviationLine:
    """A change of what was frozen."""

    window: str
    at: datetime
    by: str
    reason: str
    results_known: bool
    changes: tuple[ChangeLine, ...]


@dataclass(frozen=True)
class FilePage:
    """The file, its versions and deviations; or a new version before it holds."""

    template = "organiser/plan.html"
    title: str
    text: str
    versions: tuple[VersionLine, ...]
    deviations: tuple[DeviationLine, ...]
    preview: PlanPreview | None = None
    fresh: str = ""
    """The text that is previewed, in Base64: it comes back byte by byte, whatever browsers do to lines."""
    reason: str = ""
    shown: tuple[ChangeLine, ...] = ()
    """The changes of the preview, in words."""
    warnings: tuple[Problem, ...] = ()
    """What the new version leaves open to probing."""


@ROUTER.get(FILE_ADDRESS)
def plan(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _file_page(caller))


@ROUTER.get(f"{FILE_ADDRESS}/{{version}}.toml")
def download(caller: Organiser, version: int) -> Response:
    """One version of the file, as it was given."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = {one.version: one.text for one in plans.plan_versions(session, row.id)}
    if version not in found:
        raise missing("version")
    name = f'attachment; filename="{row.slug}-{version}.toml"'
    return Response(found[version], media_type="application/toml", headers={"Content-Disposition": name})


@ROUTER.post(f"{FILE_ADDRESS}/preview")
async def preview(request: Request, caller: Organiser) -> Response:
    """Look at a new version; nothing is kept."""
    taken = await read_upload_form(request, caller.office.settings.data / "uploads", LARGEST)
    try:
        return await run_in_threadpool(_preview_file, request, caller, taken)
    finally:
        taken.forget()


@ROUTER.post(FILE_ADDRESS)
async def change(request: Request, caller: Organiser) -> Response:
    """Let the version that was looked at hold."""
    taken = await read_upload_form(request, caller.office.settings.data / "uploads", LARGEST)
    taken.forget()
    return await run_in_threadpool(_change_file, request, caller, taken)


def _preview_file(request: Request, caller: Caller, taken: UploadForm) -> Response:
    try:
        text = _text(taken)
        with turn(caller.office, caller.viewer.party, "preview"), caller.office.reading() as session:
            found = plans.preview_plan(session, caller.office, caller.here[0].id, text)
    except InvalidInputError as error:
        return refuse(request, caller, _file_page(caller), refusal(error))
    except RefusedError as error:
        return refuse(request, caller, _file_page(caller), error)
    return show(request, caller, _file_page(caller, found, encode_text(text)))


def _text(taken: UploadForm) -> str:
    if taken.path is None:
        raise refused("P-28", say_plain("the file is missing"), say_plain("choose the campaign file"), status=422)
    try:
        return read_bounded(taken.path, LARGEST).decode("utf-8")
    except UnicodeDecodeError:
        raise refused("P-28", say_plain("not UTF-8 text"), say_plain("save it as UTF-8"), status=422) from None


def _change_file(request: Request, caller: Caller, taken: UploadForm) -> Response:
    text, reason = decode_text(taken.form.text("text")), taken.form.text("reason")
    try:
        with caller.office.writing() as session:
            found = _same(session, caller, text, taken.form.text("digest"))
            plans.change_plan(session, caller.office, caller.actor, caller.here[0].id, text, reason=reason)
    except InvalidInputError as error:
        return refuse(request, caller, _file_page(caller), refusal(error))
    except RefusedError as error:
        with caller.office.reading() as session:
            again = plans.preview_plan(session, caller.office, caller.here[0].id, text)
        return refuse(request, caller, _file_page(caller, again, encode_text(text), reason), error)
    words = (
        say_plain("The new version is active.")
        if not found.deviations
        else say_plain("The new version is active. Deviations are recorded.")
    )
    return go(caller, at(caller, "/plan"), words)


def _same(session: Session, caller: Caller, text: str, digest: str) -> PlanPreview:
    """The preview of exactly the text that was looked at."""
    found = plans.preview_plan(session, caller.office, caller.here[0].id, text)
    if found.digest != digest:
        raise refused("P-28", say_plain("the file changed since the preview"), say_plain("upload it again"), status=409)
    return found


def _file_page(caller: Caller, found: PlanPreview | None = None, fresh: str = "", reason: str = "") -> FilePage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        versions = plans.plan_versions(session, row.id)
        lines = [
            VersionLine(one.version, one.digest, one.made, name_of(session, caller, one.made_by), one.reason)
            for one in versions[:SHOWN]
        ]
        gone = [_deviation(session, caller, one) for one in plans.deviations(session, row.id)[::-1][:SHOWN]]
    return FilePage(
        say("Plan and deviations"),
        versions[0].text,
        tuple(lines),
        tuple(gone),
        found,
        fresh,
        reason,
        change_lines(found.changes, found.campaign, campaign) if found else (),
        exposure_warnings(found.campaign) if found else (),
    )


def _deviation(session: Session, caller: Caller, one: Deviation) -> DeviationLine:
    gone = [Change(each["what"], each["from"], each["to"]) for each in one.changes]
    lines = change_lines(gone, caller.here[1])
    return DeviationLine(one.window, one.at, name_of(session, caller, one.by), one.reason, one.results_known, lines)
