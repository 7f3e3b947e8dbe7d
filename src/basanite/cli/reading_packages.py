"""`basanite reading new`, `next`, `gold` and `baseline`: a package from nothing, its gold, and a reader to beat."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from basanite import canonical
from basanite.cli.options import (
    PATH,
    as_json,
    console,
    example,
    parsed_settings,
    run_or_exit,
    say,
    settings_option,
)
from basanite.cli.reading import open_new_file, out_option, plain_table, read_valid_package
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings, visible
from basanite.registry import suggestion
from basanite.reports.wording import plural


@click.command(epilog=example("basanite reading new visits"))
@click.argument("folder", type=PATH)
@click.option("--name", default="", help="The name of the package.  [default: the folder's]")
@click.option("--title", default="", help="What people call it.  [default: its name]")
@click.option("--texts", type=PATH, help="A folder of .txt files, which become the documents of the part `train`.")
@as_json
def new(folder: Path, name: str, title: str, texts: Path | None, as_json: bool) -> None:
    """Make a new reading package in FOLDER: two texts, ontology, rules, queries, annotation form, baseline, README."""
    from basanite.reading.package.starter import start_package

    name = name or folder.absolute().name
    title = title or name.replace("-", " ").replace("_", " ").capitalize()
    written = run_or_exit(lambda: start_package(folder, name=name, title=title, texts=texts), json=as_json, plain=True)
    if as_json:
        sys.stdout.write(canonical.dumps({"package": name, "files": list(written), "written": str(folder)}))
        return
    click.echo(visible(f"{name}: {plural('file', len(written))} in {folder}"))
    say(f"Begin with {folder / 'README.md'}. Check it: basanite reading check {folder}")


@click.command(epilog=example("basanite reading gold nfl --part train"))
@click.argument("package", type=PATH)
@click.option("--part", "parts", multiple=True, help="Only the gold of this part of the corpus. May be repeated.")
@click.option("--date", "day", default="", help="The date of the new lines, as 2026-01-31.  [default: today]")
@as_json
def gold(package: Path, parts: tuple[str, ...], day: str, as_json: bool) -> None:
    """Derive the gold answers of PACKAGE from its annotations and rules, as the next version in its folder `gold`.

    Lines that people decided stay. Lines that were derived before are derived again.
    """
    from basanite.reading.gold.derivation import next_gold

    found = run_or_exit(lambda: read_valid_package(package), json=as_json, plain=True)
    chosen = [found.manifest.part(name).name for name in parts] or _annotated_parts(found)
    when = _day(day)
    grown = run_or_exit(lambda: next_gold(found, chosen, when), json=as_json, plain=True)
    path = package / "gold" / f"{grown.version}.ndjson"
    if grown.changed:
        path.parent.mkdir(exist_ok=True)
        with open_new_file(path) as file:
            file.write(_lines(grown.lines))
    counts = {"derived": grown.derived, "taken_over": grown.taken_over}
    if as_json:
        where = {"version": grown.version, "written": str(path)} if grown.changed else {"version": grown.before}
        sys.stdout.write(canonical.dumps({**counts, "changed": grown.changed, **where}))
    elif grown.changed:
        told = f"{grown.version}: {plural('answer', grown.derived)} derived"
        kept = f", {plural('line', grown.taken_over)} taken over from {grown.before}" if grown.before else ""
        click.echo(told + kept)
        say(f"Written to {path}")
    else:
        click.echo(f"{grown.before} says all of it already; nothing was written.")


@click.command(epilog=example("basanite reading baseline lives --part test --out baseline.ndjson"))
@click.argument("package", type=PATH)
@click.option("--part", required=True, help="The part of the corpus to read.")
@out_option("The answers, one JSON object per line, as a submission; must not exist yet.")
@as_json
def baseline(package: Path, part: str, out: Path, as_json: bool) -> None:
    """Read the texts of PACKAGE with the patterns of its reader.yaml, and answer its queries: a score to beat."""
    from basanite.reading.baseline.pattern_reader import read_with_patterns

    found = run_or_exit(lambda: read_valid_package(package), json=as_json, plain=True)
    chosen = found.manifest.part(part)
    if not found.has(chosen):
        raise SettingError(f"Part {part} is not in this copy of the package. Choose another part.")
    answers, documents = run_or_exit(lambda: read_with_patterns(found, part), json=as_json, plain=True)
    with open_new_file(out) as file:
        file.write(_lines(answers))
    counts = {"documents": documents, "answers": len(answers)}
    if as_json:
        sys.stdout.write(canonical.dumps({**counts, "written": str(out)}))
    else:
        click.echo(f"{plural('document', documents)}, {plural('answer', len(answers))}")
        say(f"Written to {out}")


@click.command(epilog=example("basanite reading next nfl --part train"))
@click.argument("package", type=PATH)
@click.option("--part", required=True, help="The part of the corpus that is annotated.")
@click.option("--query", "wanted", multiple=True, help="Only for this query. May be repeated.")
@click.option(
    "--show", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Texts and statements to list."
)
@as_json
def next_(package: Path, part: str, wanted: tuple[str, ...], show: int, as_json: bool) -> None:
    """Say which texts and which missing statements are worth annotating next, from the queries of PACKAGE.

    A query counts the more, the fewer answers the annotations have. Texts that are like annotated ones count less.
    """
    from basanite.reading.annotation_needs import needs

    found = run_or_exit(lambda: read_valid_package(package), json=as_json, plain=True)
    if not found.has(found.manifest.part(part)):
        raise SettingError(f"Part {part} is not in this copy of the package. Choose another part.")
    known = {query.id: query for query in found.queries_for(part)}
    for name in wanted:
        if name not in known:
            raise SettingError(f"This part has no query {name!r}. {suggestion(name, sorted(known))}")
    asked = [known[name] for name in wanted or known]
    told = run_or_exit(lambda: needs(found, part, asked, show=show), json=as_json, plain=True)
    if as_json:
        sys.stdout.write(canonical.dumps(asdict(told)))
        return
    click.echo(f"{plural('text', told.annotated)} annotated, {told.left:,} not.")
    for table in _need_tables(told):
        console().print(table)


def _need_tables(told: Any) -> Iterator[Any]:
    texts = [
        (
            one.document,
            f"{one.worth:.3f}",
            ", ".join(f"{name} ({share:.0%})" for name, share in one.queries),
            one.likest,
        )
        for one in told.texts
    ]
    missing = [(one.document, one.query, one.missing) for one in told.statements]
    queries = [(one.query, str(one.answers), str(one.documents), one.question) for one in told.queries]
    named = (
        ("Queries", (("query", "left"), ("answers", "right"), ("texts", "right"), ("question", "left")), queries),
        (
            "Texts to annotate next",
            (("text", "left"), ("worth", "right"), ("may answer", "left"), ("most like", "left")),
            texts,
        ),
        ("Statements that are missing", (("text", "left"), ("query", "left"), ("missing", "left")), missing),
    )
    for title, columns, rows in named:
        if rows:
            yield plain_table(title, columns, rows)


@click.command(epilog=example("basanite reading adaptation nfl nfl/answers/baseline.ndjson"))
@click.argument("package", type=PATH)
@click.argument("runs", type=PATH, nargs=-1, required=True)
@click.option("--effort", "log", type=PATH, help="The log of the work.  [default: effort.ndjson of the package]")
@click.option("--metric", default="f", show_default=True, help="The value to draw: f, pr, recall …")
@click.option("--human", type=PATH, help="Human answers, for ratios to human performance.")
@click.option("--draws", type=click.IntRange(100, 100_000), default=1000, show_default=True, help="Resamples.")
@click.option("--report", "out", type=PATH, help="Write the curve there: .html, .pptx, .csv …")
@settings_option
@as_json
def adaptation(package: Path, runs: tuple[Path, ...], log: Path | None, out: Path | None, **asked: Any) -> None:
    """Draw what RUNS of adapted systems score against the effort that is logged for them.

    Log it with: basanite reading effort PACKAGE --add rules --minutes 90 --system NAME --run FILE --rules 4.
    """
    from basanite.reading.adaptation import adaptation_object, adaptation_report
    from basanite.reports.report import write
    from basanite.scoring import find_task

    title = package.resolve().name
    found = run_or_exit(lambda: _score_adapted_runs(package, runs, log, asked), json=asked["as_json"], plain=True)
    name = find_task("reading").metric(asked["metric"]).display_name
    report = adaptation_report(title, name, found)
    if out is not None:
        write(report, out)
    if asked["as_json"]:
        sys.stdout.write(canonical.dumps(adaptation_object(asked["metric"], found)))
        return
    columns = [(one, "left" if one in ("System", "Run") else "right") for one in report.records.columns]
    rows = [["–" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in report.records.rows]  # fmt: skip
    console().print(plain_table("", columns, rows))
    for sentence in report.sentences:
        click.echo(visible(sentence))
    if out is not None:
        say(f"Written to {out}")


def _score_adapted_runs(package: Path, runs: Sequence[Path], log: Path | None, asked: dict[str, Any]) -> list[Any]:
    from basanite.reading.adaptation import AdaptedRun, spent_by_run
    from basanite.reading.effort import FILE, read_effort
    from basanite.scoring import Scorer
    from basanite.tasks import Inputs

    findings = Findings()
    path = log or package / FILE
    if not path.is_file():
        raise SettingError(
            f"There is no log of effort at {path}. Write one with: basanite reading effort, or --effort."
        )
    spent = spent_by_run(read_effort(path, findings))
    if not findings.valid:
        raise InvalidInputError("reading-package", findings)
    scorer = Scorer("reading", parsed_settings(asked["settings"]), draws=asked["draws"], metrics=(asked["metric"],))
    found = []
    for run in runs:
        inputs = Inputs(run, None, human=asked["human"]).against([package])
        value = scorer.analysis(inputs, system=run.stem).values[scorer.task.metric(asked["metric"]).name]
        found.append(AdaptedRun(run.stem, spent.get(run.stem), value.value, value.low, value.high))
    return found


def _lines(records: Sequence[Any]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()


def _annotated_parts(package: Any) -> list[str]:
    from basanite.reading.package.annotations import annotation_path

    names = [part.name for part in package.manifest.parts if package.has(part)]
    found = [name for name in names if annotation_path(package.root, name).is_file()]
    if not found:
        raise SettingError(
            f"{package.root} has no annotations to derive gold from. Write annotations/{names[0] if names else 'PART'}"
            ".ndjson, one statement a line."
        )
    return found


def _day(text: str) -> str:
    if not text:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise SettingError(f"{text[:40]!r} is not a date. Write it as 2026-01-31.") from None
