"""`basanite admin panel adjudicate|pay|batch|files|reference`: what comes of what judges said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.admin.desk import (
    NEWEST,
    AdminOptions,
    Desk,
    admin_options,
    at_desk,
    campaign_option,
    newest,
    reason_option,
    refusals,
    show,
    table,
    the_campaign,
)
from basanite.cli.admin.reference import PLACE
from basanite.cli.office import open_office
from basanite.cli.options import PATH, example
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.campaign.store.tables import Panel

PANEL = click.argument("which", metavar="PANEL")
NONE = "none"
"""What is typed for none of these."""


def the_panel(desk: Desk, campaign: str, which: str) -> Panel:
    """The panel of a name or id in the campaign that is meant."""
    from basanite.campaign.work.panels.lookup import panel_named

    return panel_named(desk.session, the_campaign(desk, campaign).row.id, which)


@click.command("adjudicate", epilog=example("basanite admin panel adjudicate key --data season"))
@PANEL
@click.option("--case", default="", help="The case to decide or to open again; without it, all open ones are listed.")
@click.option("--answer", multiple=True, metavar="QUESTION=VALUE", help=f"The decision; `{NONE}` for none of these.")
@click.option("--reopen", is_flag=True, help="Open a decided case again.")
@reason_option
@campaign_option
@admin_options
def adjudicate(
    which: str, case: str, answer: tuple[str, ...], reopen: bool, reason: str, campaign: str, admin: AdminOptions
) -> None:
    """List disagreements, largest first, or decide one with a reason."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import adjudication

        row = the_panel(desk, campaign, which)
        if not case:
            found = adjudication.queue(desk.session, row.id)
            columns = ["case", "state", "disagreement", "judgements", "questions"]
            rows = [{"case": one.id} | {name: getattr(one, name) for name in columns[1:]} for one in found]
            show({"cases": rows}, table(rows, columns, empty="Nobody disagrees."), json=admin.as_json)
            return
        act = (desk.session, desk.office, desk.actor, case)
        made = adjudication.reopen(*act, reason) if reopen else adjudication.decide(*act, _answers(answer), reason)
    show({"case": case, "kind": made.kind, "by": made.by}, [f"The case is {made.kind}."], json=admin.as_json)


def _answers(given: tuple[str, ...]) -> Any:
    from basanite.campaign.model.refusals import refused
    from basanite.campaign.work.panels.adjudication import NONE_OF_THESE

    if given == (NONE,):
        return NONE_OF_THESE
    pairs = [text.partition("=") for text in given]
    if not pairs or not all(sign for _, sign, _ in pairs):
        fix = f"write --answer QUESTION=VALUE, or --answer {NONE}"
        raise refused("M88", "there is no decision", fix, status=422)
    return {name: value for name, _, value in pairs}


@click.command("pay", epilog=example("basanite admin panel pay key --data season"))
@PANEL
@click.option("--payroll", type=PATH, help="Write the payroll with names and addresses to this CSV file.")
@campaign_option
@admin_options
def pay(which: str, payroll: Path | None, campaign: str, admin: AdminOptions) -> None:
    """Show what each judge did and is owed, and the resulting hourly rate."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import payroll as paying

        row = the_panel(desk, campaign, which)
        found = paying.statements(desk.session, desk.office, row.id)
        if payroll is not None:
            write_new(payroll, paying.payroll(desk.session, desk.office, desk.actor, row.id))
    columns = ["person_id", "group", "state", "items", "hours", "pay", "currency", "rate", "below_floor", "missing"]
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    low = [f"{sum(one.below_floor for one in found)} judges earn less than the hourly minimum."]
    words = [
        *table(rows, columns, empty="No judges are enrolled yet."),
        *(low if any(one.below_floor for one in found) else []),
    ]
    show({"statements": rows}, words, json=admin.as_json)


@click.group("batch", epilog=example("basanite admin panel batch export key --out batch --data season"))
def batch() -> None:
    """Use a crowd platform: export a batch, import its results, look them up."""


@batch.command("export", epilog=example("basanite admin panel batch export key --out batch --data season"))
@PANEL
@click.option("--out", type=PATH, required=True, help="A new folder for the template and the table.")
@click.option(
    "--images", default="", metavar="URL", help="The https address where workers' browsers reach this server."
)
@campaign_option
@admin_options
def export_batch(which: str, out: Path, images: str, campaign: str, admin: AdminOptions) -> None:
    """Write template.xml and batch.csv; every row is sealed, and only results for these rows are accepted."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import batches

        row = the_panel(desk, campaign, which)
        made = batches.export_batch(desk.session, desk.office, desk.actor, row.id, image_base=images)
        new_folder(out)
        (out / "template.xml").write_text(made.template, encoding="utf-8")
        (out / "batch.csv").write_bytes(made.table)
    shown = {"batch": made.batch_id, "number": made.number, "rows": made.rows, "assignments": made.assignments}
    words = f"Batch {made.batch_id}: {made.rows} rows for {made.assignments} workers each, in {out.name}."
    show(shown, [words], json=admin.as_json)


