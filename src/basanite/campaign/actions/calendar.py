"""Actions on the calendar: the campaign's file in its versions, windows and milestones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.actions.plans import Plan
from basanite.campaign.actions.registry import (
    Argument,
    Arguments,
    At,
    Listing,
    Option,
    Outcome,
    Reason,
    action,
    list_outcome,
    rows_of,
)
from basanite.campaign.model.campaign_file import load
from basanite.campaign.model.exposure import exposure_warnings
from basanite.campaign.model.plan import Campaign, Milestone
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import Deviation, MilestoneState
from basanite.reports.wording import moment, plural

STATES: Final = ("planned", "done", "moved", "dropped")


@dataclass(frozen=True)
class Standing:
    """A milestone and how it stands now."""

    milestone: Milestone
    state: str = "planned"
    note: str = ""
    by: str = ""
    at: datetime | None = None


def milestones(session: Session, campaign_id: str) -> tuple[Standing, ...]:
    """All milestones of the plan that holds, in the order of time, each with its newest state."""
    campaign = plans.current(session, campaign_id).campaign
    question = select(MilestoneState).where(MilestoneState.campaign_id == campaign_id).order_by(MilestoneState.at)
    newest = {row.milestone: row for row in session.scalars(question)}
    ordered = sorted(campaign.milestones, key=lambda milestone: (milestone.at.utc, milestone.id))
    return tuple(_standing(milestone, newest.get(milestone.id)) for milestone in ordered)


@dataclass(frozen=True, slots=True)
class MilestoneUpdate:
    """Where a milestone stands now."""

    milestone: str
    state: str
    note: str = ""


def set_milestone_state(
    session: Session, office: Office, actor: Actor, campaign_id: str, update: MilestoneUpdate
) -> MilestoneState:
    """Say where a milestone stands; what was said before stays."""
    milestone, state = update.milestone, update.state
    require_organiser(session, actor, campaign_id)
    known = [one.id for one in plans.current(session, campaign_id).campaign.milestones]
    if milestone not in known:
        raise refused("P-19", f"the plan has no milestone {milestone!r}", f"one of: {', '.join(known)}", status=404)
    if state not in STATES:
        raise refused("P-19", f"{state!r} is not a milestone state", f"one of: {', '.join(STATES)}", status=422)
    row = MilestoneState(
        campaign_id=campaign_id, milestone=milestone, state=state, note=update.note, by=actor.id, at=office.clock()
    )
    session.add(row)
    session.flush()
    events.record(
        session,
        "milestone.changed",
        at=row.at,
        actor=actor.id,
        subject=milestone,
        campaign_id=campaign_id,
        data={"state": state, "note": update.note},
    )
    return row


def _standing(milestone: Milestone, row: MilestoneState | None) -> Standing:
    return Standing(milestone) if row is None else Standing(milestone, row.state, row.note, row.by, row.at)


class NewCampaign(Arguments):
    """A campaign's file."""

    text: Annotated[str, Argument("What the campaign's file says.", metavar="FILE", file=True)]


class ChangedCampaign(NewCampaign):
    """A new version of a campaign's file."""

    reason: Reason = ""


class Extension(Arguments):
    """A later end of a window."""

    window: Annotated[str, Argument("The id of the window.", metavar="NAME")]
    closes: Annotated[
        str, Option('The new end, like "2018-05-18 24:00", with a zone if need be.', name="to", required=True)
    ]
    reason: Reason = ""


class MilestoneChange(Arguments):
    """Where a milestone stands."""

    milestone: Annotated[str, Argument("The id of the milestone.", metavar="NAME")]
    state: Annotated[str, Argument("Where it stands.", choices=STATES)]
    note: Annotated[str, Option("A note about it.")] = ""


@action("campaign add", role="administrator", hint="campaign.toml --data new-season", logs="campaign.added")
def add_campaign(at: At, given: NewCampaign) -> Outcome:
    """Add a campaign from its FILE; every problem of the file is listed with its line."""
    plan = plans.current(at.session, plans.add_campaign(*at.who, given.text).id)
    warnings = [one.as_dict() for one in exposure_warnings(plan.campaign)]
    words = f"Campaign {plan.campaign.slug}: {plural('window', len(plan.campaign.windows))}."
    hint = "Next: basanite admin people add"
    return Outcome(_summary(plan) | {"warnings": warnings}, (words,), after=warning_lines(plan.campaign), hint=hint)


@action("campaign show", reads=True, hint="--data season")
def show_campaign(at: At, given: Arguments) -> Outcome:
    """Show a campaign's current state: version, windows, what is frozen, deviations."""
    plan, found = at.plan, plans.deviations(at.session, at.campaign_id)
    shown = _summary(plan) | {"deviations": [deviation_facts(one) for one in found]}
    head = f"{plan.campaign.title} ({plan.campaign.slug}), version {plan.version} of its file"
    return Outcome(shown, (head,), _windows(plan), (f"Deviations: {len(found)}",))


