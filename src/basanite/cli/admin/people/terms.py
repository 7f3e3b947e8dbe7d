"""`basanite admin agreement|resource`: what teams signed, what they owe when it ends, and what they have to share."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    Desk,
    admin_options,
    at_desk,
    campaign_option,
    reason_option,
    show,
    table,
    the_campaign,
)
from basanite.cli.admin.season.rescoring import NEWEST, newest
from basanite.cli.options import PATH, example

if TYPE_CHECKING:
    from basanite.campaign.people.terms.agreements import Standing

TEAM = click.argument("team")
AGREEMENT = click.argument("which", metavar="AGREEMENT")
RESOURCE = click.argument("which", metavar="RESOURCE", default=NEWEST)


@click.group(epilog=example("basanite admin agreement list --data season"))
def agreement() -> None:
    """List agreements, counter-sign and end them, take certificates of deletion."""


@agreement.command("list", epilog=example("basanite admin agreement list --data season"))
@campaign_option
@admin_options
def list_agreements(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List where each team stands with each agreement, and which certificates of deletion are missing."""
    with at_desk(data, mail, json=as_json) as desk:
        from sqlalchemy import select

        from basanite.campaign.people.terms.agreements import standing
        from basanite.campaign.people.terms.deletions import deletions
        from basanite.campaign.store.tables import Team

        plan = the_campaign(desk, campaign)
        now = plan.now(desk.office.clock())
        teams = desk.session.scalars(select(Team).where(Team.campaign_id == plan.row.id).order_by(Team.name)).all()
        rows = [
            _row(one.name, standing(desk.session, plan.campaign, one.id, each.id, now))
            for one in teams
            for each in plan.campaign.agreements
        ]
        asked = [asdict(one) for one in deletions(desk.session, plan.row.id, now)]
    columns = ["team", "agreement", "state", "version", "uploaded", "executed", "expires"]
    lines = table(rows, columns, empty="The plan has no agreements.")
    lines += [f"Certificate of deletion overdue: {one['agreement']} ({one['team']})" for one in asked if one["overdue"]]
    show({"agreements": rows, "deletions": asked}, lines, json=as_json)


def _row(team: str, found: Standing) -> dict[str, Any]:
    known = {name: getattr(found.signature, name, None) for name in ("version", "uploaded", "executed", "expires")}
    return {"team": team, "agreement": found.agreement.id, "state": found.state, **known}


