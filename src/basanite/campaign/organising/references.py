"""Versions of the truth: sealed files, a commitment to them, and which version a submission is scored against (P-12).

Files lie in `office.sealed`, apart from everything that teams can reach. What is shown outside the evaluation team is
an HMAC under a random nonce in the vault, never a plain digest, which would confirm guesses (X-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model import stages
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import missing, no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.tables import Reference
from basanite.campaign.store.truth import active, versions_of
from basanite.receipts.commitments import commit, opens, reference_content

__all__ = [
    "Material",
    "Place",
    "active",
    "active_places",
    "add",
    "agrees",
    "commitment",
    "held_back",
    "holding",
    "log",
    "nonce",
    "open_task",
    "versions",
    "window_places",
]

NONCES = "reference"
"""The kind of secret under which nonces lie in the vault, one for each reference."""


BESIDE: Final = ("queries", "metadata", "judgements", "human", "documents")
"""What a reference can have beside the truth itself."""


@dataclass(frozen=True)
class Place:
    """What a reference is for: every submission of this place is scored against its active version."""

    task: str
    dataset: str
    """Packs joined by +, as submissions have it."""
    language: str = ""
    queryset: str = ""


@dataclass(frozen=True)
class Material:
    """The files of a reference by role: digests of what lies among the sealed files."""

    reference: tuple[str, ...]
    queries: str | None = None
    metadata: tuple[str, ...] = ()
    judgements: str | None = None
    human: str | None = None
    documents: str | None = None
    judged: str | None = None
    """How a panel made it: the digest of all judgements, the rule and the scheme (S-18, M88)."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What each file was called, by digest: formats are told by their ending."""

    def as_dict(self) -> dict[str, Any]:
        """As it is stored with the reference: role to digest, and the names."""
        return {
            "reference": list(self.reference),
            "queries": self.queries,
            "metadata": list(self.metadata),
            "judgements": self.judgements,
            "human": self.human,
            "documents": self.documents,
            **({"judged": self.judged} if self.judged else {}),
            "names": dict(self.names),
        }

    @classmethod
    def of(cls, files: Mapping[str, Any]) -> Self:
        """The material of a reference that is there, to make the next version from."""
        single: dict[str, Any] = {
            role: files.get(role) for role in ("queries", "judgements", "human", "documents", "judged")
        }
        lists: dict[str, Any] = {role: tuple(files.get(role) or ()) for role in ("reference", "metadata")}
        return cls(**lists, **single, names=dict(files.get("names", {})))

    def after(self, held: Self | None) -> Self:
        """This truth with what the version that holds has beside its own, people's answers say, where this has none."""
        if held is None:
            return self
        kept: dict[str, Any] = {role: getattr(self, role) or getattr(held, role) for role in BESIDE}
        return replace(self, **kept, names={**held.names, **self.names})


def window_places(campaign: Campaign, window: Window) -> Iterator[Place]:
    """Every place that a window takes submissions for: one for each task and language."""
    for task in window.tasks:
        queries = "" if task in stages.TASKS_WITHOUT_QUERIES else stages.queryset_name(campaign, window)
        for language in stages.languages(campaign, window) or ("",):
            yield Place(task, "+".join(window.dataset), language, queries)


def holding(session: Session, campaign_id: str, place: Place) -> Material | None:
    """The files of the version that holds at a place; None as long as the task has not been opened."""
    row = active(session, campaign_id, place.task, place.language, place.queryset, place.dataset)
    return None if row is None else Material.of(row.files)


def active_places(session: Session, campaign_id: str) -> frozenset[Place]:
    """The places of a campaign that have a reference to score against."""
    columns = (Reference.task, Reference.dataset, Reference.language, Reference.queryset)
    question = select(*columns).where(Reference.campaign_id == campaign_id, Reference.state == "active")
    return frozenset(Place(*row) for row in session.execute(question.distinct()))


