"""Versions of the gold: those a package came with, and those that grow from what adjudicators accept (R-17, R-21).

A new version is made from scratch: the newest of the package, then every decision that holds. It is proposed first,
every run is scored against it, and only when somebody has looked at that it comes to hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans, references, rescoring, two_people
from basanite.campaign.actions.references import Material, NewVersion, Place
from basanite.campaign.jobs.scoring_process import Given
from basanite.campaign.model import windows
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Batch, ReadingGold, ReadingPackage, Reference
from basanite.campaign.turns import turn
from basanite.campaign.work.decisions import add_version
from basanite.campaign.work.lookup import find_row, log_event
from basanite.campaign.work.reading.child import digest
from basanite.campaign.work.reading.packages import Corpus, GoldLine, corpus, find, whole
from basanite.campaign.work.reading.people import human_records
from basanite.campaign.work.reading.pool import Decided, in_words_of_the_gold, standing_answers
from basanite.campaign.work.reading.process import Order, run_reading_child
from basanite.reading.gold.answers import bindings_of

VERDICTS: Final = {
    "right-explicit": ("correct", "explicit"),
    "right-inferred": ("correct", "inferred"),
    "wrong": ("wrong", ""),
    "out-of-scope": ("out-of-scope", ""),
    "duplicate-of": ("duplicate-of", ""),
}
"""What a decision becomes in the gold: its verdict, and the kind where the adjudicator says it."""


@dataclass(frozen=True)
class Version:
    """One version of a package's gold."""

    name: str
    digest: str
    """Among the sealed files; "" for those inside the package."""
    state: str
    human: str = ""
    id: str = ""


def versions(session: Session, office: Office, package: ReadingPackage) -> tuple[Version, ...]:
    """All versions, oldest first: of the package, then those that grew; refused ones are left out."""
    own = [Version(name, "", "active") for name in corpus(office, package).gold]
    question = select(ReadingGold).where(ReadingGold.reading_package_id == package.id, ReadingGold.state != "refused")
    grown = session.scalars(question.order_by(ReadingGold.number)).all()
    return (*own, *(Version(f"v{one.number}", one.digest, one.state, one.human, one.id) for one in grown))


def newest(session: Session, office: Office, package: ReadingPackage) -> Version | None:
    """The version that holds."""
    held = [one for one in versions(session, office, package) if one.state == "active"]
    return held[-1] if held else None


def lines(session: Session, office: Office, package: ReadingPackage) -> tuple[GoldLine, ...]:
    """The answers of the version that holds."""
    version = newest(session, office, package)
    if version is None:
        return ()
    texts = corpus(office, package)
    if not version.digest:
        return texts.gold[version.name]
    return tuple(_line(text, texts) for text in office.sealed.read(version.digest).decode().split("\n") if text)


def _line(text: str, texts: Corpus) -> GoldLine:
    one = json.loads(text)
    asked = texts.queries[one["query"]]
    bindings = bindings_of(one["answer"], asked.variables, texts.prefixes, asked.ranges)
    return GoldLine(one["query"], one["document"], bindings, one["kind"], one["verdict"], text)


def propose(
    session: Session, office: Office, actor: Actor, campaign_id: str, package_id: str, *, reason: str
) -> ReadingGold:
    """Make the next version from everything that is decided; nothing changes before it is applied."""
    require_organiser(session, actor, campaign_id)
    if not reason.strip():
        raise refused("R-17", "a new gold version needs a reason", "give a reason", status=422)
    package = find_row(session, ReadingPackage, package_id, "package", campaign_id=campaign_id, lock=True)
    waiting = [one for one in versions(session, office, package) if one.state == "proposed"]
    if waiting:
        words = f"{waiting[0].name} is already being previewed"
        raise refused("R-17", words, "apply or cancel it first", status=409)
    found = in_words_of_the_gold(
        session, package.id, standing_answers(session, package.id), lines(session, office, package)
    )
    row = _new_version(session, office, actor, package, found, reason)
    session.add(row)
    session.flush()
    _log_version(session, office, actor, row, "proposed")
    return row


def _new_version(
    session: Session, office: Office, actor: Actor, package: ReadingPackage, found: Sequence[Decided], reason: str
) -> ReadingGold:
    texts = corpus(office, package)
    base = [*texts.gold.values()][-1] if texts.gold else ()
    before = {_digest(one): one for one in lines(session, office, package)}
    content = dict(_compose_gold(base, found, texts))
    if {mark: one.verdict for mark, one in before.items()} == {mark: one["verdict"] for mark, one in content.items()}:
        raise refused("R-17", "nothing was decided since the last version", "adjudicate some answers", status=409)
    written = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in content.values())
    people = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in human_records(session, package.id))
    right = sum(one.verdict.startswith("right") and one.digest not in before for one in found)
    numbers = [int(one.name[1:]) for one in versions(session, office, package)]
    refused_ones = session.scalars(select(ReadingGold.number).where(ReadingGold.reading_package_id == package.id))
    return ReadingGold(
        campaign_id=package.campaign_id,
        reading_package_id=package.id,
        number=max([0, *numbers, *refused_ones]) + 1,
        digest=office.sealed.put(written.encode()).digest,
        human=office.sealed.put(people.encode()).digest if people else "",
        added=right,
        reason=reason,
        made=office.clock(),
        by=actor.id,
    )


