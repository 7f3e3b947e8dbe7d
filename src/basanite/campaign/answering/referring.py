"""The gold that holds as a version of the campaign's reference: what came through the door is scored again too (R-21).

Runs of the reading services are scored against the gold at once, when a version of it is applied. Submissions to a
window of the task `reading` are scored against a reference, and a reference changes by a previewed batch alone (P-7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from basanite.campaign.answering import golds
from basanite.campaign.answering.golds import Version
from basanite.campaign.answering.packages import find, whole
from basanite.campaign.answering.running import Order, worked
from basanite.campaign.jobs.running import Given
from basanite.campaign.model import stages
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import approvals, plans, reference_files, references, rescoring, seconding
from basanite.campaign.organising.references import Material, Place
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import Batch, ReadingPackage, Reference
from basanite.campaign.turns import turn

TASK: Final = "reading"
ARCHIVE, HUMAN = "package.tgz", "human.ndjson"


@dataclass(frozen=True)
class Referred:
    """A new version of the reference, and the batch that shows what it would change; the first of a place has none."""

    reference: Reference
    batch: Batch | None
    gold: str
    """The version of the gold that it holds."""


@dataclass(frozen=True)
class _Grown:
    """A package with every version of its gold that came to hold."""

    package: ReadingPackage
    versions: tuple[Version, ...]

    @property
    def newest(self) -> Version:
        """The version that holds."""
        return self.versions[-1]


def place_of(campaign: Campaign, package: ReadingPackage, *, dataset: str = "", language: str = "") -> Place:
    """The place of reading runs that is meant: by default that of the package's window, in its only language."""
    windows = [one for one in campaign.windows if TASK in map(str.lower, one.tasks)]
    own = [one for one in windows if one.id == package.window] or windows
    fitting = [one for one in windows if "+".join(one.dataset) == dataset] if dataset else own
    if not fitting:
        fix, hint = "look at the windows of the campaign", "basanite admin window list"
        raise refused("M62", "no window takes reading runs on this", fix, status=422, found=dataset).with_hint(hint)
    known = stages.languages(campaign, fitting[0])
    spoken = language or (known[0] if len(known) == 1 else "")
    task = next(one for one in fitting[0].tasks if one.lower() == TASK)
    queries = "" if task in stages.TASKS_WITHOUT_QUERIES else stages.queryset_name(campaign, fitting[0])
    return Place(task, "+".join(fitting[0].dataset), spoken, queries)


def make_reference(
    office: Office, actor: Actor, campaign_id: str, package_id: str, place: Place, *, reason: str
) -> Referred:
    """Make the gold that holds the next version of a place's reference, and begin the batch that previews it.

    It opens its own transactions, for the child that packs and the one that checks take their time.
    """
    _check_asked(place, reason)
    with office.reading() as session:
        require_organiser(session, actor, campaign_id)
        grown = _grown(session, office, find(session, campaign_id, package_id))
        campaign = plans.current(session, campaign_id).campaign
        held = references.holding(session, campaign_id, place)
    reference_files.window_of(campaign, place)
    material = _material(office, grown, held)
    with turn(office, campaign_id, "preview"):
        reference_files.check(office, campaign, place, material)
    with office.writing() as session:
        return _added(session, office, actor, grown, place, material, reason.strip())


def _check_asked(place: Place, reason: str) -> None:
    if place.task.lower() != TASK:
        raise refused("R-21", "gold of a reading package is no reference of another task", "choose reading", status=422)
    if not reason.strip():
        raise no_reason("P-7", "a reference without a reason")


def _grown(session: Session, office: Office, package: ReadingPackage) -> _Grown:
    held = tuple(one for one in golds.versions(session, office, package) if one.state == "active")
    if not held:
        fix = "adjudicate some answers, then propose and apply a version"
        raise refused("R-17", "this package has no gold yet", fix, status=409)
    return _Grown(package, held)


def _material(office: Office, grown: _Grown, held: Material | None) -> Material:
    """The files of the new version: those of the one that holds, with the grown package in its place."""
    packed, human = _packed(office, grown), grown.newest.human
    named = {packed: ARCHIVE, **({human: HUMAN} if human else {})}
    made = Material((packed,), human=human or None, names=named).after(held)
    if held is not None and (held.reference, held.human) == (made.reference, made.human):
        fix = "let the gold grow first: propose and apply a version of it"
        raise refused("R-21", f"the reference holds {grown.newest.name} already", fix, status=409)
    return made


def _packed(office: Office, grown: _Grown) -> str:
    """The package with its grown gold, put together and checked in the child, among the sealed files."""
    files = {"package": whole(office, grown.package)}
    for one in grown.versions:
        if one.digest:
            path = office.sealed.path(one.digest)
            files[f"gold_{one.name}"] = Given(f"{one.name}.ndjson", path, office.sealed)
    with worked(office, Order("repack", grown.package.campaign_id, files, sealed=True, patient=True)) as outcome:
        return office.sealed.take(outcome.out / ARCHIVE).digest


def _added(
    session: Session, office: Office, actor: Actor, grown: _Grown, place: Place, material: Material, reason: str
) -> Referred:
    """Add the version: the first opens the task, or waits for a second person; a later one is previewed at once."""
    campaign_id = grown.package.campaign_id
    first = references.holding(session, campaign_id, place) is None
    two = approvals.needs_two(plans.current(session, campaign_id).campaign, "reference")
    row = references.add(session, office, actor, campaign_id, place, material, reason=reason, hold=two)
    if two and first:
        seconding.ask_to_open(session, office, actor, campaign_id, row.id)
    batch = None if first else rescoring.preview(session, office, actor, row.id, reason=reason)
    _log(session, office, actor, grown, row)
    return Referred(row, batch, grown.newest.name)


def _log(session: Session, office: Office, actor: Actor, grown: _Grown, row: Reference) -> None:
    events.record(
        session,
        "reading.gold_referred",
        at=office.clock(),
        actor=actor.id,
        subject=grown.package.id,
        campaign_id=row.campaign_id,
        data={"version": grown.newest.name, "reference": row.id, "reason": row.reason},
    )
