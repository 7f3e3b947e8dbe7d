"""`basanite admin panel`: panels of judges from their scheme to their figures; what comes of them is next door."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    AdminOptions,
    admin_options,
    at_desk,
    campaign_option,
    reason_option,
    show,
    table,
    the_campaign,
)
from basanite.cli.admin.panel_results import PANEL, adjudicate, batch, files, pay, reference, the_panel
from basanite.cli.options import PATH, example

if TYPE_CHECKING:
    from basanite.campaign.work.panels.monitor import Agreement, Progress
    from basanite.metrics.judgement.estimate import Estimate


POOL_FIGURES = ("runs", "queries", "pooled", "waiting")


@click.group(epilog=example("basanite admin panel list --data season"))
def panel() -> None:
    """Manage judging: schemes, items, judges, progress, adjudication, pay, results."""


for command in (adjudicate, pay, batch, files, reference):
    panel.add_command(command)


@panel.command("create", epilog=example("basanite admin panel create schemes/binary.toml --name more --data season"))
@click.argument("scheme", type=PATH)
@click.option("--name", required=True, help="A short name: lowercase letters, digits and hyphens.")
@click.option("--window", default="", help="The window whose submissions are judged.")
@campaign_option
@admin_options
def create(scheme: Path, name: str, window: str, campaign: str, admin: AdminOptions) -> None:
    """Create a panel that judges by the SCHEME in a file, after checking the file."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import setup
        from basanite.formats.bounded import read_bounded

        text = read_bounded(scheme, setup.LARGEST_SCHEME).decode("utf-8", "replace")
        who = (desk.session, desk.office, desk.actor, the_campaign(desk, campaign).row.id)
        row = setup.create(*who, setup.NewPanel(text, name, window))
    show(
        {"panel": row.id, "name": row.name, "state": row.state},
        [f"The panel {row.name} is created."],
        json=admin.as_json,
    )


@panel.command(
    "change", epilog=example('basanite admin panel change key schemes/key-query.toml --reason "clearer" --data season')
)
@PANEL
@click.argument("scheme", type=PATH)
@reason_option
@campaign_option
@admin_options
def change(which: str, scheme: Path, reason: str, campaign: str, admin: AdminOptions) -> None:
    """Change the SCHEME of a panel; once the panel is open, this is a deviation from the plan and needs a reason."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import setup
        from basanite.formats.bounded import read_bounded

        row = the_panel(desk, campaign, which)
        text = read_bounded(scheme, setup.LARGEST_SCHEME).decode("utf-8", "replace")
        row = setup.change_scheme(desk.session, desk.office, desk.actor, row.id, text, reason=reason)
    words = f"The scheme is version {row.scheme_version}."
    show({"panel": row.id, "scheme_version": row.scheme_version}, [words], json=admin.as_json)


@panel.command("items", epilog=example("basanite admin panel items new passages.csv --data season"))
@PANEL
@click.argument("items", type=PATH)
@click.option(
    "--role",
    type=click.Choice(["real", "check", "training"]),
    default="real",
    show_default=True,
    help="Real items, hidden checks, or training.",
)
@campaign_option
@admin_options
def items(which: str, items: Path, role: str, campaign: str, admin: AdminOptions) -> None:
    """Add the ITEMS of a table (CSV or JSONL) to a panel; columns named like blocks are shown, all others are kept."""
    with at_desk(admin) as desk:
        from basanite.campaign.model.refusals import RefusedError
        from basanite.campaign.store.tables.base import random_id
        from basanite.campaign.work.panels import setup
        from basanite.campaign.work.panels.lookup import scheme_of
        from basanite.work.item_files import read_items

        row = the_panel(desk, campaign, which)
        found, findings = read_items(items, scheme_of(row), role=role, new_id=random_id)  # type: ignore[arg-type]
        if not findings.valid:
            raise RefusedError(findings.problems, status=422)
        added = setup.add_items(desk.session, desk.office, desk.actor, row.id, found)
    told = [f"{added.new} new items; {added.merged} are identical to others and judged with them."]
    show({"panel": row.id, "new": added.new, "merged": added.merged}, told, json=admin.as_json)


@panel.command("controls", epilog=example("basanite admin panel controls ease --count 1 --data season"))
@PANEL
@click.option("--count", type=click.IntRange(1), required=True, help="How many to add.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed for choosing items and words.")
@campaign_option
@admin_options
def controls(which: str, count: int, seed: int, campaign: str, admin: AdminOptions) -> None:
    """Add hidden checks to a panel: degraded copies of items, which a careful judge scores lower."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import setup

        row = the_panel(desk, campaign, which)
        added = setup.add_controls(desk.session, desk.office, desk.actor, row.id, count, seed=seed)
    words = f"Hidden checks added: {added.new}" + (f" (of {count})." if added.new < count else ".")
    show({"panel": row.id, "new": added.new}, [words], json=admin.as_json)


