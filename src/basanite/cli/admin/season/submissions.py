"""`basanite admin submission|extra`: what came in, how it stands, and attempts beyond the quota."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from basanite.cli.admin.desk import (
    Desk,
    admin_options,
    at_desk,
    campaign_option,
    moment,
    reason_option,
    show,
    table,
    the_campaign,
)
from basanite.cli.options import example

RUN = click.argument("run", metavar="TEAM/NUMBER")


@click.group(epilog=example("basanite admin submission list --data season"))
def submission() -> None:
    """List and show submissions, withdraw, void, admit, name the primary one."""


@submission.command("list", epilog=example("basanite admin submission list --window dev --data season"))
@click.option("--window", help="Only of this window.")
@click.option("--team", help="Only of this team.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="The newest so many.")
@campaign_option
@admin_options
def list_submissions(
    window: str | None, team: str | None, limit: int, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """List the newest submissions with state and standing."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.results import seeing

        campaign_id = the_campaign(desk, campaign).row.id
        team_id = None if team is None else desk.team(campaign_id, team)
        who = (desk.session, desk.office, _organiser(), campaign_id)
        found = seeing.submissions(*who, window=window, team_id=team_id, limit=limit)
    columns = ["run", "window", "task", "type", "label", "received", "state", "standing", "similar_to"]
    rows = [
        {"id": one.id, "run": f"{one.team}/{one.number}"} | {name: getattr(one, name) for name in columns[1:]}
        for one in found
    ]
    show({"submissions": rows}, table(rows, columns[:-1], empty="There is no submission yet."), json=as_json)


@submission.command("show", epilog=example("basanite admin submission show Alpha/1 --data season"))
@RUN
@campaign_option
@admin_options
def show_submission(run: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Show one submission: what was declared, its state, its problems and its values."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.results import seeing

        seen = seeing.submission(desk.session, desk.office, _organiser(), _find(desk, campaign, run))
    lines = [
        f"{seen.team}/{seen.number}  {seen.name}",
        f"received {moment(seen.received)}, {seen.state}, {seen.standing}",
    ]
    if seen.result is not None:
        lines.append(
            f"{seen.result.primary} {seen.result.value}, reference version {seen.result.provenance.reference_version}"
        )
    show(asdict(seen), lines, json=as_json)


def _standing_command(name: str, act: str, help_text: str, done: str) -> None:
    """Commands that change how a submission stands differ in one act only."""

    @submission.command(
        name,
        help=help_text,
        epilog=example(f'basanite admin submission {name} {EXAMPLES[name]} --reason "…" --data season'),
    )
    @RUN
    @reason_option
    @campaign_option
    @admin_options
    def command(run: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
        with at_desk(data, mail, json=as_json) as desk:
            from basanite.campaign.intake import standings

            deed: Callable[..., Any] = getattr(standings, act)
            row = deed(desk.session, desk.office, desk.actor, _find(desk, campaign, run), reason=reason)
        show({"submission": row.id, "standing": row.standing}, [f"{run} {done}."], json=as_json)


EXAMPLES = {"withdraw": "Alpha/1", "admit": "Beta/2", "primary": "Beta/3", "baseline": "Alpha/1"}
_standing_command(
    "withdraw", "withdraw", "Take a submission out of all comparisons; its attempt stays spent.", "is withdrawn"
)
_standing_command("admit", "admit_late", "Let a late submission into ranks, groups and tests.", "is admitted")
_standing_command(
    "primary", "designate_primary", "Make a run its team's primary one, after closing.", "is the primary one"
)
_standing_command("baseline", "mark_baseline", "Show a submission as a baseline.", "is a baseline")


@submission.command(
    "void", epilog=example('basanite admin submission void Beta/1 --reason "it was copied" --data season')
)
@RUN
@reason_option
@campaign_option
@admin_options
def void(run: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Disqualify a submission; where the campaign says so, a second person must agree."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.intake import standings
        from basanite.campaign.organising import approvals, seconding

        plan, found = the_campaign(desk, campaign), _find(desk, campaign, run)
        if approvals.needs_two(plan.campaign, "void"):
            args = (desk.session, desk.office, desk.actor, plan.row.id, found)
            waits = seconding.ask_to_void(*args, reason=reason)
            shown, words = {"waits": waits.id}, "This takes a second person: basanite admin approvals agree newest"
        else:
            row = standings.disqualify(desk.session, desk.office, desk.actor, found, reason=reason)
            shown, words = {"submission": row.id, "standing": row.standing}, f"{run} is disqualified."
    show(shown, [words], json=as_json)


@submission.command(
    "refund", epilog=example('basanite admin submission refund Alpha/1 --reason "our disk" --data season')
)
@RUN
@reason_option
@campaign_option
@admin_options
def refund(run: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Give the attempt of a submission back to its team."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.intake import quotas
        from basanite.campaign.store.tables import Submission

        row = desk.session.get_one(Submission, _find(desk, campaign, run))
        given = quotas.refund(desk.session, desk.office, row, reason=reason, actor=desk.actor)
    words = f"The attempt of {run} is given back." if given else f"{run} holds no attempt that could be given back."
    show({"submission": row.id, "refunded": given is not None}, [words], json=as_json)


@click.command(
    epilog=example('basanite admin extra Alpha --window dev --task CLIR --reason "our disk was full" --data season')
)
@click.argument("team")
@click.option("--window", required=True, help="The window in which they count.")
@click.option("--count", type=click.IntRange(1, 1000), default=1, show_default=True, help="How many.")
@click.option("--task", default="", help="The task, where the window has several.")
@click.option("--language", default="", help="The language, where the window has several.")
@reason_option
@campaign_option
@admin_options
def extra(
    team: str, window: str, count: int, campaign: str, data: Path | None, mail: str | None, as_json: bool, **given: str
) -> None:
    """Give TEAM further attempts in the current period of a window, with a reason that it sees."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.intake import quotas

        team_id = desk.team(the_campaign(desk, campaign).row.id, team)
        row = quotas.give_extra(desk.session, desk.office, desk.actor, team_id, window, count, **given)
    show(
        {"team": team_id, "count": row.count, "period": row.period},
        [f"{team} has {count} more in {window}."],
        json=as_json,
    )


def _organiser() -> Any:
    from basanite.campaign.model.viewer import Viewer

    return Viewer(roles=frozenset({"evaluation"}))


def _find(desk: Desk, campaign: str, run: str) -> str:
    """The submission that `TEAM/NUMBER` or an id means."""
    from sqlalchemy import select

    from basanite.campaign.model.refusals import missing
    from basanite.campaign.store.tables import Submission

    team, slash, number = run.rpartition("/")
    if not slash or not number.isdecimal():
        found = desk.session.get(Submission, run)
    else:
        team_id = desk.team(the_campaign(desk, campaign).row.id, team)
        question = select(Submission).where(Submission.team_id == team_id, Submission.number == int(number))
        found = desk.session.scalars(question).first()
    if found is None:
        raise missing("submission")
    return found.id
