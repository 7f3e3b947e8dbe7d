"""`basanite admin token`: a token for a person's programs, made at the machine itself (X-11)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from basanite.cli.admin.desk import admin_options, at_desk, show
from basanite.cli.options import example


@click.command(epilog=example("basanite admin token ada@people.example --label laptop --data season"))
@click.argument("who", metavar="MAIL")
@click.option("--label", required=True, help="What it is for.")
@click.option("--scope", "scopes", multiple=True, default=("read", "submit", "download"), show_default=True)
@click.option("--days", type=click.IntRange(1, 366), default=90, show_default=True, help="How long it works.")
@admin_options
def token(
    who: str, label: str, scopes: tuple[str, ...], days: int, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Make a token for the programs of the person with the address MAIL; it is printed this once.

    It can do what the person may do and the scopes name: read, submit, download, organise.
    """
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.server.tokens import make_token

        lasts, person = timedelta(days=days), desk.person(who)
        made = make_token(
            desk.session, desk.office, desk.actor, person_id=person, label=label, scopes=scopes, lasts=lasts
        )
    show({"token": made.text, "expires": made.expires.isoformat()}, [made.text], json=as_json)
