"""`basanite admin pack`: the files of data packs, encrypted early where the plan says so (M89)."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.admin.desk import admin_options, at_desk, campaign_option, moment, show, table, the_campaign
from basanite.cli.options import PATH, example


@click.group(epilog=example("basanite admin pack list --data season"))
def pack() -> None:
    """Add files of a data pack, encrypt them, see when keys come out."""


@pack.command("add", epilog=example("basanite admin pack add DEV documents.txt --data season"))
@click.argument("name")
@click.argument("files", type=PATH, nargs=-1, required=True)
@campaign_option
@admin_options
def add(name: str, files: tuple[Path, ...], campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Put FILES into the pack NAME; one with a key time is encrypted before it lies anywhere."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.packs.files import add_file, find_pack

        plan = the_campaign(desk, campaign)
        found = find_pack(plan.campaign, name)
        made = [add_file(desk.session, desk.office, desk.actor, plan.row.id, found, path) for path in files]
    columns = ["name", "size", "digest", "encrypted"]
    rows = [{column: getattr(one, column) for column in columns} for one in made]
    show({"pack": name, "files": rows}, table(rows, columns, empty=""), json=as_json)


@pack.command("list", epilog=example("basanite admin pack list --data season"))
@campaign_option
@admin_options
def list_packs(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List the packs of the plan with their files and key times."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.packs.files import list_files

        plan = the_campaign(desk, campaign)
        files = list_files(desk.session, plan.row.id, plan.campaign)
    rows = [
        {
            "pack": one.id,
            "released": one.released.utc,
            "key_at": None if one.key_at is None else one.key_at.utc,
            "files": [file.name for file in files if file.pack == one.id],
        }
        for one in plan.campaign.packs
    ]
    show({"packs": rows}, table(rows, ["pack", "released", "key_at", "files"], empty="No packs."), json=as_json)


@pack.command("encrypt", epilog=example("basanite admin pack encrypt EVAL1 queries.txt --data season"))
@click.argument("name")
@click.argument("files", type=PATH, nargs=-1, required=True)
@campaign_option
@admin_options
def encrypt(
    name: str, files: tuple[Path, ...], campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Put FILES into the pack NAME, encrypted; refused if the plan names no minute for its key (`key_at`)."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.refusals import refused
        from basanite.campaign.packs.files import add_file, find_pack

        plan = the_campaign(desk, campaign)
        found = find_pack(plan.campaign, name)
        if found.key_at is None:
            fix = "write key_at into the plan, or add it as it is: basanite admin pack add"
            raise refused("M89", f"the plan names no minute for the key of {name}", fix, status=422)
        made = [add_file(desk.session, desk.office, desk.actor, plan.row.id, found, path) for path in files]
    rows = [{"name": one.name, "digest": one.digest, "encrypted": one.encrypted} for one in made]
    words = [f"{len(rows)} files are encrypted; the key comes out at {moment(found.key_at.utc)}."]
    show({"pack": name, "files": rows, "key_at": found.key_at.utc}, words, json=as_json)


@pack.command("key", epilog=example("basanite admin pack key EVAL1 --data season"))
@click.argument("name")
@campaign_option
@admin_options
def key(name: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Print the key of the pack NAME; refused before its minute, whoever asks."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.packs.files import find_pack
        from basanite.campaign.packs.keys import published_key

        plan = the_campaign(desk, campaign)
        found = published_key(desk.session, desk.office, plan.row.id, find_pack(plan.campaign, name))
    show({"pack": name, "key": found.key, "since": found.since}, [found.key], json=as_json)
