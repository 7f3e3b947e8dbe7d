"""`basanite admin approvals`: acts that take two people, waiting for the second (X-4)."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.admin.desk import Desk, admin_options, at_desk, campaign_option, show, table, the_campaign
from basanite.cli.admin.season.rescoring import NEWEST, newest
from basanite.cli.options import example


@click.group(epilog=example("basanite admin approvals list --data season"))
def approvals() -> None:
    """List acts that wait for a second person, agree or refuse."""


@approvals.command("list", epilog=example("basanite admin approvals list --data season"))
@click.option("--all", "every", is_flag=True, help="Decided ones too.")
@campaign_option
@admin_options
def list_approvals(every: bool, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List what waits for a second person."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import approvals as acts

        campaign_id = the_campaign(desk, campaign).row.id
        found = (acts.of_campaign if every else acts.waiting)(desk.session, campaign_id)
    columns = ["id", "act", "data", "reason", "asked_by", "asked", "state", "decided_by"]
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    show({"approvals": rows}, table(rows, columns, empty="Nothing waits."), json=as_json)


@approvals.command("agree", epilog=example("basanite admin approvals agree --as otto@people.example --data season"))
@click.argument("approval", default=NEWEST)
@campaign_option
@admin_options
def agree(approval: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Be the second person for an act (an id, or the newest): it is done at once. Say who you are with --as."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import seconding

        row = seconding.agree(desk.session, desk.office, desk.actor, _find(desk, campaign, approval))
    show({"approval": row.id, "act": row.act, "state": row.state}, [f"Done: {row.act}."], json=as_json)


@approvals.command("refuse", epilog=example("basanite admin approvals refuse --as otto@people.example --data season"))
@click.argument("approval", default=NEWEST)
@campaign_option
@admin_options
def refuse(approval: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Refuse an act that waits (an id, or the newest); nothing happens."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import seconding

        row = seconding.refuse(desk.session, desk.office, desk.actor, _find(desk, campaign, approval))
    show({"approval": row.id, "act": row.act, "state": row.state}, [f"Refused: {row.act}."], json=as_json)


def _find(desk: Desk, campaign: str, approval: str) -> str:
    from basanite.campaign.organising import approvals as acts

    if approval != NEWEST:
        return approval
    return newest(acts.waiting(desk.session, the_campaign(desk, campaign).row.id), "act that waits for a second person")
