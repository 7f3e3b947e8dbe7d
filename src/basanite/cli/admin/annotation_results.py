"""What comes out of an annotation project, and what was annotated elsewhere: files, gold, a version of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from basanite.cli.admin.desk import (
    AdminOptions,
    Desk,
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
from basanite.errors import SettingError
from basanite.formats.datasets.pack_names import joined_packs
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.campaign.office import Actor
    from basanite.campaign.store.tables import AnnotationProject

PROJECT = click.argument("project")
MARKS = ("brat", "label-studio", "conll", "web-annotation")
FORMAL = ("annotations", "pairs", "turtle", "rdfxml", "jsonld", "nquads", "records")


def the_project(desk: Desk, campaign: str, name: str) -> AnnotationProject:
    """The project of a name in the campaign that is meant."""
    from basanite.campaign.work.annotation.lookup import project_named

    return project_named(desk.session, the_campaign(desk, campaign).row.id, name)


@click.command(
    "export", epilog=example("basanite admin annotation export matches --to brat --out as-brat --data season")
)
@PROJECT
@click.option("--to", "format_", type=click.Choice((*MARKS, *FORMAL)), required=True, help="The format.")
@click.option(
    "--which",
    type=click.Choice(["adjudicated", "annotators", "all"]),
    default="adjudicated",
    show_default=True,
    help="The adjudicated annotations; finished texts of every annotator; or all of them, unfinished ones too.",
)
@click.option("--part", help="Only texts of this part.")
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@campaign_option
@admin_options
def export(
    project: str,
    out: Path,
    format_: str,
    campaign: str,
    admin: AdminOptions,
    **given: Any,
) -> None:
    """Export annotations to the format of another tool, and list what it cannot represent. People appear as numbers."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation import exchange

        row = the_project(desk, campaign, project)
        shared = exchange.export(desk.session, desk.office, desk.actor, row.id, exchange.ExportChoice(format_, **given))
        _write_folder(out, shared.files)
    lines = [f"{plural('annotated text', shared.texts)}, {plural('file', len(shared.files))} written to {out}."]
    lines += [problem.message for problem in shared.problems]
    lines += [f"{len(shared.open_texts)} texts are not adjudicated yet."] if shared.open_texts else []
    show({**shared.as_dict(), "written": str(out)}, lines, json=admin.as_json)


@click.command(
    "ask", epilog=example("basanite admin annotation ask matches https://tagger.example/suggest --data season")
)
@PROJECT
@click.argument("url")
@click.option("--loopback", is_flag=True, help="Allow an endpoint on this machine, also by plain http.")
@click.option(
    "--without",
    type=click.IntRange(0, 90),
    default=20,
    show_default=True,
    help="Percent of the tasks that are shown without suggestions.",
)
@campaign_option
@admin_options
def ask(project: str, url: str, loopback: bool, without: int, campaign: str, admin: AdminOptions) -> None:
    """Ask the endpoint at URL for labels in the texts of PROJECT that nobody has opened, and suggest them.

    It is sent {"format": "basanite-suggest/1", "labels": […], "texts": [{"name", "text"}]} and answers {"texts":
    [{"name", "labels": [{"label", "start", "end", "score"}]}]}, with places in code points.
    """
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation import lookup, packages, suggestion_endpoint, suggestion_sets

        row = the_project(desk, campaign, project)
        labels = suggestion_endpoint.labels_of(lookup.bench_of(desk.session, desk.office, row).config)
        fresh = suggestion_sets.unopened(desk.session, row.id)
        texts = {one.name: packages.text_of(desk.office, one).text for one in fresh}
    with refusals(json=admin.as_json):
        found = suggestion_endpoint.ask_endpoint(url, texts, labels, loopback=loopback)
    with at_desk(admin) as desk:
        row = the_project(desk, campaign, project)
        who = (desk.session, desk.office, desk.actor, row.id)
        host = urlsplit(url).hostname or ""
        made = suggestion_sets.suggest(*who, f"endpoint {host}", found, share=without / 100)
    lines = [f"{plural('suggestion', made.suggestions)} in {plural('text', made.texts)}, from {made.source}."]
    show(made.as_dict(), lines, json=admin.as_json)


