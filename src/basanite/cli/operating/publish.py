"""`basanite publish`: what a campaign has released, as a static site that needs no server."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from basanite.cli.operating.office import data_option, opened
from basanite.cli.options import PATH, as_json, example, say
from basanite.problems import visible
from basanite.reports.formats import json_output
from basanite.reports.wording import plural


@click.command(epilog=example("basanite publish small site --data season"))
@click.argument("campaign")
@click.argument("out", type=PATH)
@click.option("--organiser", default="", help="Who publishes, for citation. [default: the organisers of the campaign]")
@click.option("--licence", default="", help="The licence of what is published, like CC-BY-4.0.")
@click.option("--address", default="", help="Where the site will be found.")
@click.option("--runs/--no-runs", default=True, show_default=True, help="Whether the runs themselves are published.")
@data_option
@as_json
def publish(
    campaign: str, out: Path, organiser: str, licence: str, address: str, runs: bool, data: Path | None, as_json: bool
) -> None:
    """Write the site of CAMPAIGN (its slug) into the new folder OUT: open index.html, or put the folder on any host.

    It holds what visitors may see and nothing else: boards, released runs and references, receipts and keys, the plan
    with its deviations, tables for papers, and metadata for a DOI. Teams are named only where the campaign names them
    and their PI agreed.
    """
    from basanite.cli.admin.desk import refusals

    with refusals(json=as_json), opened(data) as office:
        from basanite.campaign.keeping.publishing.writing import Wishes
        from basanite.campaign.keeping.publishing.writing import publish as make_site

        site = make_site(office, campaign, out, Wishes(organiser, licence, address, runs))
    if as_json:
        sys.stdout.write(json_output.dumps(site.as_dict()))
        return
    parts = (plural("board", site.boards), plural("system", site.systems), plural("run", site.runs))
    click.echo(visible(f"{out}: {', '.join(parts)}, {plural('deviation', site.deviations)}."))
    for slug in site.left_out:
        say(f"The run of {slug} is left out: it is not there, or would name its maker.")
