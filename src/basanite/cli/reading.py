"""`basanite reading check`, `register`, `generate`, `export`, `release` and `effort`: packages and reading tasks."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click

from basanite import canonical
from basanite.cli.options import (
    PATH,
    Command,
    as_json,
    console,
    example,
    plain_findings,
    run_or_exit,
    say,
    schema_command,
    show_findings,
)
from basanite.errors import InvalidInputError, SettingError, UnreadableError
from basanite.problems import Findings, visible
from basanite.reports.wording import plural

READING = "reading-package"
RDF_FORMATS = ("turtle", "rdfxml", "jsonld", "nquads", "ntriples", "trig")
EXPORTS = ("annotations", "ontology", "shacl", "sparql", "pairs")


def out_option(text: str) -> Callable[[Command], Command]:
    """Add `--out`."""
    return click.option("--out", type=PATH, required=True, help=text)


def format_option(command: Command) -> Command:
    """Add `--format`."""
    text = "RDF format. [default: from the ending of --out]"
    return click.option("--format", "format_", type=click.Choice(RDF_FORMATS), help=text)(command)


@click.command(epilog=example("basanite reading check nfl"))
@click.argument("package", type=PATH)
@click.option("--all", "everything", is_flag=True, help="List every problem, not the first 20 of each rule.")
@as_json
def check(package: Path, everything: bool, as_json: bool) -> None:
    """Check the reading package in the folder PACKAGE. Exit code 0: valid; 1: not valid."""
    findings = Findings(None) if everything else Findings()
    contents = _checked_contents(package, findings).as_dict()
    if as_json:
        sys.stdout.write(canonical.dumps({**findings.as_dict(READING), "contents": contents}))
    else:
        show_findings(plain_findings(findings), READING, json=False)
        click.echo("\n".join((*_content_lines(contents), _verdict(package, findings))))
    if not findings.valid:
        raise click.exceptions.Exit(1)


schema = schema_command("reading")


@click.command(epilog=example("basanite reading register nfl"))
@click.argument("package", type=PATH)
@as_json
def register(package: Path, as_json: bool) -> None:
    """Record the hashes of documents that are not listed yet; listed ones keep theirs."""
    from basanite.reading.package.documents import new_sums
    from basanite.reading.package.manifest import read_manifest
    from basanite.reading.package.model import require_package

    require_package(package)
    findings = Findings()
    manifest = read_manifest(package, findings)
    if manifest is None:
        run_or_exit(lambda: _refuse(findings), json=as_json, plain=True)
    added = {part.name: new_sums(package, part.name) for part in manifest.parts}
    for part, lines in added.items():
        if lines:
            with (package / "corpus" / f"{part}.sha256").open("a", encoding="utf-8", newline="\n") as file:
                file.write("\n".join(lines) + "\n")
    if as_json:
        sys.stdout.write(canonical.dumps({"registered": added}))
    else:
        click.echo("\n".join(f"{part}: {plural('new document', len(lines))}" for part, lines in added.items()))


@click.command(epilog=example("basanite reading generate nfl --part train --types class,property --out task.ttl"))
@click.argument("package", type=PATH)
@click.option("--part", required=True, help="The part of the corpus to read.")
@click.option("--types", default="", help="Only these types of query, between commas: class, property, chain, fork …")
@click.option("--class", "classes", multiple=True, help="Only queries about this class. Can be repeated.")
@click.option("--phase", default="", help="Only queries in scope of this phase.")
@click.option("--sample", type=click.IntRange(1), help="A random sample of this many queries.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the sample.")
@click.option(
    "--source",
    type=click.Choice(("all", "package", "generated")),
    default="all",
    show_default=True,
    help="Queries of the package, those that the ontology makes possible, or both.",
)
@click.option("--unanswered", is_flag=True, help="Keep queries without an answer in the annotations.")
@click.option("--no-texts", is_flag=True, help="Leave the texts of the documents out.")
@click.option("--no-annotations", is_flag=True, help="Leave annotated examples out; those of sealed parts always are.")
@format_option
@out_option("The file to write; must not exist yet.")
@as_json
def generate(package: Path, out: Path, format_: str | None, as_json: bool, **options: Any) -> None:
    """Generate a reading task from PACKAGE: its documents, queries and annotated examples as one RDF graph."""
    from basanite.reading.generate import make_task
    from basanite.reading.rdf import format_of

    found = run_or_exit(lambda: read_valid_package(package), json=as_json, plain=True)
    name = format_of(out, format_)
    task = make_task(found, _spec(found, options))
    with open_new_file(out) as file:
        task.write(file, name)
    counts = {"documents": len(task.documents), "queries": len(task.queries)}
    if as_json:
        queries = [{"query": query.id, "type": query.type, "question": query.question} for query in task.queries]
        sys.stdout.write(canonical.dumps({"task": task.id, **counts, "written": str(out), "asked": queries}))
    else:
        click.echo(f"{task.id}  {plural('document', counts['documents'])}, {plural('query', counts['queries'])}")
        say(f"Written to {out}")


@click.command(epilog=example("basanite reading export nfl --part train --out train.nq"))
@click.argument("package", type=PATH)
@click.option(
    "--what", type=click.Choice(EXPORTS), default="annotations", show_default=True, help="What to export; see above."
)
@click.option("--part", help="The part of the corpus; needed for annotations and pairs.")
@format_option
@out_option("The file to write; must not exist yet.")
@as_json
def export(package: Path, what: str, part: str | None, format_: str | None, out: Path, as_json: bool) -> None:
    """Export parts of PACKAGE for other programs.

    annotations: statements with their provenance, as RDF. ontology: as RDF. shacl: its constraints as shapes. sparql:
    the queries. pairs: each statement with the text that says it, one JSON object per line.
    """
    from basanite.reading.export import export_to

    found = run_or_exit(lambda: read_valid_package(package), json=as_json, plain=True)
    if what in ("annotations", "pairs") and part is None:
        raise SettingError(f"Which part? Add --part {found.manifest.parts[0].name}.")
    count = export_to(found, what, out, part=part or "", format_=format_, opened=open_new_file)
    if as_json:
        sys.stdout.write(canonical.dumps({"what": what, "count": count, "written": str(out)}))
    else:
        click.echo(f"{count} {what}")
        say(f"Written to {out}")


@click.command(epilog=example("basanite reading release nfl --out nfl.tgz"))
@click.argument("package", type=PATH)
@out_option("The .tgz to write; must not exist yet.")
@as_json
def release(package: Path, out: Path, as_json: bool) -> None:
    """Build a release of PACKAGE with license, citation and checksums; sealed parts are left out."""
    from basanite.reading.release import release as make_release

    try:
        bundle = run_or_exit(lambda: make_release(package, out), json=as_json, plain=True)
    except OSError as error:
        raise UnreadableError(f"{out} cannot be written: {error.strerror}. Choose another place.") from error
    if as_json:
        sys.stdout.write(canonical.dumps({**asdict(bundle), "written": str(out)}))
        return
    click.echo(f"{bundle.name}: {plural('file', len(bundle.files))}")
    for name in bundle.left_out:
        click.echo(visible(f"left out: {name}"))
    if bundle.answers_left_out:
        click.echo(f"left out: {plural('answer', bundle.answers_left_out)} about sealed documents or queries")
    say(f"Written to {out}")


@click.command(epilog=example("basanite reading effort nfl"))
@click.argument("packages", type=PATH, nargs=-1, required=True)
@click.option("--add", "activity", metavar="ACTIVITY", help="Log some work: annotation, ontology, rules …")
@click.option("--minutes", type=float, help="How long it took.")
@click.option("--documents", type=int, default=0, help="Documents done in that time.")
@click.option("--annotations", type=int, default=0, help="Annotations made in that time.")
@click.option("--system", default="", help="The system that was adapted; without it, work on the use case itself.")
@click.option(
    "--run", default="", help="The run that the work led to: the name of its file of answers, without ending."
)
@click.option("--rules", type=int, default=0, help="Rules or patterns written for the system in that time.")
@click.option("--examples", type=int, default=0, help="Annotated examples that the system took in that time.")
@click.option("--person", default="", help="Who did it; a code is enough.")
@click.option("--date", "day", default="", help="The date, like 2026-01-31.  [default: today]")
@click.option("--note", default="", help="Anything else.")
@as_json
def effort(packages: tuple[Path, ...], activity: str | None, as_json: bool, **options: Any) -> None:
    """Show the effort that the use cases in PACKAGES have taken, or log work on one of them."""
    from basanite.reading.package.model import require_package

    for package in packages:
        require_package(package)
    if activity is not None:
        _log_effort(packages, activity, options)
    rows = run_or_exit(lambda: _effort_rows(packages), json=as_json, plain=True)
    if as_json:
        sys.stdout.write(canonical.dumps({"effort": rows}))
    else:
        console().print(_effort_table(rows))


def _verdict(package: Path, findings: Findings) -> str:
    return f"{visible(package.resolve().name)} is {'' if findings.valid else 'not '}in order."


def _content_lines(contents: dict[str, Any]) -> list[str]:
    parts = [
        f"{part}: {plural('document', count)}, {plural('statement', contents['statements'].get(part, 0))}"
        for part, count in contents["documents"].items()
    ]
    gold = [f"gold {version}: {plural('answer', count)}" for version, count in contents["gold"].items()]
    counted = {
        "classes": "class",
        "properties": "property",
        "queries": "query",
        "rules": "rule",
        "phases": "phase",
        "patterns": "pattern",
    }
    numbers = [plural(noun, contents[name]) for name, noun in counted.items() if name in contents]
    return [*parts, *gold, ", ".join(numbers)]


def _refuse(findings: Findings) -> NoReturn:
    raise InvalidInputError(READING, findings)


def _checked_contents(root: Path, findings: Findings) -> Any:
    """What a package holds, after everything in it was checked, its baseline reader too."""
    from basanite.reading.baseline.pattern_reader import FILE, checked_patterns
    from basanite.reading.package.checks import check_package

    contents = check_package(root, findings)
    if contents.package is not None and (root / FILE).is_file():
        contents.patterns = checked_patterns(contents.package, findings)
    return contents


def read_valid_package(root: Path) -> Any:
    """A package that has been read and checked; its problems end the command."""
    findings = Findings()
    package = _checked_contents(root, findings).package
    if package is None or not findings.valid:
        raise InvalidInputError(READING, findings)
    return package


def _spec(package: Any, options: dict[str, Any]) -> Any:
    from basanite.reading.generate import TaskSpec
    from basanite.reading.queries import Choice, class_named

    types = frozenset(word.strip() for word in options["types"].split(",") if word.strip())
    classes = frozenset(class_named(name, package.ontology) for name in options["classes"])
    choice = Choice(types, classes, sample=options["sample"], seed=options["seed"])
    return TaskSpec(
        options["part"],
        choice,
        options["phase"],
        options["source"],
        options["unanswered"],
        not options["no_texts"],
        not options["no_annotations"],
    )


def open_new_file(out: Path) -> Any:
    """A file that did not exist, open for writing."""
    try:
        return out.open("xb")
    except FileExistsError:
        raise SettingError(
            f"{out} already exists. Choose another name: existing files are never overwritten."
        ) from None
    except OSError as error:
        raise UnreadableError(f"{out} cannot be written: {error.strerror}. Choose another place.") from error


def _log_effort(packages: tuple[Path, ...], activity: str, options: dict[str, Any]) -> None:
    from basanite.reading.effort import FILE, Effort, add_effort
    from basanite.reading.package.manifest import read_manifest

    if len(packages) != 1 or options["minutes"] is None:
        raise SettingError("To log work, give one package, --add ACTIVITY and --minutes.")
    manifest = read_manifest(packages[0], Findings())
    if manifest is None:
        raise SettingError(
            f"{packages[0]} has no readable package.toml. Check it: basanite reading check {packages[0]}"
        )
    day = options["day"] or datetime.datetime.now(datetime.UTC).date().isoformat()
    if options["run"] and not options["system"]:
        raise SettingError("A run belongs to a system: add --system NAME.")
    told = {name: value for name, value in options.items() if name not in ("minutes", "day")}
    work = Effort(manifest.name, activity, options["minutes"], day, **told)
    add_effort(packages[0] / FILE, work)


def _effort_rows(packages: tuple[Path, ...]) -> list[dict[str, Any]]:
    from basanite.reading.effort import FILE, effort_sums, read_effort

    findings = Findings()
    log = [entry for package in packages for entry in read_effort(package / FILE, findings)]
    if not findings.valid:
        raise InvalidInputError(READING, findings)
    return [{**asdict(row), "minutes_per_annotation": row.minutes_per_annotation} for row in effort_sums(log)]


def plain_table(title: str, columns: Sequence[tuple[str, Any]], rows: Sequence[Sequence[str]]) -> Any:
    """A table for a terminal: columns with their side, and rows of words."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, side in columns:
        table.add_column(name, justify=side)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table


def _effort_table(rows: list[dict[str, Any]]) -> Any:
    names = ("use case", "activity", "minutes", "documents", "annotations", "minutes per annotation")
    columns = [(name, "left" if name in ("use case", "activity") else "right") for name in names]
    cells = []
    for row in rows:
        each = row["minutes_per_annotation"]
        numbers = (f"{row['minutes']:g}", f"{row['documents']}", f"{row['annotations']}")
        cells.append((row["use_case"], row["activity"], *numbers, "" if each != each else f"{each:.2f}"))
    return plain_table("", columns, cells)
