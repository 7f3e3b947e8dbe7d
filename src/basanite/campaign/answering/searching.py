"""Searching the corpus while answering, annotating or adjudicating; every search is written down (R-27)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from basanite.campaign.answering.corpus import corpus
from basanite.campaign.answering.fulltext import Hit, Text, index
from basanite.campaign.answering.packages import find
from basanite.campaign.model.refusals import missing
from basanite.campaign.model.viewer import JUDGING, Viewer
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import ReadingSearch

__all__ = ["Hit", "Text", "find_in", "log_search", "search"]
LONGEST = 500


def search(
    session: Session, office: Office, actor: Actor, campaign_id: str, package_id: str, text: str, *, limit: int = 20
) -> tuple[Hit, ...]:
    """The documents of a package that hold every word, the best first; a team finds open parts alone."""
    package = find(session, campaign_id, package_id)
    who = viewer(session, campaign_id, actor.id)
    if who.team is None and not reads_sealed(who):
        raise missing("package")
    texts = corpus(office, package)
    hits = texts.index.search(text, parts=texts.parts(sealed=reads_sealed(who)), limit=limit)
    log_search(session, office, actor, campaign_id, package_id, text, len(hits))
    return hits


def reads_sealed(who: Viewer) -> bool:
    """Whether somebody reads texts of sealed parts: the evaluation team, and who answers, annotates or judges."""
    return who.staff or (bool(who.roles & JUDGING) and who.team is None)


def find_in(texts: Iterable[Text], text: str, *, limit: int = 20) -> tuple[Hit, ...]:
    """Search texts that are at hand, such as those of an annotation project; log it with `log_search`."""
    return index(tuple(texts)).search(text, limit=limit)


def log_search(
    session: Session, office: Office, actor: Actor, campaign_id: str, package: str, text: str, hits: int
) -> None:
    """Write down who looked for what."""
    kept = text.replace("\0", "")[:LONGEST]
    session.add(
        ReadingSearch(
            campaign_id=campaign_id, package=package, person_id=actor.id, text=kept, hits=hits, at=office.clock()
        )
    )
    session.flush()
