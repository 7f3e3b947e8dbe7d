"""How the gold grows: decisions become a version, every run is scored again, then it holds (R-17, R-21)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions.references import Place
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.store.tables import ReadingGold, ReadingPackage, ReadingTaskRow, Team
from basanite.campaign.work.reading import golds, scoring, tasks
from basanite.campaign.work.reading.adjudication import progress
from basanite.campaign.work.reading.packages import find
from basanite.campaign.work.reading.people import human_records
from basanite.campaign.work.reading.tasks import Wanted
from basanite.server.catalogue import say_plain
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_data import places, words_of
from basanite.server.pages.organiser_frame import at as organising
from basanite.server.pages.organiser_frame import finish_form, name_of
from basanite.server.pages.reading import BASE, Organiser, at
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/gold/{{package_id}}"


@dataclass(frozen=True)
class VersionLine:
    """A version of the gold."""

    name: str
    state: str
    added: int | None
    reason: str
    by: str
    made: datetime | None


@dataclass(frozen=True)
class RunLine:
    """What a version does to one run; values are shown to the evaluation team alone."""

    team: str
    label: str
    before: float | None
    after: float | None
    own_out: float | None
    """With the own contributions left out (S-21)."""
    unseen: float | None
    """The share of unmatched answers that nobody has adjudicated (S-21)."""
    ratio: float | None
    computed: bool


@dataclass(frozen=True)
class TaskLine:
    """A formal task."""

    id: str
    part: str
    queries: int
    documents: int
    made: datetime


@dataclass(frozen=True)
class GoldPage:
    """A package: its tasks, its pool, its gold, and what a proposed version would change."""

    template = "reading/gold.html"
    title: str
    address: str
    adjudicate: str
    window: str
    waiting: int
    decided: int
    total: int
    human: int
    versions: tuple[VersionLine, ...]
    tasks: tuple[TaskLine, ...]
    parts: tuple[tuple[str, str], ...]
    proposed: str
    """The id of the version that is being previewed; "" if none is."""
    proposed_name: str
    ready: bool
    runs: tuple[RunLine, ...]
    reason: str = ""
    places: tuple[tuple[str, str], ...] = ()
    """What the gold can be the reference of."""
    chosen: str = ""
    because: str = ""


@ROUTER.get(ADDRESS)
def show_gold(request: Request, package_id: str, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _gold_page(caller, package_id))


@ROUTER.post(f"{ADDRESS}/propose")
def propose_gold(request: Request, package_id: str, caller: Organiser, form: PostedForm) -> Response:
    """Make the next version; every run is scored against it, and nothing changes."""
    reason = form.text("reason")

    def act(session: Session) -> object:
        package = find(session, caller.here[0].id, package_id)
        return golds.propose(session, caller.office, caller.actor, caller.here[0].id, package.id, reason=reason)

    words = say_plain("The results are being computed. Nothing changes until you apply them.")
    return finish_form(
        request, caller, act, lambda: _gold_page(caller, package_id, reason), at(caller, f"/gold/{package_id}"), words
    )


@ROUTER.post(f"{ADDRESS}/compute")
def compute_gold(request: Request, package_id: str, caller: Organiser, form: PostedForm) -> Response:
    """Score now what a worker has not scored yet."""
    with caller.office.reading() as session:
        package = find(session, caller.here[0].id, package_id)
    scoring.score_due(caller.office, package.id)
    return go(caller, at(caller, f"/gold/{package_id}"), say_plain("All runs are scored."))


@ROUTER.post(f"{ADDRESS}/apply")
def apply_gold(request: Request, package_id: str, caller: Organiser, form: PostedForm) -> Response:
    """Let the version hold."""
    gold = form.text("gold")

    def act(session: Session) -> object:
        return golds.apply(session, caller.office, caller.actor, caller.here[0].id, gold)

    there = at(caller, f"/gold/{package_id}")
    return finish_form(
        request,
        caller,
        act,
        lambda: _gold_page(caller, package_id),
        there,
        say_plain("The new gold version is active."),
    )


@ROUTER.post(f"{ADDRESS}/cancel")
def cancel_gold(request: Request, package_id: str, caller: Organiser, form: PostedForm) -> Response:
    """Leave everything as it is."""
    gold = form.text("gold")

    def act(session: Session) -> object:
        return golds.cancel(session, caller.office, caller.actor, caller.here[0].id, gold)

    there = at(caller, f"/gold/{package_id}")
    return finish_form(
        request, caller, act, lambda: _gold_page(caller, package_id), there, say_plain("Nothing has changed.")
    )


@ROUTER.post(f"{ADDRESS}/reference")
def refer_to_gold(request: Request, package_id: str, caller: Organiser, form: PostedForm) -> Response:
    """Make the gold that holds the reference of submissions, and show what that would change."""
    chosen, because = form.text("place"), form.text("because")
    try:
        place = reading_places(caller).get(chosen)
        if place is None:
            raise refused(
                "M62", say_plain("no window accepts this"), say_plain("choose what the reference is for"), status=422
            )
        who = (caller.office, caller.actor, caller.here[0].id, package_id)
        made = golds.make_reference(*who, place, reason=because)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, replace(_gold_page(caller, package_id), chosen=chosen, because=because), error)
    if made.batch is not None:
        words = say_plain("The results are being computed. Nothing changes until you apply them.")
        return go(caller, organising(caller, f"/rescoring/{made.batch.id}"), words)
    if made.reference.state == "active":
        words = say_plain("The reference is sealed and active. The task is open.")
    else:
        words = say_plain("The version is sealed. A second person must approve it before it becomes active.")
    return go(caller, organising(caller, "/references"), words)


def reading_places(caller: Caller) -> dict[str, Place]:
    """The places of this campaign's plan that take reading runs, by what a form says to mean them."""
    return {key: place for key, place in places(caller.here[1]).items() if place.task.lower() == golds.TASK}


