"""Actions on submissions: how they stand, and attempts beyond the quota (P-23)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated

from sqlalchemy import select

from basanite.campaign.actions import approvals, two_people
from basanite.campaign.actions.registry import (
    ORGANIZER,
    Argument,
    Arguments,
    At,
    Confirmation,
    Option,
    Outcome,
    Reason,
    action,
    list_outcome,
    rows_of,
)
from basanite.campaign.intake import charges, standings
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.results import visibility
from basanite.campaign.store.tables import Submission
from basanite.reports.metric_names import display_name
from basanite.reports.wording import moment

Run = Annotated[str, Argument("The submission: TEAM/NUMBER, or its id.", metavar="TEAM/NUMBER")]


class Choice(Arguments):
    """Which submissions are listed."""

    window: Annotated[str | None, Option("Only of this window.")] = None
    team: Annotated[str | None, Option("Only of this team.")] = None
    limit: Annotated[int, Option("How many to list, newest first.", show_default=True, least=1, most=200)] = 50


class OneSubmission(Arguments):
    """A submission."""

    run: Run


class SubmissionChange(OneSubmission):
    """A submission, and why something is done to it."""

    reason: Reason = ""


class ExtraAttempts(Arguments):
    """Attempts beyond the quota."""

    team: Annotated[str, Argument("The team.")]
    window: Annotated[str, Option("The window in which they count.", required=True)]
    count: Annotated[int, Option("How many.", show_default=True, least=1, most=1000)] = 1
    task: Annotated[str, Option("The task, where the window has several.")] = ""
    language: Annotated[str, Option("The language, where the window has several.")] = ""
    reason: Reason = ""


@action("submission list", reads=True, hint="--window dev --data season")
def list_submissions(at: At, given: Choice) -> Outcome:
    """List the newest submissions with state and standing."""
    team_id = None if given.team is None else at.team(given.team)
    wanted = visibility.SubmissionFilter(given.window, team_id=team_id, limit=given.limit)
    found = visibility.submissions(at.session, at.office, ORGANIZER, at.campaign_id, wanted)
    columns = ("run", "window", "task", "type", "label", "received", "state", "standing")
    plain = rows_of(found, (*columns[1:], "similar_to"))
    rows = [{"id": one.id, "run": f"{one.team}/{one.number}"} | row for one, row in zip(found, plain, strict=True)]
    return list_outcome("submissions", rows, columns, "There is no submission yet.")


@action("submission show", reads=True, hint="Alpha/1 --data season")
def show_submission(at: At, given: OneSubmission) -> Outcome:
    """Show one submission: what was declared, its state, its problems and its values."""
    seen = visibility.submission(at.session, at.office, ORGANIZER, find_submission(at, given.run).id)
    words: tuple[str, ...] = (
        f"{seen.team}/{seen.number}  {seen.name}",
        f"received {moment(seen.received)}, {seen.state}, {seen.standing}",
    )
    if seen.result is not None:
        version = seen.result.provenance.reference_version
        words += (f"{display_name(seen.result.primary, seen.task)} {seen.result.value}, reference version {version}",)
    return Outcome(asdict(seen), words)


@dataclass(frozen=True, slots=True)
class StandingChange:
    """An action that changes how a submission stands."""

    name: str
    example: str
    words: str
    done: str
    change: Callable[..., Submission]
    event: str
    confirm: Confirmation


def _declare_standing(one: StandingChange) -> None:
    """These actions differ in one act only."""

    def run(at: At, given: SubmissionChange) -> Outcome:
        row = one.change(*at.who, _to_change(at, given).id, reason=given.reason)
        return Outcome({"submission": row.id, "standing": row.standing}, (f"{given.run} {one.done}.",))

    run.__doc__ = one.words
    hint = f'{one.example} --reason "…" --data season'
    action(f"submission {one.name}", hint=hint, logs=f"submission.{one.event}", confirm=one.confirm)(run)


_declare_standing(
    StandingChange(
        "withdraw",
        "Alpha/1",
        "Withdraw a submission from all comparisons; its attempt still counts.",
        "is withdrawn",
        standings.withdraw,
        "withdrawn",
        Confirmation(
            "Withdraw",
            "It is excluded from all comparisons. The attempt stays used, and nothing is deleted.",
            "Withdraw",
            "The submission is withdrawn.",
        ),
    )
)


@action(
    "submission void",
    two="void",
    hint='Beta/1 --reason "it was copied" --data season',
    logs="submission.disqualified approval.asked",
    confirm=Confirmation(
        "Disqualify submission",
        "It is excluded from all comparisons and counted as disqualified. The team sees the reason.",
        "Disqualify",
        "The submission is disqualified.",
    ),
)
def void_submission(at: At, given: SubmissionChange) -> Outcome:
    """Disqualify a submission; the campaign may require a second person's approval."""
    plan, run = at.plan, _to_change(at, given).id
    if two_people.needs_two(plan.campaign, "void"):
        waits = approvals.ask_to_void(*at.who, plan.row.id, run, reason=given.reason)
        hint = "This needs a second person: basanite admin approvals agree newest"
        return Outcome({"waits": waits.id}, waits=waits.id, hint=hint)
    row = standings.disqualify(*at.who, run, reason=given.reason)
    return Outcome({"submission": row.id, "standing": row.standing}, (f"{given.run} is disqualified.",))


