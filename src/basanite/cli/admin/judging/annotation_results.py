"""What comes out of an annotation project, and what was annotated elsewhere: files, gold, a version of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    Desk,
    admin_options,
    at_desk,
    campaign_option,
    reason_option,
    refusals,
    show,
    the_campaign,
)
from basanite.cli.operating.office import opened
from basanite.cli.options import PATH, example
from basanite.errors import SettingError
from basanite.formats.packs.pack_names import joined_packs

if TYPE_CHECKING:
    from basanite.campaign.office import Actor
    from basanite.campaign.store.tables import AnnotationProject

PROJECT = click.argument("project")
MARKS = ("brat", "label-studio", "conll", "web-annotation")
FORMAL = ("annotations", "pairs", "turtle", "rdfxml", "jsonld", "nquads", "records")


def the_project(desk: Desk, campaign: str, name: str) -> AnnotationProject:
    """The project of a name in the campaign that is meant."""
    from basanite.campaign.annotating.finding import project_named

    return project_named(desk.session, the_campaign(desk, campaign).row.id, name)


@click.command(
    "export", epilog=example("basanite admin annotation export matches --to brat --out as-brat --data season")
)
@PROJECT
@click.option("--to", "format_", type=click.Choice((*MARKS, *FORMAL)), required=True, help="The format.")
@click.option(
    "--which",
    type=click.Choice(["adjudicated", "annotators"]),
    default="adjudicated",
    show_default=True,
    help="The adjudicated annotations, or those of every annotator.",
)
@click.option("--part", help="Texts of this part alone.")
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@campaign_option
@admin_options
def export(
    project: str,
    out: Path,
    format_: str,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Write annotations in the format of another tool, and tell what it cannot keep. People are numbers in it."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating import sharing

        row = the_project(desk, campaign, project)
        shared = sharing.export(desk.session, desk.office, desk.actor, row.id, format_, **given)
        _write_folder(out, shared.files)
    lines = [f"{shared.texts} annotated texts, {len(shared.files)} files written to {out}."]
    lines += [problem.message for problem in shared.problems]
    lines += [f"{len(shared.open_texts)} texts are not adjudicated yet."] if shared.open_texts else []
    show({**shared.as_dict(), "written": str(out)}, lines, json=as_json)


@click.command(
    "import",
    epilog=example(
        "basanite admin annotation import matches brat --from brat --person adam@people.example --data season"
    ),
)
@PROJECT
@click.argument("source", type=PATH)
@click.option("--from", "format_", type=click.Choice(MARKS), required=True, help="The format of SOURCE.")
@click.option("--person", required=True, metavar="MAIL", help="Who annotated it.")
@click.option("--done", is_flag=True, help="The texts are finished.")
@campaign_option
@admin_options
def import_(
    project: str,
    source: Path,
    format_: str,
    person: str,
    done: bool,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """Take in what somebody annotated in another tool, as their own record; it prints what it could not keep."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.annotation.exchange.formats import format_named
        from basanite.campaign.annotating import finding, packages, sharing
        from basanite.campaign.model.refusals import RefusedError
        from basanite.problems import Findings

        row, findings = the_project(desk, campaign, project), Findings()
        rows = finding.documents(desk.session, row.id)
        texts = {one.name: packages.text_of(desk.office, one).text for one in rows}
        found = format_named(format_).read(source, texts, findings)
        if not findings.valid:
            raise RefusedError(findings.problems, status=422)
        who = (desk.session, desk.office, desk.actor, row.id, desk.person(person))
        brought = sharing.bring_in(*who, found, done=done)
        problems = (*findings.problems, *brought.problems)
    lines = [f"{brought.texts} texts, {brought.events} events taken in.", *(one.message for one in problems)]
    show({**brought.as_dict(), "problems": [one.as_dict() for one in problems]}, lines, json=as_json)


@click.command(
    "grow",
    epilog=example(
        'basanite admin annotation grow matches --reason "first adjudicated texts" --out grown --data season'
    ),
)
@PROJECT
@click.option("--out", type=PATH, help="The folder for the package; must not exist yet.")
@click.option("--task", default="", help="Also make it a version of the truth of this task, as the calendar spells it.")
@click.option("--dataset", type=joined_packs, metavar="TEXT", default="", help="The packs of that task, joined by +.")
@click.option("--language", default="", help="The language, where the campaign has several.")
@click.option("--queryset", default="", help="The query sets as archive names spell them.")
@reason_option
@campaign_option
@admin_options
def grow(
    project: str,
    out: Path | None,
    reason: str,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
    **place: str,
) -> None:
    """Write the package with its adjudicated annotations, the next version of its gold, and the effort.

    With --task it also becomes a version of the truth: `basanite admin rescore preview` shows what that changes.
    """
    if out is None and not place["task"]:
        raise click.UsageError("Say where to: --out for a folder, --task and --dataset for a version of the truth.")
    if out is not None and out.exists():
        raise SettingError(f"{out} exists already. Choose another name: nothing is ever written over.")
    shown: dict[str, Any] = {}
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.annotating import ending

        actor, row = desk.actor, the_project(desk, campaign, project)
        if out is not None:
            grown = ending.grow(desk.session, desk.office, actor, row.id, out, reason=reason)
            shown = {**grown.as_dict(), "written": str(out)}
    if place["task"]:
        shown |= _referenced(data, actor, row, place, reason, json=as_json)
    show(shown, list(_grown_lines(shown)), json=as_json)


def _referenced(
    data: Path | None, actor: Actor, project: AnnotationProject, given: Mapping[str, str], reason: str, *, json: bool
) -> dict[str, Any]:
    """Make the truth in transactions of its own: a child checks it, and others must not wait."""
    with refusals(json=json), opened(data) as office:
        from basanite.campaign.annotating import ending
        from basanite.campaign.organising import approvals, plans
        from basanite.campaign.organising.references import Place

        place = Place(given["task"], given["dataset"], given["language"], given["queryset"])
        material = ending.prepare_reference(office, actor, project.id, place, reason=reason)
        with office.writing() as session:
            two = approvals.needs_two(plans.current(session, project.campaign_id).campaign, "reference")
            made = ending.make_reference(session, office, actor, project.id, place, material, reason=reason, hold=two)
    return {"reference": made.id, "reference_version": made.version, "state": made.state}


def _grown_lines(shown: Mapping[str, Any]) -> Iterator[str]:
    if "version" in shown:
        texts = f"{shown['texts']} adjudicated texts"
        yield f"Gold {shown['version']}: {shown['added']} answers are new, {shown['kept']} stay; {texts}."
    if shown.get("unsupported"):
        yield f"{shown['unsupported']} of them do not follow from the annotations."
    if "reference" in shown:
        yield f"Version {shown['reference_version']} of the truth is {shown['state']}."


def _write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    try:
        out.mkdir(parents=True)
        for name, content in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)
    except FileExistsError:
        raise SettingError(f"{out} exists already. Choose another name: nothing is ever written over.") from None
    except OSError as error:
        raise SettingError(f"{out} cannot be written: {error.strerror}. Choose another place.") from None
