"""`basanite admin people`: people and their roles, and their rights to their own data (P-21)."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.admin.desk import admin_options, at_desk, campaign_option, reason_option, show, table, the_campaign
from basanite.cli.options import example

ROLE = click.argument(
    "role", type=click.Choice(["evaluation", "administrator", "judge", "annotator", "adjudicator", "team_maker"])
)
WHO = click.argument("who", metavar="MAIL")


@click.group(epilog=example("basanite admin people list --data season"))
def people() -> None:
    """Add and correct people, give and take roles, answer requests for access and erasure."""


@people.command("add", epilog=example('basanite admin people add new@people.example --name "Kim Doe" --data season'))
@WHO
@click.option("--name", required=True, help="The person's name.")
@admin_options
def add(who: str, name: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Add a person with the address MAIL; a password is chosen by the person, at the server."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.persons import add_person

        person = add_person(desk.session, desk.office, name=name, mail=who, actor=desk.actor)
    show({"person": person.id}, [f"Added, as {person.id}."], json=as_json)


@people.command("list", epilog=example("basanite admin people list --data season"))
@campaign_option
@admin_options
def list_people(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List everybody with roles and team."""
    with at_desk(data, mail, json=as_json) as desk:
        from sqlalchemy import select

        from basanite.campaign.people.persons import personal
        from basanite.campaign.people.roles import viewer
        from basanite.campaign.store.tables import Person, Team

        campaign_id = the_campaign(desk, campaign).row.id
        rows = []
        for person in desk.session.scalars(select(Person).order_by(Person.made, Person.id)):
            seen, known = viewer(desk.session, campaign_id, person.id), personal(desk.session, desk.office, person.id)
            team = None if seen.team is None else desk.session.get_one(Team, seen.team).name
            roles = sorted(seen.roles) + (["pi"] if seen.pi else [])
            rows.append(
                {"person": person.id, "name": known.name, "mail": known.mail, "roles": roles, "team": team or ""}
            )
    lines = table(rows, ["person", "name", "mail", "roles", "team"], empty="Nobody is here yet.")
    show({"people": rows}, lines, json=as_json)


@people.command("grant", epilog=example("basanite admin people grant otto@people.example judge --data season"))
@WHO
@ROLE
@reason_option
@campaign_option
@admin_options
def grant(who: str, role: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Give the person with the address MAIL a role; where the campaign says so, a second person must agree."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.office import SYSTEM
        from basanite.campaign.organising import approvals, seconding
        from basanite.campaign.people import roles

        person = desk.person(who)
        plan = None if role in roles.SERVER_WIDE else the_campaign(desk, campaign)
        alone = plan is not None and len(roles.holders(desk.session, plan.row.id, ("evaluation",))) < 2
        if plan is not None and approvals.needs_two(plan.campaign, "role") and not alone:
            args = (desk.session, desk.office, desk.actor, plan.row.id, person, role)
            waits = seconding.ask_to_grant(*args, reason=reason)
            shown, words = {"waits": waits.id}, "This takes a second person: basanite admin approvals agree newest"
        else:
            campaign_id = None if plan is None else plan.row.id
            by = (desk.session, desk.office, desk.actor)
            second = SYSTEM.id if alone else None  # the first two organisers have nobody to ask
            row = roles.grant(
                *by, person_id=person, role=role, campaign_id=campaign_id, reason=reason, seconded_by=second
            )
            shown, words = {"grant": row.id}, f"{who} is now: {role}"
    show(shown, [words], json=as_json)


@people.command("revoke", epilog=example("basanite admin people revoke eva@people.example evaluation --data season"))
@WHO
@ROLE
@campaign_option
@admin_options
def revoke(who: str, role: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Take a role away from the person with the address MAIL, from now on."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people import roles

        campaign_id = None if role in roles.SERVER_WIDE else the_campaign(desk, campaign).row.id
        by, person = (desk.session, desk.office, desk.actor), desk.person(who)
        roles.revoke(*by, person_id=person, role=role, campaign_id=campaign_id)
    show({"revoked": role}, [f"{who} is no longer: {role}"], json=as_json)


@people.command(
    "correct", epilog=example('basanite admin people correct alan@people.example --name "Alan M. Turing" --data season')
)
@WHO
@click.option("--name", help="The right name.")
@click.option("--mail", "address", metavar="MAIL", help="The right mail address.")
@admin_options
def correct(
    who: str, name: str | None, address: str | None, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Correct the name or the address of a person; the log says which, not what they were or are."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.persons import change_personal

        person = desk.person(who)
        change_personal(desk.session, desk.office, desk.actor, person, name=name, mail=address)
    show({"person": person}, [f"{person} is corrected."], json=as_json)


@people.command("export", epilog=example("basanite admin people export ada@people.example --data season"))
@WHO
@admin_options
def export(who: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Print everything that is stored about the person with the address MAIL, as one JSON object."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.privacy.exporting import export_person

        found = export_person(desk.session, desk.office, desk.actor, desk.person(who))
    show(found, [], json=True)


@people.command("erase", epilog=example("basanite admin people erase alan@people.example --yes --data season"))
@WHO
@click.option("--yes", is_flag=True, help="Do not ask again.")
@admin_options
def erase(who: str, yes: bool, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Forget the person with the address MAIL for ever, backups included; scores and the log stay as they are."""
    if not yes:
        click.confirm(f"Forget {who} for ever?", abort=True, err=True)
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.privacy.erasing import erase_person

        person = desk.person(who)
        erase_person(desk.session, desk.office, desk.actor, person)
    show({"erased": person}, [f"{person} is forgotten."], json=as_json)