def _compose_gold(
    base: Sequence[GoldLine], found: Sequence[Decided], texts: Corpus
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of the base that nobody decided again, then every decision; each with what it is about."""
    by_digest = {one.digest: one for one in found}
    for line in base:
        if _digest(line) not in by_digest:
            yield _digest(line), json.loads(line.line) | {"verdict": line.verdict}
    for one in found:
        yield one.digest, _decision_line(one, texts.queries[one.query].capabilities)


def _decision_line(one: Decided, capabilities: Sequence[str]) -> dict[str, Any]:
    verdict, kind = VERDICTS[one.verdict]
    return {
        "query": one.query,
        "document": one.document,
        "answer": {f"?{name}": value for name, value in one.told.items()},
        "kind": kind or one.kind,
        "provenance": one.provenance,
        "capabilities": list(capabilities),
        "verdict": verdict,
        "system": one.system,
        "by": one.by,
        "when": f"{one.at:%Y-%m-%d}",
        "why": one.why or one.verdict,
    }


def _digest(line: GoldLine) -> str:
    return digest(line.query, line.document, line.bindings)


def find_gold(session: Session, campaign_id: str, gold_id: str) -> ReadingGold:
    """A version that grew here."""
    return find_row(session, ReadingGold, gold_id, "version of the gold", campaign_id=campaign_id, lock=True)


def apply(session: Session, office: Office, actor: Actor, campaign_id: str, gold_id: str) -> ReadingGold:
    """Let a version hold; where references take two people, not the one who proposed it (X-4)."""
    require_organiser(session, actor, campaign_id)
    row = find_gold(session, campaign_id, gold_id)
    campaign = plans.current(session, campaign_id).campaign
    if two_people.needs_two(campaign, "reference") and actor.id == row.by:
        raise refused(
            "X-4", "a new gold version needs two people here", "ask another organizer to apply it", status=409
        )
    return _end_version(session, office, actor, row, "active", "applied")


def cancel(session: Session, office: Office, actor: Actor, campaign_id: str, gold_id: str) -> ReadingGold:
    """Leave everything as it is; decisions stay and may go into another version."""
    require_organiser(session, actor, campaign_id)
    return _end_version(session, office, actor, find_gold(session, campaign_id, gold_id), "refused", "cancelled")


def _end_version(
    session: Session, office: Office, actor: Actor, row: ReadingGold, state: str, what: str
) -> ReadingGold:
    if row.state != "proposed":
        raise refused("R-17", f"v{row.number} is already {row.state}", "propose another one", status=409)
    row.state, row.ended, row.decided_by = state, office.clock(), actor.id
    _log_version(session, office, actor, row, what)
    return row


def _log_version(session: Session, office: Office, actor: Actor, row: ReadingGold, what: str) -> None:
    facts = {"package": row.reading_package_id, "version": row.number, "added": row.added, "reason": row.reason}
    log_event(session, office, actor, row, f"reading.gold_{what}", **facts)


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
    rows = [one for one in campaign.windows if TASK in map(str.lower, one.tasks)]
    own = [one for one in rows if one.id == package.window] or rows
    fitting = [one for one in rows if "+".join(one.dataset) == dataset] if dataset else own
    if not fitting:
        fix, hint = "check the windows of the campaign", "basanite admin window list"
        raise refused("M62", "no window accepts reading runs on this", fix, status=422, found=dataset).with_hint(hint)
    known = windows.languages(campaign, fitting[0])
    spoken = language or (known[0] if len(known) == 1 else "")
    task = next(one for one in fitting[0].tasks if one.lower() == TASK)
    queries = "" if task in windows.TASKS_WITHOUT_QUERIES else windows.queryset_name(campaign, fitting[0])
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
        held = references.active_material(session, campaign_id, place)
    references.window_of(campaign, place)
    material = _material(office, grown, held)
    with turn(office, campaign_id, "preview"):
        references.check_files(office, campaign, place, material)
    with office.writing() as session:
        new = NewVersion(place, material, reason.strip())
        row, first = add_version(session, office, actor, campaign_id, new)
        batch = None if first else rescoring.preview(session, office, actor, row.id, reason=row.reason)
        facts = {"version": grown.newest.name, "reference": row.id, "reason": row.reason}
        log_event(session, office, actor, grown.package, "reading.gold_referred", **facts)
        return Referred(row, batch, grown.newest.name)


def _check_asked(place: Place, reason: str) -> None:
    if place.task.lower() != TASK:
        raise refused(
            "R-21",
            "gold answers of a reading package cannot be the reference of another task",
            "choose reading",
            status=422,
        )
    if not reason.strip():
        raise no_reason("P-7", "a reference needs a reason")


def _grown(session: Session, office: Office, package: ReadingPackage) -> _Grown:
    held = tuple(one for one in versions(session, office, package) if one.state == "active")
    if not held:
        fix = "adjudicate some answers, then propose and apply a version"
        raise refused("R-17", "this package has no gold version yet", fix, status=409)
    return _Grown(package, held)


def _material(office: Office, grown: _Grown, held: Material | None) -> Material:
    """The files of the new version: those of the one that holds, with the grown package in its place."""
    packed, human = _pack_package(office, grown), grown.newest.human
    named = {packed: ARCHIVE, **({human: HUMAN} if human else {})}
    made = Material((packed,), human=human or None, names=named).after(held)
    if held is not None and (held.reference, held.human) == (made.reference, made.human):
        fix = "propose and apply a new gold version first"
        raise refused("R-21", f"the reference is already {grown.newest.name}", fix, status=409)
    return made


def _pack_package(office: Office, grown: _Grown) -> str:
    """The package with its grown gold, put together and checked in the child, among the sealed files."""
    files = {"package": whole(office, grown.package)}
    for one in grown.versions:
        if one.digest:
            path = office.sealed.path(one.digest)
            files[f"gold_{one.name}"] = Given(f"{one.name}.ndjson", path, office.sealed)
    with run_reading_child(
        office, Order("repack", grown.package.campaign_id, files, sealed=True, patient=True)
    ) as outcome:
        return office.sealed.take(outcome.out / ARCHIVE).digest
