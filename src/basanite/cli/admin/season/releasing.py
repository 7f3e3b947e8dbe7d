"""`basanite admin release|appeal|board`: letting results out, hearing appeals, and looking at boards."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from basanite.cli.admin.desk import (
    admin_options,
    at_desk,
    campaign_option,
    reason_option,
    show,
    table,
    the_campaign,
)
from basanite.cli.options import example

LEVELS = ("certification", "top", "details", "e2e", "public")


@click.command(epilog=example("basanite admin release week certification --check --data season"))
@click.argument("window")
@click.argument("level", type=click.Choice(LEVELS))
@click.option("--check", is_flag=True, help="Only tell what stands in the way, and what would be left out.")
@reason_option
@campaign_option
@admin_options
def release(
    window: str, level: str, check: bool, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Release a LEVEL of the results of WINDOW: for certification, top values, details, E2E, or to the public.

    Each is an act of its own. Open appeals and runs that are held back are listed. Where the campaign says so, a
    second person must agree.
    """
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import releasing
        from basanite.campaign.store.tables import Approval

        campaign_id = the_campaign(desk, campaign).row.id
        args = (campaign_id, window, level)
        ready = releasing.readiness(desk.session, desk.office, *args)
        made = None if check else releasing.ask(desk.session, desk.office, desk.actor, *args, reason=reason)
        waits = isinstance(made, Approval)
    shown = {
        "window": window,
        "level": level,
        "released": made is not None and not waits,
        "waits": made.id if made is not None and waits else None,
        "obstacles": [one.as_dict() for one in ready.obstacles],
        "open_appeals": list(ready.open_appeals),
        "held": list(ready.held),
        "no_primary": list(ready.no_primary),
        "unconfirmed": list(ready.unconfirmed),
    }
    words = [f"Still in the way: {one.message}. To do: {one.fix}" for one in ready.obstacles]
    words += [f"Open appeals: {', '.join(map(str, ready.open_appeals)) or 'none'}. Runs held back: {len(ready.held)}."]
    words += [] if made is None else ["Waits for a second person." if waits else f"Released: {window}, {level}."]
    show(shown, words, json=as_json)


@click.group(epilog=example("basanite admin appeal list --data season"))
def appeal() -> None:
    """List appeals, and decide one with a reason."""


@appeal.command("list", epilog=example("basanite admin appeal list --data season"))
@campaign_option
@admin_options
def list_appeals(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List all appeals by number, with deadline and decision."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import appeals
        from basanite.campaign.store.tables import Team

        found = appeals.appeals(desk.session, the_campaign(desk, campaign).row.id)
        rows = [
            {
                "number": one.number,
                "team": desk.session.get_one(Team, one.team_id).name,
                "window": one.window,
                "state": one.state,
                "deadline": one.deadline,
                "text": one.text,
                "decision": one.decision,
            }
            for one in found
        ]
    columns = ["number", "team", "window", "state", "deadline", "text", "decision"]
    show({"appeals": rows}, table(rows, columns, empty="Nobody has appealed."), json=as_json)


@appeal.command(
    "decide", epilog=example('basanite admin appeal decide 1 --uphold --reason "it is wrong" --data season')
)
@click.argument("number", type=int)
@click.option("--uphold/--refuse", "upheld", required=True, help="Whether the team is right.")
@click.option("--reference", help="The version of the truth that is to hold instead (an id).")
@reason_option
@campaign_option
@admin_options
def decide(
    number: int,
    upheld: bool,
    reference: str | None,
    reason: str,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """Decide the appeal of a NUMBER; one that is upheld begins a re-scoring that is previewed like any other."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import appeals

        row = appeals.by_number(desk.session, the_campaign(desk, campaign).row.id, number)
        who = (desk.session, desk.office, desk.actor, row.id)
        batch = appeals.decide(*who, upheld=upheld, reason=reason, reference_id=reference)
    words = [f"Appeal {number} is {row.state}."]
    words += [] if batch is None else ["Look at the re-scoring with: basanite admin rescore show"]
    show({"number": number, "state": row.state, "batch": None if batch is None else batch.id}, words, json=as_json)


@click.command(epilog=example("basanite admin board week CLIR --language 1A --data season"))
@click.argument("window")
@click.argument("task")
@click.option("--language", default="", help="The language.")
@click.option("--track", default="", help="The track.")
@click.option("--public", is_flag=True, help="As a visitor would see it.")
@campaign_option
@admin_options
def board(
    window: str,
    task: str,
    language: str,
    track: str,
    public: bool,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """Show the board of a TASK in a WINDOW: groups, rank ranges, intervals, and who is left out and why."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.viewer import VISITOR, Viewer
        from basanite.campaign.results import boards, comparisons, seeing

        plan = the_campaign(desk, campaign)
        who = VISITOR if public else Viewer(roles=frozenset({"evaluation"}))
        subject = boards.Subject(window, task, language, track)
        comparisons.ask(desk.session, desk.office, boards.order_for(desk.session, plan, subject))
        seen = seeing.board(desk.session, desk.office, who, plan.row.id, window, task, language=language, track=track)
    rows = [
        asdict(one) | {"ranks": "-" if one.ranks is None else f"{one.ranks[0]}-{one.ranks[1]}"} for one in seen.rows
    ]
    lines = table(rows, ["ranks", "group", "name", "value", "low", "high", "looks", "note"], empty="Nothing to show.")
    lines += [f"Left out: {count} {reason}" for reason, count in seen.left_out.items()]
    lines += [*seen.notes, *(["Groups are being computed: look again."] if seen.pending else [])]
    show(asdict(seen), lines, json=as_json)


@click.command(epilog=example("basanite admin compare --data season"))
@campaign_option
@admin_options
def compare(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Ask again for comparisons that failed: boards and ladders wait for them. The next day does it by itself."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import due

        asked = due.compare_again(desk.session, desk.office, desk.actor, the_campaign(desk, campaign).row.id)
    words = f"{asked} asked for: a worker computes them." if asked else "No board waits for a comparison."
    show({"asked": asked}, [words], json=as_json)


__all__ = ["appeal", "board", "compare", "release"]
