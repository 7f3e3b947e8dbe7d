"""Everything that the site shows, loaded once: boards and results as a visitor sees them, the plan and its deviations.

No number is read but through `results.seeing` with a visitor as the viewer, so the site can show nothing that has not
been released to everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.keeping.publishing.unnamed import Unnamed
from basanite.campaign.model.freezing import Change
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.model.viewer import VISITOR, Viewer
from basanite.campaign.office import Office
from basanite.campaign.organising import plans
from basanite.campaign.organising.references import nonce
from basanite.campaign.panels.watching import departing
from basanite.campaign.receipting import keyring
from basanite.campaign.results import boards, seeing
from basanite.campaign.results.facts import Desk, desk, teams
from basanite.campaign.results.seen import SeenBoard, SeenResult
from basanite.campaign.score_receipts import score_receipt
from basanite.campaign.store.tables import PlanVersion, Receipt, Reference, Submission, Team
from basanite.receipts.keys import Keyring


@dataclass(frozen=True)
class System:
    """One released run."""

    slug: str
    """The name of its files; it holds no name that is not shown."""
    name: str
    named: bool
    window: str
    task: str
    language: str
    track: str
    standing: str
    description: Mapping[str, Any]
    result: SeenResult
    receipts: Mapping[str, bytes]
    sha256: str
    """Where its archive lies among the files."""
    archive: str
    """The archive's name, as it was submitted."""
    unnamed: Unnamed
    """Names that must not appear with it."""


@dataclass(frozen=True)
class BoardPage:
    """A board with the systems on it."""

    slug: str
    title: str
    board: SeenBoard
    systems: tuple[System, ...]


@dataclass(frozen=True)
class OpenReference:
    """A version of the truth that has been released."""

    slug: str
    task: str
    dataset: str
    version: int
    files: Mapping[str, Any]
    commitment: str
    nonce: str


@dataclass(frozen=True)
class Departure:
    """A change of a frozen plan (P-28)."""

    window: str
    at: datetime
    reason: str
    results_known: bool
    changes: tuple[str, ...]
    panel: str = ""
    """The panel of judges whose scheme was changed, if it is that."""


@dataclass(frozen=True)
class Gathered:
    """All of the site's content."""

    campaign: Campaign
    plan_text: str
    plan_digest: str
    versions: int
    at: datetime
    boards: tuple[BoardPage, ...]
    references: tuple[OpenReference, ...]
    departures: tuple[Departure, ...]
    keys: Keyring

    @property
    def systems(self) -> tuple[System, ...]:
        """All systems of all boards."""
        return tuple(system for page in self.boards for system in page.systems)


def gather(session: Session, office: Office, slug: str, *, viewer: Viewer = VISITOR, receipts: bool = True) -> Gathered:
    """Load what a campaign has released to everybody; receipts of these scores are made on the way.

    Pages that only show it leave receipts out; the report for organisers is gathered with one of them as the viewer.
    """
    plan = plans.current(session, slug)
    at = desk(session, office, viewer, plan)
    everybody = session.scalars(select(Team).where(Team.campaign_id == plan.row.id)).all()
    names = Unnamed.of(team for team in everybody if team.named_consent is None)
    taken: set[str] = set()
    subjects = boards.subjects(session, plan.row.id)
    pages = [_page(session, at, subject, everybody, taken, receipts=receipts) for subject in subjects]
    newest = plans.newest_version(session, plan.row.id)
    return Gathered(
        plan.campaign,
        newest.text,
        newest.digest,
        len(session.scalars(select(PlanVersion.id).where(PlanVersion.campaign_id == plan.row.id)).all()),
        at.now,
        tuple(page for page in pages if page is not None),
        tuple(_references(session, office, plan.row.id, taken)),
        _all_departures(session, plan.row.id, names, viewer),
        keyring(session),
    )


def unnamed_in(window: Window, everybody: Iterable[Team]) -> Unnamed:
    """The names that must not appear with the results of a window."""
    return Unnamed.of(team for team in everybody if window.naming != "named" or team.named_consent is None)


