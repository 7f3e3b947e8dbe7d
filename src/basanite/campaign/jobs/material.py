"""What a submission is scored with: its reference, the settings of its window, the seed; and the key of all that.

The same material gives the same bytes, so its digest is the name of the result (M80). The key also holds the id of the
submission: equal archives of two teams are two results, and none answers faster because of the other (X-16).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

import basanite
from basanite.campaign.jobs.running import Given, Order, Work
from basanite.campaign.model.plan import Campaign
from basanite.campaign.office import Office
from basanite.campaign.store.files import Files
from basanite.campaign.store.plans import at_version, in_force
from basanite.campaign.store.tables import Reference, Submission, Team
from basanite.campaign.store.truth import active
from basanite.errors import BasaniteError

SEEDS: Final = "seed"
"""The kind of secret that the seeds of sealed campaigns are in the vault (X-1)."""
GZIP: Final = b"\x1f\x8b"


class NoReferenceError(BasaniteError):
    """There is no reference for this task, language, query set and data yet."""


@dataclass(frozen=True)
class Material:
    """All that a result depends on besides the submission's own bytes."""

    task: str
    reference: Reference
    settings: Mapping[str, Any]
    draws: int | None
    seed: int
    plan_version: int
    blind: bool
    """Whether its window tells teams nothing but whether a submission is valid (M68)."""
    software: str = basanite.__version__

    def key(self, submission: Submission) -> str:
        """The name of the result of this submission with this material."""
        parts = {
            "submission": submission.id,
            "sha256": submission.sha256,
            "reference": [self.reference.id, self.reference.version, self.reference.commitment],
            "task": self.task,
            "settings": {name: str(value) for name, value in self.settings.items()},
            "draws": self.draws,
            "seed": self.seed,
            "software": self.software,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def material(
    session: Session, office: Office, submission: Submission, *, reference_id: str | None = None, newest: bool = False
) -> Material:
    """What a submission is scored with: the reference that holds now, or the one that is named.

    The plan is the one it was accepted under, or for a re-scoring the newest.
    """
    version, campaign = _plan(session, submission, newest=newest)
    window = campaign.window(submission.window)
    reference = session.get(Reference, reference_id) if reference_id else active_reference(session, submission)
    if reference is None:
        raise NoReferenceError("there is no reference for this task, language, query set and data yet")
    settings = {**_registered(session, submission), **window.settings_of(submission.task)}
    draws = settings.pop("draws", None)
    return Material(
        submission.task.lower(),
        reference,
        settings,
        None if draws is None else int(draws),
        _seed(office, submission.campaign_id, campaign),
        version,
        window.feedback == "none",
    )


def order(office: Office, work: Work, submission: Submission, material: Material) -> Order:
    """The order for a child that does this work on a submission."""
    given = Given(submission.name, office.files.local(submission.sha256))
    return Order(work, **shared(office, material), submission=given)


def comparison(office: Office, systems: Mapping[str, Submission], material: Material, only: Mapping[str, str]) -> Order:
    """The order for a child that compares submissions by name, over all units or only those of a level."""
    given = {name: Given(one.name, office.files.local(one.sha256)) for name, one in systems.items()}
    return Order("compare", **shared(office, material), systems=given, only=only)


def shared(office: Office, material: Material) -> dict[str, Any]:
    """The parts of an order that do not depend on who submitted."""
    files = material.reference.files
    lists = {role: _several(office, files, role) for role in ("reference", "metadata")}
    singles = {role: _single(office, files, role) for role in ("queries", "documents", "judgements", "human")}
    analysis = {"settings": material.settings, "draws": material.draws, "seed": material.seed}
    return {**lists, **singles, **analysis, "task": material.task, "sealed": material.reference.sealed}


def _plan(session: Session, submission: Submission, *, newest: bool) -> tuple[int, Campaign]:
    if newest:
        _, campaign, version = in_force(session, submission.campaign_id)
        return version, campaign
    return submission.plan_version, at_version(session, submission.campaign_id, submission.plan_version)


def active_reference(session: Session, submission: Submission) -> Reference | None:
    """The version of the truth that holds for a submission now."""
    place = (submission.task, submission.language, submission.queryset, submission.dataset)
    return active(session, submission.campaign_id, *place)


def _registered(session: Session, submission: Submission) -> dict[str, Any]:
    """The teams whose summaries may be told as their makers' own (M44, C27); before judges have looked, values wait."""
    if submission.task.lower() != "e2e":
        return {}
    codes = session.scalars(select(Team.code).where(Team.campaign_id == submission.campaign_id)).all()
    return {"teams": ",".join(sorted(codes)), "unjudged": "undefined"}


def _seed(office: Office, campaign_id: str, campaign: Campaign) -> int:
    """The seed of all draws; that of a sealed campaign nobody can guess or choose (X-1)."""
    if not campaign.sealed:
        return campaign.seed
    return int.from_bytes(office.vault.secret(SEEDS, campaign_id), "big")


def _several(office: Office, files: Mapping[str, Any], role: str) -> tuple[Given, ...]:
    digests = files.get(role) or []
    return tuple(_given(office.sealed, files, digest, role) for digest in digests)


def _single(office: Office, files: Mapping[str, Any], role: str) -> Given | None:
    return _given(office.sealed, files, files[role], role) if files.get(role) else None


def _given(store: Files, files: Mapping[str, Any], digest: str, role: str) -> Given:
    """A file of the reference under the name it came with; formats are told by the ending."""
    name = files.get("names", {}).get(digest) or f"{role}{_ending(store, digest)}"
    return Given(name, store.path(digest), store)


def _ending(store: Files, digest: str) -> str:
    return ".tgz" if next(iter(store.pieces(digest)), b"")[:2] == GZIP else ".tsv"
