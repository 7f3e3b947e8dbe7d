"""`basanite annotation export` and `import`: annotations in the formats of other tools, and what they cannot keep."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.options import PATH, Command, as_json, example, problem_line, say
from basanite.cli.reading import checked, plain
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings, Problem, visible
from basanite.reports.formats import json_output
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.annotation.config import Config
    from basanite.annotation.exchange.model import Annotated
    from basanite.reading.package import Document, Package

NAME = "annotation"
MARKS = ("brat", "label-studio", "conll", "web-annotation")
FORMAL = ("annotations", "pairs", "turtle", "rdfxml", "jsonld", "nquads")


def case_options(command: Command) -> Command:
    """Add `--config` and `--package`."""
    for option in (
        click.option("--package", type=PATH, required=True, help="The reading package with the texts."),
        click.option("--config", type=PATH, required=True, help="The configuration of the use case."),
    ):
        command = option(command)
    return command


@click.command(
    "import",
    epilog=example(
        "basanite annotation import brat --from brat --config nfl-scoring.yaml --package nfl --out imported.ndjson"
    ),
)
@click.argument("source", type=PATH)
@click.option("--from", "format_", type=click.Choice(MARKS), required=True, help="The format of SOURCE.")
@case_options
@click.option("--annotator", default="", help="Who annotated; without it, what SOURCE says.")
@click.option("--out", type=PATH, required=True, help="The file of records to write; must not exist yet.")
@as_json
def import_(source: Path, format_: str, config: Path, package: Path, annotator: str, out: Path, as_json: bool) -> None:
    """Read the annotations in SOURCE (a folder for brat, else a file) as records of CONFIG.

    It prints what could not be kept. Exit code 1: SOURCE has problems, and nothing is written.
    """
    from basanite.annotation.record_files import record_lines

    case = _case(config, package, json=as_json)
    findings = Findings()
    found = _read(format_, source, case, findings)
    records = [_record(case, one, annotator, findings) for one in found]
    if findings.valid:
        _write_new(out, "".join(f"{line}\n" for line in record_lines(records)).encode())
    events = sum(len(one.events) for one in records)
    _finish(findings, out, {"records": len(records), "events": events}, json=as_json)


@click.command(
    "export",
    epilog=example(
        "basanite annotation export older/records.ndjson --to brat --config nfl-scoring.yaml --package nfl --out brat2"
    ),
)
@click.argument("records", type=PATH)
@click.option("--to", "format_", type=click.Choice((*MARKS, *FORMAL)), required=True, help="The format to write.")
@case_options
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@as_json
def export(records: Path, format_: str, config: Path, package: Path, out: Path, as_json: bool) -> None:
    """Write the annotations in the file RECORDS in another format, and tell what it cannot keep.

    The formal formats hold what the annotations assert: lines of a package, pairs of assertion and text, RDF.
    """
    from basanite.annotation.migrating import migrate
    from basanite.annotation.record_files import read_records

    case, findings = _case(config, package, json=as_json), Findings()
    copies, _ = migrate(case.config, read_records(records, findings))
    files = case.files(format_, copies, findings) if findings.valid else {}
    if findings.valid:
        _write_folder(out, files)
    _finish(findings, out, {"files": sorted(files), "records": len(copies)}, json=as_json)


class Case:
    """A use case: its configuration, its package and the texts in it."""

    def __init__(self, config: Config, package: Package) -> None:
        self.config, self.package = config, package
        parts = [part.name for part in package.manifest.parts if package.has(part)]
        self.documents: dict[str, Document] = {
            name: document for part in parts for name, document in package.documents(part).items()
        }

    def files(self, format_: str, records: Sequence[Any], findings: Findings) -> dict[str, bytes]:
        """The files of some records in a format."""
        from basanite.annotation.events import replay
        from basanite.annotation.exchange.formats import format_named, write_to
        from basanite.annotation.exchange.records import annotated_of
        from basanite.annotation.exchange.statements import write_formal
        from basanite.annotation.mapping import assertions

        known = [one for one in records if self._has(one.document, findings)]
        states = [(self.documents[one.document], replay(self.config, one.events), one.annotator) for one in known]
        if format_ in MARKS:
            marks = [annotated_of(self.config, text, state, annotator=who) for text, state, who in states]
            return write_to(format_named(format_), marks, findings)
        said = [(text, assertions(self.config, state, text, annotator=who)) for text, state, who in states]
        return write_formal(format_, said, self.package.manifest.prefixes)

    def _has(self, name: str, findings: Findings) -> bool:
        if name not in self.documents:
            fix = "give the package that the records belong to"
            findings.add(Problem("P-32", name[:100], None, None, "the package has no such text", fix))
        return name in self.documents


def _case(config: Path, package: Path, *, json: bool) -> Case:
    from basanite.annotation.config import read_config
    from basanite.reading.package.model import read_package

    def read() -> Case:
        findings = Findings()
        found = read_package(package, findings)
        sound, problems = read_config(config, package)
        findings.extend(problems)
        if found is None or sound is None or not findings.valid:
            raise InvalidInputError(NAME, findings)
        return Case(sound, found)

    return checked(read, json=json)


def _read(format_: str, source: Path, case: Case, findings: Findings) -> list[Annotated]:
    from basanite.annotation.exchange.formats import format_named

    texts = {name: document.text for name, document in case.documents.items()}
    found = format_named(format_).read(source, texts, findings)
    for one in found:
        if texts.get(one.document) != one.text:
            words = (
                "its text is another one in the package" if one.document in texts else "the package has no such text"
            )
            findings.add(Problem("P-32", one.document[:100], None, None, words, "give the package it belongs to"))
    return found


def _record(case: Case, one: Annotated, annotator: str, findings: Findings) -> Any:
    from basanite.annotation.exchange.model import Losses
    from basanite.annotation.exchange.records import events_of
    from basanite.annotation.migrating import Record

    losses = Losses(one.document)
    events = events_of(case.config, one, losses, salt=annotator or one.annotator)
    findings.extend(losses.problems())
    return Record(one.document, annotator or one.annotator, case.config.version, events)


def _write_new(out: Path, data: bytes) -> None:
    def write() -> None:
        with out.open("xb") as file:
            file.write(data)

    _guarded(out, write)


def _write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    def write() -> None:
        out.mkdir()
        for name, data in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(data)

    _guarded(out, write)


def _guarded(out: Path, write: Callable[[], None]) -> None:
    try:
        write()
    except FileExistsError:
        raise SettingError(f"{out} exists already. Choose another name: nothing is ever written over.") from None
    except OSError as error:
        raise SettingError(f"{out} cannot be written: {error.strerror}. Choose another place.") from None


def _finish(findings: Findings, out: Path, counts: Mapping[str, Any], *, json: bool) -> None:
    """Say what was written and what was not kept, or all that is wrong; then nothing is written."""
    if json:
        written = str(out) if findings.valid else None
        sys.stdout.write(json_output.dumps({**findings.as_dict(NAME), **counts, "written": written}))
    else:
        for problem in plain(findings):
            say(problem_line(problem))
        told = plural("record", counts["records"])
        say(f"{told} written to {visible(str(out))}" if findings.valid else f"{visible(str(out))} was not written.")
    if not findings.valid:
        raise click.exceptions.Exit(1)
