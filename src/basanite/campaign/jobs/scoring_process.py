"""Running the child: its inputs by hard link, a box around it, and what came of it.

Where no box can be made, a child that limits itself does for references that are not sealed; for sealed ones only if
the settings say `box = "best"` (X-8).
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

import basanite
from basanite.campaign.jobs.own_scorer import Part, run_scorer
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.programs import Scorer
from basanite.campaign.office import Office
from basanite.campaign.store.files import Files
from basanite.campaign.store.plans import at_version, in_force
from basanite.campaign.store.references import active
from basanite.campaign.store.tables import Reference, Submission, Team
from basanite.canonical import canonical_digest
from basanite.errors import BasaniteError
from basanite.sandbox.box import Limits
from basanite.sandbox.child import PYTHON, Outcome, make_call_folders, run_child
from basanite.sandbox.runner import NoSandboxError, capability, run_boxed, run_open

Work = Literal["validate", "score", "examine", "compare", "summaries", "rank", "calls", "start"]
"""`examine` validates and, if there is nothing wrong, scores: the submission is read once. `summaries`, `rank`
and `calls` prepare what judges and readers see. `start` imports everything and does nothing."""
COMMAND: Final = (PYTHON, "-I", "-m", "basanite.campaign.jobs.child")
log = logging.getLogger("basanite.jobs")

KEPT: Final = (0o440, 0o444)
"""Modes of files in our own store, which nobody writes to: they may be shared with the box by a second name."""


@dataclass(frozen=True)
class Given:
    """A file for the child, under the name that it has for people: reports and formats go by it."""

    name: str
    path: Path
    store: Files | None = None
    """The store that lends it, where it may be encrypted on disk (P-12)."""


@dataclass(frozen=True)
class Order:
    """What a child is to do, with which files."""

    work: Work
    task: str
    reference: tuple[Given, ...] = ()
    submission: Given | None = None
    systems: Mapping[str, Given] = field(default_factory=dict)
    """For a comparison: the submissions by the names of their systems."""
    queries: Given | None = None
    documents: Given | None = None
    judgements: Given | None = None
    human: Given | None = None
    metadata: tuple[Given, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    draws: int | None = None
    seed: int = 0
    sealed: bool = True
    notes: tuple[str, ...] = ()
    """What must be said of the result besides."""
    only: Mapping[str, str] = field(default_factory=dict)
    """For a comparison: the `factor` and the `level` of the units that count, if not all do (M20)."""


@contextmanager
def run_order(office: Office, order: Order) -> Iterator[Outcome]:
    """Run a child and look at what it wrote; all of it is gone with the end of the block."""
    scratch = office.settings.data / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        boxed = office.run is not None or box_holds(office, sealed=order.sealed)
        files = _lay_files(order, make_call_folders(folder))
        request = _request(office, order) | files
        run = office.run or (run_boxed if boxed else run_open)
        outcome = run_child(COMMAND, folder, request, _limits(office), run, boxed=boxed)
        if not outcome.good:
            log.warning("a %s of %s ended: %s (%s)", order.work, order.task, outcome.fault, outcome.reason)
        yield outcome


def start_fault(office: Office) -> str:
    """Why no scoring process can start here, with the places of interpreter and package; nothing if one can."""
    with run_order(office, Order("start", "", sealed=False)) as outcome:
        return "" if outcome.good else outcome.reason


def box_holds(office: Office, *, sealed: bool) -> bool:
    """Whether children are boxed here; if not, sealed references are not scored unless the settings allow it."""
    found = capability()
    if not found.possible and sealed and office.settings.limits.box == "required":
        raise NoSandboxError(
            f"No sandbox can be created here ({found.reason}), and the reference is sealed. Allow user "
            'namespaces, or set limits.box = "best" to score with limits but without a sandbox.'
        )
    return found.possible


def _limits(office: Office) -> Limits:
    most = office.settings.limits
    return Limits(seconds=most.seconds, memory=most.memory, output=most.output)


def _request(office: Office, order: Order) -> dict[str, Any]:
    """What the child reads, but for the places of its files."""
    return {
        "work": order.work,
        "task": order.task,
        "settings": dict(order.settings),
        "draws": order.draws,
        "seed": order.seed,
        "only": dict(order.only),
        "notes": list(order.notes),
        "plugins": list(office.settings.plugins),
    }


def _lay_files(order: Order, folder: Path) -> dict[str, Any]:
    """Put the files of an order into a folder; gives role to path below it."""
    roles = ("submission", "queries", "documents", "judgements", "human")
    laid: dict[str, Any] = {
        role: lay(given, folder, role) for role in roles if (given := getattr(order, role)) is not None
    }
    for role in ("reference", "metadata"):
        laid[role] = [lay(given, folder, f"{role}{at}") for at, given in enumerate(getattr(order, role))]
    laid["systems"] = {name: lay(given, folder, f"s{at}") for at, (name, given) in enumerate(order.systems.items())}
    return laid


def lay(given: Given, folder: Path, place: str) -> str:
    """One file in a folder of its own, by link where the disk is the same; readable for the box's own user."""
    target = folder / place / Path(given.name).name
    target.parent.mkdir(mode=0o755)
    if given.store is not None:
        given.store.lend(given.store.digest_at(given.path), target)
        target.chmod(0o444)
        return f"{place}/{target.name}"
    try:
        if given.path.stat().st_mode & 0o777 not in KEPT:
            raise PermissionError(f"{given.path} is none of ours: its mode is not for us to change")
        os.link(given.path, target)
    except OSError:
        shutil.copyfile(given.path, target)
    target.chmod(0o444)
    return f"{place}/{target.name}"


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
    scorer: Scorer | None = None
    """What an organizer's own scoring program may use, where the window has one (G-6)."""

    def key(self, submission: Submission) -> str:
        """The name of the result of this submission with this material."""
        parts = {
            "submission": submission.id,
            "sha256": submission.answers or submission.sha256,
            "reference": [self.reference.id, self.reference.version, self.reference.commitment],
            "task": self.task,
            "settings": {name: str(value) for name, value in self.settings.items()},
            "draws": self.draws,
            "seed": self.seed,
            "software": self.software,
        }
        return canonical_digest(parts)


