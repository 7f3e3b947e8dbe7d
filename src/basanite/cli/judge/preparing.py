"""`basanite judge prepare`: from a pool of passages to balanced rounds, with a log of what was done (R-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from basanite.cli.judge.schemes import JUDGING
from basanite.cli.options import PATH, as_json, example, guarded, say, show_report
from basanite.cli.reading import plain
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.retrieval.conversion import refuse_to_overwrite, whole_or_absent
from basanite.judging.passages import Passage, Prepared, Wishes
from basanite.judging.passages import prepare as prepared_set
from basanite.judging.passages.files import files_of, read_pool
from basanite.judging.passages.vetting import Bounds
from basanite.reports.model import Report, Section, filled
from basanite.reports.wording import plural

FORMAT = "basanite-passages/1"


@click.command(epilog=example("basanite judge prepare pool.csv --out prepared --per-genre 10"))
@click.argument("pool", type=PATH)
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@click.option("--per-genre", type=click.IntRange(0), default=0, help="The most passages of each genre. [default: all]")
@click.option("--genre", "genres", multiple=True, metavar="GENRE=N", help="The same for one genre. Repeat it.")
@click.option("--test", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="The share of the test set.")
@click.option("--round-size", type=click.IntRange(2, 1000), default=10, show_default=True, help="Passages in a round.")
@click.option("--words", default="30..400", show_default=True, help="How many words a passage may have.")
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

    Marks that tell the genre are removed, unfit passages dropped, genres sampled, and the rest split into balanced
    rounds. Everything that was removed or dropped is logged.
    """
    refuse_to_overwrite(out)
    wishes = Wishes(per_genre, _of_genres(genres), test, round_size, _bounds(words), seed)
    passages = guarded(lambda: _passages(pool), json=as_json)
    prepared = prepared_set(passages, wishes)
    with whole_or_absent(out, pool) as folder:
        folder.mkdir()
        for name, content in files_of(prepared).items():
            (folder / name).write_bytes(content)
    show_report(_report(passages, prepared), json=as_json)
    if not as_json:
        say(f"Written to {out}")


def _passages(pool: Path) -> tuple[Passage, ...]:
    passages, findings = read_pool(pool)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain(findings))
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


def _report(pool: Sequence[Passage], prepared: Prepared) -> Report:
    rows = _genre_rows(pool, prepared)
    marks = Counter[str]()
    for each in prepared.removed:
        marks[each.rule] += each.times
    rounds = len({passage.round for passage in prepared.passages})
    columns = ("Genre", "In the pool", "Dropped", "Not sampled", "Train", "Test")
    return Report(
        title="Prepared passages",
        subtitle=f"{plural('passage', len(prepared.passages))} in {plural('round', rounds)}",
        sections=filled(
            Section("Genres", "", (Table("Genres", columns, rows),)),
            Section("Marks removed", "", (Table("Marks", ("Mark", "Times"), sorted(marks.items())),)),
        ),
        facts=(),
        data=_data(rows, marks, prepared, rounds),
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


def _data(
    rows: Sequence[tuple[object, ...]], marks: Mapping[str, int], prepared: Prepared, rounds: int
) -> dict[str, object]:
    names = ("genre", "pool", "dropped", "not_sampled", "train", "test")
    return {
        "format": FORMAT,
        "passages": len(prepared.passages),
        "rounds": rounds,
        "genres": [dict(zip(names, row, strict=True)) for row in rows],
        "marks": dict(sorted(marks.items())),
        "notes": list(prepared.notes),
    }
