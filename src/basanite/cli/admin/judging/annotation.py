"""`basanite admin annotation`: projects, assignment, progress, agreement, and what comes out of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import admin_options, at_desk, campaign_option, reason_option, show, table, the_campaign
from basanite.cli.admin.judging.annotation_results import PROJECT, export, grow, import_, the_project
from basanite.cli.options import PATH, example

if TYPE_CHECKING:
    from basanite.annotation.agreement import Agreement


@click.group(epilog=example("basanite admin annotation list --data season"))
def annotation() -> None:
    """Annotate texts: projects, who works on what, agreement, changes of the configuration, results."""


annotation.add_command(export)
annotation.add_command(import_)
annotation.add_command(grow)


def read_config_file(path: Path) -> tuple[str, dict[str, bytes]]:
    """A configuration and the lists beside it."""
    from basanite.campaign.annotating.packages import lists_beside
    from basanite.campaign.annotating.setting_up import LARGEST_CONFIG
    from basanite.formats.bounded import read_bounded

    return read_bounded(path, LARGEST_CONFIG).decode("utf-8", "surrogateescape"), lists_beside(path)


@annotation.command(
    "create",
    epilog=example("basanite admin annotation create matches --config matches.yaml --name again --data season"),
)
@click.argument("package", type=PATH)
@click.option("--config", type=PATH, required=True, help="The configuration of the use case.")
@click.option("--name", default="", help="What the project is called; without it, as the configuration says.")
@click.option(
    "--per-document", type=click.IntRange(1, 20), default=2, show_default=True, help="Annotators of each text."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="For who gets what; without it, from the package.")
@campaign_option
@admin_options
def create(
    package: Path, config: Path, campaign: str, data: Path | None, mail: str | None, as_json: bool, **given: Any
) -> None:
    """Make a project of the reading package in the folder PACKAGE; both are checked as a whole first."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating.setting_up import create_project

        text, lists = read_config_file(config)
        who = (desk.session, desk.office, desk.actor, the_campaign(desk, campaign).row.id)
        row = create_project(*who, package, text, lists=lists, **given)
    shown = {"project": row.name, "id": row.id, "digest": row.digest, "per_document": row.per_document}
    show(shown, [f"The project {row.name} is open."], json=as_json)


