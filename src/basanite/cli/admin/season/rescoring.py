"""`basanite admin rescore`: a re-scoring is computed and looked at before it is applied or cancelled."""

from __future__ import annotations

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
from basanite.cli.options import example

if TYPE_CHECKING:
    from basanite.campaign.store.tables import Batch

NEWEST = "newest"
BATCH = click.argument("batch", default=NEWEST)


@click.group(epilog=example("basanite admin rescore show --data season"))
def rescore() -> None:
    """Preview a re-scoring, then apply or cancel it."""


@rescore.command("preview", epilog=example('basanite admin rescore preview --reason "wrong labels" --data season'))
@click.argument("reference", default=NEWEST)
@reason_option
@campaign_option
@admin_options
def preview(reference: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Score every submission of the place of REFERENCE (an id, or the newest) against it; nothing changes yet."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import rescoring

        chosen = _reference(desk, the_campaign(desk, campaign).row.id, reference)
        batch = rescoring.preview(desk.session, desk.office, desk.actor, chosen, reason=reason)
        count = len(rescoring.items(desk.session, batch))
    words = f"{count} submissions are scored again. Look at it with: basanite admin rescore show"
    show({"batch": batch.id, "state": batch.state, "submissions": count}, [words], json=as_json)


@rescore.command("show", epilog=example("basanite admin rescore show --data season"))
@BATCH
@campaign_option
@admin_options
def show_batch(batch: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Show what a re-scoring (an id, or the newest) would change: values before and after, and ranks."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import moves, rescoring

        row = _batch(desk, campaign, batch)
        rescoring.settle(desk.session, row)
        found = moves.moves(desk.session, row)
    rows = [
        {
            "run": f"{one.team}/{one.number}",
            "window": one.window,
            "state": one.state,
            "before": one.before,
            "after": one.after,
            "rank": f"{one.rank_before or '-'} -> {one.rank_after or '-'}",
        }
        for one in found
    ]
    head = f"Re-scoring {row.id} is {row.state}: {row.reason}"
    lines = table(rows, ["run", "window", "state", "before", "after", "rank"], empty="No submission is touched.")
    show({"batch": row.id, "state": row.state, "reason": row.reason, "runs": rows}, [head, *lines], json=as_json)


@rescore.command("apply", epilog=example("basanite admin rescore apply --data season"))
@BATCH
@campaign_option
@admin_options
def apply(batch: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Let a re-scoring (an id, or the newest) hold; where the campaign says so, a second person must agree."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import approvals, rescoring, seconding
        from basanite.campaign.store.tables import Reference

        row = _batch(desk, campaign, batch)
        new = desk.session.get_one(Reference, row.reference_id).state == "proposed"
        if new and approvals.needs_two(desk.plan(row.campaign_id).campaign, "reference"):
            waits = seconding.ask_to_apply(desk.session, desk.office, desk.actor, row.id)
            shown = {"batch": row.id, "state": row.state, "waits": waits.id}
            words = "This takes a second person: basanite admin approvals agree newest"
        else:
            row = rescoring.apply(desk.session, desk.office, desk.actor, row.id)
            shown, words = {"batch": row.id, "state": row.state}, "Applied: the new results hold."
    show(shown, [words], json=as_json)


@rescore.command("cancel", epilog=example("basanite admin rescore cancel --data season"))
@BATCH
@campaign_option
@admin_options
def cancel(batch: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Leave everything as it is, and refuse the version that was proposed."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import rescoring

        row = rescoring.cancel(desk.session, desk.office, desk.actor, _batch(desk, campaign, batch).id)
    show({"batch": row.id, "state": row.state}, ["Cancelled: nothing has changed."], json=as_json)


@rescore.command("renew", epilog=example("basanite admin rescore renew --data season"))
@BATCH
@campaign_option
@admin_options
def renew(batch: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Take in the submissions that were scored since the re-scoring began."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import rescoring

        row = rescoring.renew(desk.session, desk.office, desk.actor, _batch(desk, campaign, batch).id)
    show({"batch": row.id, "state": row.state}, [f"Re-scoring {row.id} is {row.state}."], json=as_json)


def _batch(desk: Desk, campaign: str, batch: str) -> Batch:
    from basanite.campaign.organising import rescoring

    if batch != NEWEST:
        return rescoring.find(desk.session, batch)
    return rescoring.find(
        desk.session, newest(rescoring.batches(desk.session, the_campaign(desk, campaign).row.id), "re-scoring")
    )


def _reference(desk: Desk, campaign_id: str, reference: str) -> str:
    from basanite.campaign.organising import references

    if reference != NEWEST:
        return reference
    found = sorted(references.versions(desk.session, campaign_id), key=lambda one: one.made)
    return newest(found, "reference")


def newest(rows: Any, what: str) -> str:
    """The id of the last of some rows; refused if there is none."""
    from basanite.campaign.model.refusals import missing

    if not rows:
        raise missing(what)
    return str(rows[-1].id)
