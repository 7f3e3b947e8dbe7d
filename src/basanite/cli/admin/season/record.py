"""`basanite admin events|keys|export|import`: the record of a season, and how it travels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite.cli.admin.desk import (
    admin_options,
    at_desk,
    campaign_option,
    moment,
    reason_option,
    refusals,
    show,
    table,
    the_campaign,
)
from basanite.cli.operating.office import opened
from basanite.cli.options import PATH, example

if TYPE_CHECKING:
    from basanite.campaign.anchors import Verdict


@click.command(epilog=example("basanite admin events --verify --data season"))
@click.option("--verify", is_flag=True, help="Check that no event was changed or taken out.")
@click.option(
    "--receipt", "receipts", type=PATH, multiple=True, help="Check against receipts or heads in this file, too."
)
@click.option("--kind", default="", help="Only kinds that begin so, like `submission`.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="The newest so many.")
@admin_options
def events(
    verify: bool, receipts: tuple[Path, ...], kind: str, limit: int, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """List the log of events, newest last; it is only added to, and each event holds the hash of the one before.

    With --verify it is compared with every receipt in the database, with the heads that the server wrote beside it, and
    with those that you give: a log that was cut off or rewritten as a whole is noticed.
    """
    with at_desk(data, mail, json=as_json) as desk:
        from sqlalchemy import select

        from basanite.campaign import anchors
        from basanite.campaign.store import events as log
        from basanite.campaign.store.tables import Event

        question = select(Event).where(Event.kind.startswith(kind, autoescape=True)).order_by(Event.sequence.desc())
        found = desk.session.scalars(question.limit(limit)).all()
        head = log.head(desk.session)
        verdict = anchors.Verdict((), *head)
        if verify or receipts:
            outside = [*anchors.kept_heads(desk.office), *anchors.read_outside(receipts)]
            verdict = anchors.verify(desk.session, desk.office.vault, outside)
    columns = ["sequence", "at", "actor", "kind", "subject"]
    rows = [{name: getattr(one, name) for name in (*columns, "data")} for one in reversed(found)]
    lines = table(rows, columns, empty="Nothing has happened yet.")
    if verify or receipts:
        lines += _verdict(verdict)
    checked = {name: getattr(verdict, name) for name in ("anchors", "anchored", "unbelieved")}
    checked["broken"] = list(verdict.broken)
    show({"events": rows, "head": {"sequence": head[0], "digest": head[1]}, **checked}, lines, json=as_json)
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


@click.group(epilog=example("basanite admin keys list --data season"))
def keys() -> None:
    """List the keys that sign receipts, rotate and revoke them."""


@keys.command("list", epilog=example("basanite admin keys list --data season"))
@admin_options
def list_keys(data: Path | None, mail: str | None, as_json: bool) -> None:
    """List all keys of receipts, with since when they sign and until when."""
    with at_desk(data, mail, json=as_json) as desk:
        from sqlalchemy import select

        from basanite.campaign.store.tables import ReceiptKey

        found = desk.session.scalars(select(ReceiptKey).order_by(ReceiptKey.start, ReceiptKey.id)).all()
    columns = ["id", "start", "ended", "revoked", "public"]
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    show({"keys": rows}, table(rows, columns, empty="No receipt has been signed yet."), json=as_json)


@keys.command("replace", epilog=example("basanite admin keys replace --data season"))
@admin_options
def replace(data: Path | None, mail: str | None, as_json: bool) -> None:
    """Sign with a new key from now on; the old one signs the hand-over and nothing after it."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.receipting import rotate

        row = rotate(desk.session, desk.office, desk.actor)
    show({"key": row.id, "public": row.public}, [f"{row.id} signs from now on."], json=as_json)


@keys.command(
    "revoke", epilog=example('basanite admin keys revoke newest --reason "the laptop was stolen" --data season')
)
@click.argument("key")
@reason_option
@admin_options
def revoke(key: str, reason: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Say that nothing the KEY (an id, or the newest) signed is to be trusted any more."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.receipting import revoke_key, signing_key

        chosen = signing_key(desk.session, desk.office).id if key == "newest" else key
        row = revoke_key(desk.session, desk.office, desk.actor, chosen, reason)
    show({"key": row.id, "revoked": row.revoked}, [f"{row.id} is revoked since {moment(row.revoked)}."], json=as_json)


@click.command(epilog=example("basanite admin export small.tgz --data season"))
@click.argument("out", type=PATH)
@click.option("--references", is_flag=True, help="With the sealed references.")
@click.option("--submission", default="", help="Only the bundle of this submission: its score can be made again.")
@campaign_option
@admin_options
def export(
    out: Path, references: bool, submission: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Write a whole campaign to OUT, a new folder or a .tgz; without personal data, accounts or keys.

    With --submission OUT is a folder with that run, its reference and settings, for `basanite verify --bundle`.
    """
    if submission:
        _bundle(out, submission, references, data, mail, as_json)
        return
    with at_desk(data, mail, json=as_json) as desk:
        campaign_id = the_campaign(desk, campaign).row.id
    with refusals(json=as_json), opened(data) as office:
        from basanite.campaign.keeping.exporting import export_campaign

        made = export_campaign(office, campaign_id, out, references=references)
    show(asdict(made), [f"{sum(made.rows.values())} rows and {made.files} files are in {out}."], json=as_json)


def _bundle(out: Path, submission: str, references: bool, data: Path | None, mail: str | None, as_json: bool) -> None:
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.keeping.bundle import write_bundle

        write_bundle(desk.session, desk.office, submission, out, staff=references)
    show({"bundle": str(out), "submission": submission}, [f"The bundle is in {out}."], json=as_json)


@click.command("import", epilog=example("basanite admin import exported.tgz --data elsewhere"))
@click.argument("path", type=PATH)
@admin_options
def import_(path: Path, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Read a campaign that was exported elsewhere; what could not be kept is listed."""
    with at_desk(data, mail, json=as_json) as desk:
        actor = desk.actor
    with refusals(json=as_json), opened(data) as office:
        from basanite.campaign.keeping.importing import import_campaign

        made = import_campaign(office, actor, path)
    words = [f"{made.slug}: {sum(made.rows.values())} rows and {made.files} files."]
    show(asdict(made), [*words, *(f"Not kept: {one}" for one in made.not_kept)], json=as_json)