@annotation.command("list", epilog=example("basanite admin annotation list --data season"))
@campaign_option
@admin_options
def list_projects(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List the projects of a campaign."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating.finding import projects
        from basanite.campaign.annotating.looking import progress

        who = (desk.session, desk.office, desk.actor)
        found = [progress(*who, row.id) for row in projects(desk.session, the_campaign(desk, campaign).row.id)]
    names = ["project", "state", "texts", "tasks", "done", "adjudicated"]
    rows = [{**one.as_dict(), "texts": len(one.texts)} for one in found]
    rows = [{name: row[name] for name in names} for row in rows]
    show({"projects": rows}, table(rows, names, empty="There is no project yet."), json=as_json)


@annotation.command("show", epilog=example("basanite admin annotation show matches --data season"))
@PROJECT
@campaign_option
@admin_options
def show_project(project: str, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Show how far everybody is, and what every text waits for."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating.looking import progress

        found = progress(desk.session, desk.office, desk.actor, the_project(desk, campaign, project).id).as_dict()
    people = table(
        found["people"], ["person_id", "role", "waiting", "working", "done", "minutes"], empty="Nobody is assigned yet."
    )
    texts = table(found["texts"], ["name", "part", "annotators", "done", "adjudication"], empty="There are no texts.")
    show(found, [*people, "", *texts], json=as_json)


@annotation.command(
    "assign",
    epilog=example(
        "basanite admin annotation assign matches --person adam@people.example --per-document 3 --data season"
    ),
)
@PROJECT
@click.option("--person", "persons", multiple=True, required=True, metavar="MAIL", help="An annotator. Repeat it.")
@click.option("--part", help="Texts of this part alone.")
@click.option("--text", "names", multiple=True, help="This text alone. Repeat it.")
@click.option("--per-document", type=click.IntRange(1, 20), help="Annotators of each text; without it, the project's.")
@campaign_option
@admin_options
def assign(
    project: str,
    persons: tuple[str, ...],
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Give every text its annotators: evenly, blind to each other, nobody the same text twice.

    Called again with more people or a higher number, it adds what is missing and moves nothing.
    """
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating import assigning

        row = the_project(desk, campaign, project)
        people = [desk.person(one) for one in persons]
        made = assigning.assign(desk.session, desk.office, desk.actor, row.id, people, **given)
    lines = [f"{len(made.tasks)} tasks for {len(people)} people."]
    lines += [f"{len(made.short)} texts have fewer annotators than wanted."] if made.short else []
    show(made.as_dict(), lines, json=as_json)


@annotation.command(
    "config",
    epilog=example("basanite admin annotation config matches newer.yaml --data season"),
)
@PROJECT
@click.argument("file", type=PATH)
@click.option("--apply", "seen", default="", metavar="DIGEST", help="Apply what was shown with this digest.")
@reason_option
@campaign_option
@admin_options
def config(
    project: str, file: Path, seen: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Show what the configuration in FILE would change in all records; with --apply, change it.

    Old records keep their version. Exit code 1: it cannot be used, or it is not what was shown.
    """
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating import changing

        row = the_project(desk, campaign, project)
        text, lists = read_config_file(file)
        who = (desk.session, desk.office, desk.actor, row.id, text)
        if seen:
            made = changing.change_config(*who, seen=seen, reason=reason, lists=lists)
            shown: dict[str, Any] = {"version": made.version, "generation": made.generation, "applied": True}
            lines = [f"Version {made.version} holds now."]
        else:
            preview = changing.preview(*who, lists=lists)
            shown, lines = {**preview.as_dict(), "applied": False}, _preview_lines(preview.as_dict())
    show(shown, lines, json=as_json)


def _preview_lines(found: Mapping[str, Any]) -> list[str]:
    lines = [f"{one['kind']:8} {one['what']} {one['detail']}".rstrip() for one in found["differences"]]
    for one in found["changes"]:
        lines += [f"{one['kind']} {one['document']}", f"- {one['before']}", f"+ {one['after']}"]
    counts = ", ".join(f"{count} {kind}" for kind, count in found["counts"].items()) or "nothing changes in records"
    return [*lines, f"{found['records']} records: {counts}. To apply it: --apply {found['digest']} --reason WHY"]


@annotation.command("agreement", epilog=example("basanite admin annotation agreement matches --data season"))
@PROJECT
@click.option("--part", help="Texts of this part alone.")
@campaign_option
@admin_options
def agreement(
    project: str, part: str | None, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Tell how far annotators agree: spans apart from labels, per category, field and text."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating import agreeing

        row = the_project(desk, campaign, project)
        found = agreeing.agreement(desk.session, desk.office, desk.actor, row.id, part=part)
    show(found.as_dict(), _agreement_lines(found), json=as_json)


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


@annotation.command(
    "close", epilog=example('basanite admin annotation close matches --reason "all done" --data season')
)
@PROJECT
@click.option("--again", is_flag=True, help="Open it again instead.")
@reason_option
@campaign_option
@admin_options
def close(
    project: str, again: bool, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Close a project: nobody changes anything any more."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating import setting_up

        act = setting_up.open_project if again else setting_up.close_project
        row = act(desk.session, desk.office, desk.actor, the_project(desk, campaign, project).id, reason=reason)
    show({"project": row.name, "state": row.state}, [f"{row.name} is {row.state}."], json=as_json)


@annotation.command(
    "withdraw",
    epilog=example(
        'basanite admin annotation withdraw matches two --person axel@people.example --reason "on leave" --data season'
    ),
)
@PROJECT
@click.argument("text")
@click.option("--person", required=True, metavar="MAIL", help="Whose task it is.")
@reason_option
@campaign_option
@admin_options
def withdraw(
    project: str,
    text: str,
    person: str,
    reason: str,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """Take a text back from somebody who is not done with it; what was recorded stays, and counts no more."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating import assigning, finding

        found = finding.document_named(desk.session, the_project(desk, campaign, project).id, text)
        task = finding.task_of(desk.session, found.id, desk.person(person))
        row = assigning.withdraw(desk.session, desk.office, desk.actor, task.id, reason=reason)
    show({"task": row.id, "state": row.state}, [f"The task is {row.state}."], json=as_json)
