"""`basanite pool`: which documents of several runs to have judged, and what each run owes to its part of the pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from basanite.canonical import plain_values
from basanite.cli.options import PATH, as_json, example, run_or_exit, say, show_report
from basanite.cli.positions import named_systems
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.archives.output import refuse_to_overwrite, write_text
from basanite.formats.retrieval.pools import (
    LeftOut,
    Pool,
    PooledRun,
    judging_lines,
    leave_one_out,
    pool_of,
    qrels_lines,
    qrels_of,
    to_judge,
)
from basanite.formats.retrieval.trec import Graded, read_qrels, read_run
from basanite.formats.retrieval.trec_lines import Reader
from basanite.metrics.retrieval.ranking import METRICS, ranked_queries, rows
from basanite.problems import Findings
from basanite.reports.report import Report, Section, sections_with_content
from basanite.reports.wording import plural

POOL = "pool"
FORMAT = "basanite-pool/1"
MEASURES = {metric.name: metric for metric in METRICS}


@dataclass(frozen=True)
class Pooling:
    """Everything about a pool that is shown: the runs, what is to be judged, and the effect of leaving a run out."""

    runs: Sequence[PooledRun]
    pool: Pool
    judged: Graded
    pairs: Sequence[tuple[str, str]]
    metric: str
    left_out: Sequence[LeftOut] = ()


@click.command(epilog=example("basanite pool run.txt --depth 5 --qrels qrels.txt --out pool.tsv"))
@click.argument("runs", nargs=-1, required=True, metavar="[NAME=]RUN...")
@click.option("--depth", type=click.IntRange(1), required=True, help="How many top documents of each run to pool.")
@click.option(
    "--precedence",
    multiple=True,
    metavar="NAME=N",
    help="Runs with a lower N are judged first. [default: 1] Can be repeated.",
)
@click.option("--budget", type=click.IntRange(1), help="Maximum number of documents to judge, over all queries.")
@click.option("--sample", metavar="SEED", help="Judge in a random order from this seed, as inferred AP requires.")
@click.option("--qrels", type=PATH, help="Existing judgments; also shows what leaving out a run would change.")
@click.option(
    "--metric",
    type=click.Choice(tuple(MEASURES)),
    default="map",
    show_default=True,
    help="The measure that ranks runs.",
)
@click.option("--least", type=click.IntRange(1), default=1, show_default=True, help="The lowest relevant grade.")
@click.option("--out", type=PATH, required=True, help="The list to judge from, to be written; must not exist yet.")
@click.option("--export", type=PATH, help="Also write qrels of the whole pool, -1 for what is not judged.")
@as_json
def pool(
    runs: tuple[str, ...],
    depth: int,
    precedence: tuple[str, ...],
    budget: int | None,
    sample: str | None,
    qrels: Path | None,
    metric: str,
    least: int,
    out: Path,
    export: Path | None,
    as_json: bool,
) -> None:
    """Pool the top documents of TREC runs and write the list of those that need a judgment.

    A document that several runs found is judged once; the list does not say who found it.
    """
    for path in filter(None, (out, export)):
        refuse_to_overwrite(path)
    paths = named_systems(runs, POOL)
    order = precedences(precedence, tuple(paths))
    taken, judged = run_or_exit(lambda: read_all(paths, order, qrels), json=as_json)
    made = pool_of(taken, depth=depth, sample=sample)
    pairs = to_judge(made, judged, budget=budget)
    left = leave_one_out(taken, made, judged, scorer(metric, least), least=least) if qrels else []
    write_text(judging_lines(pairs), out, Findings(), source=out)
    if export is not None:
        write_text(qrels_lines(qrels_of(made, judged)), export, Findings(), source=export)
    show_report(pool_report(Pooling(taken, made, judged, pairs, metric, left)), json=as_json)
    if not as_json:
        say(f"Written to {' and '.join(str(path) for path in (out, export) if path)}")


def precedences(texts: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """The precedence of each run, from `NAME=N`; 1 for those that are not named."""
    found = dict.fromkeys(names, 1)
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not sign or not number.isdecimal() or not 1 <= int(number) <= 10**6:
            raise SettingError(f"--precedence {text!r} cannot be read: write NAME=N with a whole number from 1.")
        if name not in found:
            raise SettingError(f"--precedence {text!r}: no run is called {name!r}. There are: {', '.join(names)}.")
        found[name] = int(number)
    return found


def read_all(paths: Mapping[str, Path], order: Mapping[str, int], qrels: Path | None) -> tuple[list[PooledRun], Graded]:
    """All runs and the judgements; whatever is wrong with any of them is told at once."""
    findings = Findings()
    taken = [
        PooledRun.of(name, read_run(Reader(path, findings, "submission", names_files=False)), order[name])
        for name, path in paths.items()
    ]
    judged = {} if qrels is None else read_qrels(Reader(qrels, findings, "reference", names_files=False))
    if not findings.valid:
        raise InvalidInputError(POOL, findings)
    return taken, judged


def scorer(metric: str, least: int) -> Any:
    """The value of a run on some judgements."""

    def score(run: PooledRun, judged: Graded) -> float:
        return MEASURES[metric].of(rows(ranked_queries(judged, run.rankings, least=least)))

    return score


def pool_report(found: Pooling) -> Report:
    """The pool in words, tables and numbers."""
    return Report(
        title="Pool",
        subtitle=f"The first {found.pool.depth} documents of {plural('run', len(found.runs))}",
        sections=sections_with_content(
            Section("Runs", "", (_runs_table(found),)),
            Section("Without each run", "", (_left_out_table(found),) if found.left_out else ()),
        ),
        facts=(),
        data={key: plain_values(value) for key, value in _object(found).items()},
        sentences=(
            f"{plural('document', found.pool.size)} in the pools of {plural('query', len(found.pool.queries))}, "
            f"{len(found.pairs)} to be judged.",
        ),
    )


def _run_rows(found: Pooling) -> list[dict[str, Any]]:
    def size(run: PooledRun, *, alone: bool) -> int:
        return sum(map(len, found.pool.brought_by(run.name, alone=alone).values()))

    return [
        {
            "run": run.name,
            "precedence": run.precedence,
            "pooled": size(run, alone=False),
            "unique": size(run, alone=True),
        }
        for run in found.runs
    ]


def _runs_table(found: Pooling) -> Table:
    body = [tuple(row.values()) for row in _run_rows(found)]
    return Table("Runs", ("run", "precedence", "pooled", "unique"), body, note="Unique: contributed by no other run.")


def _left_out_table(found: Pooling) -> Table:
    columns = (
        "run",
        "unique",
        "unique relevant",
        MEASURES[found.metric].display_name,
        "without",
        "rank",
        "rank without",
    )
    note = "Without: the value after removing, for all runs, the judgments that only this run contributed."
    return Table(
        "Effect of leaving out a run", columns, [tuple(vars(one).values()) for one in found.left_out], note=note
    )


def _object(found: Pooling) -> dict[str, Any]:
    graded = [
        found.judged.get(query, {}).get(one.document) for query, all_ in found.pool.queries.items() for one in all_
    ]
    return {
        "format": FORMAT,
        "depth": found.pool.depth,
        "queries": len(found.pool.queries),
        "pooled": found.pool.size,
        "judged": sum(grade is not None and grade >= 0 for grade in graded),
        "to_judge": len(found.pairs),
        "metric": found.metric,
        "runs": _run_rows(found),
        "leave_one_out": [asdict(one) for one in found.left_out],
    }
