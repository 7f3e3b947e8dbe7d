"""`basanite admin announce|webhook`: saying something to people, and to other services."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.admin.desk import admin_options, at_desk, campaign_option, show, table, the_campaign
from basanite.cli.options import example


@click.command(epilog=example('basanite admin announce "New data" "The pack EVAL1 is out." --data season'))
@click.argument("title")
@click.argument("text")
@click.option("--audience", default="everybody", show_default=True, help="Whom it is for: everybody, or a role.")
@click.option("--no-mail", is_flag=True, help="Show it on the pages only.")
@campaign_option
@admin_options
def announce(
    title: str,
    text: str,
    audience: str,
    no_mail: bool,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """Say TEXT to everybody or to a role, on the pages and by mail."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.saying import announcements

        campaign_id = the_campaign(desk, campaign).row.id
        who, mailed = (desk.session, desk.office, desk.actor, campaign_id), not no_mail
        row = announcements.announce(*who, title=title, text=text, audience=audience, by_mail=mailed)
    show({"announcement": row.id, "audience": audience}, [f"Said to {audience}: {title}"], json=as_json)


@click.group(epilog=example("basanite admin webhook list --data season"))
def webhook() -> None:
    """Have another service called when something happens."""


@webhook.command(
    "add",
    epilog=example("basanite admin webhook add https://hooks.example.org/x --kind results_released --data season"),
)
@click.argument("url")
@click.option("--kind", "kinds", multiple=True, required=True, help="What to call for. Repeat it.")
@campaign_option
@admin_options
def add(url: str, kinds: tuple[str, ...], campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Call URL (https only) when something of a kind happens; the secret that signs calls is shown once."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.saying import webhooks

        campaign_id = the_campaign(desk, campaign).row.id
        made = webhooks.add_webhook(desk.session, desk.office, desk.actor, campaign_id, url=url, kinds=kinds)
    show({"webhook": made.id, "secret": made.secret}, [f"Webhook {made.id}. Its secret: {made.secret}"], json=as_json)


@webhook.command("list", epilog=example("basanite admin webhook list --data season"))
@campaign_option
@admin_options
def list_webhooks(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List what is called, and for what."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.saying import webhooks

        found = webhooks.webhooks(desk.session, desk.actor, the_campaign(desk, campaign).row.id)
    columns = ["id", "url", "kinds", "made", "ended"]
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    show({"webhooks": rows}, table(rows, columns, empty="Nothing is called."), json=as_json)


@webhook.command("end", epilog=example("basanite admin webhook end https://example.org/hook --data season"))
@click.argument("which", metavar="URL")
@campaign_option
@admin_options
def end(which: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Call URL (or the webhook of this id) no more; its secret is destroyed."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.refusals import missing
        from basanite.campaign.people.saying import webhooks

        listed = webhooks.webhooks(desk.session, desk.actor, the_campaign(desk, campaign).row.id)
        found = [one.id for one in listed if which in (one.id, one.url) and one.ended is None]
        if not found:
            raise missing("webhook")
        for one in found:
            webhooks.end_webhook(desk.session, desk.office, desk.actor, one)
    show({"ended": found}, [f"{which} is called no more."], json=as_json)
