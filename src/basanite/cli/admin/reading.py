"""`basanite admin reading`: reading packages in a campaign, formal tasks, and versions of the gold."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    AdminOptions,
    admin_options,
    at_desk,
    campaign_option,
    reason_option,
    refusals,
    show,
    table,
    the_campaign,
)
from basanite.cli.admin.reading_people import COMMANDS
from basanite.cli.office import open_office
from basanite.cli.options import PATH, example, say
from basanite.formats.datasets.pack_names import joined_packs

if TYPE_CHECKING:
    from basanite.campaign.store.tables import ReadingGold
    from basanite.cli.admin.desk import Desk


@click.group(epilog=example("basanite admin reading list --data season"))
def reading() -> None:
    """Add reading packages, create formal tasks, answer, adjudicate, and extend the gold."""


for command in COMMANDS:
    reading.add_command(command)


@reading.command("add", epilog=example("basanite admin reading add nfl --window dev --data season"))
@click.argument("package", type=PATH)
@click.option("--window", default="", help="The window for formal tasks; without it, the package is for practice only.")
@campaign_option
@admin_options
def add(package: Path, window: str, campaign: str, admin: AdminOptions) -> None:
    """Add the PACKAGE in a folder or .tgz; it is checked and stored sealed, and teams see it without its sealed
    parts."""
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.work.reading import packages

        prepared = packages.prepare(office, package)
    with at_desk(admin) as desk:
        plan = the_campaign(desk, campaign)
        row = packages.add(desk.session, desk.office, desk.actor, plan.row.id, prepared, window=window)
    parts = ", ".join(f"{part['name']}{' (sealed)' if part['sealed'] else ''}" for part in row.parts)
    shown = {"package": row.id, "name": row.name, "version": row.version, "parts": row.parts, "window": row.window}
    show(shown, [f"{row.name} {row.version} is in the campaign. Parts: {parts}."], json=admin.as_json)


@reading.command("list", epilog=example("basanite admin reading list --data season"))
@campaign_option
@admin_options
def list_packages(campaign: str, admin: AdminOptions) -> None:
    """List the packages in use, with pending adjudications and the active version of the gold."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import adjudication, golds, packages

        rows = []
        for one in packages.packages(desk.session, the_campaign(desk, campaign).row.id):
            state, held = (
                adjudication.progress(desk.session, desk.office, one),
                golds.newest(desk.session, desk.office, one),
            )
            rows.append(
                {
                    "package": one.id,
                    "name": one.name,
                    "version": one.version,
                    "window": one.window,
                    "waiting": len(state.waiting),
                    "decided": state.decided,
                    "gold": held.name if held else "",
                }
            )
    columns = ["name", "version", "window", "waiting", "decided", "gold"]
    show({"packages": rows}, table(rows, columns, empty="There is no reading package yet."), json=admin.as_json)


@reading.command("withdraw", epilog=example("basanite admin reading withdraw nfl-scoring --data season"))
@click.argument("name")
@campaign_option
@admin_options
def withdraw(name: str, campaign: str, admin: AdminOptions) -> None:
    """Withdraw the package NAME; tasks, answers and scores stay."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import packages

        who = (desk.session, desk.office, desk.actor, the_campaign(desk, campaign).row.id)
        row = packages.withdraw(*who, name)
    show({"package": row.id, "state": row.state}, [f"{row.name} {row.version} is withdrawn."], json=admin.as_json)


@reading.command("task", epilog=example("basanite admin reading task nfl-scoring --part test --data season"))
@click.argument("name")
@click.option("--part", default="test", show_default=True, help="The part whose documents it holds.")
@click.option("--types", default="", help="Only queries of these types, separated by commas.")
@click.option("--class", "classes", multiple=True, help="Only queries about this class. Can be repeated.")
@click.option("--sample", type=click.IntRange(1), help="A random sample of this many queries.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--phase", default="", help="Only queries of this phase.")
@campaign_option
@admin_options
def task(name: str, campaign: str, admin: AdminOptions, **chosen: Any) -> None:
    """Create a formal task from the package NAME; teams fetch it by id once the window is open."""
    with at_desk(admin) as desk:
        plan, actor = the_campaign(desk, campaign), desk.actor
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.model.policy import Viewer
        from basanite.campaign.work.reading import tasks

        types = tuple(word.strip() for word in chosen["types"].split(",") if word.strip())
        wanted = tasks.Wanted(
            chosen["part"], "formal", types, chosen["classes"], chosen["sample"], chosen["seed"], chosen["phase"]
        )
        organiser = Viewer(actor.id, frozenset({"evaluation"}), campaign=plan.row.id)
        row = tasks.make(office, actor, organiser, plan.row.id, name, wanted)
    shown = {"task": row.id, "part": row.part, "queries": row.queries, "documents": row.documents}
    words = f"Task {row.id}: {row.documents} documents, {len(row.queries)} queries."
    show(shown, [words], json=admin.as_json)


@reading.command("human", epilog=example("basanite admin reading human nfl-scoring --data season"))
@click.argument("name")
@click.option(
    "--out", type=PATH, help="Write the answers there, one JSON object per line, as `score --human` reads them."
)
@campaign_option
@admin_options
def human(name: str, out: Path | None, campaign: str, admin: AdminOptions) -> None:
    """Export people's answers about the package NAME: the human baseline."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import packages, people

        package = packages.find(desk.session, the_campaign(desk, campaign).row.id, name)
        found = people.human_records(desk.session, package.id)
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)
    if out is not None:
        out.write_text(lines, encoding="utf-8")
        say(f"{len(found)} answers written to {out}")
    elif not admin.as_json:
        sys.stdout.write(lines)
    show({"answers": found}, [], json=admin.as_json)