def _page(
    session: Session, at: Desk, subject: boards.Subject, everybody: Iterable[Team], taken: set[str], *, receipts: bool
) -> BoardPage | None:
    board = boards.seen(session, at, subject)
    if not board.rows:
        return None
    runs = boards.field_of(session, at.plan, subject).compared
    known = teams(session, [run.team_id for run in runs])
    window = at.campaign.window(subject.window)
    names = unnamed_in(window, everybody)
    found = [_system(session, at, run, known[run.team_id], names, taken, receipts=receipts) for run in runs]
    order = {row.name: number for number, row in enumerate(board.rows)}
    systems = sorted((one for one in found if one), key=lambda one: order.get(one.name, len(order)))
    parts = (subject.task, subject.language, subject.track)
    title = f"{window.title}: {' '.join(part for part in parts if part)}"
    slug = unused(taken, "board", subject.window, *parts)
    return BoardPage(slug, title, board, tuple(systems))


def _system(
    session: Session, at: Desk, run: Submission, team: Team, names: Unnamed, taken: set[str], *, receipts: bool
) -> System | None:
    sight = at.sight(run)
    try:
        result = seeing.result(session, at.office, at.viewer, run.id)
    except RefusedError:
        return None
    if result is None or not result.data:
        return None
    name = at.called(sight, team)
    return System(
        unused(taken, run.window, run.task, run.language, name),
        name,
        name == team.name,
        run.window,
        run.task,
        run.language,
        run.track,
        run.standing,
        names.form(run.description),
        result,
        _receipts(session, at.office, run.id) if receipts else {},
        run.sha256,
        run.name,
        names,
    )


def _receipts(session: Session, office: Office, submission_id: str) -> dict[str, bytes]:
    """The receipt of intake, and that of the score as everybody may see it."""
    intake = select(Receipt).where(Receipt.submission_id == submission_id, Receipt.kind == "intake")
    score = score_receipt(session, office, submission_id, viewer=VISITOR)
    return {row.kind: row.content for row in (*session.scalars(intake.limit(1)), score)}


def _references(session: Session, office: Office, campaign_id: str, taken: set[str]) -> Iterator[OpenReference]:
    question = select(Reference).where(Reference.campaign_id == campaign_id, Reference.released.is_not(None))
    for row in session.scalars(question.order_by(Reference.task, Reference.dataset, Reference.version)):
        slug = unused(taken, row.task, row.language, row.dataset, row.queryset, f"v{row.version}")
        given = (row.task, row.dataset, row.version, row.files, row.commitment)
        yield OpenReference(slug, *given, nonce(office, row))


def _all_departures(session: Session, campaign_id: str, names: Unnamed, viewer: Viewer) -> tuple[Departure, ...]:
    found = (*_departures(session, campaign_id, names), *_scheme_departures(session, campaign_id, names, viewer))
    return tuple(sorted(found, key=lambda one: one.at))


def _scheme_departures(session: Session, campaign_id: str, names: Unnamed, viewer: Viewer) -> Iterator[Departure]:
    """Judging by another scheme than the panel was opened under. Judges read this, too: what stands in a scheme, how
    many hidden checks there are say, is for organisers alone; everybody else is told which parts were changed."""
    for one in departing.departures(session, campaign_id):
        changes = tuple(names.cleaned(str(change) if viewer.staff else change.what) for change in one.changes)
        yield Departure(one.window, one.at, names.cleaned(one.reason), one.judged, changes, one.panel)


def _departures(session: Session, campaign_id: str, names: Unnamed) -> Iterator[Departure]:
    for row in plans.deviations(session, campaign_id):
        changes = tuple(names.cleaned(str(Change(one["what"], one["from"], one["to"]))) for one in row.changes)
        yield Departure(row.window, row.at, names.cleaned(row.reason), row.results_known, changes)


def unused(taken: set[str], *parts: str) -> str:
    """A name for a file that no other file has.

    >>> taken = {"dev-clir"}
    >>> unused(taken, "dev", "CLIR"), unused(taken, "Équipe", "!")
    ('dev-clir-2', 'quipe')
    """
    base = "-".join(filter(None, map(_plain, parts)))[:80] or "one"
    name = next(name for name in _numbered(base) if name not in taken)
    taken.add(name)
    return name


def _numbered(base: str) -> Iterable[str]:
    yield base
    number = 1
    while True:
        number += 1
        yield f"{base}-{number}"


def _plain(part: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")
