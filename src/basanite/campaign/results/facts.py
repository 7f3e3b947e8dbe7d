"""What the policy must know before it can say who sees what, loaded once for many submissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import Sight, SubmissionFacts, sight, team_name
from basanite.campaign.model.viewer import VISITOR, Viewer
from basanite.campaign.office import Office
from basanite.campaign.organising import plans
from basanite.campaign.results.descriptions import missing_fields
from basanite.campaign.store import looks
from basanite.campaign.store.tables import Release, Submission, Team


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

    def sight(self, submission: Submission) -> Sight:
        """What of a submission this viewer may see now."""
        window = self.window(submission)
        released = self.releases.get(window.id, {})
        facts = replace(facts_of(self.campaign, submission), beyond_looks=submission.id in self.beyond_looks)
        return sight(self.viewer, self.campaign, window, facts, released, self.now)

    def called(self, seen: Sight, team: Team) -> str:
        """What a team is called for this viewer (P-25)."""
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


def teams(session: Session, ids: Iterable[str]) -> dict[str, Team]:
    """Teams by id."""
    return {row.id: row for row in session.scalars(select(Team).where(Team.id.in_(tuple(set(ids)))))}