@reading.command(
    "propose", epilog=example('basanite admin reading propose nfl-scoring --reason "round one" --data season')
)
@click.argument("name")
@reason_option
@campaign_option
@admin_options
def propose(name: str, reason: str, campaign: str, admin: AdminOptions) -> None:
    """Propose the next gold of the package NAME from all decisions, and show what it would change."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import golds, packages, scoring

        plan = the_campaign(desk, campaign)
        package = packages.find(desk.session, plan.row.id, name)
        row = golds.propose(desk.session, desk.office, desk.actor, plan.row.id, package.id, reason=reason)
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        scoring.score_due(office, package.id)
        with office.reading() as session:
            rows = [_change_of_answer(one) for one in scoring.changes(session, office, row)]
    words = [f"v{row.number} is proposed, with {row.added} accepted answers more."]
    lines = table(rows, ["system", "before", "after", "own_out"], empty="Formal runs are not affected.")
    show(_gold(row) | {"runs": rows}, [*words, *lines], json=admin.as_json)


def _change_of_answer(one: Any) -> dict[str, Any]:
    before, after = ((found or {}).get("values", {}).get("f", {}) for found in (one.before, one.after))
    parts = after.get("parts", {})
    return {
        "run": one.run.id,
        "system": one.run.label,
        "before": before.get("value"),
        "after": after.get("value"),
        "own_out": parts.get("without_own_gold"),
        "unadjudicated": parts.get("unadjudicated_share"),
    }


@reading.command("apply", epilog=example("basanite admin reading apply nfl-later --data season"))
@click.argument("name")
@campaign_option
@admin_options
def apply(name: str, campaign: str, admin: AdminOptions) -> None:
    """Activate the proposed gold of the package NAME."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import golds

        row = golds.apply(*_who(desk, campaign), _proposed_gold(desk, campaign, name))
    show(_gold(row), [f"v{row.number} holds."], json=admin.as_json)


@reading.command("cancel", epilog=example("basanite admin reading cancel nfl-later --data season"))
@click.argument("name")
@campaign_option
@admin_options
def cancel(name: str, campaign: str, admin: AdminOptions) -> None:
    """Reject the proposed gold of the package NAME; decisions stay."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import golds

        row = golds.cancel(*_who(desk, campaign), _proposed_gold(desk, campaign, name))
    show(_gold(row), [f"v{row.number} is canceled."], json=admin.as_json)


@reading.command(
    "reference",
    epilog=example('basanite admin reading reference nfl-scoring --dataset DEV --reason "round one" --data season'),
)
@click.argument("name")
@click.option(
    "--dataset",
    type=joined_packs,
    metavar="TEXT",
    default="",
    help="The data packs, joined by +. [default: those of the package's window]",
)
@click.option("--language", default="", help="The language. [default: the only one of the window]")
@reason_option
@campaign_option
@admin_options
def reference(name: str, reason: str, campaign: str, admin: AdminOptions, **place: str) -> None:
    """Make the active gold of the package NAME the reference of submissions: checked, sealed and previewed."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.reading import golds as referring
        from basanite.campaign.work.reading import packages

        plan, actor = the_campaign(desk, campaign), desk.actor
        package = packages.find(desk.session, plan.row.id, name)
        chosen = referring.place_of(plan.campaign, package, **place)
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        made = referring.make_reference(office, actor, plan.row.id, package.id, chosen, reason=reason)
    row, batch = made.reference, made.batch
    shown = {"reference": row.id, "version": row.version, "state": row.state, "gold": made.gold}
    words = [f"Version {row.version} of the reference is {row.state}; it holds gold {made.gold}."]
    if batch is not None:
        words.append(f"What it would change: basanite admin rescore show {batch.id}")
    show(shown | {"batch": batch.id if batch else None}, words, json=admin.as_json)


def _proposed_gold(desk: Desk, campaign: str, name: str) -> str:
    from basanite.campaign.model.refusals import refused
    from basanite.campaign.work.reading import golds, packages

    package = packages.find(desk.session, the_campaign(desk, campaign).row.id, name)
    for one in golds.versions(desk.session, desk.office, package):
        if one.state == "proposed":
            return one.id
    raise refused("R-17", "no gold of this package is proposed", "propose one: basanite admin reading propose NAME")


def _who(desk: Desk, campaign: str) -> tuple[Any, Any, Any, str]:
    return desk.session, desk.office, desk.actor, the_campaign(desk, campaign).row.id


def _gold(row: ReadingGold) -> dict[str, Any]:
    return {"gold": row.id, "version": f"v{row.number}", "state": row.state, "added": row.added}
