"""`basanite annotation check`, `schema`, `diff` and `migrate`: work on the configuration of a use case (R-14)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.annotation.exchange import export, import_
from basanite.cli.options import PATH, Command, as_json, example, say, show_findings
from basanite.cli.reading import checked, plain
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings, Problem, visible
from basanite.reports.formats import json_output
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.annotation.config import Config

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
    """Annotation: check the configuration of a use case, compare versions, migrate, export and import records."""


annotation.add_command(export)
annotation.add_command(import_)


@annotation.command(epilog=example("basanite annotation check nfl-scoring.yaml --package nfl"))
@click.argument("config", type=PATH)
@package_option
@as_json
def check(config: Path, package: Path | None, as_json: bool) -> None:
    """Check the configuration in the file CONFIG. Exit code 0: in order; 1: not."""
    found, findings = _read(config, package)
    contents = _contents(found) if found else {}
    if as_json:
        sys.stdout.write(json_output.dumps({**findings.as_dict(ANNOTATION), "contents": contents}))
    else:
        show_findings(plain(findings), ANNOTATION, json=False)
        click.echo("\n".join((*_content_lines(contents), f"{visible(config.name)} is {_order(findings)}.")))
    if not findings.valid:
        raise click.exceptions.Exit(1)


@annotation.command(epilog=example("basanite annotation schema --json"))
@as_json
def schema(as_json: bool) -> None:
    """Print the JSON Schema of configurations, for editors; the same with and without --json."""
    from basanite.annotation.schema import json_schema

    sys.stdout.write(json_output.dumps(json_schema()))


@annotation.command(epilog=example("basanite annotation diff older/nfl-scoring-2.yaml nfl-scoring.yaml --package nfl"))
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@package_option
@as_json
def diff(old: Path, new: Path, package: Path | None, as_json: bool) -> None:
    """Tell what differs between the configurations OLD and NEW, and what records would lose.

    Exit code 0: nothing is lost; 1: something is, and no migration says what becomes of it.
    """
    from basanite.annotation.comparing import differences

    found = differences(_sound(old, package, json=as_json), _sound(new, package, json=as_json))
    lost = sum(one.lost for one in found)
    if as_json:
        rows = [one.as_dict() for one in found]
        sys.stdout.write(json_output.dumps({"differences": rows, "lost": lost}))
    else:
        lines = (f"{one.kind:8} {one.what}{_detail(one.detail)}{'   LOST' if one.lost else ''}" for one in found)
        _print(lines, f"{plural('difference', len(found))}, {lost} lost in records.")
    if lost:
        say("Say under `migrate` what becomes of what is lost, or list it under `drop`.")
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
    """Bring RECORDS of older versions to the version of CONFIG: on a copy, with a diff."""
    from basanite.annotation.migrating import migrate as migrated
    from basanite.annotation.record_files import read_records, record_lines

    sound = _sound(config, package, json=as_json)
    copies, changes = migrated(sound, _valid(lambda findings: read_records(records, findings), json=as_json))
    if out is not None:
        _write(out, record_lines(copies))
    counts = dict(sorted(Counter(one.kind for one in changes).items()))
    if as_json:
        rows = [one.as_dict() for one in changes]
        data = {"version": sound.version, "records": len(copies), "counts": counts, "changes": rows}
        sys.stdout.write(json_output.dumps(data))
        return
    lines = (
        line
        for one in changes
        for line in (f"{one.kind} {one.document} {one.annotator}", f"- {one.before}", f"+ {one.after}")
    )
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing changes"
    _print(lines, f"{plural('record', len(copies))} in version {sound.version}: {told}.")


def _read(path: Path, package: Path | None) -> tuple[Config | None, Findings]:
    from basanite.annotation.config import read_config

    config, problems = read_config(path, package)
    return config, _findings(problems)


def _findings(problems: Sequence[Problem]) -> Findings:
    findings = Findings(None)
    findings.extend(problems)
    return findings


def _sound(path: Path, package: Path | None, *, json: bool) -> Config:
    """A configuration without problems; one with some ends the command."""

    def read() -> Config:
        config, findings = _read(path, package)
        if config is None:
            raise InvalidInputError(ANNOTATION, findings)
        return config

    return checked(read, json=json)


def _valid(work: Callable[[Findings], Any], *, json: bool) -> Any:
    """The result of some reading, if it found no problems."""

    def read() -> Any:
        findings = Findings()
        result = work(findings)
        if not findings.valid:
            raise InvalidInputError(ANNOTATION, findings)
        return result

    return checked(read, json=json)


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


def _detail(detail: str) -> str:
    return f": {detail}" if detail else ""


def _print(lines: Iterable[str], last: str) -> None:
    click.echo("\n".join(visible(line) for line in (*lines, last)))


def _write(out: Path, lines: Iterable[str]) -> None:
    try:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except FileExistsError:
        raise SettingError(f"{out} exists already. Choose another name: nothing is ever written over.") from None
    except OSError as error:
        raise SettingError(f"{out} cannot be written: {error.strerror}. Choose another place.") from None