@panel.command(
    "summaries",
    epilog=example("basanite admin panel summaries sums --queries query_list.tsv --window dev --data season"),
)
@PANEL
@click.option("--queries", type=PATH, required=True, help="The list of the query pack: what judges read.")
@click.option("--window", default="", help="The window; without it, the panel's own.")
@campaign_option
@admin_options
def summaries(which: str, queries: Path, window: str, campaign: str, admin: AdminOptions) -> None:
    """Add all summaries submitted in a window to a panel; archives are read in the sandbox."""
    with at_desk(admin) as desk:
        row, actor = the_panel(desk, campaign, which), desk.actor
    from basanite.cli.admin.desk import refusals
    from basanite.cli.office import open_office

    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.work.panels import sources as gathering
        from basanite.formats.bounded import read_bounded

        asked = gathering.asked_queries(office, queries.name, read_bounded(queries, gathering.LARGEST_PACK))
        added = gathering.from_submissions(office, actor, row.id, gathering.SummaryRuns(queries=asked, window=window))
    notes = [f"{one.message} ({one.found})" for one in added.notes]
    words = [f"{added.new} new items; {added.merged} are identical to others and judged with them.", *notes]
    show({"panel": row.id, "new": added.new, "merged": added.merged, "notes": notes}, words, json=admin.as_json)


@panel.command(
    "pool",
    epilog=example("basanite admin panel pool found --depth 3 --budget 10 --window dev --data season"),
)
@PANEL
@click.option("--depth", type=click.IntRange(1), required=True, help="How many top documents of each run to pool.")
@click.option("--budget", type=click.IntRange(1), help="Maximum number of documents to judge, over all queries.")
@click.option(
    "--type", "types", multiple=True, metavar="TYPE", help="Only runs of this type, such as primary. Can be repeated."
)
@click.option("--sample", metavar="SEED", help="Judge in a random order from this seed, as inferred AP requires.")
@click.option("--texts", type=PATH, help="A table of what judges read: query or document, and text. [default: ids]")
@click.option("--window", default="", help="The window; without it, the panel's own.")
@campaign_option
@admin_options
def pool(
    which: str,
    depth: int,
    budget: int | None,
    types: tuple[str, ...],
    sample: str | None,
    texts: Path | None,
    window: str,
    campaign: str,
    admin: AdminOptions,
) -> None:
    """Add the pool of the runs submitted in a window to a panel; judges do not see who found what."""
    with at_desk(admin) as desk:
        row, actor = the_panel(desk, campaign, which), desk.actor
    from basanite.cli.admin.desk import refusals
    from basanite.cli.office import open_office

    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.work.panels import sources

        drawing = sources.Drawing(depth, budget, types, sample)
        read = None if texts is None else sources.checked_texts(texts)
        found = sources.draw(office, actor, row.id, drawing, window=window, texts=read)
    shown = {"panel": row.id, "new": found.added.new} | {name: getattr(found, name) for name in POOL_FIGURES}
    words = f"{found.pooled} documents in the pools of {found.queries} queries, from {found.runs} runs."
    left = [f"The budget does not cover {found.waiting} more."] if found.waiting else []
    show(shown, [words, f"{found.added.new} are new on the panel.", *left], json=admin.as_json)