_declare_standing(
    StandingChange(
        "admit",
        "Beta/2",
        "Admit a late submission to ranks, groups and tests.",
        "is admitted",
        standings.admit_late,
        "admitted",
        Confirmation(
            "Admit late run",
            "It is included in ranks, groups and tests like a run that was on time. The reason is recorded.",
            "Admit",
            "The late submission is admitted.",
            safe=True,
        ),
    )
)
_declare_standing(
    StandingChange(
        "primary",
        "Beta/3",
        "Make a submission its team's primary one, after closing.",
        "is the primary one",
        standings.designate_primary,
        "designated",
        Confirmation(
            "Make primary run",
            "The window closed without a primary run, so this run represents the team on the leaderboard.",
            "Make primary",
            "This submission is now the primary run of its team.",
            safe=True,
        ),
    )
)
_declare_standing(
    StandingChange(
        "baseline",
        "Alpha/1",
        "Show a submission as a baseline.",
        "is a baseline",
        standings.mark_baseline,
        "baseline",
        Confirmation(
            "Show as a baseline",
            "It appears on leaderboards without a rank.",
            "Make baseline",
            "The submission is now a baseline.",
        ),
    )
)


@action(
    "submission refund",
    hint='Alpha/1 --reason "our disk" --data season',
    logs="quota.refunded",
    confirm=Confirmation(
        "Refund attempt",
        "The team gets one more attempt in the same period.",
        "Refund attempt",
        "The attempt is given back.",
        safe=True,
    ),
)
def refund(at: At, given: SubmissionChange) -> Outcome:
    """Give the attempt of a submission back to its team."""
    row = _to_change(at, given)
    back = charges.refund(at.session, at.office, row, reason=given.reason, actor=at.actor)
    words = f"The attempt of {given.run} is given back."
    words = words if back else f"{given.run} holds no attempt that could be given back."
    return Outcome({"submission": row.id, "refunded": back is not None}, (words,))


@action(
    "extra",
    hint='Alpha --window dev --task CLIR --reason "our disk was full" --data season',
    logs="quota.extra",
)
def give_extra(at: At, given: ExtraAttempts) -> Outcome:
    """Grant TEAM extra attempts in the current period of a window, with a reason that the team sees."""
    team_id = at.team(given.team)
    row = charges.give_extra(*at.who, team_id, charges.Attempts(**given.model_dump(exclude={"team"})))
    shown = {"team": team_id, "count": row.count, "period": row.period}
    return Outcome(shown, (f"{given.team} has {row.count} more in {given.window}.",))


def find_submission(at: At, run: str) -> Submission:
    """The submission that `TEAM/NUMBER` or an id means."""
    team, slash, number = run.rpartition("/")
    if not slash or not number.isdecimal() or len(number) > 9:
        found = at.session.get(Submission, run)
    else:
        question = select(Submission).where(Submission.team_id == at.team(team), Submission.number == int(number))
        found = at.session.scalars(question).first()
    if found is None:
        raise missing("submission")
    at.check_here(found.campaign_id, "submission")
    return found


def _to_change(at: At, given: SubmissionChange) -> Submission:
    """The submission, and from a page or program never without a reason: the team sees it."""
    row = find_submission(at, given.run)
    if at.bound and not given.reason.strip():
        raise refused("P-23", "a reason is required", "give a reason; it is recorded and shown to the team", status=422)
    return row