@ROUTER.post(f"{ADDRESS}/task")
def make_formal_task(request: Request, package_id: str, caller: Organiser, form: PostedForm) -> Response:
    """Make a formal task from a part of the package."""
    wanted = Wanted(form.text("part"), "formal")
    try:
        tasks.make(caller.office, caller.actor, caller.viewer, caller.here[0].id, package_id, wanted)
    except RefusedError as error:
        return refuse(request, caller, _gold_page(caller, package_id), error)
    return go(
        caller, at(caller, f"/gold/{package_id}"), say_plain("The task is created. Teams can download it by its ID.")
    )


def _gold_page(caller: Caller, package_id: str, reason: str = "") -> GoldPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        package = find(session, row.id, package_id)
        state = progress(session, caller.office, package)
        grown = _grown(session, package.id)
        waiting = next((one for one in grown.values() if one.state == "proposed"), None)
        runs = tuple(_run(session, one) for one in scoring.changes(session, caller.office, waiting)) if waiting else ()
        return GoldPage(
            f"{package.title} {package.version}",
            at(caller, f"/gold/{package.id}"),
            at(caller, f"/adjudicate/{package.id}"),
            package.window,
            len(state.waiting),
            state.decided,
            state.total,
            len(human_records(session, package.id)),
            tuple(_versions(session, caller, package, grown)),
            tuple(map(_task, _tasks(session, package.id))),
            tuple((str(part["name"]), str(part["name"])) for part in package.parts),
            waiting.id if waiting else "",
            f"v{waiting.number}" if waiting else "",
            all(one.computed for one in runs),
            runs,
            reason,
            tuple((key, words_of(place)) for key, place in reading_places(caller).items()),
        )


def _grown(session: Session, package_id: str) -> dict[str, ReadingGold]:
    found = session.scalars(select(ReadingGold).where(ReadingGold.reading_package_id == package_id))
    return {one.id: one for one in found}


def _versions(
    session: Session, caller: Caller, package: ReadingPackage, grown: Mapping[str, ReadingGold]
) -> Iterator[VersionLine]:
    held = golds.newest(session, caller.office, package)
    for one in golds.versions(session, caller.office, package):
        state = "superseded" if one.state == "active" and one != held else one.state
        yield _version(session, caller, one, grown.get(one.id), state)


def _version(session: Session, caller: Caller, one: golds.Version, row: ReadingGold | None, state: str) -> VersionLine:
    if row is None:
        return VersionLine(one.name, state, None, say_plain("came with the package"), "", None)
    return VersionLine(one.name, state, row.added, row.reason, name_of(session, caller, row.by), row.made)


def _tasks(session: Session, package_id: str) -> list[ReadingTaskRow]:
    question = select(ReadingTaskRow).where(
        ReadingTaskRow.reading_package_id == package_id, ReadingTaskRow.mode == "formal"
    )
    return list(session.scalars(question.order_by(ReadingTaskRow.made.desc()).limit(50)))


def _task(one: ReadingTaskRow) -> TaskLine:
    return TaskLine(one.id, one.part, len(one.queries), one.documents, one.made)


def _run(session: Session, one: scoring.Change) -> RunLine:
    team = session.get(Team, one.run.team_id) if one.run.team_id else None
    after = one.after or {}
    parts = _value(after, "f").get("parts", {})
    return RunLine(
        team.name if team else say_plain("the evaluation team"),
        one.run.label,
        _value(one.before or {}, "f").get("value"),
        _value(after, "f").get("value"),
        parts.get("without_own_gold"),
        parts.get("unadjudicated_share"),
        _value(after, "pr").get("value"),
        one.before is not None and one.after is not None,
    )


def _value(result: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = result.get("values", {}).get(name, {})
    return found