@panel.command("enrol", epilog=example("basanite admin panel enrol new kim@people.example --data season"))
@PANEL
@click.argument("people", nargs=-1, required=True)
@click.option("--group", default="judge", show_default=True, help="judge, expert or novice, as the scheme has it.")
@campaign_option
@admin_options
def enrol(which: str, people: tuple[str, ...], group: str, campaign: str, admin: AdminOptions) -> None:
    """Enroll PEOPLE (mail addresses) on a panel as judges; members of the campaign's teams are not accepted."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import enrolment

        row = the_panel(desk, campaign, which)
        persons = [desk.person(one) for one in people]
        for person in persons:
            enrolment.enrol(desk.session, desk.office, desk.actor, row.id, person, group=group)
    show({"panel": row.id, "enrolled": persons}, [f"{len(persons)} enrolled."], json=admin.as_json)


@panel.command("open", epilog=example("basanite admin panel open new --data season"))
@PANEL
@campaign_option
@admin_options
def open_panel(which: str, campaign: str, admin: AdminOptions) -> None:
    """Open a panel: the scheme is frozen, work is assigned, and judges are notified."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import setup

        row = setup.open_panel(desk.session, desk.office, desk.actor, the_panel(desk, campaign, which).id)
        warnings = list(row.warnings)
    shown = {"panel": row.id, "state": row.state, "scheme": row.scheme_digest, "warnings": warnings}
    show(shown, ["The panel is open.", *(f"Note: {words}." for words in warnings)], json=admin.as_json)


@panel.command("close", epilog=example("basanite admin panel close key --data season"))
@PANEL
@reason_option
@campaign_option
@admin_options
def close(which: str, reason: str, campaign: str, admin: AdminOptions) -> None:
    """Close a panel: judgments stay, and no more are accepted."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import setup

        who = (desk.session, desk.office, desk.actor)
        row = setup.close_panel(*who, the_panel(desk, campaign, which).id, reason=reason)
    show({"panel": row.id, "state": row.state}, ["The panel is closed."], json=admin.as_json)


@panel.command("list", epilog=example("basanite admin panel list --data season"))
@campaign_option
@admin_options
def list_panels(campaign: str, admin: AdminOptions) -> None:
    """List the panels of a campaign, newest first."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import monitor

        found = monitor.overview(desk.session, the_campaign(desk, campaign).row.id)
    columns = ["name", "title", "state", "items", "judges", "done", "of"]
    rows = [{"panel": one.id} | {name: getattr(one, name) for name in columns} for one in found]
    show({"panels": rows}, table(rows, columns, empty="There is no panel yet."), json=admin.as_json)


@panel.command("progress", epilog=example("basanite admin panel progress key --data season"))
@PANEL
@campaign_option
@admin_options
def progress(which: str, campaign: str, admin: AdminOptions) -> None:
    """Show a panel's progress, each judge's statistics, and agreement, with the reason if it is undefined."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import monitor

        found = monitor.progress(desk.session, desk.office, the_panel(desk, campaign, which).id)
    show(_plain(found), _words(found), json=admin.as_json)


def _plain(found: Progress) -> dict[str, Any]:
    judges = [
        {"person": one.person_id, "group": one.group, "state": one.state, "done": one.done, "of": one.of}
        | {"median_seconds": one.median_seconds, "checks": one.checks, "checks_right": one.checks_right}
        | {"weak": one.weak, "bias": one.bias, "with_others": one.with_others, "flags": one.flags}
        for one in found.judges
    ]
    return {
        "panel": found.panel_id,
        "state": found.state,
        "items": found.items,
        "done": found.done,
        "of": found.of,
        "per_item": {str(number): count for number, count in found.per_item.items()},
        "judges": judges,
        "agreement": [_agreement(one) for one in found.agreement],
        "flags": found.flags,
        "warnings": list(found.warnings),
    }


def _agreement(one: Agreement) -> dict[str, Any]:
    mean = {} if one.mean is None else {"reliability_of_mean": _estimate(one.mean)}
    known = {"question": one.question, "level": one.level, "percent": _estimate(one.percent)}
    return {**known, "alpha": _estimate(one.alpha), **mean}


def _estimate(one: Estimate) -> dict[str, Any]:
    value = one.value if one.is_defined else None
    return {"value": value, "low": one.low, "high": one.high, "note": one.reason}


def _words(found: Progress) -> list[str]:
    head = [f"{found.name} is {found.state}: {found.done} of {found.of} judgments on {found.items} items."]
    columns = ["person", "group", "state", "done", "of", "median_seconds", "checks_right", "checks", "bias", "flags"]
    lines = table(_plain(found)["judges"], columns, empty="No judges are enrolled yet.")
    told = [f"Alpha of {one.question} ({one.level}): {_figure(one.alpha)}" for one in found.agreement]
    return [*head, *told, *(f"Note: {words}." for words in found.warnings), *lines]


def _figure(one: Estimate) -> str:
    if not one.is_defined:
        return f"not defined: {one.reason}"
    return f"{one.value:.3f}" + ("" if one.low is None else f" ({one.low:.3f} to {one.high:.3f})")


__all__ = ["panel"]
