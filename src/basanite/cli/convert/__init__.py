"""`basanite convert`: files of other programs into ours, and back; what is here is for TREC runs and qrels."""

from __future__ import annotations

import math
from pathlib import Path

import click

from basanite.cli.convert.results import sacrebleu, to_sacrebleu, to_trec_eval, trec_eval
from basanite.cli.convert.sharing import finish, out_option
from basanite.cli.convert.texts import ctm, stm, to_ctm, to_stm, to_wmt, wmt
from basanite.cli.options import PATH, Command, as_json, example
from basanite.formats.retrieval import conversion
from basanite.formats.retrieval.trec import Decision, Scale


@click.group(
    epilog=example("basanite convert run run.txt --documents documents.txt --top 5 --out Converted.tgz"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def convert() -> None:
    """Turn files of other programs into ours, and back: TREC, WMT, STM and CTM, results of trec_eval and sacreBLEU.

    Each tells what it could not keep. A run ranks some documents and decides nothing; a submission decides and scores
    every document. So `run` needs the list of documents and a rule that decides, and `to-run` leaves the decisions
    behind.
    """


def list_options(command: Command) -> Command:
    """Add `--documents` and `--queries`."""
    for option in (
        click.option("--queries", type=PATH, help="The list of queries, one a line; without it, those in the file."),
        click.option("--documents", type=PATH, required=True, help="The list of all documents, one a line."),
    ):
        command = option(command)
    return command


def finite_share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """A threshold between 0 and 1, where all confidences lie."""
    if value is not None and not (math.isfinite(value) and 0 <= value <= 1):
        raise click.BadParameter("confidences lie between 0.0 and 1.0, so a threshold must, too.", ctx, param)
    return value


@convert.command(
    "run", epilog=example("basanite convert run run.txt --documents documents.txt --threshold 0.5 --out Converted.tgz")
)
@click.argument("run", type=PATH)
@list_options
@click.option("--threshold", type=float, callback=finite_share, help="Return what scores at least this (0 to 1).")
@click.option("--top", type=click.IntRange(1), help="Return the first so many documents of each query.")
@click.option(
    "--scale",
    type=click.Choice(["none", "minmax"]),
    default="none",
    show_default=True,
    help="Map all scores of the run to 0..1 by its lowest and highest.",
)
@out_option("The submission to write: a folder or a .tgz")
@as_json
def from_run(
    run: Path,
    documents: Path,
    queries: Path | None,
    threshold: float | None,
    top: int | None,
    scale: Scale,
    out: Path,
    as_json: bool,
) -> None:
    """Write the TREC run RUN as a submission: a line for every document of every query."""
    if (threshold is None) == (top is None):
        raise click.UsageError("A run decides nothing by itself: give either --threshold or --top.")
    decision = Decision(threshold, top)
    findings = conversion.convert_run(run, out, documents=documents, decision=decision, queries=queries, scale=scale)
    finish(findings, out, json=as_json)


@convert.command("qrels", epilog=example("basanite convert qrels qrels.txt --documents documents.txt --out newkey"))
@click.argument("qrels", type=PATH)
@list_options
@click.option("--least", type=int, default=1, show_default=True, help="The lowest grade that counts as relevant.")
@out_option("The key to write: a folder or a .tgz")
@as_json
def from_qrels(qrels: Path, documents: Path, queries: Path | None, least: int, out: Path, as_json: bool) -> None:
    """Write the TREC qrels QRELS as a key; documents without a grade are not relevant."""
    findings = conversion.convert_qrels(qrels, out, documents=documents, queries=queries, least=least)
    finish(findings, out, json=as_json)


@convert.command("to-run", epilog=example("basanite convert to-run Alpha.tgz --out alpha.run --tag Alpha"))
@click.argument("submission", type=PATH)
@click.option("--tag", default="basanite", show_default=True, help="What the last column says.")
@click.option("--returned-only", is_flag=True, help="Leave out documents whose decision is N.")
@out_option("The run to write")
@as_json
def to_run(submission: Path, tag: str, returned_only: bool, out: Path, as_json: bool) -> None:
    """Write SUBMISSION as a TREC run."""
    if not conversion.is_name(tag):
        raise click.UsageError(f"--tag {tag!r} cannot be used: it is one column of the run, so it has no blanks.")
    finish(conversion.export_run(submission, out, tag=tag, returned_only=returned_only), out, json=as_json)


@convert.command("to-qrels", epilog=example("basanite convert to-qrels key/ --out key.qrels"))
@click.argument("key", type=PATH)
@out_option("The qrels to write")
@as_json
def to_qrels(key: Path, out: Path, as_json: bool) -> None:
    """Write KEY as TREC qrels."""
    finish(conversion.export_qrels(key, out), out, json=as_json)


for command in (wmt, to_wmt, stm, to_stm, ctm, to_ctm, trec_eval, to_trec_eval, sacrebleu, to_sacrebleu):
    convert.add_command(command)
