"""`basanite admin panel adjudicate|pay|batch|files|reference`: what comes of what judges said."""

from __future__ import annotations

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
    table,
    the_campaign,
)
from basanite.cli.admin.season.rescoring import NEWEST, newest
from basanite.cli.admin.season.truth import PLACE
from basanite.cli.operating.office import opened
from basanite.cli.options import PATH, example
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.campaign.store.tables import Panel

PANEL = click.argument("which", metavar="PANEL")
NONE = "none"
"""What is typed for none of these."""


def the_panel(desk: Desk, campaign: str, which: str) -> Panel:
    """The panel of a name or id in the campaign that is meant."""
    from basanite.campaign.panels.found import panel_named

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
    which: str,
    case: str,
    answer: tuple[str, ...],
    reopen: bool,
    reason: str,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """List disagreements, the widest first, or decide one with a reason."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.panels.deciding import adjudicating

        row = the_panel(desk, campaign, which)
        if not case:
            found = adjudicating.queue(desk.session, row.id)
            columns = ["case", "state", "disagreement", "judgements", "questions"]
            rows = [{"case": one.id} | {name: getattr(one, name) for name in columns[1:]} for one in found]
            show({"cases": rows}, table(rows, columns, empty="Nobody disagrees."), json=as_json)
            return
        act = (desk.session, desk.office, desk.actor, case)
        made = adjudicating.reopen(*act, reason) if reopen else adjudicating.decide(*act, _answers(answer), reason)
    show({"case": case, "kind": made.kind, "by": made.by}, [f"The case is {made.kind}."], json=as_json)


def _answers(given: tuple[str, ...]) -> Any:
    from basanite.campaign.model.refusals import refused
    from basanite.campaign.panels.deciding.adjudicating import NONE_OF_THESE

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
def pay(which: str, payroll: Path | None, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Show what each judge did and is owed, and what an hour came to."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.panels.watching import paying

        row = the_panel(desk, campaign, which)
        found = paying.statements(desk.session, desk.office, row.id)
        if payroll is not None:
            write_new(payroll, paying.payroll(desk.session, desk.office, desk.actor, row.id))
    columns = ["person_id", "group", "state", "items", "hours", "pay", "currency", "rate", "below_floor", "missing"]
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    low = [f"{sum(one.below_floor for one in found)} judges are below the floor of an hour."]
    words = [
        *table(rows, columns, empty="Nobody has a seat yet."),
        *(low if any(one.below_floor for one in found) else []),
    ]
    show({"statements": rows}, words, json=as_json)


@click.group("batch", epilog=example("basanite admin panel batch export key --out batch --data season"))
def batch() -> None:
    """Have a batch judged on a crowd platform: export it, import its results, look them up."""


@batch.command("export", epilog=example("basanite admin panel batch export key --out batch --data season"))
@PANEL
@click.option("--out", type=PATH, required=True, help="A new folder for the template and the table.")
@click.option("--images", default="", metavar="URL", help="Where workers' browsers reach this server; https.")
@campaign_option
@admin_options
def export_batch(
    which: str, out: Path, images: str, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Write template.xml and batch.csv; every row is sealed, and results are taken for these rows alone."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.panels.preparing import batches

        row = the_panel(desk, campaign, which)
        made = batches.export_batch(desk.session, desk.office, desk.actor, row.id, image_base=images)
        new_folder(out)
        (out / "template.xml").write_text(made.template, encoding="utf-8")
        (out / "batch.csv").write_bytes(made.table)
    shown = {"batch": made.batch_id, "number": made.number, "rows": made.rows, "assignments": made.assignments}
    words = f"Batch {made.batch_id}: {made.rows} rows for {made.assignments} workers each, in {out.name}."
    show(shown, [words], json=as_json)


@batch.command("import", epilog=example("basanite admin panel batch import key newest results.csv --data season"))
@PANEL
@click.argument("sent", metavar="BATCH")
@click.argument("results", type=PATH)
@campaign_option
@admin_options
def import_batch(
    which: str, sent: str, results: Path, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Take in the RESULTS of a BATCH (an id, or the newest): all or nothing; workers get names that tell nothing."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.panels.preparing import batches
        from basanite.formats.bounded import read_bounded

        row = the_panel(desk, campaign, which)
        if sent == NEWEST:
            sent = newest(batches.batches(desk.session, row.id), "batch")
        batches.find_batch(desk.session, sent, panel_id=row.id)
        raw = read_bounded(results, batches.LARGEST)
        found = batches.import_batch(desk.session, desk.office, desk.actor, sent, raw, file=results.name)
    shown = {"batch": found.batch_id, "votes": found.votes, "repeated": found.repeated, "rejected": found.rejected}
    words = f"{found.votes} new votes; {found.repeated} were known, {found.rejected} had been rejected there."
    notes = [f"Line {one.line}: {one.message}" for one in found.problems]
    show(shown | {"notes": notes}, [words, *notes], json=as_json)


@batch.command("raw", epilog=example("basanite admin panel batch raw key newest --out raw --data season"))
@PANEL
@click.argument("sent", metavar="BATCH")
@click.option("--out", type=PATH, required=True, help="A new folder for the files.")
@campaign_option
@admin_options
def raw_batch(
    which: str, sent: str, out: Path, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Write the imported results of a BATCH (an id, or the newest) as they came; they name workers, so it is logged."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.panels.preparing import batches

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
    show({"batch": sent, "files": names}, [words], json=as_json)


@click.command("files", epilog=example("basanite admin panel files key --out judged --data season"))
@PANEL
@click.option("--out", type=PATH, required=True, help="A new folder for all files.")
@campaign_option
@admin_options
def files(which: str, out: Path, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """Write what a panel said as files of the declared formats, with the rule and the digest of all judgements."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.panels.deciding import ending

        made = ending.files(desk.session, desk.office, the_panel(desk, campaign, which).id)
        new_folder(out)
        for one in made.files:
            (out / one.name).parent.mkdir(parents=True, exist_ok=True)
            (out / one.name).write_bytes(one.content)
    rows = [{"file": one.name, "note": one.note, "open": len(one.undecided)} for one in made.files]
    shown = {"files": rows, "digest": made.digest, "rule": made.rule, "undecided": made.undecided}
    words = [*table(rows, ["file", "open", "note"], empty="There is nothing yet."), f"Judgements: {made.digest}"]
    show(shown, words, json=as_json)


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
def reference(
    which: str, reason: str, campaign: str, data: Path | None, mail: str | None, as_json: bool, **given: Any
) -> None:
    """Make a version of the truth of what a closed panel said: checked, sealed, and previewed like any other."""
    with at_desk(data, mail, json=as_json) as desk:
        row, actor = the_panel(desk, campaign, which), desk.actor
    with refusals(json=as_json), opened(data) as office:
        from basanite.campaign.organising.references import Place
        from basanite.campaign.panels.deciding import ending

        place = Place(given["task"], given["dataset"], given["language"], given["queryset"])
        done = {"reason": reason, "unfinished": given["unfinished"]}
        made = ending.make_reference(office, actor, row.id, place, **done)
    shown = {"reference": made.id, "version": made.version, "state": made.state, "commitment": made.commitment}
    show(shown, [f"Version {made.version} is {made.state}. Commitment: {made.commitment}"], json=as_json)


def new_folder(out: Path) -> None:
    """Make a folder that must not be there: nothing is written over."""
    from basanite.campaign.model.refusals import refused

    try:
        out.mkdir(parents=True)
    except FileExistsError:
        raise refused("P-3", f"{out.name} is there already", "choose another name", status=409) from None


def write_new(path: Path, content: bytes) -> None:
    """Write a file that must not be there, for its owner's eyes only: a payroll names people (P-21)."""
    import os

    from basanite.campaign.model.refusals import refused

    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise refused("P-3", f"{path.name} is there already", "choose another name", status=409) from None
    with open(handle, "wb") as file:
        file.write(content)
