"""`basanite admin pack`, `agreement` and `resource`: data and the terms on which teams have them.

Files of packs are encrypted early where the plan says so (M89); copies and certificates may come on paper (P-26).
"""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.admin.commands import ActionGroup
from basanite.cli.admin.desk import AdminOptions, admin_options, at_desk, campaign_option, show, table, the_campaign
from basanite.cli.options import PATH, example
from basanite.reports.wording import moment

pack = ActionGroup(
    "packs", "pack", "Add and encrypt files of data packs, and see when keys are released.", "list", "key"
)


@pack.command("add", epilog=example("basanite admin pack add DEV documents.txt --data season"))
@click.argument("name")
@click.argument("files", type=PATH, nargs=-1, required=True)
@campaign_option
@admin_options
def add(name: str, files: tuple[Path, ...], campaign: str, admin: AdminOptions) -> None:
    """Add FILES to the pack NAME; a pack with a key time is encrypted before it is stored."""
    with at_desk(admin) as desk:
        from basanite.campaign.actions.packs import NewFile, add_file, find_pack

        plan = the_campaign(desk, campaign)
        found = find_pack(plan.campaign, name)
        made = [add_file(desk.session, desk.office, desk.actor, plan.row.id, found, NewFile(path)) for path in files]
    columns = ["name", "size", "digest", "encrypted"]
    rows = [{column: getattr(one, column) for column in columns} for one in made]
    show({"pack": name, "files": rows}, table(rows, columns, empty=""), json=admin.as_json)


@pack.command("encrypt", epilog=example("basanite admin pack encrypt EVAL1 queries.txt --data season"))
@click.argument("name")
@click.argument("files", type=PATH, nargs=-1, required=True)
@campaign_option
@admin_options
def encrypt(name: str, files: tuple[Path, ...], campaign: str, admin: AdminOptions) -> None:
    """Add FILES to the pack NAME, encrypted; the plan must set the release time of its key (`key_at`)."""
    with at_desk(admin) as desk:
        from basanite.campaign.actions.packs import NewFile, add_file, find_pack
        from basanite.campaign.model.refusals import refused

        plan = the_campaign(desk, campaign)
        found = find_pack(plan.campaign, name)
        if found.key_at is None:
            fix = "write key_at into the plan, or add it as it is: basanite admin pack add"
            raise refused("M89", f"the plan names no minute for the key of {name}", fix, status=422)
        made = [add_file(desk.session, desk.office, desk.actor, plan.row.id, found, NewFile(path)) for path in files]
    rows = [{"name": one.name, "digest": one.digest, "encrypted": one.encrypted} for one in made]
    words = [f"{len(rows)} files are encrypted; the key comes out at {moment(found.key_at.utc)}."]
    show({"pack": name, "files": rows, "key_at": found.key_at.utc}, words, json=admin.as_json)


HELP = "List, countersign and end agreements, and record certificates of deletion."
TEAM = click.argument("team")
AGREEMENT = click.argument("which", metavar="AGREEMENT")
OF_RESOURCES = "List declared resources; declare, share and withdraw them for a team."
agreement = ActionGroup("teams", "agreement", HELP, "list", "accept", "import", "refuse", "end")
resource = ActionGroup("teams", "resource", OF_RESOURCES, "list", "declare", "share", "withdraw")


@agreement.command("sign", epilog=example("basanite admin agreement sign Beta data signed.pdf --data season"))
@TEAM
@AGREEMENT
@click.argument("copy", type=PATH)
@campaign_option
@admin_options
def sign(team: str, which: str, copy: Path, campaign: str, admin: AdminOptions) -> None:
    """Store the signed COPY of an agreement that arrived on paper or by mail."""
    with at_desk(admin) as desk:
        from basanite.campaign.people import agreements
        from basanite.formats.bounded import read_bounded

        team_id = desk.team(the_campaign(desk, campaign).row.id, team)
        content = read_bounded(copy, agreements.LARGEST_COPY)
        row = agreements.sign(desk.session, desk.office, desk.actor, team_id, which, copy=content)
    show({"signature": row.id, "state": row.state}, [f"{which} of {team}: {row.state}."], json=admin.as_json)


@agreement.command("certify", epilog=example("basanite admin agreement certify Beta speech --data season"))
@TEAM
@AGREEMENT
@click.option("--copy", type=PATH, help="The signed certificate.")
@campaign_option
@admin_options
def certify(team: str, which: str, copy: Path | None, campaign: str, admin: AdminOptions) -> None:
    """Record a TEAM's certificate that the data of an AGREEMENT are deleted."""
    with at_desk(admin) as desk:
        from basanite.campaign.actions.teams import signature_of
        from basanite.campaign.people.agreements import LARGEST_COPY, certify_deletion
        from basanite.formats.bounded import read_bounded

        content = b"" if copy is None else read_bounded(copy, LARGEST_COPY)
        found = signature_of(desk.at(campaign), team, which)
        row = certify_deletion(desk.session, desk.office, desk.actor, found, copy=content)
    certified = {"signature": row.id, "certified": row.deletion_certified}
    show(certified, [f"{team} certified the deletion."], json=admin.as_json)
