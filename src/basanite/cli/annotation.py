"""`basanite annotation`: check, compare and migrate configurations, and exchange records with other tools (R-14)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite import canonical
from basanite.cli.options import (
    PATH,
    Command,
    as_json,
    example,
    plain_findings,
    problem_line,
    run_or_exit,
    say,
    show_findings,
)
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings, Problem, visible
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.reading.package import Document, Package
    from basanite.work.annotation.config import Config
    from basanite.work.exchange.model import Annotated


NAME = "annotation"
MARKS = ("brat", "label-studio", "conll", "web-annotation")
FORMAL = ("annotations", "pairs", "turtle", "rdfxml", "jsonld", "nquads")


def case_options(command: Command, *, required: bool = True) -> Command:
    """Add `--config` and `--package`."""
    for option in (
        click.option("--package", type=PATH, required=required, help="The reading package with the texts."),
        click.option("--config", type=PATH, required=required, help="The annotation configuration."),
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
@partial(case_options, required=False)
@click.option("--annotator", default="", help="The annotator. [default: as stated in SOURCE]")
@click.option("--out", type=PATH, required=True, help="The file or folder to write; must not exist yet.")
@as_json
def import_(
    source: Path, format_: str, config: Path | None, package: Path | None, annotator: str, out: Path, as_json: bool
) -> None:
    """Import the annotations in SOURCE (a folder for brat, otherwise a file) as records of a configuration.

    Without --config and --package, it writes a folder with a package and a configuration made from the texts and labels
    of SOURCE, and the records beside them. It lists what could not be imported. Exit code 1: SOURCE has problems, and
    nothing is written.
    """
    from basanite.work.annotation.migration import record_lines

    if (config is None) != (package is None):
        raise click.UsageError("Give both --config and --package, or neither: then both are made from SOURCE.")
    if config is None or package is None:
        _import_project(source, format_, annotator, out, json=as_json)
        return
    case = _case(config, package, json=as_json)
    findings = Findings()
    found = _read_marks(format_, source, case, findings)
    records = [_record(case, one, annotator, findings) for one in found]
    if findings.valid:
        _write_new(out, "".join(f"{line}\n" for line in record_lines(records)).encode())
    events = sum(len(one.events) for one in records)
    _finish(findings, out, {"records": len(records), "events": events}, json=as_json)


def _import_project(source: Path, format_: str, annotator: str, out: Path, *, json: bool) -> None:
    """Make a package and a configuration of a project of another tool, and records of its annotations."""
    from basanite.work.annotation.bare_package import CONFIG, RECORDS, write_package
    from basanite.work.annotation.migration import record_lines
    from basanite.work.exchange.projects import read_project

    findings = Findings()
    project = read_project(source, findings, format_=format_)
    if findings.valid and not project.labels.names:
        fix = "annotate something, or add a schema such as annotation.conf"
        findings.add(Problem("R-40", source.name[:100], None, None, "there are no labels", fix))
    if not findings.valid:
        _finish(findings, out, {"records": 0, "events": 0}, json=json)
    _refuse_failed_write(out, out.mkdir)
    write_package(out, _package_name(source), project.texts, project.labels, title=source.resolve().stem)
    case = _case(out / CONFIG, out, json=json)
    records = [_record(case, one, annotator, findings) for one in project.annotated]
    _write_new(out / RECORDS, "".join(f"{line}\n" for line in record_lines(records)).encode())
    events = sum(len(one.events) for one in records)
    counts = {"records": len(records), "events": events, "texts": len(project.texts), "labels": project.labels.names}
    _finish(findings, out, counts, json=json)


def _package_name(source: Path) -> str:
    from basanite.work.annotation.source_texts import Names

    return Names().take(source.resolve().stem)


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
    """Export the annotations in the file RECORDS to another format, and list what it cannot represent.

    The formal formats hold the assertions: lines of a package, pairs of assertion and text, RDF.
    """
    from basanite.work.annotation.migration import migrate, read_records

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
        from basanite.work.annotation.mapping import assertions
        from basanite.work.annotation.replay import replay
        from basanite.work.exchange.formats import format_named, write_formal, write_to
        from basanite.work.exchange.model import annotated_of

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
    from basanite.reading.package.model import read_package
    from basanite.work.annotation.config import read_config

    def read() -> Case:
        findings = Findings()
        found = read_package(package, findings)
        sound, problems = read_config(config, package)
        findings.extend(problems)
        if found is None or sound is None or not findings.valid:
            raise InvalidInputError(NAME, findings)
        return Case(sound, found)

    return run_or_exit(read, json=json, plain=True)


def _read_marks(format_: str, source: Path, case: Case, findings: Findings) -> list[Annotated]:
    from basanite.work.exchange.formats import format_named

    texts = {name: document.text for name, document in case.documents.items()}
    found = format_named(format_).read(source, texts, findings)
    for one in found:
        if texts.get(one.document) != one.text:
            words = "its text differs from the package's" if one.document in texts else "the package has no such text"
            findings.add(Problem("P-32", one.document[:100], None, None, words, "give the package it belongs to"))
    return found


def _record(case: Case, one: Annotated, annotator: str, findings: Findings) -> Any:
    from basanite.work.annotation.migration import Record
    from basanite.work.exchange.model import Losses, events_of

    losses = Losses(one.document)
    events = events_of(case.config, one, losses, salt=annotator or one.annotator)
    findings.extend(losses.problems())
    return Record(one.document, annotator or one.annotator, case.config.version, events)


def _write_new(out: Path, data: bytes) -> None:
    def write() -> None:
        with out.open("xb") as file:
            file.write(data)

    _refuse_failed_write(out, write)


def _write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    def write() -> None:
        out.mkdir()
        for name, data in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(data)

    _refuse_failed_write(out, write)


def _refuse_failed_write(out: Path, write: Callable[[], None]) -> None:
    try:
        write()
    except FileExistsError:
        raise SettingError(
            f"{out} already exists. Choose another name: existing files are never overwritten."
        ) from None
    except OSError as error:
        raise SettingError(f"{out} cannot be written: {error.strerror}. Choose another place.") from None


def _finish(findings: Findings, out: Path, counts: Mapping[str, Any], *, json: bool) -> None:
    """Say what was written and what was not kept, or all that is wrong; then nothing is written."""
    if json:
        written = str(out) if findings.valid else None
        sys.stdout.write(canonical.dumps({**findings.as_dict(NAME), **counts, "written": written}))
    else:
        for problem in plain_findings(findings):
            say(problem_line(problem))
        told = plural("record", counts["records"])
        say(f"{told} written to {visible(str(out))}" if findings.valid else f"{visible(str(out))} was not written.")
    if not findings.valid:
        raise click.exceptions.Exit(1)


ANNOTATION = "annotation"


def package_option(command: Command) -> Command:
    """Add `--package`."""
    text = "The reading package that it is for: ontology, choices and guidelines are looked for there, too."
    return click.option("--package", type=PATH, help=text)(command)


@click.group(
    epilog=example("basanite annotation check nfl-scoring.yaml --package nfl"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def annotation() -> None:
    """Annotation: check configurations, compare versions, migrate, export and import records."""


annotation.add_command(export)
annotation.add_command(import_)


@annotation.command(epilog=example("basanite annotation check nfl-scoring.yaml --package nfl"))
@click.argument("config", type=PATH)
@package_option
@as_json
def check(config: Path, package: Path | None, as_json: bool) -> None:
    """Check the configuration in the file CONFIG. Exit code 0: valid; 1: not valid."""
    found, findings = _read_config(config, package)
    contents = _contents(found) if found else {}
    if as_json:
        sys.stdout.write(canonical.dumps({**findings.as_dict(ANNOTATION), "contents": contents}))
    else:
        show_findings(plain_findings(findings), ANNOTATION, json=False)
        click.echo("\n".join((*_content_lines(contents), f"{visible(config.name)} is {_order(findings)}.")))
    if not findings.valid:
        raise click.exceptions.Exit(1)


@annotation.command(epilog=example("basanite annotation schema --json"))
@as_json
def schema(as_json: bool) -> None:
    """Print the JSON Schema of configurations, for editors. The output is the same with and without --json."""
    from basanite.work.annotation.schema import json_schema

    sys.stdout.write(canonical.dumps(json_schema()))


@annotation.command(epilog=example("basanite annotation diff older/nfl-scoring-2.yaml nfl-scoring.yaml --package nfl"))
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@package_option
@as_json
def diff(old: Path, new: Path, package: Path | None, as_json: bool) -> None:
    """Compare the configurations OLD and NEW, and list what records would lose.

    Exit code 0: nothing is lost; 1: something is lost and no migration covers it.
    """
    from basanite.work.annotation.migration import differences

    found = differences(_sound(old, package, json=as_json), _sound(new, package, json=as_json))
    lost = sum(one.lost for one in found)
    if as_json:
        rows = [one.as_dict() for one in found]
        sys.stdout.write(canonical.dumps({"differences": rows, "lost": lost}))
    else:
        lines = (
            f"{one.kind:8} {one.what}{one.detail and f': {one.detail}'}{'   LOST' if one.lost else ''}" for one in found
        )
        _print(lines, f"{plural('difference', len(found))}, {lost} lost in records.")
    if lost:
        say("Describe under `migrate` what replaces it, or list it under `drop`.")
        raise click.exceptions.Exit(1)


@annotation.command(
    epilog=example("basanite annotation migrate nfl-scoring.yaml older/records.ndjson --package nfl --out new.ndjson")
)
@click.argument("config", type=PATH)
@click.argument("records", type=PATH)
@package_option
@click.option(
    "--out", type=PATH, help="Where the copy is written; must not exist yet. Without it, only the diff is shown."
)
@as_json
def migrate(config: Path, records: Path, package: Path | None, out: Path | None, as_json: bool) -> None:
    """Migrate RECORDS of older versions to the version of CONFIG, on a copy, with a diff."""
    from basanite.work.annotation.migration import migrate as migrated
    from basanite.work.annotation.migration import read_records, record_lines

    sound = _sound(config, package, json=as_json)
    copies, changes = migrated(sound, _valid(lambda findings: read_records(records, findings), json=as_json))
    if out is not None:
        _write(out, record_lines(copies))
    counts = dict(sorted(Counter(one.kind for one in changes).items()))
    if as_json:
        rows = [one.as_dict() for one in changes]
        data = {"version": sound.version, "records": len(copies), "counts": counts, "changes": rows}
        sys.stdout.write(canonical.dumps(data))
        return
    lines = (
        line
        for one in changes
        for line in (f"{one.kind} {one.document} {one.annotator}", f"- {one.before}", f"+ {one.after}")
    )
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing changes"
    _print(lines, f"{plural('record', len(copies))} in version {sound.version}: {told}.")


def _read_config(path: Path, package: Path | None) -> tuple[Config | None, Findings]:
    from basanite.work.annotation.config import read_config

    config, problems = read_config(path, package)
    findings = Findings(None)
    findings.extend(problems)
    return config, findings


def _sound(path: Path, package: Path | None, *, json: bool) -> Config:
    """A configuration without problems; one with some ends the command."""

    def read() -> Config:
        config, findings = _read_config(path, package)
        if config is None:
            raise InvalidInputError(ANNOTATION, findings)
        return config

    return run_or_exit(read, json=json, plain=True)


def _valid(work: Callable[[Findings], Any], *, json: bool) -> Any:
    """The result of some reading, if it found no problems."""

    def read() -> Any:
        findings = Findings()
        result = work(findings)
        if not findings.valid:
            raise InvalidInputError(ANNOTATION, findings)
        return result

    return run_or_exit(read, json=json, plain=True)


def _contents(config: Config) -> dict[str, Any]:
    return {
        "name": config.name,
        "version": config.version,
        "digest": config.digest,
        "categories": {
            category.name: {"in": category.parent, "fields": [field.name for field in category.fields]}
            for category in config.categories.values()
        },
        "templates": len(config.templates),
        "keys": {category.key: category.name for category in config.categories.values() if category.key},
    }


def _content_lines(contents: dict[str, Any]) -> list[str]:
    if not contents:
        return []
    categories = plural("category", len(contents["categories"])).replace("categorys", "categories")
    keys = ", ".join(f"{key} {name}" for key, name in contents["keys"].items())
    first = (
        f"{contents['name']}, version {contents['version']}: {categories}, {plural('template', contents['templates'])}"
    )
    return [first, *([f"keys: {keys}"] if keys else [])]


def _order(findings: Findings) -> str:
    return "in order" if findings.valid else "not in order"


def _print(lines: Iterable[str], last: str) -> None:
    click.echo("\n".join(visible(line) for line in (*lines, last)))


def _write(out: Path, lines: Iterable[str]) -> None:
    try:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except FileExistsError:
        raise SettingError(
            f"{out} already exists. Choose another name: existing files are never overwritten."
        ) from None
    except OSError as error:
        raise SettingError(f"{out} cannot be written: {error.strerror}. Choose another place.") from None