def held_back(session: Session, reference: Reference) -> Reference | None:
    """The version that holds where this one belongs; no result of it is adopted before this transaction ends."""
    place = (reference.task, reference.language, reference.queryset, reference.dataset)
    question = versions_of(reference.campaign_id, *place).where(Reference.state == "active").limit(1)
    return session.scalars(question.with_for_update().execution_options(populate_existing=True)).first()


def versions(session: Session, campaign_id: str) -> tuple[Reference, ...]:
    """All references of a campaign, place by place, oldest version first."""
    order = (Reference.task, Reference.language, Reference.dataset, Reference.queryset, Reference.version)
    return tuple(session.scalars(select(Reference).where(Reference.campaign_id == campaign_id).order_by(*order)))


def add(
    session: Session,
    office: Office,
    actor: Actor,
    campaign_id: str,
    place: Place,
    material: Material,
    *,
    reason: str = "",
    sealed: bool = True,
    hold: bool = False,
) -> Reference:
    """Add a version: the first of its place opens the task at once, unless it is held for a second person.

    A later one is only proposed: a previewed re-scoring decides whether it comes to hold (`rescoring`).
    """
    earlier = versions_of(campaign_id, place.task, place.language, place.queryset, place.dataset)
    newest = session.scalar(earlier.with_only_columns(func.max(Reference.version)))
    if newest and not reason.strip():
        raise no_reason("P-7", "a reference is replaced without a reason")
    first = holding(session, campaign_id, place) is None
    row = Reference(
        campaign_id=campaign_id,
        task=place.task,
        language=place.language,
        queryset=place.queryset,
        dataset=place.dataset,
        version=(newest or 0) + 1,
        files=material.as_dict(),
        commitment="",
        sealed=sealed,
        state="active" if first and not hold else "proposed",
        made=office.clock(),
        by=actor.id,
        reason=reason,
    )
    session.add(row)
    session.flush()
    row.commitment = commitment(office, row)
    log(session, office, actor, row, "added")
    return row


def open_task(session: Session, office: Office, actor: Actor, reference_id: str, *, seconded_by: str) -> Reference:
    """Let the first version of a place hold, now that a second person agrees (X-4)."""
    row = session.get(Reference, reference_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise missing("reference")
    if row.state != "proposed" or active(session, row.campaign_id, row.task, row.language, row.queryset, row.dataset):
        raise refused("P-7", "another version holds already", "preview a re-scoring with this one", status=409)
    row.state, row.seconded_by = "active", seconded_by
    log(session, office, actor, row, "activated")
    return row


def commitment(office: Office, reference: Reference) -> str:
    """What may be told of a sealed reference before it is released: it confirms no guess (X-1)."""
    return commit(office.vault.secret(NONCES, reference.id), reference_content(reference.files))


def nonce(office: Office, reference: Reference) -> str:
    """The nonce of a released reference, with which anybody can check the commitment (X-1)."""
    if reference.sealed and reference.released is None:
        raise refused("X-1", "this reference has not been released", "release it first", status=403)
    return office.vault.secret(NONCES, reference.id).hex()


def agrees(given: str, nonce_hex: str, files: Mapping[str, Any]) -> bool:
    """Whether a commitment was made to these files: what anybody can check once the nonce is out.

    >>> agrees("00", "aa", {"reference": []})
    False
    """
    return opens(given, bytes.fromhex(nonce_hex), reference_content(files))


def log(session: Session, office: Office, actor: Actor, reference: Reference, what: str) -> None:
    """Write down what happened to a reference: its place, version and commitment, never a digest."""
    events.record(
        session,
        f"reference.{what}",
        at=office.clock(),
        actor=actor.id,
        subject=reference.id,
        campaign_id=reference.campaign_id,
        data={
            "task": reference.task,
            "language": reference.language,
            "queryset": reference.queryset,
            "dataset": reference.dataset,
            "version": reference.version,
            "commitment": reference.commitment,
            "reason": reference.reason,
        },
    )
