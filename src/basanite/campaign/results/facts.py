"""What the policy must know before it can say who sees what, loaded once for many submissions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.jobs.queue import enqueue
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import VISITOR, Sight, SubmissionFacts, Viewer, sight, team_name
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events, looks
from basanite.campaign.store.database import in_blocks
from basanite.campaign.store.tables import Adoption, Event, Release, Result, Submission, Team


def adopted_results(
    session: Session, submission_ids: Iterable[str], until: datetime | None = None
) -> dict[str, Result]:
    """The active result of each of these submissions, now or at a moment, for those that have one."""
    found: dict[str, Result] = {}
    for some in in_blocks(dict.fromkeys(submission_ids)):
        found |= _some(session, some, until)
    return found


def history(session: Session, submission_id: str) -> tuple[Result, ...]:
    """All results that held for a submission, oldest first; the last one holds now."""
    question = select(Result).join(Adoption, Adoption.result_key == Result.key)
    return tuple(session.scalars(question.where(Adoption.submission_id == submission_id).order_by(Adoption.sequence)))


def adopt(session: Session, office: Office, submission_id: str, result_key: str, *, batch_id: str | None) -> Adoption:
    """Let a result hold for its submission from now on; the one before stays in the history."""
    row = Adoption(submission_id=submission_id, result_key=result_key, batch_id=batch_id, at=office.clock())
    session.add(row)
    session.get_one(Submission, submission_id).unsigned = True
    session.flush()
    return row


def content(office: Office, result: Result) -> Mapping[str, Any]:
    """The whole `score --json` object of a result: for `seeing` and for the evaluation team's own work alone."""
    data: Mapping[str, Any] = json.loads(office.files.read(result.digest))
    return data


def _some(session: Session, ids: list[str], until: datetime | None) -> dict[str, Result]:
    newest = select(func.max(Adoption.sequence)).where(Adoption.submission_id.in_(ids)).group_by(Adoption.submission_id)
    newest = newest if until is None else newest.where(Adoption.at <= until)
    question = select(Adoption.submission_id, Result).join(Result, Result.key == Adoption.result_key)
    return {row[0]: row[1] for row in session.execute(question.where(Adoption.sequence.in_(newest)))}


ASKED: Final = "comparison.asked"
MOST_TURNS: Final = 10
"""How often on one day organisers may ask again."""


@dataclass(frozen=True)
class Order:
    """What the job `compare` takes."""

    key: str
    """The key of all results that go in; what comes out is stored under it."""
    campaign_id: str
    window: str
    purpose: str
    subject: Mapping[str, Any]


def ask(session: Session, office: Office, orders: Iterable[Order], *, turn: int = 0, team: str | None = None) -> int:
    """Ask for comparisons in the caller's transaction, each once a day and turn; says how many."""
    listed = list(orders)
    for order in listed:
        key = f"compare:{order.key}:{office.clock():%Y-%m-%d}" + (f":{turn}" if turn else "")
        enqueue(session, office, "compare", key, whose=team, **asdict(order))
    return len(listed)


def ask_again(session: Session, office: Office, actor: Actor, campaign_id: str, orders: Iterable[Order]) -> int:
    """An organiser asks for what is still missing, say after the disk was full; so many times a day."""
    require_organiser(session, actor, campaign_id)
    day = office.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    asked = select(func.count()).where(Event.kind == ASKED, Event.campaign_id == campaign_id, Event.at >= day)
    turn = (session.scalar(asked) or 0) + 1
    if turn > MOST_TURNS:
        message = f"comparisons were already requested {MOST_TURNS} times today"
        raise refused("M78", message, "check the worker's log for the cause", status=429)
    events.record(session, ASKED, at=office.clock(), actor=actor.id, subject=campaign_id, campaign_id=campaign_id)
    return ask(session, office, (order for order in orders if order.campaign_id == campaign_id), turn=turn)


def missing_fields(campaign: Campaign, track: str, description: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that the track requires and the description leaves empty; such a run is held back (P-31)."""
    required = next((one.required for one in campaign.tracks if one.id == track), ())
    return tuple(name for name in required if not str(description.get(name) or "").strip())


@dataclass(frozen=True)
class Desk:
    """Somebody who looks at a campaign at a moment."""

    office: Office
    viewer: Viewer
    plan: plans.Plan
    releases: Mapping[str, Mapping[str, datetime]]
    """When each level of each window was released."""
    now: datetime
    beyond_looks: frozenset[str] = frozenset()
    """Submissions of the viewer's team that came after its looks were used up (X-23)."""

    @property
    def campaign(self) -> Campaign:
        """The plan that holds."""
        return self.plan.campaign

    def window(self, submission: Submission) -> Window:
        """The row of the calendar that a submission was made in."""
        return plans.find_window(self.campaign, submission.window)

    def sight(self, submission: Submission, *, stands: bool = False) -> Sight:
        """What of a submission this viewer may see now; `stands`: it stands for its team on a board."""
        window = self.window(submission)
        released = self.releases.get(window.id, {})
        facts = replace(facts_of(self.campaign, submission), beyond_looks=submission.id in self.beyond_looks)
        facts = replace(facts, type="primary") if stands else facts
        return sight(self.viewer, self.campaign, window, facts, released, self.now)

    def name_of(self, seen: Sight, team: Any) -> str:
        """What a team is called for this viewer (P-25); of the team, its names and consent are enough."""
        consented = team.named_consent is not None
        return team_name(seen, self.viewer, name=team.name, pseudonym=team.pseudonym, consented=consented)


def facts_of(campaign: Campaign, submission: Submission) -> SubmissionFacts:
    """A submission as the policy knows it."""
    return SubmissionFacts(
        team=submission.team_id,
        task=submission.task,
        type=submission.type,
        state=submission.state,
        standing=submission.standing,
        admitted=submission.admitted is not None,
        described=not missing_fields(campaign, submission.track, submission.description),
    )


def desk(session: Session, office: Office, viewer: Viewer, plan: plans.Plan) -> Desk:
    """Load what has been released, at this moment; rights that somebody has elsewhere count for nothing here."""
    here = viewer if viewer.at_home(plan.row.id) else VISITOR
    over = frozenset[str]() if here.team is None else beyond_looks(session, plan, here.team)
    return Desk(office, here, plan, releases(session, plan.row.id), plans.now(office, plan.row), over)


def beyond_looks(session: Session, plan: plans.Plan, team: str | None = None) -> frozenset[str]:
    """Submissions of a team, or of all, that came after the looks of their window were used up (X-23)."""
    most = {window.id: window.looks for window in plan.campaign.windows if window.looks is not None}
    return looks.beyond(session, plan.row.id, most, team)


def releases(session: Session, campaign_id: str) -> dict[str, dict[str, datetime]]:
    """When each level of each window was released: window, then level."""
    found: dict[str, dict[str, datetime]] = {}
    for row in session.scalars(select(Release).where(Release.campaign_id == campaign_id)):
        found.setdefault(row.window, {})[row.level] = row.at
    return found


def team_names(session: Session, ids: Iterable[str]) -> dict[str, Any]:
    """What a board calls teams by, without the rest of their rows, of which there may be thousands (P-40)."""
    question = select(Team.id, Team.name, Team.pseudonym, Team.named_consent)
    found = (session.execute(question.where(Team.id.in_(some))) for some in in_blocks(set(ids)))
    return {row.id: row for rows in found for row in rows}


def teams(session: Session, ids: Iterable[str]) -> dict[str, Team]:
    """Teams by id."""
    return {row.id: row for row in session.scalars(select(Team).where(Team.id.in_(tuple(set(ids)))))}
