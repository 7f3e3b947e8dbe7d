"""Versions of the gold: those a package came with, and those that grow from what adjudicators accept (R-17, R-21).

A new version is made from scratch: the newest of the package, then every decision that holds. It is proposed first,
every run is scored against it, and only when somebody has looked at that it comes to hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.answering.corpus import Corpus, GoldLine, corpus
from basanite.campaign.answering.inside.bindings import digest
from basanite.campaign.answering.people import human_records
from basanite.campaign.answering.pool import Decided, decided
from basanite.campaign.answering.unnamed import in_words_of_the_gold
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import approvals, plans
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import ReadingGold, ReadingPackage
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
        raise refused("R-17", "a new gold without a reason", "say why", status=422)
    package = session.get(ReadingPackage, package_id, with_for_update=True, populate_existing=True)
    if package is None or package.campaign_id != campaign_id:
        raise missing("package")
    waiting = [one for one in versions(session, office, package) if one.state == "proposed"]
    if waiting:
        words = f"{waiting[0].name} is being previewed already"
        raise refused("R-17", words, "apply or cancel it first", status=409)
    found = in_words_of_the_gold(session, package.id, decided(session, package.id), lines(session, office, package))
    row = _made(session, office, actor, package, found, reason)
    session.add(row)
    session.flush()
    _log(session, office, actor, row, "proposed")
    return row


def _made(
    session: Session, office: Office, actor: Actor, package: ReadingPackage, found: Sequence[Decided], reason: str
) -> ReadingGold:
    texts = corpus(office, package)
    base = [*texts.gold.values()][-1] if texts.gold else ()
    before = {_digest(one): one for one in lines(session, office, package)}
    content = dict(_composed(base, found, texts))
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


def _composed(
    base: Sequence[GoldLine], found: Sequence[Decided], texts: Corpus
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of the base that nobody decided anew, then every decision; each with what it is about."""
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


def find(session: Session, campaign_id: str, gold_id: str) -> ReadingGold:
    """A version that grew here."""
    row = session.get(ReadingGold, gold_id, with_for_update=True, populate_existing=True)
    if row is None or row.campaign_id != campaign_id:
        raise missing("version of the gold")
    return row


def apply(session: Session, office: Office, actor: Actor, campaign_id: str, gold_id: str) -> ReadingGold:
    """Let a version hold; where references take two people, not the one who proposed it (X-4)."""
    require_organiser(session, actor, campaign_id)
    row = find(session, campaign_id, gold_id)
    campaign = plans.current(session, campaign_id).campaign
    if approvals.needs_two(campaign, "reference") and actor.id == row.by:
        raise refused("X-4", "a new gold takes two people here", "let another organiser apply it", status=409)
    return _ended(session, office, actor, row, "active", "applied")


def cancel(session: Session, office: Office, actor: Actor, campaign_id: str, gold_id: str) -> ReadingGold:
    """Leave everything as it is; decisions stay and may go into another version."""
    require_organiser(session, actor, campaign_id)
    return _ended(session, office, actor, find(session, campaign_id, gold_id), "refused", "cancelled")


def _ended(session: Session, office: Office, actor: Actor, row: ReadingGold, state: str, what: str) -> ReadingGold:
    if row.state != "proposed":
        raise refused("R-17", f"v{row.number} is {row.state} already", "propose another one", status=409)
    row.state, row.ended, row.decided_by = state, office.clock(), actor.id
    _log(session, office, actor, row, what)
    return row


def _log(session: Session, office: Office, actor: Actor, row: ReadingGold, what: str) -> None:
    data: Mapping[str, Any] = {
        "package": row.reading_package_id,
        "version": row.number,
        "added": row.added,
        "reason": row.reason,
    }
    events.record(
        session,
        f"reading.gold_{what}",
        at=office.clock(),
        actor=actor.id,
        subject=row.id,
        campaign_id=row.campaign_id,
        data=data,
    )