@action(
    "campaign change",
    names_campaign=True,
    hint="campaign.toml --data season --reason clearer",
    logs="campaign.changed",
)
def change_campaign(at: At, given: ChangedCampaign) -> Outcome:
    """Load a new version of a campaign's FILE; changes to an open window are recorded as deviations with a reason."""
    slug = load(given.text).slug
    if at.bound and slug != at.plan.row.slug:
        raise missing("campaign")
    plan = plans.change_plan(*at.who, slug, given.text, reason=given.reason)
    found = [one for one in plans.deviations(at.session, plan.row.id) if one.to_version == plan.version]
    shown = {"slug": slug, "version": plan.version, "deviations": [deviation_facts(one) for one in found]}
    shown["warnings"] = [one.as_dict() for one in exposure_warnings(plan.campaign)]
    words = [f"{slug} is at version {plan.version}."]
    words += [f"Deviation in {one.window}: {item['what']}" for one in found for item in one.changes]
    return Outcome(shown, (*words, *warning_lines(plan.campaign)))


@action("campaign freeze-status", hint="--data season", logs="window.frozen")
def freeze_status(at: At, given: Arguments) -> Outcome:
    """Freeze the plans of windows that have opened, and list everything frozen with its hash."""
    plans.freeze_opened(at.session, at.office, at.campaign_id)
    rows = rows_of(plans.freezes(at.session, at.campaign_id), ("window", "plan_version", "digest", "at"))
    return list_outcome("frozen", rows, ("window", "plan_version", "at", "digest"), "No window has opened yet.")


@action("window list", reads=True, hint="--data season")
def list_windows(at: At, given: Arguments) -> Outcome:
    """List the windows: when they open and close, for what, and what they show."""
    listing = _windows(at.plan)
    return Outcome({"windows": listing.rows}, listing=listing)


@action(
    "window extend",
    hint='week --to "2018-04-10 24:00 AoE" --reason "a storm" --data season',
    logs="campaign.changed window.extended",
)
def extend_window(at: At, given: Extension) -> Outcome:
    """Extend the window NAME; the change is logged, and every team member gets the reason by mail."""
    plan = plans.extend_window(
        *at.who, at.plan.row.slug, plans.Extension(given.window, given.closes, reason=given.reason)
    )
    ends = plan.campaign.window(given.window).closes.utc
    shown = {"window": given.window, "closes": ends, "version": plan.version}
    return Outcome(shown, (f"{given.window} closes at {moment(ends)}.",))


@action("milestone list", reads=True, hint="--data season")
def list_milestones(at: At, given: Arguments) -> Outcome:
    """List the milestones of a campaign in chronological order."""
    rows = [
        {"id": one.milestone.id, "at": one.milestone.at.utc, "title": one.milestone.title}
        | {"owner": one.milestone.owner, "state": one.state, "note": one.note}
        for one in milestones(at.session, at.campaign_id)
    ]
    return list_outcome(
        "milestones", rows, ("id", "at", "title", "owner", "state", "note"), "The plan has no milestones."
    )


@action("milestone set", hint="kickoff done --data season", logs="milestone.changed")
def set_milestone(at: At, given: MilestoneChange) -> Outcome:
    """Set the state of the milestone NAME; earlier states stay in the log."""
    set_milestone_state(*at.who, at.campaign_id, MilestoneUpdate(given.milestone, given.state, given.note))
    shown = {"milestone": given.milestone, "state": given.state, "note": given.note}
    return Outcome(shown, (f"{given.milestone}: {given.state}",))


def warning_lines(campaign: Campaign) -> tuple[str, ...]:
    """What a plan leaves open to probing, and how to close it."""
    return tuple(f"Warning: {one.message} [{one.rule}]. Fix: {one.fix}" for one in exposure_warnings(campaign))


def _summary(plan: Plan) -> dict[str, Any]:
    campaign = plan.campaign
    shown = {"slug": campaign.slug, "title": campaign.title, "version": plan.version, "zone": campaign.zone}
    return shown | {"two_people": sorted(campaign.two_people), "windows": _windows(plan).rows}


def _windows(plan: Plan) -> Listing:
    rows = [
        {"id": one.id, "title": one.title, "opens": one.opens.utc, "closes": one.closes.utc, "tasks": list(one.tasks)}
        | {"dataset": "+".join(one.dataset), "feedback": one.feedback, "kind": one.kind}
        for one in plan.campaign.windows
    ]
    columns = ("id", "opens", "closes", "tasks", "dataset", "feedback", "kind")
    return Listing(rows, columns, "There are no windows.")


def deviation_facts(row: Deviation) -> dict[str, Any]:
    """A deviation as programs get it."""
    (shown,) = rows_of([row], ("window", "changes", "by", "reason", "results_known", "at"))
    return shown | {"version": row.to_version}
