"""`basanite admin events|export|import`: the record of a season, and how it travels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite.cli.admin.desk import (
    AdminOptions,
    admin_options,
    at_desk,
    campaign_option,
    refusals,
    show,
    table,
    the_campaign,
)
from basanite.cli.office import open_office
from basanite.cli.options import PATH, example

if TYPE_CHECKING:
    from basanite.campaign.receipts import Verdict


@click.command(epilog=example("basanite admin events --verify --data season"))
@click.option("--verify", is_flag=True, help="Verify that no event was changed or removed.")
@click.option("--receipt", "files", type=PATH, multiple=True, help="Check against receipts or heads in this file, too.")
@click.option("--kind", default="", help="Only kinds that begin with this, like `submission`.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many to list, newest first."
)
@admin_options
def events(verify: bool, files: tuple[Path, ...], kind: str, limit: int, admin: AdminOptions) -> None:
    """List the audit log, newest last; it is append-only, and each event holds the hash of the one before.

    With --verify it is checked against every receipt in the database, the heads that the server saved
    beside it, and those that you give, so that truncation or rewriting is detected.
    """
    with at_desk(admin) as desk:
        from sqlalchemy import select

        from basanite.campaign import receipts
        from basanite.campaign.store import events as log
        from basanite.campaign.store.tables import Event

        question = select(Event).where(Event.kind.startswith(kind, autoescape=True)).order_by(Event.sequence.desc())
        found = desk.session.scalars(question.limit(limit)).all()
        head = log.head(desk.session)
        verdict = receipts.Verdict((), *head)
        if verify or files:
            outside = [*receipts.kept_heads(desk.office), *receipts.read_outside(files)]
            verdict = receipts.verify(desk.session, desk.office.vault, outside)
    columns = ["sequence", "at", "actor", "kind", "subject"]
    rows = [{name: getattr(one, name) for name in (*columns, "data")} for one in reversed(found)]
    lines = table(rows, columns, empty="The log is empty.")
    if verify or files:
        lines += _verdict(verdict)
    checked = {name: getattr(verdict, name) for name in ("anchors", "anchored", "unbelieved")}
    checked["broken"] = list(verdict.broken)
    show({"events": rows, "head": {"sequence": head[0], "digest": head[1]}, **checked}, lines, json=admin.as_json)
    if not verdict.holds:
        raise click.exceptions.Exit(1)


def _verdict(found: Verdict) -> Iterator[str]:
    if found.broken:
        numbers = ", ".join(map(str, found.broken))
        yield f"The chain is broken at {numbers}: changed, missing, or not what a receipt says."
    if found.unbelieved:
        yield f"{found.unbelieved} of {found.anchors} receipts and heads are not signed by a key of this server."
    if found.holds:
        yield f"The chain of {found.events} events holds: {found.head}"
        reach = f", which reach to event {found.anchored}" if found.anchors else ": nothing vouches for it"
        yield f"It agrees with {found.anchors} signed receipts and heads{reach}."


@click.command(epilog=example("basanite admin export small.tgz --data season"))
@click.argument("out", type=PATH)
@click.option("--references", is_flag=True, help="With the sealed references.")
@click.option(
    "--submission", default="", help="Only the bundle of this submission, from which its score can be recomputed."
)
@campaign_option
@admin_options
def export(out: Path, references: bool, submission: str, campaign: str, admin: AdminOptions) -> None:
    """Export a campaign to OUT, a new folder or a .tgz, without personal data, accounts or keys.

    With --submission, OUT is a folder with that submission, its reference and settings, for `basanite verify --bundle`.
    """
    if submission:
        _bundle(out, submission, references, admin)
        return
    with at_desk(admin) as desk:
        campaign_id = the_campaign(desk, campaign).row.id
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.archive.campaign_export import export_campaign

        made = export_campaign(office, campaign_id, out, references=references)
    show(asdict(made), [f"{sum(made.rows.values())} rows and {made.files} files are in {out}."], json=admin.as_json)


def _bundle(out: Path, submission: str, references: bool, admin: AdminOptions) -> None:
    with at_desk(admin) as desk:
        from basanite.campaign.archive.campaign_export import write_bundle

        write_bundle(desk.session, desk.office, submission, out, staff=references)
    show({"bundle": str(out), "submission": submission}, [f"The bundle is in {out}."], json=admin.as_json)


@click.command("import", epilog=example("basanite admin import exported.tgz --data elsewhere"))
@click.argument("path", type=PATH)
@admin_options
def import_(path: Path, admin: AdminOptions) -> None:
    """Import a campaign that was exported elsewhere, and list what could not be imported."""
    with at_desk(admin) as desk:
        actor = desk.actor
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.archive.campaign_import import import_campaign

        made = import_campaign(office, actor, path)
    words = [f"{made.slug}: {sum(made.rows.values())} rows and {made.files} files."]
    show(asdict(made), [*words, *(f"Not kept: {one}" for one in made.not_kept)], json=admin.as_json)