@agreement.command("sign", epilog=example("basanite admin agreement sign Beta data signed.pdf --data season"))
@TEAM
@AGREEMENT
@click.argument("copy", type=PATH)
@campaign_option
@admin_options
def sign(team: str, which: str, copy: Path, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Keep the signed COPY of an agreement that came on paper or by mail."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms import agreements
        from basanite.formats.bounded import read_bounded

        team_id = desk.team(the_campaign(desk, campaign).row.id, team)
        content = read_bounded(copy, agreements.LARGEST_COPY)
        row = agreements.sign(desk.session, desk.office, desk.actor, team_id, which, copy=content)
    show({"signature": row.id, "state": row.state}, [f"{which} of {team}: {row.state}."], json=as_json)


@agreement.command("accept", epilog=example("basanite admin agreement accept Alpha data --data season"))
@TEAM
@AGREEMENT
@campaign_option
@admin_options
def accept(team: str, which: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Counter-sign the copy of an AGREEMENT that a TEAM uploaded: its data are open to the team from now on."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms.agreements import counter_sign

        row = counter_sign(desk.session, desk.office, desk.actor, _signature(desk, campaign, team, which))
    show({"signature": row.id, "state": row.state}, [f"{which} of {team} is executed."], json=as_json)


@agreement.command(
    "refuse", epilog=example('basanite admin agreement refuse Alpha data --reason "page 2 is missing" --data season')
)
@TEAM
@AGREEMENT
@reason_option
@campaign_option
@admin_options
def refuse(
    team: str, which: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Refuse the copy of an AGREEMENT that a TEAM uploaded, and say why."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms.agreements import refuse_signature

        found = _signature(desk, campaign, team, which)
        row = refuse_signature(desk.session, desk.office, desk.actor, found, reason=reason)
    show({"signature": row.id, "state": row.state}, [f"{which} of {team} is refused."], json=as_json)


@agreement.command("end", epilog=example("basanite admin agreement end Alpha speech --data season"))
@TEAM
@AGREEMENT
@campaign_option
@admin_options
def end(team: str, which: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """End an AGREEMENT of a TEAM: it is asked to delete the data and to certify that."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms.deletions import ask_for_deletion

        row = ask_for_deletion(desk.session, desk.office, desk.actor, _signature(desk, campaign, team, which))
    show({"signature": row.id, "asked": row.deletion_asked}, [f"{team} is asked to delete the data."], json=as_json)


@agreement.command("certify", epilog=example("basanite admin agreement certify Beta speech --data season"))
@TEAM
@AGREEMENT
@click.option("--copy", type=PATH, help="The signed certificate.")
@campaign_option
@admin_options
def certify(
    team: str, which: str, copy: Path | None, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Write down that a TEAM certified that the data of an AGREEMENT are deleted."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms.agreements import LARGEST_COPY
        from basanite.campaign.people.terms.deletions import certify_deletion
        from basanite.formats.bounded import read_bounded

        content = b"" if copy is None else read_bounded(copy, LARGEST_COPY)
        found = _signature(desk, campaign, team, which)
        row = certify_deletion(desk.session, desk.office, desk.actor, found, copy=content)
    certified = {"signature": row.id, "certified": row.deletion_certified}
    show(certified, [f"{team} certified the deletion."], json=as_json)


def _signature(desk: Desk, campaign: str, team: str, which: str) -> str:
    """The id of the signature of a team that counts for an agreement."""
    from basanite.campaign.model.refusals import missing
    from basanite.campaign.people.terms.agreements import standing

    plan = the_campaign(desk, campaign)
    now, team_id = plan.now(desk.office.clock()), desk.team(plan.row.id, team)
    found = standing(desk.session, plan.campaign, team_id, which, now).signature
    if found is None:
        raise missing("signature")
    return found.id


@click.group(epilog=example("basanite admin resource list --data season"))
def resource() -> None:
    """List resources that teams declared and what they still have to share; declare, share and withdraw for a team."""


@resource.command("list", epilog=example("basanite admin resource list --overdue --data season"))
@click.option("--overdue", "late", is_flag=True, help="Only what should have been shared by now.")
@campaign_option
@admin_options
def list_resources(late: bool, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List the register of resources: what each team declared, and until when it is to be shared."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms import resources
        from basanite.campaign.store.tables import Team

        plan = the_campaign(desk, campaign)
        ask = resources.overdue if late else resources.resources
        found = ask(desk.session, plan.row.id, plan.now(desk.office.clock()))
        rows = [asdict(one) | {"team": desk.session.get_one(Team, one.team).name} for one in found]
    columns = ["id", "team", "kind", "language", "share_by", "shared", "where", "overdue", "description"]
    show({"resources": rows}, table(rows, columns, empty="There is nothing."), json=as_json)


@resource.command(
    "declare", epilog=example('basanite admin resource declare Alpha purchased "a dictionary of Swahili" --data season')
)
@TEAM
@click.argument("kind", type=click.Choice(["harvested", "purchased", "open_queries", "adaptation"]))
@click.argument("description")
@click.option("--language", default="", help="The language of the resource.")
@click.option("--used-in", default="", metavar="WINDOW", help="The window of first use; required for harvested data.")
@campaign_option
@admin_options
def declare(
    team: str,
    kind: str,
    description: str,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
    **more: str,
) -> None:
    """Declare a resource for a TEAM: what it harvested, purchased, asked or adapted to (M93)."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms.resources import declare as declare_resource

        team_id = desk.team(the_campaign(desk, campaign).row.id, team)
        told = {"kind": kind, "description": description, **more}
        row = declare_resource(desk.session, desk.office, desk.actor, team_id, **told)
    show({"resource": row.id, "share_by": row.share_by}, [f"Declared, as {row.id}."], json=as_json)


@resource.command("share", epilog=example("basanite admin resource share Alpha https://data.example --data season"))
@TEAM
@click.argument("where")
@RESOURCE
@campaign_option
@admin_options
def share(team: str, where: str, which: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Note WHERE the other teams find a resource of a TEAM (an id, or the one declared last)."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms.resources import mark_shared

        found = _resource(desk, campaign, team, which)
        row = mark_shared(desk.session, desk.office, desk.actor, found, where=where)
    show({"resource": row.id, "shared": row.shared}, ["The resource is shared."], json=as_json)


@resource.command("withdraw", epilog=example("basanite admin resource withdraw Alpha --data season"))
@TEAM
@RESOURCE
@campaign_option
@admin_options
def withdraw(team: str, which: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Take back what a TEAM declared by mistake (an id, or the one declared last); it stays in the record."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.terms.resources import withdraw as withdraw_resource

        row = withdraw_resource(desk.session, desk.office, desk.actor, _resource(desk, campaign, team, which))
    show({"resource": row.id, "withdrawn": row.withdrawn}, ["The declaration is withdrawn."], json=as_json)


def _resource(desk: Desk, campaign: str, team: str, which: str) -> str:
    """The id of a resource that a team declared."""
    from basanite.campaign.model.refusals import missing
    from basanite.campaign.people.terms.resources import resources

    plan = the_campaign(desk, campaign)
    team_id = desk.team(plan.row.id, team)
    found = resources(desk.session, plan.row.id, plan.now(desk.office.clock()), team_id=team_id)
    if which == NEWEST:
        return newest(found, "resource")
    if which not in {one.id for one in found}:
        raise missing("resource")
    return which


__all__ = ["agreement", "resource"]