@batch.command("import", epilog=example("basanite admin panel batch import key newest results.csv --data season"))
@PANEL
@click.argument("sent", metavar="BATCH")
@click.argument("results", type=PATH)
@campaign_option
@admin_options
def import_batch(which: str, sent: str, results: Path, campaign: str, admin: AdminOptions) -> None:
    """Import the RESULTS of a BATCH (an id, or the newest), all or nothing; workers get pseudonyms."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import batches
        from basanite.formats.bounded import read_bounded

        row = the_panel(desk, campaign, which)
        if sent == NEWEST:
            sent = newest(batches.batches(desk.session, row.id), "batch")
        batches.find_batch(desk.session, sent, panel_id=row.id)
        raw = read_bounded(results, batches.LARGEST)
        found = batches.import_batch(desk.session, desk.office, desk.actor, sent, raw, file=results.name)
    shown = {"batch": found.batch_id, "votes": found.votes, "repeated": found.repeated, "rejected": found.rejected}
    words = f"{found.votes} new votes; {found.repeated} were known, {found.rejected} were rejected on the platform."
    notes = [f"Line {one.line}: {one.message}" for one in found.problems]
    show(shown | {"notes": notes}, [words, *notes], json=admin.as_json)


@batch.command("raw", epilog=example("basanite admin panel batch raw key newest --out raw --data season"))
@PANEL
@click.argument("sent", metavar="BATCH")
@click.option("--out", type=PATH, required=True, help="A new folder for the files.")
@campaign_option
@admin_options
def raw_batch(which: str, sent: str, out: Path, campaign: str, admin: AdminOptions) -> None:
    """Write the imported results of a BATCH (an id, or the newest) unchanged; they name workers, so the access is
    logged."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import batches

        row = the_panel(desk, campaign, which)
        if sent == NEWEST:
            sent = newest(batches.batches(desk.session, row.id), "batch")
        batches.find_batch(desk.session, sent, panel_id=row.id)
        found = batches.raw_results(desk.session, desk.office, desk.actor, sent)
        new_folder(out)
        names = [f"results-{number}.csv" for number in range(1, len(found) + 1)]
        for name, content in zip(names, found, strict=True):
            (out / name).write_bytes(content)
    words = f"{plural('file', len(found))} in {out.name}." if found else "No results of this batch were imported yet."
    show({"batch": sent, "files": names}, [words], json=admin.as_json)


@click.command("files", epilog=example("basanite admin panel files key --out judged --data season"))
@PANEL
@click.option("--out", type=PATH, required=True, help="A new folder for all files.")
@campaign_option
@admin_options
def files(which: str, out: Path, campaign: str, admin: AdminOptions) -> None:
    """Write a panel's results as files of the declared formats, with the rule and the digest of all judgments."""
    with at_desk(admin) as desk:
        from basanite.campaign.work.panels import outcome

        made = outcome.files(desk.session, desk.office, the_panel(desk, campaign, which).id)
        new_folder(out)
        for one in made.files:
            (out / one.name).parent.mkdir(parents=True, exist_ok=True)
            (out / one.name).write_bytes(one.content)
    rows = [{"file": one.name, "note": one.note, "open": len(one.undecided)} for one in made.files]
    shown = {"files": rows, "digest": made.digest, "rule": made.rule, "undecided": made.undecided}
    words = [*table(rows, ["file", "open", "note"], empty="There are no results yet."), f"Judgments: {made.digest}"]
    show(shown, words, json=admin.as_json)


@click.command(
    "reference",
    epilog=example(
        "basanite admin panel reference done --task CLIR --dataset DEV --language 1A --queryset QUERY1 "
        '--reason "two annotators and an adjudicator" --data season'
    ),
)
@PANEL
@PLACE[0]
@PLACE[1]
@PLACE[2]
@PLACE[3]
@click.option("--unfinished", is_flag=True, help="Items without an answer may be left out.")
@reason_option
@campaign_option
@admin_options
def reference(which: str, reason: str, campaign: str, admin: AdminOptions, **given: Any) -> None:
    """Create a version of a reference from a closed panel's results: checked, sealed and previewed like any other."""
    with at_desk(admin) as desk:
        row, actor = the_panel(desk, campaign, which), desk.actor
    with refusals(json=admin.as_json), open_office(admin.data) as office:
        from basanite.campaign.actions.references import Place
        from basanite.campaign.work.panels import outcome

        place = Place(given["task"], given["dataset"], given["language"], given["queryset"])
        done = {"reason": reason, "unfinished": given["unfinished"]}
        made = outcome.make_reference(office, actor, row.id, place, **done)
    shown = {"reference": made.id, "version": made.version, "state": made.state, "commitment": made.commitment}
    show(shown, [f"Version {made.version} is {made.state}. Commitment: {made.commitment}"], json=admin.as_json)


def new_folder(out: Path) -> None:
    """Make a folder that must not be there: nothing is written over."""
    from basanite.campaign.model.refusals import refused

    try:
        out.mkdir(parents=True)
    except FileExistsError:
        raise refused("P-3", f"{out.name} already exists", "choose another name", status=409) from None


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not be there, for its owner's eyes only: a payroll names people (P-21)."""
    import os

    from basanite.campaign.model.refusals import refused

    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise refused("P-3", f"{path.name} already exists", "choose another name", status=409) from None
    with open(handle, "wb") as file:
        file.write(content)
