"""`basanite admin reference`: versions of the truth; each is sealed and checked before it can open a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    admin_options,
    at_desk,
    campaign_option,
    reason_option,
    refusals,
    show,
    table,
    the_campaign,
)
from basanite.cli.operating.office import opened
from basanite.cli.options import PATH, example
from basanite.formats.packs.pack_names import joined_packs

if TYPE_CHECKING:
    from basanite.campaign.organising.references import Material, Place

PLACE = (
    click.option("--task", required=True, help="As the calendar spells it: CLIR, E2E, DomainID, LangID …"),
    click.option(
        "--dataset", type=joined_packs, metavar="TEXT", required=True, help="The packs, joined by +: EVAL1+EVAL2."
    ),
    click.option("--language", default="", help="The language, where the campaign has several."),
    click.option("--queryset", default="", help="The query sets as archive names spell them: QUERY2QUERY3."),
)


@click.group(epilog=example("basanite admin reference list --data season"))
def reference() -> None:
    """Add a version of the truth, and list the versions."""


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
@click.option("--metadata", type=PATH, multiple=True, help="A table of factors. Repeat it.")
@click.option("--judgements", type=PATH, help="What judges said of summaries (E2E).")
@click.option("--human", type=PATH, help="What people answered (reading), to be measured against.")
@click.option("--open-queries", type=PATH, help="Queries that were open to study, one a line: never a final value.")
@click.option("--unsealed", is_flag=True, help="The key may leave the evaluation team.")
@reason_option
@campaign_option
@admin_options
def add(
    files: tuple[Path, ...], campaign: str, data: Path | None, mail: str | None, as_json: bool, **given: Any
) -> None:
    """Add the key in FILES (a folder, a .tgz or files): sealed, checked like a submission, and given a version.

    The first version of its place opens the task. A later one is only proposed: see `basanite admin rescore preview`.
    """
    sealed = not given["unsealed"]
    material, place = _checked(data, campaign, files, given, sealed=sealed, json=as_json)
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import approvals, references, seconding

        plan = the_campaign(desk, campaign)
        first = references.holding(desk.session, plan.row.id, place) is None
        two = approvals.needs_two(plan.campaign, "reference")
        who = (desk.session, desk.office, desk.actor, plan.row.id)
        row = references.add(*who, place, material, reason=given["reason"], sealed=sealed, hold=two)
        if two and first:
            seconding.ask_to_open(*who, row.id)
    shown = {"reference": row.id, "version": row.version, "state": row.state, "commitment": row.commitment}
    show(shown, [f"Version {row.version} is {row.state}. Commitment: {row.commitment}"], json=as_json)


def _checked(
    data: Path | None, campaign: str, files: tuple[Path, ...], given: dict[str, Any], *, sealed: bool, json: bool
) -> tuple[Material, Place]:
    """Take the files in and check them before the transaction: a child may take its time, others must not wait."""
    with at_desk(data, None, json=json) as desk:
        plan = the_campaign(desk, campaign)
    with refusals(json=json), opened(data) as office:
        from basanite.campaign.organising import reference_files, references

        only = plan.campaign.languages[0] if len(plan.campaign.languages) == 1 else ""
        language = given["language"] or only
        place = references.Place(given["task"], given["dataset"], language, given["queryset"])
        reference_files.window_of(plan.campaign, place)
        roles = {role: given[role] for role in ("queries", "metadata", "judgements", "human", "open_queries")}
        material = reference_files.take_in(office, reference_files.Paths(files, **roles))
        reference_files.check(office, plan.campaign, place, material, sealed=sealed)
    return material, place


@reference.command("list", epilog=example("basanite admin reference list --data season"))
@campaign_option
@admin_options
def list_references(campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List all versions of the truth: place, version, state and commitment, never a digest of a key."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.organising import references

        found = references.versions(desk.session, the_campaign(desk, campaign).row.id)
    columns = ["task", "language", "queryset", "dataset", "version", "state", "made", "reason", "commitment"]
    rows = [{"reference": one.id} | {name: getattr(one, name) for name in columns} for one in found]
    show({"references": rows}, table(rows, columns, empty="There is no reference yet."), json=as_json)
