"""`basanite admin reference`: versions of the truth; each is sealed and checked before it can open a task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.commands import ActionGroup
from basanite.cli.admin.desk import (
    AdminOptions,
    admin_options,
    at_desk,
    campaign_option,
    reason_option,
    refusals,
    show,
    the_campaign,
)
from basanite.cli.office import open_office
from basanite.cli.options import PATH, example
from basanite.formats.datasets.pack_names import joined_packs

if TYPE_CHECKING:
    from basanite.campaign.actions.references import Material, Place

PLACE = (
    click.option("--task", required=True, help="The task, as in the calendar: CLIR, E2E, DomainID, LangID …"),
    click.option(
        "--dataset", type=joined_packs, metavar="TEXT", required=True, help="The packs, joined by +: EVAL1+EVAL2."
    ),
    click.option("--language", default="", help="The language, where the campaign has several."),
    click.option("--queryset", default="", help="The query sets, as in archive names: QUERY2QUERY3."),
)


reference = ActionGroup("references", "reference", "Add a version of a reference, and list versions.", "list")


@reference.command(
    "add",
    epilog=example(
        "basanite admin reference add key --task CLIR --dataset DEV --language 1A --queryset QUERY1 "
        '--reason "two labels were wrong" --data season'
    ),
)
@click.argument("files", type=PATH, nargs=-1, required=True)
@PLACE[0]
@PLACE[1]
@PLACE[2]
@PLACE[3]
@click.option("--queries", type=PATH, help="The list of queries with their kinds and domains.")
@click.option("--metadata", type=PATH, multiple=True, help="A table of factors. Can be repeated.")
@click.option("--judgements", type=PATH, help="Judgments of summaries (E2E).")
@click.option("--human", type=PATH, help="Human answers (reading) to compare against.")
@click.option("--inputs", type=PATH, help="Sealed items that programs are run on: one per line, or per file of a .tgz.")
@click.option("--samples", type=PATH, help="Public items like these, for the smoke test of programs.")
@click.option("--shared", type=PATH, help="A file or .tgz that every call of a program gets.")
@click.option("--scorer", type=PATH, help="Your own scoring program, a folder or archive with `run` in it.")
@click.option("--open-queries", type=PATH, help="Open queries, one per line; they never count toward a final value.")
@click.option("--unsealed", is_flag=True, help="The reference may be shared outside the evaluation team.")
@reason_option
@campaign_option
@admin_options
def add(files: tuple[Path, ...], campaign: str, admin: AdminOptions, **given: Any) -> None:
    """Add the reference in FILES (a folder, a .tgz or files): it is checked like a submission, sealed and versioned.

    The first version opens the task. Later versions are proposed: see `basanite admin rescore preview`.
    """
    sealed = not given["unsealed"]
    material, place = _check_files(admin, campaign, files, given, sealed=sealed)
    with at_desk(admin) as desk:
        from basanite.campaign.actions import approvals, references, two_people

        plan = the_campaign(desk, campaign)
        first = references.active_material(desk.session, plan.row.id, place) is None
        two = two_people.needs_two(plan.campaign, "reference")
        who = (desk.session, desk.office, desk.actor, plan.row.id)
        new = references.NewVersion(place, material, reason=given["reason"], sealed=sealed, hold=two)
        row = references.add(*who, new)
        if two and first:
            approvals.ask_to_open(*who, row.id)
    shown = {"reference": row.id, "version": row.version, "state": row.state, "commitment": row.commitment}
    show(shown, [f"Version {row.version} is {row.state}. Commitment: {row.commitment}"], json=admin.as_json)


def _check_files(
    admin: AdminOptions, campaign: str, files: tuple[Path, ...], given: dict[str, Any], *, sealed: bool
) -> tuple[Material, Place]:
    """Take the files in and check them before the transaction: a child may take its time, others must not wait."""
    with at_desk(replace(admin, mail=None)) as desk:
        plan = the_campaign(desk, campaign)
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.actions import references

        only = plan.campaign.languages[0] if len(plan.campaign.languages) == 1 else ""
        language = given["language"] or only
        place = references.Place(given["task"], given["dataset"], language, given["queryset"])
        references.window_of(plan.campaign, place)
        names = ("queries", "metadata", "judgements", "human", "open_queries", *references.PROGRAM_ROLES)
        roles = {role: given[role] for role in names}
        material = references.take_in(office, references.Paths(files, **roles))
        references.check_files(office, plan.campaign, place, material, sealed=sealed)
    return material, place
