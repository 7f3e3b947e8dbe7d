"""`basanite judge batch`: a template and a table for a crowd platform, and its results back, bound by a key (X-18)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import click

from basanite.cli.judge.schemes import JUDGING, scheme_at
from basanite.cli.locks import make_key
from basanite.cli.options import PATH, as_json, example, guarded, say, show_findings, show_report
from basanite.cli.reading import plain
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.bounded import read_bounded
from basanite.formats.retrieval.conversion import refuse_to_overwrite, whole_or_absent
from basanite.judging.batches.exporting import Batch
from basanite.judging.batches.offline import (
    LARGEST,
    Record,
    Taken,
    export_offline,
    judgements_table,
    read_offline_items,
    read_record,
    take_results,
)
from basanite.judging.scheme import Scheme
from basanite.judging.schemes.reading import LARGEST as LARGEST_SCHEME
from basanite.problems import Findings
from basanite.reports.model import Report
from basanite.reports.wording import plural

FORMAT: Final = "basanite-batch-report/1"
TEMPLATE, ROWS, RECORD = "question.xml", "batch.csv", "record.json"
KEY: Final = re.compile(r"[0-9a-f]{64}")
EXPORT: Final = "basanite judge batch export schemes/binary.toml --items pool.csv --out batch --key batch.key"
key_file = click.option(
    "--key", type=PATH, required=True, help="The key's file; an export makes it if it is not there."
)


@click.group(epilog=example(EXPORT))
def batch() -> None:
    """Batches for a crowd platform: export a template and a table, import what workers answered."""


@batch.command(name="export", epilog=example(EXPORT))
@click.argument("scheme", type=PATH)
@click.option(
    "--items", type=PATH, required=True, help="The table of items, as for a panel; pictures by https address."
)
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@key_file
@as_json
def export(scheme: Path, items: Path, out: Path, key: Path, as_json: bool) -> None:
    """Write what a crowd platform needs to judge the items by the file SCHEME, each row sealed by the key.

    question.xml is the page that workers see and batch.csv its table. record.json stays with you: it holds the facts
    that workers must not see, and results are held against it.
    """
    refuse_to_overwrite(out)
    chosen = guarded(lambda: scheme_at(scheme), json=as_json)
    if not key.exists():
        make_key(key)
    secret = _key(key)
    made, findings = read_offline_items(items, chosen, secret)
    guarded(lambda: _sound(findings), json=as_json)
    sent, record = export_offline(chosen, read_bounded(scheme, LARGEST_SCHEME).decode("utf-8", "replace"), made, secret)
    with whole_or_absent(out, items) as folder:
        folder.mkdir(mode=0o700)
        for name, content in ((TEMPLATE, sent.template.encode()), (ROWS, sent.table), (RECORD, record)):
            (folder / name).write_bytes(content)
    show_report(_sent(chosen, sent), json=as_json)


def _key(path: Path) -> bytes:
    words = read_bounded(path, 1000).decode("ascii", "replace").strip().lower()
    if not KEY.fullmatch(words):
        raise SettingError(f"{path} holds no key: it has 64 hexadecimal digits. An export makes one with --key NEW.")
    return bytes.fromhex(words)


def _sound(findings: Findings) -> None:
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain(findings))


def _sent(scheme: Scheme, sent: Batch) -> Report:
    wanted = plural("judgement", sent.assignments)
    data: dict[str, Any] = {
        "format": FORMAT,
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
@click.option("--out", type=PATH, required=True, help="The table of judgements to write; must not exist yet.")
@as_json
def import_(folder: Path, results: tuple[Path, ...], key: Path, out: Path, as_json: bool) -> None:
    """Read RESULTS of the batch in FOLDER: all of them, or none if one row was not sent out or was changed.

    Workers' names are replaced at once. Exit code 0: taken; 1: refused, with every row that is wrong.
    """
    refuse_to_overwrite(out)
    secret = _key(key)
    record = guarded(lambda: _record(folder / RECORD, secret), json=as_json)
    taken = take_results(record, [(path.name, read_bounded(path, LARGEST)) for path in results], secret)
    guarded(lambda: _sound(taken.findings), json=as_json)
    with whole_or_absent(out, folder) as path:
        path.write_bytes(judgements_table(record, taken.votes))
    if not as_json:
        show_findings(plain(taken.findings), JUDGING, json=False)
    show_report(_taken(record, taken), json=as_json)
    if not as_json:
        say(f"Written to {out}")


def _record(path: Path, key: bytes) -> Record:
    found, problems = read_record(read_bounded(path, LARGEST), path.name, key)
    findings = Findings()
    findings.extend(problems)
    if found is None:
        raise InvalidInputError(JUDGING, plain(findings))
    return found


def _taken(record: Record, taken: Taken) -> Report:
    rows, judges = {vote.item for vote in taken.votes}, {vote.judge for vote in taken.votes}
    data: dict[str, Any] = {
        "format": FORMAT,
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
            f"{plural('judgement', len(taken.votes))} by {plural('judge', len(judges))} on {len(rows)} of "
            f"{plural('row', len(record.batch.hits))}; {taken.rejected} rejected ones are no votes.",
        ),
    )