def material(
    session: Session, office: Office, submission: Submission, *, reference_id: str | None = None, newest: bool = False
) -> Material:
    """What a submission is scored with: the reference that holds now, or the one that is named.

    The plan is the one it was accepted under, or for a re-scoring the newest.
    """
    version, campaign = _plan(session, submission, newest=newest)
    window = campaign.window(submission.window)
    place = (submission.task, submission.language, submission.queryset, submission.dataset)
    reference = (
        session.get(Reference, reference_id) if reference_id else active(session, submission.campaign_id, *place)
    )
    if reference is None:
        raise NoReferenceError("there is no reference for this task, language, query set and data yet")
    settings = {**_judging_settings(session, submission), **window.settings_of(submission.task)}
    draws = settings.pop("draws", None)
    seed = campaign.seed
    if campaign.sealed:  # nobody can guess or choose this one
        seed = int.from_bytes(office.vault.secret(SEEDS, submission.campaign_id), "big")
    return Material(
        submission.task.lower(),
        reference,
        settings,
        None if draws is None else int(draws),
        seed,
        version,
        window.feedback == "none",
        scorer=window.scorer,
    )


def order(office: Office, work: Work, submission: Submission, material: Material) -> Order:
    """The order for a child that does this work on a submission."""
    given, notes = _what_to_score(office, submission, material)
    return Order(work, **shared_parts(office, material), submission=given, notes=notes)


def _what_to_score(office: Office, submission: Submission, material: Material) -> tuple[Given, tuple[str, ...]]:
    """What the child scores, and what must be said of it: answers, or what an organizer's own scorer says of them."""
    answers, files = scored_file(office, submission), material.reference.files
    if material.scorer is None or not files.get("scorer"):
        return answers, ()
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as folder:
        found = [("submission", answers), *(("reference", one) for one in _several(office, files, "reference"))]
        parts = [Part(role, one.name, _lent(one, Path(folder) / str(at))) for at, (role, one) in enumerate(found)]
        scores = run_scorer(office, material.scorer, str(files["scorer"]), parts)
    return Given(scores.name, office.sealed.path(scores.digest), office.sealed), scores.notes


def _lent(given: Given, target: Path) -> Path:
    """A file as it can be read, whether it is encrypted or not."""
    if given.store is None:
        return given.path
    given.store.lend(given.store.digest_at(given.path), target)
    return target


def scored_file(office: Office, submission: Submission) -> Given:
    """The file that is scored: the one that was sent, or what its program answered, which is sealed (G-1)."""
    if submission.answers is None:
        return Given(submission.name, office.files.local(submission.sha256))
    return Given(submission.answers_name, office.sealed.path(submission.answers), office.sealed)


def comparison(office: Office, systems: Mapping[str, Submission], material: Material, only: Mapping[str, str]) -> Order:
    """The order for a child that compares submissions by name, over all units or only those of a level."""
    given = {name: _what_to_score(office, one, material)[0] for name, one in systems.items()}
    return Order("compare", **shared_parts(office, material), systems=given, only=only)


def shared_parts(office: Office, material: Material) -> dict[str, Any]:
    """The parts of an order that do not depend on who submitted; an organizer's own scorer gets its files itself."""
    files = material.reference.files if material.scorer is None else {}
    lists = {role: _several(office, files, role) for role in ("reference", "metadata")}
    singles = {role: _single(office, files, role) for role in ("queries", "documents", "judgements", "human")}
    analysis = {"settings": material.settings, "draws": material.draws, "seed": material.seed}
    return {**lists, **singles, **analysis, "task": material.task, "sealed": material.reference.sealed}


def _plan(session: Session, submission: Submission, *, newest: bool) -> tuple[int, Campaign]:
    if newest:
        _, campaign, version = in_force(session, submission.campaign_id)
        return version, campaign
    return submission.plan_version, at_version(session, submission.campaign_id, submission.plan_version)


def _judging_settings(session: Session, submission: Submission) -> dict[str, Any]:
    """The teams whose summaries may be told as their makers' own (M44, C27); before judges have looked, values wait."""
    if submission.task.lower() != "e2e":
        return {}
    codes = session.scalars(select(Team.code).where(Team.campaign_id == submission.campaign_id)).all()
    return {"teams": ",".join(sorted(codes)), "unjudged": "undefined"}


def _several(office: Office, files: Mapping[str, Any], role: str) -> tuple[Given, ...]:
    digests = files.get(role) or []
    return tuple(_given_file(office.sealed, files, digest, role) for digest in digests)


def _single(office: Office, files: Mapping[str, Any], role: str) -> Given | None:
    return _given_file(office.sealed, files, files[role], role) if files.get(role) else None


def _given_file(store: Files, files: Mapping[str, Any], digest: str, role: str) -> Given:
    """A file of the reference under the name it came with; formats are told by the ending."""
    name = files.get("names", {}).get(digest) or f"{role}{_ending(store, digest)}"
    return Given(name, store.path(digest), store)


def _ending(store: Files, digest: str) -> str:
    return ".tgz" if next(iter(store.pieces(digest)), b"")[:2] == GZIP else ".tsv"