@click.command(
    "import",
    epilog=example(
        "basanite admin annotation import matches brat --from brat --person adam@people.example --data season"
    ),
)
@PROJECT
@click.argument("source", type=PATH)
@click.option("--from", "format_", type=click.Choice(MARKS), required=True, help="The format of SOURCE.")
@click.option("--person", default="", metavar="MAIL", help="Who annotated it.")
@click.option("--done", is_flag=True, help="The texts are finished.")
@click.option("--suggest", is_flag=True, help="Make suggestions of them, in texts that nobody has opened.")
@campaign_option
@admin_options
def import_(
    project: str,
    source: Path,
    format_: str,
    campaign: str,
    admin: AdminOptions,
    *,
    person: str,
    done: bool,
    suggest: bool,
) -> None:
    """Import a person's annotations from another tool as their own record, and list what could not be imported.

    With --suggest they become suggestions for annotators, shown with their source.
    """
    if suggest == bool(person):
        raise click.UsageError("Give either --person, whose record it becomes, or --suggest.")
    with at_desk(admin) as desk:
        from basanite.campaign.model.refusals import RefusedError
        from basanite.campaign.work.annotation import exchange, lookup, packages
        from basanite.problems import Findings
        from basanite.work.exchange.formats import format_named

        row, findings = the_project(desk, campaign, project), Findings()
        rows = lookup.documents(desk.session, row.id)
        texts = {one.name: packages.text_of(desk.office, one).text for one in rows}
        found = format_named(format_).read(source, texts, findings)
        if not findings.valid:
            raise RefusedError(findings.problems, status=422)
        if suggest:
            from basanite.campaign.work.annotation import suggestion_sets

            config = lookup.bench_of(desk.session, desk.office, row).config
            marks = suggestion_sets.by_marks(config, found)
            who = (desk.session, desk.office, desk.actor, row.id)
            made = suggestion_sets.suggest(*who, f"file {source.name}", marks, share=row.withheld)
            lines = [f"{plural('suggestion', made.suggestions)} in {plural('text', made.texts)}."]
            show(made.as_dict(), lines, json=admin.as_json)
            return
        work = exchange.ForeignWork(desk.person(person), found, done)
        brought = exchange.bring_in(desk.session, desk.office, desk.actor, row.id, work)
        problems = (*findings.problems, *brought.problems)
    lines = [f"{brought.texts} texts, {brought.events} events taken in.", *(one.message for one in problems)]
    show({**brought.as_dict(), "problems": [one.as_dict() for one in problems]}, lines, json=admin.as_json)


@click.command(
    "grow",
    epilog=example(
        'basanite admin annotation grow matches --reason "first adjudicated texts" --out grown --data season'
    ),
)
@PROJECT
@click.option("--out", type=PATH, help="The folder for the package; must not exist yet.")
@click.option(
    "--task", default="", help="Also make it a version of the reference of this task, named as in the campaign file."
)
@click.option("--dataset", type=joined_packs, metavar="TEXT", default="", help="The packs of that task, joined by +.")
@click.option("--language", default="", help="The language, where the campaign has several.")
@click.option("--queryset", default="", help="The query sets, as in archive names.")
@reason_option
@campaign_option
@admin_options
def grow(
    project: str,
    out: Path | None,
    reason: str,
    campaign: str,
    admin: AdminOptions,
    **place: str,
) -> None:
    """Write the package with its adjudicated annotations, the next version of its gold, and the effort log.

    With --task it also becomes a version of the reference; `basanite admin rescore preview` shows the changes.
    """
    if out is None and not place["task"]:
        raise click.UsageError(
            "Say where to write the gold: --out for a folder, or --task and --dataset for a version of the reference."
        )
    if out is not None and out.exists():
        raise SettingError(f"{out} already exists. Choose another name: existing files are never overwritten.")
    shown: dict[str, Any] = {}
    with at_desk(admin) as desk:
        from basanite.campaign.work.annotation import outcome

        actor, row = desk.actor, the_project(desk, campaign, project)
        if out is not None:
            grown = outcome.grow(desk.session, desk.office, actor, row.id, out, reason=reason)
            shown = {**grown.as_dict(), "written": str(out)}
    if place["task"]:
        shown |= _make_reference(admin.data, actor, row, place, reason, json=admin.as_json)
    show(shown, list(_grown_lines(shown)), json=admin.as_json)


def _make_reference(
    data: Path | None, actor: Actor, project: AnnotationProject, given: Mapping[str, str], reason: str, *, json: bool
) -> dict[str, Any]:
    """Make the truth in transactions of its own: a child checks it, and others must not wait."""
    with refusals(json=json), open_office(data) as office:
        from basanite.campaign.actions.references import Place
        from basanite.campaign.work.annotation import outcome

        place = Place(given["task"], given["dataset"], given["language"], given["queryset"])
        new = outcome.prepare_reference(office, actor, project.id, place, reason=reason)
        with office.writing() as session:
            made = outcome.make_reference(session, office, actor, project.id, new)
    return {"reference": made.id, "reference_version": made.version, "state": made.state}


def _grown_lines(shown: Mapping[str, Any]) -> Iterator[str]:
    if "version" in shown:
        texts = f"{shown['texts']} adjudicated texts"
        yield f"Gold {shown['version']}: {shown['added']} answers are new, {shown['kept']} stay; {texts}."
    if shown.get("unsupported"):
        yield f"{shown['unsupported']} of them do not follow from the annotations."
    if "reference" in shown:
        yield f"Version {shown['reference_version']} of the reference is {shown['state']}."


def _write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    try:
        out.mkdir(parents=True)
        for name, content in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)
    except FileExistsError:
        raise SettingError(
            f"{out} already exists. Choose another name: existing files are never overwritten."
        ) from None
    except OSError as error:
        raise SettingError(f"{out} cannot be written: {error.strerror}. Choose another place.") from None
