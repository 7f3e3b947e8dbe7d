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

from basanite.campaign.actions import plans
from basanite.campaign.actions.references import nonce
from basanite.campaign.model.freeze import Change
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.policy import VISITOR, Viewer
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.model.windows import shown_language
from basanite.campaign.office import Office
from basanite.campaign.receipts import keyring
from basanite.campaign.results import boards, visibility
from basanite.campaign.results.facts import Desk, desk, teams
from basanite.campaign.results.views import SeenBoard, SeenResult
from basanite.campaign.score_receipts import score_receipt
from basanite.campaign.store.tables import PlanVersion, Receipt, Reference, Submission, Team
from basanite.campaign.work.panels import setup
from basanite.receipts.signatures import Keyring

WITHHELD = "(omitted: it would reveal the author)"


@dataclass(frozen=True)
class Unnamed:
    """Finds the names of teams that are not to be named."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, teams: Iterable[Team]) -> Unnamed:
        """The names that these teams are known by."""
        return cls(tuple(sorted({name for team in teams for name in (team.name, team.code) if name})))

    def hides(self, text: str) -> bool:
        """Whether a text holds one of the names, however it is written.

        >>> Unnamed(("Alpha",)).hides("our ALPHA_2 system"), Unnamed(("Alpha",)).hides("the alphabet")
        (True, False)
        """
        plain = text.casefold()
        return any(re.search(rf"(?<![^\W\d_]){re.escape(name.casefold())}(?![^\W\d_])", plain) for name in self.names)

    def without_names(self, value: Any) -> Any:
        """The same value without texts that would name somebody; the names of fields are ours and stay."""
        if isinstance(value, str):
            return WITHHELD if self.hides(value) else value
        if isinstance(value, dict):
            return {key: self.without_names(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.without_names(part) for part in value]
        return value

    def form(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A description form, whose names of fields may be the team's own."""
        return {name: self.without_names(value) for name, value in fields.items() if not self.hides(name)}


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
    record = _Record(session, at, taken, receipts)
    pages = [_page(record, subject, everybody) for subject in subjects]
    newest = plans.newest_version(session, plan.row.id)
    return Gathered(
        plan.campaign,
        newest.text,
        newest.digest,
        len(session.scalars(select(PlanVersion.id).where(PlanVersion.campaign_id == plan.row.id)).all()),
        at.now,
        tuple(page for page in pages if page is not None),
        tuple(_references(session, office, plan.row.id, taken)),
        _departures(session, plan.row.id, names, viewer),
        keyring(session),
    )


@dataclass(frozen=True, slots=True)
class _Record:
    """What is being gathered, for whom; `taken` are the names of pages so far."""

    session: Session
    at: Desk
    taken: set[str]
    receipts: bool


def _page(record: _Record, subject: boards.Subject, everybody: Iterable[Team]) -> BoardPage | None:
    session, at = record.session, record.at
    board = boards.visible_board(session, at, subject)
    if not board.rows:
        return None
    runs = boards.field_of(session, at.plan, subject).compared
    known = teams(session, [run.team_id for run in runs])
    window = at.campaign.window(subject.window)
    names = Unnamed.of(team for team in everybody if window.naming != "named" or team.named_consent is None)
    found = [_system(record, run, known[run.team_id], names) for run in runs]
    order = {row.name: number for number, row in enumerate(board.rows)}
    systems = sorted((one for one in found if one), key=lambda one: order.get(one.name, len(order)))
    parts = (subject.task, subject.language, subject.track)
    named = (subject.task, shown_language(at.campaign, subject.language), subject.track)
    title = f"{window.title}: {' '.join(part for part in named if part)}"
    slug = unused_name(record.taken, "board", subject.window, *parts)
    return BoardPage(slug, title, board, tuple(systems))


def _system(record: _Record, run: Submission, team: Team, names: Unnamed) -> System | None:
    session, at = record.session, record.at
    sight = at.sight(run)
    try:
        result = visibility.result(session, at.office, at.viewer, run.id)
    except RefusedError:
        return None
    if result is None or not result.data:
        return None
    name = at.name_of(sight, team)
    return System(
        unused_name(record.taken, run.window, run.task, run.language, name),
        name,
        name == team.name,
        run.window,
        run.task,
        run.language,
        run.track,
        run.standing,
        names.form(run.description),
        result,
        _receipts(session, at.office, run.id) if record.receipts else {},
        "" if run.program else run.sha256,  # a program is its team's, and that of an endpoint holds a token
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
        slug = unused_name(taken, row.task, row.language, row.dataset, row.queryset, f"v{row.version}")
        given = (row.task, row.dataset, row.version, row.files, row.commitment)
        yield OpenReference(slug, *given, nonce(office, row))


def _departures(session: Session, campaign_id: str, names: Unnamed, viewer: Viewer) -> tuple[Departure, ...]:
    """What departed from a plan that was frozen, or from the scheme that a panel was opened under.

    Judges read this, too: what stands in a scheme, how many hidden checks there are say, is for organizers alone;
    everybody else is told which parts were changed.
    """
    found = []
    for row in plans.deviations(session, campaign_id):
        changes = tuple(names.without_names(str(Change(one["what"], one["from"], one["to"]))) for one in row.changes)
        found.append(Departure(row.window, row.at, names.without_names(row.reason), row.results_known, changes))
    for each in setup.departures(session, campaign_id):
        parts = tuple(names.without_names(str(one) if viewer.staff else one.what) for one in each.changes)
        found.append(Departure(each.window, each.at, names.without_names(each.reason), each.judged, parts, each.panel))
    return tuple(sorted(found, key=lambda one: one.at))


def unused_name(taken: set[str], *parts: str) -> str:
    """A name for a file that no other file has.

    >>> taken = {"dev-clir"}
    >>> unused_name(taken, "dev", "CLIR"), unused_name(taken, "Équipe", "!")
    ('dev-clir-2', 'quipe')
    """
    base = "-".join(filter(None, map(_plain, parts)))[:80] or "one"
    name = next(name for name in _numbered_names(base) if name not in taken)
    taken.add(name)
    return name


def _numbered_names(base: str) -> Iterable[str]:
    yield base
    number = 1
    while True:
        number += 1
        yield f"{base}-{number}"


def _plain(part: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")
