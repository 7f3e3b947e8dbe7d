"""`basanite admin team`: teams and who belongs to them (M61, P-34)."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.admin.desk import admin_options, at_desk, campaign_option, show, table, the_campaign
from basanite.cli.options import example


@click.group(epilog=example("basanite admin team list --data season"))
def team() -> None:
    """List teams and members, make, change, merge and approve them."""


@team.command("list", epilog=example("basanite admin team list --data season"))
@campaign_option
@admin_options
def list_teams(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List the teams of a campaign with their members."""
    with at_desk(data, mail, json=as_json) as desk:
        from sqlalchemy import select

        from basanite.campaign.people.persons import personal
        from basanite.campaign.people.teams.reading import members
        from basanite.campaign.store.tables import Team

        campaign_id = the_campaign(desk, campaign).row.id
        found = desk.session.scalars(select(Team).where(Team.campaign_id == campaign_id).order_by(Team.name)).all()
        rows = [
            {
                "team": one.name,
                "pseudonym": one.pseudonym,
                "track": one.track,
                "state": one.state,
                "members": [
                    personal(desk.session, desk.office, who.person).name for who in members(desk.session, one.id)
                ],
            }
            for one in found
        ]
    lines = table(rows, ["team", "pseudonym", "track", "state", "members"], empty="There are no teams yet.")
    show({"teams": rows}, lines, json=as_json)


@team.command("add", epilog=example("basanite admin team add Gamma --pi kim@people.example --data season"))
@click.argument("name")
@click.option("--pi", required=True, metavar="MAIL", help="Who leads it.")
@click.option("--track", default="", help="The track it takes part in.")
@campaign_option
@admin_options
def add(name: str, pi: str, track: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Make the team NAME; its PI takes in the others."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.teams.making import create_team

        campaign_id = the_campaign(desk, campaign).row.id
        names = {"name": name, "track": track, "pi": desk.person(pi)}
        row = create_team(desk.session, desk.office, desk.actor, campaign_id, **names)
    show(
        {"team": row.id, "pseudonym": row.pseudonym},
        [f"{name} takes part, as {row.pseudonym} on boards without names."],
        json=as_json,
    )


@team.command("place", epilog=example("basanite admin team place Beta kim@people.example --data season"))
@click.argument("name")
@click.argument("who", metavar="MAIL")
@campaign_option
@admin_options
def place(name: str, who: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Put the person with the address MAIL into the team NAME."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.teams.joining import place_member

        team_id = desk.team(the_campaign(desk, campaign).row.id, name)
        place_member(desk.session, desk.office, desk.actor, team_id, desk.person(who))
    show({"team": team_id}, [f"{who} is in {name}."], json=as_json)


@team.command("merge", epilog=example("basanite admin team merge Beta --into Alpha --data season"))
@click.argument("name")
@click.option("--into", required=True, help="The team that takes the others in.")
@campaign_option
@admin_options
def merge(name: str, into: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Merge the team NAME into another; its submissions stay under its old name."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.teams import changing

        campaign_id = the_campaign(desk, campaign).row.id
        target = desk.team(campaign_id, into)
        changing.merge(desk.session, desk.office, desk.actor, desk.team(campaign_id, name), into=target)
    show({"team": target}, [f"{name} is now part of {into}."], json=as_json)


@team.command(
    "split", epilog=example("basanite admin team split Alpha --name Delta --pi alan@people.example --data season")
)
@click.argument("old", metavar="NAME")
@click.option("--name", required=True, help="What the new team is called.")
@click.option("--pi", required=True, metavar="MAIL", help="Who leads the new team.")
@click.option("--with", "others", multiple=True, metavar="MAIL", help="Who else goes along. Repeat it.")
@campaign_option
@admin_options
def split(
    old: str,
    name: str,
    pi: str,
    others: tuple[str, ...],
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """Make some people of the team NAME a team of their own; the PI of the old one stays."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.teams import changing

        team_id = desk.team(the_campaign(desk, campaign).row.id, old)
        people = [desk.person(one) for one in others]
        row = changing.split(
            desk.session, desk.office, desk.actor, team_id, name=name, pi=desk.person(pi), people=people
        )
    show({"team": row.id, "pseudonym": row.pseudonym}, [f"{name} is a team of its own."], json=as_json)


@team.command("hand-over", epilog=example("basanite admin team hand-over Alpha alan@people.example --data season"))
@click.argument("name")
@click.argument("who", metavar="MAIL")
@campaign_option
@admin_options
def hand_over(name: str, who: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Make another member the PI of the team NAME; the old one stays a member."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.teams import changing

        team_id = desk.team(the_campaign(desk, campaign).row.id, name)
        changing.hand_over(desk.session, desk.office, desk.actor, team_id, to=desk.person(who))
    show({"team": team_id}, [f"{who} leads {name} now."], json=as_json)


@team.command("leave", epilog=example("basanite admin team leave Alpha alan@people.example --data season"))
@click.argument("name")
@click.argument("who", metavar="MAIL")
@campaign_option
@admin_options
def leave(name: str, who: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Take the person with the address MAIL out of the team NAME; the last one to leave closes it."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.teams import changing

        team_id = desk.team(the_campaign(desk, campaign).row.id, name)
        changing.leave(desk.session, desk.office, desk.actor, team_id, person_id=desk.person(who))
    show({"team": team_id}, [f"{who} is no longer in {name}."], json=as_json)


@team.command("invite", epilog=example("basanite admin team invite Alpha new@people.example --data season"))
@click.argument("name")
@click.argument("who", metavar="MAIL")
@campaign_option
@admin_options
def invite(name: str, who: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Invite the address MAIL into the team NAME, by a mail with a link."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.teams import joining

        team_id = desk.team(the_campaign(desk, campaign).row.id, name)
        joining.invite(desk.session, desk.office, desk.actor, team_id, mail=who)
    show({"team": team_id}, [f"{who} gets a mail with a link."], json=as_json)


@team.command("requests", epilog=example("basanite admin team requests --data season"))
@campaign_option
@admin_options
def requests(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List who asks to lead a team."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.persons import personal
        from basanite.campaign.people.teams.making import lead_requests

        found = lead_requests(desk.session, the_campaign(desk, campaign).row.id)
        rows = [
            {
                "request": one.id,
                "name": personal(desk.session, desk.office, one.person_id).name,
                "at": one.asked,
                "text": one.text,
            }
            for one in found
        ]
    show({"requests": rows}, table(rows, ["request", "name", "at", "text"], empty="Nobody asks."), json=as_json)


@team.command("decide", epilog=example("basanite admin team decide kim@people.example --accept --data season"))
@click.argument("who", metavar="MAIL")
@click.option("--accept/--refuse", "accept", required=True, help="Whether this person may lead a team.")
@click.option("--reason", default="", help="Why: told to the person.")
@campaign_option
@admin_options
def decide(
    who: str, accept: bool, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Let the person with the address MAIL make a team, asked for or not, or refuse the request."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.refusals import missing
        from basanite.campaign.people.teams.making import decide_lead, grant_team_maker, lead_requests

        campaign_id, person = the_campaign(desk, campaign).row.id, desk.person(who)
        waiting = [one for one in lead_requests(desk.session, campaign_id) if one.person_id == person]
        if waiting:
            decide_lead(desk.session, desk.office, desk.actor, waiting[0].id, accept=accept, reason=reason)
        elif accept:
            grant_team_maker(desk.session, desk.office, desk.actor, campaign_id, person)
        else:
            raise missing("request to lead a team")
    show({"accepted": accept}, [f"{who} may {'now' if accept else 'not'} make a team."], json=as_json)
