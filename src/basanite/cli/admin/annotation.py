"""`basanite admin annotation`: projects, assignment, progress, agreement, and what comes out of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.annotation_results import PROJECT, ask, export, grow, import_, the_project
from basanite.cli.admin.commands import ActionGroup
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
from basanite.cli.options import PATH, example

if TYPE_CHECKING:
    from basanite.work.annotation.agreement import Agreement


WORDS = "Annotate texts: projects, assignments, agreement, suggestions, configuration changes, results."
PARTS = (
    *("assign", "cases", "close", "decide", "finish", "order", "repeat", "suggest", "suggestions", "trends"),
    "withdraw",
)
annotation = ActionGroup("annotation", "annotation", WORDS, *PARTS)
annotation.epilog = example("basanite admin annotation list --data season")
annotation.add_command(export)
annotation.add_command(import_)
annotation.add_command(ask)
annotation.add_command(grow)


def read_config_file(path: Path) -> tuple[str, dict[str, bytes]]:
    """A configuration and the lists beside it."""
    from basanite.campaign.work.annotation.packages import lists_beside
    from basanite.campaign.work.annotation.setup import LARGEST_CONFIG
    from basanite.formats.bounded import read_bounded

    return read_bounded(path, LARGEST_CONFIG).decode("utf-8", "surrogateescape"), lists_beside(path)


@annotation.command(
    "create",
    epilog=example("basanite admin annotation create matches --config matches.yaml --name again --data season"),
)
@click.argument("package", type=PATH)
@click.option("--config", type=PATH, required=True, help="The annotation configuration.")
@click.option("--name", default="", help="The project's name. [default: from the configuration]")
@click.option(
    "--per-document", type=click.IntRange(1, 20), default=2, show_default=True, help="Annotators of each text."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Random seed of the assignment. [default: from the package]"
)
@campaign_option
@admin_options
def create(package: Path, config: Path, campaign: str, admin: AdminOptions, **given: Any) -> None:
    """Create an annotation project for the reading package in the folder PACKAGE, after checking both."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation.setup import NewProject, create_project

        text, lists = read_config_file(config)
        who = (desk.session, desk.office, desk.actor, the_campaign(desk, campaign).row.id)
        row = create_project(*who, NewProject(package, text, lists=lists, **given))
    shown = {"project": row.name, "id": row.id, "digest": row.digest, "per_document": row.per_document}
    show(shown, [f"The project {row.name} is open."], json=admin.as_json)


@annotation.command("list", epilog=example("basanite admin annotation list --data season"))
@campaign_option
@admin_options
def list_projects(campaign: str, admin: AdminOptions) -> None:
    """List the projects of a campaign."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation.lookup import projects
        from basanite.campaign.work.annotation.monitor import progress

        who = (desk.session, desk.office, desk.actor)
        found = [progress(*who, row.id) for row in projects(desk.session, the_campaign(desk, campaign).row.id)]
    names = ["project", "state", "texts", "tasks", "done", "adjudicated"]
    rows = [{**one.as_dict(), "texts": len(one.texts)} for one in found]
    rows = [{name: row[name] for name in names} for row in rows]
    show({"projects": rows}, table(rows, names, empty="There is no project yet."), json=admin.as_json)


@annotation.command("show", epilog=example("basanite admin annotation show matches --data season"))
@PROJECT
@campaign_option
@admin_options
def show_project(project: str, campaign: str, admin: AdminOptions) -> None:
    """Show everyone's progress and the status of every text."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation.monitor import progress

        found = progress(desk.session, desk.office, desk.actor, the_project(desk, campaign, project).id).as_dict()
    people = table(
        found["people"], ["person_id", "role", "waiting", "working", "done", "minutes"], empty="Nobody is assigned yet."
    )
    texts = table(
        found["texts"],
        ["name", "part", "annotators", "done", "adjudication", "contradictions"],
        empty="There are no texts.",
    )
    show(found, [*people, "", *texts], json=admin.as_json)


@annotation.command(
    "config",
    epilog=example("basanite admin annotation config matches newer.yaml --data season"),
)
@PROJECT
@click.argument("file", type=PATH)
@click.option("--package", type=PATH, help="A reading package whose ontology, rules and queries replace the project's.")
@click.option("--apply", "seen", default="", metavar="DIGEST", help="Apply what was shown with this digest.")
@reason_option
@campaign_option
@admin_options
def config(project: str, file: Path, campaign: str, admin: AdminOptions, seen: str, **given: Any) -> None:
    """Show what the configuration in FILE would change in all records; with --apply, change it.

    Old records keep their version. Exit code 1: the configuration is invalid, or differs from the one that was shown.
    """
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation import setup

        row = the_project(desk, campaign, project)
        text, lists = read_config_file(file)
        who = (desk.session, desk.office, desk.actor, row.id, setup.ConfigChange(text, lists, seen=seen, **given))
        if seen:
            made = setup.change_config(*who)
            shown: dict[str, Any] = {"version": made.version, "generation": made.generation, "applied": True}
            lines = [f"Version {made.version} is now active."]
        else:
            preview = setup.preview(*who)
            shown, lines = {**preview.as_dict(), "applied": False}, _preview_lines(preview.as_dict())
    show(shown, lines, json=admin.as_json)


def _preview_lines(found: Mapping[str, Any]) -> list[str]:
    lines = [f"{one['kind']:8} {one['what']} {one['detail']}".rstrip() for one in found["differences"]]
    for one in found["changes"]:
        lines += [f"{one['kind']} {one['document']}", f"- {one['before']}", f"+ {one['after']}"]
    counts = ", ".join(f"{count} {kind}" for kind, count in found["counts"].items()) or "nothing changes in records"
    return [*lines, f"{found['records']} records: {counts}. To apply it: --apply {found['digest']} --reason WHY"]


@annotation.command("agreement", epilog=example("basanite admin annotation agreement matches --data season"))
@PROJECT
@click.option("--part", help="Only texts of this part.")
@campaign_option
@admin_options
def agreement(project: str, part: str | None, campaign: str, admin: AdminOptions) -> None:
    """Measure the agreement of annotators: spans and labels, per category, field and text."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation import monitor

        row = the_project(desk, campaign, project)
        found = monitor.agreement(desk.session, desk.office, desk.actor, row.id, part=part)
    show(found.as_dict(), _agreement_lines(found), json=admin.as_json)


def _agreement_lines(found: Agreement) -> list[str]:
    spans = {"all words": found.spans, **found.categories}
    first = [{"what": name, "mentions": one.mentions} | _numbers(one.as_dict()) for name, one in spans.items()]
    values = {"labels": found.labels, **found.fields}
    second = [{"what": name, "pairs": one.pairs} | _numbers(one.as_dict()) for name, one in values.items() if one.pairs]
    return [
        f"{found.texts} texts with two annotations or more.",
        *table(first, ["what", "mentions", "exact", "overlap", "alpha"], empty=""),
        *(["", *table(second, ["what", "pairs", "share", "kappa"], empty="")] if second else []),
    ]


def _numbers(found: Mapping[str, Any]) -> dict[str, str]:
    """Estimates in words: the value with its interval, or why there is none."""
    return {name: _words(one) for name, one in found.items() if isinstance(one, Mapping)}


def _words(one: Mapping[str, Any]) -> str:
    if one["value"] is None:
        return f"undefined ({one['reason']})"
    ends = "" if one["low"] is None else f" [{one['low']:.3f}, {one['high']:.3f}]"
    return f"{one['value']:.3f}{ends}"
