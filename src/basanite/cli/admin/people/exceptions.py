"""`basanite admin exception`: people who may judge and take part, by the word of two organisers (X-4)."""

from __future__ import annotations

from pathlib import Path

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
from basanite.cli.options import example


@click.group(epilog=example("basanite admin exception list --data season"))
def exception() -> None:
    """Let a person judge and take part, by the word of two organisers."""


@exception.command("list", epilog=example("basanite admin exception list --data season"))
@campaign_option
@admin_options
def list_exceptions(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List exceptions to the separation of duty, those that wait included."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.exceptions import exceptions

        found = exceptions(desk.session, the_campaign(desk, campaign).row.id)
    columns = ["id", "person_id", "reason", "asked", "asked_by", "seconded", "seconded_by", "ended"]
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    show({"exceptions": rows}, table(rows, columns, empty="There are none."), json=as_json)


@exception.command(
    "ask", epilog=example('basanite admin exception ask ada@people.example --reason "the only expert" --data season')
)
@click.argument("who", metavar="MAIL")
@reason_option
@campaign_option
@admin_options
def ask(who: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Ask that the person with the address MAIL may judge and take part; another organiser must agree."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.exceptions import ask_exception

        campaign_id = the_campaign(desk, campaign).row.id
        row = ask_exception(desk.session, desk.office, desk.actor, campaign_id, desk.person(who), reason=reason)
    show({"exception": row.id}, ["Another organiser must agree: basanite admin exception agree"], json=as_json)


@exception.command("agree", epilog=example("basanite admin exception agree --as otto@people.example --data season"))
@click.argument("which", metavar="EXCEPTION", default=NEWEST)
@campaign_option
@admin_options
def agree(which: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Be the second organiser for an exception (an id, or the newest). Say who you are with --as."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.exceptions import second_exception

        row = second_exception(desk.session, desk.office, desk.actor, _find(desk, campaign, which))
    show({"exception": row.id, "seconded": row.seconded}, ["The exception holds."], json=as_json)


@exception.command("end", epilog=example("basanite admin exception end --data season"))
@click.argument("which", metavar="EXCEPTION", default=NEWEST)
@campaign_option
@admin_options
def end(which: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """End an exception, or refuse one that waits (an id, or the newest)."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.exceptions import end_exception

        row = end_exception(desk.session, desk.office, desk.actor, _find(desk, campaign, which))
    show({"exception": row.id, "ended": row.ended}, ["The exception is over."], json=as_json)


def _find(desk: Desk, campaign: str, which: str) -> str:
    from basanite.campaign.people.exceptions import exceptions

    if which != NEWEST:
        return which
    found = exceptions(desk.session, the_campaign(desk, campaign).row.id)
    return newest([one for one in found if one.ended is None], "exception")


__all__ = ["exception"]
