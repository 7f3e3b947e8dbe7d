"""`basanite judge`: its commands, and batches for a crowd, without a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import click

from basanite.cli.judge_agreement import agreement
from basanite.cli.judge_calibration import calibrate_command, sample
from basanite.cli.judge_correlation import correlate
from basanite.cli.judge_costs import cost
from basanite.cli.judge_models import by_model, effects
from basanite.cli.judge_rounds import JUDGING, check, plan, prepare, preset, scheme_at
from basanite.cli.judge_systems import systems
from basanite.cli.locks import make_key
from basanite.cli.options import (
    PATH,
    as_json,
    example,
    plain_findings,
    run_or_exit,
    say,
    schema_command,
    show_findings,
    show_report,
)
from basanite.cli.queries import catalogue_option, chosen_catalogue
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.archives.output import refuse_to_overwrite, whole_or_absent
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reports.report import Report
from basanite.reports.wording import plural
from basanite.work.batches import Batch
from basanite.work.offline_batches import (
    LARGEST,
    Record,
    Taken,
    export_offline,
    judgements_table,
    read_offline_items,
    read_record,
    take_results,
)
from basanite.work.scheme import LARGEST as LARGEST_SCHEME
from basanite.work.scheme import Scheme

BATCH_FORMAT: Final = "basanite-batch-report/1"
TEMPLATE, ROWS, RECORD = "question.xml", "batch.csv", "record.json"
KEY: Final = re.compile(r"[0-9a-f]{64}")
EXPORT: Final = "basanite judge batch export schemes/binary.toml --items pool.csv --out batch --key batch.key"
key_file = click.option(
    "--key", type=PATH, required=True, help="The key's file; an export makes it if it is not there."
)


@click.group(epilog=example(EXPORT))
def batch() -> None:
    """Batches for a crowd platform: export a template and a table, import workers' answers."""


@batch.command(name="export", epilog=example(EXPORT))
@click.argument("scheme", type=PATH)
@click.option(
    "--items", type=PATH, required=True, help="The table of items, as for a panel; pictures by https address."
)
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@key_file
@catalogue_option
@as_json
def export(scheme: Path, items: Path, out: Path, key: Path, catalogue: Path | None, as_json: bool) -> None:
    """Write the files with which a crowd platform judges the items by the file SCHEME; the key seals each row.

    Domains are explained by their definitions, and queries in plain words if the scheme names their notation.

    question.xml is the page that workers see and batch.csv its table. Keep record.json: it holds what workers
    must not see, and results are checked against it.
    """
    refuse_to_overwrite(out)
    domains = chosen_catalogue(catalogue, json=as_json)
    chosen = run_or_exit(lambda: scheme_at(scheme), json=as_json)
    if not key.exists():
        make_key(key)
    secret = _key(key)
    made, findings = read_offline_items(items, chosen, secret)
    run_or_exit(lambda: _sound(findings), json=as_json)
    text = read_bounded(scheme, LARGEST_SCHEME).decode("utf-8", "replace")
    sent, record = export_offline(chosen, text, made, secret, catalogue=domains)
    with whole_or_absent(out, items) as folder:
        folder.mkdir(mode=0o700)
        for name, content in ((TEMPLATE, sent.template.encode()), (ROWS, sent.table), (RECORD, record)):
            (folder / name).write_bytes(content)
    show_report(_export_report(chosen, sent), json=as_json)


def _key(path: Path) -> bytes:
    words = read_bounded(path, 1000).decode("ascii", "replace").strip().lower()
    if not KEY.fullmatch(words):
        raise SettingError(f"{path} holds no key: it has 64 hexadecimal digits. An export makes one with --key NEW.")
    return bytes.fromhex(words)


def _sound(findings: Findings) -> None:
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))


def _export_report(scheme: Scheme, sent: Batch) -> Report:
    wanted = plural("judgement", sent.assignments)
    data: dict[str, Any] = {
        "format": BATCH_FORMAT,
        "scheme": scheme.name,
        "rows": len(sent.hits),
        "assignments": sent.assignments,
        "files": [TEMPLATE, ROWS, RECORD],
    }
    return Report(
        title="A batch",
        subtitle=scheme.title,
        sections=(),
        facts=(),
        data=data,
        sentences=(f"{plural('row', len(sent.hits))}, {wanted} of each.", sent.lifetime_note),
    )


@batch.command(
    name="import", epilog=example("basanite judge batch import batch results.csv --key batch.key --out j.csv")
)
@click.argument("folder", type=PATH)
@click.argument("results", type=PATH, nargs=-1, required=True)
@key_file
@click.option("--out", type=PATH, required=True, help="The table of judgments to write; must not exist yet.")
@as_json
def import_(folder: Path, results: tuple[Path, ...], key: Path, out: Path, as_json: bool) -> None:
    """Import RESULTS of the batch in FOLDER: all of them, or none if a row was changed or never sent out.

    Workers' names are replaced at once. Exit code 0: imported; 1: rejected, with every invalid row.
    """
    refuse_to_overwrite(out)
    secret = _key(key)
    record = run_or_exit(lambda: _record(folder / RECORD, secret), json=as_json)
    taken = take_results(record, [(path.name, read_bounded(path, LARGEST)) for path in results], secret)
    run_or_exit(lambda: _sound(taken.findings), json=as_json)
    with whole_or_absent(out, folder) as path:
        path.write_bytes(judgements_table(record, taken.votes))
    if not as_json:
        show_findings(plain_findings(taken.findings), JUDGING, json=False)
    show_report(_import_report(record, taken), json=as_json)
    if not as_json:
        say(f"Written to {out}")


def _record(path: Path, key: bytes) -> Record:
    found, problems = read_record(read_bounded(path, LARGEST), path.name, key)
    findings = Findings()
    findings.extend(problems)
    if found is None:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return found


def _import_report(record: Record, taken: Taken) -> Report:
    rows, judges = {vote.item for vote in taken.votes}, {vote.judge for vote in taken.votes}
    data: dict[str, Any] = {
        "format": BATCH_FORMAT,
        "scheme": record.scheme.name,
        "judgements": len(taken.votes),
        "judges": len(judges),
        "rows": len(record.batch.hits),
        "rows_judged": len(rows),
        "rejected": taken.rejected,
        "warnings": [problem.as_dict() for problem in taken.findings],
    }
    return Report(
        title="Results of a batch",
        subtitle=record.scheme.title,
        sections=(),
        facts=(),
        data=data,
        sentences=(
            f"{plural('judgment', len(taken.votes))} by {plural('judge', len(judges))} on {len(rows)} of "
            f"{plural('row', len(record.batch.hits))}; {taken.rejected} rejected ones are no votes.",
        ),
    )


@click.group(
    epilog=example("basanite judge check schemes/headline.toml"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def judge() -> None:
    """Judging by people and models: schemes, rounds, crowd batches, agreement, rankings, calibrated judges."""


for command in (
    check, preset, schema_command("judge"), prepare, plan, cost, batch, agreement, systems, correlate, by_model,
    effects, sample, calibrate_command,
):  # fmt: skip
    judge.add_command(command)
