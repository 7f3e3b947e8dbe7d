"""`basanite judge check`, `preset`, `prepare` and `plan`: schemes, passages to judge, and who judges what when."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import click

from basanite import canonical
from basanite.cli.options import PATH, as_json, example, plain_findings, run_or_exit, say, show_findings, show_report
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.archives.output import refuse_to_overwrite, whole_or_absent
from basanite.formats.bounded import read_bounded
from basanite.formats.records import Place, read_records
from basanite.problems import Findings, visible
from basanite.reports.report import Report, Section, sections_with_content
from basanite.reports.wording import plural
from basanite.work.assignments import Judge, Plan
from basanite.work.items import Block, Item, item_of
from basanite.work.passages import Bounds, Passage, Prepared, Wishes, files_of, read_pool
from basanite.work.passages import prepare as prepared_set
from basanite.work.plans import plan_rounds
from basanite.work.result_files import spreadsheet
from basanite.work.scheme import EVERYBODY, LARGEST, PRESETS, Scheme, preset_text, read_scheme

JUDGING = "judge"


@click.command(epilog=example("basanite judge check schemes/headline.toml"))
@click.argument("scheme", type=PATH)
@as_json
def check(scheme: Path, as_json: bool) -> None:
    """Check the file SCHEME and list every problem with its line. Exit code 0: valid; 1: not valid."""
    found, findings = _read(scheme)
    if as_json:
        data = {**findings.as_dict(JUDGING), "scheme": found.as_dict() if found else None}
        sys.stdout.write(canonical.dumps(data))
    else:
        show_findings(plain_findings(findings), JUDGING, json=False)
        lines = (*_lines(found), f"{visible(scheme.name)} is in order.") if found else ()
        click.echo("\n".join(lines) or f"{visible(scheme.name)} is not in order.")
    if found is None:
        raise click.exceptions.Exit(1)


def _read(path: Path) -> tuple[Scheme | None, Findings]:
    text = read_bounded(path, LARGEST).decode("utf-8", "replace")
    found, problems = read_scheme(text, path.name)
    findings = Findings()
    findings.extend(problems)
    return found, findings


def scheme_at(path: Path) -> Scheme:
    """The scheme in a file; one that is not in order is refused with everything that is wrong."""
    found, findings = _read(path)
    if found is None:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return found


def _lines(scheme: Scheme) -> list[str]:
    """What a scheme comes to, for somebody who wants to know whether it is what was meant."""
    asked = [f"  {question.id}: {question.widget}, {visible(question.title)}" for question in scheme.questions]
    groups = [f"{group} {'all' if wanted == EVERYBODY else wanted}" for group, wanted in scheme.per_group.items()]
    ranked = ", then ranked" if scheme.rank_after_round else ""
    return [
        f"{visible(scheme.title)} ({scheme.preset or 'no preset'})",
        *asked,
        f"  judgments of an item: {', '.join(groups)}; rounds of {scheme.round_size}{ranked}",
        f"  becomes: {', '.join(('answers', 'combined', *scheme.files))}",
    ]


@click.command(epilog=example("basanite judge preset pairwise"))
@click.argument("name", type=click.Choice(PRESETS))
@as_json
def preset(name: str, as_json: bool) -> None:
    """Print the file of the preset NAME; a scheme that names a preset states only what differs from it."""
    text = preset_text(name)
    sys.stdout.write(canonical.dumps({"preset": name, "text": text}) if as_json else text)


PASSAGES_FORMAT = "basanite-passages/1"


@click.command(epilog=example("basanite judge prepare pool.csv --out prepared --per-genre 10"))
@click.argument("pool", type=PATH)
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@click.option(
    "--per-genre", type=click.IntRange(0), default=0, help="Maximum number of passages per genre. [default: all]"
)
@click.option("--genre", "genres", multiple=True, metavar="GENRE=N", help="The same for one genre. Can be repeated.")
@click.option("--test", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="The share of the test set.")
@click.option("--round-size", type=click.IntRange(2, 1000), default=10, show_default=True, help="Passages in a round.")
@click.option("--words", default="30..400", show_default=True, help="Allowed number of words in a passage.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample, the split and the rounds.")
@as_json
def prepare(
    pool: Path,
    out: Path,
    per_genre: int,
    genres: tuple[str, ...],
    test: float,
    round_size: int,
    words: str,
    seed: int,
    as_json: bool,
) -> None:
    """Prepare the passages of the table POOL (columns passage, genre, topic, text) for a readability panel.

    Marks that reveal the genre are removed, unsuitable passages dropped, genres sampled, and the rest split into
    balanced rounds. Everything removed or dropped is logged.
    """
    refuse_to_overwrite(out)
    wishes = Wishes(per_genre, _of_genres(genres), test, round_size, _bounds(words), seed)
    passages = run_or_exit(lambda: _passages(pool), json=as_json)
    prepared = prepared_set(passages, wishes)
    with whole_or_absent(out, pool) as folder:
        folder.mkdir()
        for name, content in files_of(prepared).items():
            (folder / name).write_bytes(content)
    show_report(_passages_report(passages, prepared), json=as_json)
    if not as_json:
        say(f"Written to {out}")


def _passages(pool: Path) -> tuple[Passage, ...]:
    passages, findings = read_pool(pool)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return passages


def _of_genres(texts: Sequence[str]) -> Mapping[str, int]:
    found = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not sign or not name or not number.isdecimal() or len(number) > 9:
            raise SettingError(f"--genre {text!r} cannot be read: write GENRE=N with a whole number.")
        found[name.lower()] = int(number)
    return found


def _bounds(text: str) -> Bounds:
    low, sign, high = text.partition("..")
    if not sign or not (low.isdecimal() and high.isdecimal()) or not 0 < int(low) < int(high) < 10**6:
        raise SettingError(f"--words {text!r} cannot be read: write 30..400.")
    return Bounds(int(low), int(high))


def _passages_report(pool: Sequence[Passage], prepared: Prepared) -> Report:
    rows = _genre_rows(pool, prepared)
    marks = Counter[str]()
    for each in prepared.removed:
        marks[each.rule] += each.times
    rounds = len({passage.round for passage in prepared.passages})
    columns = ("Genre", "In the pool", "Dropped", "Not sampled", "Train", "Test")
    return Report(
        title="Prepared passages",
        subtitle=f"{plural('passage', len(prepared.passages))} in {plural('round', rounds)}",
        sections=sections_with_content(
            Section("Genres", "", (Table("Genres", columns, rows),)),
            Section("Marks removed", "", (Table("Marks", ("Mark", "Times"), sorted(marks.items())),)),
        ),
        facts=(),
        data=_passages_data(rows, marks, prepared, rounds),
        sentences=(
            f"{len(pool)} passages in the pool, {len(prepared.passages)} prepared, {len(prepared.dropped)} left out.",
            *prepared.notes,
        ),
    )


def _genre_rows(pool: Sequence[Passage], prepared: Prepared) -> list[tuple[str, int, int, int, int, int]]:
    there = Counter(passage.genre for passage in pool)
    left = Counter((each.genre, each.step) for each in prepared.dropped)
    kept = Counter((passage.genre, passage.split) for passage in prepared.passages)
    return [
        (genre, size, left[genre, "vetting"], left[genre, "sampling"], kept[genre, "train"], kept[genre, "test"])
        for genre, size in sorted(there.items())
    ]


def _passages_data(
    rows: Sequence[tuple[object, ...]], marks: Mapping[str, int], prepared: Prepared, rounds: int
) -> dict[str, object]:
    names = ("genre", "pool", "dropped", "not_sampled", "train", "test")
    return {
        "format": PASSAGES_FORMAT,
        "passages": len(prepared.passages),
        "rounds": rounds,
        "genres": [dict(zip(names, row, strict=True)) for row in rows],
        "marks": dict(sorted(marks.items())),
        "notes": list(prepared.notes),
    }


PLAN_FORMAT = "basanite-judging-plan/1"
MOST_JUDGES = 10_000
HEADER = ("judge", "round", "position", "item", "flipped")


@click.command(
    epilog=example("basanite judge plan schemes/readability.toml --items pool.csv --judges expert=3 --judges novice=8")
)
@click.argument("scheme", type=PATH)
@click.option("--items", type=PATH, required=True, help="A table of items; other columns describe them.")
@click.option(
    "--judges",
    multiple=True,
    required=True,
    metavar="GROUP=N",
    help="The number of judges in a group. Can be repeated.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed for the order of items.")
@click.option("--out", type=PATH, help="Also write all assignments to this CSV file; must not exist yet.")
@as_json
def plan(scheme: Path, items: Path, judges: tuple[str, ...], seed: int, out: Path | None, as_json: bool) -> None:
    """Plan the rounds of a panel by the file SCHEME, and report goals that cannot be met.

    Exit code 0: all items get their judgments; 1: some do not, or a judge sees the same thing twice.
    """
    if out is not None:
        refuse_to_overwrite(out)
    chosen = run_or_exit(lambda: scheme_at(scheme), json=as_json)
    people = _judges(judges)
    given = run_or_exit(lambda: _items(items), json=as_json)
    made = plan_rounds(given, people, chosen, seed)
    if out is not None:
        with whole_or_absent(out, items) as path:
            path.write_bytes(_table(made, given))
    show_report(_plan_report(chosen, made, given, people), json=as_json)
    if out is not None and not as_json:
        say(f"Written to {out}")
    if made.warnings:
        raise click.exceptions.Exit(1)


def _judges(texts: Sequence[str]) -> list[Judge]:
    found: list[Judge] = []
    for text in texts:
        group, sign, number = text.rpartition("=")
        if not sign or not group or not number.isdecimal() or not 0 < int(number[:9]) <= MOST_JUDGES:
            raise SettingError(f"--judges {text!r} cannot be read: write GROUP=N, as in --judges novice=20.")
        found.extend(Judge(f"{group}{at + 1}", group) for at in range(int(number)))
    return found


def _items(path: Path) -> tuple[Item, ...]:
    findings = Findings()
    records = read_records(path, Place("metadata", "R-1"), findings)
    if records is None or not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    numbers = count(1)
    return tuple(
        item_of(
            [Block("text", str(row))],
            {name: str(cell) for name, cell in records.fields(row).items() if cell is not None and name != "text"},
            new_id=lambda: f"item{next(numbers)}",
        )
        for row in range(len(records))
    )


def _table(made: Plan, items: Sequence[Item]) -> bytes:
    facts = {item.id: item.facts for item in items}
    names = sorted({name for item in items for name in item.facts})
    rows = [
        (one.judge, one.round, one.position, one.item, one.flipped, *(facts[one.item].get(name, "") for name in names))
        for one in made
    ]
    return spreadsheet((*HEADER, *names), rows)


def _plan_report(scheme: Scheme, made: Plan, items: Sequence[Item], judges: Sequence[Judge]) -> Report:
    counts, rounds = Counter(one.judge for one in made), {(one.judge, one.round) for one in made}
    times = Counter(judge for judge, _ in rounds)
    rows = [(judge.id, judge.group, counts[judge.id], times[judge.id]) for judge in judges]
    warnings = [(problem.rule, problem.message, problem.fix) for problem in made.warnings]
    wishes = (Table("Not as wished", ("Rule", "What", "Fix"), warnings),) if warnings else ()
    return Report(
        title="Plan of judging",
        subtitle=f"{plural('item', len(items))}, {plural('judge', len(judges))}",
        sections=sections_with_content(
            Section("Judges", "", (Table("Judges", ("Judge", "Group", "Items", "Rounds"), rows),)),
            Section("Not as wished", "", wishes),
        ),
        facts=(),
        data=_plan_data(scheme, made, items, rows),
        sentences=(
            f"{plural('assignment', len(made))} of {plural('item', len(items))} "
            f"to {plural('judge', len(judges))}, by {scheme.name}.",
        ),
    )


def _plan_data(scheme: Scheme, made: Plan, items: Sequence[Item], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    return {
        "format": PLAN_FORMAT,
        "scheme": scheme.name,
        "items": len(items),
        "assignments": len(made),
        "judges": [dict(zip(("judge", "group", "items", "rounds"), row, strict=True)) for row in rows],
        "warnings": [problem.as_dict() for problem in made.warnings],
    }
